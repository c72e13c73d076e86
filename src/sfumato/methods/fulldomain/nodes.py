"""Nodes looked at: each is rolled up, judged and scored once, and remembered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sfumato.methods.fulldomain.cuts import Cut, Judge

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.space import Node, Space
    from sfumato.methods.metrics.metric import Score, Scorer

NEVER = float("inf")


@dataclass(frozen=True)
class Looked:
    """What a node gives: rows suppressed, groups and the smallest of them (rows), and its score.

    `allowed`: the requirements hold with few enough rows suppressed. `hopeless`: groups too small for any requirement
    hold too many rows, so that no finer node is allowed either; the figures are then those of `Nodes.scored` only.
    `floor`: what no coarser node scores below.
    """

    node: Node
    n_suppressed: int
    n_groups: int
    smallest: int
    score: Score
    allowed: bool
    hopeless: bool
    floor: float

    @property
    def risk(self) -> float:
        """The highest chance to name the row of a person who is in it: 1 over the smallest group; 0 without groups."""
        return 1.0 / self.smallest if self.smallest else 0.0


class Nodes:
    """Everything known of a lattice's nodes so far. `n_looked` counts evaluations."""

    def __init__(self, judge: Judge, scorer: Scorer) -> None:
        self.judge = judge
        self.scorer = scorer
        self.space: Space = judge.space
        self.known: dict[Node, Looked] = {}
        self._tables = judge.tables(follow=scorer.follows)

    @property
    def n_looked(self) -> int:
        """How many nodes were evaluated."""
        return len(self.known)

    def at(self, node: Node) -> Looked:
        """The node, evaluated; without a score when it is not allowed."""
        found = self.known.get(node)
        if found is None:
            found = self.known[node] = self._look(node)
        return found

    def cut(self, node: Node) -> Cut:
        """The node's groups."""
        return self.judge.cut(self._tables.at(node))

    def scored(self, node: Node) -> Looked:
        """The node with its figures and score, allowed or not."""
        found = self.known.get(node)
        if found is None or found.score == NEVER:
            found = self.known[node] = self._look(node, whole=True)
        return found

    def bound(self, node: Node) -> float:
        """What a node and all coarser ones score at least, without looking at it."""
        found = self.scorer.bounds(np.array([node]))
        return -NEVER if found is None else float(found[0])

    def _look(self, node: Node, *, whole: bool = False) -> Looked:
        table = self._tables.at(node)
        by_size = self.judge.by_size(table)
        too_small = by_size.n_suppressed > self.judge.most
        if too_small and not whole:
            return Looked(node, by_size.n_suppressed, 0, 0, NEVER, False, True, self.scorer.floor(by_size))
        cut = self.judge.cut(table, by_size)
        allowed = self.judge.allows(cut)
        score = self.scorer.score(cut) if allowed or whole else NEVER
        hopeless = too_small or (not allowed and self.judge.merging and self.judge.most == 0)
        return Looked(
            node, cut.n_suppressed, cut.n_groups, cut.smallest, score, allowed, hopeless, self.scorer.floor(cut)
        )
