"""The privacy models once more, on counts per group in whole numbers: k, l, t and (α,k).

A group is a Counter of values; a missing value is the value None.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

# No exponents: a few signs could stand for a number that fills the memory.
WRITTEN = re.compile(r"-?\d{1,40}(?:\.\d{1,40}|/\d{1,40})?", re.ASCII)
Group = Counter[Any]
Parameters = Mapping[str, Any]


class Unknown(Exception):
    """A model, reading or parameter that this verifier does not know."""


def fraction(value: Any) -> Fraction:
    """A parameter as it was written: 0.2 is one fifth."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise Unknown("a parameter that is no number")
    if isinstance(value, str) and not WRITTEN.fullmatch(value):
        raise Unknown("a parameter that is no number")
    try:
        return Fraction(Decimal(repr(value))) if isinstance(value, float) else Fraction(value)
    except (ValueError, ArithmeticError):
        raise Unknown("a parameter that is no number") from None


def shapes(groups: Sequence[Group]) -> list[tuple[int, ...]]:
    """The distinct falling lists of counts: what k, l and (α,k) depend on."""
    return sorted({tuple(sorted(group.values(), reverse=True)) for group in groups})


def distinct(shape: tuple[int, ...], l: Fraction, c: Fraction) -> bool:
    """At least l values."""
    return len(shape) >= l


def recursive(shape: tuple[int, ...], l: Fraction, c: Fraction) -> bool:
    """r₁ < c(r_l + … + r_m)."""
    return shape[0] < c * sum(shape[int(l) - 1 :])


def entropy(shape: tuple[int, ...], l: Fraction, c: Fraction) -> bool:
    """n^n · q^n ≥ p^n · Π r^r for l = p/q; far from the threshold decided by logarithms.

    Groups too large to multiply out are decided by logarithms of 60 digits, whose error is far below what a requirement
    in floats takes off before it passes: what passes there passes here, and equality passes in neither.
    """
    if l <= 1:
        return True
    divisor = math.gcd(*shape)
    counts = [r // divisor for r in shape]
    n = sum(counts)
    away = math.log(n) - sum(r * math.log(r) for r in counts) / n - math.log(l)
    if abs(away) > 1e-9:
        return away > 0
    if n > 20_000:
        return _surplus(counts, l) > Decimal("1e-40")
    return bool((n * l.denominator) ** n >= l.numerator**n * math.prod(r**r for r in counts))


def _surplus(counts: Sequence[int], l: Fraction) -> Decimal:
    """log n − Σ r·log r / n − log l to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        n = Decimal(sum(counts))
        moved = sum((r * times * Decimal(r).ln() for r, times in Counter(counts).items()), Decimal(0))
        return n.ln() - moved / n - Decimal(l.numerator).ln() + Decimal(l.denominator).ln()


READINGS: Mapping[str, Callable[[tuple[int, ...], Fraction, Fraction], bool]] = {
    "distinct": distinct,
    "entropy": entropy,
    "recursive": recursive,
    "frequency": lambda shape, l, c: True,  # a share of units, judged with the sizes
}


def l_holds(groups: Sequence[Group], sizes: Sequence[int], parameters: Parameters) -> bool:
    """Every group has l well-represented values, and units enough for them."""
    l, kind = fraction(parameters.get("l")), parameters.get("kind", "distinct")
    if kind not in READINGS:
        raise Unknown("a reading of l-diversity")
    c = fraction(parameters.get("c")) if kind == "recursive" else Fraction(1)
    if kind in ("recursive", "distinct") and l.denominator != 1:
        raise Unknown("a fractional l")
    if kind == "frequency" and share_of(groups, sizes) * l > 1:
        return False
    needed = math.ceil(l)
    return min(sizes) >= needed and all(READINGS[kind](shape, l, c) for shape in shapes(groups))


def l_reached(groups: Sequence[Group], sizes: Sequence[int], parameters: Parameters) -> dict[str, Any]:
    """The figures that go with a reading: fewest values, 1 / greatest share, exp(least entropy), or the least c."""
    kind = parameters.get("kind", "distinct")
    if kind == "distinct":
        return {"l": min(min(len(group), size) for group, size in zip(groups, sizes, strict=True))}
    if kind == "frequency":
        return {"l": 1 / share_of(groups, sizes)}
    if kind == "entropy":
        least = min(math.log(sum(shape)) - sum(r * math.log(r) for r in shape) / sum(shape) for shape in shapes(groups))
        return {"l": max(1.0, min(math.exp(least), float(min(sizes))))}
    l = int(fraction(parameters["l"]))
    return {"l": l, "c": max(Fraction(shape[0], sum(shape[l - 1 :])) for shape in shapes(groups))}


def share_of(groups: Sequence[Group], sizes: Sequence[int]) -> Fraction:
    """The greatest share of one value in a group."""
    return max(Fraction(max(group.values()), size) for group, size in zip(groups, sizes, strict=True))


def distance_of(
    groups: Sequence[Group], total: Group, kind: str, order: Sequence[Any], levels: Sequence[Mapping[Any, Any]]
) -> Fraction:
    """The greatest earth mover's distance between a group and the whole table.

    equal: Σ max(0, share − share of the table) · ordered: Σ |running share − running share of the table| / (m − 1)
    over the values in `order` · hierarchical: the mean of the equal distance over the leaves and every level.
    """
    if kind == "ordered":
        return _ordered(groups, total, order)
    if kind not in ("equal", "hierarchical"):
        raise Unknown("a distance")
    maps: list[Mapping[Any, Any] | None] = [None, *(levels if kind == "hierarchical" else ())]
    whole = sum(total.values())
    totals = [_lifted(total, level) for level in maps]
    worst = Fraction(0)
    for group in groups:
        n = sum(group.values())
        moved = 0
        for level, all_of in zip(maps, totals, strict=True):
            here = _lifted(group, level)
            moved += sum(max(0, times * whole - all_of[value] * n) for value, times in here.items())
        worst = max(worst, Fraction(moved, n * whole * len(maps)))
    return worst


def _lifted(group: Group, level: Mapping[Any, Any] | None) -> Group:
    if level is None:
        return group
    found: Group = Counter()
    for value, times in group.items():
        found[level[value]] += times
    return found


def _ordered(groups: Sequence[Group], total: Group, order: Sequence[Any]) -> Fraction:
    steps, whole = len(order) - 1, sum(total.values())
    if steps < 1:
        return Fraction(0)
    rank = {value: i for i, value in enumerate(order)}
    most = max(sum(group.values()) for group in groups) * whole * (steps + 1)
    kind = np.int64 if most < 2**62 else object
    table = np.cumsum(np.array([total[value] for value in order[:-1]], dtype=kind))
    worst = Fraction(0)
    for group in groups:
        n = sum(group.values())
        here = np.zeros(steps + 1, dtype=kind)
        for value, times in group.items():
            here[rank[value]] += times
        moved = int(np.abs(np.cumsum(here[:-1]) * whole - table * n).sum())
        worst = max(worst, Fraction(moved, n * whole * steps))
    return worst
