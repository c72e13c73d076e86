"""Worlds by full enumeration, from the raw arguments of the primitives: pure Python, sharing nothing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.outcomes import Outcome

Row = dict[str, int]
World = list[Row]


def worlds_of_alternatives(low: Mapping[str, Any], high: Mapping[str, Any], weight: Sequence[int]) -> list[World]:
    """Every table of independent cells, all equally likely."""
    columns = list(low)
    per_row = []
    for t, n in enumerate(weight):
        spans = [range(int(low[c][t]), int(high[c][t]) + 1) for c in columns]
        per_row += [[dict(zip(columns, cells, strict=True)) for cells in itertools.product(*spans)]] * int(n)
    return [list(world) for world in itertools.product(*per_row)]


def worlds_of_bijection(
    slots: Mapping[str, Any], slot_group: Sequence[int], values: Mapping[str, Any], value_group: Sequence[int]
) -> list[World]:
    """Every matching of slots and values inside the groups, all equally likely."""
    per_group = []
    for group in sorted(set(map(int, slot_group))):
        mine = [i for i, g in enumerate(slot_group) if g == group]
        theirs = [i for i, g in enumerate(value_group) if g == group]
        tables = []
        for order in itertools.permutations(theirs):
            pairs = zip(mine, order, strict=True)
            tables.append(
                [{c: int(slots[c][i]) for c in slots} | {c: int(values[c][v]) for c in values} for i, v in pairs]
            )
        per_group.append(tables)
    return [list(itertools.chain(*parts)) for parts in itertools.product(*per_group)]


def worlds_of_blocks(*parts: list[World]) -> list[World]:
    """One world of each part, put together."""
    return [list(itertools.chain(*worlds)) for worlds in itertools.product(*parts)]


def same_table(columns: Sequence[str], one: World, other: World) -> bool:
    """Equal as multisets of rows."""
    return sorted(tuple(r[c] for c in columns) for r in one) == sorted(tuple(r[c] for c in columns) for r in other)


@dataclass
class PlainFactor:
    """A factor from a Python function of one row: (kept, sure)."""

    columns: tuple[str, ...]
    judge: Callable[[Row], tuple[bool, bool]]

    def keeps(self, codes: Mapping[str, Any]) -> tuple[Any, Any]:
        found = [self.judge(row) for row in _rows(codes)]
        sure = np.array([s for _, s in found], dtype=bool)
        return np.array([k for k, _ in found], dtype=bool), None if sure.all() else sure


@dataclass
class PlainMap:
    """A row map from Python functions: `read` gives (key or None, values, sure) of one row."""

    n_values: int
    core_columns: tuple[str, ...]
    factors: list[PlainFactor]
    read: Callable[[Row], tuple[Any, list[float], bool]]
    keys: dict[Any, int] = field(default_factory=dict)

    @property
    def n_keys(self) -> int:
        return len(self.keys)

    def core(self, codes: Mapping[str, Any]) -> Outcome:
        found = [self.read(row) for row in _rows(codes)]
        key = [-1 if k is None else self.keys.setdefault(k, len(self.keys)) for k, _, _ in found]
        values = np.array([v for _, v, _ in found], dtype=float).reshape(len(found), self.n_values)
        sure = np.array([s for _, _, s in found], dtype=bool)
        return Outcome(np.array(key, dtype=np.int64), values, None if sure.all() else sure)

    def outcome(self, row: Row) -> tuple[int, list[float], bool, bool]:
        """(key or −1, values, kept decided, key and values decided) of one row."""
        judged = [f.judge({c: row[c] for c in f.columns}) for f in self.factors]
        if any(not kept and sure for kept, sure in judged):
            return -1, [], True, True
        key, values, told = self.read({c: row[c] for c in self.core_columns})
        decided = all(sure for _, sure in judged)
        kept = all(kept for kept, _ in judged)
        index = -1 if key is None or not kept else self.keys[key]
        listed = -1 if key is None else self.keys[key]
        return (index, values, True, told) if decided else (index, [*values, listed], False, told)


def _rows(codes: Mapping[str, Any]) -> list[Row]:
    if not codes:
        return [{}]
    return [dict(zip(codes, map(int, cells), strict=True)) for cells in zip(*codes.values(), strict=True)]


@dataclass
class Facts:
    """Aggregates of one argument under one key in every world (no undecided rows)."""

    counts: list[int]
    sums: list[float]
    tops: list[float | None]
    bottoms: list[float | None]


def facts(worlds: list[World], rows: PlainMap, key: int, j: int) -> Facts:
    """What argument j (−1: rows, as 1) makes of every world under one key."""
    found = Facts([], [], [], [])
    cache: dict[tuple[tuple[str, int], ...], tuple[int, list[float], bool, bool]] = {}
    for world in worlds:
        kept = []
        for row in world:
            name = tuple(row.items())
            if name not in cache:
                cache[name] = rows.outcome(row)
            index, values, _, _ = cache[name]
            value = 1.0 if j < 0 or index < 0 else values[j]
            if index == key and not math.isnan(value):
                kept.append(value)
        found.counts.append(len(kept))
        found.sums.append(math.fsum(kept))
        found.tops.append(max(kept, default=None))
        found.bottoms.append(min(kept, default=None))
    return found


def mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def covariance(one: Sequence[float], other: Sequence[float]) -> float:
    a, b = mean(one), mean(other)
    return math.fsum((x - a) * (y - b) for x, y in zip(one, other, strict=True)) / len(one)
