"""One SELECT over the worlds of a release: parse, plan, find the facts, put the answer together."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.queries.answer import Answer, Shown, quantile_name, typed
from sfumato.queries.binding import INTEGERS, Bound, bound, by_form, lifted, types_of
from sfumato.queries.existing import ordered, presence, within_limit
from sfumato.queries.explaining import notes_of
from sfumato.queries.figures import Fact, Figures
from sfumato.queries.lift import Lifted, agg_places
from sfumato.queries.over import Over
from sfumato.queries.plan import Plan, make_plan
from sfumato.queries.separating import outcomes_of

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.contracts import Worlds

N_WORLDS = 1000
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def ask(
    worlds: Worlds,
    text: str,
    *,
    names: Sequence[str] = ("data",),
    quantiles: Sequence[float] = (),
    n_worlds: int = N_WORLDS,
    chance: Chance,
) -> Answer:
    """Answer one SELECT over a table called one of `names`, with hard bounds beside every uncertain number."""
    levels = _levels(quantiles)
    if n_worlds < 1:
        raise ParameterError(f"n_worlds is {n_worlds}; draw at least one world.")
    try:
        with _without_collections():
            return _asked(worlds, text, tuple(names), n_worlds, chance).answer(levels)
    except RecursionError:
        raise ParameterError("The query is nested too deeply; simplify it.") from None


@contextmanager
def _without_collections() -> Iterator[None]:
    """Cyclic garbage waits for the end of the query: looking for it amid growing syntax trees takes a fifth longer."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _levels(quantiles: Sequence[float]) -> tuple[float, ...]:
    levels = tuple(float(q) for q in quantiles)
    wrong = [q for q in levels if not 0 < q < 1]
    if wrong:
        raise ParameterError(f"A quantile must be between 0 and 1, as 0.05; found {', '.join(map(str, wrong))}.")
    return tuple(dict.fromkeys(levels))


def _asked(worlds: Worlds, text: str, names: tuple[str, ...], n_worlds: int, chance: Chance) -> Asked:
    columns = tuple(worlds.columns)
    query = lifted(text, names, columns)
    types = types_of(worlds.domains, columns)
    plan = make_plan(query, worlds.domains)
    simple = None if plan.asks_sql else by_form(query.question, worlds.domains)
    known = simple if simple is not None else bound(text, names, types)
    figures = Figures(outcomes_of(worlds, query, plan), n_worlds, chance, lambda j: plan.values[j].whole)

    def call_types() -> Mapping[int, str]:
        return dict(enumerate(bound(text, names, types).calls))

    over = Over(query, plan.keys, figures, call_types)
    return Asked(worlds, query, plan, over, known)


@dataclass(eq=False)
class Asked:
    """A query with its facts, ready to be written as an answer with any quantiles."""

    worlds: Worlds
    query: Lifted
    plan: Plan
    over: Over
    known: Bound

    def answer(self, levels: tuple[float, ...]) -> Answer:
        """The rows in the answer, in order, with companions for the uncertain columns."""
        before = presence(self.over)
        limited = self.query.question.limit is not None or self.query.question.offset > 0
        found = within_limit(self.over, before) if limited else before
        rows = ordered(self.over, self.query.order)
        rows = rows[before.possible[rows]]
        if limited:
            last = None if self.query.question.limit is None else self.query.question.offset + self.query.question.limit
            rows = rows[self.query.question.offset : last]
        columns: dict[str, pa.Array] = {}
        shown: list[Shown] = []
        exact, met = found.exact[rows].copy(), np.ones(len(rows), dtype=bool)
        for place in range(len(self.query.outputs)):
            fact = self._put(columns, shown, place, rows, levels)
            if fact is not None:
                exact &= fact.exact[rows]
                met &= fact.attained[rows]
        _add(columns, "__row", pa.array(np.clip(found.chance[rows], 0.0, 1.0)))
        _add(columns, "__how", _how(exact, met))
        notes = notes_of(self.worlds, self.over, shown, found)

        def joint(place: int) -> Floats:
            return self.over.covariance(self.query.outputs[place])[np.ix_(rows, rows)]

        return Answer(pa.table(columns), shown, notes, self.answer, joint)

    def _put(
        self, columns: dict[str, pa.Array], shown: list[Shown], place: int, rows: Ints, levels: tuple[float, ...]
    ) -> Fact | None:
        """One output column with its companions."""
        tree, name, kind = self.query.outputs[place], self.known.names[place], self.known.types[place]
        if not agg_places(tree):
            values = self.over.certain(tree)
            values = values if len(rows) == len(values) == 0 else values.take(pa.array(rows))
            name = _add(columns, name, values, [one.name for one in shown])
            shown.append(Shown(name, (), "GROUP BY key", 0.0))
            return None
        fact = self.over.fact(tree)
        sort = "date" if kind == "DATE" else "time" if kind.startswith("TIMESTAMP") else "other"
        sort = "integer" if kind in INTEGERS else sort
        lo, hi, null = fact.lo[rows], fact.hi[rows], fact.may_be_null[rows]
        certain = bool((((lo == hi) & ~null) | np.isnan(lo)).all())
        estimate = typed(fact.estimate[rows], sort if certain or sort != "integer" else "other")
        name = _add(columns, name, estimate, [one.name for one in shown])
        companions = []
        if not certain:
            for title, values in ((f"{name}__lo", lo), (f"{name}__hi", hi)):
                companions.append(_add(columns, title, typed(values, sort)))
            for q in levels:
                companions.append(_add(columns, quantile_name(name, q), typed(fact.quantile(q)[rows], sort)))
        most_null = float(np.nanmax(fact.null[rows], initial=0.0))
        shown.append(Shown(name, tuple(companions), fact.route, most_null))
        return fact


def _add(columns: dict[str, pa.Array], name: str, values: pa.Array, outputs: Sequence[str] = ()) -> str:
    """Put a column in place; a repeated output gets a number, as DuckDB does."""
    final, n = name, 1
    while final in outputs:
        final, n = f"{name}_{n}", n + 1
    if final in columns:
        raise ParameterError(f"The answer would have two columns called {final!r}. Give the query's own another name.")
    columns[final] = values
    return final


def _how(exact: Bools, met: Bools) -> pa.Array:
    words = np.where(exact & met, "exact", np.where(met, "tight", np.where(exact, "interval", "sampled")))
    return pa.array(words.tolist(), pa.string())
