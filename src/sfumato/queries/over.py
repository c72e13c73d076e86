"""Every output of a query as a fact: aggregates themselves, and arithmetic over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp

from sfumato.errors import ParameterError, Unanswerable
from sfumato.queries.affine import Linear, direction, linear
from sfumato.queries.connection import evaluate
from sfumato.queries.figures import Fact, Figures
from sfumato.queries.intervals import Span
from sfumato.queries.keys import KeyBook
from sfumato.queries.lift import Lifted, agg_places, references
from sfumato.queries.literals import MICROSECONDS
from sfumato.queries.rows import columns_of, numbers_of
from sfumato.queries.sampled import mean_of, order_statistic, weighted_quantile
from sfumato.queries.spans import Spans

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
MOST_ROWS = 1_000_000
MOST_GROUPS = 5_000
SURE = 1e-12
"""Probabilities above this are no rounding noise of the transform that gives laws."""


@dataclass(eq=False)
class ByCount:
    """An expression at every count with its probability, shapes (C, K); NaN where it is NULL, infinite or fails."""

    counts: Floats
    mass: Floats
    values: Floats


@dataclass(eq=False)
class Over:
    """Evaluates lifted expressions: on keys alone, on every sampled world, and as facts."""

    lifted: Lifted
    keys: KeyBook
    figures: Figures
    types: Callable[[], Mapping[int, str]]
    """SQL type of each aggregate call, bound when first needed."""
    _facts: dict[str, Fact] = field(default_factory=dict)
    _drawn: dict[str, Floats] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of groups."""
        return len(self.keys)

    @property
    def reads(self) -> tuple[str, ...]:
        """Released columns that the query reads."""
        question, arguments = self.lifted.question, self.lifted.arguments
        trees = [*question.keys, question.where, *(t for a in arguments for t in (a.tree, a.condition))]
        return tuple(dict.fromkeys(name for tree in trees if tree is not None for name in columns_of(tree)))

    def certain(self, tree: exp.Expr) -> pa.Array:
        """An expression of keys alone, for every group."""
        plain = tree.unnest() if isinstance(tree, exp.Paren) else tree
        if isinstance(plain, exp.Column):
            return self.keys.column(int(plain.name[3:]))
        columns = {f"key{i}": self.keys.column(i) for i in range(len(self.keys.types))}
        return evaluate(columns, [tree.sql(dialect="duckdb")], self.n)[0]

    def fact(self, tree: exp.Expr) -> Fact:
        """Estimate, bounds and the rest of an expression that reads aggregates."""
        if isinstance(tree, exp.Column):
            return self.figures.fact(self.lifted.aggregates[int(tree.name[3:])])
        text = tree.sql(dialect="duckdb")
        if text not in self._facts:
            self._facts[text] = self._made(tree)
        return self._facts[text]

    def _made(self, tree: exp.Expr) -> Fact:
        plain = tree.unnest() if isinstance(tree, exp.Paren) else tree
        if isinstance(plain, exp.Column):
            return self.figures.fact(self.lifted.aggregates[int(plain.name[3:])])
        found, way = linear(plain), direction(plain)
        moved = self._moved(plain, way, found) if way and found is not None else None
        if moved is not None:
            return moved
        by_count = self.by_count(plain, everywhere=True)
        if by_count is not None:
            return self._of_count(by_count)
        moved = self._moved(plain, way, None) if way else None
        return self._general(plain, found) if moved is None else moved

    def _moved(self, tree: exp.Expr, way: int, found: Linear | None) -> Fact | None:
        """What never falls (`way` 1) or rises (−1) with the one aggregate it reads has its ends at that one's ends.

        SQL evaluates them on the aggregate's own type, so that they are rounded as they are in a world.
        """
        place = agg_places(tree)[0]
        inner = self.figures.fact(self.lifted.aggregates[place])
        ends = np.stack([inner.lo, inner.hi])
        values = numbers_of(self._on_aggregates(tree, {place: ends}, 2))
        if values is None:
            return None
        both = np.where(np.isinf(ends), way * ends, values.reshape(2, self.n))
        if (np.isnan(both) != np.isnan(ends)).any() or (np.isinf(both) != np.isinf(ends)).any():
            return None
        lo, hi = both if way > 0 else both[::-1]
        exact = inner.exact
        if found is not None:
            estimate = found.at(inner.estimate)
        else:
            exact = (lo == hi) | np.isnan(lo)
            estimate = lo if exact.all() else np.where(exact, lo, mean_of(self.in_worlds(tree)))

        def at(q: float) -> Floats:
            if found is None:
                return order_statistic(self.in_worlds(tree), q, lo, hi)
            return np.clip(found.at(inner.quantile(q if way > 0 else 1 - q)), lo, hi)

        route = (
            inner.route + ", moved and scaled" if found else "mean from sampled worlds, bounds by those of its argument"
        )
        return Fact(np.clip(estimate, lo, hi), lo, hi, exact, inner.attained, inner.null, inner.may_be_null, route, at)

    def _of_count(self, found: ByCount) -> Fact:
        """A function of one count has its exact law; counts without mass stay inside the bounds, as rounding may hide
        a rare one."""
        there = ~np.isnan(found.values)
        mass = np.where(there, found.mass, 0.0)
        shown, sure = there.any(axis=0), there & (found.mass > SURE)
        with np.errstate(invalid="ignore", divide="ignore"):
            estimate = (mass * np.where(there, found.values, 0.0)).sum(axis=0) / mass.sum(axis=0)
        lo, hi = (np.where(shown, end(there, found.values), np.nan) for end in (_least, _most))
        met: Bools = ~shown | ((lo == _least(sure, found.values)) & (hi == _most(sure, found.values)))

        def at(q: float) -> Floats:
            return weighted_quantile(found.values, mass, q)

        null = np.clip(1.0 - mass.sum(axis=0), 0.0, 1.0)
        may_be_null: Bools = np.logical_not(there.all(axis=0))
        return Fact(
            np.clip(estimate, lo, hi), lo, hi, np.ones(self.n, dtype=bool), met, null, may_be_null,
            "mean, bounds and quantiles from the exact law of the count", at,
        )  # fmt: skip

    def _general(self, tree: exp.Expr, found: Linear | None) -> Fact:
        span = self._span(tree)
        lo, hi = span.lo, span.hi
        if not self.is_number(tree):
            raise Unanswerable(
                "An output over aggregates that is neither a number nor true or false cannot be answered. "
                "Select the aggregates themselves, and format them afterwards."
            )
        same = (lo == hi) & ~span.null | np.isnan(lo)
        route = "mean from sampled worlds, bounds by interval arithmetic"
        exact, null = same, np.where(np.isnan(lo), 1.0, 0.0)
        if same.all():
            estimate = lo
        elif found is not None and self._all_there(found):
            estimate, exact = self._mean(found), np.ones(self.n, dtype=bool)
            route = "mean by linearity, bounds by interval arithmetic"
        else:
            drawn = self.in_worlds(tree)
            estimate = np.where(same, lo, mean_of(drawn))
            null = np.where(same, null, np.isnan(drawn).mean(axis=0))

        def at(q: float) -> Floats:
            return order_statistic(self.in_worlds(tree), q, lo, hi)

        return Fact(np.clip(estimate, lo, hi), lo, hi, exact, same, null, span.null, route, at)

    def _span(self, tree: exp.Expr) -> Span:
        """Of groups with rows; and of no rows, where that may be."""
        spans = self.spans(existing=True)
        found = spans.number(tree)
        null = found.null | spans.odd
        none = self.figures.count_extreme(-1, "min")[0] <= 0
        if not none.any():
            return Span(found.lo, found.hi, null, found.whole)
        alone = np.where(none, self.on_nothing(tree), np.nan)
        return Span(np.fmin(found.lo, alone), np.fmax(found.hi, alone), null | (none & np.isnan(alone)), found.whole)

    def on_nothing(self, tree: exp.Expr) -> Floats:
        """The expression over no rows: counts are 0, everything else is NULL."""
        chosen = {place: self.lifted.aggregates[place].measure for place in agg_places(tree)}
        drawn = {place: np.full((1, self.n), 0.0 if one == "count" else np.nan) for place, one in chosen.items()}
        found = numbers_of(self._on_aggregates(tree, drawn))
        return np.full(self.n, np.nan) if found is None else found

    def _all_there(self, found: Linear) -> bool:
        """Is no term ever NULL, and every mean exact?"""
        facts = [self.figures.fact(self.lifted.aggregates[place]) for place in found.factors]
        return all(bool(fact.exact.all()) and not fact.may_be_null.any() for fact in facts)

    def _mean(self, found: Linear) -> Floats:
        total = np.full(self.n, found.constant)
        for place, factor in found.factors.items():
            total += factor * self.figures.fact(self.lifted.aggregates[place]).estimate
        return total

    def covariance(self, tree: exp.Expr) -> Floats:
        """Covariance (K, K) across groups of a·x + b, x one COUNT or SUM; an empty sum is 0."""
        found = linear(tree)
        used = [] if found is None else [(p, a) for p, a in found.factors.items() if a]
        known = [(self.lifted.aggregates[p], a) for p, a in used]
        if len(known) != 1 or known[0][0].measure not in ("count", "sum"):
            raise ParameterError("Covariances are known of one COUNT or SUM, moved and scaled; select it as a column.")
        if self.n > MOST_GROUPS:
            raise Unanswerable(f"Covariances of {self.n} groups are too many; group by less, at most {MOST_GROUPS}.")
        (aggregate, factor), *_ = known
        return factor**2 * self.figures.outcomes.cross((aggregate.j, aggregate.measure == "sum"))

    def spans(self, existing: bool = False) -> Spans:
        """Interval arithmetic over the facts; `existing`: of groups that are there, which count at least one row."""

        def span(place: int) -> Span:
            aggregate = self.lifted.aggregates[place]
            fact = self.figures.fact(aggregate)
            lo = fact.lo
            if existing and aggregate.measure == "count" and aggregate.j < 0:
                lo = np.maximum(lo, 1.0)
            return Span(lo, np.maximum(lo, fact.hi), fact.may_be_null | np.isnan(lo), aggregate.measure == "count")

        return Spans(span, self.certain, self.n)

    def is_number(self, tree: exp.Expr) -> bool:
        """Does SQL make a number or a truth value of it?"""
        return numbers_of(self._on_aggregates(tree, {p: np.zeros((1, self.n)) for p in agg_places(tree)})) is not None

    def in_worlds(self, tree: exp.Expr) -> Floats:
        """The expression in every sampled world, shape (W, K); NaN where it is NULL, infinite or fails."""
        text = tree.sql(dialect="duckdb")
        if text not in self._drawn:
            places = agg_places(tree)
            drawn = {place: self.figures.in_worlds(self.lifted.aggregates[place]) for place in places}
            n_worlds = len(next(iter(drawn.values()))) if drawn else self.figures.n_drawn
            step = max(1, MOST_ROWS // max(self.n, 1))
            parts = []
            for start in range(0, n_worlds, step):
                some = {place: worlds[start : start + step] for place, worlds in drawn.items()}
                parts.append(self._numbers(tree, some, min(step, n_worlds - start)))
            self._drawn[text] = np.concatenate(parts) if parts else np.zeros((0, self.n))
        return self._drawn[text]

    def _numbers(self, tree: exp.Expr, drawn: Mapping[int, Floats], n_worlds: int) -> Floats:
        found = numbers_of(self._on_aggregates(tree, drawn, n_worlds))
        if found is None:
            raise Unanswerable(
                "An expression over aggregates that is text cannot be used here. Use the aggregates themselves."
            )
        return np.where(np.isfinite(found), found, np.nan).reshape(n_worlds, self.n)

    def by_count(self, tree: exp.Expr, everywhere: bool = False) -> ByCount | None:
        """An expression that reads no aggregate but one COUNT, at the counts of its exact law.

        A law is known on a window that holds all but negligible mass; `everywhere`: at every possible count.
        """
        places = agg_places(tree)
        aggregates = {self.lifted.aggregates[place] for place in places}
        if len(aggregates) != 1 or next(iter(aggregates)).measure != "count":
            return None
        j = next(iter(aggregates)).j
        known = [law for key in range(self.n) if (law := self.figures.law(j, key)) is not None]
        if len(known) < self.n:
            return None
        first = np.array([law.offset for law in known], dtype=np.float64)
        last = np.array([law.offset + len(law.pmf) - 1 for law in known], dtype=np.float64)
        if everywhere:
            first, last = (self.figures.count_extreme(j, sense)[0] for sense in ("min", "max"))
        longest = int((last - first).max(initial=0)) + 1
        if longest * self.n > MOST_ROWS:
            return None
        counts = np.minimum(first + np.arange(longest)[:, None], last)
        mass = np.zeros((longest, self.n))
        for key, law in enumerate(known):
            place = law.offset + np.arange(len(law.pmf)) - int(first[key])
            inside = (place >= 0) & (place <= last[key] - first[key])
            mass[place[inside], key] = law.pmf[inside]
        return ByCount(counts, mass, self._numbers(tree, dict.fromkeys(places, counts), longest))

    def _on_aggregates(self, tree: exp.Expr, drawn: Mapping[int, Floats], n_worlds: int = 1) -> pa.Array:
        """SQL on aggregates of their own SQL types; a failure in one world is NULL there."""
        columns: dict[str, pa.Array] = {}
        if any(kind == "key" for kind, _ in references(tree)):
            for i in range(len(self.keys.types)):
                key = self.keys.column(i)
                columns[f"key{i}"] = key.take(pa.array(np.tile(np.arange(self.n), n_worlds)))
        for place, worlds in drawn.items():
            columns[f"raw{place}"] = pa.array(worlds.ravel(), from_pandas=True)
        typed = tree.transform(self._typed)
        return evaluate(columns, [f"TRY({typed.sql(dialect='duckdb')})"], n_worlds * self.n)[0]

    def _typed(self, node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or not node.name.startswith("agg"):
            return node
        place = int(node.name[3:])
        raw = exp.column(f"raw{place}")
        kind = "BIGINT" if self.lifted.aggregates[place].measure == "count" else self.types()[place]
        if kind.strip('"') == "NULL":
            return raw
        if kind == "DATE":
            start = exp.cast(exp.Literal.string("1970-01-01"), "date")
            return exp.paren(exp.Add(this=start, expression=exp.cast(raw, "int")))
        if kind.startswith("TIMESTAMP"):
            day = exp.Literal.number(MICROSECONDS)
            return exp.Anonymous(
                this="make_timestamp", expressions=[exp.cast(exp.Mul(this=raw, expression=day), "bigint")]
            )
        return exp.cast(raw, exp.DataType.build(kind, dialect="duckdb"))


def _least(there: Bools, values: Floats) -> Floats:
    found: Floats = np.where(there, values, np.inf).min(axis=0, initial=np.inf)
    return found


def _most(there: Bools, values: Floats) -> Floats:
    found: Floats = np.where(there, values, -np.inf).max(axis=0, initial=-np.inf)
    return found
