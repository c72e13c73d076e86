"""Sampled worlds of permutation groups: a random matching inside every group, counted by outcome."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.outcomes import Sampled
from sfumato.worlds.aggregates import Fold
from sfumato.worlds.assignment import by_size, dense
from sfumato.worlds.cells import Cells, Draws, cells_of, draws_of
from sfumato.worlds.count_laws import hypergeometric_laws
from sfumato.worlds.sums import totals
from sfumato.worlds.tuples import distinct

if TYPE_CHECKING:
    from sfumato.worlds.bijection_outcomes import BijectionOutcomes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NUMBERS_AT_ONCE = 2_000_000
TABLED = 7
"""Matchings of groups up to this size are looked up by number."""


def sampled(facts: BijectionOutcomes, n_worlds: int, generator: np.random.Generator) -> Sampled:
    """Aggregates in worlds drawn from the prior."""
    entries, n_outcomes = facts.entries, len(facts.entries.table)
    cells = cells_of(entries, np.flatnonzero(entries.listed), 0)
    plan = _plan(cells, entries.outcome[cells.entry], n_outcomes)
    fold = Fold.over(entries.table, n_worlds, facts.n_keys)
    rows = int(sum(len(one.group) * one.outcome.shape[1] for one in plan.matched))
    at_once = max(1, NUMBERS_AT_ONCE // max(n_outcomes, len(plan.times), min(rows, NUMBERS_AT_ONCE), 1))
    for begin in range(0, n_worlds, at_once):
        n = min(at_once, n_worlds - begin)
        counts = np.repeat(plan.fixed[None, :], n, axis=0)
        _add_draws(plan, counts, generator)
        for one in plan.matched:
            _add_matchings(one, counts, generator)
        fold.add(begin, counts)
    return fold.into


@dataclass(frozen=True, eq=False)
class Matched:
    """Groups of one size drawn matching by matching: `outcome` (M, n, n) of each type (beyond the last: none), and the
    type `group` (G,) of every group."""

    outcome: Ints
    group: Ints


@dataclass(frozen=True, eq=False)
class Plan:
    """Rows `fixed` (O,) in every world; draws of one outcome: `law` (D, L) of its count per group from `least` on, in
    `times` groups, of outcome `drawn`; and groups that need a matching."""

    fixed: Floats
    law: Floats
    least: Ints
    times: Ints
    drawn: Ints
    matched: list[Matched]


def _plan(cells: Cells, outcome: Ints, n_outcomes: int) -> Plan:
    """Sort group types by how they are drawn."""
    draws = draws_of(cells, outcome.astype(np.float64))
    item_outcome = draws.item_value.astype(np.int64)
    n_items = np.bincount(draws.item_cell, minlength=len(draws.cell))
    certain = draws.drawn == draws.size
    times = cells.times[draws.cell]
    fixed = certain[draws.item_cell]
    weight = (draws.item_times * times[draws.item_cell])[fixed]
    constant = totals(item_outcome[fixed], weight, n_outcomes)
    single = ~certain & (n_items == 1)
    rest = np.concatenate([draws.rest, draws.cell[~certain & ~single]])
    law, least, n, drawn = _single_draws(cells, draws, np.flatnonzero(single), item_outcome)
    matched = []
    for batch in by_size(cells, rest):
        entry = dense(cells, batch)
        group = np.repeat(np.arange(len(batch)), cells.times[batch])
        matched.append(Matched(np.where(entry >= 0, outcome[entry], n_outcomes), group))
    return Plan(constant, law, least, n, drawn, matched)


def _single_draws(cells: Cells, draws: Draws, which: Ints, item_outcome: Ints) -> tuple[Floats, Ints, Ints, Ints]:
    """Equal (law, outcome) of one-outcome draws together."""
    chosen = np.zeros(len(draws.cell), dtype=np.bool_)
    chosen[which] = True
    laws = hypergeometric_laws(cells, draws)
    of_cell = np.zeros(len(draws.cell), dtype=np.int64)
    of_cell[draws.item_cell] = item_outcome
    law, outcome = laws.law[chosen], of_cell[chosen]
    first, of = distinct([law, outcome], len(law))
    times = totals(of, laws.times[chosen], len(first)).astype(np.int64)
    return laws.pmf[law[first]], laws.least[law[first]], times, outcome[first]


def _add_draws(plan: Plan, counts: Floats, generator: np.random.Generator) -> None:
    """How many of a type's groups count 0, 1, 2, … rows is multinomial."""
    if len(plan.times) == 0:
        return
    groups = generator.multinomial(plan.times, plan.law, size=(len(counts), len(plan.times)))
    n = groups @ np.arange(plan.law.shape[1]) + plan.least * plan.times
    np.add.at(counts.T, plan.drawn, n.T)


def _add_matchings(one: Matched, counts: Floats, generator: np.random.Generator) -> None:
    n, (n_worlds, n_outcomes) = one.outcome.shape[1], counts.shape
    at_once = max(1, NUMBERS_AT_ONCE // (n * n_worlds))
    seat, world = np.arange(n), np.arange(n_worlds)[:, None, None] * (n_outcomes + 1)
    for begin in range(0, len(one.group), at_once):
        group = one.group[begin : begin + at_once]
        met = one.outcome[group[None, :, None], seat, _matchings(n, (n_worlds, len(group)), generator)]
        cell = (met + world).reshape(-1)
        found = np.bincount(cell, minlength=n_worlds * (n_outcomes + 1)).reshape(n_worlds, n_outcomes + 1)
        counts += found[:, :n_outcomes]


def _matchings(n: int, shape: tuple[int, int], generator: np.random.Generator) -> NDArray[np.integer]:
    """Uniform orders of 0 … n−1; (*shape, n)."""
    if n <= TABLED:
        table = _orders(n)
        return np.asarray(table[generator.integers(len(table), size=shape)])
    return np.argsort(generator.random((*shape, n)), axis=-1)


@lru_cache(maxsize=TABLED)
def _orders(n: int) -> NDArray[np.uint8]:
    return np.array(list(itertools.permutations(range(n))), dtype=np.uint8).reshape(-1, n)
