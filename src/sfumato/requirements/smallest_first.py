"""Which groups stay when the smallest are suppressed first: the order that suppresses the fewest units."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sfumato.requirements.judging import Bools, Ints


def suppression_order(sizes: Ints) -> Ints:
    """Groups by size, smallest first; of equal ones that with the lower number first."""
    return np.argsort(sizes, kind="stable").astype(np.int64)


def without_first(sizes: Ints, n_suppressed: int) -> Bools:
    """All groups but the first `n_suppressed` in that order, and none of zero units.

    >>> without_first(np.array([3, 1, 1, 2]), 1).tolist()
    [True, False, True, True]
    """
    kept = np.ones(len(sizes), dtype=np.bool_)
    kept[suppression_order(sizes)[:n_suppressed]] = False
    return kept & (sizes > 0)


def fewest(most: int, suffices: Callable[[int], bool]) -> int:
    """The smallest number up to `most` that suffices, where every larger one does too; `most` always does.

    Where larger ones need not suffice: one that does and whose predecessor does not.
    """
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        if suffices(middle):
            high = middle
        else:
            low = middle + 1
    return high
