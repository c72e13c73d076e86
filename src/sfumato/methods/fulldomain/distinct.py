"""Distinct keys with their weights: by hashing where compiled code is worth loading, else by sorting."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]
# Below these many rows sorting is done before compiled code is loaded, or called once it is.
WORTH_LOADING, WORTH_CALLING = 3_000, 200


def compiled(n_rows: int) -> bool:
    """Whether the compiled roll-up pays for itself; both give the same groups in the same order."""
    return n_rows >= (WORTH_CALLING if "sfumato.kernels.rollup" in sys.modules else WORTH_LOADING)


def distinct_keys(keys: Keys, weights: Ints) -> tuple[Keys, Ints, NDArray[np.int32]]:
    """Distinct rows of keys (R, W) in order of appearance, their summed weights, and which of them each row is."""
    from sfumato.kernels.rollup_sorting import distinct_by_sorting

    if not compiled(len(keys)):
        return distinct_by_sorting(keys, weights)
    from sfumato.kernels.rollup import distinct_by_hashing

    return distinct_by_hashing(keys, weights)
