"""Slow twins of the models of sensitive numbers, straight from the definitions on lists of rows."""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Row = tuple[Hashable, Any, Hashable]
"""(group, value or None, unit)"""


def members(rows: Iterable[Row]) -> list[list[tuple[Any, Hashable]]]:
    """The distinct (value, unit) of every group."""
    found: dict[Hashable, set[tuple[Any, Hashable]]] = {}
    for group, value, unit in rows:
        found.setdefault(group, set()).add((value, unit))
    return [list(one) for one in found.values()]


def exact(value: Any) -> Fraction:
    return Fraction(value.toordinal()) if isinstance(value, datetime.date) else Fraction(str(value))


def numbers(group: Sequence[tuple[Any, Hashable]]) -> list[Fraction]:
    return [exact(value) for value, _ in group if value is not None]


def units(group: Sequence[tuple[Any, Hashable]]) -> int:
    return len({unit for _, unit in group})


def ke_anonymous(rows: Sequence[Row], k: int, e: Fraction) -> bool:
    """k different values and units; some two numbers at least e apart."""

    def met(group: Sequence[tuple[Any, Hashable]]) -> bool:
        far = e == 0 or any(abs(a - b) >= e for a, b in combinations(numbers(group), 2))
        return far and len({value for value, _ in group}) >= k and units(group) >= (max(k, 2) if e else k)

    return all(met(group) for group in members(rows))


def variance(found: Sequence[Fraction]) -> Fraction:
    if not found:
        return Fraction(0)
    mean = sum(found, Fraction(0)) / len(found)
    return sum(((x - mean) ** 2 for x in found), Fraction(0)) / len(found)


def variance_controlled(rows: Sequence[Row], t: Fraction) -> bool:
    return all(variance(numbers(g)) >= t and (t == 0 or units(g) > 1) for g in members(rows))


def m_unique(rows: Sequence[Row], m: int) -> bool:
    def met(group: Sequence[tuple[Any, Hashable]]) -> bool:
        alike = any(a[0] == b[0] and a[1] != b[1] for a, b in combinations(group, 2))
        return units(group) >= m and not alike

    return all(met(group) for group in members(rows))


def breach(values: Sequence[Any], epsilon: Fraction) -> Fraction:
    """The greatest risk of proximity breach in one group: the share of tuples within epsilon of one of them."""
    found = [exact(value) for value in values]
    return max(Fraction(sum(abs(y - x) <= epsilon for y in found), len(found)) for x in found)
