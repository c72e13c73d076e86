"""Estimates from sampled worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sfumato.queries.figures import Figures

Floats = NDArray[np.float64]


def mean_of(drawn: Floats) -> Floats:
    """Mean over the worlds where it is not NULL; NaN where it is NULL in every drawn world."""
    there = ~np.isnan(drawn)
    n = there.sum(axis=0)
    total = np.where(there, drawn, 0.0).sum(axis=0)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def order_statistic(drawn: Floats, q: float, lo: Floats, hi: Floats) -> Floats:
    """A value that a new world stays below with probability ≥ q (q ≥ ½) or ≤ q (q < ½), from W drawn worlds.

    The r-th of n drawn values has probability r/(n + 1) below it. Where nothing was drawn, the hard bound.
    """
    there = ~np.isnan(drawn)
    n = there.sum(axis=0)
    ordered = np.sort(drawn, axis=0)  # NaN last
    rank = np.ceil(q * (n + 1) - 1e-9) if q >= 0.5 else np.floor(q * (n + 1) + 1e-9)
    outer = hi if q >= 0.5 else lo
    inside = (rank >= 1) & (rank <= n)
    row = np.clip(rank, 1, np.maximum(n, 1)).astype(np.int64) - 1
    found = ordered[row, np.arange(drawn.shape[1])] if len(ordered) else outer
    return np.where(inside, found, outer)


def weighted_quantile(values: Floats, mass: Floats, q: float) -> Floats:
    """The least value whose cumulated mass reaches q of the total, per column; values and mass (C, K)."""
    order = np.argsort(np.where(np.isnan(values), np.inf, values), axis=0, kind="stable")
    sorted_values = np.take_along_axis(values, order, axis=0)
    below = np.cumsum(np.take_along_axis(mass, order, axis=0), axis=0)
    place = (below < (q - 1e-12) * below[-1]).sum(axis=0)
    columns = np.arange(values.shape[1])
    return np.where(below[-1] > 0, sorted_values[np.minimum(place, len(values) - 1), columns], np.nan)


def average_by_ratio(figures: Figures, j: int) -> Floats:
    """E[AVG | something counted] from sampled worlds, with count and sum as control variates.

    Their means given a count ≥ 1 are known: E[N]/P and E[S]/P with P = P(N ≥ 1).
    """
    count, total = figures.counts_in_worlds(j), figures.sampled.sum[:, :, j]
    absent, _ = figures.absent(j)
    with np.errstate(invalid="ignore", divide="ignore"):
        known = np.stack([figures.mean(j, False), figures.mean(j, True)]) / (1.0 - absent)
    found = np.full(figures.n_keys, np.nan)
    for key in range(figures.n_keys):
        there = count[:, key] > 0
        if not there.any():
            found[key] = known[1, key] / known[0, key] if known[0, key] > 0 else np.nan
            continue
        controls = np.stack([count[there, key], total[there, key]], axis=1)
        found[key] = _controlled(total[there, key] / count[there, key], controls, known[:, key])
    return found


def _controlled(drawn: Floats, controls: Floats, known: Floats) -> float:
    """Mean of `drawn`, moved by what the controls' known means reveal about the sample."""
    if len(drawn) < 20 or not np.isfinite(known).all():
        return float(drawn.mean())
    off = controls - controls.mean(axis=0)
    slope = np.linalg.lstsq(off, drawn - drawn.mean(), rcond=None)[0]
    return float(drawn.mean() - (controls.mean(axis=0) - known) @ slope)
