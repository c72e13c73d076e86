"""Row types seen through the columns a query reads: distinct regions, their outcomes, the share a condition keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.outcomes import Outcome, RowMap
from sfumato.worlds.tuples import Table, distinct, expand, ranked, refuse_beyond, table_of

if TYPE_CHECKING:
    from sfumato.data.codec import Codes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Regions:
    """Distinct regions over some columns: `low`, `high` (S,) per column, `of` (T,) region of each row type, `volume`
    (S,) number of code tuples in each (as floats: it may exceed what an integer holds)."""

    columns: tuple[str, ...]
    low: tuple[Ints, ...]
    high: tuple[Ints, ...]
    of: Ints
    volume: Floats

    @cached_property
    def n_types(self) -> Ints:
        """Row types of each region, (S,)."""
        counts: Ints = np.bincount(self.of, minlength=len(self.volume)).astype(np.int64)
        return counts

    @cached_property
    def _in_order(self) -> tuple[Ints, Ints]:
        """Row types region by region, and where each region's begin."""
        starts = np.cumsum(self.n_types) - self.n_types
        return np.argsort(self.of, kind="stable").astype(np.int64), starts

    def types_of(self, some: Ints) -> Ints:
        """The row types of some regions."""
        order, starts = self._in_order
        run, offset = expand(self.n_types[some])
        types: Ints = order[starts[some][run] + offset]
        return types


def regions(columns: Sequence[str], low: Mapping[str, Codes], high: Mapping[str, Codes], n_types: int) -> Regions:
    """The distinct regions of the row types over some columns."""
    ends = [end[c] for c in columns for end in (low, high)]
    first, of = distinct(ends, n_types)
    lows = tuple(low[c][first].astype(np.int64) for c in columns)
    highs = tuple(high[c][first].astype(np.int64) for c in columns)
    volume = np.ones(len(first))
    for a, b in zip(lows, highs, strict=True):
        volume = volume * (b - a + 1)
    return Regions(tuple(columns), lows, highs, of, volume)


def tuples_of(found: Regions) -> tuple[Ints, dict[str, Codes], Ints]:
    """All code tuples of all regions: region of each entry, the distinct tuples, and which one each entry is."""
    refuse_beyond(float(found.volume.sum()), found.columns)
    region, offset = expand(found.volume.astype(np.int64))
    codes: list[Ints] = []
    for low, high in zip(reversed(found.low), reversed(found.high), strict=True):
        width = (high - low + 1)[region]
        codes.insert(0, low[region] + offset % width)
        offset = offset // width
    first, of = distinct(codes, len(region))
    return region, {c: codes[i][first].astype(np.int32) for i, c in enumerate(found.columns)}, of


@dataclass(frozen=True, eq=False)
class Atoms:
    """Outcomes met inside each region, sorted by region, then key: `region`, `outcome`, `n` tuples that give it.

    Tuples that are surely not in the answer are left out.
    """

    region: Ints
    outcome: Ints
    n: Ints
    table: Table


def atoms_of(rows: RowMap, found: Regions, undecided: bool) -> Atoms:
    """What the row map makes of the tuples of every region; `undecided`: no outcome is sure."""
    if len(found.volume) == 0:
        empty = np.zeros(0, dtype=np.int64)
        return Atoms(empty, empty, empty, Table(empty, np.zeros((0, rows.n_values)), np.zeros(0, dtype=np.bool_)))
    if len(found.columns) == 1:
        region, outcome, n, table = _runs(rows, found, undecided)
    else:
        region, codes, of = tuples_of(found)
        table, outcome_of = table_of(_outcome(rows, codes, undecided), rows.n_values)
        outcome, n = outcome_of[of], np.ones(len(region), dtype=np.int64)
    cell = region * len(table) + outcome
    first, merged = ranked(cell, len(found.volume) * len(table))
    n = np.bincount(merged, weights=n).astype(np.int64)
    region, outcome = region[first], outcome[first]
    told = (table.key[outcome] >= 0) | ~table.sure[outcome]
    return Atoms(region[told], outcome[told], n[told], table)


def _outcome(rows: RowMap, codes: Mapping[str, Codes], undecided: bool) -> Outcome:
    outcome = rows.core(codes)
    if undecided:
        return Outcome(outcome.key, outcome.values, np.zeros(len(outcome.key), dtype=np.bool_))
    return outcome


def _runs(rows: RowMap, found: Regions, undecided: bool) -> tuple[Ints, Ints, Ints, Table]:
    """One column: regions are intervals, and neighbouring codes of equal outcome count as one run."""
    low, high = found.low[0], found.high[0]
    cover = np.zeros(int(high.max()) + 2, dtype=np.int64)
    np.add.at(cover, low, 1)
    np.add.at(cover, high + 1, -1)
    covered = np.cumsum(cover[:-1]) > 0
    used = np.flatnonzero(covered)
    place = np.cumsum(covered) - 1
    table, outcome = table_of(_outcome(rows, {found.columns[0]: used.astype(np.int32)}, undecided), rows.n_values)
    starts = np.flatnonzero(np.append(True, outcome[1:] != outcome[:-1]))
    run_of = np.searchsorted(starts, np.arange(len(used)), side="right") - 1
    ends = np.append(starts[1:], len(used))
    first, last = place[low], place[high]
    counts = run_of[last] - run_of[first] + 1
    refuse_beyond(float(counts.sum()), found.columns)
    region, offset = expand(counts)
    run = run_of[first[region]] + offset
    n = np.minimum(ends[run], last[region] + 1) - np.maximum(starts[run], first[region])
    return region, outcome[starts[run]], n, table
