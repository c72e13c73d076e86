"""Slow twin of Mondrian: one recursion over row numbers, any test, no cleverness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Rows = list[int]
Passes = Callable[[Rows], bool]


@dataclass(frozen=True)
class Table:
    """Codes per column and row, the grid cell of each code, and how many cells the domain has."""

    lanes: Sequence[Sequence[int]]
    cells: Sequence[Sequence[int]]
    n_cells: Sequence[int]


@dataclass(frozen=True)
class Rules:
    """What `Mondrian` is asked: recoding, cut, the smallest group, and a test of one group."""

    least: int
    passes: Passes
    recoding: Literal["strict", "relaxed"] = "strict"
    cut: Literal["nearest", "median"] = "nearest"


def partition(table: Table, rules: Rules, rows: Rows) -> list[Rows]:
    """Groups in depth-first order, left before right; `rows` come in canonical order."""
    for column in dimensions(table, rows):
        lane = table.lanes[column]
        halves = relaxed(lane, rules, rows) if rules.recoding == "relaxed" else strict(lane, rules, rows)
        if halves is not None and all(rules.passes(half) for half in halves):
            return [group for half in halves for group in partition(table, rules, half)]
    return [rows]


def dimensions(table: Table, rows: Rows) -> list[int]:
    """Columns that still vary, widest share of their domain first, ties in column order."""
    share = {}
    for column, (lane, cells, n_cells) in enumerate(zip(table.lanes, table.cells, table.n_cells, strict=True)):
        low, high = min(lane[r] for r in rows), max(lane[r] for r in rows)
        if low < high:
            share[column] = Fraction(cells[high] - cells[low], max(n_cells - 1, 1))
    return sorted(share, key=lambda column: (-share[column], column))


def strict(lane: Sequence[int], rules: Rules, rows: Rows) -> tuple[Rows, Rows] | None:
    """Cut between two values: the boundary nearest the middle, or right after the lower median."""
    values = sorted(lane[r] for r in rows)
    n = len(rows)
    boundaries = [i for i in range(1, n) if values[i - 1] != values[i]]
    if rules.cut == "median":
        boundaries = [i for i in boundaries if i > (n - 1) // 2][:1]
    allowed = [i for i in boundaries if rules.least <= i <= n - rules.least]
    if not allowed:
        return None
    left = min(allowed, key=lambda i: (abs(2 * i - n), i))
    limit = values[left - 1]
    return [r for r in rows if lane[r] <= limit], [r for r in rows if lane[r] > limit]


def relaxed(lane: Sequence[int], rules: Rules, rows: Rows) -> tuple[Rows, Rows] | None:
    """Even halves: rows at the split value are dealt to both sides, evenly along the canonical order."""
    half = len(rows) // 2
    if half < rules.least:
        return None
    split = sorted(lane[r] for r in rows)[half - 1]
    ties = [r for r in rows if lane[r] == split]
    wanted = half - sum(lane[r] < split for r in rows)
    dealt = {r for i, r in enumerate(ties) if (i + 1) * wanted // len(ties) > i * wanted // len(ties)}
    left = [r for r in rows if lane[r] < split or r in dealt]
    chosen = set(left)
    return left, [r for r in rows if r not in chosen]
