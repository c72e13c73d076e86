"""MDAV: groups of nearly equal size around the rows that lie farthest out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sfumato.contracts import Method, Recipe, Requirement
from sfumato.declared import declared
from sfumato.methods.feasibility import not_found, refuse_infeasible, whole_table
from sfumato.methods.fulldomain.publishing import release
from sfumato.methods.tables.baselines import refuse_unserved
from sfumato.methods.tables.regions import Regions, judged, mended
from sfumato.methods.tables.standardized import Aggregate, Column, Points

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.data.dataset import Dataset
    from sfumato.releases.generalized import Generalized

    Ints = NDArray[np.int64]


@declared
class MDAV(Method):
    """Groups of k … 2k − 1 rows: the row farthest from the centre of what is left with its k − 1 nearest, then the same
    around the row farthest from that one. Without `k`, as many rows as the requirements need; groups that then fail
    are merged with the next. What is published is the smallest region around each group, not its centre: that would say
    more than the region, and nothing could check it. `aggregate` is the centre of numbers and of declared orders.

    Squared distances: numbers and dates over the range of their domain, declared orders by rank, else 0 or 1 for equal
    or not; missing is at distance 1 from any value. The centre of unordered values is the most frequent.
    Does not protect against more than the requirements say. Domingo-Ferrer, Torra 2005 (MDAV-generic).

    >>> MDAV(k=3).parameters()
    {'k': 3, 'aggregate': 'mean'}
    """

    k: Annotated[int, Field(ge=1)] | None = field(default=None, kw_only=True)
    aggregate: Aggregate = field(default="mean", kw_only=True)
    name: ClassVar[str] = "mdav"

    def parameters(self) -> Mapping[str, Any]:
        """Least rows of a group (nothing: what the requirements need), and the centre."""
        return {"k": self.k, "aggregate": self.aggregate}

    def accepts(self, dataset: Dataset, requirements: Sequence[Requirement]) -> None:
        """Any requirement on groups; at least one quasi-identifier."""
        refuse_unserved(self, dataset, requirements, ("groups",))

    def publish(self, dataset: Dataset, requirements: Sequence[Requirement], chance: Chance) -> Generalized:
        """The smallest publishable region around every group; rows and group ids in random order."""
        self.accepts(dataset, requirements)
        refuse_infeasible(dataset, requirements)
        quasi = dataset.schema.names("quasi")
        domains = [dataset.domains[name] for name in quasi]
        least = self.k or max((r.least for r in requirements), default=1)
        points = Points(tuple(Column.of(dataset, name) for name in quasi))
        groups = microaggregated(points, _ordered(dataset, chance), least, self.aggregate)
        passes = judged(dataset, requirements, whole_table(dataset, requirements))
        regions = mended(_around(dataset, groups), domains, passes)
        if regions is None:
            raise not_found("MDAV", dataset, requirements)
        group = np.empty(dataset.n_rows, dtype=np.int64)
        group[regions.rows] = np.repeat(np.arange(regions.n_groups), np.diff(regions.starts))
        low, high = {}, {}
        for name, first, last in zip(quasi, regions.low, regions.high, strict=True):
            low[name], high[name] = dataset.domains[name].cover(first, last)
        recipe = Recipe(self.name, self.parameters(), reproducible=chance.reproducible)
        return release(dataset, group, low, high, recipe, chance)


def microaggregated(points: Points, rows: Ints, k: int, aggregate: Aggregate) -> list[Ints]:
    """Groups of k … 2k − 1 rows (all of them, when they are fewer than k); of rows equally far the first is taken."""
    found: list[Ints] = []
    while len(rows) >= 2 * k:
        far = int(rows[np.argmax(points.from_centre(rows, aggregate))])
        away = points.from_row(rows, far)
        near = _nearest(away, k)
        found.append(rows[near])
        rows, away = np.delete(rows, near), np.delete(away, near)
        if len(rows) >= 2 * k:
            near = _nearest(points.from_row(rows, int(rows[np.argmax(away)])), k)
            found.append(rows[near])
            rows = np.delete(rows, near)
    return [*found, rows]


def _nearest(away: NDArray[np.float64], k: int) -> Ints:
    """Places of the k least, the first of equal ones."""
    bound = np.partition(away, k - 1)[k - 1]
    nearer = np.flatnonzero(away < bound)
    return np.concatenate([nearer, np.flatnonzero(away == bound)[: k - len(nearer)]])


def _ordered(dataset: Dataset, chance: Chance) -> Ints:
    """Rows by quasi-identifying codes, equal ones in random order: the order of the input decides nothing."""
    random = chance.permutation(dataset.n_rows)
    quasi = dataset.schema.names("quasi")
    return random[np.lexsort([dataset.codes[name][random] for name in reversed(quasi)])]


def _around(dataset: Dataset, groups: Sequence[Ints]) -> Regions:
    """Hulls of the groups, those with low codes first, so that neighbours are merged when one fails."""
    columns = [dataset.codes[name] for name in dataset.schema.names("quasi")]
    low = np.array([[codes[rows].min() for codes in columns] for rows in groups], dtype=np.int32)
    high = np.array([[codes[rows].max() for codes in columns] for rows in groups], dtype=np.int32)
    order = np.lexsort([*reversed(high.T), *reversed(low.T)])
    rows = np.concatenate([groups[g] for g in order.tolist()])
    starts = np.concatenate([[0], np.cumsum([len(groups[g]) for g in order.tolist()])]).astype(np.int64)
    return Regions(rows, starts, list(low[order].T.copy()), list(high[order].T.copy()))
