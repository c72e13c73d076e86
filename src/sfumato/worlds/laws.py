"""The law of a count from its characteristic function, on a window wide enough to hold all of its mass."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.outcomes import Law, Outcomes

Floats = NDArray[np.float64]

NEGLIGIBLE = 46.0
"""Where |φ| < e⁻⁴⁶ ≈ 1e-20 the transform is rounding noise, and is not computed."""


def law(outcomes: Outcomes, j: int, key: int) -> Law | None:
    """The law of count j of one key; None when it is not computable exactly."""
    mean, variance, least, most = (float(fact[key]) for fact in outcomes.count_facts(j))
    window = Window(mean, variance, least, most, outcomes.spread(j, key))
    return windowed(lambda omega: outcomes.log_cf(j, key, omega), window)


@dataclass(frozen=True)
class Window:
    """What is known of a count before its law: mean, variance, support, and the variance of an independent part."""

    mean: float
    variance: float
    least: float
    most: float
    spread: float


def windowed(log_cf: Callable[[Floats], tuple[Floats, Floats] | None], known: Window) -> Law | None:
    """pmf = irfft of φ on m = 2^⌈log₂(18σ + 64)⌉ points: all of the support, or all but P(|X − μ| > m/2).

    Only the frequencies that matter are computed: |φ(ω)| ≤ exp(−2·spread·sin²(ω/2)).
    """
    if known.least == known.most:
        return Law(int(known.least), np.ones(1))
    m = 1 << math.ceil(math.log2(18 * math.sqrt(max(known.variance, 0.0)) + 64))
    whole = known.most - known.least + 1 <= m
    offset = int(known.least) if whole else max(round(known.mean) - m // 2, int(known.least))
    n_needed = _frequencies(known.spread, m)
    omega = 2 * np.pi * np.arange(n_needed) / m
    found = log_cf(omega)
    if found is None:
        return None
    transform = np.zeros(m // 2 + 1, dtype=np.complex128)
    transform[:n_needed] = np.exp(found[0] - 1j * (found[1] - omega * offset))
    pmf = np.maximum(np.fft.irfft(transform, m), 0.0)
    pmf = pmf[: max(1, min(m, int(known.most) - offset + 1))]
    return Law(offset, pmf / pmf.sum())


def _frequencies(spread: float, m: int) -> int:
    """How many of the frequencies 2πj/m, j ≤ m/2, can carry more than noise."""
    if 2 * spread <= NEGLIGIBLE:
        return m // 2 + 1
    last = 2 * math.asin(math.sqrt(NEGLIGIBLE / (2 * spread)))
    return min(m // 2 + 1, math.ceil(last * m / (2 * math.pi)) + 1)


def quantile(found: Law, q: float) -> int:
    """The least count c with P(count ≤ c) ≥ q.

    >>> quantile(Law(3, np.array([0.25, 0.5, 0.25])), 0.5)
    4
    """
    below = np.cumsum(found.pmf)
    # Sums of probabilities that should meet q exactly may miss it by rounding.
    return found.offset + min(int(np.searchsorted(below, q - 1e-12)), len(below) - 1)


def at_least(found: Law, count: int) -> float:
    """P(count ≥ c)."""
    return float(found.pmf[max(count - found.offset, 0) :].sum())
