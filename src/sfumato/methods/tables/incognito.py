"""Incognito: all minimal nodes of the lattice, from sets of few columns to all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, WithJsonSchema

from sfumato.contracts import Method, Recipe, Requirement
from sfumato.declared import Exact, declared, plain
from sfumato.errors import Incompatible
from sfumato.methods import metrics
from sfumato.methods.fulldomain.minimal import MOST_LISTED
from sfumato.methods.fulldomain.nodes import Nodes
from sfumato.methods.fulldomain.walking import box_above
from sfumato.methods.metrics.height import Height
from sfumato.methods.metrics.loss import Loss
from sfumato.methods.metrics.metric import Metric
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

Bools = NDArray[np.bool_]
Columns = tuple[int, ...]


@declared
class Incognito(Method):
    """Full-domain generalization to the minimal node of least metric score, rows of failing groups suppressed, at most
    a share `max_suppressed`. A node is minimal when it is allowed and no finer one is; all minimal nodes are found.

    Sets of columns grow by one: a node of a set is a candidate when all its parts without one column are allowed, and
    is looked at when no finer candidate is allowed. Right only where coarser nodes stay allowed; else it refuses.
    Does not protect against more than the requirements say; with suppression a node above can score less: `Lattice`.
    LeFevre, DeWitt, Ramakrishnan 2005; tables are rolled up from finer ones.

    >>> Incognito(metric="precision").parameters()["metric"]
    'precision'
    """

    max_suppressed: Annotated[Exact, Field(ge=0, le=1)] = field(default=Fraction(4, 100), kw_only=True)
    metric: Annotated[Metric, BeforeValidator(metrics.named), WithJsonSchema(metrics.NAMED)] = field(
        default_factory=Loss, kw_only=True
    )
    name: ClassVar[str] = "incognito"

    def parameters(self) -> Mapping[str, Any]:
        """The share of rows that may be suppressed; the metric with its parameters."""
        return {
            "max_suppressed": plain(self.max_suppressed),
            **self.metric.parameters(),
            "metric": self.metric.metric,
        }

    def accepts(self, dataset: Dataset, requirements: Sequence[Requirement]) -> None:
        """Requirements that coarser nodes keep: on sizes alone, or with nothing suppressed."""
        refuse_unserved(self, dataset, requirements, ("groups", "population"))
        refuse_not_monotone(self, dataset, requirements, self.max_suppressed)

    def publish(self, dataset: Dataset, requirements: Sequence[Requirement], chance: Chance) -> Generalized:
        """The release of the best minimal node."""
        self.accepts(dataset, requirements)
        refuse_hopeless(dataset, requirements)
        nodes = nodes_of(dataset, requirements, self.max_suppressed, self.metric)
        if nodes.space.n_nodes > MOST_LISTED:
            raise Incompatible(
                f"Incognito marks every node, and the lattice has {nodes.space.n_nodes:,}, more than {MOST_LISTED:,}. "
                "Use Lattice, or fewer levels."
            )
        found = minimal(nodes_of(dataset, requirements, self.max_suppressed, Height()))
        if not found:
            raise refusal(self, dataset, requirements)
        best = min(map(nodes.at, found), key=lambda one: (one.score, one.n_suppressed, one.node))
        recipe = Recipe(self.name, self.parameters(), reproducible=chance.reproducible)
        return chosen(dataset, requirements, nodes, best).made(best.node, recipe, chance)


def minimal(nodes: Nodes) -> list[Node]:
    """All minimal nodes, in the order of their levels; none when not even the top is allowed."""
    n_columns = len(nodes.space.columns)
    allowed: dict[Columns, Bools] = {(): np.ones((), dtype=np.bool_)}
    for size in range(1, n_columns + 1):
        allowed = {
            columns: _searched(nodes, columns, _candidates(nodes, columns, allowed))
            for columns in combinations(range(n_columns), size)
        }
    found = allowed[tuple(range(n_columns))]
    least = found.copy()
    for axis in range(n_columns):
        finer = np.moveaxis(found, axis, 0)[:-1]
        np.moveaxis(least, axis, 0)[1:] &= ~finer
    return [tuple(map(int, node)) for node in np.argwhere(least)]


def _candidates(nodes: Nodes, columns: Columns, allowed: Mapping[Columns, Bools]) -> Bools:
    """Nodes over some columns of which every part without one column is allowed; one flag a node."""
    found = np.ones([nodes.space.heights[j] + 1 for j in columns], dtype=np.bool_)
    for axis in range(len(columns)):
        found &= np.expand_dims(allowed[columns[:axis] + columns[axis + 1 :]], axis)
    return found


def _searched(nodes: Nodes, columns: Columns, candidates: Bools) -> Bools:
    """Which candidates are allowed, from the lowest up: what is above an allowed one is marked, not looked at.

    The other columns are on their highest level, where all values are one.
    """
    allowed = np.zeros_like(candidates)
    listed = np.argwhere(candidates)
    for levels in map(tuple, listed[np.argsort(listed.sum(axis=1), kind="stable")].tolist()):
        if allowed[levels]:
            continue
        node = list(nodes.space.heights)
        for j, level in zip(columns, levels, strict=True):
            node[j] = level
        if nodes.at(tuple(node)).allowed:
            allowed[box_above(levels)] = True
    return allowed & candidates
