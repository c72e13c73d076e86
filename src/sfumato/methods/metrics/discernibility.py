"""Discernibility: how many rows each row cannot be told from."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

from sfumato.declared import declared
from sfumato.methods.metrics.metric import Metric, Scorer, Setting

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.cuts import Cut


@declared
class Discernibility(Metric):
    """Σ |g|² over groups that stay, and N for each suppressed row.

    Monotonic (DM*): Σ |g|² over all groups, suppressed ones counted as groups.
    Does not see how far values were generalized.
    Bayardo and Agrawal 2005, equation 1; as ARX computes it.

    >>> Discernibility(monotonic=True).parameters()
    {'monotonic': True}
    """

    monotonic: bool = field(default=False, kw_only=True)
    metric: ClassVar[str] = "discernibility"

    def scorer(self, setting: Setting) -> _Pairs:
        """Group sizes alone."""
        return _Pairs(self.monotonic, setting.space.n_rows)


class _Pairs(Scorer):
    def __init__(self, monotonic: bool, n_rows: int) -> None:
        self._monotonic, self._n_rows = monotonic, n_rows

    def score(self, cut: Cut) -> float:
        """Pairs of rows."""
        if self._monotonic:
            return self.floor(cut)
        return cut.counted[3] + float(self._n_rows) * cut.n_suppressed

    def floor(self, cut: Cut) -> float:
        """All groups squared: merging only adds, and a suppressed row counts N."""
        return cut.counted[4]
