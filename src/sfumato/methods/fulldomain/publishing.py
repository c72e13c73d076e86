"""A node as a release: regions for the groups that stay, the other rows suppressed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.contracts import Recipe
from sfumato.data.schema import Schema
from sfumato.releases.generalized import Generalized

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.data.codec import Codes
    from sfumato.data.dataset import Dataset
    from sfumato.methods.fulldomain.cuts import Cut

Regions = Mapping[str, "Codes"]


def regions_of(cut: Cut) -> tuple[dict[str, Codes], dict[str, Codes]]:
    """First and last code of every group that stays, by column; shapes (n_groups,)."""
    low, high = {}, {}
    nodes = cut.nodes(cut.kept)
    for j, name in enumerate(cut.space.columns):
        first, last = cut.space.levels[j].runs(cut.node[j])
        low[name], high[name] = first[nodes[j]], last[nodes[j]]
    return low, high


def group_of_rows(cut: Cut) -> NDArray[np.int64]:
    """The group of every row among those that stay, −1 where it is suppressed."""
    assert cut.of_base is not None
    number = np.where(cut.kept, np.cumsum(cut.kept) - 1, -1)
    return np.asarray(number[cut.of_base[cut.space.of_row]], dtype=np.int64)


def release(
    dataset: Dataset, group: NDArray[np.int64], low: Regions, high: Regions, recipe: Recipe, chance: Chance
) -> Generalized:
    """Groups of rows (−1: suppressed) with their regions; rows and group ids in random order."""
    n_groups = len(next(iter(low.values())))
    ids = chance.permutation(n_groups).astype(np.int64)
    rows = np.flatnonzero(group >= 0)
    rows = rows[chance.permutation(len(rows))]
    published = dataset.schema.names("quasi", "sensitive", "plain")
    schema = Schema(tuple(column for column in dataset.schema if column.name in published))
    domains = {name: dataset.domains[name] for name in published}
    exact = {name: dataset.codes[name][rows] for name in dataset.schema.names("sensitive", "plain")}
    return Generalized(
        dataset.name,
        schema,
        domains,
        _turned(low, ids),
        _turned(high, ids),
        ids[group[rows]],
        exact,
        recipe,
        n_suppressed=len(group) - len(rows),
    )


def _turned(ends: Regions, ids: NDArray[Any]) -> dict[str, Codes]:
    found = {}
    for name, codes in ends.items():
        found[name] = np.empty_like(codes)
        found[name][ids] = codes
    return found
