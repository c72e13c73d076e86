"""Loss: the mean share of a column's leaves that a cell may stand for."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from sfumato.declared import declared
from sfumato.methods.fulldomain.cuts import Figures
from sfumato.methods.metrics.aggregates import Aggregate, ByColumn
from sfumato.methods.metrics.metric import Metric, Setting, dot, factors

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.cuts import Cut
    from sfumato.methods.metrics.metric import Floats, Ints


@declared
class Loss(Metric):
    """Per column (Σ_rows loss − g·N/m) / (N − g·N/m), at least 0, of N rows and m leaves; then the aggregate.

    A row that stays loses g·share, the share of the leaves under its node; a suppressed one s + (1 − s)·share, which
    is 1 unless gs_factor < 0.5. With gs_factor f: s = min(2f, 1), g = min(2 − 2f, 1). An automatic grid so coarse that
    it tells nothing of a column loses 1.
    Does not see how values are distributed, nor whether columns belong together.
    Iyengar 2002, §3.1; as ARX computes it.

    >>> Loss().parameters()
    {'aggregate': 'arithmetic_mean', 'gs_factor': 0.5}
    """

    aggregate: Aggregate = field(default="arithmetic_mean", kw_only=True)
    gs_factor: Annotated[float, Field(ge=0, le=1)] = field(default=0.5, kw_only=True)
    metric: ClassVar[str] = "loss"

    def scorer(self, setting: Setting) -> _Losses:
        """Sums over all rows are known per level; only suppressed groups are looked at one by one."""
        return _Losses(self, setting)


class _Losses(ByColumn):
    def __init__(self, loss: Loss, setting: Setting) -> None:
        space = setting.space
        self._g, self._s = factors(loss.gs_factor)
        self._n_rows = space.n_rows
        self._shares = Figures.of(space, lambda j, level: space.levels[j].leaves(level) / space.levels[j].domain.size)
        self._sums = setting.per_level(
            lambda j, level: (
                dot(space.rows_of_nodes[j][level], space.levels[j].leaves(level)) / space.levels[j].domain.size
            )
        )
        self._listed = [sums.tolist() for sums in self._sums]
        finest = np.array([self._g * self._n_rows / levels.domain.size for levels in space.levels])
        span = self._n_rows - finest
        # A column of one leaf has nothing to lose, unless the leaf stands for anything: then all is lost.
        self._lost = np.array([float(levels.blank) for levels in space.levels])
        self._per_row = np.where(span > 0, 1.0 / np.where(span > 0, span, 1.0), 0.0)
        self._finest = finest
        columns = np.arange(len(finest))
        least = [self._normed(self._g * sums, columns[[j]]) for j, sums in enumerate(self._sums)]
        super().__init__(loss.aggregate, setting.weights, least)

    def losses(self, cut: Cut) -> Floats:
        """(d,)."""
        whole = np.array([sums[level] for sums, level in zip(self._listed, cut.node, strict=True)])
        stay = cut.n_groups < int(cut.lost.sum())
        counted = cut.weighted(cut.kept if stay else cut.lost, self._shares)
        lost = whole - counted if stay else counted
        n_lost = float(cut.n_suppressed)
        total = self._g * (whole - lost) + (1.0 - self._s) * lost + self._s * n_lost
        return self._normed(total, slice(None))

    def _normed(self, total: Floats, columns: Ints | slice) -> Floats:
        shares = (total - self._finest[columns]) * self._per_row[columns]
        return np.asarray(np.maximum(shares, self._lost[columns]), dtype=np.float64)
