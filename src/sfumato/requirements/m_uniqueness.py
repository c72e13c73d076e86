"""m-uniqueness: every group has at least m units, all with different sensitive values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from sfumato.contracts import Requirement, Verdict
from sfumato.declared import declared
from sfumato.requirements.judging import Bools, counts_on, per_group, verdict

if TYPE_CHECKING:
    from sfumato.data.evidence import Groups


@declared
class MUnique(Requirement):
    """|g| ≥ m, and no two units of a group have the same value of one sensitive column; missing is a value.

    The condition that m-invariance puts on every group. Merging groups can break it, for they may share a value.
    Does not protect against values that are different and nearly equal, nor against comparing two releases.
    Xiao, Tao 2007, definition 4.

    >>> MUnique(3, on="diagnosis").parameters()
    {'m': 3}
    """

    m: Annotated[int, Field(ge=1)]
    on: str = field(kw_only=True)
    model: ClassVar[str] = "m-uniqueness"

    def passes(self, evidence: Groups) -> Bools:
        """Units counted; no value is counted twice."""
        return self._sizes(evidence) >= self.m

    def holds(self, evidence: Groups) -> Verdict:
        """Achieved m: the smallest group, 0 where a value repeats."""
        sizes = self._sizes(evidence)
        return verdict(sizes >= self.m, {"m": int(sizes.min(initial=2**62))})

    def _sizes(self, evidence: Groups) -> np.ndarray[Any, np.dtype[np.int64]]:
        counts = counts_on(evidence, self.on)
        return np.where(per_group(counts.n, counts, np.maximum) <= 1, evidence.sizes, 0)

    def parameters(self) -> Mapping[str, Any]:
        """m."""
        return {"m": self.m}

    @property
    def least(self) -> int:
        """m."""
        return self.m

    def monotone(self, repeats: bool) -> bool:
        """No: two groups that share a value repeat it when merged."""
        return False

    def nearest(self, table: Groups) -> Mapping[str, float]:
        """The units of the whole table where all their values are different; else it meets no m."""
        return {"m": min(self.m, found)} if (found := int(self._sizes(table).min())) else {}

    def implies(self, other: Requirement) -> bool:
        """A smaller m on the same column."""
        return isinstance(other, MUnique) and self.on == other.on and self.m >= other.m
