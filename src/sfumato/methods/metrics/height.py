"""Height: the levels of a node."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from sfumato.declared import declared
from sfumato.methods.metrics.aggregates import Aggregate, ByColumn
from sfumato.methods.metrics.metric import Metric, Setting


@declared
class Height(Metric):
    """Per column its level; then the aggregate, the sum unless said otherwise. Suppressed rows do not count.

    Does not see how many values a node holds, nor how high hierarchies are.
    Samarati 2001; as ARX computes it.

    >>> Height().parameters()
    {'aggregate': 'sum'}
    """

    aggregate: Aggregate = field(default="sum", kw_only=True)
    metric: ClassVar[str] = "height"

    def scorer(self, setting: Setting) -> ByColumn:
        """The levels themselves."""
        return ByColumn(self.aggregate, setting.weights, setting.per_level(lambda j, level: float(level)))
