"""How full the nodes of a hierarchy are: distinct values, rows and units below every node of every level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sfumato.data.codec import Codes, Level
from sfumato.data.evidence import group_evidence
from sfumato.data.hierarchies.rule import Ints, Placed

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class Occupied:
    """One level: its nodes that hold anything, in leaf order, with what is below each; shapes (N,).

    Level 0 are the values as they are. `n_empty` nodes hold nothing. Labels are the custodian's: they show values.
    """

    level: int
    labels: tuple[str, ...]
    values: Ints
    rows: Ints
    units: Ints
    n_empty: int

    @property
    def n_nodes(self) -> int:
        """Nodes that hold anything."""
        return len(self.labels)

    @property
    def smallest(self) -> int:
        """Units of the smallest node."""
        return int(self.units.min()) if self.n_nodes else 0

    @property
    def median(self) -> float:
        """Units of the middle node."""
        return float(np.median(self.units)) if self.n_nodes else 0.0

    def below(self, k: int) -> tuple[int, int]:
        """How many nodes have fewer than k units, and their rows."""
        few = self.units < k
        return int(few.sum()), int(self.rows[few].sum())


def occupied(dataset: Dataset, column: str, placed: Placed) -> tuple[Occupied, ...]:
    """Every level of a placed column, from its values up; without the root, which holds everything."""
    domain = placed.domain
    nodes = [placed.table, *(level.node[placed.table] for level in domain.levels)]
    names = [domain.leaf_label, *(_name(level) for level in domain.levels)]
    sizes = [domain.size, *(len(level.labels) for level in domain.levels)]
    return tuple(
        _occupied(dataset, column, n, Above(table, name, size))
        for n, (table, name, size) in enumerate(zip(nodes, names, sizes, strict=True))
    )


@dataclass(frozen=True, eq=False)
class Above:
    """A level as the node above each raw code, the name of a node, and how many nodes there are."""

    table: Codes
    name: Callable[[int], str]
    n_nodes: int


def _name(level: Level) -> Callable[[int], str]:
    return lambda node: level.labels[node]


def _occupied(dataset: Dataset, column: str, n: int, above: Above) -> Occupied:
    nodes, of = np.unique(above.table, return_inverse=True)
    values = np.bincount(of, minlength=len(nodes)).astype(np.int64)
    node = of[dataset.codes[column]].astype(np.int64)
    rows = np.bincount(node, minlength=len(nodes)).astype(np.int64)
    units = rows if dataset.units is None else group_evidence(node, len(nodes), {}, {}, dataset.units).sizes
    labels = tuple(above.name(int(one)) for one in nodes)
    return Occupied(n, labels, values, rows, units, above.n_nodes - len(nodes))
