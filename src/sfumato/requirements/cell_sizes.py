"""How large a group of a sample must be so that at least k persons of the population surely fit it, by estimate."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Literal

Estimate = Literal["poisson", "zero-truncated-poisson"]

_DIGITS = 50
# What sums of many terms of 50 digits may be wrong by, relative.
_SLACK = Decimal(1) + Decimal(10) ** -35


@lru_cache(maxsize=4096)
def needed(k: int, share: Fraction, estimate: Estimate, significance: Fraction) -> int:
    """Units a group needs, at most k, when this share of the population is in the sample.

    A group with fewer than k persons in the population has Poisson many of them in the sample, of mean λ = k·share at
    most. With c the smallest count that reaches P(X ≤ c) ≥ 1 − significance, c + 2 units are needed; where counts of 0
    are left out of the distribution, c + 1.
    """
    extra = 2 if estimate == "poisson" else 1
    for count, enough in _reached(k, share, estimate, significance):
        if enough or count + extra >= k:
            return min(k, count + extra)
    return k


def largest(size: int, share: Fraction, estimate: Estimate, significance: Fraction) -> int:
    """The largest k for which groups of this size suffice: `needed` rises with k, and k units always suffice."""
    low = max(size, 0)
    if low < 2:
        return low
    high = 2 * low
    while needed(high, share, estimate, significance) <= size:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if needed(middle, share, estimate, significance) <= size else (low, middle)
    return low


def _reached(k: int, share: Fraction, estimate: Estimate, significance: Fraction) -> Iterator[tuple[int, bool]]:
    """Counts and whether P(X ≤ count) has reached 1 − significance: Σ λ^i / i! ≥ (1 − significance) · e^λ."""
    with localcontext() as context:
        context.prec = _DIGITS
        mean = Decimal((k * share).numerator) / Decimal((k * share).denominator)
        level = 1 - Decimal(significance.numerator) / Decimal(significance.denominator)
        zero = Decimal(1) if estimate == "zero-truncated-poisson" else Decimal(0)
        wanted = level * (mean.exp() - zero) * _SLACK
    term, total, count = Decimal(1), 1 - zero, 0
    while True:
        if count > 0 or not zero:
            yield count, total >= wanted
        count += 1
        with localcontext() as context:
            context.prec = _DIGITS
            term = term * mean / count
            total += term
