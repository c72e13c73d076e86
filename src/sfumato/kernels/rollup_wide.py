"""Full-domain roll-up of tuples too wide for one word of 64 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from sfumato.kernels.rollup_sorting import FOLD, MIX, ROLL


@njit("boolean(uint64[:, ::1], int32, int64)", cache=True, nogil=True)
def _same(keys: Any, one: Any, other: Any) -> Any:
    """Are two keys equal?"""
    same = True
    for w in range(keys.shape[1]):
        same &= keys[one, w] == keys[other, w]
    return same


@njit(ROLL, cache=True, nogil=True)
def roll(
    keys: Any, n: Any, word: Any, shift: Any, mask: Any, start: Any, table: Any, slots: Any, into: Any,
    out_keys: Any, out_n: Any,
) -> Any:  # fmt: skip
    """The same for keys of several words; a group's key is first written where the next group would stand."""
    last = np.uint64(slots.size - 1)
    n_groups, n_words = 0, keys.shape[1]
    for row in range(keys.shape[0]):
        for w in range(n_words):
            out_keys[n_groups, w] = keys[row, w]
        for i in range(shift.size):
            old = out_keys[n_groups, word[i]]
            node = (old >> shift[i]) & mask[i]
            out_keys[n_groups, word[i]] = (old & ~(mask[i] << shift[i])) | (table[start[i] + node] << shift[i])
        hashed = np.uint64(0)
        for w in range(n_words):
            hashed = (hashed ^ out_keys[n_groups, w]) * MIX
            hashed ^= hashed >> FOLD
        slot = hashed & last
        while slots[slot] >= 0 and not _same(out_keys, slots[slot], n_groups):
            slot = (slot + np.uint64(1)) & last
        group = slots[slot]
        if group < 0:
            if n_groups + 1 == out_n.size:
                return -1
            group = slots[slot] = n_groups
            out_n[group] = 0
            n_groups += 1
        out_n[group] += n[row]
        into[row] = group
    return n_groups
