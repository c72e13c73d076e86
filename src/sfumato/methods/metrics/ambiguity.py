"""Ambiguity: how many combinations of values a row may stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sfumato.declared import declared
from sfumato.methods.metrics.metric import Metric, Scorer, Setting, dot

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.cuts import Cut
    from sfumato.methods.metrics.metric import Floats


@declared
class AmbiguityMetric(Metric):
    """Σ over rows of Π over columns of the leaves under the row's node; a suppressed row counts all combinations.

    Does not see which combinations occur.
    Goldberger and Tassa 2010; as ARX computes it.

    >>> AmbiguityMetric().parameters()
    {}
    """

    metric: ClassVar[str] = "ambiguity"

    def scorer(self, setting: Setting) -> _Combinations:
        """Products of leaves."""
        return _Combinations(setting)


class _Combinations(Scorer):
    def __init__(self, setting: Setting) -> None:
        space = setting.space
        self._leaves = [
            [levels.leaves(level).astype(np.float64) for level in range(levels.height + 1)] for levels in space.levels
        ]
        self._all = float(np.prod([float(levels.domain.size) for levels in space.levels]))

    def score(self, cut: Cut) -> float:
        """Combinations over all rows."""
        there = cut.n > 0
        held = np.where(cut.kept, self._combinations(cut), self._all)
        return dot(cut.n[there], held[there])

    def floor(self, cut: Cut) -> float:
        """Suppressed rows counted with their nodes."""
        return dot(cut.n, self._combinations(cut))

    def _combinations(self, cut: Cut) -> Floats:
        found = np.ones(len(cut.n))
        for j, nodes in enumerate(cut.nodes(np.ones(len(cut.n), dtype=np.bool_))):
            found *= self._leaves[j][cut.node[j]][nodes]
        return found
