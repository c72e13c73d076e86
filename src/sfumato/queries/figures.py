"""Aggregates of every group over all worlds: estimate, hard bounds, chance of NULL, quantiles, and their routes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import Unanswerable
from sfumato.queries.extremes import average_bound, extremum_bounds, sum_bound
from sfumato.queries.lift import Aggregate
from sfumato.queries.sampled import average_by_ratio, mean_of, order_statistic, weighted_quantile
from sfumato.worlds.laws import law, quantile

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.outcomes import Law, Outcomes, Sampled, Sense

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
MOST_CELLS = 20_000_000
FEWEST_WORLDS = 100


@dataclass(eq=False)
class Fact:
    """One number per group, shape (K,): conditional on not NULL, NaN where it is NULL in every world.

    `exact`: the estimate is the expectation under the prior; `attained`: some worlds have `lo` and `hi`;
    `null`: P(NULL), where a group that is not there has COUNT 0 and everything else NULL.
    """

    estimate: Floats
    lo: Floats
    hi: Floats
    exact: Bools
    attained: Bools
    null: Floats
    may_be_null: Bools
    route: str
    quantile: Callable[[float], Floats]

    @property
    def certain(self) -> bool:
        """One value (or NULL) in all worlds, for every group."""
        same = (self.lo == self.hi) & ~self.may_be_null
        return bool((same | np.isnan(self.lo)).all())


@dataclass(eq=False)
class Figures:
    """Facts about the aggregates of one query, each computed once and only when asked for."""

    outcomes: Outcomes
    n_worlds: int
    chance: Chance
    whole: Callable[[int], bool]
    """Are all numbers of a value column whole?"""
    _facts: dict[Aggregate, Fact] = field(default_factory=dict)
    _laws: dict[tuple[int, int], Law | None] = field(default_factory=dict)
    _counts: dict[tuple[int, Sense], tuple[Floats, Floats, bool]] = field(default_factory=dict)
    _absent: dict[int, tuple[Floats, Bools]] = field(default_factory=dict)
    drawn: bool = False

    @property
    def n_keys(self) -> int:
        """Number of groups."""
        return self.outcomes.n_keys

    @cached_property
    def sampled(self) -> Sampled:
        """Aggregates in sampled worlds, drawn once for the whole query."""
        fewest = min(FEWEST_WORLDS, self.n_worlds)
        if self.n_keys * fewest > MOST_CELLS:
            raise Unanswerable(
                f"This query needs sampled worlds, and {self.n_keys} groups in {fewest} worlds are too many. "
                "Group by less, keep fewer groups with WHERE, or ask for COUNT alone."
            )
        self.drawn = True
        return self.outcomes.sample(self.n_drawn, self.chance)

    @property
    def n_drawn(self) -> int:
        """How many worlds are drawn: fewer when there are many groups."""
        most = MOST_CELLS // max(self.n_keys, 1)
        return max(min(self.n_worlds, most), min(FEWEST_WORLDS, self.n_worlds))

    def fact(self, aggregate: Aggregate) -> Fact:
        """Everything about one aggregate."""
        if aggregate not in self._facts:
            make = {"count": self._count, "sum": self._sum, "avg": self._average}.get(aggregate.measure)
            self._facts[aggregate] = make(aggregate.j) if make else self._extremum(aggregate)
        return self._facts[aggregate]

    def count_extreme(self, j: int, sense: Sense) -> tuple[Floats, Floats, bool]:
        """Least or largest count per group, the sum in a world that has it, and whether it is attained."""
        if (j, sense) not in self._counts:
            found, attained = self.outcomes.extreme(j, 0.0, np.ones(self.n_keys), sense)
            self._counts[j, sense] = found.value, found.sum, attained
        return self._counts[j, sense]

    def n_elsewhere(self) -> int:
        """How many rows some world has in a group that no listed value makes."""
        widened = self.outcomes.widened(self.n_keys + 1)
        return int(widened.extreme(-1, 0.0, np.ones(self.n_keys + 1), "max")[0].value[-1])

    def mean(self, j: int, summed: bool) -> Floats:
        """Expected count or sum, 0 for a group without rows."""
        found: Floats = self.outcomes.moments([(j, summed)])[0][0]
        return found

    def law(self, j: int, key: int) -> Law | None:
        """The law of a count, where it is known."""
        if (j, key) not in self._laws:
            outcomes: Any = self.outcomes
            self._laws[j, key] = law(outcomes, j, key)
        return self._laws[j, key]

    def absent(self, j: int) -> tuple[Floats, Bools]:
        """P(nothing is counted) per group, and where that is exact."""
        if j not in self._absent:
            self._absent[j] = self._absence(j)
        return self._absent[j]

    def _absence(self, j: int) -> tuple[Floats, Bools]:
        found = self.outcomes.absent(j)
        if found is not None:
            return np.clip(found, 0.0, 1.0), np.ones(self.n_keys, dtype=bool)
        least, most = self.count_extreme(j, "min")[0], self.count_extreme(j, "max")[0]
        chance = np.where(most <= 0, 1.0, 0.0)
        exact = (least >= 1) | (most <= 0)
        for key in np.flatnonzero(~exact):
            known = self.law(j, int(key))
            if known is not None:
                chance[key] = known.pmf[0] if known.offset == 0 else 0.0
                exact[key] = True
        if not exact.all():
            none = (self.counts_in_worlds(j) == 0).mean(axis=0)
            chance = np.where(exact, chance, none)
        return chance, exact

    def counts_in_worlds(self, j: int) -> Floats:
        """Counts in the sampled worlds, shape (W, K)."""
        return self.sampled.rows if j < 0 else self.sampled.count[:, :, j]

    def in_worlds(self, aggregate: Aggregate) -> Floats:
        """One aggregate in the sampled worlds, shape (W, K); NaN where it is NULL."""
        count = self.counts_in_worlds(aggregate.j)
        if aggregate.measure == "count":
            return count
        if aggregate.measure in ("min", "max"):
            drawn = self.sampled.minimum if aggregate.measure == "min" else self.sampled.maximum
            return drawn[:, :, aggregate.j]
        total = self.sampled.sum[:, :, aggregate.j]
        shown = np.where(count > 0, total, np.nan)
        return shown / np.where(count > 0, count, 1.0) if aggregate.measure == "avg" else shown

    def _count(self, j: int) -> Fact:
        lo, _, low_met = self.count_extreme(j, "min")
        hi, _, high_met = self.count_extreme(j, "max")
        one, aggregate = np.ones(self.n_keys, dtype=bool), Aggregate("count", j)

        def at(q: float) -> Floats:
            laws = [self.law(j, key) for key in range(self.n_keys)]
            if all(known is not None for known in laws):
                return np.array([quantile(known, q) for known in laws if known is not None], dtype=np.float64)
            return order_statistic(self.in_worlds(aggregate), q, lo, hi)

        return Fact(
            np.clip(self.mean(j, False), lo, hi), lo, hi, one, one & low_met & high_met, np.zeros(self.n_keys), ~one,
            "mean in closed form, bounds by optimisation over worlds, quantiles from the exact law where known", at,
        )  # fmt: skip

    def _shown(self, j: int) -> tuple[Bools, Bools]:
        """Where something may be counted, and where nothing may be counted."""
        return self.count_extreme(j, "max")[0] >= 1, self.count_extreme(j, "min")[0] <= 0

    def _sum(self, j: int) -> Fact:
        (lo, low_met), (hi, high_met) = sum_bound(self, j, "min"), sum_bound(self, j, "max")
        absent, exact = self.absent(j)
        with np.errstate(invalid="ignore", divide="ignore"):
            estimate = self.mean(j, True) / (1.0 - absent)
        route = "mean in closed form given that something is added, bounds by optimisation over worlds"
        return self._value(Aggregate("sum", j), estimate, (lo, hi), (exact, low_met & high_met), route)

    def _average(self, j: int) -> Fact:
        (lo, low_met), (hi, high_met) = average_bound(self, j, "min"), average_bound(self, j, "max")
        estimate = self.outcomes.average(j)
        exact = np.ones(self.n_keys, dtype=bool)
        route = "mean by the exact integral over worlds that count something, bounds by Dinkelbach's iteration"
        if estimate is None:
            same = lo == hi
            estimate = lo if same.all() else np.where(same, lo, average_by_ratio(self, j))
            exact = same
            route = "mean from sampled worlds with count and sum as control variates, bounds by Dinkelbach's iteration"
        return self._value(Aggregate("avg", j), estimate, (lo, hi), (exact, low_met & high_met), route)

    def _extremum(self, aggregate: Aggregate) -> Fact:
        sense: Sense = "max" if aggregate.measure == "max" else "min"
        caps = self.outcomes.caps(aggregate.j, sense)
        shows, _ = self._shown(aggregate.j)
        lo, hi = extremum_bounds(caps, sense, shows)
        met = np.full(self.n_keys, caps.attained)
        if caps.log_within is None:
            drawn = mean_of(self.in_worlds(aggregate))
            route = "mean from sampled worlds, bounds by threshold search"
            return self._value(aggregate, np.where(lo == hi, lo, drawn), (lo, hi), (lo == hi, met), route)
        absent, exact = self.absent(aggregate.j)
        order = np.argsort(caps.thresholds if sense == "max" else -caps.thresholds)
        levels = caps.thresholds[order]
        finite = np.isfinite(levels)
        within = np.exp(caps.log_within[:, order][:, finite])
        mass = np.diff(np.concatenate([absent[:, None], within], axis=1), axis=1).clip(min=0.0)
        total = mass.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            estimate = (mass @ levels[finite]) / total
        fact = self._value(
            aggregate, estimate, (lo, hi), (exact, met), "mean from the exact law, bounds by threshold search"
        )
        fact.quantile = lambda q: weighted_quantile(np.broadcast_to(levels[finite][:, None], mass.T.shape), mass.T, q)
        return fact

    def _value(
        self,
        aggregate: Aggregate,
        estimate: Floats,
        bounds: tuple[Floats, Floats],
        known: tuple[Bools, Bools],
        route: str,
    ) -> Fact:
        """A fact that is NULL where nothing is counted."""
        shows, may_be_null = self._shown(aggregate.j)
        lo, hi = (np.where(shows, end, np.nan) for end in bounds)
        absent, _ = self.absent(aggregate.j) if may_be_null.any() else (np.zeros(self.n_keys), None)
        held = np.where(shows, np.clip(estimate, lo, hi), np.nan)

        def at(q: float) -> Floats:
            return order_statistic(self.in_worlds(aggregate), q, lo, hi)

        return Fact(held, lo, hi, known[0] | ~shows, known[1] | ~shows, absent, may_be_null, route, at)
