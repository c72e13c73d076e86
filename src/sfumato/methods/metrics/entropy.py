"""Non-uniform entropy: the bits by which a generalized value leaves the original one open."""

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
    from sfumato.methods.metrics.metric import Floats, Ints


@declared
class NonUniformEntropy(Metric):
    """Per column g·Σ_rows log2(n(node) / n(value)), n counting rows of the whole table; then the aggregate.

    Not monotonic: suppressed rows add s·Σ log2(n' / n'(node)), the entropy of the n' suppressed rows' nodes, so that
    one suppressed row alone adds nothing. Normalized: each column is divided by its value for everything generalized.
    With gs_factor f: s = min(2f, 1), g = min(2 − 2f, 1).
    Does not see how columns belong together.
    Gionis and Tassa 2009; De Waal and Willenborg 1999; as ARX computes it.

    >>> NonUniformEntropy(normalized=True).parameters()
    {'monotonic': False, 'normalized': True, 'aggregate': 'sum', 'gs_factor': 0.5}
    """

    monotonic: bool = field(default=False, kw_only=True)
    normalized: bool = field(default=False, kw_only=True)
    aggregate: Aggregate = field(default="sum", kw_only=True)
    gs_factor: Annotated[float, Field(ge=0, le=1)] = field(default=0.5, kw_only=True)
    metric: ClassVar[str] = "non-uniform-entropy"

    def scorer(self, setting: Setting) -> _Bits:
        """What generalization leaves open is known per level; suppressed groups are counted by node."""
        return _Bits(self, setting)


class _Bits(ByColumn):
    def __init__(self, entropy: NonUniformEntropy, setting: Setting) -> None:
        space = setting.space
        generalized, self._s = factors(entropy.gs_factor)
        self._s = 0.0 if entropy.monotonic else self._s

        def bits(column: int, level: int) -> float:
            values, nodes = space.rows_of_nodes[column][0], space.rows_of_nodes[column][level]
            return generalized * (_n_log_n(nodes) - _n_log_n(values))

        least = setting.per_level(bits)
        self._scale = np.ones(len(least))
        if entropy.normalized:
            self._scale = np.array([1.0 / most[-1] if most[-1] > 0 else 0.0 for most in least])
        super().__init__(
            entropy.aggregate, setting.weights, [one * by for one, by in zip(least, self._scale, strict=True)]
        )

    def losses(self, cut: Cut) -> Floats:
        """(d,)."""
        found = super().losses(cut)
        if not self._s or not cut.n_suppressed:
            return found
        n = cut.n[cut.lost]
        counts = [np.bincount(nodes, weights=n) for nodes in cut.nodes(cut.lost)]
        whole = np.array([float(cut.n_suppressed)])
        lost = np.array([_n_log_n(whole) - _n_log_n(held) for held in counts])
        return found + self._s * lost * self._scale


def _n_log_n(n: Ints | Floats) -> float:
    """Σ n·log2 n."""
    held = n[n > 0].astype(np.float64)
    return float((held * np.log2(held)).sum())
