"""Models of shares, risks and populations once more, on counts: δ, β, average risk, uniqueness, k-map, δ-presence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from sfumato.verify.models import Group, Parameters, Unknown, fraction
from sfumato.verify.uniques import share_of_uniques

# What a logarithm in floats may be wrong by.
ERROR = 1e-12
FIGURES: Mapping[str, set[str]] = {
    "delta-disclosure": {"delta"},
    "beta-likeness": {"beta"},
    "average-risk": {"threshold"},
    "sample-uniqueness": {"threshold"},
    "population-uniqueness": {"threshold"},
    "k-map": {"k"},
    "delta-presence": {"low", "high"},
}
MOST = Fraction(10**15)
TINY = Fraction(1, 10**12)
RANGES: Mapping[str, tuple[Fraction, Fraction]] = {
    "delta": (TINY, Fraction(1000)),
    "beta": (TINY, MOST),
    "threshold": (Fraction(0), Fraction(1)),
    "k": (Fraction(1), MOST),
    "low": (Fraction(0), Fraction(1)),
    "high": (Fraction(0), Fraction(1)),
    "significance": (Fraction(0), Fraction(1)),
}
WORDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "beta-likeness": ("kind", ("basic", "enhanced")),
    "population-uniqueness": ("estimate", ("dankar", "pitman", "zayatz", "snb")),
    "k-map": ("estimate", ("poisson", "zero-truncated-poisson")),
}
OF_SHARES = ("delta-disclosure", "beta-likeness")
OF_SIZES = tuple(model for model in FIGURES if model not in OF_SHARES)


def check_ranges(model: str, parameters: Parameters) -> None:
    """Raise `Unknown` where a parameter is not one that the model could have been asked with."""
    known = {key: fraction(value) for key, value in parameters.items() if key in RANGES}
    if any(not low <= known[key] <= high for key, (low, high) in RANGES.items() if key in known):
        raise Unknown("a parameter out of its range")
    words = WORDS.get(model)
    if words is not None and not _by_table(model, parameters) and parameters[words[0]] not in words[1]:
        raise Unknown("a reading")
    whole = [known["k"]] if model == "k-map" else []
    size = parameters.get("population", parameters.get("population_size", "table"))
    whole += [fraction(size)] if size != "table" and fraction(size) > 1 else []
    if any(one.denominator != 1 for one in whole) or (size != "table" and not 0 < fraction(size) <= MOST):
        raise Unknown("a population, or a k, that is no number of persons")


def _by_table(model: str, parameters: Parameters) -> bool:
    """A k-map with a table of the population has no estimate."""
    return model == "k-map" and parameters["population"] == "table"


def undecidable(model: str, parameters: Parameters) -> str:
    """Why the published bytes cannot decide a promise; "" when they can."""
    if model == "delta-presence" or (model == "k-map" and parameters["population"] == "table"):
        return "it counts persons of a population that is not published, so the population is needed to count again"
    if model == "population-uniqueness" and parameters["estimate"] == "snb":
        return "its estimate (snb) is not computed a second time"
    return ""


def plausible(alike: Sequence[int], one: Mapping[str, Any]) -> bool:
    """Whether a promise that cannot be decided is stated in its ranges and achieved what it asks."""
    model, parameters, told = one["model"], one["parameters"], one["achieved"]
    check_ranges(model, parameters)
    if set(told) != FIGURES[model]:
        return False
    if model == "delta-presence":
        ends = [parameters["low"], told["low"], told["high"], parameters["high"]]
        low, *inside, high = (fraction(end) for end in ends)
        return 0 <= low <= inside[0] <= inside[1] <= high <= 1 and inside[1] > 0
    if model == "k-map":
        return fraction(told["k"]) >= fraction(parameters["k"]) >= 1 and fraction(told["k"]) >= min(alike)
    return 0 <= fraction(told["threshold"]) <= fraction(parameters["threshold"]) <= 1


def of_shares(groups: Sequence[Group], total: Group, one: Mapping[str, Any]) -> tuple[bool, dict[str, Any]]:
    """Whether δ-disclosure or β-likeness holds, and the largest logarithm or gain."""
    found = list(_ratios(groups, total))
    parameters = one["parameters"]
    check_ranges(one["model"], parameters)
    if one["model"] == "delta-disclosure":
        delta = fraction(parameters["delta"])
        reached = max(abs(math.log2(ratio)) for ratio, _ in found)
        if delta.denominator == 1:
            bound = Fraction(2) ** int(delta)
            return delta > 0 and all(1 / bound < ratio < bound for ratio, _ in found), {"delta": reached}
        return delta > 0 and reached < float(delta) + ERROR, {"delta": reached}
    beta, kind = fraction(parameters["beta"]), parameters["kind"]
    gain = max(ratio for ratio, _ in found) - 1
    inside = kind == "basic" or all(ratio - 1 <= -math.log(share) + ERROR for ratio, share in found)
    return beta > 0 and gain <= beta and inside, {"beta": gain}


def _ratios(groups: Sequence[Group], total: Group) -> Iterator[tuple[Fraction, Fraction]]:
    """Distinct (share in a group over share in the table, share in the table) of the values that groups have."""
    whole = sum(total.values())
    cells = {(times, sum(group.values()), total[value]) for group in groups for value, times in group.items()}
    for times, size, all_of in cells:
        yield Fraction(times * whole, size * all_of), Fraction(all_of, whole)


def of_sizes(alike: Sequence[int], one: Mapping[str, Any]) -> tuple[bool, dict[str, Any]]:
    """Whether a risk or an estimated k-map holds on groups of these sizes, and its figure."""
    model, parameters = one["model"], one["parameters"]
    check_ranges(model, parameters)
    if model == "k-map":
        return _k_map(alike, parameters)
    threshold = fraction(parameters["threshold"])
    if model == "average-risk":
        figure: Any = Fraction(len(alike), sum(alike))
    elif model == "sample-uniqueness":
        figure = Fraction(sum(size == 1 for size in alike), sum(alike))
    else:
        figure = share_of_uniques(Counter(alike), parameters["estimate"], _population(alike, parameters))
        return figure - ERROR <= threshold <= 1, {"threshold": figure}
    return figure <= threshold <= 1, {"threshold": figure}


def _population(alike: Sequence[int], parameters: Parameters) -> int:
    size = fraction(parameters["population_size"])
    if size > 1 and size.denominator == 1 and size >= sum(alike):
        return int(size)
    if not 0 < size <= 1:
        raise Unknown("a population")
    return math.floor(sum(alike) / size + Fraction(1, 2))


def _k_map(alike: Sequence[int], parameters: Parameters) -> tuple[bool, dict[str, Any]]:
    k, size, level = (fraction(parameters[key]) for key in ("k", "population", "significance"))
    n, smallest, estimate = sum(alike), min(alike), parameters["estimate"]
    if estimate not in ("poisson", "zero-truncated-poisson") or not 0 < level < 1 or k < 1 or k.denominator != 1:
        raise Unknown("an estimate of k-map")
    if size <= 0 or (size > 1 and n > size):
        raise Unknown("a population")
    share = float(size if size <= 1 else n / size)

    def met(asked: int) -> bool:
        return asked <= smallest or _likely(smallest, asked * share, estimate != "poisson") >= 1 - float(level) - ERROR

    low, step = smallest, 1
    while met(low + step):
        low, step = low + step, 2 * step
    while step > 1:
        step //= 2
        low += step if met(low + step) else 0
    return met(int(k)), {"k": low}


def _likely(size: int, mean: float, truncated: bool) -> float:
    """P(X ≤ size − 2) of a Poisson count, or P(X ≤ size − 1) of one that is not 0."""
    first, last = (1, size - 1) if truncated else (0, size - 2)
    terms = (math.exp(i * math.log(mean) - mean - math.lgamma(i + 1)) for i in range(first, last + 1))
    return math.fsum(terms) / (-math.expm1(-mean) if truncated else 1)
