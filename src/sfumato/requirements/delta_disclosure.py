"""δ-disclosure privacy: no value of a group is much more or much less frequent there than in the whole table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from sfumato.contracts import Requirement, Verdict
from sfumato.declared import Exact, declared, plain
from sfumato.requirements.judging import Bools, verdict
from sfumato.requirements.shares import Ratios, least_power

if TYPE_CHECKING:
    from sfumato.data.evidence import Groups

# Above the error of a logarithm of a ratio of floats.
_ERROR = 4e-15


@declared
class DeltaDisclosure(Requirement):
    """For every value v that a group has: |log₂(p_group(v) / p_table(v))| < δ.

    With a unit column, a unit counts once for each value it has.
    Does not protect against learning that a person does not have a value which the group lacks: such values are not
    compared, which is why merging can break it. Nor against re-identification (add k-anonymity).
    Brickell, Shmatikov 2008, definition 3, restricted to the values of each group.

    >>> DeltaDisclosure(1, on="diagnosis").parameters()
    {'delta': 1}
    """

    delta: Annotated[Exact, Field(gt=0, le=1000)]
    on: str = field(kw_only=True)
    model: ClassVar[str] = "delta-disclosure"
    looser_up: ClassVar[tuple[str, ...]] = ("delta",)

    def passes(self, evidence: Groups) -> Bools:
        """2^−δ < ratio < 2^δ, against a rational just inside where 2^δ is none."""
        ratios, bound = Ratios.of(evidence, self.on), least_power(self.delta)
        return ratios.every(ratios.at_most(bound, strictly=True) & ratios.at_least(1 / bound, strictly=True), evidence)

    def holds(self, evidence: Groups) -> Verdict:
        """Achieved δ: just above the largest logarithm."""
        passed = self.passes(evidence)
        ratios = Ratios.of(evidence, self.on)
        if not (evidence.n_groups and evidence.sizes.all()):
            return verdict(passed, {"delta": 1000.0})
        low, high = ratios.extremes()
        found = max(math.log2(high), -math.log2(low)) + _ERROR
        return verdict(passed, {"delta": min(found, float(self.delta)) if passed.all() else found})

    def parameters(self) -> Mapping[str, Any]:
        """δ."""
        return {"delta": plain(self.delta)}

    @property
    def least(self) -> int:
        """One: a table with one value passes in groups of one."""
        return 1

    def monotone(self, repeats: bool) -> bool:
        """No: a value that one of two groups lacks is rarer in both together."""
        return False

    def implies(self, other: Requirement) -> bool:
        """A larger δ on the same column."""
        return isinstance(other, DeltaDisclosure) and self.on == other.on and self.delta <= other.delta
