"""The four readings of "l well-represented values": each judges counts with an exact threshold l (and c).

`passes(counts, sizes, l, c)` gives the mask over groups, `achieved(…)` the largest l (or the smallest c) that all
groups meet, `least(l, c)` the units a group needs, `twin(l, c)` the compiled test and its parameters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.data.evidence import Counts
from sfumato.requirements.judging import (
    Bools,
    Ints,
    at_most,
    down,
    greatest_ratio,
    halves,
    masses,
    per_group,
    up,
)

# Larger reduced groups next to the threshold are refused instead of multiplied out.
_MOST_EXACT = 20_000


class Reading(Protocol):
    """One reading of l-diversity."""

    def passes(self, counts: Counts, sizes: Ints, l: Fraction, c: Fraction) -> Bools:
        """Mask over groups with at least one unit; for a group without units anything."""
        ...

    def achieved(self, counts: Counts, sizes: Ints, l: Fraction, c: Fraction) -> dict[str, float]:
        """What all groups achieve; every group has a unit and there is at least one."""
        ...

    def least(self, l: Fraction, c: Fraction) -> int:
        """Fewest units a group needs."""
        ...

    def twin(self, l: Fraction, c: Fraction) -> tuple[str, tuple[float, ...], NDArray[np.float64] | None]:
        """Name of the compiled test, its parameters, its table."""
        ...


@dataclass(frozen=True)
class Distinct:
    """At least l different values."""

    def passes(self, counts: Counts, sizes: Ints, l: Fraction, c: Fraction) -> Bools:
        """Entries per group."""
        return np.asarray(np.diff(counts.starts) >= math.ceil(l), dtype=np.bool_)

    def achieved(self, counts: Counts, sizes: Ints, l: Fraction, c: Fraction) -> dict[str, float]:
        """Fewest different values, or fewest units where those are fewer."""
        return {"l": int(np.minimum(np.diff(counts.starts), sizes).min())}

    def least(self, l: Fraction, c: Fraction) -> int:
        """One unit a value."""
        return math.ceil(l)

    def twin(self, l: Fraction, c: Fraction) -> tuple[str, tuple[float, ...], NDArray[np.float64] | None]:
        """l."""
        return "distinct_values", (float(math.ceil(l)),), None


@dataclass(frozen=True)
class Frequency:
    """No value in more than a share 1/l of the units."""

    def passes(self, counts: Counts, sizes: Ints, l: Fraction, c: Fraction) -> Bools:
        """max c_v · l ≤ |g|."""
        return at_most(per_group(counts.n, counts, np.maximum), l.numerator, sizes, l.denominator)

    def achieved(self, counts: Counts, sizes: Ints, l: Fraction, c: Fraction) -> dict[str, float]:
        """1 over the largest share, rounded down."""
        return {"l": down(1 / greatest_ratio(per_group(counts.n, counts, np.maximum), sizes))}

    def least(self, l: Fraction, c: Fraction) -> int:
        """One unit is a share 1/l of l units."""
        return math.ceil(l)

    def twin(self, l: Fraction, c: Fraction) -> tuple[str, tuple[float, ...], NDArray[np.float64] | None]:
        """The share 1/l and no size of its own."""
        return "largest_share", (*halves(1 / l, upwards=False), 1.0), None


@dataclass(frozen=True)
class Recursive:
    """r₁ < c(r_l + r_{l+1} + … + r_m) with the counts in falling order."""

    def passes(self, counts: Counts, sizes: Ints, l: Fraction, c: Fraction) -> Bools:
        """Not c·tail ≤ r₁."""
        most, tail = self._tail(counts, int(l))
        return ~at_most(tail, c.numerator, most, c.denominator)

    def achieved(self, counts: Counts, sizes: Ints, l: Fraction, c: Fraction) -> dict[str, float]:
        """The smallest c at the asked l; where a group has fewer than l values, the largest l at the asked c."""
        most, tail = self._tail(counts, int(l))
        if tail.all():
            return {"l": int(l), "c": math.nextafter(up(greatest_ratio(most, tail)), math.inf)}
        fewer = range(int(np.diff(counts.starts).min()), 0, -1)
        met = (n for n in fewer if self.passes(counts, sizes, Fraction(n), c).all())
        return {"l": next(met, 0), "c": up(c)}

    def least(self, l: Fraction, c: Fraction) -> int:
        """l − 1 values before the tail, and a tail of more than 1/c units."""
        return int(l) - 1 + math.floor(1 / c) + 1

    def twin(self, l: Fraction, c: Fraction) -> tuple[str, tuple[float, ...], NDArray[np.float64] | None]:
        """c and l."""
        return "recursive_tail", (*halves(c, upwards=False), float(l)), None

    def _tail(self, counts: Counts, l: int) -> tuple[Ints, Ints]:
        """r₁ and r_l + … + r_m per group."""
        most = per_group(counts.n, counts, np.maximum)
        total = masses(counts)
        if l == 1:
            return most, total
        if l == 2:
            return most, total - most
        falling = counts.n[np.lexsort((-counts.n, counts.group))]
        summed = np.concatenate([[0], np.cumsum(falling)])
        start, end = counts.starts[:-1], counts.starts[1:]
        return most, summed[end] - summed[np.minimum(start + l - 1, end)]


@dataclass(frozen=True)
class Entropy:
    """Entropy of the values ≥ log l: n·log n − Σ c·log c ≥ n·log l.

    Decided in floats beyond their rounding error, else by multiplying out n^n · q^n ≥ p^n · Π c^c for l = p/q.
    """

    def passes(self, counts: Counts, sizes: Ints, l: Fraction, c: Fraction) -> Bools:
        """Beyond the error, or exactly."""
        surplus, slack = self._surplus(counts)
        surplus = surplus - math.log(l)
        passed = surplus > slack
        for group in self._undecided(counts, np.abs(surplus) <= slack, passed, l):
            reduced = counts.n[counts.starts[group] : counts.starts[group + 1]]
            passed[group] = _multiplied_out(tuple(sorted((reduced // np.gcd.reduce(reduced)).tolist())), l)
        return passed

    def achieved(self, counts: Counts, sizes: Ints, l: Fraction, c: Fraction) -> dict[str, float]:
        """exp of the smallest entropy, rounded down, but the exact figure where the asked or a whole l is met."""
        surplus, slack = self._surplus(counts)
        worst = min(float(np.exp(surplus - slack).min()) * (1 - 1e-15), float(sizes.min()))
        exact = [f for f in (l, Fraction(round(worst))) if 0 < f - worst < 1e-9 and f <= int(sizes.min())]
        met = [down(f) for f in exact if self.passes(counts, sizes, f, c).all()]
        return {"l": max([worst, *met, 1.0])}

    def least(self, l: Fraction, c: Fraction) -> int:
        """n units have entropy log n at most."""
        return math.ceil(l)

    def twin(self, l: Fraction, c: Fraction) -> tuple[str, tuple[float, ...], NDArray[np.float64] | None]:
        """l, log l and a table of c·log c."""
        known = np.arange(4097, dtype=np.float64)
        known[1:] *= np.log(known[1:])
        top, bottom = halves(l, upwards=True)
        return "entropy", (top, bottom, math.log(top / bottom)), known

    def _surplus(self, counts: Counts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Entropies and the error they may have."""
        n = counts.n.astype(np.float64)
        total = np.maximum(masses(counts).astype(np.float64), 1.0)
        entropy = np.log(total) - per_group(n * np.log(np.maximum(n, 1.0)), counts) / total
        return entropy, 4e-16 * (np.diff(counts.starts) + 12) * (np.log(total) + 1.0)

    def _undecided(self, counts: Counts, near: Bools, passed: Bools, l: Fraction) -> list[int]:
        """Decide groups next to the threshold whose counts are all equal (m ≥ l); return the others."""
        low = per_group(counts.n, counts, np.minimum)
        flat = near & (low == per_group(counts.n, counts, np.maximum)) & (low > 0)
        passed[flat] = np.diff(counts.starts)[flat] >= math.ceil(l)
        return [int(group) for group in np.flatnonzero(near & ~flat & (low > 0))]


@lru_cache(maxsize=65536)
def _multiplied_out(counts: tuple[int, ...], l: Fraction) -> bool:
    """n^n · q^n ≥ p^n · Π c^c in whole numbers; groups too large for that are refused."""
    n = sum(counts)
    if n > _MOST_EXACT:
        return False
    right = l.numerator**n * math.prod(count**count for count in counts)
    return bool((n * l.denominator) ** n >= right)


READINGS: Mapping[str, Reading] = {
    "distinct": Distinct(),
    "entropy": Entropy(),
    "recursive": Recursive(),
    "frequency": Frequency(),
}
