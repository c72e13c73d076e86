"""GROUP BY keys met so far: SQL values of the key expressions to dense indices."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.codec import Codes, Domain

Ints = NDArray[np.int64]
NAN = float("nan")
MOST_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class Part:
    """One key expression on N rows: `place[i]` indexes `values` (NULL is one of them)."""

    place: Ints
    values: pa.Array


def part_of_codes(codes: Codes, domain: Domain) -> Part:
    """A column as its own key."""
    return Part(codes.astype(np.int64), domain.with_missing())


def part_of_values(array: pa.Array) -> Part:
    """An expression's SQL values as a key."""
    encoded = array.dictionary_encode("encode")
    return Part(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary)


@dataclass(eq=False)
class KeyBook:
    """Keys in the order they were met; without GROUP BY the one key is there from the start."""

    grouped: bool
    tuples: list[tuple[Hashable, ...]] = field(default_factory=list)
    types: list[pa.DataType] = field(default_factory=list)
    _index: dict[tuple[Hashable, ...], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.grouped:
            self._add(())

    def __len__(self) -> int:
        return len(self.tuples)

    def index(self, parts: Sequence[Part], kept: NDArray[np.bool_]) -> Ints:
        """Key index of every kept row, −1 for the others."""
        found = np.full(len(kept), -1, dtype=np.int64)
        if not parts:
            found[kept] = 0
            return found
        self.types = [part.values.type for part in parts]
        places = [part.place[kept] for part in parts]
        first, inverse = _distinct(places, [len(part.values) for part in parts])
        columns = [
            _hashable(part.values.take(pa.array(place[first]))) for part, place in zip(parts, places, strict=True)
        ]
        known = np.array([self._add(key) for key in zip(*columns, strict=True)], dtype=np.int64)
        found[kept] = known[inverse] if len(known) else -1
        return found

    def column(self, place: int) -> pa.Array:
        """Values of one key expression over all keys."""
        kind = self.types[place] if self.types else pa.null()
        return pa.array([key[place] for key in self.tuples], kind)

    def _add(self, key: tuple[Hashable, ...]) -> int:
        index = self._index.setdefault(key, len(self.tuples))
        if index == len(self.tuples):
            self.tuples.append(key)
        return index


def _hashable(array: pa.Array) -> list[Hashable]:
    """Python values; one NaN for all, as SQL groups them."""
    return [NAN if isinstance(value, float) and value != value else value for value in array.to_pylist()]


def _distinct(places: Sequence[Ints], sizes: Sequence[int]) -> tuple[Ints, Ints]:
    """A row of each distinct tuple of places, and for every row which distinct tuple it has."""
    cell, n_cells = places[0], sizes[0]
    for place, size in zip(places[1:], sizes[1:], strict=True):
        if n_cells * size > 1 << 62:
            uniques, cell = np.unique(cell, return_inverse=True)
            n_cells = len(uniques)
        cell, n_cells = cell * size + place, n_cells * size
    if n_cells > MOST_CELLS:
        _, first, inverse = np.unique(cell, return_index=True, return_inverse=True)
        return first.astype(np.int64), inverse.astype(np.int64)
    row = np.full(n_cells, -1, dtype=np.int64)
    row[cell[::-1]] = np.arange(len(cell) - 1, -1, -1, dtype=np.int64)
    there = np.flatnonzero(row >= 0)
    rank = np.zeros(n_cells, dtype=np.int64)
    rank[there] = np.arange(len(there))
    return row[there], rank[cell]
