"""Small groups with any matrix: the law of count and sum over all matchings, by subsets of values."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LARGEST = 10
MOST_STEPS = 2e9
NUMBERS_AT_ONCE = 4_000_000


def affordable(n: int, n_matrices: int) -> bool:
    """Is the law over all matchings of this many n × n matrices worth computing?"""
    return n <= LARGEST and n_matrices * n * 2.0 ** (n - 1) * (n + 1) <= MOST_STEPS


def matching_laws(counted: Bools, value: Floats, allowed: Bools | None = None) -> tuple[Floats, Floats]:
    """P(N = k) and E[S; N = k] over uniform matchings that use allowed pairs only (others have probability 0).

    N and S are number and sum of the counted pairs. f[values used] grows slot by slot: f[m ∪ j] += f[m] shifted by one
    where (slot, j) is counted. Arrays (M, n, n) → (M, n + 1) twice.
    """
    m, n = counted.shape[:2]
    law, sums = np.empty((m, n + 1)), np.empty((m, n + 1))
    at_once = max(1, NUMBERS_AT_ONCE // (2**n * (n + 1)))
    for begin in range(0, m, at_once):
        part = slice(begin, begin + at_once)
        open_ = np.ones_like(counted[part]) if allowed is None else allowed[part]
        law[part], sums[part] = _by_subsets(counted[part] & open_, np.where(counted[part], value[part], 0.0), open_)
    return law / math.factorial(n), sums / math.factorial(n)


def _by_subsets(counted: Bools, value: Floats, allowed: Bools) -> tuple[Floats, Floats]:
    m, n = counted.shape[:2]
    ways, sums = np.zeros((2**n, m, n + 1)), np.zeros((2**n, m, n + 1))
    ways[0, :, 0] = 1
    plain = (allowed & ~counted).astype(np.float64)
    marked = counted.astype(np.float64)
    for used in range(2**n - 1):
        i = used.bit_count()
        for j in range(n):
            if used >> j & 1:
                continue
            after = used | 1 << j
            hit, miss = marked[:, i, j, None], plain[:, i, j, None]
            ways[after] += miss * ways[used]
            ways[after, :, 1:] += hit * ways[used, :, :-1]
            sums[after] += miss * sums[used]
            sums[after, :, 1:] += hit * (sums[used, :, :-1] + value[:, i, j, None] * ways[used, :, :-1])
    return ways[-1], sums[-1]
