"""What every model needs to judge groups: counts per group, and comparisons that are exact or rounded against us.

Zero groups pass vacuously (methods refuse to publish them); a group of zero units passes nothing.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.contracts import Verdict
from sfumato.data.evidence import Counts, Groups
from sfumato.declared import exact
from sfumato.errors import Incompatible

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
# Integers up to here are exact in 64 bits with room for one addition.
_SAFE = 2**62


def counts_on(evidence: Groups, column: str) -> Counts:
    """Counts of one sensitive column, or `Incompatible` when the evidence has none."""
    if column not in evidence.counts:
        known = ", ".join(evidence.counts) or "none"
        raise Incompatible(
            f"A requirement reads column {column!r}, but the sensitive columns are: {known}. "
            "Give it the role sensitive, or name one of these in on=."
        )
    return evidence.counts[column]


def per_group(values: NDArray[Any], counts: Counts, ufunc: np.ufunc = np.add) -> NDArray[Any]:
    """Fold entries (E,) over their groups → (G,); groups without entries get 0."""
    folded = np.zeros(len(counts.starts) - 1, dtype=values.dtype)
    full = counts.starts[1:] > counts.starts[:-1]
    if full.any():
        folded[full] = ufunc.reduceat(values, counts.starts[:-1][full])
    return folded


def masses(counts: Counts) -> Ints:
    """Units counted once per value they have, (G,): more than the size when a unit has several values."""
    return per_group(counts.n, counts)


def whole_numbers(values: NDArray[Any], most: int) -> NDArray[Any]:
    """The same integers, as Python integers when numbers up to `most` would not fit in 64 bits."""
    return values if most < _SAFE else values.astype(object)


def at_most(a: NDArray[Any], p: int, b: NDArray[Any], q: int) -> Bools:
    """a·p ≤ b·q for nonnegative integers, exactly; shapes (G,)."""
    if len(a) == 0:
        return np.zeros(0, dtype=np.bool_)
    most = max(int(a.max()) * p, int(b.max()) * q)
    return np.asarray(whole_numbers(a, most) * p <= whole_numbers(b, most) * q, dtype=np.bool_)


def greatest_ratio(a: NDArray[Any], b: NDArray[Any]) -> Fraction:
    """max a/b over groups, exactly; b > 0, at least one group."""
    ratio = a.astype(np.float64) / b.astype(np.float64)
    near = np.flatnonzero(ratio >= ratio.max() * (1 - 1e-12))
    pairs = {(int(a[i]), int(b[i])) for i in near}
    return max(Fraction(top, bottom) for top, bottom in pairs)


def down(value: Fraction | float) -> float:
    """The greatest float that is not above, floats being what they are written as (0.6 is three fifths)."""
    near = float(value)
    return math.nextafter(near, -math.inf) if exact(near) > value else near


def up(value: Fraction | float) -> float:
    """The least float that is not below."""
    return -down(-value)


def halves(value: Fraction, upwards: bool) -> tuple[float, float]:
    """Numerator and denominator as floats for a twin; when too long, rounded to a fraction that is stricter.

    >>> halves(Fraction(1, 5), upwards=False)
    (1.0, 5.0)
    """
    if max(value.numerator, value.denominator) < 2**53:
        return float(value.numerator), float(value.denominator)
    scaled = value * 2**40
    return float(math.ceil(scaled) if upwards else math.floor(scaled)), float(2**40)


def verdict(passed: Bools, achieved: dict[str, float]) -> Verdict:
    """All groups must pass; nothing is achieved where there are no groups."""
    failing = int(len(passed) - passed.sum())
    return Verdict(failing == 0, achieved if len(passed) else {}, failing)
