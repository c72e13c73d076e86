"""Laws of counts inside groups: hypergeometric where counting is drawing, by all matchings in small groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.worlds.assignment import by_size, dense
from sfumato.worlds.cells import Cells, Draws
from sfumato.worlds.matchings import affordable, matching_laws
from sfumato.worlds.sums import totals
from sfumato.worlds.tuples import distinct, expand

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def log_factorials(n: int) -> Floats:
    """log 0! … log n!."""
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])


@dataclass(frozen=True, eq=False)
class CountLaws:
    """U laws and the cells that follow them.

    Law u: P(count = least[u] + i) = `pmf[u, i]`; `sums[u, i]` times a cell's `scale` is the mean sum there;
    `variance[u]` is 0 where the count is not a sum of independent 0/1 terms. Cells: `law`, `key`, `times`, `scale`.
    `unknown`: keys with a cell whose law is too large to compute.
    """

    least: Ints
    pmf: Floats
    sums: Floats
    variance: Floats
    law: Ints
    key: Ints
    times: Ints
    scale: Floats
    unknown: Ints

    def _times(self, key: int) -> Floats:
        mine = self.key == key
        return totals(self.law[mine], self.times[mine], len(self.least))

    @cached_property
    def _widths(self) -> Ints:
        return np.arange(self.pmf.shape[1])

    def log_cf(self, key: int, omega: Floats) -> tuple[Floats, Floats] | None:
        """log|φ| and arg φ of the total count."""
        if key in self.unknown:
            return None
        times = self._times(key)
        mine = np.flatnonzero(times)
        phi = self.pmf[mine] @ np.exp(1j * np.outer(self._widths, omega))
        angle = np.angle(phi) + np.outer(self.least[mine], omega)
        with np.errstate(divide="ignore"):
            log = np.log(np.abs(phi))
        return times[mine] @ log, times[mine] @ angle

    def spread(self, key: int) -> float:
        """Variance of the part that is a sum of independent 0/1 terms."""
        return float(self._times(key) @ self.variance)

    def generating(self, key: int, t: Floats) -> tuple[Floats, Floats] | None:
        """log E[t^N] and E[S·t^(N−1)]/E[t^N] of the total."""
        if key in self.unknown:
            return None
        of_key = self.key == key
        times = self._times(key)
        mine = np.flatnonzero(times)
        scaled = totals(self.law[of_key], (self.times * self.scale)[of_key], len(times))[mine]
        powers = t ** self._widths[:, None]
        whole = self.pmf[mine] @ powers
        log = times[mine] @ np.log(whole) + float(times[mine] @ self.least[mine]) * np.log(t)
        return log, scaled @ ((self.sums[mine] @ powers) / whole) / t

    def log_absent(self, n_keys: int) -> Floats | None:
        """log P(total count = 0) per key."""
        if len(self.unknown):
            return None
        with np.errstate(divide="ignore"):
            none = np.where(self.least > 0, -np.inf, np.log(self.pmf[:, 0])) if len(self.least) else np.zeros(0)
        return totals(self.key, self.times * none[self.law], n_keys)


def count_laws(cells: Cells, draws: Draws, value: Floats) -> CountLaws:
    """Laws of every cell."""
    drawn = hypergeometric_laws(cells, draws)
    rest = [_by_matchings(cells, batch, value) for batch in by_size(cells, draws.rest)]
    told = [drawn, *(one for one in rest if isinstance(one, CountLaws))]
    too_large = [one for one in rest if not isinstance(one, CountLaws)]
    unknown = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *too_large]))
    width = max(one.pmf.shape[1] for one in told)
    before = np.cumsum([0, *(len(one.least) for one in told)])
    return CountLaws(
        least=np.concatenate([one.least for one in told]),
        pmf=np.concatenate([_padded(one.pmf, width) for one in told]),
        sums=np.concatenate([_padded(one.sums, width) for one in told]),
        variance=np.concatenate([one.variance for one in told]),
        law=np.concatenate([one.law + first for one, first in zip(told, before, strict=False)]),
        key=np.concatenate([one.key for one in told]),
        times=np.concatenate([one.times for one in told]),
        scale=np.concatenate([one.scale for one in told]),
        unknown=unknown,
    )


def _padded(rows: Floats, width: int) -> Floats:
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])))


def hypergeometric_laws(cells: Cells, draws: Draws) -> CountLaws:
    """Laws of the draws alone, cell by cell: log P(k) = log C(A,k) + log C(n−A, B−k) − log C(n,B)."""
    first, law = distinct([draws.size, draws.drawn, draws.marked], len(draws.cell))
    n, a, b = draws.size[first], draws.drawn[first], draws.marked[first]
    least, most = np.maximum(a + b - n, 0), np.minimum(a, b)
    width = int((most - least).max(initial=0)) + 1
    of, i = expand(most - least + 1)
    k, f = least[of] + i, log_factorials(int(n.max(initial=0)))
    n_, a_, b_ = n[of], a[of], b[of]
    log = f[a_] - f[k] - f[a_ - k] + f[n_ - a_] - f[b_ - k] - f[n_ - a_ - b_ + k]
    pmf = np.zeros((len(first), width))
    pmf[of, i] = np.exp(log - (f[n_] - f[b_] - f[n_ - b_]))
    pmf /= pmf.sum(axis=1, keepdims=True)
    sums = pmf * (least[:, None] + np.arange(width))
    size = n.astype(np.float64)
    variance = a * b * (size - a) * (size - b) / (size**2 * np.maximum(size - 1, 1))
    mean = totals(draws.item_cell, draws.item_value * draws.item_times, len(draws.cell)) / np.maximum(draws.marked, 1)
    key, times = cells.key[draws.cell], cells.times[draws.cell]
    return CountLaws(least, pmf, sums, variance, law, key, times, mean, np.zeros(0, dtype=np.int64))


def _by_matchings(cells: Cells, batch: Ints, value: Floats) -> CountLaws | Ints:
    """Laws of cells of one size; their keys when there is too much to compute."""
    if not affordable(int(cells.size[batch[0]]), len(batch)):
        return cells.key[batch]
    entry = dense(cells, batch)
    pmf, sums = matching_laws(entry >= 0, value[entry])
    n = len(batch)
    nothing, index = np.zeros(n), np.arange(n)
    return CountLaws(
        np.zeros(n, dtype=np.int64), pmf, sums, nothing, index, cells.key[batch], cells.times[batch], np.ones(n),
        np.zeros(0, dtype=np.int64),
    )  # fmt: skip
