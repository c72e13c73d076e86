"""Samarati's search: the lowest height of the lattice at which a node is allowed, by halving."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from sfumato.contracts import Method, Recipe, Requirement
from sfumato.declared import Exact, declared, plain
from sfumato.methods.fulldomain.nodes import Looked, Nodes
from sfumato.methods.metrics.height import Height
from sfumato.methods.tables.baselines import (
    chosen,
    nodes_of,
    refusal,
    refuse_hopeless,
    refuse_not_monotone,
    refuse_unserved,
)

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.data.dataset import Dataset
    from sfumato.methods.fulldomain.space import Node
    from sfumato.releases.generalized import Generalized


@declared
class Samarati(Method):
    """Full-domain generalization to a node of least height (levels summed over columns) among those where at most a
    share `max_suppressed` of the rows is in groups that fail; these are suppressed. Heights are halved, and every node
    of a height is looked at, so the height is right only where coarser nodes stay allowed; else it refuses.

    `prefer`, among nodes of that height: least `suppression`, most groups (`distribution`), or least `distance`, levels
    over heights of hierarchies; then fewest suppressed rows, then low levels of the first columns.
    Does not protect against more than the requirements say. Samarati 2001, with its preferences among solutions.

    >>> Samarati(max_suppressed=0).parameters()
    {'max_suppressed': 0, 'prefer': 'suppression'}
    """

    max_suppressed: Annotated[Exact, Field(ge=0, le=1)] = field(default=Fraction(4, 100), kw_only=True)
    prefer: Literal["suppression", "distribution", "distance"] = field(default="suppression", kw_only=True)
    name: ClassVar[str] = "samarati"

    def parameters(self) -> Mapping[str, Any]:
        """The share of rows that may be suppressed, and the preference."""
        return {"max_suppressed": plain(self.max_suppressed), "prefer": self.prefer}

    def accepts(self, dataset: Dataset, requirements: Sequence[Requirement]) -> None:
        """Requirements that coarser nodes keep: on sizes alone, or with nothing suppressed."""
        refuse_unserved(self, dataset, requirements, ("groups", "population"))
        refuse_not_monotone(self, dataset, requirements, self.max_suppressed)

    def publish(self, dataset: Dataset, requirements: Sequence[Requirement], chance: Chance) -> Generalized:
        """The release of the preferred node of least height."""
        self.accepts(dataset, requirements)
        refuse_hopeless(dataset, requirements)
        nodes = nodes_of(dataset, requirements, self.max_suppressed, Height())
        allowed = lowest(nodes)
        if not allowed:
            raise refusal(self, dataset, requirements)
        best = min(allowed, key=lambda one: (self._cost(nodes, one), one.n_suppressed, one.node))
        recipe = Recipe(self.name, self.parameters(), reproducible=chance.reproducible)
        return chosen(dataset, requirements, nodes, best).made(best.node, recipe, chance)

    def _cost(self, nodes: Nodes, one: Looked) -> Fraction:
        if self.prefer == "distance":
            shares = zip(one.node, nodes.space.heights, strict=True)
            return sum((Fraction(level, height) for level, height in shares if height), Fraction(0))
        return Fraction(one.n_suppressed if self.prefer == "suppression" else -one.n_groups)


def lowest(nodes: Nodes) -> list[Looked]:
    """All allowed nodes of the least height that has one; none when the top is not allowed."""
    heights = nodes.space.heights
    if not nodes.at(heights).allowed:
        return []
    low, high = 0, sum(heights)
    while low < high:
        middle = (low + high) // 2
        if any(nodes.at(node).allowed for node in of_height(heights, middle)):
            high = middle
        else:
            low = middle + 1
    return [one for one in map(nodes.at, of_height(heights, low)) if one.allowed]


def of_height(heights: Node, total: int) -> Iterator[Node]:
    """All nodes whose levels add up to this.

    >>> list(of_height((2, 1), 2))
    [(1, 1), (2, 0)]
    """
    if not heights:
        yield from [()] if total == 0 else []
        return
    first, *others = heights
    for level in range(max(total - sum(others), 0), min(first, total) + 1):
        for rest in of_height(tuple(others), total - level):
            yield (level, *rest)
