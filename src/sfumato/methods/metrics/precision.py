"""Precision: how far up its hierarchy a cell went."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from sfumato.declared import declared
from sfumato.methods.metrics.aggregates import Aggregate, ByColumn
from sfumato.methods.metrics.metric import Metric, Setting, factors

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.cuts import Cut
    from sfumato.methods.metrics.metric import Floats


@declared
class Precision(Metric):
    """Per column g·level / height over rows that stay, and s for each suppressed row, / N; then the aggregate.

    Monotonic: g·level / height, suppressed rows not counted. With gs_factor f: s = min(2f, 1), g = min(2 − 2f, 1).
    Does not see how many values a node holds.
    Sweeney 2002; as ARX computes it.

    >>> Precision().parameters()
    {'monotonic': False, 'aggregate': 'arithmetic_mean', 'gs_factor': 0.5}
    """

    monotonic: bool = field(default=False, kw_only=True)
    aggregate: Aggregate = field(default="arithmetic_mean", kw_only=True)
    gs_factor: Annotated[float, Field(ge=0, le=1)] = field(default=0.5, kw_only=True)
    metric: ClassVar[str] = "precision"

    def scorer(self, setting: Setting) -> _Heights:
        """Levels over heights."""
        return _Heights(self, setting)


class _Heights(ByColumn):
    def __init__(self, precision: Precision, setting: Setting) -> None:
        generalized, self._s = factors(precision.gs_factor)
        self._monotonic, self._n_rows = precision.monotonic, setting.space.n_rows
        heights = setting.space.heights
        self._of_level = setting.per_level(lambda j, level: generalized * level / heights[j] if heights[j] else 0.0)
        # Suppressed rows may count less than generalized ones.
        share = 0.0 if precision.monotonic else setting.share
        least = [(1 - share) * value + share * np.minimum(value, self._s) for value in self._of_level]
        super().__init__(precision.aggregate, setting.weights, least)

    def losses(self, cut: Cut) -> Floats:
        """(d,)."""
        found = np.array([values[level] for values, level in zip(self._of_level, cut.node, strict=True)])
        if self._monotonic:
            return found
        stay = self._n_rows - cut.n_suppressed
        return (stay * found + cut.n_suppressed * self._s) / self._n_rows
