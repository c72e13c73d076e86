"""MIN and MAX over permutation groups: draws without replacement, other small groups by all matchings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.worlds.assignment import by_size, dense
from sfumato.worlds.caps import Steps, joined
from sfumato.worlds.cells import Cells, Draws, draws_of
from sfumato.worlds.count_laws import log_factorials
from sfumato.worlds.matchings import affordable, matching_laws
from sfumato.worlds.sums import totals
from sfumato.worlds.tuples import distinct

if TYPE_CHECKING:
    from sfumato.outcomes import Sense
    from sfumato.worlds.bijection_outcomes import BijectionOutcomes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def steps_of(facts: BijectionOutcomes, j: int, sense: Sense) -> Steps:
    """Pieces of `caps` for argument j."""
    sign, n_keys = (1.0 if sense == "max" else -1.0), facts.n_keys
    listed = _reached(facts, j, "listed", sign)
    found = joined([_draw_steps(listed, n_keys), *(_matching_steps(listed, b, n_keys) for b in listed.batches)])
    decided = listed if not facts.entries.undecided else _reached(facts, j, "decided", sign)
    stay, show = _ends(decided, n_keys)
    possible = facts.cells(j, "possible")
    value = sign * facts.values(possible, j)
    key = possible.key[possible.cell]
    if facts.entries.undecided:
        show = np.full(n_keys, np.inf)
        np.minimum.at(show, key, value)
    first, _ = distinct([key, facts.entries.outcome[possible.entry]], len(key))
    found = replace(found, stay=stay, show=show, seen_key=key[first], seen_value=value[first])
    return replace(found, loose=bool(facts.entries.loose.any()), attained=not facts.entries.undecided)


@dataclass(frozen=True, eq=False)
class _Signed:
    """Cells with signed values, and which of them are draws."""

    cells: Cells
    value: Floats
    draws: Draws

    @property
    def batches(self) -> list[Ints]:
        return by_size(self.cells, self.draws.rest)


def _reached(facts: BijectionOutcomes, j: int, which: str, sign: float) -> _Signed:
    cells = facts.cells(j, which)
    value = sign * facts.values(cells, j)
    return _Signed(cells, value, draws_of(cells, value))


@dataclass(frozen=True, eq=False)
class _Items:
    """Items of draws, sorted by cell and value, with how many of the cell lie at or below each."""

    cell: Ints
    value: Floats
    upto: Ints
    times: Ints


def _items(draws: Draws) -> _Items:
    order = np.lexsort((draws.item_value, draws.item_cell))
    cell, times = draws.item_cell[order], draws.item_times[order]
    upto = np.cumsum(times)
    upto = upto - (upto - times)[np.searchsorted(cell, cell)]
    return _Items(cell, draws.item_value[order], upto, times)


def _draw_steps(found: _Signed, n_keys: int) -> Steps:
    """P(nothing beyond t) = C(n − B_t, A)/C(n, A) with B_t items beyond t."""
    draws, cells = found.draws, found.cells
    items, f = _items(draws), log_factorials(int(draws.size.max(initial=0)))
    times = cells.times[draws.cell]

    def log_none(beyond: Ints, cell: Ints) -> tuple[Floats, Floats]:
        n, a = draws.size[cell], draws.drawn[cell]
        room = n - beyond - a
        log = f[n - beyond] - f[np.maximum(room, 0)] - f[n] + f[n - a]
        return np.where(room < 0, 0.0, log) * times[cell], np.where(room < 0, times[cell], 0).astype(np.float64)

    here, here_wall = log_none(draws.marked[items.cell] - items.upto, items.cell)
    before, before_wall = log_none(draws.marked[items.cell] - items.upto + items.times, items.cell)
    floor, wall = log_none(draws.marked, np.arange(len(draws.cell)))
    key = cells.key[draws.cell]
    return Steps(
        key=key[items.cell],
        value=items.value,
        rise=here - before,
        fall=here_wall - before_wall,
        floor=totals(key, floor, n_keys),
        wall=totals(key, wall, n_keys),
        stay=np.full(n_keys, -np.inf),
        show=np.full(n_keys, np.inf),
    )


def _matching_steps(found: _Signed, batch: Ints, n_keys: int) -> Steps:
    """The same by all matchings, for cells of one size."""
    limits = _limits(found, batch)
    nothing, none = np.zeros(n_keys), np.zeros(0)
    ends = (np.full(n_keys, -np.inf), np.full(n_keys, np.inf))
    if limits is None:
        return Steps(np.zeros(0, dtype=np.int64), none, none, none, nothing, nothing, *ends, exact=False)
    cell, value, within, counted = limits
    times, key = found.cells.times[batch], found.cells.key[batch]
    first = np.append(True, cell[1:] != cell[:-1])[: len(cell)]
    empty = (within - counted)[first]
    before = np.where(first, empty[cell], np.roll(within, 1))
    here, earlier, floor = (np.log(np.maximum(p, np.finfo(float).tiny)) * (p > 0) for p in (within, before, empty))
    walls: list[Floats] = [(p <= 0).astype(np.float64) for p in (within, before, empty)]
    return Steps(
        key=key[cell],
        value=value,
        rise=times[cell] * (here - earlier),
        fall=(walls[0] - walls[1]) * times[cell],
        floor=totals(key, times * floor, n_keys),
        wall=totals(key, times * walls[2], n_keys),
        stay=ends[0],
        show=ends[1],
    )


def _limits(found: _Signed, batch: Ints) -> tuple[Ints, Floats, Floats, Floats] | None:
    """Per cell of the batch and distinct value t: P(nothing beyond t), and P(that, and something counted).

    None when there is too much to compute.
    """
    entry = dense(found.cells, batch)
    n = entry.shape[1]
    value = np.where(entry >= 0, found.value[entry], np.nan)
    flat = value.reshape(len(batch), n * n)
    cell = np.repeat(np.arange(len(batch)), n * n)[~np.isnan(flat.reshape(-1))]
    seen = flat.reshape(-1)[~np.isnan(flat.reshape(-1))]
    first, _ = distinct([cell, np.unique(seen, return_inverse=True)[1]], len(cell))
    cell, seen = cell[first], seen[first]
    if not affordable(n, len(cell)):
        return None
    within, counted = np.empty(len(cell)), np.empty(len(cell))
    at_once = max(1, 1_000_000 // (n * n))
    for begin in range(0, len(cell), at_once):
        part = slice(begin, begin + at_once)
        mine = value[cell[part]]
        marked = ~np.isnan(mine)
        allowed = ~(marked & (mine > seen[part, None, None]))
        law = matching_laws(marked & allowed, np.nan_to_num(mine), allowed)[0]
        within[part], counted[part] = law.sum(axis=1), law[:, 1:].sum(axis=1)
    return cell, seen, within, counted


def _ends(found: _Signed, n_keys: int) -> tuple[Floats, Floats]:
    """Per key: the least t that some world keeps to, and the least value counted by a world that keeps to it."""
    stay, show = np.full(n_keys, -np.inf), np.full(n_keys, np.inf)
    draws, cells = found.draws, found.cells
    items = _items(draws)
    least = np.maximum(draws.drawn + draws.marked - draws.size, 0)[items.cell]
    forced = (items.upto >= least) & (items.upto - items.times < least)
    key = cells.key[draws.cell]
    np.maximum.at(stay, key[items.cell[forced]], items.value[forced])
    np.minimum.at(show, key[items.cell], items.value)
    for batch in by_size(cells, draws.rest):
        stays, shows = _batch_ends(found, batch)
        np.maximum.at(stay, cells.key[batch], stays)
        np.minimum.at(show, cells.key[batch], shows)
    return stay, show


def _batch_ends(found: _Signed, batch: Ints) -> tuple[Floats, Floats]:
    """Per cell: least t it can keep to, least t with something counted."""
    limits = _limits(found, batch)
    if limits is None:
        entry = dense(found.cells, batch)
        ends = [_bottleneck(one) for one in np.where(entry >= 0, found.value[entry], np.nan)]
        return np.array([s for s, _ in ends]), np.array([s for _, s in ends])
    cell, value, within, counted = limits
    stay, show = np.full(len(batch), np.inf), np.full(len(batch), np.inf)
    np.minimum.at(stay, cell[within > 0], value[within > 0])
    np.minimum.at(show, cell[counted > 0], value[counted > 0])
    first = np.append(True, cell[1:] != cell[:-1])[: len(cell)]
    stay[(within - counted)[first] > 1e-12 / max(1, len(cell))] = -np.inf
    return stay, show


def _bottleneck(value: Floats) -> tuple[float, float]:
    """The same for one large matrix: binary search over its values, an assignment each."""
    from scipy.optimize import linear_sum_assignment

    seen = np.unique(value[~np.isnan(value)])

    def most_counted(limit: float) -> float:
        score = np.where(np.isnan(value), 0.0, np.where(value > limit, -float(len(value)) - 1, 1.0))
        rows, columns = linear_sum_assignment(score, maximize=True)
        return float(score[rows, columns].sum())

    def least(needed: float) -> float:
        low, high = 0, len(seen)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if most_counted(float(seen[middle])) >= needed else (middle + 1, high)
        return float(seen[low]) if low < len(seen) else np.inf

    if most_counted(-np.inf) >= 0:
        return -np.inf, least(1)
    return least(0), least(1)
