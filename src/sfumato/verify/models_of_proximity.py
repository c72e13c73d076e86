"""Proximity once more: around every value of a group, count what lies near, in fractions."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from sfumato.verify.models import Group, Parameters, Unknown, fraction


def of_proximity(groups: Sequence[Group], sizes: Sequence[int], parameters: Parameters) -> tuple[bool, dict[str, Any]]:
    """Whether no neighbourhood holds more than 1/m of a group, and the largest m for which that is so."""
    m, relative = fraction(parameters["m"]), parameters.get("relative", False)
    below, above = _distances(parameters)
    if m < 1 or m.denominator != 1 or not isinstance(relative, bool) or min(below, above) < 0:
        raise Unknown("a neighbourhood")
    if relative and (below > 1 or "epsilon" not in parameters):
        raise Unknown("a relative neighbourhood")
    known = {value: _number(value, relative) for group in groups for value in group if value is not None}
    reached = min(
        size // _crowd(group, known, (below, above, relative), size) for group, size in zip(groups, sizes, strict=True)
    )
    return reached >= m, {"m": reached}


def _distances(parameters: Parameters) -> tuple[Fraction, Fraction]:
    """ε on both sides, or e1 below and e2 above, not both."""
    told = {key for key in ("epsilon", "e1", "e2") if parameters.get(key) is not None}
    if told == {"epsilon"}:
        return (fraction(parameters["epsilon"]),) * 2
    if told != {"e1", "e2"}:
        raise Unknown("a neighbourhood")
    return fraction(parameters["e1"]), fraction(parameters["e2"])


def _number(value: Any, relative: bool) -> Fraction:
    """A published value as the number it is written as; a date as its day."""
    if isinstance(value, datetime.date) and not relative:
        return Fraction(value.toordinal())
    if isinstance(value, bool | str | datetime.date):
        raise Unknown("a value that is no number")
    found = Fraction(str(value))
    if relative and found < 0:
        raise Unknown("a negative value with a relative neighbourhood")
    return found


def _crowd(group: Group, known: Mapping[Any, Fraction], near: tuple[Fraction, Fraction, bool], size: int) -> int:
    """The most persons in the neighbourhood of one value; two ends that only move up."""
    below, above, relative = near
    rising = sorted((known[value], times) for value, times in group.items() if value is not None)
    most, inside, first, after = group.get(None, 0), 0, 0, 0
    for number, _ in rising:
        low = number * (1 - below) if relative else number - below
        high = number * (1 + above) if relative else number + above
        while after < len(rising) and rising[after][0] <= high:
            inside += rising[after][1]
            after += 1
        while rising[first][0] < low:
            inside -= rising[first][1]
            first += 1
        most = max(most, inside)
    return min(most, size)
