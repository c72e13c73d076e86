"""What a row map makes of permutation groups: exact moments, bounds and laws per group type, added over groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.outcomes import Extreme, Sampled, Sense
from sfumato.worlds.assignment import Goal, Pairs, Picked, best_draws, best_matchings
from sfumato.worlds.bijection_caps import steps_of
from sfumato.worlds.cells import Cells, Draws, cells_of, draws_of
from sfumato.worlds.count_laws import CountLaws, count_laws
from sfumato.worlds.group_types import Entries
from sfumato.worlds.part import Part
from sfumato.worlds.sums import outward_sums, outward_total, totals

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.worlds.caps import Steps

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Deviations:
    """One additive fact inside every cell: value per entry, its mean over the group per slot, per value and in all, and
    the doubly centred value per entry."""

    row: Floats
    column: Floats
    all: Floats
    centred: Floats


def _products(cells: Cells, one: Deviations, other: Deviations) -> Floats:
    """Σ over all pairs of a cell's group of d·d′, the pairs outside the entries included; shape (C,).

    There d = mean − row mean − column mean, with row mean 0 for slots that meet no entry, and so for values.
    """
    size = cells.size.astype(np.float64)
    found = totals(cells.cell, cells.ways * one.centred * other.centred, cells.n_cells)
    a, b = (one.row - one.all[cells.row_cell]), (other.row - other.all[cells.row_cell])
    u, w = (one.column - one.all[cells.column_cell]), (other.column - other.all[cells.column_cell])
    out_values, out_slots = size - cells.n_values, size - cells.n_slots
    found += out_values * totals(cells.row_cell, cells.row_times * a * b, cells.n_cells)
    found += out_slots * totals(cells.column_cell, cells.column_times * u * w, cells.n_cells)
    found += out_values * out_slots * one.all * other.all
    if bool(cells.full.all()):
        return found
    return found + np.where(cells.full, 0.0, _holes(cells, one, other))


def _holes(cells: Cells, one: Deviations, other: Deviations) -> Floats:
    """Σ of d·d′ over crossings of a cell's rows and columns that are no entries."""
    a, b = (one.row - one.all[cells.row_cell]), (other.row - other.all[cells.row_cell])
    u, w, n = one.column, other.column, cells.n_cells
    every = cells.n_values * totals(cells.row_cell, cells.row_times * a * b, n)
    every += totals(cells.row_cell, cells.row_times * a, n) * totals(cells.column_cell, cells.column_times * w, n)
    every += totals(cells.row_cell, cells.row_times * b, n) * totals(cells.column_cell, cells.column_times * u, n)
    every += cells.n_slots * totals(cells.column_cell, cells.column_times * u * w, n)
    mine = (a[cells.row] + u[cells.column]) * (b[cells.row] + w[cells.column])
    return every - totals(cells.cell, cells.ways * mine, n)


@dataclass(frozen=True, eq=False)
class BijectionOutcomes(Part):
    """Facts of a row map over permutation groups."""

    n_keys: int
    entries: Entries

    def widened(self, n_keys: int) -> BijectionOutcomes:
        """The same over more keys."""
        return replace(self, n_keys=n_keys)

    # ---- matrices per key ----

    @cached_property
    def _cells(self) -> dict[tuple[int, str], Cells]:
        return {}

    def cells(self, j: int, which: str = "listed") -> Cells:
        """Cells of argument j over the entries that count: those the listed leaves keep (`listed`), those some world
        keeps (`possible`), those every world keeps that matches them (`decided`)."""
        if (j, which) not in self._cells:
            entries = self.entries
            kept = {
                "listed": entries.listed,
                "possible": ~entries.loose,
                "decided": ~entries.loose & ~entries.maybe,
            }[which]
            counts = kept & ~np.isnan(entries.table.value(j)[entries.outcome])
            counts &= entries.table.key[entries.outcome] >= 0
            self._cells[j, which] = cells_of(entries, np.flatnonzero(counts), self.n_keys)
        return self._cells[j, which]

    def values(self, cells: Cells, j: int) -> Floats:
        """Argument j of every entry of some cells; 1 for rows."""
        return self.entries.table.value(j)[self.entries.outcome[cells.entry]]

    def draws(self, j: int) -> tuple[Cells, Draws]:
        """Cells of argument j for the estimate, and which of them are mere draws."""
        if j not in self._draws:
            cells = self.cells(j)
            self._draws[j] = draws_of(cells, self.values(cells, j))
        return self.cells(j), self._draws[j]

    @cached_property
    def _draws(self) -> dict[int, Draws]:
        return {}

    # ---- additive facts ----

    def _deviations(self, cells: Cells, weight: tuple[int, bool]) -> Deviations:
        """Double centring of c_ij (zero outside the entries): d = c − row mean − column mean + mean."""
        j, summed = weight
        value = self.values(cells, j)
        c = np.where(np.isnan(value), 0.0, value) if summed else (~np.isnan(value)).astype(np.float64)
        n = cells.size[cells.cell]
        row = totals(cells.row, c * cells.column_times[cells.column] / n, len(cells.row_cell))
        column = totals(cells.column, c * cells.row_times[cells.row] / n, len(cells.column_cell))
        every = totals(cells.row_cell, row * cells.row_times, cells.n_cells) / cells.size
        centred = c - row[cells.row] - column[cells.column] + every[cells.cell]
        return Deviations(row, column, every, centred)

    def moments(self, weights: Sequence[tuple[int, bool]]) -> tuple[Floats, Floats]:
        """Mean Σ c_ij/n and covariance Σ d_ij·d′_ij/(n − 1) (Hoeffding 1951), times groups, summed over types."""
        cells, m = self.cells(-1), len(weights)
        found = [self._deviations(cells, weight) for weight in weights]
        means = [totals(cells.key, one.all * cells.size * cells.times, self.n_keys) for one in found]
        covariance = np.empty((m, m, self.n_keys))
        scale = cells.times / np.maximum(cells.size - 1, 1)
        for a in range(m):
            for b in range(a + 1):
                one = totals(cells.key, scale * _products(cells, found[a], found[b]), self.n_keys)
                covariance[a, b] = covariance[b, a] = one
        return np.stack(means), covariance

    def cross(self, weight: tuple[int, bool]) -> Floats:
        """Off the diagonal [TT′ − n·Σ_i r_i·r′_i − n·Σ_j c_j·c′_j]/(n − 1): sums T, means r of slots and c of values
        under the two keys, as no pair has both."""
        cells, entries = self.cells(-1), self.entries
        one = self._deviations(cells, weight)
        size = cells.size.astype(np.float64)
        scale = cells.times / np.maximum(size - 1, 1)
        head = np.searchsorted(cells.cell, np.arange(cells.n_cells))
        slot, value = np.empty_like(cells.row_cell), np.empty_like(cells.column_cell)
        slot[cells.row], value[cells.column] = entries.slot[cells.entry], entries.value[cells.entry]
        found = self._overlap(entries.type[cells.entry[head]], cells.key, one.all, scale * size**2)
        of, n = cells.row_cell, cells.row_times
        found -= self._overlap(slot, cells.key[of], one.row, (scale * size)[of] * n)
        of, n = cells.column_cell, cells.column_times
        found -= self._overlap(value, cells.key[of], one.column, (scale * size)[of] * n)
        np.fill_diagonal(found, self.moments([weight])[1][0, 0])
        return found

    def _overlap(self, label: Ints, key: Ints, value: Floats, factor: Floats) -> Floats:
        """Σ over labels of factor·value_κ·value_λ; (K, K)."""
        from scipy.sparse import csr_array

        shape = (int(label.max(initial=-1)) + 1, self.n_keys)
        left = csr_array((value * factor, (label, key)), shape=shape)
        found: Floats = (left.T @ csr_array((value, (label, key)), shape=shape)).toarray()
        return found

    # ---- bounds ----

    def extreme(self, j: int, slope: float, shift: Floats, sense: Sense) -> tuple[Extreme, bool]:
        """Every group by itself: draws by sorting, other matrices by assignment."""
        goal, n = Goal(slope, shift, sense), self.n_keys
        picked = self._picked(j, goal)
        gain, size = goal.gains(picked.key, picked.value)
        value = outward_sums(picked.key, picked.times * gain, picked.times * size, n, sense, goal.whole)
        count = totals(picked.key, picked.times, n)
        total = totals(picked.key, picked.times * picked.value, n)
        loose = self._most_loose if self.entries.undecided else 0.0
        if loose > 0 and slope != 0 and j >= 0:
            ends = np.full(n, goal.sign * np.inf)
            return Extreme(ends, count + loose, ends), False
        if loose > 0:
            taken = np.where(goal.sign * (shift + slope) > 0, loose, 0.0)
            value = outward_total([value, taken * (shift + slope)], sense)
            count, total = count + taken, total + taken
        return Extreme(value, count, total), picked.attained and not self.entries.undecided

    def _picked(self, j: int, goal: Goal) -> Picked:
        """Undecided entries are counted where that helps the goal and left where it does not."""
        cells = self.cells(j, "possible")
        value, maybe = self.values(cells, j), self.entries.maybe[cells.entry]
        gain = goal.sign * goal.gains(cells.key[cells.cell], value)[0]
        if bool((gain[maybe] < 0).any()) and bool((gain[maybe] > 0).any()):
            return best_matchings(cells, np.arange(cells.n_cells), Pairs(value, maybe), goal)
        if bool((gain[maybe] < 0).any()):
            cells = self.cells(j, "decided")
            value = self.values(cells, j)
        draws = draws_of(cells, value)
        found = best_draws(cells, draws, goal)
        return found.joined(best_matchings(cells, draws.rest, Pairs(value, None), goal)) if len(draws.rest) else found

    @cached_property
    def _most_loose(self) -> float:
        """More undecided pairs than any world can match."""
        entries, n = self.entries, len(self.entries.sizes)
        most = entries.sizes.astype(np.float64)
        for member, times in ((entries.slot, entries.slot_times), (entries.value, entries.value_times)):
            told, first = np.unique(member[entries.loose], return_index=True)
            most = np.minimum(most, totals(entries.type[entries.loose][first], times[told], n))
        return float(most @ entries.times)

    def lone(self, j: int) -> bool:
        """A draw may take any one marked item alone; other matrices may force a second pair."""
        cells = self.cells(j, "possible")
        return not self.entries.undecided and not len(draws_of(cells, self.values(cells, j)).rest)

    # ---- laws ----

    def laws(self, j: int) -> CountLaws:
        """The law of count j in every cell."""
        if j not in self._laws:
            cells, draws = self.draws(j)
            self._laws[j] = count_laws(cells, draws, self.values(cells, j))
        return self._laws[j]

    @cached_property
    def _laws(self) -> dict[int, CountLaws]:
        return {}

    def log_cf(self, j: int, key: int, omega: Floats) -> tuple[Floats, Floats] | None:
        """Σ over types of groups · log φ_type."""
        return self.laws(j).log_cf(key, omega)

    def spread(self, j: int, key: int) -> float:
        """Variance of the hypergeometric part: a hypergeometric count is a sum of independent 0/1 terms."""
        return self.laws(j).spread(key)

    def generating(self, j: int, key: int, t: Floats) -> tuple[Floats, Floats] | None:
        """Σ over types of groups · log G_type, and of groups · G′-weighted mean values."""
        return self.laws(j).generating(key, t)

    def log_absent(self, j: int) -> Floats | None:
        """Σ over types of groups · log P(nothing counted)."""
        return self.laws(j).log_absent(self.n_keys)

    def steps(self, j: int, sense: Sense) -> Steps:
        """Pieces of `caps`."""
        return steps_of(self, j, sense)

    def sample(self, n_worlds: int, chance: Chance) -> Sampled:
        """The aggregates in sampled worlds."""
        from sfumato.worlds.bijection_sampling import sampled

        return sampled(self, n_worlds, chance.generator())
