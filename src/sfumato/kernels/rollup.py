"""Full-domain roll-up: distinct coded tuples become coarser, and those that are then alike become one group.

A tuple is a key of W words of 64 bits with a field for every column; raising a column replaces its field through a
table. Groups are numbered in the order of their first row. Twin: `rollup_sorting`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sfumato.kernels.rollup_sorting import FOLD, MIX, ROLL, Raise

Keys = NDArray[np.uint64]
Ints = NDArray[np.int64]
Numbers = NDArray[np.int32]


def rolled(keys: Keys, n: Ints, up: Raise) -> tuple[Keys, Ints, Numbers]:
    """Groups of tuples that are alike once raised: keys (G, W), rows in each (G,), group of every tuple (R,)."""
    into = np.empty(len(n), dtype=np.int32)
    roll = _rolling(keys)
    room = len(n)
    out_keys, out_n = np.empty((room + 1, keys.shape[1]), dtype=np.uint64), np.empty(room + 1, dtype=np.int64)
    slots = np.full(1 << (2 * max(room, 1) - 1).bit_length(), -1, dtype=np.int32)
    n_groups = roll(keys, n, up.word, up.shift, up.mask, up.start, up.table, slots, into, out_keys, out_n)
    return out_keys[:n_groups].copy(), out_n[:n_groups].copy(), into


def distinct_by_hashing(keys: Keys, n: Ints) -> tuple[Keys, Ints, Numbers]:
    """Distinct keys in order of appearance, the sum of n over each, and which of them every row is.

    The table of groups starts small, so that it stays in the cache where groups are few, and grows when it is full.
    """
    into = np.empty(len(n), dtype=np.int32)
    roll = _rolling(keys)
    room, nothing, unused = 1 << 16, np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
    while True:
        room = min(room, len(n))
        out_keys, out_n = np.empty((room + 1, keys.shape[1]), dtype=np.uint64), np.empty(room + 1, dtype=np.int64)
        slots = np.full(1 << (2 * max(room, 1) - 1).bit_length(), -1, dtype=np.int32)
        n_groups = roll(keys, n, unused, nothing, nothing, nothing, nothing, slots, into, out_keys, out_n)
        if n_groups >= 0:
            return out_keys[:n_groups].copy(), out_n[:n_groups].copy(), into
        room *= 8


def _rolling(keys: Keys) -> Any:
    """The compiled loop for keys of this many words, loaded when there are several."""
    if keys.shape[1] == 1:
        return _roll_one
    from sfumato.kernels.rollup_wide import roll

    return roll


@njit(ROLL, cache=True, nogil=True)
def _roll_one(
    keys: Any, n: Any, word: Any, shift: Any, mask: Any, start: Any, table: Any, slots: Any, into: Any,
    out_keys: Any, out_n: Any,
) -> Any:  # fmt: skip
    """Keys of one word: the number of groups, or −1 when `out_n` has no room for one more; fills the last three.

    `slots` is full of −1 and a power of two long.
    """
    last = np.uint64(slots.size - 1)
    n_groups = 0
    for row in range(keys.shape[0]):
        key = keys[row, 0]
        for i in range(shift.size):
            node = (key >> shift[i]) & mask[i]
            key = (key & ~(mask[i] << shift[i])) | (table[start[i] + node] << shift[i])
        hashed = key * MIX
        slot = (hashed ^ (hashed >> FOLD)) & last
        while slots[slot] >= 0 and out_keys[slots[slot], 0] != key:
            slot = (slot + np.uint64(1)) & last
        group = slots[slot]
        if group < 0:
            if n_groups + 1 == out_n.size:
                return -1
            group = slots[slot] = n_groups
            out_keys[group, 0] = key
            out_n[group] = 0
            n_groups += 1
        out_n[group] += n[row]
        into[row] = group
    return n_groups


@njit(
    "float64[::1](uint64[:, ::1], int64[::1], boolean[::1], int64[::1], uint64[::1], uint64[::1], uint64[::1],"
    " float64[::1])",
    cache=True,
    nogil=True,
)
def field_sums(keys: Any, n: Any, some: Any, word: Any, shift: Any, mask: Any, start: Any, table: Any) -> Any:
    """Σ over some rows of n · table[start[j] + node in field j], one sum a field, (d,)."""
    found = np.zeros(word.size)
    for row in range(n.size):
        if some[row]:
            for j in range(word.size):
                node = (keys[row, word[j]] >> shift[j]) & mask[j]
                found[j] += n[row] * table[start[j] + node]
    return found


@njit("float64[::1](int64[::1], boolean[::1])", cache=True, nogil=True)
def counted(n: Any, kept: Any) -> Any:
    """Of groups of n rows: rows not kept, groups kept, rows of the smallest kept (0: none), Σ n² kept, Σ n² of all."""
    found = np.zeros(5)
    for group in range(n.size):
        rows = np.float64(n[group])
        found[4] += rows * rows
        if kept[group]:
            found[2] = rows if found[1] == 0.0 else min(found[2], rows)
            found[1] += 1.0
            found[3] += rows * rows
        else:
            found[0] += rows
    return found
