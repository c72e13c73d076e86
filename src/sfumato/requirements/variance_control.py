"""Variance control: the sensitive numbers of every group have at least a given variance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sfumato.contracts import Requirement, Verdict
from sfumato.declared import Exact, declared, plain
from sfumato.requirements.judging import Bools, at_most, masses, per_group, verdict, whole_numbers
from sfumato.requirements.numbers import figure, least_ratio, numbers_on

if TYPE_CHECKING:
    from sfumato.data.evidence import Groups


@declared
class VarianceControl(Requirement):
    """Var(g) = Σ (x − mean)² / n ≥ t in every group, over the n numbers that it has of one column.

    Missing values are no numbers and are left out; a group without numbers has variance 0. Dates are days. With a unit
    column, a unit counts once for each value it has, and a group needs two units where t > 0.
    Does not protect against a short interval that holds nearly the whole group: one value far away gives any variance.
    LeFevre, DeWitt, Ramakrishnan 2006 (variance diversity); Li, Tao, Xiao 2008, §3.1.2.

    >>> VarianceControl(0.5, on="salary").parameters()
    {'t': 0.5}
    """

    t: Annotated[Exact, Field(ge=0)]
    on: str = field(kw_only=True)
    model: ClassVar[str] = "variance-control"

    def passes(self, evidence: Groups) -> Bools:
        """n·Σx² − (Σx)² ≥ t·n²·scale² in whole numbers."""
        spread, out_of = self._variances(evidence)
        far = at_most(out_of, self.t.numerator, spread, self.t.denominator)
        return np.asarray(far & (evidence.sizes >= self.least), dtype=np.bool_)

    def holds(self, evidence: Groups) -> Verdict:
        """Achieved t: the smallest variance, rounded down."""
        passed = self.passes(evidence)
        if evidence.n_groups == 0:
            return verdict(passed, {})
        return verdict(passed, {"t": figure(least_ratio(*self._variances(evidence)))})

    def _variances(self, evidence: Groups) -> tuple[NDArray[Any], NDArray[Any]]:
        """Variances as fractions of whole numbers, (G,) and (G,); 0 / 1 without numbers."""
        numbers = numbers_on(evidence, self.on)
        above, n, size = numbers.above_least(), numbers.counts.n, masses(numbers.counts)
        widest = int(above.max(initial=0))
        above = whole_numbers(above, int(size.max(initial=1)) * widest**2)
        first = per_group(n * above, numbers.counts).astype(object)
        second = per_group(n * above * above, numbers.counts).astype(object)
        return size.astype(object) * second - first * first, np.maximum(size, 1).astype(object) ** 2 * numbers.scale**2

    def parameters(self) -> Mapping[str, Any]:
        """t."""
        return {"t": plain(self.t)}

    @property
    def least(self) -> int:
        """Two where t > 0: one unit has no variance."""
        return 2 if self.t > 0 else 1

    def nearest(self, table: Groups) -> Mapping[str, float]:
        """The variance of the whole table; 0 for one unit."""
        return dict(self.holds(table).achieved) if int(table.sizes.min()) > 1 else {"t": 0}

    def implies(self, other: Requirement) -> bool:
        """A smaller t on the same column."""
        return isinstance(other, VarianceControl) and self.on == other.on and self.t >= other.t
