"""Evidence: what a requirement reads. Methods and releases build it, requirements judge it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.codec import Codes, Domain

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Counts:
    """Distinct units per (group, value), sparse: rows sorted by group, then code; no zero counts.

    Entries of group g are `starts[g] : starts[g + 1]`.
    """

    group: Ints
    code: Codes
    n: Ints
    starts: Ints


@dataclass(frozen=True, eq=False)
class Groups:
    """Evidence of kind "groups": sizes and sensitive values, all in distinct units, missing as a value.

    `sizes[g]`: units in group g. `counts[column]`: units per group and value. `totals[column][code]`: units per
    value over the whole published table. `domains[column]`: for distances between values. `around[requirement][g]`:
    rows of that requirement's population, one a person, that lie in group g's region, published ones counted.
    """

    sizes: Ints
    counts: Mapping[str, Counts]
    totals: Mapping[str, Ints]
    domains: Mapping[str, Domain]
    around: Mapping[Any, Ints] = field(default_factory=dict)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.sizes)


def group_evidence(
    group: Ints, n_groups: int, sensitive: Mapping[str, Codes], domains: Mapping[str, Domain], units: Codes | None
) -> Groups:
    """Count groups × sensitive values in distinct units. Shapes: `group` and each column (n_rows,)."""
    sizes = np.bincount(_distinct(group, units), minlength=n_groups).astype(np.int64)
    counts, totals = {}, {}
    for name, codes in sensitive.items():
        size = domains[name].size
        cells = _distinct(group.astype(np.int64) * size + codes, units)
        cell, n = np.unique(cells, return_counts=True)
        owner = cell // size
        starts = np.searchsorted(owner, np.arange(n_groups + 1))
        counts[name] = Counts(owner, (cell % size).astype(np.int32), n.astype(np.int64), starts.astype(np.int64))
        totals[name] = np.bincount(_distinct(codes.astype(np.int64), units), minlength=size).astype(np.int64)
    return Groups(sizes, counts, totals, {name: domains[name] for name in sensitive})


def _distinct(cells: Ints, units: Codes | None) -> Ints:
    """One entry per distinct (cell, unit)."""
    if units is None:
        return cells
    order = np.lexsort((units, cells))
    cell, unit = cells[order], units[order]
    keep = np.ones(len(cell), dtype=bool)
    keep[1:] = (cell[1:] != cell[:-1]) | (unit[1:] != unit[:-1])
    return cell[keep]


def taken(groups: Groups, some: NDArray[np.bool_]) -> Groups:
    """Evidence of some groups, in their order; the totals stay those of the whole table."""
    if some.all():
        return groups
    number = np.cumsum(some) - 1
    counts = {}
    for name, found in groups.counts.items():
        inside = some[found.group]
        owner = number[found.group[inside]]
        starts = np.searchsorted(owner, np.arange(int(some.sum()) + 1)).astype(np.int64)
        counts[name] = Counts(owner, found.code[inside], found.n[inside], starts)
    around = {requirement: units[some] for requirement, units in groups.around.items()}
    return Groups(groups.sizes[some], counts, groups.totals, groups.domains, around)
