"""Distinct rows of several code columns: what compresses a release to its row types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.codec import Codes

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Distinct:
    """`first[t]`: a row of type t; `of[row]`: its type; `n[t]`: rows of type t. Types are sorted by their codes."""

    first: Ints
    of: Ints
    n: Ints


def distinct_rows(columns: Sequence[Codes | Ints], n_rows: int) -> Distinct:
    """Distinct tuples of nonnegative codes; no columns make all rows one type.

    >>> found = distinct_rows([np.array([1, 0, 1]), np.array([2, 2, 2])], 3)
    >>> found.of.tolist(), found.n.tolist()
    ([1, 0, 1], [1, 2])
    """
    key = np.zeros(n_rows, dtype=np.int64)
    width = 1
    for column in columns:
        size = int(column.max(initial=0)) + 1
        if width > (1 << 62) // size:
            # The mixed-radix key would overflow: rank what there is so far, which needs at most n_rows codes.
            known, key = np.unique(key, return_inverse=True)
            key, width = key.astype(np.int64), len(known)
        key = key * size + column
        width *= size
    _, first, of, n = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    return Distinct(first.astype(np.int64), of.astype(np.int64), n.astype(np.int64))
