"""Persons with several rows: their rows of equal sensitive values are one card, dealt among cards of as many rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.contracts import Requirement
from sfumato.methods.feasibility import whole_table
from sfumato.methods.tables.buckets import Deal
from sfumato.releases.distinct import Distinct, distinct_rows

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.data.dataset import Dataset

    Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cards:
    """Rows of one unit with equal sensitive values, kept in one bucket.

    Apart, they could be found in several buckets, whose values intersect. Together, they need a value that the bucket
    holds as often: only cards with as many rows hide them. So cards of one number of rows are dealt among themselves;
    where they are too few or too alike, with those of other numbers, and then their number can tell.
    Does not protect a unit whose rows have different values, each in a bucket of its own.
    """

    dataset: Dataset
    requirements: tuple[Requirement, ...]
    chance: Chance

    def buckets(self) -> Ints | None:
        """Bucket of every row, 0 … G−1, each meeting every requirement; None when that is not found."""
        dealt: list[tuple[Ints, Ints]] = []
        pooled = np.zeros(0, dtype=np.int64)
        for n_rows in np.unique(self._cards.n):
            alike = np.flatnonzero(self._cards.n == n_rows)
            found = self._dealt(alike)
            if found is None:
                pooled = np.concatenate([pooled, alike])
            else:
                dealt.append((alike, found))
        while len(pooled):
            found = self._dealt(pooled)
            if found is not None:
                dealt.append((pooled, found))
                break
            if not dealt:
                return None
            dealt.sort(key=lambda one: len(one[0]))
            pooled = np.concatenate([pooled, dealt.pop(0)[0]])
        bucket, n_buckets = np.empty(len(self._cards.n), dtype=np.int64), 0
        for cards, found in dealt:
            bucket[cards] = found + n_buckets
            n_buckets += int(found.max()) + 1
        return bucket[self._cards.of]

    @cached_property
    def _cards(self) -> Distinct:
        units = self.dataset.units
        assert units is not None
        columns = self.dataset.schema.names("sensitive")
        return distinct_rows([units, *(self.dataset.codes[c] for c in columns)], self.dataset.n_rows)

    @cached_property
    def _totals(self) -> Mapping[str, Ints]:
        return whole_table(self.dataset, self.requirements).totals

    def _dealt(self, cards: Ints) -> Ints | None:
        """Bucket of each of these cards, one row standing for a card."""
        rows = self._cards.first[cards]
        codes = {name: found[rows] for name, found in self.dataset.codes.items()}
        some = replace(self.dataset, codes=codes, n_rows=len(rows))
        return Deal(some, self.requirements, self.chance, self._totals).buckets()
