"""What a row map makes of independent rows: sums over regions of the core columns, weighted by what factors keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.outcomes import Extreme, Sampled, Sense
from sfumato.worlds.caps import Steps
from sfumato.worlds.part import Part
from sfumato.worlds.regions import Atoms
from sfumato.worlds.shares import Share
from sfumato.worlds.sums import outward_sums, outward_total, totals
from sfumato.worlds.tuples import PAIRS_AT_ONCE, distinct, expand, slices, starts_of

if TYPE_CHECKING:
    from sfumato.chance import Chance

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Classes:
    """The row types `share.types`: `region` (T,) of the core columns, `weight` (T,) rows, and the `share` kept."""

    region: Ints
    weight: Ints
    share: Share

    def sums(self, terms: NDArray[np.generic], n: int) -> Floats:
        """Σ over row types of each region; shape (n,)."""
        if n == 1:
            return np.array([float(np.sum(terms, dtype=np.float64))])
        return totals(self.region, terms, n)

    @cached_property
    def distinct(self) -> tuple[Ints, Floats, Ints]:
        """Distinct (region, part kept > 0), sorted by region: region, part, rows."""
        kept = np.flatnonzero(self.share.part > 0)
        order = kept[np.lexsort((self.share.part[kept], self.region[kept]))]
        region, part = self.region[order], self.share.part[order]
        new = np.append(True, (region[1:] != region[:-1]) | (part[1:] != part[:-1]))[: len(order)]
        rows = np.bincount(np.cumsum(new) - 1, weights=self.weight[order]) if len(order) else np.zeros(0)
        return region[new], part[new], rows.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Cells:
    """(region, key) pairs where argument j counts, sorted by region: `part` of the region's tuples, their `mean`
    contribution to a kept row, `full` when every tuple counts, `low` and `high` of the values; `atom` are the atoms
    behind them and `of` the cell of each."""

    region: Ints
    key: Ints
    part: Floats
    mean: Floats
    full: Bools
    low: Floats
    high: Floats
    atom: Ints
    of: Ints


@dataclass(frozen=True, eq=False)
class AlternativesOutcomes(Part):
    """Facts of a row map over independent rows. `volume` (S,): tuples of each region."""

    n_keys: int
    atoms: Atoms
    volume: Floats
    classes: Classes

    def widened(self, n_keys: int) -> AlternativesOutcomes:
        """The same over more keys."""
        return replace(self, n_keys=n_keys)

    # ---- what rows of a region add ----

    @cached_property
    def _cells(self) -> dict[tuple[int, bool], Cells]:
        return {}

    @cached_property
    def _of_key(self) -> dict[int, tuple[Ints, Ints]]:
        """Cells of each argument by key, and where each key's begin."""
        return {}

    @cached_property
    def _starts(self) -> Ints:
        """Where each region's parts of `classes.distinct` begin."""
        return starts_of(self.classes.distinct[0], len(self.volume))

    def cells(self, j: int, decided: bool = False) -> Cells:
        """Cells of argument j over all tuples, or over the regions that are decided throughout."""
        if decided and not self.loose.any():
            return self.cells(j)
        if (j, decided) not in self._cells:
            self._cells[j, decided] = self._made_cells(j, decided)
        return self._cells[j, decided]

    def _made_cells(self, j: int, decided: bool) -> Cells:
        atoms, table = self.atoms, self.atoms.table
        counts = (table.key[atoms.outcome] >= 0) & ~np.isnan(table.value(j)[atoms.outcome])
        if decided:
            counts &= ~self.loose[atoms.region]
        atom = np.flatnonzero(counts)
        region, key = atoms.region[atom], table.key[atoms.outcome[atom]]
        new = np.append(True, (region[1:] != region[:-1]) | (key[1:] != key[:-1]))[: len(atom)]
        of = np.cumsum(new) - 1
        first = np.flatnonzero(new)
        n, value = atoms.n[atom], table.value(j)[atoms.outcome[atom]]
        tuples = totals(of, n, len(first))
        volume = self.volume[region[first]]
        total = totals(of, n * value, len(first))
        low = np.minimum.reduceat(value, first) if len(first) else np.zeros(0)
        high = np.maximum.reduceat(value, first) if len(first) else np.zeros(0)
        full = tuples == volume
        return Cells(region[first], key[first], tuples / volume, total / volume, full, low, high, atom, of)

    @cached_property
    def loose(self) -> Bools:
        """Regions with an undecided tuple: such a row may count with any value under any key."""
        loose = np.zeros(len(self.volume), dtype=np.bool_)
        loose[self.atoms.region[~self.atoms.table.sure[self.atoms.outcome]]] = True
        return loose

    @cached_property
    def _kept(self) -> tuple[Floats, Floats, Floats]:
        """Per region: expected rows kept, Σ part², Σ part·(1 − part)."""
        part, weight, n = self.classes.share.part, self.classes.weight, len(self.volume)
        rows = weight * part
        sums = self.classes.sums
        return sums(rows, n), sums(rows * part, n), sums(rows * (1 - part), n)

    @cached_property
    def _rows(self) -> tuple[Floats, Floats]:
        """Per region: rows that every world keeps, and rows that only some world keeps."""
        share, weight, n = self.classes.share, self.classes.weight, len(self.volume)
        must = self.classes.sums(weight * share.must, n)
        return must, self.classes.sums(weight * share.can, n) - must

    @cached_property
    def _n_loose(self) -> float:
        """Rows that may count with any value under any key."""
        return float(sum(rows[self.loose].sum() for rows in self._rows))

    @property
    def decided(self) -> bool:
        """Are all rows decided, so that what worlds can do is known?"""
        attained = self.classes.share.attained
        return self._n_loose == 0 and (attained is None or bool(attained.all()))

    def _facts(self, weights: Sequence[tuple[int, bool]]) -> tuple[Cells, Floats, Floats]:
        """Cells of all rows with a key, and per atom and per cell the M facts' values and means."""
        cells = self.cells(-1)
        outcome = self.atoms.outcome[cells.atom]
        each = np.empty((len(weights), len(outcome)))
        for m, (j, summed) in enumerate(weights):
            value = self.atoms.table.value(j)[outcome]
            each[m] = np.where(np.isnan(value), 0.0, value) if summed else ~np.isnan(value)
        share = self.atoms.n[cells.atom] / self.volume[self.atoms.region[cells.atom]]
        size = len(cells.key)
        mean = np.stack([totals(cells.of, share * one, size) for one in each])
        return cells, each, mean

    # ---- additive facts ----

    def moments(self, weights: Sequence[tuple[int, bool]]) -> tuple[Floats, Floats]:
        """Mean Σ f·m and covariance Σ f·(spread inside a kept row) + Σ f(1−f)·m·m′, f the part kept."""
        cells, each, mean = self._facts(weights)
        kept, _, mixed = (sums[cells.region] for sums in self._kept)
        share = self.atoms.n[cells.atom] / self.volume[self.atoms.region[cells.atom]]
        size, m = len(cells.key), len(weights)
        means = np.stack([totals(cells.key, kept * one, self.n_keys) for one in mean])
        covariance = np.empty((m, m, self.n_keys))
        for a in range(m):
            for b in range(a + 1):
                away = share * (each[a] - mean[a][cells.of]) * (each[b] - mean[b][cells.of])
                inside = totals(cells.of, away, size)
                both = mean[a] * mean[b]
                inside += np.where(cells.full, 0.0, (1 - cells.part) * both)
                one = totals(cells.key, kept * inside + mixed * both, self.n_keys)
                covariance[a, b] = covariance[b, a] = one
        return means, covariance

    def cross(self, weight: tuple[int, bool]) -> Floats:
        """Off the diagonal −Σ f²·m_κ·m_λ: a row has one key only."""
        from scipy.sparse import csr_array

        cells, _, mean = self._facts([weight])
        squares = self._kept[1][cells.region]
        shape = (len(self.volume), self.n_keys)
        left = csr_array((mean[0] * squares, (cells.region, cells.key)), shape=shape)
        right = csr_array((mean[0], (cells.region, cells.key)), shape=shape)
        found: Floats = -(left.T @ right).toarray()
        np.fill_diagonal(found, self.moments([weight])[1][0, 0])
        return found

    # ---- bounds ----

    def extreme(self, j: int, slope: float, shift: Floats, sense: Sense) -> tuple[Extreme, bool]:
        """Every row by itself: the best outcome it can have under κ, or none where it can escape."""
        cells, sign = self.cells(j, decided=True), 1.0 if sense == "max" else -1.0
        best = np.where(sign * slope >= 0, cells.high, cells.low)
        gain = slope * best + shift[cells.key]
        must, may = (rows[cells.region] for rows in self._rows)
        count = np.where(sign * gain >= 0, must + may, np.where(cells.full, must, 0.0))
        size = count * (np.abs(slope * best) + np.abs(shift[cells.key]))
        whole = float(slope).is_integer() and bool((shift == np.rint(shift)).all())
        n = self.n_keys
        value = outward_sums(cells.key, count * gain, size, n, sense, whole)
        counts = totals(cells.key, count, n)
        sums = totals(cells.key, count * best, n)
        loose = self._n_loose
        if loose == 0:
            return Extreme(value, counts, sums), self.decided
        if slope != 0 and j >= 0:
            return Extreme(np.full(n, sign * np.inf), counts + loose, np.full(n, sign * np.inf)), False
        taken = np.where(sign * (shift + slope) > 0, loose, 0.0)
        return Extreme(outward_total([value, taken * (shift + slope)], sense), counts + taken, sums + taken), False

    def lone(self, j: int) -> bool:
        """Rows are independent: one is counted, all others escape."""
        return self.decided

    def steps(self, j: int, sense: Sense) -> Steps:
        """P(a row keeps to t) = 1 − f·(part of its region counted beyond t)."""
        sign = 1.0 if sense == "max" else -1.0
        cells = self.cells(j)
        atoms = self.atoms
        value = sign * atoms.table.value(j)[atoms.outcome[cells.atom]]
        order = np.lexsort((value, cells.of))
        cell, value = cells.of[order], value[order]
        n = atoms.n[cells.atom[order]]
        inclusive = np.cumsum(n)
        total = totals(cell, n, len(cells.key)).astype(np.int64)
        beyond = np.cumsum(total)[cell] - inclusive
        volume = self.volume[cells.region[cell]]
        here, here_wall = self._log_kept(cells.region[cell], beyond / volume)
        before, before_wall = self._log_kept(cells.region[cell], (beyond + n) / volume)
        floor, wall = self._log_kept(cells.region, cells.part)
        steps = Steps(
            key=cells.key[cell],
            value=value,
            rise=here - before,
            fall=here_wall - before_wall,
            floor=totals(cells.key, floor, self.n_keys),
            wall=totals(cells.key, wall, self.n_keys),
        )
        return self._reaching(steps, j, sign)

    def _reaching(self, steps: Steps, j: int, sign: float) -> Steps:
        """With what worlds can keep to, show and count."""
        cells = self.cells(j, decided=True)
        must, may = (rows[cells.region] for rows in self._rows)
        least = np.where(sign > 0, cells.low, -cells.high)
        stay, show = np.full(self.n_keys, -np.inf), np.full(self.n_keys, np.inf)
        forced, can = cells.full & (must > 0), must + may > 0
        np.maximum.at(stay, cells.key[forced], least[forced])
        np.minimum.at(show, cells.key[can], least[can])
        seen = can[cells.of]
        outcome = self.atoms.outcome[cells.atom[seen]]
        first, _ = distinct([outcome], len(outcome))
        seen_value = sign * self.atoms.table.value(j)[outcome[first]]
        seen_key = self.atoms.table.key[outcome[first]]
        steps = replace(steps, stay=stay, show=show, seen_key=seen_key, seen_value=seen_value)
        return replace(steps, loose=self._n_loose > 0, attained=self.decided)

    # ---- counts as sums of independent 0/1 terms ----

    def _log_kept(self, region: Ints, part: Floats) -> tuple[Floats, Floats]:
        """Σ over rows of the region of log(1 − f·part), and the number of rows for which it is −inf."""
        of_class, f, rows = self.classes.distinct
        starts = starts_of(of_class, len(self.volume))
        log, wall = np.zeros(len(region)), np.zeros(len(region))
        counts = starts[region + 1] - starts[region]
        for begin, end in slices(counts):
            pair, offset = expand(counts[begin:end])
            at = starts[region[begin:end]][pair] + offset
            p = f[at] * part[begin:end][pair]
            closed = p >= 1
            terms = np.where(closed, 0.0, rows[at] * np.log1p(-np.where(closed, 0.0, p)))
            log[begin:end] = totals(pair, terms, end - begin)
            wall[begin:end] = totals(pair, closed * rows[at], end - begin)
        return log, wall

    def _levels(self, j: int, key: int) -> tuple[Floats, Floats, Ints]:
        """Count j of one key as independent terms: P(counted), mean contribution, rows."""
        cells = self.cells(j)
        _, f, rows = self.classes.distinct
        if j not in self._of_key:
            self._of_key[j] = np.argsort(cells.key, kind="stable"), starts_of(np.sort(cells.key), self.n_keys)
        order, begin = self._of_key[j]
        starts, mine = self._starts, order[begin[key] : begin[key + 1]]
        region = cells.region[mine]
        pair, offset = expand(starts[region + 1] - starts[region])
        at = starts[region[pair]] + offset
        return f[at] * cells.part[mine[pair]], f[at] * cells.mean[mine[pair]], rows[at]

    def log_absent(self, j: int) -> Floats:
        """Σ log(1 − p) over rows."""
        cells = self.cells(j)
        log, wall = self._log_kept(cells.region, cells.part)
        log = totals(cells.key, log, self.n_keys)
        return np.where(totals(cells.key, wall, self.n_keys) > 0, -np.inf, log)

    def log_cf(self, j: int, key: int, omega: Floats) -> tuple[Floats, Floats]:
        """log|φ| = Σ n·½log(1 − 4p(1−p)sin²(ω/2)), arg φ = Σ n·atan2(p sin ω, 1−p+p cos ω), over distinct p."""
        p, _, rows = self._levels(j, key)
        level, of = np.unique(p, return_inverse=True)
        n = totals(of, rows, len(level))
        log, angle = np.zeros(len(omega)), np.zeros(len(omega))
        at_once = max(1, PAIRS_AT_ONCE // max(1, len(omega)))
        with np.errstate(divide="ignore"):
            for begin in range(0, len(level), at_once):
                q, times = level[begin : begin + at_once, None], n[begin : begin + at_once]
                log += times @ (0.5 * np.log1p(np.maximum(-4 * q * (1 - q) * np.sin(omega / 2) ** 2, -1.0)))
                angle += times @ np.arctan2(q * np.sin(omega), 1 - q + q * np.cos(omega))
        return log, angle

    def spread(self, j: int, key: int) -> float:
        """Σ p(1−p)."""
        p, _, rows = self._levels(j, key)
        return float(np.sum(rows * p * (1 - p)))

    def generating(self, j: int, key: int, t: Floats) -> tuple[Floats, Floats]:
        """log G = Σ log(1 − p + p·t), and Σ m/(1 − p + p·t)."""
        p, mean, rows = self._levels(j, key)
        log, ratio = np.zeros(len(t)), np.zeros(len(t))
        at_once = max(1, PAIRS_AT_ONCE // len(t))
        for begin in range(0, len(p), at_once):
            q, times = p[begin : begin + at_once, None], rows[begin : begin + at_once]
            less = q * (t - 1)
            log += times @ np.log1p(less)
            ratio += (times * mean[begin : begin + at_once]) @ (1 / (1 + less))
        return log, ratio

    def sample(self, n_worlds: int, chance: Chance) -> Sampled:
        """The aggregates in sampled worlds."""
        from sfumato.worlds.alternatives_sampling import sampled

        return sampled(self, n_worlds, chance.generator())
