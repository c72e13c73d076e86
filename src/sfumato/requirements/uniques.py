"""How many persons are unique in a population, estimated from how many groups of each size a sample has.

Every estimator takes a histogram and the population's size and gives the estimated share of the population that is
unique there, NaN where it has no solution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
System = Callable[[float, float], tuple[Floats, Floats]]

# A point is a solution from this accuracy on; so many more steps polish it.
_ACCURACY, _STEPS, _POLISHED = 1e-6, 40, 8
_STARTS = tuple((0.33 * i, 0.33 * j) for i in range(4) for j in range(4))


@dataclass(frozen=True, eq=False)
class Histogram:
    """`times[i]` groups have `sizes[i]` units each; sizes rise."""

    sizes: Ints
    times: Ints

    @classmethod
    def of(cls, sizes: Ints) -> Histogram:
        """Of the groups' sizes, those without units left out."""
        return cls(*(part.astype(np.int64) for part in np.unique(sizes[sizes > 0], return_counts=True)))

    @property
    def n_units(self) -> int:
        """Units in all groups."""
        return int((self.sizes * self.times).sum())

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.times.sum())

    def of_size(self, size: int) -> int:
        """Groups with so many units."""
        return int(self.times[self.sizes == size].sum())


def zayatz(sample: Histogram, population: int) -> float:
    """c₁² / (n · Σ_s c_s · s · w_s) with w_s = Π_{i<s−1} (N − n − i) / (N − 1 − i).

    A sample unique comes from a population unique with the probability c₁ / Σ c_s s w_s, as if the population had as
    many groups of each size as the sample: hypergeometric probabilities of one hit in n of N (Zayatz 1991).
    """
    ones, units = sample.of_size(1), sample.n_units
    step = np.arange(max(int(sample.sizes.max()) - 1, 0), dtype=np.float64)
    missed = np.maximum(population - units - step, 0) / np.maximum(population - 1 - step, 1)
    weight = np.concatenate([[1.0], np.cumprod(missed)])[sample.sizes - 1]
    return ones**2 / (units * float((sample.times * sample.sizes * weight).sum()))


def pitman(sample: Histogram, population: int) -> float:
    """Γ(θ + 1) / Γ(θ + α) · N^α / N with the most likely θ and α of Pitman's sampling formula (Hoshino 2001)."""
    from scipy.special import gammaln

    theta, alpha = solved(_likelihood(sample), [_moments(sample), *_STARTS], lambda theta, alpha: theta >= 0)
    if math.isnan(theta) or alpha == 0 or theta + alpha <= 0:
        return math.nan
    logarithm = float(gammaln(theta + 1) - gammaln(theta + alpha)) + alpha * math.log(population)
    uniques = math.exp(logarithm) if logarithm < 700 else math.inf
    return uniques / population if uniques <= population else math.nan


def snb(sample: Histogram, population: int) -> float:
    """K · β^α / N, the slide negative binomial that meets c₁ and c₂ (Chen, Keller-McNulty 1998).

    K, the number of groups in the population, is Shlosser's estimate (Haas, Stokes 1998).
    """
    ones, twos, units = sample.of_size(1), sample.of_size(2), sample.n_units
    share = units / population
    if share >= 1:
        return ones / units
    groups = _shlosser(sample, share)
    starts = [(1.0, 1.0), *((a + 0.01, b + 0.005) for a, b in _STARTS)]
    alpha, beta = solved(_slide(groups, share, ones, twos), starts, lambda alpha, beta: alpha > 0 and 0 < beta < 1)
    return groups * beta**alpha / population if not math.isnan(alpha) else math.nan


def dankar(sample: Histogram, population: int) -> float:
    """Pitman where at most a tenth of the population is in the sample, else Zayatz (Dankar et al. 2012).

    Above a tenth the rule takes the smaller of Zayatz and SNB; the larger one is never looser.
    """
    return (pitman if 10 * sample.n_units <= population else zayatz)(sample, population)


ESTIMATORS: Mapping[str, Callable[[Histogram, int], float]] = {
    "dankar": dankar,
    "pitman": pitman,
    "zayatz": zayatz,
    "snb": snb,
}


def solved(system: System, starts: list[tuple[float, float]], allowed: Callable[[float, float], bool]) -> Floats:
    """Where both functions vanish, by Newton's method from the first start that gets there; NaN when none does."""
    with np.errstate(all="ignore"):
        for start in starts:
            near = (point for point, value in _newton(system, start, allowed) if np.abs(value).max() <= _ACCURACY)
            found = list(islice(near, _POLISHED))
            if found:
                return found[-1]
    return np.full(2, math.nan)


def _newton(
    system: System, start: tuple[float, float], allowed: Callable[[float, float], bool]
) -> Iterator[tuple[Floats, Floats]]:
    """Points and values while they are numbers, the slope can be inverted and points are allowed."""
    point = np.array(start)
    for _ in range(_STEPS):
        value, slope = system(float(point[0]), float(point[1]))
        if not (np.isfinite(value).all() and np.isfinite(slope).all()) or np.linalg.det(slope) == 0:
            return
        yield point, value
        point = point - np.linalg.solve(slope, value)
        if not np.isfinite(point).all() or not allowed(float(point[0]), float(point[1])):
            return


def _moments(sample: Histogram) -> tuple[float, float]:
    """θ and α from c₁ and c₂, where Newton's method begins."""
    n, u, c1 = sample.n_units, sample.n_groups, sample.of_size(1)
    c = c1 * (c1 - 1) / (sample.of_size(2) or 1)
    below = 2 * c1 * u + c1 * c - n * c
    theta = (n * u * c - c1 * (n - 1) * (2 * u + c)) / below if below else math.nan
    return theta, (theta * (c1 - n) + (n - 1) * c1) / (n * u)


def _likelihood(sample: Histogram) -> System:
    """Slope of the logarithm of Pitman's formula in θ and α, and its slopes."""
    from scipy.special import psi

    n, group = sample.n_units, np.arange(1, sample.n_groups, dtype=np.float64)

    def system(theta: float, alpha: float) -> tuple[Floats, Floats]:
        each = 1 / (theta + alpha * group)
        ahead = group * each
        times, sizes = sample.times, sample.sizes
        value = [
            each.sum() - (psi(n + theta) - psi(theta + 1)),
            ahead.sum() - (times * (psi(sizes - alpha) - psi(1 - alpha))).sum(),
        ]
        both = -_dot(ahead, each)
        ends = _trigamma(np.array([theta + 1, n + theta]))
        first = float(ends[0] - ends[1]) - _dot(each, each)
        bent = _trigamma(np.append(1 - alpha, sizes - alpha).astype(np.float64))
        inside = (times * (bent[0] - bent[1:])).sum()
        return np.array(value), np.array([[first, both], [both, -_dot(ahead, ahead) - inside]])

    return system


def _dot(one: Floats, other: Floats) -> float:
    """Σ one·other, without the threads that a matrix product would wake."""
    return float(np.einsum("i,i->", one, other))


def _trigamma(x: Floats) -> Floats:
    """Σ_{i≥0} 1/(x + i)²: ten terms, then the asymptotic series, which is exact to 13 digits from there on."""
    if (x <= 0).any():
        from scipy.special import polygamma

        return np.asarray(polygamma(1, x), dtype=np.float64)
    found, y = np.zeros(len(x)), x + 10.0
    for i in range(10):
        found += 1 / (x + i) ** 2
    z = 1 / y**2
    series = 1 / 6 - z * (1 / 30 - z * (1 / 42 - z * (1 / 30 - z * 5 / 66)))
    return np.asarray(found + 1 / y + z / 2 + z / y * series, dtype=np.float64)


def _shlosser(sample: Histogram, share: float) -> float:
    """Groups in the population: d + c₁ · Σ s f²(1 − f²)^{s−1} c_s / Σ (1−f)^s((1+f)^s − 1) c_s · (Σ…/Σ…)²."""
    sizes, times, rest = sample.sizes.astype(np.float64), sample.times, 1 - share
    first = (sizes * share**2 * (1 - share**2) ** (sizes - 1) * times).sum()
    second = (((1 - share**2) ** sizes - rest**sizes) * times).sum()
    third, fourth = (rest**sizes * times).sum(), (sizes * share * rest ** (sizes - 1) * times).sum()
    return sample.n_groups + sample.of_size(1) * float(first / second * (third / fourth) ** 2)


def _slide(groups: float, share: float, ones: int, twos: int) -> System:
    """Expected groups of one and of two units less those of the sample, and their slopes in α and β.

    With q = (1 − f)(1 − β), r = 1 − q and z = (β/r)^α: K f z (αq/r + 1) and K f² α z (1 − β) (2 − (1 − α) q) / 2r².
    """

    def system(alpha: float, beta: float) -> tuple[Floats, Floats]:
        q, rest = (1 - share) * (1 - beta), 1 - share
        r = 1 - q
        z = (beta / r) ** alpha if beta > 0 else math.nan
        in_alpha, in_beta = math.log(beta / r) if beta > 0 else math.nan, alpha * share / (beta * r)
        one = groups * share * z
        inner = alpha * q / r + 1
        two = groups * share**2 * z * (1 - beta) / (2 * r**2)
        outer = alpha * (2 - (1 - alpha) * q)
        value = [one * inner - ones, two * outer - twos]
        log_two = in_beta - 1 / (1 - beta) - 2 * rest / r if beta != 1 else math.nan
        slopes = [
            [one * (in_alpha * inner + q / r), one * (in_beta * inner - alpha * rest / r**2)],
            [two * (in_alpha * outer + 2 - q + 2 * alpha * q), two * (log_two * outer + alpha * (1 - alpha) * rest)],
        ]
        return np.array(value), np.array(slopes)

    return system
