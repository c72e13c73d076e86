"""Distinct tuples of codes, and runs laid out one after the other: the index work under both primitives."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.codec import Codes
from sfumato.errors import Unanswerable
from sfumato.outcomes import Outcome

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

PAIRS_AT_ONCE = 2_000_000
MOST_TUPLES = 20_000_000
"""Code tuples enumerated for one query; beyond it the query is refused."""


def distinct(columns: Sequence[NDArray[np.integer]], n: int) -> tuple[Ints, Ints]:
    """Distinct tuples of integers: `first[u]` is a row of tuple u, `of[row]` its tuple; sorted by their columns.

    >>> [part.tolist() for part in distinct([np.array([1, -1, 1]), np.array([2, 2, 2])], 3)]
    [[1, 0], [1, 0, 1]]
    """
    key: Ints = np.zeros(n, dtype=np.int64)
    width = 1
    for column in columns:
        low = int(column.min(initial=0))
        size = int(column.max(initial=0)) - low + 1
        if width > (1 << 62) // size:
            _, key = ranked(key, width)
            width = int(key.max(initial=0)) + 1
        key = key * size + (column.astype(np.int64) - low)
        width *= size
    return ranked(key, width)


def ranked(key: Ints, width: int) -> tuple[Ints, Ints]:
    """`distinct` of one column of keys in 0 … width−1."""
    if width > 4 * len(key) + 65_536:
        _, first, of = np.unique(key, return_index=True, return_inverse=True)
        return first.astype(np.int64), of.astype(np.int64)
    # A table of all possible keys costs less than a sort when keys are dense.
    row = np.full(width, -1, dtype=np.int64)
    row[key[::-1]] = np.arange(len(key) - 1, -1, -1)
    used = row >= 0
    rank = np.cumsum(used) - 1
    return row[used], rank[key]


def expand(counts: Ints) -> tuple[Ints, Ints]:
    """Runs laid out one after the other: which run each position belongs to, and its offset inside the run.

    >>> [part.tolist() for part in expand(np.array([2, 0, 1]))]
    [[0, 0, 2], [0, 1, 0]]
    """
    run = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return run, np.arange(len(run)) - before[run]


def starts_of(sorted_ids: Ints, n: int) -> Ints:
    """First position of each id 0 … n−1 in a sorted array, and its length at the end; shape (n + 1,)."""
    return np.searchsorted(sorted_ids, np.arange(n + 1)).astype(np.int64)


def slices(counts: Ints) -> list[tuple[int, int]]:
    """Consecutive runs of entries with about `PAIRS_AT_ONCE` pairs each."""
    part = np.cumsum(counts) // PAIRS_AT_ONCE
    edges = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(counts)]
    return [(a, b) for a, b in itertools.pairwise(edges) if a < b]


def refuse_beyond(n_tuples: float, columns: Sequence[str]) -> None:
    """Raise `Unanswerable` when a query would enumerate too many code tuples."""
    if n_tuples > MOST_TUPLES:
        names = ", ".join(columns) or "no column"
        raise Unanswerable(
            f"Keys, arguments and mixed conditions over {names} would need {n_tuples:.3g} combinations of values; "
            f"the limit is {MOST_TUPLES:.3g}. Group or compare coarser expressions, or fewer columns at once."
        )


@dataclass(frozen=True, eq=False)
class Table:
    """Distinct outcomes, sorted by key: `key` (O,), `values` (O, J), `sure` (O,)."""

    key: Ints
    values: Floats
    sure: Bools

    def __len__(self) -> int:
        return len(self.key)

    def value(self, j: int) -> Floats:
        """Argument of aggregate j per outcome, NaN where it does not count; j = −1 counts every row as 1."""
        return np.ones(len(self.key)) if j < 0 else self.values[:, j]


def table_of(outcome: Outcome, n_values: int) -> tuple[Table, Ints]:
    """The distinct outcomes, and which of them each tuple has. Rows without a key lose their values."""
    key = np.maximum(np.asarray(outcome.key, dtype=np.int64), -1)
    values = np.asarray(outcome.values, dtype=np.float64).reshape(len(key), n_values) + 0.0
    values = np.where((key < 0)[:, None], np.nan, values)
    sure = np.ones(len(key), dtype=np.bool_) if outcome.sure is None else np.asarray(outcome.sure, dtype=np.bool_)
    columns: list[Ints] = [key, sure.astype(np.int64)]
    columns += [np.unique(values[:, j], return_inverse=True)[1].astype(np.int64) for j in range(n_values)]
    first, of = distinct(columns, len(key))
    return Table(key[first], values[first], sure[first]), of


def pick(columns: Mapping[str, Codes], names: Sequence[str], rows: Ints) -> dict[str, Codes]:
    """Some rows of some columns."""
    return {name: columns[name][rows] for name in names}
