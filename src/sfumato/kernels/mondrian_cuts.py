"""Where Mondrian cuts one lane of one node."""

from __future__ import annotations

from typing import Any

from numba import njit, uint16, uint32, uint64

from sfumato.kernels.mondrian_rows import BLOCK, FAST, count_upto

MOST_SCANNED = 1 << 15
MOST_PADDED = MOST_SCANNED + BLOCK
MOST_SPLIT_COUNTERS = 1 << 12


@njit(**FAST)
def scan_limit(x: Any, n: Any, low: Any, high: Any, target: Any) -> Any:
    """The smallest value v with at least `target` of x[:n] up to v: (v, how many are below v, how many up to v).

    Bisects over low … high, counting 64 values at a time; x is overwritten by 65535 from n to the next block's end.
    """
    n_blocks = (n + uint64(BLOCK - 1)) // uint64(BLOCK)
    for i in range(n, n_blocks * uint64(BLOCK)):
        x[uint64(i)] = uint16(65535)
    below, upto = uint64(0), n
    while low < high:
        middle = (low + high) >> uint64(1)
        count = count_upto(x, n_blocks, uint16(middle))
        enough = count >= target
        high = middle if enough else high
        upto = count if enough else upto
        low = low if enough else middle + uint64(1)
        below = below if enough else count
    return low, below, upto


@njit(**FAST)
def count_limit(x: Any, counters: Any, low: Any, high: Any, target: Any) -> Any:
    """The same from a histogram, for long x. Narrow lanes use four counters a value, so that runs do not wait."""
    width = high - low + uint64(1)
    stride = width if width <= uint64(MOST_SPLIT_COUNTERS) else uint64(0)
    counters[: width + uint64(3) * stride] = uint32(0)
    for i in range(uint64(x.size)):
        at = (uint64(i) & uint64(3)) * stride + uint64(x[i]) - low
        counters[at] += uint32(1)
    below, upto = uint64(0), uint64(0)
    value = uint64(0)
    for v in range(width):
        here = uint64(counters[v])
        if stride:
            here += uint64(counters[stride + v]) + uint64(counters[stride + stride + v])
            here += uint64(counters[stride + stride + stride + v])
        upto = below + here
        value = uint64(v)
        if upto >= target:
            break
        below = upto
    return value + low, below, upto


@njit(**FAST)
def deal_ties(x: Any, value: Any, wanted: Any, ties: Any) -> None:
    """Relaxed recoding: x becomes 0 (left) or 1 (right); of the `ties` equal to value, `wanted` go left, evenly."""
    dealt = uint64(0)
    for i in range(uint64(x.size)):
        if x[i] == value:
            dealt += wanted
            x[i] = uint16(0 if dealt >= ties else 1)
            dealt -= ties if dealt >= ties else uint64(0)
        else:
            x[i] = uint16(x[i] > value)


@njit(**FAST)
def choose_boundary(n: Any, limit: Any, rules: Any) -> Any:
    """Strict recoding: (last value on the left, rows on the left); no rows on the left when no cut is allowed.

    `rules` is least, median?, relaxed?, once?. Counts grow with the boundary, so the one nearest n/2 is next to the
    lower median, and if it lies too near an end then so do all beyond it.
    """
    value, below, upto = limit
    least = rules[0]
    lower = below >= least and rules[1] == uint64(0)
    upper = n - upto >= least
    if lower and not (upper and upto + upto - n < n - below - below):
        return value - uint64(1), below
    return value, upto if upper else uint64(0)


@njit(**FAST)
def cut_lane(x: Any, n: Any, counters: Any, low: Any, high: Any, rules: Any) -> Any:
    """Cut the n values of x, all within low … high: (last value on the left, rows on the left, 0 when refused)."""
    relaxed = rules[2] != uint64(0)
    target = (n if relaxed else n + uint64(1)) >> uint64(1)
    if n <= uint64(MOST_SCANNED):
        limit = scan_limit(x, n, low, high, target)
    else:
        limit = count_limit(x, counters, low, high, target)
    if not relaxed:
        return choose_boundary(n, limit, rules)
    deal_ties(x[:n], uint16(limit[0]), target - limit[1], limit[2] - limit[1])
    return uint64(0), target
