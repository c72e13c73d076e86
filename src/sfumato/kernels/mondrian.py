"""Mondrian on packed rows: sorts once, splits in threads, hands back groups with their hulls."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Lane = NDArray[np.uint16]
Ints = NDArray[np.int64]
Node = tuple[int, int, int]
"""First row, number of rows, and which of the two buffers holds them."""
PADDING = 4
MOST_NODES = 72
MOST_CODES = 1 << 16
PARTS = 16
WORTH_THREADS = 200_000


@dataclass(frozen=True, eq=False)
class Lanes:
    """The quasi-identifiers as ranks of present grid cells.

    `codes[j]`: (n,) uint16 ranks in lane j; `cells[j]`: the grid cell of each rank, nondecreasing; `n_cells[j]`: how
    many cells the domain has.
    """

    codes: Sequence[Lane]
    cells: Sequence[NDArray[np.int32]]
    n_cells: Sequence[int]

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.codes[0])


@dataclass(frozen=True, eq=False)
class Rules:
    """How to split: the smallest group in rows, the paper's median or the nearest boundary, strict or relaxed."""

    least: int
    median: bool = False
    relaxed: bool = False


@dataclass(frozen=True, eq=False)
class Compiled:
    """Compiled privacy tests: `columns[c]` (n,) uint16 sensitive codes; one `calls` entry per test.

    A call is (address, column, parameters, table).
    """

    columns: Sequence[Lane] = ()
    calls: Sequence[tuple[int, int, Sequence[float], NDArray[np.float64]]] = ()


@dataclass(frozen=True, eq=False)
class Parted:
    """Groups: `rows[starts[g] : starts[g + 1]]` are the rows of group g, `low`, `high` (G, d) the ends of its hull."""

    rows: NDArray[Any]
    starts: Ints
    low: NDArray[np.uint16]
    high: NDArray[np.uint16]


def part(
    lanes: Lanes, rules: Rules, tests: Compiled = Compiled(), order: Ints | None = None, threads: int | None = None
) -> Parted:
    """Groups of strict or relaxed Mondrian; identical for any number of threads.

    `order` puts the rows in canonical order (relaxed recoding deals ties along it); rows are then sorted, stably, by
    the first sensitive column, so that every range stays sorted by it.
    """
    if tests.columns:
        order = sorted_by(tests.columns[0], order)
    grove = Grove.of(lanes, rules, tests, order)
    grove.grow(threads or _threads(lanes.n_rows))
    ids = grove.ids[: lanes.n_rows]
    rows = ids if order is None else order[ids]
    first = np.flatnonzero(grove.marks)
    hulls = grove.hulls[first // rules.least]
    d = len(lanes.codes)
    width = hulls.shape[1] // 2
    starts = np.append(first, lanes.n_rows)
    return Parted(rows, starts, hulls[:, :d], hulls[:, width : width + d])


def sorted_by(codes: Lane, order: Ints | None) -> NDArray[Any]:
    """Rows by code, ties in the order given."""
    if order is None:
        return np.argsort(codes, kind="stable").astype(np.uint32)
    return order[np.argsort(codes[order], kind="stable")]


@dataclass(eq=False)
class Grove:
    """The arrays of one run: rows, row ids and sensitive codes in two copies, between which nodes move back and forth.

    A finished group marks its first row in `marks`, leaves its row ids in the first half of `ids` and its hull in
    `hulls[first row // least]`: groups are at least that long, so no two share a place and threads never meet.
    """

    rows: Lane
    sensitive: tuple[Any, ...]
    grid: tuple[Any, ...]
    rules: NDArray[np.uint64]
    tests: tuple[Any, ...]
    ids: NDArray[np.uint32]
    hulls: Lane
    marks: NDArray[np.uint8]
    lane: Lane
    shape: tuple[int, ...]
    ends: Lane

    @classmethod
    def of(cls, lanes: Lanes, rules: Rules, tests: Compiled, order: Ints | None) -> Grove:
        """Pack rows, row ids and sensitive codes."""
        n, d = lanes.n_rows, len(lanes.codes)
        width = -(-d // PADDING) * PADDING
        rows = np.empty((2 * n, width), dtype=np.uint16)
        rows[:n, d:] = 0
        ends = np.zeros(2 * width, dtype=np.uint16)
        for j, codes in enumerate(lanes.codes):
            rows[:n, j] = codes if order is None else codes[order]
            ends[j], ends[width + j] = codes.min(), codes.max()
        ids = np.empty(2 * n, dtype=np.uint32)
        ids[:n] = np.arange(n, dtype=np.uint32)
        offsets = np.cumsum([0] + [len(cells) for cells in lanes.cells])
        padded = np.full(width, offsets[-1])
        padded[:d] = offsets[:-1]
        scale = np.ones(width)
        scale[:d] = np.maximum(np.asarray(lanes.n_cells) - 1, 1)
        cells = np.concatenate([*lanes.cells, np.zeros(1, np.int32)]).astype(np.int32)
        return cls(
            rows=rows.reshape(-1),
            sensitive=_sensitive(tests, order, n),
            grid=(cells, padded.astype(np.uint64), scale),
            rules=np.array([rules.least, rules.median, rules.relaxed, 0], dtype=np.uint64),
            tests=_calls(tests),
            ids=ids,
            hulls=np.empty((n // rules.least + 1, 2 * width), dtype=np.uint16),
            lane=np.empty(n, dtype=np.uint16),
            marks=np.zeros(n, dtype=np.uint8),
            shape=(0,) * width,
            ends=ends,
        )

    def split(self, node: Node, ends: Lane, once: bool) -> list[tuple[Node, Lane]]:
        """Split one node, or all that comes of it; returns the nodes left to split."""
        from sfumato.kernels.mondrian_cuts import MOST_PADDED
        from sfumato.kernels.mondrian_grow import grow

        nodes = np.zeros((MOST_NODES, 3), dtype=np.uint64)
        stack = np.zeros((MOST_NODES, 2 * len(self.shape)), dtype=np.uint16)
        nodes[0], stack[0] = node, ends
        rules = self.rules.copy()
        rules[3] = once
        counters = np.empty(MOST_CODES, dtype=np.uint32)
        scratch = (self.lane, np.empty(MOST_PADDED, dtype=np.uint16), counters, np.empty(len(self.shape)))
        asked = (self.grid, rules, self.tests)
        made = (self.hulls, self.marks, self.shape)
        top = grow(self.rows, self.ids, scratch, self.sensitive, nodes, stack, *asked, *made)
        return [((int(a), int(b), int(c)), stack[i]) for i, (a, b, c) in enumerate(nodes[:top].tolist())]

    def grow(self, threads: int) -> None:
        """Split the root and every large node once, small nodes to the end; the largest that wait go first."""
        n = len(self.marks)
        if threads == 1:
            self.split((0, n, 0), self.ends, once=False)
            return
        waiting: list[tuple[Node, Lane]] = [((0, n, 0), self.ends)]
        running: set[Future[list[tuple[Node, Lane]]]] = set()
        with ThreadPoolExecutor(threads) as pool:
            while waiting or running:
                waiting.sort(key=lambda entry: entry[0][1])
                while waiting and len(running) < threads:
                    node, ends = waiting.pop()
                    running.add(pool.submit(self.split, node, ends, node[1] > n // PARTS))
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    waiting.extend(future.result())


def _threads(n_rows: int) -> int:
    """As many as may run, one for a table that is done before they have started."""
    if n_rows < WORTH_THREADS:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _sensitive(tests: Compiled, order: Ints | None, n: int) -> tuple[Any, ...]:
    """Sorted codes of every column twice over, row ids of columns after the first, one byte of side per row."""
    s = len(tests.columns)
    codes = np.empty((2, s, n) if s else (0,), dtype=np.uint16)
    others = np.empty((2, s - 1, n) if s > 1 else (0,), dtype=np.uint32)
    for c, column in enumerate(tests.columns):
        ranked = column if order is None else column[order]
        if c:
            others[0, c - 1] = by_code = np.argsort(ranked, kind="stable")
            ranked = ranked[by_code]
        codes[0, c] = ranked
    return codes.reshape(-1), others.reshape(-1), np.empty(n if s > 1 else 0, dtype=np.uint8)


def _calls(tests: Compiled) -> tuple[Any, ...]:
    """Tests as one table of numbers, with all parameters and all lookup tables behind one another."""
    calls = np.zeros((len(tests.calls), 6), dtype=np.int64)
    parameters: list[float] = []
    tables: list[NDArray[np.float64]] = [np.zeros(0)]
    for row, (address, column, own, table) in zip(calls, tests.calls, strict=True):
        at = sum(len(one) for one in tables)
        row[:] = address, column, len(parameters), len(parameters) + len(own), at, at + len(table)
        parameters.extend(own)
        tables.append(table)
    return calls, np.array(parameters, dtype=np.float64), np.concatenate(tables)
