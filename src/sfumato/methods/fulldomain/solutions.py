"""What a search of a lattice leaves behind: the best node, every node on request, and releases of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sfumato.contracts import Recipe, Requirement
from sfumato.errors import Infeasible
from sfumato.methods.feasibility import loosest, shown, whole_table
from sfumato.methods.fulldomain.minimal import minimal_nodes, pareto_nodes
from sfumato.methods.fulldomain.nearest import nearest_met
from sfumato.methods.fulldomain.nodes import Looked, Nodes
from sfumato.methods.fulldomain.progress import Watch
from sfumato.methods.fulldomain.publishing import group_of_rows, regions_of, release
from sfumato.methods.fulldomain.searching import search
from sfumato.methods.fulldomain.walking import in_order, moved

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.data.dataset import Dataset
    from sfumato.methods.fulldomain.cuts import Cut
    from sfumato.methods.fulldomain.ended import Ended
    from sfumato.methods.fulldomain.local import Locally, Recoded
    from sfumato.methods.fulldomain.space import Node
    from sfumato.methods.fulldomain.tables import Tables
    from sfumato.methods.metrics.metric import Score
    from sfumato.releases.generalized import Generalized

SECONDS = 30.0
"""For a second search, among nodes whose releases stand."""
MOST_TRIED = 200
"""Nodes tried for the least suppression when there is no solution."""


def gap_of(score: Score | None, bound: float | None, *, optimal: bool) -> float | None:
    """How much lower a score could be at most; 0 when optimal, None when nothing is known."""
    if optimal:
        return 0.0
    return max(score - bound, 0.0) if bound is not None and isinstance(score, float) else None


@dataclass(frozen=True)
class Candidate:
    """One node: column → level, score, suppressed rows, groups that stay, and the risk of its smallest group.

    `optimal`: proven that no allowed node scores lower; `bound`: what none scores below. `allowed`: the requirements
    hold with few enough rows suppressed. With local recoding the levels are those that rows start from.
    """

    levels: Mapping[str, int]
    score: Score
    suppressed: int
    groups: int
    risk: float
    allowed: bool
    optimal: bool = False
    bound: float | None = None

    @property
    def gap(self) -> float | None:
        """How much lower a score could be at most; 0 when optimal, None when nothing is known."""
        return gap_of(self.score, self.bound, optimal=self.optimal)


@dataclass(frozen=True, eq=False)
class Solutions:
    """A searched lattice."""

    dataset: Dataset = field(repr=False)
    requirements: tuple[Requirement, ...]
    nodes: Nodes = field(repr=False)
    ended: Ended
    locally: Locally | None = field(repr=False, default=None)

    @cached_property
    def best(self) -> Candidate:
        """The best node, or `Infeasible` when there is none."""
        if self.ended.best is None:
            raise self.refusal()
        found = self.candidate(self.ended.best)
        bound = self.ended.bound if self.ended.bound > float("-inf") else None
        found = replace(found, optimal=self.ended.optimal, bound=bound)
        return self.shown(found)

    def shown(self, one: Candidate) -> Candidate:
        """A candidate with the figures of its release, where suppressed rows are recoded: no longer proven, and scored
        anew where the metric is the loss that recoding goes by (else the score is that of the node it starts from)."""
        if self.locally is None or not one.allowed:
            return one
        node = self.nodes.space.node(one.levels)
        local = self.recoded(node)
        score = self.locally.score(local, self._settled(node)) if self.locally.of_metric else one.score
        smallest = min(local.sizes(), default=0)
        risk = 1.0 / smallest if smallest else 0.0
        figures = replace(one, score=score, suppressed=local.n_suppressed, groups=local.n_groups, risk=risk)
        return replace(figures, optimal=False, bound=None)

    def node(self, levels: Mapping[str, int]) -> Candidate:
        """Any node, scored; columns that are not named stay on level 0."""
        return self.candidate(self.nodes.scored(self.nodes.space.node(levels)))

    @cached_property
    def minimal(self) -> tuple[Candidate, ...]:
        """All minimal nodes: allowed ones with no finer node that is allowed."""
        return tuple(self.candidate(self.nodes.at(node)) for node in minimal_nodes(self.nodes))

    @cached_property
    def frontier(self) -> tuple[Candidate, ...]:
        """Allowed nodes that no other beats in both risk and score, by rising score; before any local recoding."""
        return tuple(self.candidate(self.nodes.at(node)) for node in pareto_nodes(self.nodes))

    def candidate(self, one: Looked) -> Candidate:
        """A node as it is shown."""
        levels = self.nodes.space.named(one.node)
        return Candidate(levels, one.score, one.n_suppressed, one.n_groups, one.risk, one.allowed)

    def refusal(self) -> Infeasible:
        """Why there is no best node, with the least suppression that would do among the nodes looked at."""
        space, judge = self.nodes.space, self.nodes.judge
        proven = "No node" if self.ended.optimal else "None of the nodes looked at"
        most = f"{judge.most} of {space.n_rows} rows"
        said = [f"{proven} of the lattice meets the requirements with at most {most} suppressed."]
        nearest: dict[str, float] = {}
        fewest = min((self._n_suppressed(node) for node in self._likely()), default=space.n_rows)
        if fewest < space.n_rows:
            nearest["max_suppressed"] = -(-fewest * 10_000 // space.n_rows) / 10_000
            said.append(f"With max_suppressed = {nearest['max_suppressed']:g} there is one.")
        else:
            said.append("Every row would be, wherever that was counted.")
        met, figures = self._met_by_all()
        under = nearest_met(self.dataset, self.nodes, self.requirements, met) if judge.most else None
        if under is not None:
            met |= dict([under])
            said.append(f"With {under[0]} = {under[1]:.6g} there is one as well.")
        if figures:
            said.append(f"The whole table as one group meets {figures}.")
        return Infeasible(" ".join([*said, "Ask for less."]), nearest | met)

    def _met_by_all(self) -> tuple[dict[str, float], str]:
        """What the whole table as one group meets of the requirements that it fails, and that in words."""
        around = {r: np.array([held.sum()]) for r, held in self.nodes.space.around.items()}
        whole = replace(whole_table(self.dataset, self.requirements), around=around)
        failing = [r for r in self.requirements if not r.holds(whole).holds]
        looser = {name for r in failing for name in r.looser_up}
        met = loosest(failing, whole)
        return met, ", ".join(f"{name} = {shown(value, up=name in looser)}" for name, value in met.items())

    def _likely(self) -> Iterable[Node]:
        """Nodes where few rows may be suppressed: all of a small lattice; else those with the fewest among the ones
        looked at, and the way down from the top."""
        space = self.nodes.space
        if space.n_nodes <= MOST_TRIED:
            return in_order(space)
        known = sorted(self.nodes.known.values(), key=lambda one: (one.n_suppressed, sum(one.node)))
        found, here = [one.node for one in known[:MOST_TRIED]], space.heights
        for _ in range(sum(space.heights)):
            found.append(here)
            lower = [moved(here, j, -1) for j in range(len(here)) if here[j]]
            here = min(lower, key=lambda node: self.nodes.scored(node).n_suppressed)
            if len(found) > 2 * MOST_TRIED:
                break
        return found

    def _n_suppressed(self, node: Node) -> int:
        """Rows that a release of the node would suppress."""
        if not self.nodes.judge.reads_totals:
            return self.nodes.scored(node).n_suppressed
        return self.nodes.judge.settled(self._followed.at(node)).n_suppressed

    @cached_property
    def _followed(self) -> Tables:
        return self.nodes.judge.tables(follow=True)

    def publishable(self) -> Node:
        """The best node whose release stands: the best one, or where its groups fail among the published rows alone,
        the allowed one of least score whose groups do not."""
        assert self.ended.best is not None
        judge = self.nodes.judge
        if not judge.reads_totals or judge.allows(judge.settled(self._followed.at(self.ended.best.node))):
            return self.ended.best.node
        allowed = (one for one in self.nodes.known.values() if one.allowed)
        for one in sorted(allowed, key=lambda one: (one.score, one.n_suppressed, one.node)):
            if judge.allows(judge.settled(self._followed.at(one.node))):
                return one.node
        again = search(Nodes(judge.settling(), self.nodes.scorer), Watch(SECONDS, None)).best
        if again is None:
            raise self.refusal()
        return again.node

    def made(self, node: Node, recipe: Recipe, chance: Chance, dataset: Dataset | None = None) -> Generalized:
        """The release of a node, of the groups that pass among the published rows alone; `dataset`: the same with
        further columns."""
        if self.locally is not None:
            local = self.recoded(node)
            return release(dataset or self.dataset, local.group, local.low, local.high, recipe, chance)
        cut = self._settled(node)
        low, high = regions_of(cut)
        return release(dataset or self.dataset, group_of_rows(cut), low, high, recipe, chance)

    def recoded(self, node: Node) -> Recoded:
        """A node with its suppressed rows generalized by nodes of their own."""
        assert self.locally is not None
        if node not in self._recoded:
            self._recoded[node] = self.locally.recoded(self._settled(node), self.nodes.judge)
        return self._recoded[node]

    @cached_property
    def _recoded(self) -> dict[Node, Recoded]:
        return {}

    def _settled(self, node: Node) -> Cut:
        cut = self.nodes.judge.settled(self._followed.at(node))
        if not self.nodes.judge.allows(cut):
            raise Infeasible(
                f"At this node {cut.n_suppressed} of {cut.space.n_rows} rows would be suppressed, more than the "
                f"{self.nodes.judge.most} allowed. Choose another node, or raise max_suppressed.",
                {"max_suppressed": -(-cut.n_suppressed * 10_000 // cut.space.n_rows) / 10_000},
            )
        return cut
