"""Best worlds of permutation groups: draws by sorting, any other matrix by an assignment."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.worlds.cells import Cells, Draws
from sfumato.worlds.tuples import expand

if TYPE_CHECKING:
    from sfumato.outcomes import Sense

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

SMALL = 5
"""Groups up to this size try every matching, many groups at once."""
NUMBERS_AT_ONCE = 2_000_000
MOST_STEPS = 2e11
"""Σ n³ over assignments; beyond it every row takes its own best, which is a sound outer bound."""


@dataclass(frozen=True, eq=False)
class Goal:
    """Optimise Σ over counted rows of key κ of slope·v + shift_κ."""

    slope: float
    shift: Floats
    sense: Sense

    @property
    def sign(self) -> float:
        """1 to maximise, −1 to minimise."""
        return 1.0 if self.sense == "max" else -1.0

    @property
    def whole(self) -> bool:
        """Do whole values give whole gains?"""
        return float(self.slope).is_integer() and bool((self.shift == np.rint(self.shift)).all())

    def gains(self, key: Ints, value: Floats) -> tuple[Floats, Floats]:
        """Gain of counted values, and a bound on the size of what it was computed from."""
        return self.slope * value + self.shift[key], np.abs(self.slope * value) + np.abs(self.shift[key])


@dataclass(frozen=True, eq=False)
class Pairs:
    """Argument of every entry of some cells, and which entries may be left uncounted (None: none)."""

    value: Floats
    optional: Bools | None


@dataclass(frozen=True, eq=False)
class Picked:
    """What a best world counts: key and value, `times` rows of each; `attained` False for an outer bound."""

    key: Ints
    value: Floats
    times: Floats
    attained: bool = True

    def joined(self, other: Picked) -> Picked:
        """Both together."""
        return Picked(
            np.concatenate([self.key, other.key]),
            np.concatenate([self.value, other.value]),
            np.concatenate([self.times, other.times]),
            self.attained and other.attained,
        )


def best_draws(cells: Cells, draws: Draws, goal: Goal) -> Picked:
    """Between max(0, A+B−n) and min(A, B) marked items are drawn, any of them: the best, and more while it helps."""
    key = cells.key[draws.cell[draws.item_cell]]
    gain = goal.sign * goal.gains(key, draws.item_value)[0]
    order = np.lexsort((-gain, draws.item_cell))
    cell, gain, times = draws.item_cell[order], gain[order], draws.item_times[order]
    before = np.cumsum(times) - times
    before -= before[np.searchsorted(cell, cell)]
    least = np.maximum(draws.drawn + draws.marked - draws.size, 0)
    most = np.minimum(draws.drawn, draws.marked)
    taken = np.clip(np.where(gain >= 0, most[cell], least[cell]) - before, 0, times)
    return Picked(key[order], draws.item_value[order], (taken * cells.times[draws.cell[cell]]).astype(np.float64))


def dense(cells: Cells, which: Ints) -> Ints:
    """Entry (position in `cells.entry`) of every slot × value of M cells of one size n, −1 where none; (M, n, n)."""
    n = int(cells.size[which[0]])
    place = np.full(cells.n_cells, -1, dtype=np.int64)
    place[which] = np.arange(len(which))
    mine = np.flatnonzero(place[cells.cell] >= 0)
    row, column = cells.row[mine], cells.column[mine]
    entry, offset = expand(cells.row_times[row] * cells.column_times[column])
    across = cells.column_times[column][entry]
    i = _seats(cells.row_cell, cells.row_times)[row][entry] + offset // across
    j = _seats(cells.column_cell, cells.column_times)[column][entry] + offset % across
    found = np.full((len(which), n, n), -1, dtype=np.int64)
    found[place[cells.cell[mine]][entry], i, j] = mine[entry]
    return found


def _seats(owner: Ints, times: Ints) -> Ints:
    """Position of each row (or column) inside its cell; owners need not be sorted."""
    order = np.argsort(owner, kind="stable")
    before = np.cumsum(times[order]) - times[order]
    before -= before[np.searchsorted(owner[order], owner[order])]
    found = np.empty_like(before)
    found[order] = before
    return found


def by_size(cells: Cells, which: Ints) -> list[Ints]:
    """Batches of cells of one size with bounded n² each."""
    batches = []
    for n in np.unique(cells.size[which]).tolist():
        mine = which[cells.size[which] == n]
        at_once = max(1, NUMBERS_AT_ONCE // (n * n))
        batches += [mine[i : i + at_once] for i in range(0, len(mine), at_once)]
    return batches


def best_matchings(cells: Cells, which: Ints, pairs: Pairs, goal: Goal) -> Picked:
    """A best matching of every cell; pairs that are no entry gain nothing."""
    nothing: Floats = np.zeros(0)
    found = Picked(np.zeros(0, dtype=np.int64), nothing, nothing)
    gain = goal.sign * goal.gains(cells.key[cells.cell], pairs.value)[0]
    left = np.zeros(len(gain), dtype=np.bool_) if pairs.optional is None else pairs.optional & (gain < 0)
    gain = np.where(left, 0.0, gain)
    if float((cells.size[which].astype(np.float64) ** 3).sum()) > MOST_STEPS:
        return _best_rows(cells, which, gain, pairs.value)
    for batch in by_size(cells, which):
        entry = dense(cells, batch)
        matched = np.take_along_axis(entry, _matchings(np.where(entry >= 0, gain[entry], 0.0))[:, :, None], axis=2)
        chosen, times = matched.reshape(-1), np.repeat(cells.times[batch], entry.shape[1])
        told = (chosen >= 0) & ~left[chosen]
        chosen, rows = chosen[told], times[told].astype(np.float64)
        found = found.joined(Picked(cells.key[cells.cell[chosen]], pairs.value[chosen], rows))
    return found


def _matchings(gain: Floats) -> Ints:
    """The column of each row in a matching of greatest gain; (C, n, n) → (C, n)."""
    n = gain.shape[1]
    if n <= SMALL:
        orders = np.array(list(itertools.permutations(range(n))), dtype=np.int64).reshape(-1, n)
        total = np.zeros((len(gain), len(orders)))
        for i in range(n):
            total += gain[:, i, orders[:, i]]
        return np.asarray(orders[np.argmax(total, axis=1)])
    from scipy.optimize import linear_sum_assignment

    return np.stack([linear_sum_assignment(one, maximize=True)[1] for one in gain]).astype(np.int64)


def _best_rows(cells: Cells, which: Ints, gain: Floats, value: Floats) -> Picked:
    mine = np.flatnonzero(np.isin(cells.cell, which) & (gain > 0))
    order = mine[np.lexsort((-gain[mine], cells.row[mine]))]
    best = order[np.append(True, cells.row[order][1:] != cells.row[order][:-1])[: len(order)]]
    times = cells.row_times[cells.row[best]] * cells.times[cells.cell[best]]
    return Picked(cells.key[cells.cell[best]], value[best], times.astype(np.float64), attained=False)
