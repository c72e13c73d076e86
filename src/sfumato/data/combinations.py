"""How many rows a combination of columns makes unique: the core question about quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset

Ints = NDArray[np.int64]
DENSE = 1 << 24
CELLS = 40_000_000
FEWEST = 12


@dataclass(frozen=True, eq=False)
class Keys:
    """One code per row for a combination of columns, all below `size`; the missing value is a value.

    `units`: which person each row is about; None when every row is a person of its own.
    """

    codes: Ints
    size: int
    units: NDArray[np.int32] | None = None

    def counts(self) -> Ints:
        """Rows per combination that occurs; in no meaningful order."""
        if self.size <= max(DENSE, 2 * len(self.codes)):
            counts = np.bincount(self.codes, minlength=0)
            return counts[counts > 0]
        ordered = np.sort(self.codes)
        ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
        return np.diff(ends, prepend=-1)

    def dense(self) -> Keys:
        """The same rows told apart by the smallest codes."""
        if self.size <= DENSE:
            rank = np.cumsum(np.bincount(self.codes, minlength=self.size) > 0) - 1
            return replace(self, codes=rank[self.codes], size=int(rank[-1]) + 1)
        found, codes = np.unique(self.codes, return_inverse=True)
        return replace(self, codes=codes.astype(np.int64), size=len(found))

    def unique_rows(self) -> int:
        """Rows whose combination only one person has."""
        if self.units is None:
            return int((self.counts() == 1).sum())
        mine = self.dense()
        lowest = np.full(mine.size, np.iinfo(np.int32).max, dtype=np.int32)
        highest = np.zeros(mine.size, dtype=np.int32)
        np.minimum.at(lowest, mine.codes, self.units)
        np.maximum.at(highest, mine.codes, self.units)
        return int((lowest == highest)[mine.codes].sum())

    def with_column(self, other: Keys) -> Keys:
        """Keys of both together; made dense first when the product would not fit."""
        mine = self if self.size * other.size < 2**62 else self.dense()
        return replace(mine, codes=mine.codes * other.size + other.codes, size=mine.size * other.size)


def keys_of(dataset: Dataset, column: str) -> Keys:
    """The codes of one column."""
    return Keys(dataset.codes[column].astype(np.int64), max(dataset.domains[column].size, 1), dataset.units)


@dataclass(frozen=True)
class Combination:
    """What one combination of columns gives away: distinct combinations and rows that give one person away."""

    columns: tuple[str, ...]
    distinct: int
    unique_rows: int
    unique_share: float


def uniques(dataset: Dataset, columns: Sequence[str], most_combined: int) -> tuple[list[Combination], list[str]]:
    """Combinations of up to `most_combined` of these columns and of all together, most identifying first; and notes.

    When there are too many to count in seconds, larger combinations are made of the most separating columns only.
    """
    keys = {name: keys_of(dataset, name) for name in columns}
    single = {name: _facts((name,), key) for name, key in keys.items()}
    ranked = sorted(columns, key=lambda name: -single[name].distinct)
    n_kept = _affordable(len(ranked), most_combined, dataset.n_rows)
    found = list(single.values())
    found += [_facts(names, key) for names, key in _combined(ranked[:n_kept], keys, most_combined) if len(names) > 1]
    if len(ranked) > most_combined:
        found.append(_facts(tuple(ranked), _all(ranked, keys)))
    found.sort(key=lambda one: (len(one.columns), -one.unique_share, -one.distinct))
    left_out = len(ranked) - n_kept
    notes = (
        [f"Combinations of 2 and more leave out the {left_out} least distinct columns to save time."]
        if left_out
        else []
    )
    return found, notes


def _affordable(n_columns: int, most: int, n_rows: int) -> int:
    budget = max(FEWEST, CELLS // max(n_rows, 1))
    kept = n_columns
    while kept > 3 and sum(comb(kept, size) for size in range(2, most + 1)) > budget:
        kept -= 1
    return kept


def _combined(names: Sequence[str], keys: dict[str, Keys], most: int) -> Iterator[tuple[tuple[str, ...], Keys]]:
    """Every combination up to a size, each built from the one before it."""
    stack: list[tuple[tuple[int, ...], Keys | None]] = [((), None)]
    while stack:
        chosen, key = stack.pop()
        if key is not None:
            yield tuple(names[i] for i in chosen), key
        if len(chosen) == most:
            continue
        for i in range(chosen[-1] + 1 if chosen else 0, len(names)):
            more = keys[names[i]]
            stack.append(((*chosen, i), more if key is None else key.with_column(more)))


def _all(names: Sequence[str], keys: dict[str, Keys]) -> Keys:
    found = keys[names[0]]
    for name in names[1:]:
        found = found.with_column(keys[name])
    return found


def _facts(names: tuple[str, ...], key: Keys) -> Combination:
    alone = key.unique_rows()
    return Combination(names, len(key.counts()), alone, alone / max(len(key.codes), 1))
