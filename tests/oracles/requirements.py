"""Slow twins of the requirements: pure Python on lists of rows, straight from the definitions, in exact fractions."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

Row = tuple[Hashable, int, Hashable]
"""(group, value, unit)"""


def persons(rows: Iterable[Row]) -> dict[Hashable, int]:
    """Distinct units per group."""
    seen: dict[Hashable, set[Hashable]] = defaultdict(set)
    for group, _, unit in rows:
        seen[group].add(unit)
    return {group: len(units) for group, units in seen.items()}


def histograms(rows: Iterable[Row]) -> dict[Hashable, Counter[int]]:
    """Distinct units per value in every group."""
    seen = {(group, value, unit) for group, value, unit in rows}
    found: dict[Hashable, Counter[int]] = defaultdict(Counter)
    for group, value, _ in seen:
        found[group][value] += 1
    return found


def whole(rows: Iterable[Row]) -> Counter[int]:
    """Distinct units per value in the whole table."""
    return Counter(value for value, _ in {(value, unit) for _, value, unit in rows})


def k_anonymous(rows: Sequence[Row], k: int) -> bool:
    return all(n >= k for n in persons(rows).values())


def distinct_diverse(rows: Sequence[Row], l: int) -> bool:
    sizes = persons(rows)
    return all(len(h) >= l and sizes[g] >= l for g, h in histograms(rows).items())


def entropy_diverse(rows: Sequence[Row], l: Fraction) -> bool:
    """exp(entropy) ≥ l ⇔ n^n ≥ l^n · Π c^c."""
    sizes = persons(rows)

    def met(h: Counter[int]) -> bool:
        n = sum(h.values())
        return Fraction(n) ** n >= l**n * math.prod(c**c for c in h.values())

    return all(met(h) and sizes[g] >= l for g, h in histograms(rows).items())


def recursively_diverse(rows: Sequence[Row], l: int, c: Fraction) -> bool:
    sizes = persons(rows)

    def met(h: Counter[int]) -> bool:
        falling = sorted(h.values(), reverse=True)
        return falling[0] < c * sum(falling[l - 1 :])

    least = l - 1 + math.floor(1 / c) + 1
    return all(met(h) and sizes[g] >= least for g, h in histograms(rows).items())


def frequency_diverse(rows: Sequence[Row], l: Fraction) -> bool:
    sizes = persons(rows)
    return all(max(h.values()) * l <= sizes[g] for g, h in histograms(rows).items())


def alpha_k_anonymous(rows: Sequence[Row], alpha: Fraction, k: int) -> bool:
    sizes = persons(rows)
    return all(max(h.values()) <= alpha * sizes[g] and sizes[g] >= k for g, h in histograms(rows).items())


def shares(h: Counter[int], m: int) -> list[Fraction]:
    total = sum(h.values())
    return [Fraction(h[v], total) for v in range(m)]


def equal_distance(p: Sequence[Fraction], q: Sequence[Fraction]) -> Fraction:
    return sum((abs(a - b) for a, b in zip(p, q, strict=True)), Fraction(0)) / 2


def ordered_distance(p: Sequence[Fraction], q: Sequence[Fraction]) -> Fraction:
    """Li et al. 2007, equation of §4.2: 1/(m−1) Σ_i |Σ_{j≤i} r_j|."""
    m = len(p)
    if m == 1:
        return Fraction(0)
    running, total = Fraction(0), Fraction(0)
    for a, b in list(zip(p, q, strict=True)):
        running += a - b
        total += abs(running)
    return total / (m - 1)


def hierarchical_distance(p: Sequence[Fraction], q: Sequence[Fraction], levels: Sequence[Sequence[int]]) -> Fraction:
    """Li et al. 2007, §4.3: Σ over inner nodes of height/H · min(positive extra, negative extra) of the children."""
    m = len(p)
    height = len(levels) + 1
    rows = [list(range(m)), *[list(level) for level in levels], [0] * m]
    total = Fraction(0)
    for h in range(1, height + 1):
        for node in set(rows[h]):
            children = {rows[h - 1][v] for v in range(m) if rows[h][v] == node}
            extra = [
                sum((p[v] - q[v] for v in range(m) if rows[h - 1][v] == child and rows[h][v] == node), Fraction(0))
                for child in children
            ]
            up, down = sum(max(e, Fraction(0)) for e in extra), sum(max(-e, Fraction(0)) for e in extra)
            total += Fraction(h, height) * min(up, down)
    return total


def moved_by_linear_programme(p: Sequence[Fraction], q: Sequence[Fraction], cost: np.ndarray[Any, Any]) -> float:
    """The earth mover's distance from its definition: cheapest transport of p onto q."""
    from scipy.optimize import linprog

    m = len(p)
    leave = np.kron(np.eye(m), np.ones(m))
    arrive = np.kron(np.ones(m), np.eye(m))
    wanted = [float(x) for x in [*p, *q]]
    solved = linprog(cost.ravel(), A_eq=np.vstack([leave, arrive]), b_eq=wanted)
    return float(solved.fun)


def furthest(rows: Sequence[Row], m: int, distance: str, levels: Sequence[Sequence[int]]) -> Fraction:
    """The largest distance of a group from the whole table."""
    q = shares(whole(rows), m)
    found = []
    for h in histograms(rows).values():
        p = shares(h, m)
        if distance == "equal":
            found.append(equal_distance(p, q))
        elif distance == "ordered":
            found.append(ordered_distance(p, q))
        else:
            found.append(hierarchical_distance(p, q, levels))
    return max(found)


def ratios(rows: Sequence[Row]) -> list[tuple[Fraction, Fraction]]:
    """(share in the group over share in the table, share in the table) of every value that a group has."""
    table = whole(rows)
    n = sum(table.values())
    return [
        (Fraction(c, sum(h.values())) / Fraction(table[v], n), Fraction(table[v], n))
        for h in histograms(rows).values()
        for v, c in h.items()
    ]


def delta_disclosed(rows: Sequence[Row], delta: Fraction) -> bool:
    """|log₂ r| < p/q ⇔ 2^−p < r^q < 2^p."""
    p, q = delta.numerator, delta.denominator
    return all(Fraction(1, 2**p) < r**q < 2**p for r, _ in ratios(rows))


def beta_like(rows: Sequence[Row], beta: Fraction, kind: str) -> bool:
    def met(r: Fraction, share: Fraction) -> bool:
        with localcontext() as context:
            context.prec = 120
            logarithm = (Decimal(share.denominator) / Decimal(share.numerator)).ln()
            inside = kind == "basic" or Decimal(r.numerator) <= Decimal(r.denominator) * (1 + logarithm)
        return r - 1 <= beta and inside

    return all(met(r, share) for r, share in ratios(rows))


def average_risk(sizes: Sequence[int]) -> Fraction:
    """The mean over units of one over the size of their group."""
    risks = [Fraction(1, size) for size in sizes for _ in range(size)]
    return sum(risks, Fraction(0)) / len(risks)


def sample_uniqueness(sizes: Sequence[int]) -> Fraction:
    alone = [size == 1 for size in sizes for _ in range(size)]
    return Fraction(sum(alone), len(alone))


def zayatz(sizes: Sequence[int], population: int) -> Fraction:
    """Share of the population: sample uniques that come from population uniques, by Bayes, over the sampled share."""
    n, groups = sum(sizes), Counter(sizes)

    def one_hit(size: int) -> Fraction:
        """A group of so many in the population has one unit in the sample (hypergeometric)."""
        return Fraction(size * math.comb(population - size, n - 1), math.comb(population, n))

    total = sum((Fraction(times, len(sizes)) * one_hit(size) for size, times in groups.items()), Fraction(0))
    unique = Fraction(groups[1], len(sizes)) * one_hit(1) / total
    return groups[1] * unique / Fraction(n, population) / population


def pitman_log_likelihood(sizes: Sequence[int], theta: float, alpha: float) -> float:
    """Logarithm of Pitman's sampling formula, factors without parameters left out."""
    found = sum(math.log(theta + i * alpha) for i in range(1, len(sizes)))
    found -= sum(math.log(theta + i) for i in range(1, sum(sizes)))
    return found + sum(math.log(j - alpha) for size in sizes for j in range(1, size))


def slide_expected(groups: float, share: float, alpha: float, beta: float) -> tuple[float, float]:
    """Expected groups of one and of two in the sample, when sizes − 1 in the population are negative binomial."""
    ones = twos = 0.0
    weight = beta**alpha
    for size in range(1, 4000):
        ones += weight * size * share * (1 - share) ** (size - 1)
        twos += weight * math.comb(size, 2) * share**2 * (1 - share) ** max(size - 2, 0)
        weight *= (alpha + size - 1) / size * (1 - beta)
    return groups * ones, groups * twos


def k_map_needs(k: int, share: float, truncated: bool, significance: float) -> int:
    """Counted up one by one, with SciPy's Poisson distribution."""
    from scipy.stats import poisson

    law = poisson(k * share)
    reached, count = (law.pmf(0), 0) if not truncated else (law.pmf(1) / law.sf(0), 1)
    while reached < 1 - significance and count < k:
        count += 1
        reached += law.pmf(count) / (law.sf(0) if truncated else 1)
    return min(k, count + (1 if truncated else 2))
