"""(α,k)-anonymity: every group has at least k units and no sensitive value in more than a share α of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from math import ceil
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from sfumato.contracts import Requirement, Twin, Verdict
from sfumato.declared import Exact, declared, plain
from sfumato.requirements.judging import (
    Bools,
    at_most,
    counts_on,
    greatest_ratio,
    halves,
    per_group,
    up,
    verdict,
)

if TYPE_CHECKING:
    from sfumato.data.evidence import Groups


@declared
class AlphaK(Requirement):
    """At least k units in every group, and every sensitive value in at most a share α of them: c_v / |g| ≤ α.

    With a unit column the share is of units, so one with several values counts for each of them.
    Does not protect against values that are distinct but close in meaning, nor against learned correlations.
    Wong, Li, Fu, Wang 2006.

    >>> AlphaK(0.5, 4, on="diagnosis").parameters()
    {'alpha': 0.5, 'k': 4}
    """

    alpha: Annotated[Exact, Field(gt=0, le=1)]
    k: Annotated[int, Field(ge=1)]
    on: str = field(kw_only=True)
    model: ClassVar[str] = "alpha-k"
    looser_up: ClassVar[tuple[str, ...]] = ("alpha",)
    speaks_of_alike: ClassVar[bool] = True

    def passes(self, evidence: Groups) -> Bools:
        """Compared as integers: c_v · denominator ≤ |g| · numerator."""
        most = per_group(counts_on(evidence, self.on).n, counts_on(evidence, self.on), np.maximum)
        shares = at_most(most, self.alpha.denominator, evidence.sizes, self.alpha.numerator)
        return shares & (evidence.sizes >= max(self.k, 1))

    def holds(self, evidence: Groups) -> Verdict:
        """Achieved α: the largest share, rounded up; achieved k: the smallest group."""
        return verdict(self.passes(evidence), self._achieved(evidence))

    def _achieved(self, evidence: Groups) -> dict[str, float]:
        counts = counts_on(evidence, self.on)
        if not evidence.sizes.all():
            return {"alpha": 1.0, "k": 0}
        if evidence.n_groups == 0:
            return {}
        share = greatest_ratio(per_group(counts.n, counts, np.maximum), evidence.sizes)
        return {"alpha": up(share), "k": int(evidence.sizes.min())}

    def parameters(self) -> Mapping[str, Any]:
        """α and k."""
        return {"alpha": plain(self.alpha), "k": self.k}

    @property
    def least(self) -> int:
        """k, or 1/α where that is more: a value held by one unit must not exceed the share."""
        return max(self.k, ceil(1 / self.alpha))

    def instead(self) -> str:
        """The same bounds as two requirements that groups can meet."""
        return f'LDiversity({plain(1 / self.alpha)!r}, on={self.on!r}, kind="frequency") & KAnonymity({self.k})'

    def twin(self) -> Twin:
        """The largest share and the size."""
        from sfumato.kernels import twins

        top, bottom = halves(self.alpha, upwards=False)
        return Twin(twins.largest_share, (top, bottom, float(self.k)), self.on)

    def nearest(self, table: Groups) -> Mapping[str, float]:
        """What the whole table allows, no stricter than what was asked."""
        found = self._achieved(table)
        return {"alpha": max(up(self.alpha), found["alpha"]), "k": min(self.k, found["k"])}

    def implies(self, other: Requirement) -> bool:
        """A larger share and a smaller k on the same column."""
        if not isinstance(other, AlphaK) or self.on != other.on:
            return False
        return self.alpha <= other.alpha and self.k >= other.k
