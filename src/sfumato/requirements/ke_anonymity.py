"""(k,e)-anonymity: every group has at least k different sensitive numbers, which lie at least e apart at their ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from sfumato.contracts import Requirement, Verdict
from sfumato.declared import Exact, declared, plain
from sfumato.requirements.judging import Bools, at_most, counts_on, verdict
from sfumato.requirements.numbers import figure, numbers_on

if TYPE_CHECKING:
    from sfumato.data.evidence import Groups


@declared
class KE(Requirement):
    """In every group at least k different values of a numeric column, and max − min ≥ e.

    A missing value is one of the different values, and no number: a group without numbers has range 0. Dates are days.
    A group has at least k units, and two where e > 0.
    Does not protect against a short interval that holds nearly the whole group: k − 1 values may lie together and one
    far away.
    Zhang, Koudas, Srivastava, Yu 2007, (k,e)-anonymity; Li, Tao, Xiao 2008, §3.1.2.

    >>> KE(3, 1000, on="salary").parameters()
    {'k': 3, 'e': 1000}
    """

    k: Annotated[int, Field(ge=1)]
    e: Annotated[Exact, Field(ge=0)]
    on: str = field(kw_only=True)
    model: ClassVar[str] = "ke-anonymity"
    grows: ClassVar[bool] = True

    def passes(self, evidence: Groups) -> Bools:
        """Different values and units counted, the range compared in whole steps."""
        numbers = numbers_on(evidence, self.on)
        asked = np.full(evidence.n_groups, numbers.scale, dtype=np.int64 if numbers.scale < 2**62 else object)
        far = at_most(asked, self.e.numerator, numbers.spans(), self.e.denominator)
        values = np.diff(counts_on(evidence, self.on).starts)
        return np.asarray(far & (values >= self.k) & (evidence.sizes >= self.least), dtype=np.bool_)

    def holds(self, evidence: Groups) -> Verdict:
        """Achieved k: fewest different values or units; achieved e: the smallest range, rounded down."""
        numbers, values = numbers_on(evidence, self.on), np.diff(counts_on(evidence, self.on).starts)
        if evidence.n_groups == 0:
            return verdict(self.passes(evidence), {})
        range_ = Fraction(int(numbers.spans().min()), numbers.scale)
        k = int(np.minimum(values, evidence.sizes).min())
        return verdict(self.passes(evidence), {"k": k, "e": figure(range_)})

    def parameters(self) -> Mapping[str, Any]:
        """k and e."""
        return {"k": self.k, "e": plain(self.e)}

    @property
    def least(self) -> int:
        """k, and at least two for a range."""
        return max(self.k, 2 if self.e > 0 else 1)

    def monotone(self, repeats: bool) -> bool:
        """Always: the merged group has the values and units of both."""
        return True

    def nearest(self, table: Groups) -> Mapping[str, float]:
        """What the whole table allows, no stricter than what was asked; one unit has no range."""
        found = dict(self.holds(table).achieved)
        e = found["e"] if int(table.sizes.min()) > 1 else 0
        return {"k": min(self.k, found["k"]), "e": min(figure(self.e), e)}

    def implies(self, other: Requirement) -> bool:
        """A smaller k and a smaller e on the same column."""
        return isinstance(other, KE) and self.on == other.on and self.k >= other.k and self.e >= other.e
