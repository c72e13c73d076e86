"""Counts of values by group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit("int32[:, ::1](int32[::1], int32[::1], int32[::1], int64[::1], int64, int64)", cache=True, nogil=True)
def histogram(group: Any, row: Any, code: Any, n: Any, n_groups: Any, n_codes: Any) -> Any:
    """Units per group and code, (G, m): entry e adds n[e] to (group[row[e]], code[e])."""
    found = np.zeros((n_groups, n_codes), dtype=np.int32)
    for e in range(row.size):
        found[group[row[e]], code[e]] += np.int32(n[e])
    return found
