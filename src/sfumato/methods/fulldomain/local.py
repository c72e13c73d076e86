"""Local recoding: rows that a node suppresses are generalized by a node of their own, again and again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.data.evidence import Groups, group_evidence
from sfumato.methods.feasibility import columns_of
from sfumato.methods.fulldomain.cuts import Cut, Judge
from sfumato.methods.fulldomain.nodes import Nodes
from sfumato.methods.fulldomain.progress import Watch
from sfumato.methods.fulldomain.publishing import group_of_rows, regions_of
from sfumato.methods.fulldomain.searching import search
from sfumato.methods.fulldomain.space import Space
from sfumato.methods.metrics.aggregates import aggregated
from sfumato.methods.metrics.metric import Setting, dot, factors, weights_of
from sfumato.releases.distinct import distinct_rows
from sfumato.releases.used import used_by_values

if TYPE_CHECKING:
    from sfumato.contracts import Requirement
    from sfumato.data.codec import Codes
    from sfumato.data.dataset import Dataset
    from sfumato.methods.metrics.loss import Loss
    from sfumato.methods.metrics.metric import Score

Ints = NDArray[np.int64]
SECONDS = 10.0
"""For the search of one round."""


@dataclass(frozen=True, eq=False)
class Recoded:
    """Groups of rows with regions of their own: `group` of every row (−1: suppressed), first and last codes (G,)."""

    group: Ints
    low: Mapping[str, Codes] = field(repr=False)
    high: Mapping[str, Codes] = field(repr=False)

    @property
    def n_groups(self) -> int:
        """Groups."""
        return len(next(iter(self.low.values())))

    @property
    def n_suppressed(self) -> int:
        """Rows in no group."""
        return int((self.group < 0).sum())

    def sizes(self) -> list[int]:
        """Rows of every group."""
        return [int(n) for n in np.bincount(self.group[self.group >= 0], minlength=self.n_groups)]

    def only(self, kept: NDArray[np.bool_]) -> Recoded:
        """Some groups; rows of the others are suppressed."""
        number = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
        low, high = ({name: codes[kept] for name, codes in ends.items()} for ends in (self.low, self.high))
        return Recoded(number[self.group].astype(np.int64), low, high)


@dataclass(frozen=True, eq=False)
class Locally:
    """The task: a dataset under requirements, the loss that rounds are chosen by, weights of columns.

    `of_metric`: the loss is the metric of the search, so that its scores are those of the search. `limit`: seconds for
    all rounds.
    """

    dataset: Dataset = field(repr=False)
    requirements: Sequence[Requirement]
    loss: Loss
    weights: Mapping[str, float]
    of_metric: bool
    limit: float | None = None

    def recoded(self, first: Cut, judge: Judge) -> Recoded:
        """The first node's groups, then rounds on what is left, then rows taken into groups that cover them.

        No round takes a row out of a group; a row stays suppressed only where neither the rows left can form a group
        with it nor a group that covers it can take it. Groups that fail once all rows published are known go again:
        where that loses more than the first node, or suppresses more rows than allowed, the first node it stays.
        """
        start = found = Recoded(group_of_rows(first), *regions_of(first))
        watch = Watch(self.limit, None)
        while found.n_suppressed and not watch.over():
            more = self._round(found, judge, min(SECONDS, watch.left))
            if more is None:
                break
            found = more
        found = self._settled(self._taken_in(found, judge))
        allowed = found.n_groups > 0 and found.n_suppressed <= judge.most
        after, before = (first_numbers(self.score(one, first)) for one in (found, start))
        return found if allowed and after <= before else start

    def score(self, found: Recoded, first: Cut) -> Score:
        """The loss of the whole; a row still suppressed counts as at the first node."""
        generalized, suppressed = factors(self.loss.gs_factor)
        rows, left = np.array(found.sizes()), found.group < 0
        losses = []
        for j, name in enumerate(found.low):
            size = self.dataset.domains[name].size
            shares = (found.high[name].astype(np.int64) - found.low[name] + 1) / size
            levels = first.space.levels[j]
            nodes = levels.node[first.node[j]][self.dataset.codes[name][left]]
            lost = levels.leaves(first.node[j])[nodes] / size
            total = generalized * dot(rows, shares) + float((lost + suppressed * (1 - lost)).sum())
            finest = generalized * len(found.group) / size
            span = len(found.group) - finest
            losses.append(max((total - finest) / span, 0.0) if span > 0 else float(levels.blank))
        return aggregated(self.loss.aggregate, np.array(losses), weights_of(list(found.low), self.weights))

    def _round(self, found: Recoded, judge: Judge, seconds: float) -> Recoded | None:
        """The rows left, generalized by the best node for them; None when no group of them passes."""
        left = found.group < 0
        rest = self.dataset.only(left)
        space = Space.of(rest)
        own = Judge(rest, self.requirements, space, Fraction(1), judge.evidence.totals)
        nodes = Nodes(own, self.loss.scorer(Setting.of(space, rest, self.weights)))
        best = search(nodes, Watch(seconds, None)).best
        if best is None:
            return None
        cut = own.cut(own.tables(follow=True).at(best.node))
        group, (low, high) = group_of_rows(cut), regions_of(cut)
        all_groups = found.group.copy()
        all_groups[left] = np.where(group < 0, -1, group + found.n_groups)
        return Recoded(all_groups, _both(found.low, low), _both(found.high, high))

    def _taken_in(self, found: Recoded, judge: Judge) -> Recoded:
        """Rows left are put into the smallest group that covers them and passes with them."""
        left = np.flatnonzero(found.group < 0)
        if not len(left) or not found.n_groups:
            return found
        names = list(found.low)
        group, size = found.group.copy(), self._sizes(found)
        kinds = distinct_rows([self.dataset.codes[name][left] for name in names], len(left))
        for kind in range(len(kinds.first)):
            rows = left[kinds.of == kind]
            covers = np.ones(found.n_groups, dtype=np.bool_)
            for name in names:
                code = self.dataset.codes[name][rows[0]]
                covers &= (found.low[name] <= code) & (code <= found.high[name])
            for one in sorted(np.flatnonzero(covers).tolist(), key=lambda g: (size[g], g)):
                if self._passes(np.append(np.flatnonzero(group == one), rows), judge):
                    group[rows] = one
                    break
        return Recoded(group, found.low, found.high)

    def _sizes(self, found: Recoded) -> NDArray[np.float64]:
        """How much of the domain each group's region takes, summed over columns."""
        shares = [(found.high[c] - found.low[c] + 1) / self.dataset.domains[c].size for c in found.low]
        return np.asarray(np.sum(shares, axis=0), dtype=np.float64)

    def _passes(self, rows: Ints, judge: Judge) -> bool:
        evidence = self._evidence(np.zeros(len(rows), dtype=np.int64), 1, rows, judge.evidence.totals)
        return all(bool(r.passes(evidence).all()) for r in self.requirements)

    def _settled(self, found: Recoded) -> Recoded:
        """Groups that look alike judged as one, against the rows published; those that fail are suppressed."""
        while found.n_groups:
            ends = [end[name] for name in found.low for end in (found.low, found.high)]
            alike = distinct_rows(ends, found.n_groups).of
            rows = np.flatnonzero(found.group >= 0)
            classes = alike[found.group[rows]]
            evidence = self._evidence(classes, int(alike.max()) + 1, rows, None)
            passing = np.ones(evidence.n_groups, dtype=np.bool_)
            for requirement in self.requirements:
                passing &= requirement.keeps(evidence)
            if passing.all():
                break
            found = found.only(passing[alike])
        return found

    def _evidence(self, group: Ints, n_groups: int, rows: Ints, totals: Mapping[str, Ints] | None) -> Groups:
        units = None if self.dataset.units is None else self.dataset.units[rows]
        codes, domains = {}, {}
        for name in columns_of(self.requirements):
            codes[name], domains[name] = self.dataset.codes[name][rows], self.dataset.domains[name]
            if totals is None:
                domains[name], codes[name] = used_by_values(domains[name], codes[name], levels=True)
        found = group_evidence(group, n_groups, codes, domains, units)
        return found if totals is None else Groups(found.sizes, found.counts, totals, domains)


def first_numbers(score: Score) -> tuple[float, ...]:
    """A score that compares with others of its kind."""
    return score if isinstance(score, tuple) else (score,)


def _both(one: Mapping[str, Codes], other: Mapping[str, Codes]) -> dict[str, Codes]:
    return {name: np.concatenate([one[name], other[name]]) for name in one}
