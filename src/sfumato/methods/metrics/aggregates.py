"""Losses of columns as one score: how values v of d columns with weights w are put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.metrics.metric import Scorer

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.cuts import Cut
    from sfumato.methods.metrics.metric import Floats, Score

DECIMALS = 10
"""Of losses that are compared one after the other."""
Aggregate = Literal["sum", "max", "arithmetic_mean", "geometric_mean", "rank"]


def _sum(values: Floats, weights: Floats) -> Floats:
    """Σ v·w."""
    return np.asarray((values * weights).sum(axis=-1))


def _max(values: Floats, weights: Floats) -> Floats:
    """max v·w."""
    return np.asarray((values * weights).max(axis=-1))


def _arithmetic_mean(values: Floats, weights: Floats) -> Floats:
    """Σ v·w / d."""
    return np.asarray((values / values.shape[-1] * weights).sum(axis=-1))


def _geometric_mean(values: Floats, weights: Floats) -> Floats:
    """(Π (v + 1)·w)^(1/d) − 1."""
    return np.asarray(np.prod(((values + 1.0) * weights) ** (1.0 / values.shape[-1]), axis=-1) - 1.0)


AGGREGATES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "sum": _sum,
    "max": _max,
    "arithmetic_mean": _arithmetic_mean,
    "geometric_mean": _geometric_mean,
}


def aggregated(aggregate: str, values: Floats, weights: Floats) -> Score:
    """One score; `rank` gives v·w from the largest down, to be compared from the first on.

    >>> aggregated("sum", np.array([0.5, 1.0]), np.ones(2)), aggregated("rank", np.array([0.5, 1.0]), np.ones(2))
    (1.5, (1.0, 0.5))
    """
    if aggregate == "rank":
        # Without the noise of sums, which would decide between losses that are equal.
        return tuple(sorted(np.round(values * weights, DECIMALS).tolist(), reverse=True))
    return float(AGGREGATES[aggregate](values, weights))


class ByColumn(Scorer):
    """A scorer that sums up a loss of every column; `least[j][level]` is what column j loses at least."""

    def __init__(self, aggregate: str, weights: Floats, least: Sequence[Floats]) -> None:
        self._aggregate = aggregate
        self._weights = weights
        self._least = least

    def score(self, cut: Cut) -> Score:
        """The losses of the columns, aggregated."""
        return aggregated(self._aggregate, self.losses(cut), self._weights)

    def losses(self, cut: Cut) -> Floats:
        """The loss of every column, (d,)."""
        return np.array([least[level] for least, level in zip(self._least, cut.node, strict=True)])

    def bounds(self, levels: NDArray[Any]) -> Floats | None:
        """The least losses of the columns, aggregated; ranks have no single number."""
        if self._aggregate == "rank":
            return None
        least = np.stack([known[levels[:, j]] for j, known in enumerate(self._least)], axis=-1)
        return AGGREGATES[self._aggregate](least, self._weights)
