"""l-diversity: every group has at least l well-represented sensitive values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from sfumato.contracts import Requirement, Twin, Verdict
from sfumato.declared import Exact, declared, plain
from sfumato.errors import ParameterError
from sfumato.requirements.diversity import READINGS, Reading
from sfumato.requirements.judging import Bools, counts_on, verdict

if TYPE_CHECKING:
    from sfumato.data.evidence import Groups

Kind = Literal["distinct", "entropy", "recursive", "frequency"]
# Which readings follow from which, at the same l: max share ≤ 1/l ⇒ entropy ≥ log l ⇒ l distinct values.
_FOLLOWS: Mapping[str, tuple[str, ...]] = {
    "distinct": ("distinct",),
    "entropy": ("entropy", "distinct"),
    "frequency": ("frequency", "entropy", "distinct"),
    "recursive": ("distinct",),
}


@declared
class LDiversity(Requirement):
    """Every group has l well-represented values of one sensitive column, in one of four readings.

    distinct: l different values · entropy: −Σ p·log p ≥ log l · recursive: r₁ < c(r_l + … + r_m), counts in falling
    order · frequency: no value in more than a share 1/l. A group has at least as many units as the reading needs
    values. With a unit column, a unit counts once for each value it has.
    Does not protect against values that are different but close in meaning, nor against learned correlations.
    Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam 2006, definitions 4.1 and 4.2.

    >>> LDiversity(2, on="diagnosis", kind="entropy").parameters()
    {'l': 2, 'kind': 'entropy'}
    """

    l: Annotated[Exact, Field(ge=1)]
    on: str = field(kw_only=True)
    kind: Kind = field(default="distinct", kw_only=True)
    c: Annotated[Exact, Field(gt=0)] | None = field(default=None, kw_only=True)
    model: ClassVar[str] = "l-diversity"
    looser_up: ClassVar[tuple[str, ...]] = ("c",)

    def __post_init__(self) -> None:
        if self.kind in ("distinct", "recursive") and self.l.denominator != 1:
            raise ParameterError(f"LDiversity: l must be a whole number when kind is {self.kind!r}. Round it up.")
        if (self.c is not None) != (self.kind == "recursive"):
            said = (
                "needs c, the factor of r₁ < c(r_l + … + r_m)"
                if self.c is None
                else "takes no c; only 'recursive' does"
            )
            raise ParameterError(f"LDiversity: kind={self.kind!r} {said}.")

    @property
    def _reading(self) -> Reading:
        return READINGS[self.kind]

    @property
    def _c(self) -> Fraction:
        return Fraction(1) if self.c is None else self.c

    def passes(self, evidence: Groups) -> Bools:
        """The reading holds, and the group has units enough for it."""
        counts = counts_on(evidence, self.on)
        return self._reading.passes(counts, evidence.sizes, self.l, self._c) & (evidence.sizes >= self.least)

    def holds(self, evidence: Groups) -> Verdict:
        """Achieved l (recursive: c at the asked l) over all groups, rounded against us."""
        if not (evidence.n_groups and evidence.sizes.all()):
            return verdict(self.passes(evidence), {"l": 0})
        achieved = self._reading.achieved(counts_on(evidence, self.on), evidence.sizes, self.l, self._c)
        return verdict(self.passes(evidence), achieved)

    def parameters(self) -> Mapping[str, Any]:
        """l and the reading; c for the recursive one."""
        said = {"l": plain(self.l), "kind": self.kind}
        return said if self.c is None else {**said, "c": plain(self.c)}

    @property
    def least(self) -> int:
        """l, or for the recursive reading l − 1 + ⌊1/c⌋ + 1."""
        return self._reading.least(self.l, self._c)

    def monotone(self, repeats: bool) -> bool:
        """Different values stay different in a merged group; shares of units need units that do not repeat."""
        return not repeats or self.kind == "distinct"

    def twin(self) -> Twin:
        """The reading's compiled test."""
        from sfumato.kernels import twins

        test, parameters, table = self._reading.twin(self.l, self._c)
        return Twin(getattr(twins, test), parameters, self.on, None if table is None else lambda totals: table)

    def nearest(self, table: Groups) -> Mapping[str, float]:
        """What the whole table allows: the largest l (whole when a whole one was asked), or the smallest c."""
        found = dict(self.holds(table).achieved)
        if self.l.denominator == 1 and "l" in found:
            found["l"] = int(found["l"])
        return found

    def implies(self, other: Requirement) -> bool:
        """A smaller l, and a larger c, in the same reading or one that follows from it."""
        if not isinstance(other, LDiversity) or self.on != other.on or self.l < other.l:
            return False
        same = self.kind == other.kind and self._c <= other._c
        return same or (self.kind != other.kind and other.kind in _FOLLOWS[self.kind])
