"""Average class size: rows per published group."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from sfumato.declared import declared
from sfumato.methods.metrics.metric import Metric, Scorer, Setting, factors

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.cuts import Cut


@declared
class AverageClassSize(Metric):
    """N / G: all rows over the groups that stay, all suppressed rows together counted as one more group.

    With gs_factor f the groups count min(2f, 1) each and the suppressed one min(2 − 2f, 1).
    Does not see how far values were generalized.
    LeFevre, DeWitt, Ramakrishnan 2006, without their division by k; as ARX computes it.

    >>> AverageClassSize().parameters()
    {'gs_factor': 0.5}
    """

    gs_factor: Annotated[float, Field(ge=0, le=1)] = field(default=0.5, kw_only=True)
    metric: ClassVar[str] = "average-class-size"

    def scorer(self, setting: Setting) -> _Sizes:
        """Numbers of groups alone."""
        of_suppressed, of_groups = factors(self.gs_factor)
        return _Sizes(setting.space.n_rows, of_groups, of_suppressed)


class _Sizes(Scorer):
    def __init__(self, n_rows: int, of_groups: float, of_suppressed: float) -> None:
        self._n_rows, self._of_groups, self._of_suppressed = n_rows, of_groups, of_suppressed

    def score(self, cut: Cut) -> float:
        """Rows per group."""
        n_groups = self._of_groups * cut.n_groups + (self._of_suppressed if cut.n_suppressed else 0.0)
        return self._n_rows / n_groups if n_groups else float("inf")

    def floor(self, cut: Cut) -> float:
        """Coarser nodes have no more groups than this one has, failing ones counted."""
        most = max(self._of_groups, self._of_suppressed) * int((cut.n > 0).sum())
        return self._n_rows / most if most else 0.0
