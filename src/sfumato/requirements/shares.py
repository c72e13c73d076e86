"""How often a value is in a group against how often it is in the whole table: ratios compared with exact bounds."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.evidence import Counts, Groups
from sfumato.requirements.judging import Bools, counts_on, greatest_ratio, masses, per_group, whole_numbers

Floats = NDArray[np.float64]

# Floats decide where a ratio is farther than this from its bound; their error is a millionth of it.
_FAR = 1e-9
_DIGITS = 60
# What 60 digits may be wrong by, a thousand times over.
_WRONG = Decimal(10) ** -55


@dataclass(frozen=True, eq=False)
class Ratios:
    """p_group(v) / p_table(v) = top / bottom for every value v that a group has, shapes (E,); whole numbers."""

    counts: Counts
    top: NDArray[Any]
    bottom: NDArray[Any]
    units: NDArray[np.int64]
    """Units in the whole table that have the entry's value."""
    whole: int

    @classmethod
    def of(cls, evidence: Groups, column: str) -> Ratios:
        """c_v · N over |g| · T_v; a unit with several values counts once for each."""
        counts, totals = counts_on(evidence, column), evidence.totals[column]
        whole, size, units = int(totals.sum()), masses(counts)[counts.group], totals[counts.code].astype(np.int64)
        most = int(size.max(initial=1)) * max(whole, 1)
        top = whole_numbers(counts.n, most) * whole
        return cls(counts, top, whole_numbers(size, most) * whole_numbers(units, most), units, whole)

    def at_most(self, bound: Fraction, strictly: bool = False) -> Bools:
        """top / bottom ≤ bound (or <), exactly; shape (E,)."""
        return self._decided(self._floats, float(bound), lambda i: self._ratio(i) - bound, strictly)

    def at_least(self, bound: Fraction, strictly: bool = False) -> Bools:
        """top / bottom ≥ bound (or >), exactly; shape (E,)."""
        return self._decided(-self._floats, -float(bound), lambda i: bound - self._ratio(i), strictly)

    def within_logarithm(self) -> Bools:
        """top / bottom ≤ 1 − log p_table(v); shape (E,)."""
        bounds = 1 - np.log(self.units / max(self.whole, 1))
        return self._decided(self._floats, bounds, lambda i: self._ratio(i) - self._logarithm(i), False)

    def greatest(self) -> Fraction:
        """The largest ratio; at least one entry."""
        return greatest_ratio(self.top, self.bottom)

    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest ratio as floats; at least one entry."""
        return float(self._floats.min()), float(self._floats.max())

    def every(self, met: Bools, evidence: Groups) -> Bools:
        """Groups with units of which every entry is met, shape (G,)."""
        return per_group(met, self.counts, np.logical_and) & (evidence.sizes > 0)

    @property
    def _floats(self) -> Floats:
        return np.asarray(self.top, dtype=np.float64) / np.asarray(self.bottom, dtype=np.float64)

    def _ratio(self, entry: int) -> Fraction:
        return Fraction(int(self.top[entry]), int(self.bottom[entry]))

    def _logarithm(self, entry: int) -> Fraction:
        return 1 + least_logarithm(Fraction(self.whole, int(self.units[entry])))

    def _decided(self, ratios: Floats, bounds: Any, above: Any, strictly: bool) -> Bools:
        """ratio ≤ bound; `above(i)` is the exact surplus of entry i, asked once a distinct pair next to its bound."""
        bounds = np.broadcast_to(np.asarray(bounds, dtype=np.float64), ratios.shape)
        met = np.asarray(ratios < bounds, dtype=np.bool_)
        near = np.flatnonzero(np.abs(ratios - bounds) <= _FAR * np.maximum(np.abs(bounds), 1e-300))
        known: dict[tuple[int, int, int], bool] = {}
        for i in near.tolist():
            key = (int(self.top[i]), int(self.bottom[i]), int(self.units[i]))
            if key not in known:
                surplus = above(i)
                known[key] = surplus < 0 or (surplus == 0 and not strictly)
            met[i] = known[key]
        return met


@lru_cache(maxsize=65536)
def least_logarithm(value: Fraction) -> Fraction:
    """A rational just below the natural logarithm; exact where that is rational (of 1).

    >>> least_logarithm(Fraction(1)), float(least_logarithm(Fraction(2)))
    (Fraction(0, 1), 0.6931471805599453)
    """
    if value == 1:
        return Fraction(0)
    with localcontext() as context:
        context.prec = _DIGITS
        found = Decimal(value.numerator).ln() - Decimal(value.denominator).ln()
        return Fraction(found - max(abs(found), Decimal(1)) * _WRONG)


@lru_cache(maxsize=256)
def least_power(exponent: Fraction) -> Fraction:
    """A rational just below 2^exponent; exact where that is rational, for a whole exponent.

    >>> least_power(Fraction(3)), float(least_power(Fraction(1, 2)))
    (Fraction(8, 1), 1.4142135623730951)
    """
    if exponent.denominator == 1:
        return Fraction(2) ** exponent.numerator
    with localcontext() as context:
        context.prec = _DIGITS
        found = Decimal(2) ** (Decimal(exponent.numerator) / Decimal(exponent.denominator))
        return Fraction(found - found * _WRONG)
