"""The levels of one column for full-domain generalization: every value goes up to its node on one level."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.data.codec import Codes, Domain

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels 0 … height, fine to coarse: `node[level][code]` is nondecreasing over the codes and counts from 0.

    Level 0 is what may be published of a single value (on a grid its cell), the last level is everything (`*`).
    A level whose nodes are those of the one below is left out, so that no two levels publish the same.
    """

    domain: Domain = field(repr=False)
    node: tuple[Codes, ...] = field(repr=False)

    @classmethod
    def of(cls, domain: Domain) -> Levels:
        """The levels that a domain's hierarchy gives."""
        size = domain.size
        finest = np.arange(size, dtype=np.int32)
        if domain.region == "range" and domain.cell is not None:
            finest = domain.cell - domain.cell[:1]
        found = [finest]
        for node in (*(level.node for level in domain.levels), np.zeros(size, dtype=np.int32)):
            if int(node[-1] if size else 0) < int(found[-1][-1] if size else 0):
                found.append(np.ascontiguousarray(node, dtype=np.int32))
        return cls(domain, tuple(found))

    @property
    def height(self) -> int:
        """The coarsest level."""
        return len(self.node) - 1

    @property
    def blank(self) -> bool:
        """Nothing is told on any level: the one leaf stands for anything."""
        return self.domain.n_values == 1 and self.domain.open_low and self.domain.open_high

    def n_nodes(self, level: int) -> int:
        """How many nodes a level has."""
        return int(self.node[level][-1]) + 1 if self.domain.size else 0

    def up(self, low: int, high: int) -> Codes:
        """The node on level `high` above each node on level `low`, shape (n_nodes(low),)."""
        starts = self.runs(low)[0]
        return self.node[high][starts]

    def runs(self, level: int) -> tuple[Codes, Codes]:
        """First and last code under each node of a level."""
        node = self.node[level]
        starts = np.flatnonzero(np.diff(node, prepend=-1))
        ends = np.append(starts[1:], len(node)) - 1
        return starts.astype(np.int32), ends.astype(np.int32)

    def leaves(self, level: int) -> Ints:
        """Leaves under each node of a level, the missing value counted as one."""
        return np.bincount(self.node[level], minlength=self.n_nodes(level)).astype(np.int64)
