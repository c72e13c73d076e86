"""Groups of rows with the codes their cells span, and how groups that fail are merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.evidence import group_evidence
from sfumato.kernels.mondrian import Parted
from sfumato.releases.distinct import distinct_rows

if TYPE_CHECKING:
    from sfumato.contracts import Requirement
    from sfumato.data.codec import Codes, Domain
    from sfumato.data.dataset import Dataset
    from sfumato.data.evidence import Groups

    Ints = NDArray[np.int64]
    Passes = Callable[[NDArray[Any], Ints], NDArray[np.bool_]]

# So many turns merge a failing group with its neighbour; then with twice as many neighbours every turn.
_PATIENT_TURNS = 8


@dataclass(frozen=True, eq=False)
class Ranked:
    """One quasi-identifier as ranks of its present grid cells, and the codes that each rank stands for."""

    codes: NDArray[np.uint16]
    cells: NDArray[np.int32]
    n_cells: int
    first: Codes
    last: Codes

    @classmethod
    def of(cls, codes: Codes, domain: Domain) -> Ranked:
        """Ranks fit in 16 bits: neighbouring cells share one when more than 65,536 are present."""
        cell = np.arange(domain.size, dtype=np.int32)
        if domain.region == "range" and domain.cell is not None:
            cell = domain.cell
        present = np.flatnonzero(np.bincount(codes, minlength=domain.size)).astype(np.int32)
        steps = np.concatenate([[0], np.cumsum(np.diff(cell[present]) != 0)])
        ranks = steps >> max(int(steps[-1]).bit_length() - 16, 0)
        table = np.zeros(domain.size, dtype=np.uint16)
        table[present] = ranks
        starts = np.flatnonzero(np.diff(ranks, prepend=-1))
        ends = np.append(starts[1:], len(present)) - 1
        first, last = present[starts], present[ends]
        return cls(table[codes], cell[first].astype(np.int32), int(cell[-1] - cell[0]) + 1, first, last)


@dataclass(frozen=True, eq=False)
class Regions:
    """Groups of rows and the codes their cells span: group g is rows[starts[g] : starts[g + 1]]; `low[j]`, `high[j]`
    (G,) are the hull in quasi-identifier j.
    """

    rows: NDArray[Any]
    starts: Ints
    low: list[Codes]
    high: list[Codes]

    @classmethod
    def of(cls, parted: Parted, ranked: Sequence[Ranked]) -> Regions:
        """Ranks back to codes."""
        low = [one.first[parted.low[:, j]] for j, one in enumerate(ranked)]
        high = [one.last[parted.high[:, j]] for j, one in enumerate(ranked)]
        return cls(parted.rows, parted.starts, low, high)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.starts) - 1

    def joined(self, into: Ints) -> Regions:
        """Groups merged: group g becomes part of group into[g]; numbers 0 … without gaps."""
        sizes = np.diff(self.starts)
        order = np.argsort(into, kind="stable")
        first = np.flatnonzero(np.diff(into[order], prepend=-1))
        rows = self.rows[np.argsort(np.repeat(into, sizes), kind="stable")]
        starts = np.concatenate([[0], np.cumsum(np.add.reduceat(sizes[order], first))])
        low = [np.minimum.reduceat(codes[order], first) for codes in self.low]
        high = [np.maximum.reduceat(codes[order], first) for codes in self.high]
        return Regions(rows, starts, low, high)

    def alike(self, domains: Sequence[Domain]) -> Regions:
        """Groups whose published regions are the same as one group."""
        covers = [domain.cover(*ends) for domain, *ends in zip(domains, self.low, self.high, strict=True)]
        kinds = distinct_rows([end for cover in covers for end in cover], self.n_groups)
        number = np.empty(len(kinds.first), dtype=np.int64)
        number[np.argsort(kinds.first)] = np.arange(len(kinds.first))
        return self.joined(number[kinds.of])


def judged(dataset: Dataset, requirements: Sequence[Requirement], whole: Groups) -> Passes:
    """Judges groups of rows on evidence in distinct units, against the totals of the whole table."""

    def passes(rows: NDArray[Any], starts: Ints) -> NDArray[np.bool_]:
        group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        sensitive = {name: dataset.codes[name][rows] for name in whole.counts}
        units = None if dataset.units is None else dataset.units[rows]
        evidence = group_evidence(group, len(starts) - 1, sensitive, dataset.domains, units)
        evidence = replace(evidence, totals=whole.totals)
        passed = np.ones(len(starts) - 1, dtype=np.bool_)
        for requirement in requirements:
            passed &= requirement.passes(evidence)
        return passed

    return passes


def mended(regions: Regions, domains: Sequence[Domain], passes: Passes) -> Regions | None:
    """Regions whose groups pass, those that look alike counted as one; None when that is found by no merging.

    What passes already is returned as it is. Failing groups are merged with the next ones in the order of the cuts.
    """
    found, turn = regions.alike(domains), 0
    passing = passes(found.rows, found.starts)
    if passing.all():
        return regions
    while not passing.all():
        if found.n_groups == 1:
            return None
        found = found.joined(_with_the_next(~passing, 1 << max(turn - _PATIENT_TURNS, 0))).alike(domains)
        passing, turn = passes(found.rows, found.starts), turn + 1
    return found


def _with_the_next(failing: NDArray[np.bool_], reach: int) -> Ints:
    """New numbers of groups: failing ones are merged with the `reach` behind them, the last with the one before."""
    n, free = len(failing), 0
    tied = np.zeros(n - 1, dtype=np.bool_)
    for at in np.flatnonzero(failing).tolist():
        if at == n - 1 >= free:
            tied[n - 2] = True
        elif at >= free:
            free = min(at + reach, n - 1) + 1
            tied[at : free - 1] = True
    return np.concatenate([[0], np.cumsum(~tied)]).astype(np.int64)
