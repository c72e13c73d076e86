"""k-anonymity: every group has at least k units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from sfumato.contracts import Requirement, Twin, Verdict
from sfumato.declared import declared
from sfumato.requirements.judging import Bools, verdict

if TYPE_CHECKING:
    from sfumato.data.evidence import Groups


@declared
class KAnonymity(Requirement):
    """Every published combination of quasi-identifiers belongs to at least k units: |g| ≥ k.

    Where quasi-identifiers are published as they are, only |g| ≥ k is left of it, promised as group-size.
    Does not protect against groups whose units share one sensitive value (homogeneity), nor against columns that
    were not named quasi-identifiers.
    Samarati 2001; Sweeney 2002.

    >>> KAnonymity(5).parameters()
    {'k': 5}
    """

    k: Annotated[int, Field(ge=1)]
    model: ClassVar[str] = "k-anonymity"
    speaks_of_alike: ClassVar[bool] = True
    of_groups: ClassVar[str] = "group-size"
    grows: ClassVar[bool] = True

    def passes(self, evidence: Groups) -> Bools:
        """|g| ≥ k."""
        return evidence.sizes >= self.k

    def holds(self, evidence: Groups) -> Verdict:
        """Achieved k: the smallest group."""
        return verdict(self.passes(evidence), {"k": int(evidence.sizes.min(initial=2**62))})

    def parameters(self) -> Mapping[str, Any]:
        """k."""
        return {"k": self.k}

    @property
    def least(self) -> int:
        """k."""
        return self.k

    def monotone(self, repeats: bool) -> bool:
        """Always: the merged group has the units of both."""
        return True

    def twin(self) -> Twin:
        """The size alone."""
        from sfumato.kernels import twins

        return Twin(twins.size_at_least, (float(self.k),), None)

    def implies(self, other: Requirement) -> bool:
        """A smaller k."""
        return isinstance(other, KAnonymity) and self.k >= other.k
