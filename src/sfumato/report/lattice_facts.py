"""What the pictures of a searched lattice show: nodes, the frontier, the best node and its neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.nodes import Looked
    from sfumato.methods.fulldomain.solutions import Candidate, Solutions
    from sfumato.methods.fulldomain.space import Node
    from sfumato.methods.metrics.metric import Score

MOST_DRAWN, MOST_WHOLE = 400, 20_000
"""Lattices with more nodes are not drawn node by node; of those with more still, only nodes looked at are shown."""
Kind = Literal["best", "minimal", "allowed", "refused"]


@dataclass(frozen=True)
class Dot:
    """A node as it is drawn; `score` is the first number of a score that has several."""

    node: Node
    kind: Kind
    score: float
    suppressed: int
    groups: int
    risk: float

    @property
    def allowed(self) -> bool:
        """The requirements hold with few enough rows suppressed."""
        return self.kind != "refused"


@dataclass(frozen=True)
class LatticeFacts:
    """A searched lattice for the eye. `whole`: every node is among `dots`; else the allowed ones that were looked at.

    `finer[j]`, `coarser[j]`: the best node with column j one level lower or higher, None where there is no such level.
    """

    name: str
    metric: str
    columns: tuple[str, ...]
    heights: Node
    n_rows: int
    n_nodes: int
    n_looked: int
    best: Dot
    proven: bool
    gap: float | None
    whole: bool
    dots: tuple[Dot, ...] = field(repr=False)
    frontier: tuple[Dot, ...] = field(repr=False)
    finer: tuple[Dot | None, ...] = field(repr=False)
    coarser: tuple[Dot | None, ...] = field(repr=False)


def lattice_facts(found: Solutions, metric: str) -> LatticeFacts:
    """The facts of a searched lattice that has a best node; a few more nodes are looked at for them."""
    nodes, space = found.nodes, found.nodes.space
    best, node = found.best, space.node(found.best.levels)
    whole = space.n_nodes <= MOST_DRAWN
    frontier = [space.node(one.levels) for one in short_frontier(found)]
    minimal = {space.node(one.levels) for one in found.minimal} if whole else set()
    looked = _all_scored(found) if whole else [one for one in nodes.known.values() if one.allowed]
    dots = tuple(_dot(one, node, minimal) for one in looked)
    dot_of = {dot.node: dot for dot in dots}

    def beside(j: int, by: int) -> Dot | None:
        if not 0 <= node[j] + by <= space.heights[j]:
            return None
        return _dot(nodes.scored((*node[:j], node[j] + by, *node[j + 1 :])), node, minimal)

    return LatticeFacts(
        name=found.dataset.name,
        metric=metric,
        columns=space.columns,
        heights=space.heights,
        n_rows=space.n_rows,
        n_nodes=space.n_nodes,
        n_looked=nodes.n_looked,
        best=dot_of[node],
        proven=best.optimal,
        gap=best.gap,
        whole=whole,
        dots=dots,
        frontier=tuple(dot_of[one] for one in frontier),
        finer=tuple(beside(j, -1) for j in range(len(node))),
        coarser=tuple(beside(j, 1) for j in range(len(node))),
    )


def short_frontier(found: Solutions) -> Sequence[Candidate]:
    """Nodes that nothing beats in risk and score: of the whole lattice when it is small and was searched to the end,
    else of the nodes looked at, so that a search that had to stop is not taken up again in silence."""
    if found.nodes.space.n_nodes <= MOST_WHOLE and found.ended.optimal:
        return found.frontier
    least, kept = float("inf"), []
    allowed = (one for one in found.nodes.known.values() if one.allowed)
    for one in sorted(allowed, key=lambda one: (one.score, one.risk, one.n_suppressed, one.node)):
        if one.risk < least:
            least = one.risk
            kept.append(found.candidate(one))
    return kept


def first_number(score: Score) -> float:
    """A score as one number; of several the first, which counts most."""
    return float(score[0]) if isinstance(score, tuple) else float(score)


def _all_scored(found: Solutions) -> Iterable[Looked]:
    return [found.nodes.scored(tuple(node)) for node in found.nodes.space.grid().tolist()]


def _dot(one: Looked, best: Node, minimal: set[Node]) -> Dot:
    kind: Kind = "refused"
    if one.allowed:
        kind = "best" if one.node == best else "minimal" if one.node in minimal else "allowed"
    return Dot(one.node, kind, first_number(one.score), one.n_suppressed, one.n_groups, one.risk)
