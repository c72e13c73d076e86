"""β-likeness: no value gains much in any group over its share of the whole table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from sfumato.contracts import Requirement, Verdict
from sfumato.declared import Exact, declared, plain
from sfumato.requirements.judging import Bools, up, verdict
from sfumato.requirements.shares import Ratios

if TYPE_CHECKING:
    from sfumato.data.evidence import Groups


@declared
class BetaLikeness(Requirement):
    """For every value v of a group: (p_group(v) − p_table(v)) / p_table(v) ≤ β (basic) or min(β, −ln p_table(v)).

    The enhanced bound keeps a frequent value from becoming certain where β alone would allow it. With a unit column,
    a unit counts once for each value it has.
    Does not protect against learning that a person does not have a value (losses are not bounded), nor against
    re-identification (add k-anonymity).
    Cao, Karras 2012, definitions 2 and 3.

    >>> BetaLikeness(2, on="diagnosis", kind="enhanced").parameters()
    {'beta': 2, 'kind': 'enhanced'}
    """

    beta: Annotated[Exact, Field(gt=0)]
    on: str = field(kw_only=True)
    kind: Literal["basic", "enhanced"] = field(default="basic", kw_only=True)
    model: ClassVar[str] = "beta-likeness"
    looser_up: ClassVar[tuple[str, ...]] = ("beta",)

    def passes(self, evidence: Groups) -> Bools:
        """ratio ≤ 1 + β as whole numbers; the logarithm against a rational just below it."""
        ratios = Ratios.of(evidence, self.on)
        met = ratios.at_most(1 + self.beta)
        return ratios.every(met & ratios.within_logarithm() if self.kind == "enhanced" else met, evidence)

    def holds(self, evidence: Groups) -> Verdict:
        """Achieved β: the largest gain, rounded up."""
        ratios = Ratios.of(evidence, self.on)
        some = evidence.n_groups > 0 and bool(evidence.sizes.all())
        return verdict(self.passes(evidence), {"beta": up(ratios.greatest() - 1)} if some else {"beta": float("inf")})

    def parameters(self) -> Mapping[str, Any]:
        """β and the reading."""
        return {"beta": plain(self.beta), "kind": self.kind}

    @property
    def least(self) -> int:
        """One: a table with one value passes in groups of one."""
        return 1

    def implies(self, other: Requirement) -> bool:
        """A larger β on the same column; the enhanced reading implies the basic one."""
        if not isinstance(other, BetaLikeness) or self.on != other.on or self.beta > other.beta:
            return False
        return self.kind in ("enhanced", other.kind)
