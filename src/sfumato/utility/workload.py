"""Random COUNT queries and their answers: what an analyst would get, beside the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.outcomes import Outcome

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.contracts import Worlds
    from sfumato.data.codec import Codes, Domain
    from sfumato.outcomes import Bools, Factor, Floats

MOST_PREDICATES = 3
N_WORLDS = 1000
"""Worlds drawn for the interval of a count whose law is not known."""


class Between:
    """One conjunct of a WHERE clause: a code between two ends, both included."""

    def __init__(self, column: str, low: int, high: int) -> None:
        self.columns: tuple[str, ...] = (column,)
        self.low, self.high = low, high

    def keeps(self, codes: Mapping[str, Codes]) -> tuple[Bools, Bools | None]:
        """Rows whose code lies between the ends; always decided, since a leaf stands for itself."""
        code = codes[self.columns[0]]
        return (self.low <= code) & (code <= self.high), None


class Count:
    """SELECT count(*) WHERE every factor keeps the row, as a row map."""

    def __init__(self, factors: Sequence[Factor]) -> None:
        self.factors = factors
        self.core_columns: tuple[str, ...] = ()
        self.n_values = 0
        self.n_keys = 1

    def core(self, codes: Mapping[str, Codes]) -> Outcome:
        """Every row goes to the one key; nothing is summed."""
        return Outcome(np.zeros(1, dtype=np.int64), np.zeros((1, 0)))

    def true_count(self, truth: Mapping[str, Codes]) -> int:
        """The count on the original."""
        kept = np.ones(len(next(iter(truth.values()))), dtype=bool)
        for factor in self.factors:
            kept &= factor.keeps(truth)[0]
        return int(kept.sum())


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries with their truth, estimate, hard bounds and central 95 % interval; each array (Q,)."""

    queries: tuple[Count, ...]
    n_rows: int
    truth: Floats
    estimate: Floats
    lo: Floats
    hi: Floats
    q025: Floats
    q975: Floats


def random_workload(
    domains: Mapping[str, Domain], truth: Mapping[str, Codes], n_queries: int, draw: np.random.Generator
) -> tuple[Count, ...]:
    """Queries on 1–3 random columns around a random original row, so that the truth is never 0.

    An ordered column gets a range of up to a third of its leaves that contains the row's value, a category or the
    missing value gets equality.
    """
    columns = [name for name in domains if name in truth]
    if not columns or not len(truth[columns[0]]):
        return ()
    return tuple(_random_query(columns, domains, truth, draw) for _ in range(n_queries))


def answer_all(queries: Sequence[Count], worlds: Worlds, truth: Mapping[str, Codes], chance: Chance) -> Workload:
    """Ask every query of the worlds and of the original."""
    answers = np.array([_answer(query, worlds, chance) for query in queries]).reshape(len(queries), 5)
    true = np.array([query.true_count(truth) for query in queries], dtype=np.float64)
    return Workload(tuple(queries), worlds.n_rows, true, *answers.T)


def _random_query(
    columns: Sequence[str], domains: Mapping[str, Domain], truth: Mapping[str, Codes], draw: np.random.Generator
) -> Count:
    """Conjuncts around one random row; a value the release's domain does not list is left out of the question."""
    n_columns = int(draw.integers(1, min(MOST_PREDICATES, len(columns)) + 1))
    row = int(draw.integers(len(truth[columns[0]])))
    chosen = [columns[i] for i in sorted(draw.choice(len(columns), n_columns, replace=False))]
    known = [(name, int(truth[name][row])) for name in chosen if truth[name][row] >= 0]
    return Count(tuple(_around(name, domains[name], code, draw) for name, code in known))


def _around(column: str, domain: Domain, code: int, draw: np.random.Generator) -> Between:
    if domain.region != "range" or domain.kind in ("text", "boolean") or code >= domain.n_values:
        return Between(column, code, code)
    width = int(draw.integers(1, max(2, domain.n_values // 3 + 1)))
    low = max(0, code - int(draw.integers(width)))
    return Between(column, low, min(domain.n_values - 1, low + width - 1))


def _answer(query: Count, worlds: Worlds, chance: Chance) -> tuple[float, float, float, float, float]:
    from sfumato.queries.sampled import order_statistic
    from sfumato.worlds.laws import law, quantile

    outcomes = worlds.outcomes(query)
    mean, covariance = outcomes.moments([(-1, False)])
    one = np.ones(1)
    lo = float(outcomes.extreme(-1, 0.0, one, "min")[0].value[0])
    hi = float(outcomes.extreme(-1, 0.0, one, "max")[0].value[0])
    estimate = float(mean[0, 0])
    if covariance[0, 0, 0] <= 1e-12:
        return estimate, lo, hi, estimate, estimate
    found = law(outcomes, -1, 0)
    if found is None:
        drawn, ends = outcomes.sample(N_WORLDS, chance).rows, (np.full(1, lo), np.full(1, hi))
        low, high = (float(order_statistic(drawn, q, *ends)[0]) for q in (0.025, 0.975))
        return estimate, lo, hi, low, high
    return estimate, lo, hi, float(quantile(found, 0.025)), float(quantile(found, 0.975))


def relative_errors(workload: Workload) -> NDArray[np.float64]:
    """|estimate − truth| / truth of every query; shape (Q,)."""
    return np.abs(workload.estimate - workload.truth) / workload.truth
