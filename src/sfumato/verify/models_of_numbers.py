"""Models of sensitive numbers once more, on counts: (k,e)-anonymity, variance control, m-uniqueness.

A group is a Counter of values; a missing value is the value None, and no number.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sfumato.verify.models import Group, Parameters, Unknown, fraction

FIGURES: Mapping[str, set[str]] = {
    "ke-anonymity": {"k", "e"},
    "variance-control": {"t"},
    "m-uniqueness": {"m"},
}
OF_NUMBERS = tuple(FIGURES)
# Figures are floats.
MOST = Fraction(sys.float_info.max)


def of_numbers(groups: Sequence[Group], sizes: Sequence[int], one: Mapping[str, Any]) -> tuple[bool, dict[str, Any]]:
    """Whether the promise holds on groups of so many units, and its figures."""
    model, parameters = one["model"], one["parameters"]
    if model == "m-uniqueness":
        m = min(size if max(group.values()) == 1 else 0 for group, size in zip(groups, sizes, strict=True))
        return m >= whole(parameters, "m"), {"m": m}
    if model == "ke-anonymity":
        k, e = whole(parameters, "k"), not_negative(parameters, "e")
        most, range_ = min(*(len(group) for group in groups), *sizes), least_range(groups)
        return most >= k and range_ >= e and (e == 0 or min(sizes) > 1), {"k": most, "e": min(range_, MOST)}
    t, least = not_negative(parameters, "t"), min(variance(group) for group in groups)
    return least >= t and (t == 0 or min(sizes) > 1), {"t": min(least, MOST)}


def possible(groups: Sequence[Group], sizes: Sequence[int], one: Mapping[str, Any], slack: Fraction) -> bool:
    """What rows of several persons allow at most: all values stay, units are fewer, shares are unknown.

    n numbers between two ends have a variance of at most a quarter of the squared range.
    """
    model, parameters = one["model"], one["parameters"]
    fewest = min(*(len(group) for group in groups), *sizes)
    if model == "m-uniqueness":
        return fewest >= whole(parameters, "m")
    if model == "ke-anonymity":
        k, e = whole(parameters, "k"), not_negative(parameters, "e")
        return fewest >= k and least_range(groups) * slack >= e and (e == 0 or min(sizes) > 1)
    t = not_negative(parameters, "t")
    return least_range(groups) ** 2 * slack >= 4 * t and (t == 0 or min(sizes) > 1)


def number(value: Any) -> Fraction:
    """A published value as an exact number: dates as days, floats as they are written."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | date):
        raise Unknown("a number")
    if isinstance(value, date):
        return Fraction(value.toordinal())
    return Fraction(Decimal(repr(value))) if isinstance(value, float) else Fraction(value)


def least_range(groups: Sequence[Group]) -> Fraction:
    """The smallest distance between the ends of a group's numbers; 0 where it has none."""
    found = []
    for group in groups:
        numbers = sorted(number(value) for value in group if value is not None)
        found.append(numbers[-1] - numbers[0] if numbers else Fraction(0))
    return min(found)


def variance(group: Group) -> Fraction:
    """The mean squared distance of a group's numbers from their mean, each counted as often as it is there."""
    numbers = [(number(value), times) for value, times in group.items() if value is not None]
    if not numbers:
        return Fraction(0)
    scale = math.lcm(*(one.denominator for one, _ in numbers))
    whole_ones = [(int(one * scale), times) for one, times in numbers]
    n = sum(times for _, times in whole_ones)
    total = sum(one * times for one, times in whole_ones)
    return Fraction(sum(times * (n * one - total) ** 2 for one, times in whole_ones), n**3 * scale**2)


def whole(parameters: Parameters, key: str) -> Fraction:
    """A parameter that counts something."""
    found = fraction(parameters[key])
    if found < 1 or found.denominator != 1:
        raise Unknown("a parameter that counts nothing")
    return found


def not_negative(parameters: Parameters, key: str) -> Fraction:
    """A parameter that measures something."""
    found = fraction(parameters[key])
    if found < 0:
        raise Unknown("a parameter that measures nothing")
    return found
