"""From how often each outcome occurs in sampled worlds to the aggregates per key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.outcomes import Sampled
from sfumato.worlds.tuples import Table

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fold:
    """Writes batches of worlds into one `Sampled`."""

    table: Table
    into: Sampled

    @staticmethod
    def over(table: Table, n_worlds: int, n_keys: int) -> Fold:
        """Nothing counted yet in any world."""
        shape = (n_worlds, n_keys, table.values.shape[1])
        empty = [np.zeros(shape) for _ in range(2)] + [np.full(shape, np.nan) for _ in range(2)]
        return Fold(table, Sampled(np.zeros(shape[:2]), *empty))

    def add(self, begin: int, counts: Floats) -> None:
        """`counts` (W, O): rows with each outcome in worlds begin … begin + W − 1."""
        told = np.flatnonzero(self.table.key >= 0)
        if len(told) == 0:
            return
        key = self.table.key[told]
        starts = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
        keys, worlds = key[starts], slice(begin, begin + len(counts))
        counts = counts[:, told]
        self.into.rows[worlds, keys] = np.add.reduceat(counts, starts, axis=1)
        for j in range(self.table.values.shape[1]):
            value = self.table.values[told, j]
            known = ~np.isnan(value)
            n = counts * known
            self.into.count[worlds, keys, j] = np.add.reduceat(n, starts, axis=1)
            self.into.sum[worlds, keys, j] = np.add.reduceat(n * np.where(known, value, 0.0), starts, axis=1)
            least = np.minimum.reduceat(np.where(n > 0, value, np.inf), starts, axis=1)
            most = np.maximum.reduceat(np.where(n > 0, value, -np.inf), starts, axis=1)
            self.into.minimum[worlds, keys, j] = np.where(np.isinf(least), np.nan, least)
            self.into.maximum[worlds, keys, j] = np.where(np.isinf(most), np.nan, most)
