"""What a promise about persons needs at least: conditions that hold in every table where it holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sfumato.verify.models import READINGS, Unknown, fraction
from sfumato.verify.models_of_numbers import OF_NUMBERS, possible
from sfumato.verify.models_of_risk import FIGURES, check_ranges
from sfumato.verify.promises import Judged, reached_keys

SLACK = 1 + Fraction(1, 10**9)
"""Figures of what was achieved are floats."""
AT_LEAST = ("k", "l", "low", "m")
AT_MOST = ("t", "alpha", "c", "threshold", "delta", "beta", "high")


def contradicted(judged: Judged, one: Mapping[str, Any]) -> bool:
    """True when no way to give rows to persons meets the promise, or what it says was achieved.

    `judged` counts rows, or at most so many persons: a group of n rows with m values has 1 to n persons and exactly
    m values, so k ≤ n, l ≤ min(m, n), α ≥ 1 / m, 1 < c(m - l + 1), and t is at least the share of the values that a
    group lacks when each of those has one person.
    """
    model, parameters, told = one["model"], one["parameters"], one["achieved"]
    if set(told) != reached_keys(model, parameters):
        return True
    if model in FIGURES:
        check_ranges(model, parameters)
    loose = {key: fraction(told[key]) for key in told}
    for key, value in loose.items():
        at_least = key in AT_LEAST or model in OF_NUMBERS
        if at_least and value * SLACK < fraction(parameters[key]):
            return True
        if not at_least and key in AT_MOST and value > fraction(parameters[key]) * SLACK:
            return True
    asked = _possible(judged, model, parameters, Fraction(1))
    return not (asked and _possible(judged, model, {**parameters, **loose}, SLACK))


def _possible(judged: Judged, model: str, parameters: Mapping[str, Any], slack: Fraction) -> bool:
    if model == "k-anonymity":
        return min(judged.alike) >= fraction(parameters["k"]) >= 1
    if model == "group-size":
        return min(judged.sizes) >= fraction(parameters["k"]) >= 1
    fewest = min(len(group) for group in judged.groups)
    if model == "l-diversity":
        return _l_possible(fewest, min(judged.sizes), parameters, slack)
    if model == "alpha-k":
        alpha, k = fraction(parameters["alpha"]), fraction(parameters["k"])
        return Fraction(1, fewest) <= alpha * slack <= slack and min(judged.alike) >= k >= 1
    if model in OF_NUMBERS:
        return possible(judged.groups, judged.sizes, {"model": model, "parameters": parameters}, slack)
    if model == "t-closeness":
        return _least_t(judged, parameters.get("distance", "equal")) <= fraction(parameters["t"]) * slack <= slack
    if model == "proximity":
        return min(judged.sizes) * slack >= fraction(parameters["m"]) >= 1
    return _risk_possible(judged, model, parameters, slack)


def _risk_possible(judged: Judged, model: str, parameters: Mapping[str, Any], slack: Fraction) -> bool:
    """A group of n rows has n persons at most, and one row is one person; nothing else is needed here."""
    rows, groups = sum(judged.alike), len(judged.alike)
    least = {"average-risk": groups, "sample-uniqueness": sum(size == 1 for size in judged.alike)}
    if model in least:
        return Fraction(least[model], rows) <= fraction(parameters["threshold"]) * slack <= slack
    if model not in FIGURES:
        raise Unknown("a model")
    return True


def _l_possible(fewest: int, least: int, parameters: Mapping[str, Any], slack: Fraction) -> bool:
    l, kind = fraction(parameters["l"]), parameters.get("kind", "distinct")
    if kind not in READINGS or l < 1:
        raise Unknown("a reading of l-diversity")
    if kind in ("recursive", "distinct") and l.denominator != 1:
        raise Unknown("a fractional l")
    if kind == "recursive" and fraction(parameters["c"]) * (fewest - l + 1) * slack <= 1:
        return False
    return l <= fewest * slack and math.ceil(l / slack) <= least


def _least_t(judged: Judged, kind: str) -> Fraction:
    """Every value that a group lacks is missed with the share of at least one person.

    One step of an order moves 1 / (m − 1), and a hierarchy of h levels takes the mean over h + 1 tables.
    """
    if kind not in ("equal", "ordered", "hierarchical"):
        raise Unknown("a distance")
    parts = {"ordered": len(judged.order) - 1, "hierarchical": len(judged.levels) + 1}.get(kind, 1)
    least = Fraction(0)
    for group in judged.groups:
        absent = len(judged.total) - len(group)
        if absent:
            least = max(least, Fraction(absent, absent + sum(judged.total[value] for value in group)))
    return least / max(1, parts)
