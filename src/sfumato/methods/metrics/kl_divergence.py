"""KL divergence between the original tuples and their spread over published regions."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sfumato.declared import declared
from sfumato.methods.metrics.metric import Metric, Scorer, Setting, dot

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.cuts import Cut


@declared
class KLDivergence(Metric):
    """Σ over rows of p·log2(p / q): p the share of the row's tuple, q the share of its group over the group's number
    of combinations of leaves; suppressed rows are one group over all combinations.

    The sum runs over rows, not over distinct tuples, as in ARX: a tuple of c rows counts c times.
    Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007, §5; as ARX computes it.

    >>> KLDivergence().parameters()
    {}
    """

    metric: ClassVar[str] = "kl-divergence"

    def scorer(self, setting: Setting) -> _Divergence:
        """Sums over tuples that do not depend on the node, and one term a group."""
        return _Divergence(setting)


class _Divergence(Scorer):
    follows = True

    def __init__(self, setting: Setting) -> None:
        space = setting.space
        self._n_rows = space.n_rows
        n = space.n.astype(np.float64)
        share = n / space.n_rows
        self._weight = n * share
        with np.errstate(divide="ignore", invalid="ignore"):
            self._own = float(np.where(n > 0, self._weight * np.log2(np.where(n > 0, share, 1.0)), 0.0).sum())
        self._leaves = [
            [levels.leaves(level).astype(np.float64) for level in range(levels.height + 1)] for levels in space.levels
        ]
        self._all = float(sum(np.log2(float(levels.domain.size)) for levels in space.levels))

    def score(self, cut: Cut) -> float:
        """Bits."""
        weight = cut.sums(self._weight)
        area = np.zeros(len(cut.n))
        for j, nodes in enumerate(cut.nodes(np.ones(len(cut.n), dtype=np.bool_))):
            area += np.log2(self._leaves[j][cut.node[j]][nodes])
        n = np.where(cut.kept, cut.n, float(cut.n_suppressed))
        there = cut.n > 0
        spread = np.log2(n[there] / self._n_rows) - np.where(cut.kept[there], area[there], self._all)
        return self._own - dot(weight[there], spread)
