"""Mondrian level by level in NumPy: any test, any number of lanes, no compiler; the same groups as the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.mondrian import Ints, Lanes, Parted, Rules

Bools = NDArray[np.bool_]
Rows = NDArray[Any]
Passes = Callable[[Rows, Ints], Bools]
"""Which groups pass: group g is rows[starts[g] : starts[g + 1]]."""


def part_by_levels(lanes: Lanes, rules: Rules, passes: Passes | None = None, order: Ints | None = None) -> Parted:
    """Groups of strict or relaxed Mondrian, all nodes of a level at once.

    `passes` judges groups of rows; a cut stands when both halves pass. `order` is the canonical order of the rows.
    """
    n, d = lanes.n_rows, len(lanes.codes)
    table = np.column_stack(lanes.codes)
    rows = np.arange(n) if order is None else order
    starts, place = np.array([0, n], dtype=np.int64), np.zeros(1, dtype=np.int64)
    done = np.empty(n, dtype=rows.dtype)
    hulls: list[tuple[Ints, NDArray[np.uint16], NDArray[np.uint16]]] = []
    while len(place):
        low = np.minimum.reduceat(table[rows], starts[:-1], axis=0)
        high = np.maximum.reduceat(table[rows], starts[:-1], axis=0)
        side, n_left = _split_level(table, rows, starts, _widest(lanes, low, high), (rules, passes))
        grown = n_left > 0
        kept = ~grown
        at = place[kept]
        hulls.append((at, low[kept], high[kept]))
        sizes = np.diff(starts)
        finished = np.repeat(kept, sizes)
        done[_runs(at, sizes[kept])] = rows[finished]
        rows, node = rows[~finished], np.repeat(np.arange(grown.sum()), sizes[grown])
        rows = rows[np.argsort(2 * node + side[~finished], kind="stable")]
        halves = np.column_stack([n_left[grown], sizes[grown] - n_left[grown]]).reshape(-1)
        place = np.column_stack([place[grown], place[grown] + n_left[grown]]).reshape(-1)
        starts = np.concatenate([[0], np.cumsum(halves)])
    first = np.concatenate([one[0] for one in hulls])
    by_place = np.argsort(first)
    ends = [np.concatenate([one[i] for one in hulls])[by_place].reshape(-1, d) for i in (1, 2)]
    return Parted(done, np.append(first[by_place], n), ends[0], ends[1])


def _runs(starts: Ints, sizes: Ints) -> Ints:
    """The positions starts[i] … starts[i] + sizes[i] − 1, behind one another."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


def _widest(lanes: Lanes, low: NDArray[np.uint16], high: NDArray[np.uint16]) -> tuple[Ints, Ints]:
    """Per node its lanes by share of the domain, widest first, and how many of them still vary; (m, d) and (m,)."""
    share = np.full(low.shape, -1.0)
    for j, (cells, n_cells) in enumerate(zip(lanes.cells, lanes.n_cells, strict=True)):
        span = (cells[high[:, j]] - cells[low[:, j]]) / max(n_cells - 1, 1)
        share[:, j] = np.where(low[:, j] < high[:, j], span, -1.0)
    return np.argsort(-share, axis=1, kind="stable"), (share >= 0).sum(axis=1)


def _split_level(
    table: NDArray[np.uint16],
    rows: Rows,
    starts: Ints,
    widest: tuple[Ints, Ints],
    asked: tuple[Rules, Passes | None],
) -> tuple[NDArray[np.int8], Ints]:
    """For every node the first lane whose cut stands: the side of each row and the rows on the left (0: none)."""
    rules, passes = asked
    sizes = np.diff(starts)
    side, n_left = np.zeros(len(rows), dtype=np.int8), np.zeros(len(sizes), dtype=np.int64)
    for attempt in range(table.shape[1]):
        waiting = np.flatnonzero((n_left == 0) & (sizes >= 2 * rules.least) & (widest[1] > attempt))
        if len(waiting) == 0:
            break
        at = _runs(starts[waiting], sizes[waiting])
        node = np.repeat(np.arange(len(waiting)), sizes[waiting])
        x = table[rows[at], widest[0][waiting, attempt][node]].astype(np.int64)
        right, left = _cut(x, node, sizes[waiting], rules)
        if passes is not None:
            left = np.where(_stands(rows[at], node, right, left, passes), left, 0)
        stand = left[node] > 0
        side[at[stand]] = right[stand]
        n_left[waiting] = left
    return side, n_left


def _cut(x: Ints, node: Ints, sizes: Ints, rules: Rules) -> tuple[Bools, Ints]:
    """Cut every node's values: which rows go right, how many go left (0 where no cut is allowed)."""
    starts = np.cumsum(sizes) - sizes
    key = np.sort((node << 16) | x)
    target = sizes // 2 if rules.relaxed else (sizes + 1) // 2
    wanted = key[starts + target - 1]
    value = wanted & 0xFFFF
    below = np.searchsorted(key, wanted, side="left") - starts
    upto = np.searchsorted(key, wanted, side="right") - starts
    if rules.relaxed:
        return _deal(x, node, value, (target - below, upto - below)), target
    upper = sizes - upto >= rules.least
    lower = (below >= rules.least) & (not rules.median)
    lower &= ~upper | (2 * upto - sizes >= sizes - 2 * below)
    return x > (value - lower)[node], np.where(lower, below, np.where(upper, upto, 0))


def _deal(x: Ints, node: Ints, value: Ints, dealt: tuple[Ints, Ints]) -> Bools:
    """Relaxed recoding: of the rows at the split value, `dealt[0]` of `dealt[1]` go left, evenly in their order."""
    wanted, ties = dealt[0][node], dealt[1][node]
    tied = x == value[node]
    first = np.concatenate([[0], np.cumsum(tied)])[np.searchsorted(node, np.arange(len(value)))]
    i = np.cumsum(tied) - 1 - first[node]
    goes_left = (i + 1) * wanted // ties > i * wanted // ties
    right: Bools = np.where(tied, ~goes_left, x > value[node])
    return right


def _stands(rows: Rows, node: Ints, right: Bools, left: Ints, passes: Passes) -> Bools:
    """Which cuts leave two halves that pass."""
    stands: Bools = left > 0
    chosen = stands[node]
    if chosen.any():
        half = 2 * (np.cumsum(stands) - 1)[node[chosen]] + right[chosen]
        order = np.argsort(half, kind="stable")
        starts = np.searchsorted(half[order], np.arange(2 * int(stands.sum()) + 1))
        stands[stands] = passes(rows[chosen][order], starts.astype(np.int64)).reshape(-1, 2).all(axis=1)
    return stands
