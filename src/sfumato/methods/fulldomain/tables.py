"""Rolled-up tables of lattice nodes, made from the nearest finer one that is at hand."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.fulldomain.distinct import compiled
from sfumato.methods.fulldomain.space import Ints, Keys, Node, Space

MOST_KEPT = 1 << 28
"""Bytes of tables kept for later."""


@dataclass(frozen=True, eq=False)
class Table:
    """The groups of one node: `keys` (G, W), `n` rows in each, `of_base[t]` the group of the space's tuple t.

    `of_base` is None where nobody asked to follow tuples.
    """

    node: Node
    keys: Keys = field(repr=False)
    n: Ints = field(repr=False)
    of_base: NDArray[np.int32] | None = field(repr=False)

    @property
    def n_bytes(self) -> int:
        """What it keeps in memory."""
        return self.keys.nbytes + self.n.nbytes + (0 if self.of_base is None else self.of_base.nbytes)


class Tables:
    """Tables by node. `follow`: keep the way back to the space's tuples (sensitive values, populations)."""

    def __init__(self, space: Space, *, follow: bool) -> None:
        self.space = space
        self.n_rolled = 0
        self._follow = follow
        everyone = np.arange(len(space.n), dtype=np.int32) if follow else None
        self._base = Table(space.bottom, space.keys, space.n, everyone)
        self._kept: OrderedDict[Node, Table] = OrderedDict()
        self._n_bytes = 0

    def at(self, node: Node) -> Table:
        """The table of a node."""
        if node in self._kept:
            self._kept.move_to_end(node)
            return self._kept[node]
        last = next((j for j in reversed(self.space.axes) if node[j]), None)
        if last is None:
            return self._base
        below = self._one_lower(node, last) or self.at((*node[:last], 0, *node[last + 1 :]))
        return self._keep(self._rolled(below, node))

    def _one_lower(self, node: Node, axis: int) -> Table | None:
        """A kept table that differs on this axis only, the coarsest there is."""
        for level in range(node[axis] - 1, 0, -1):
            found = self._kept.get((*node[:axis], level, *node[axis + 1 :]))
            if found is not None:
                return found
        return None

    def _rolled(self, below: Table, node: Node) -> Table:
        from sfumato.kernels.rollup_sorting import rolled_by_sorting

        self.n_rolled += 1
        roll = rolled_by_sorting
        if compiled(len(below.n)):
            from sfumato.kernels.rollup import rolled as roll
        keys, n, into = roll(below.keys, below.n, self.space.raising(below.node, node))
        of_base = None if below.of_base is None else into[below.of_base]
        return Table(node, keys, n, of_base)

    def _keep(self, table: Table) -> Table:
        self._kept[table.node] = table
        self._n_bytes += table.n_bytes
        while self._n_bytes > MOST_KEPT and len(self._kept) > 1:
            self._n_bytes -= self._kept.popitem(last=False)[1].n_bytes
        return table
