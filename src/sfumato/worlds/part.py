"""What every primitive's outcomes can do, from a few pieces that independent blocks can share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.contracts import Worlds
from sfumato.outcomes import Caps, Extreme, RowMap, Sampled, Sense
from sfumato.worlds.caps import Steps, assembled
from sfumato.worlds.containment import Demand

if TYPE_CHECKING:
    from typing import Self

    from sfumato.chance import Chance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEW = 128
"""Counts up to this need 64 Gauss nodes to be exact: the integrand is a polynomial of lower degree than 128."""


class Primitive(Worlds, Protocol):
    """Worlds that can be a block among others: what they ask of rows, and outcomes made of shared pieces."""

    def outcomes(self, rows: RowMap) -> Part:
        """Answerable facts of a row map."""
        ...

    def demands(self) -> tuple[Demand, ...]:
        """What `contains` must serve."""
        ...


class Part(ABC):
    """Outcomes of independent blocks: `caps` and `average` follow from pieces that add or multiply over blocks."""

    n_keys: int

    @abstractmethod
    def widened(self, n_keys: int) -> Self:
        """The same facts over more keys (a later block met new ones)."""

    @abstractmethod
    def moments(self, weights: Sequence[tuple[int, bool]]) -> tuple[Floats, Floats]:
        """Mean (M, K) and within-key covariance (M, M, K)."""

    @abstractmethod
    def cross(self, weight: tuple[int, bool]) -> Floats:
        """Covariance across keys (K, K)."""

    @abstractmethod
    def extreme(self, j: int, slope: float, shift: Floats, sense: Sense) -> tuple[Extreme, bool]:
        """Optimum over worlds of Σ (slope·v_j + shift_κ), per key."""

    @abstractmethod
    def log_cf(self, j: int, key: int, omega: Floats) -> tuple[Floats, Floats] | None:
        """Characteristic function of count j of one key, as log-modulus and argument."""

    @abstractmethod
    def spread(self, j: int, key: int) -> float:
        """Variance of a part of count j that is a sum of independent 0/1 terms: |φ(ω)| ≤ exp(−2·spread·sin²(ω/2))."""

    @abstractmethod
    def lone(self, j: int) -> bool:
        """Where no row need be counted: is there a world that counts any one value of j by itself?"""

    @abstractmethod
    def generating(self, j: int, key: int, t: Floats) -> tuple[Floats, Floats] | None:
        """log G(t), G(t) = E[t^N], and E[S·t^(N−1)] / G(t), of count N and sum S of argument j; t > 0."""

    @abstractmethod
    def log_absent(self, j: int) -> Floats | None:
        """log P(count j of κ = 0) per key."""

    @abstractmethod
    def steps(self, j: int, sense: Sense) -> Steps:
        """Pieces of `caps`."""

    @abstractmethod
    def sample(self, n_worlds: int, chance: Chance) -> Sampled:
        """The aggregates in sampled worlds."""

    def absent(self, j: int) -> Floats | None:
        """P(count j of κ = 0) per key."""
        found = self.log_absent(j)
        return None if found is None else np.exp(found)

    def caps(self, j: int, sense: Sense) -> Caps:
        """What is needed for MIN and MAX."""
        return assembled(self.steps(j, sense), self.n_keys, sense)

    @cached_property
    def _count_facts(self) -> dict[int, tuple[Floats, Floats, Floats, Floats]]:
        return {}

    def count_facts(self, j: int) -> tuple[Floats, Floats, Floats, Floats]:
        """Mean, variance, least and most of count j, each (K,)."""
        if j not in self._count_facts:
            ones = np.ones(self.n_keys)
            mean, covariance = self.moments([(j, False)])
            low, high = self.extreme(j, 0.0, ones, "min")[0].value, self.extreme(j, 0.0, ones, "max")[0].value
            self._count_facts[j] = (mean[0], covariance[0, 0], low, high)
        return self._count_facts[j]

    def average(self, j: int) -> Floats | None:
        """E[S/N | N ≥ 1] = ∫₀¹ E[S·t^(N−1)] dt / P(N ≥ 1), by Gauss-Legendre nodes."""
        mean, covariance = self.moments([(j, False), (j, True)])
        log_absent = self.log_absent(j)
        if log_absent is None:
            return None
        most = self.count_facts(j)[3]
        found = np.full(self.n_keys, np.nan)
        fixed = (covariance[0, 0] <= 0) & (mean[0] > 0)
        found[fixed] = mean[1, fixed] / mean[0, fixed]
        for key in np.flatnonzero((mean[0] > 0) & ~fixed).tolist():
            integral = self._integral(j, key, float(mean[0, key]), float(most[key]))
            if integral is None:
                return None
            found[key] = integral / -np.expm1(log_absent[key])
        return found

    def _integral(self, j: int, key: int, mean: float, most: float) -> float | None:
        nodes, weights = _NODES[64 if most <= FEW else 256]
        low = 0.0 if most <= FEW else max(0.0, 1 - 60 / mean)
        while True:
            t = low + (1 - low) * nodes
            found = self.generating(j, key, t)
            if found is None:
                return None
            # Mass below `low` is left out: go down until it is nothing.
            if low == 0.0 or found[0][0] < -45:
                return float(np.sum(weights * np.exp(found[0]) * found[1]) * (1 - low))
            low = max(0.0, 1 - 2 * (1 - low))


def _unit_nodes(n: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return (nodes + 1) / 2, weights / 2


class _Nodes(dict[int, tuple[Floats, Floats]]):
    def __missing__(self, n: int) -> tuple[Floats, Floats]:
        self[n] = _unit_nodes(n)
        return self[n]


_NODES = _Nodes()
