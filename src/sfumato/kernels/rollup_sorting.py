"""Full-domain roll-up by sorting: twin of `rollup`, and all that small tables need, with no compiled code to load."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Ints = NDArray[np.int64]
Numbers = NDArray[np.int32]
# What the compiled twins share: how a key is hashed, and the signature of their loops.
MIX, FOLD = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
ROLL = (
    "int64(uint64[:, ::1], int64[::1], int64[::1], uint64[::1], uint64[::1], uint64[::1], uint64[::1], int32[::1],"
    " int32[::1], uint64[:, ::1], int64[::1])"
)


@dataclass(frozen=True, eq=False)
class Raise:
    """Columns to raise: field i lies in word `word[i]` from bit `shift[i]`; node x becomes table[start[i] + x]."""

    word: Ints
    shift: Keys
    mask: Keys
    start: Keys
    table: Keys


def rolled_by_sorting(keys: Keys, n: Ints, up: Raise) -> tuple[Keys, Ints, Numbers]:
    """Groups of tuples that are alike once raised: keys (G, W), rows in each (G,), group of every tuple (R,)."""
    raised = keys.copy()
    for word, shift, mask, start in zip(up.word.tolist(), up.shift, up.mask, up.start, strict=True):
        node = (raised[:, word] >> shift) & mask
        raised[:, word] = (raised[:, word] & ~(mask << shift)) | (up.table[(start + node).astype(np.int64)] << shift)
    return distinct_by_sorting(raised, n)


def distinct_by_sorting(keys: Keys, n: Ints) -> tuple[Keys, Ints, Numbers]:
    """Distinct keys in order of appearance, the sum of n over each, and which of them every row is."""
    if len(keys) == 0:
        return keys, n, np.zeros(0, dtype=np.int32)
    order = np.lexsort(keys.T)
    ordered = keys[order]
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.flatnonzero(first)
    appears = np.minimum.reduceat(order, starts)
    rank = np.empty(len(starts), dtype=np.int32)
    rank[np.argsort(appears)] = np.arange(len(starts), dtype=np.int32)
    into = np.empty(len(order), dtype=np.int32)
    into[order] = np.repeat(rank, np.diff(np.append(starts, len(order))))
    total = np.zeros(len(starts), dtype=np.int64)
    np.add.at(total, into, n)
    return keys[np.sort(appears)], total, into
