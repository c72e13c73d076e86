"""What a number may be, per group: intervals rounded outward, with NULL and NaN beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sqlglot import exp

from sfumato.queries.literals import FALSE, NULL, TRUE, TURNED, Bits
from sfumato.queries.rows import NOT

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
EXACT = 2.0**53
SAFE_DIGITS = 15
KINDS = exp.DataType.Type
WIDTHS = {
    KINDS.TINYINT: 8, KINDS.SMALLINT: 16, KINDS.INT: 32, KINDS.BIGINT: 64, KINDS.INT128: 128,
    KINDS.UTINYINT: 8, KINDS.USMALLINT: 16, KINDS.UINT: 32, KINDS.UBIGINT: 64, KINDS.UINT128: 128,
}  # fmt: skip
"""Bits of the integer types."""


@dataclass(eq=False)
class Span:
    """What a number may be, per group: in [lo, hi], which may be infinite, when not NULL; `null`: may be NULL or NaN;
    `whole`: only whole numbers."""

    lo: Floats
    hi: Floats
    null: Bools
    whole: bool = False

    @property
    def never(self) -> Bools:
        """NULL in every world."""
        return np.isnan(self.lo)


def is_nan(array: pa.Array) -> Bools:
    """Where SQL made NaN."""
    if not pa.types.is_floating(array.type):
        return np.zeros(len(array), dtype=bool)
    found: Bools = pc.is_nan(array).fill_null(False).to_numpy(zero_copy_only=False)
    return found


def is_float(array: pa.Array, values: Floats, whole: bool) -> Bools:
    """Which values of an array their nearest floats are, and not only stand for."""
    small = bool((np.isnan(values) | (np.abs(values) < EXACT)).all())
    if pa.types.is_floating(array.type) or (small and not pa.types.is_decimal(array.type)):
        return np.ones(len(values), dtype=bool)
    if small and whole and array.type.precision <= SAFE_DIGITS:
        return np.ones(len(values), dtype=bool)
    texts = dict.fromkeys(array.to_pylist())
    same = {one: one is None or Decimal(float(one)) == one for one in texts}
    return np.array([same[one] for one in array.to_pylist()], dtype=bool)


def _outward(lo: Floats, hi: Floats, whole: bool) -> tuple[Floats, Floats]:
    """Sums and products of whole numbers below 2⁵³ are exact; others may be half a unit in the last place off."""
    if whole and max(np.nanmax(np.abs(lo), initial=0), np.nanmax(np.abs(hi), initial=0)) < EXACT:
        return lo, hi
    return np.nextafter(lo, -np.inf), np.nextafter(hi, np.inf)


def unbounded(a: Span) -> Bools:
    """Where it may be infinite, or has no bound."""
    found: Bools = np.isinf(a.lo) | np.isinf(a.hi)
    return found


def with_zero(a: Span) -> Bools:
    """Where it may be 0."""
    found: Bools = (a.lo <= 0) & (a.hi >= 0)
    return found


def combined(
    a: Span, b: Span, rule: Callable[[Floats, Floats], Floats], pairs: Sequence[tuple[str, str]], whole: bool
) -> Span:
    """A rule that rises or falls with each of its operands, at these pairs of ends."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        ends = [rule(getattr(a, x), getattr(b, y)) for x, y in pairs]
    unknown = ~(a.never | b.never)
    low = np.min([np.where(np.isnan(e), -np.inf, e) for e in ends], axis=0)
    high = np.max([np.where(np.isnan(e), np.inf, e) for e in ends], axis=0)
    low, high = _outward(low, high, whole)
    return Span(np.where(unknown, low, np.nan), np.where(unknown, high, np.nan), a.null | b.null, whole)


EVERY = (("lo", "lo"), ("lo", "hi"), ("hi", "lo"), ("hi", "hi"))


def away_from_zero(b: Span) -> tuple[Span, Bools]:
    """A divisor without 0, and where both signs are left; a whole number that is not 0 is at least 1 away from it."""
    zero, only = with_zero(b), (b.lo == 0) & (b.hi == 0)
    low, high = b.lo.copy(), b.hi.copy()
    if b.whole:
        low[zero & (b.lo == 0)] = 1.0
        high[zero & (b.hi == 0)] = -1.0
    across = zero & ~only & (low <= 0) & (high >= 0)
    return Span(np.where(only, np.nan, low), np.where(only, np.nan, high), b.null), across


def wider(end: Floats, to: float) -> Floats:
    """Two units in the last place further out."""
    return np.nextafter(np.nextafter(end, to), to)


def limits(to: exp.DataType) -> tuple[float, float, float] | None:
    """Least, largest and step of an integer or decimal type."""
    bits = WIDTHS.get(to.this)
    if bits is not None:
        signed = not str(to.this.value).startswith("U")
        return (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1), 1.0) if signed else (0.0, 2.0**bits, 1.0)
    if to.this == KINDS.DECIMAL and len(to.expressions) == 2:
        precision, scale = (int(one.this.this) for one in to.expressions)
        return -(10.0 ** (precision - scale)), 10.0 ** (precision - scale), 10.0**-scale
    return None


def where(there: Bools, part: Span) -> Span:
    """The part where it can be reached, nothing elsewhere."""
    return Span(np.where(there, part.lo, np.nan), np.where(there, part.hi, np.nan), part.null, part.whole)


def hull(parts: Sequence[Span], null: Bools, n: int) -> Span:
    """Any of these."""
    if not parts:
        return Span(np.full(n, np.nan), np.full(n, np.nan), np.ones(n, dtype=bool))
    lo = np.fmin.reduce([p.lo for p in parts])
    hi = np.fmax.reduce([p.hi for p in parts])
    return Span(lo, hi, null, all(p.whole for p in parts))


def compare(operator: str, a: Span, b: Span) -> Bits:
    """Which truth values a comparison can have."""
    if operator in ("<", "<="):
        return compare(TURNED[operator], b, a)
    with np.errstate(invalid="ignore"):
        if operator == "=":
            can = (a.lo <= b.hi) & (b.lo <= a.hi)
            must = (a.lo == a.hi) & (b.lo == b.hi) & (a.lo == b.lo)
        elif operator == "<>":
            return NOT[compare("=", a, b)]
        else:
            can = a.hi > b.lo if operator == ">" else a.hi >= b.lo
            must = a.lo > b.hi if operator == ">" else a.lo >= b.hi
    never = a.never | b.never
    found = np.where(can, TRUE, 0) | np.where(must, 0, FALSE)
    found = np.where(never, NULL, found | np.where(a.null | b.null, NULL, 0))
    return found.astype(np.uint8)


def as_number(truth: Bits) -> Span:
    """A truth value as 0 or 1."""
    some = (truth & (TRUE | FALSE)) > 0
    lo = np.where(truth & FALSE, 0.0, 1.0)
    hi = np.where(truth & TRUE, 1.0, 0.0)
    return Span(np.where(some, lo, np.nan), np.where(some, hi, np.nan), (truth & NULL) > 0, True)
