"""Average re-identification risk: on average, guessing who a row belongs to succeeds with a small probability."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from sfumato.contracts import Requirement, Verdict
from sfumato.declared import Exact, declared, plain
from sfumato.requirements.judging import Bools, up
from sfumato.requirements.smallest_first import fewest, without_first

if TYPE_CHECKING:
    from sfumato.data.evidence import Groups
    from sfumato.requirements.judging import Ints


@declared
class AverageRisk(Requirement):
    """The mean over published units of 1 / |g| is at most the threshold: number of groups / number of units.

    It is met by few small groups among large ones; what must stay is decided smallest group first.
    Does not protect the units of small groups (add k-anonymity), nor against groups that share a sensitive value.
    El Emam 2013, chapter 16, marketer risk; suppressed rows count neither as units nor as a group.

    >>> AverageRisk(0.2).parameters()
    {'threshold': 0.2}
    """

    threshold: Annotated[Exact, Field(gt=0, le=1)]
    model: ClassVar[str] = "average-risk"
    looser_up: ClassVar[tuple[str, ...]] = ("threshold",)
    speaks_of_alike: ClassVar[bool] = True
    grows: ClassVar[bool] = True

    def passes(self, evidence: Groups) -> Bools:
        """|g| ≥ 1 / threshold: groups that are all so large have no higher mean."""
        return evidence.sizes >= self.least

    def holds(self, evidence: Groups) -> Verdict:
        """Achieved: the mean, rounded up."""
        if evidence.n_groups == 0:
            return Verdict(True, {}, 0)
        if not evidence.sizes.all():
            return Verdict(False, {"threshold": 1.0}, int((~self.keeps(evidence)).sum()))
        mean = Fraction(evidence.n_groups, int(evidence.sizes.sum()))
        holds = mean <= self.threshold
        return Verdict(holds, {"threshold": up(mean)}, 0 if holds else int((~self.keeps(evidence)).sum()))

    def keeps(self, evidence: Groups) -> Bools:
        """As many units as can be: smallest groups are suppressed first, of equal ones that with the lower number."""
        sizes = evidence.sizes
        return without_first(sizes, fewest(len(sizes), lambda n: self._met(np.sort(sizes)[n:])))

    def _met(self, sizes: Ints) -> bool:
        return len(sizes) * self.threshold.denominator <= int(sizes.sum()) * self.threshold.numerator

    def parameters(self) -> Mapping[str, Any]:
        """The threshold."""
        return {"threshold": plain(self.threshold)}

    @property
    def least(self) -> int:
        """1 / threshold, for a group on its own."""
        return ceil(1 / self.threshold)

    def instead(self) -> str:
        """A bound on the size of every group, which implies it where rows look alike."""
        return f"KAnonymity({self.least})"

    def implies(self, other: Requirement) -> bool:
        """A larger threshold."""
        return isinstance(other, AverageRisk) and self.threshold <= other.threshold
