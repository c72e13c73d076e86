"""What requirements read of a node's groups: counts of sensitive values and of units, from the tuples in each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.evidence import Counts, Groups, group_evidence
from sfumato.methods.feasibility import units_repeat
from sfumato.methods.fulldomain.distinct import compiled
from sfumato.releases.used import used_by_values

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset
    from sfumato.methods.fulldomain.space import Space
    from sfumato.methods.fulldomain.tables import Table

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

MOST_CELLS = 1 << 23
"""Larger histograms of groups × values are counted by sorting."""


class Evidence:
    """Counts of some sensitive columns by group, in distinct units, with the totals of all rows."""

    def __init__(
        self, dataset: Dataset, columns: Sequence[str], space: Space, totals: Mapping[str, Ints] | None = None
    ) -> None:
        self._space = space
        self._dataset = dataset
        self._columns = tuple(columns)
        self._domains = {name: dataset.domains[name] for name in self._columns}
        self.by_unit = units_repeat(dataset)
        self._pairs = {name: self._pairs_of(name) for name in self._columns if not self.by_unit}
        self.totals = self._whole().totals if totals is None else totals

    def fingerprint(self) -> list[Any]:
        """Arrays that decide what it counts, beside the tuples."""
        found = [self._dataset.codes[name] for name in self._columns] + list(self._space.around.values())
        for domain in self._domains.values():
            found += [np.array([domain.size, len(domain.levels)]), *(level.node for level in domain.levels)]
        return [*found, self._space.of_row] + ([] if self._dataset.units is None else [self._dataset.units])

    def sizes(self, table: Table) -> Ints:
        """Units in every group, (G,)."""
        if not self.by_unit:
            return table.n
        assert table.of_base is not None
        units = self._dataset.units
        group = table.of_base[self._space.of_row]
        return group_evidence(group.astype(np.int64), len(table.n), {}, {}, units).sizes

    def of(self, table: Table, sizes: Ints, some: Bools) -> Groups:
        """Evidence of some groups, in their order."""
        around = {}
        number = np.full(len(some), int(some.sum()), dtype=np.int32)
        number[some] = np.arange(int(some.sum()), dtype=np.int32)
        n_some = int(some.sum())
        for requirement, units in self._space.around.items():
            assert table.of_base is not None
            found = np.bincount(table.of_base, weights=units, minlength=len(some))
            around[requirement] = found[some].astype(np.int64)
        if self.by_unit:
            counts = self._by_unit(table, number, n_some)
        else:
            counts = {name: self._counted(name, table, number, n_some) for name in self._columns}
        return Groups(sizes[some], counts, self.totals, self._domains, around)

    def staying(self, table: Table, kept: Bools) -> Groups:
        """Evidence of the groups that stay as their release shows it: values, order and totals of their rows alone."""
        assert table.of_base is not None
        group = np.where(kept, np.cumsum(kept) - 1, -1)[table.of_base[self._space.of_row]]
        rows = np.flatnonzero(group >= 0)
        cut = {c: used_by_values(self._domains[c], self._dataset.codes[c][rows], levels=True) for c in self._columns}
        domains, codes = {c: domain for c, (domain, _) in cut.items()}, {c: found for c, (_, found) in cut.items()}
        units = self._dataset.units[rows] if self.by_unit and self._dataset.units is not None else None
        found = group_evidence(group[rows].astype(np.int64), int(kept.sum()), codes, domains, units)
        around = {}
        for requirement, held in self._space.around.items():
            around[requirement] = np.bincount(table.of_base, weights=held, minlength=len(kept))[kept].astype(np.int64)
        return replace(found, around=around)

    def _counted(self, name: str, table: Table, number: NDArray[np.int32], n_some: int) -> Counts:
        tuples, codes, n = self._pairs[name]
        assert table.of_base is not None
        group, size = number[table.of_base], self._domains[name].size
        if compiled(len(tuples)) and (n_some + 1) * size <= MOST_CELLS:
            from sfumato.kernels.histogram import histogram

            cells = histogram(group, tuples, codes, n, n_some + 1, size)[:n_some]
            owner, code = np.nonzero(cells)
            return _counts(owner, code.astype(np.int32), cells[owner, code].astype(np.int64), n_some)
        key = group[tuples].astype(np.int64) * size + codes
        cell, at = np.unique(key, return_inverse=True)
        held = np.bincount(at, weights=n, minlength=len(cell)).astype(np.int64)
        inside = cell < n_some * size
        cell, held = cell[inside], held[inside]
        return _counts(cell // size, (cell % size).astype(np.int32), held, n_some)

    def _by_unit(self, table: Table, number: NDArray[np.int32], n_some: int) -> dict[str, Counts]:
        assert table.of_base is not None
        group = number[table.of_base[self._space.of_row]].astype(np.int64)
        inside = group < n_some
        codes = {name: self._dataset.codes[name][inside] for name in self._columns}
        units = self._dataset.units
        found = group_evidence(group[inside], n_some, codes, self._domains, None if units is None else units[inside])
        return dict(found.counts)

    def _pairs_of(self, name: str) -> tuple[Any, Any, Ints]:
        """Distinct pairs of a tuple and a value, with the rows that have both."""
        size = self._domains[name].size
        key = self._space.of_row.astype(np.int64) * size + self._dataset.codes[name]
        cell, n = np.unique(key, return_counts=True)
        return (cell // size).astype(np.int32), (cell % size).astype(np.int32), n.astype(np.int64)

    def _whole(self) -> Groups:
        nothing = np.zeros(self._dataset.n_rows, dtype=np.int64)
        codes = {name: self._dataset.codes[name] for name in self._columns}
        return group_evidence(nothing, 1, codes, self._domains, self._dataset.units if self.by_unit else None)


def _counts(owner: Any, code: NDArray[np.int32], n: Ints, n_groups: int) -> Counts:
    starts = np.searchsorted(owner, np.arange(n_groups + 1)).astype(np.int64)
    return Counts(owner.astype(np.int64), code, n, starts)
