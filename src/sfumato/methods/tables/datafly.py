"""Datafly: the column with the most values goes up one level, until few enough rows are left to suppress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from sfumato.contracts import Method, Recipe, Requirement
from sfumato.declared import Exact, declared, plain
from sfumato.methods.fulldomain.cuts import Cut, Judge
from sfumato.methods.fulldomain.publishing import group_of_rows, regions_of, release
from sfumato.methods.fulldomain.space import Space
from sfumato.methods.fulldomain.walking import moved
from sfumato.methods.tables.baselines import refusal, refuse_hopeless, refuse_unserved

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.data.dataset import Dataset
    from sfumato.releases.generalized import Generalized


@declared
class Datafly(Method):
    """Full-domain generalization, greedily: while the groups that fail hold more than a share `max_suppressed` of the
    rows, the column with the most distinct values in the generalized table (the first of several) goes up one level;
    then those groups are suppressed. A baseline for studies: no node is compared with another.

    Does not protect against more than the requirements say, and generalizes more than needed: see `Lattice`.
    Sweeney 2002 (achieving k-anonymity privacy protection), there with at most k rows suppressed.

    >>> Datafly().parameters()
    {'max_suppressed': 0.04}
    """

    max_suppressed: Annotated[Exact, Field(ge=0, le=1)] = field(default=Fraction(4, 100), kw_only=True)
    name: ClassVar[str] = "datafly"

    def parameters(self) -> Mapping[str, Any]:
        """The share of rows that may be suppressed."""
        return {"max_suppressed": plain(self.max_suppressed)}

    def accepts(self, dataset: Dataset, requirements: Sequence[Requirement]) -> None:
        """Any requirement on groups, with or without a population; at least one quasi-identifier."""
        refuse_unserved(self, dataset, requirements, ("groups", "population"))

    def publish(self, dataset: Dataset, requirements: Sequence[Requirement], chance: Chance) -> Generalized:
        """The release of the first node on the way up that is allowed."""
        self.accepts(dataset, requirements)
        refuse_hopeless(dataset, requirements)
        cut = climbed(Judge(dataset, requirements, Space.of(dataset), self.max_suppressed))
        if cut is None:
            raise refusal(self, dataset, requirements)
        low, high = regions_of(cut)
        recipe = Recipe(self.name, self.parameters(), reproducible=chance.reproducible)
        return release(dataset, group_of_rows(cut), low, high, recipe, chance)


def climbed(judge: Judge) -> Cut | None:
    """The first allowed node on the way up; None when not even the top is."""
    space, tables, node = judge.space, judge.tables(follow=True), judge.space.bottom
    while True:
        cut = judge.settled(tables.at(node))
        if judge.allows(cut):
            return cut
        lower = [j for j, height in enumerate(space.heights) if node[j] < height]
        if not lower:
            return None
        n_values = {j: np.count_nonzero(space.rows_of_nodes[j][node[j]]) for j in lower}
        node = moved(node, max(lower, key=lambda j: n_values[j]), 1)
