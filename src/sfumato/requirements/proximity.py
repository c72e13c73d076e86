"""Proximity: no short interval around a value holds more than a share 1/m of a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from sfumato.contracts import Requirement, Verdict
from sfumato.data.nearness import Near, find_maxsize, line_of
from sfumato.declared import Exact, declared, plain
from sfumato.errors import ParameterError
from sfumato.requirements.judging import Bools, Ints, at_most, counts_on, per_group, verdict

if TYPE_CHECKING:
    from sfumato.data.evidence import Groups

Distance = Annotated[Exact, Field(ge=0)]


@declared
class Proximity(Requirement):
    """For every value s in a group, at most |g|/m of its units have a value in [s − ε, s + ε].

    relative: in [s(1 − ε), s(1 + ε)], for values ≥ 0; ε in days for dates. `e1`, `e2` instead of ε: [s − e1, s + e2].
    All ends are exact and count. A missing value is near missing values only. With a unit column, a unit counts once
    for each value it has. Merging groups can break it.
    Does not protect against re-identification (add k-anonymity), nor against intervals longer than the ε asked.
    Li, Tao, Xiao 2008, definitions 7 and 9.

    >>> Proximity(20, 2, on="salary").parameters()
    {'epsilon': 20, 'm': 2, 'relative': False}
    """

    epsilon: Distance | None = None
    m: Annotated[int, Field(ge=1)] = 2
    on: str = field(kw_only=True)
    relative: bool = field(default=False, kw_only=True)
    e1: Distance | None = field(default=None, kw_only=True)
    e2: Distance | None = field(default=None, kw_only=True)
    model: ClassVar[str] = "proximity"

    def __post_init__(self) -> None:
        given = [self.e1 is not None, self.e2 is not None]
        if not (any(given) ^ (self.epsilon is not None)) or any(given) != all(given):
            raise ParameterError("Proximity: say epsilon, or both e1 and e2 instead of it.")
        if self.relative and (self.epsilon is None or self.epsilon > 1):
            raise ParameterError("Proximity: a relative neighbourhood needs an epsilon between 0 and 1, and no e1, e2.")

    @property
    def near(self) -> Near:
        """What lies near a value."""
        if self.epsilon is not None:
            return Near(self.epsilon, self.epsilon, self.relative)
        return Near(self.e1 or Fraction(0), self.e2 or Fraction(0))

    def passes(self, evidence: Groups) -> Bools:
        """The fullest neighbourhood of the group, times m, is at most |g|."""
        return at_most(self._fullest(evidence), self.m, evidence.sizes, 1) & (evidence.sizes > 0)

    def holds(self, evidence: Groups) -> Verdict:
        """Achieved m: the largest that every group allows for this ε."""
        fullest = self._fullest(evidence)
        achieved = (evidence.sizes // np.maximum(fullest, 1)).min(initial=2**62)
        return verdict(self.passes(evidence), {"m": int(achieved)})

    def _fullest(self, evidence: Groups) -> Ints:
        """Units near the value that has most of them near, (G,); never more than there are units."""
        counts = counts_on(evidence, self.on)
        line = line_of(evidence.domains[self.on], self.on, self.relative)
        width = len(line.rank)
        cell = counts.group * width + line.rank[counts.code]
        order = np.argsort(cell, kind="stable")
        sorted_cell, until = cell[order], np.append(0, np.cumsum(counts.n[order]))
        first, last = line.windows(self.near)
        rank = line.rank[counts.code]
        start = np.searchsorted(sorted_cell, counts.group * width + first[rank])
        end = np.searchsorted(sorted_cell, counts.group * width + last[rank], side="right")
        fullest: Ints = np.minimum(per_group(until[end] - until[start], counts, np.maximum), evidence.sizes)
        return fullest

    def parameters(self) -> Mapping[str, Any]:
        """ε, m and how ε is meant; or m with both distances."""
        if self.epsilon is None:
            return {"m": self.m, "e1": plain(self.e1), "e2": plain(self.e2)}
        return {"epsilon": plain(self.epsilon), "m": self.m, "relative": self.relative}

    @property
    def least(self) -> int:
        """m: every unit is near itself."""
        return self.m

    def monotone(self, repeats: bool) -> bool:
        """No: values of one group can lie between those of the other."""
        return False

    def nearest(self, table: Groups) -> Mapping[str, float]:
        """The largest m for this ε that any grouping of the whole table can meet."""
        line = line_of(table.domains[self.on], self.on, self.relative)
        counts = line.by_rank(table.totals[self.on])
        fullest = find_maxsize(line, counts, self.near)
        return {"m": max(1, int(table.sizes.sum()) // fullest)} if fullest else {}

    def implies(self, other: Requirement) -> bool:
        """A smaller m and shorter distances of the same reading."""
        if not isinstance(other, Proximity) or self.on != other.on or self.relative != other.relative:
            return False
        mine, theirs = self.near, other.near
        return self.m >= other.m and mine.below >= theirs.below and mine.above >= theirs.above
