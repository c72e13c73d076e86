"""Mondrian's loop over nodes of packed rows; compiled once per number of lanes, and kept."""

from __future__ import annotations

from typing import Any

from numba import float64, njit, uint8, uint16, uint64

from sfumato.kernels.mondrian_cuts import MOST_SCANNED, cut_lane
from sfumato.kernels.mondrian_rows import FAST, copy_row, hull_of_rows
from sfumato.kernels.mondrian_tests import halves_pass

# Compiled code is kept by this file alone: a test sees to it that this changes with the modules that are inlined.
INLINED = "f740125f6263"


@njit(**FAST)
def take_lane(rows: Any, first: Any, n: Any, lane: Any, x: Any, shape: Any) -> None:
    """Copy one lane of n rows into x."""
    at = uint64(len(shape)) * first + lane
    for i in range(n):
        x[i] = rows[at]
        at += uint64(len(shape))


@njit(**FAST)
def move(rows: Any, ids: Any, x: Any, limit: Any, place: Any, shape: Any) -> None:
    """Stable partition without branches; `place` is where the rows are, where the left and the right half begin."""
    source, left, right = place
    for i in range(uint64(x.size)):
        stays = uint64(x[i] <= limit)
        to = left if stays else right
        left += stays
        right += uint64(1) - stays
        copy_row(rows, source, to, shape)
        ids[to] = ids[source]
        source += uint64(1)


@njit(**FAST)
def spread(ends: Any, grid: Any, share: Any) -> None:
    """Share of its domain that each lane still spans, −1 for a lane that no longer varies."""
    cells, offsets, scale = grid
    d = uint64(share.size)
    for j in range(d):
        low, high = uint64(ends[j]), uint64(ends[d + j])
        span = cells[offsets[j] + high] - cells[offsets[j] + low]
        share[j] = float64(span) / scale[j] if low < high else -1.0


@njit(**FAST)
def widest(share: Any) -> Any:
    """The lane with the largest share, the first of equals."""
    lane = uint64(0)
    for j in range(uint64(share.size)):
        lane = uint64(j) if share[j] > share[lane] else lane
    return lane


@njit(**FAST)
def copy(source: Any, target: Any) -> None:
    """Copy without the spare copy that slice assignment makes in case both overlap."""
    for i in range(uint64(target.size)):
        target[i] = source[i]


@njit(**FAST)
def grow(
    rows: Any,
    ids: Any,
    scratch: Any,
    sensitive: Any,
    nodes: Any,
    ends: Any,
    grid: Any,
    rules: Any,
    tests: Any,
    hulls: Any,
    marks: Any,
    shape: Any,
) -> Any:
    """Split the node on the stack, and what comes of it, unless `once`; returns how many nodes are left to split.

    A node is (first row, rows, buffer) with the ends of its lanes. The smaller half is split first, so 64 nodes are
    enough. A finished group marks its first row and leaves its hull and, in the first buffer, its row ids.
    """
    n_rows = uint64(ids.size) >> uint64(1)
    least, n_tests = rules[0], tests[0].shape[0]
    long_x, short_x, counters, share = scratch
    top = uint64(1)
    while top > uint64(0):
        top -= uint64(1)
        low, n, now = nodes[top, 0], nodes[top, 1], nodes[top, 2]
        first, other = now * n_rows + low, (uint64(1) - now) * n_rows + low
        n_left = uint64(0)
        limit = uint16(0)
        x = short_x if n <= uint64(MOST_SCANNED) else long_x[low : low + n]
        if n >= least + least:
            spread(ends[top], grid, share)
        else:
            share[:] = -1.0
        while n_left == uint64(0):
            lane = widest(share)
            if share[lane] < 0.0:
                break
            share[lane] = -1.0
            take_lane(rows, first, n, lane, x, shape)
            lane_ends = uint64(ends[top, lane]), uint64(ends[top, uint64(len(shape)) + lane])
            at, n_left = cut_lane(x, n, counters, lane_ends[0], lane_ends[1], rules)
            limit = uint16(at)
            if n_left and n_tests and not halves_pass(x[:n], limit, (low, n, now, n_left), ids, sensitive, tests):
                n_left = uint64(0)
        if n_left:
            move(rows, ids, x[:n], limit, (first, other, other + n_left), shape)
            upper = uint64(n_left + n_left < n)
            left, right = top + upper, top + uint64(1) - upper
            nodes[left, 0], nodes[left, 1], nodes[left, 2] = low, n_left, uint64(1) - now
            hull_of_rows(rows, other, n_left, ends[left], shape)
            nodes[right, 0], nodes[right, 1], nodes[right, 2] = low + n_left, n - n_left, uint64(1) - now
            hull_of_rows(rows, other + n_left, n - n_left, ends[right], shape)
            top += uint64(2)
        else:
            marks[low] = uint8(1)
            copy(ends[top], hulls[low // least])
            if now:
                copy(ids[first : first + n], ids[low : low + n])
        if rules[3]:
            break
    return top
