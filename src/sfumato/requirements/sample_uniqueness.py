"""Sample uniqueness: few published rows are alone with their quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from sfumato.contracts import Requirement, Verdict
from sfumato.declared import Exact, declared, plain
from sfumato.requirements.judging import Bools, up
from sfumato.requirements.smallest_first import fewest, without_first

if TYPE_CHECKING:
    from sfumato.data.evidence import Groups


@declared
class SampleUniqueness(Requirement):
    """The share of published units that are the only one of their group is at most the threshold.

    Does not protect the units that stay unique, nor those in groups of two or three (add k-anonymity), nor against
    groups that share a sensitive value.
    El Emam 2013, chapter 16; suppressed rows are not counted.

    >>> SampleUniqueness(0.05).parameters()
    {'threshold': 0.05}
    """

    threshold: Annotated[Exact, Field(ge=0, le=1)]
    model: ClassVar[str] = "sample-uniqueness"
    looser_up: ClassVar[tuple[str, ...]] = ("threshold",)
    speaks_of_alike: ClassVar[bool] = True
    grows: ClassVar[bool] = True

    def passes(self, evidence: Groups) -> Bools:
        """|g| ≥ 2."""
        return evidence.sizes >= self.least

    def holds(self, evidence: Groups) -> Verdict:
        """Achieved: the share, rounded up."""
        if evidence.n_groups == 0:
            return Verdict(True, {}, 0)
        if not evidence.sizes.all():
            return Verdict(False, {"threshold": 1.0}, int((~self.keeps(evidence)).sum()))
        share = Fraction(int((evidence.sizes == 1).sum()), int(evidence.sizes.sum()))
        holds = share <= self.threshold
        return Verdict(holds, {"threshold": up(share)}, 0 if holds else int((~self.keeps(evidence)).sum()))

    def keeps(self, evidence: Groups) -> Bools:
        """All but as many unique units as must go, those in groups with lower numbers first."""
        sizes = evidence.sizes
        n_none, n_unique, units = int((sizes == 0).sum()), int((sizes == 1).sum()), int(sizes.sum())

        def met(n: int) -> bool:
            return (n_unique - n) * self.threshold.denominator <= (units - n) * self.threshold.numerator

        return without_first(sizes, n_none + fewest(n_unique, met))

    def parameters(self) -> Mapping[str, Any]:
        """The threshold."""
        return {"threshold": plain(self.threshold)}

    @property
    def least(self) -> int:
        """Two, for a group on its own; one where all may be unique."""
        return 2 if self.threshold < 1 else 1

    def instead(self) -> str:
        """Groups of two, which imply it where rows look alike."""
        return "KAnonymity(2)"

    def implies(self, other: Requirement) -> bool:
        """A larger threshold."""
        return isinstance(other, SampleUniqueness) and self.threshold <= other.threshold
