"""Whether a row is in the answer: its group exists, HAVING keeps it, LIMIT reaches it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sqlglot import exp

from sfumato.queries.allowed import refusal
from sfumato.queries.lift import agg_places
from sfumato.queries.literals import FALSE, NULL, TRUE, Bits
from sfumato.queries.over import Over
from sfumato.queries.parse import Sort
from sfumato.queries.rows import as_condition, bits_of

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
BELOW = float(np.nextafter(1.0, 0.0))


@dataclass(eq=False)
class Presence:
    """P(row in the answer) per group, where that is exact, where it is possible, how it was found, and where no world
    is without it: a probability may round to 1."""

    chance: Floats
    exact: Bools
    possible: Bools
    route: str
    certain: Bools

    def __post_init__(self) -> None:
        self.chance = np.where(self.certain, 1.0, np.minimum(self.chance, BELOW))


def presence(over: Over) -> Presence:
    """Of every group, before LIMIT."""
    figures, having = over.figures, over.lifted.having
    grouped = over.keys.grouped
    absent, exact = np.zeros(over.n), np.ones(over.n, dtype=bool)
    there = always = exact
    if grouped:
        absent, exact = figures.absent(-1)
        there, always = (figures.count_extreme(-1, sense)[0] >= 1 for sense in ("max", "min"))
    if having is None:
        route = "closed form" if exact.all() else "sampled worlds"
        return Presence(1.0 - absent, exact, there, route, always)
    may = over.spans(existing=True).truth(having)
    if not grouped:
        may = np.where(figures.count_extreme(-1, "min")[0] <= 0, may | _on_nothing(over, having), may)
    possible = there & ((may & TRUE) > 0)
    decided = may == TRUE
    certain = always & decided
    known = np.where(possible, 1.0 - absent, 0.0)
    if (~possible | decided).all():
        return Presence(known, exact | ~possible, possible, "HAVING decided by bounds", certain)
    by_law = _by_law(over, having, absent if grouped else None)
    if by_law is not None:
        chance = np.where(possible, by_law, 0.0)
        return Presence(chance, exact | ~possible, possible, "the exact law of the count", certain)
    drawn = np.where(possible, kept_in_worlds(over).mean(axis=0), 0.0)
    chance = np.where(decided, known, drawn)
    return Presence(chance, ~possible | (exact & decided), possible, "sampled worlds", certain)


def _on_nothing(over: Over, having: exp.Expr) -> Bits:
    """The truth of HAVING over no rows."""
    found = over.on_nothing(as_condition(having))
    return np.where(np.isnan(found), NULL, np.where(found != 0, TRUE, FALSE)).astype(np.uint8)


def _by_law(over: Over, having: exp.Expr, absent: Floats | None) -> Floats | None:
    """Σ P(count = c) over the counts that HAVING keeps, without the worlds where the group is not there."""
    found = over.by_count(as_condition(having))
    if found is None:
        return None
    keeps = np.nan_to_num(found.values) != 0
    chance = (found.mass * keeps).sum(axis=0)
    if absent is not None:
        chance -= np.where((keeps & (found.counts == 0)).any(axis=0), absent, 0.0)
    clipped: Floats = np.clip(chance, 0.0, 1.0)
    return clipped


def kept_in_worlds(over: Over) -> Bools:
    """In which sampled worlds a group is there and HAVING keeps it, shape (W, K)."""
    there = over.figures.counts_in_worlds(-1) > 0
    if not over.keys.grouped:
        there = np.ones_like(there)
    having = over.lifted.having
    if having is None:
        return there
    kept: Bools = there & _is_true(over, having)
    return kept


def _is_true(over: Over, having: exp.Expr) -> Bools:
    """Where a condition is true: (W, K), or (K,) when it reads keys alone."""
    if not agg_places(having):
        fixed: Bools = bits_of(over.certain(as_condition(having))) == TRUE
        return fixed
    drawn: Bools = np.nan_to_num(over.in_worlds(as_condition(having))) != 0
    return drawn


def ordered(over: Over, sorts: tuple[Sort, ...]) -> Ints:
    """Groups in the order of the query, by estimate; ties and queries without ORDER BY follow the keys."""
    columns = [_ranked_groups(over, sort) for sort in sorts] + key_ranks(over)
    if not columns:
        return np.arange(over.n, dtype=np.int64)
    return np.lexsort(columns[::-1]).astype(np.int64)


def key_ranks(over: Over) -> list[Ints]:
    """Each key as ranks in SQL order, NULLs last."""
    return [_ranks_of(over.keys.column(i)) for i in range(len(over.keys.types))]


def _ranks_of(array: pa.Array) -> Ints:
    if pa.types.is_null(array.type):
        return np.ones(len(array), dtype=np.int64)
    try:
        ranks = pc.rank(array, sort_keys="ascending", tiebreaker="dense")
    except pa.ArrowNotImplementedError:
        raise refusal(
            f"GROUP BY or ORDER BY of values of type {array.type}", "Cast them to text, a number or a date."
        ) from None
    return np.asarray(ranks.to_numpy(zero_copy_only=False)).astype(np.int64)


def _ranked_groups(over: Over, sort: Sort) -> Ints:
    if agg_places(sort.expression):
        return _directed(over.fact(sort.expression).estimate, sort)
    array = over.certain(sort.expression)
    ranks = _ranks_of(array).astype(np.float64)
    ranks[array.is_null().to_numpy(zero_copy_only=False)] = np.nan
    return _directed(ranks, sort)


def _directed(values: Floats, sort: Sort) -> Ints:
    """Dense ranks in the direction asked for, NULLs where asked for."""
    null = np.isnan(values)
    _, ranks = np.unique(np.where(null, 0.0, -values if sort.descending else values), return_inverse=True)
    ranks = ranks.reshape(values.shape).astype(np.int64) + 1
    ranks[null] = 0 if sort.nulls_first else ranks.max(initial=0) + 1
    return ranks


def within_limit(over: Over, found: Presence) -> Presence:
    """P(row in the answer) with LIMIT and OFFSET, by ordering every sampled world."""
    question = over.lifted.question
    first = question.offset
    last = first + question.limit if question.limit is not None else np.inf
    fixed = not any(agg_places(sort.expression) for sort in over.lifted.order)
    if first == 0 and int(found.possible.sum()) <= last:
        return found
    if fixed and bool((found.certain | ~found.possible).all()):
        order = ordered(over, over.lifted.order)
        place = np.full(over.n, -1)
        there = order[found.certain[order]]
        place[there] = np.arange(len(there))
        reached = (place >= first) & (place < last)
        return Presence(reached.astype(np.float64), found.exact, reached, found.route, reached)
    kept = kept_in_worlds(over)
    world, group = np.nonzero(kept)
    columns = [_ranked_cells(over, sort, kept) for sort in over.lifted.order]
    columns += [ranks[group] for ranks in key_ranks(over)]
    order = np.lexsort([*columns[::-1], world])
    start = np.searchsorted(world[order], np.arange(len(kept)))
    place = np.arange(len(order)) - start[world[order]]
    cells = order[(place >= first) & (place < last)]
    chance = np.bincount(group[cells], minlength=over.n) / max(len(kept), 1)
    none = np.zeros(over.n, dtype=bool)
    return Presence(chance, none, found.possible, "sampled worlds, each ordered and cut", none)


def _ranked_cells(over: Over, sort: Sort, kept: Bools) -> Ints:
    if agg_places(sort.expression):
        return _directed(over.in_worlds(sort.expression)[kept], sort)
    return np.broadcast_to(_ranked_groups(over, sort), kept.shape)[kept]
