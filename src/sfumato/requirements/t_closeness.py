"""t-closeness: in every group the sensitive values are distributed nearly as in the whole published table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.contracts import Requirement, Twin, Verdict
from sfumato.declared import Exact, declared, plain
from sfumato.requirements.distances import DISTANCES, equal_table, ordered_table
from sfumato.requirements.judging import Bools, at_most, counts_on, greatest_ratio, halves, masses, up, verdict

if TYPE_CHECKING:
    from sfumato.data.codec import Domain
    from sfumato.data.evidence import Groups
    from sfumato.requirements.judging import Ints

    Numbers = np.ndarray[Any, Any]

Distance = Literal["equal", "ordered", "hierarchical"]


@declared
class TCloseness(Requirement):
    """Earth mover's distance between a group's sensitive values and the whole table's is at most t in every group.

    The cost of moving from one value to another is 1 (equal), their rank difference over m − 1 (ordered; a missing
    value ranks last), or the height of their lowest common node over the height of the tree (hierarchical; a column
    without a hierarchy is a flat tree, as equal). With a unit column, a unit counts once for each value it has.
    Does not protect against re-identification (add k-anonymity) nor against what the whole table tells.
    Li, Li, Venkatasubramanian 2007, §4.

    >>> TCloseness(0.2, on="salary", distance="ordered").parameters()
    {'t': 0.2, 'distance': 'ordered'}
    """

    t: Annotated[Exact, Field(ge=0, le=1)]
    on: str = field(kw_only=True)
    distance: Distance = field(default="equal", kw_only=True)
    model: ClassVar[str] = "t-closeness"
    looser_up: ClassVar[tuple[str, ...]] = ("t",)

    def passes(self, evidence: Groups) -> Bools:
        """Distances are integers over n·N·scale, compared with t exactly."""
        return self._within(*self._distances(evidence), evidence)

    def holds(self, evidence: Groups) -> Verdict:
        """Achieved t: the largest distance, rounded up."""
        moved, out_of = self._distances(evidence)
        some = len(moved) > 0 and bool(evidence.sizes.all())
        return verdict(self._within(moved, out_of, evidence), {"t": up(greatest_ratio(moved, out_of)) if some else 1.0})

    def _within(self, moved: Numbers, out_of: Numbers, evidence: Groups) -> Bools:
        return at_most(moved, self.t.denominator, out_of, self.t.numerator) & (evidence.sizes > 0)

    def _distances(self, evidence: Groups) -> tuple[Numbers, Numbers]:
        counts, totals = counts_on(evidence, self.on), evidence.totals[self.on]
        moved, scale = DISTANCES[self.distance](counts, totals, evidence.domains[self.on])
        sizes, whole = masses(counts), int(totals.sum())
        most = int(sizes.max(initial=1)) * whole * scale
        return moved, (sizes if most < 2**62 else sizes.astype(object)) * (whole * scale)

    def parameters(self) -> Mapping[str, Any]:
        """t and the distance."""
        return {"t": plain(self.t), "distance": self.distance}

    @property
    def least(self) -> int:
        """One: a table with one value passes in groups of one."""
        return 1

    def least_in(self, totals: Mapping[str, Ints], domains: Mapping[str, Domain]) -> int:
        """Values that a group does not have are that far away: n units leave out all but n nodes of every level."""
        if self.distance == "ordered" or self.on not in totals:
            return self.least
        levels = domains[self.on].levels if self.distance == "hierarchical" else ()
        shares = [totals[self.on], *(np.bincount(level.node, weights=totals[self.on]) for level in levels)]
        most = max(len(held) for held in shares)
        covered = np.zeros(most, dtype=np.int64)
        for held in shares:
            falling = np.cumsum(np.sort(held.astype(np.int64))[::-1])
            covered += np.append(falling, np.full(most - len(falling), falling[-1:]))
        whole = int(totals[self.on].sum()) * len(shares)
        left = (whole - covered).astype(object) * self.t.denominator
        return int(np.argmax(left <= whole * self.t.numerator)) + 1 if whole else self.least

    def twin(self) -> Twin | None:
        """Equal and ordered distance; the hierarchical one needs the column's tree and has none."""
        from sfumato.kernels import twins

        known = {"equal": (twins.equal_distance, equal_table), "ordered": (twins.ordered_distance, ordered_table)}
        if self.distance not in known:
            return None
        test, table = known[self.distance]
        return Twin(test, halves(self.t, upwards=False), self.on, table)

    def implies(self, other: Requirement) -> bool:
        """A larger t; the equal distance is never the smaller one."""
        if not isinstance(other, TCloseness) or self.on != other.on:
            return False
        return self.t <= other.t and self.distance in ("equal", other.distance)
