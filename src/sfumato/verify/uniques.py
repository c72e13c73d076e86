"""Estimates of how many are unique in a population, computed a second time from how many groups have each size."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import islice

import numpy as np

from sfumato.verify.models import Unknown

STARTS = [(0.33 * i, 0.33 * j) for i in range(4) for j in range(4)]


def share_of_uniques(times: Counter[int], estimate: str, population: int) -> float:
    """Share of the population, 0 without unique rows, infinite where the estimate has no solution."""
    if not times[1]:
        return 0.0
    n = sum(size * often for size, often in times.items())
    if estimate == "dankar":
        estimate = "pitman" if n * 10 <= population else "zayatz"
    if estimate == "zayatz":
        return _zayatz(times, n, population)
    if estimate == "pitman":
        return _pitman(times, n, population)
    raise Unknown("an estimate")


def _zayatz(times: Counter[int], n: int, population: int) -> float:
    """Chances that a group of s in the population has one row in the sample, each over that of a group of one."""
    chance, expected = 1.0, 0.0
    for size in range(1, max(times) + 1):
        expected += times[size] * size * chance
        chance *= max(population - n - size + 1, 0) / max(population - size, 1)
    return times[1] * times[1] / (n * expected)


def _pitman(times: Counter[int], n: int, population: int) -> float:
    """θ and α where both slopes of the logarithm of Pitman's formula vanish, then Γ(θ+1) / Γ(θ+α) · N^(α−1)."""
    with np.errstate(all="ignore"):
        ends = (list(islice(_steps(times, n, start), 8)) for start in (_begin(times, n), *STARTS))
        theta, alpha = next((points[-1] for points in ends if points), (math.nan, math.nan))
    if alpha == 0 or not theta + alpha > 0:
        return math.inf
    size = math.lgamma(theta + 1) - math.lgamma(theta + alpha) + (alpha - 1) * math.log(population)
    return math.exp(size) if size <= 0 else math.inf


def _begin(times: Counter[int], n: int) -> tuple[float, float]:
    one, groups = times[1], times.total()
    c = one * (one - 1) / (times[2] or 1)
    below = 2 * one * groups + one * c - n * c
    if not below:
        return math.nan, math.nan
    theta = (n * groups * c - one * (n - 1) * (2 * groups + c)) / below
    return theta, (theta * (one - n) + (n - 1) * one) / (n * groups)


def _steps(times: Counter[int], n: int, start: tuple[float, float]) -> Iterator[tuple[float, float]]:
    """Newton's method; only points where both slopes are nearly 0."""
    theta, alpha = start
    order, rows = np.arange(1, times.total(), dtype=float), np.arange(1, n, dtype=float)
    within = np.arange(1, max(times), dtype=float)
    # So many groups have more than j rows.
    larger = times.total() - np.cumsum([times[j] for j in range(1, max(times))])
    for _ in range(40):
        each, row, inner = 1 / (theta + order * alpha), 1 / (theta + rows), 1 / (within - alpha)
        slopes = each.sum() - row.sum(), (order * each).sum() - (larger * inner).sum()
        across = -(order * each**2).sum()
        first = (row**2).sum() - (each**2).sum()
        second = -((order * each) ** 2).sum() - (larger * inner**2).sum()
        if not np.isfinite([*slopes, across, first, second]).all():
            return
        if max(map(abs, slopes)) <= 1e-6:
            yield float(theta), float(alpha)
        below = first * second - across**2
        if below == 0:
            return
        theta -= (second * slopes[0] - across * slopes[1]) / below
        alpha -= (first * slopes[1] - across * slopes[0]) / below
        if not theta >= 0:
            return
