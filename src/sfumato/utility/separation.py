"""Which sets of columns tell rows apart: distinctness, separation and unique rows of every set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError

Ints = NDArray[np.int64]
USUAL, LIMIT = 6_000, 1_000_000
"""Sets of columns that are looked at unasked, and at most."""
DENSE = 1 << 16


@dataclass(frozen=True)
class Separation:
    """One set of columns: distinct tuples, pairs of rows that it leaves alike, rows only one person has."""

    columns: tuple[str, ...]
    distinct: int
    alike: int
    unique_rows: int
    n_rows: int

    @property
    def distinctness(self) -> float:
        """Distinct tuples ÷ rows (Motwani & Xu 2007, α-distinct)."""
        return self.distinct / self.n_rows if self.n_rows else 0.0

    @property
    def separation(self) -> float:
        """Share of pairs of rows told apart (Motwani & Xu 2007, α-separation); 1 where there is no pair."""
        pairs = self.n_rows * (self.n_rows - 1) // 2
        return 1.0 - self.alike / pairs if pairs else 1.0


@dataclass(frozen=True, eq=False)
class Tuples:
    """Distinct tuples: `cells[c]` (D,) codes, `rows` (D,), smallest and largest unit (D,) when units are counted."""

    cells: Mapping[str, Ints]
    rows: Ints
    lowest: Ints | None = None
    highest: Ints | None = None


@dataclass(frozen=True, eq=False)
class _Step:
    """A set of columns: tuples that still look like another one, their class, and what the others add up to."""

    chosen: tuple[int, ...]
    left: Ints
    group: Ints
    n_groups: int
    settled: tuple[int, int, int] = (0, 0, 0)


def largest_sets(n_columns: int, asked: int | None) -> tuple[int, str]:
    """How many columns to combine at most, and a note when that is fewer than there are and nobody asked for it."""
    if asked is None:
        most = max(1, _affordable(n_columns, USUAL))
        left_out = f"Sets of columns: those of up to {most} and all {n_columns} together; most_combined asks for more."
        return most, left_out if most < n_columns else ""
    most = min(asked, n_columns)
    if asked < 1 or n_sets(n_columns, most) > LIMIT:
        raise ParameterError(
            f"{n_columns} columns make {n_sets(n_columns, max(most, 1)):,} sets of up to {asked}; "
            f"most_combined can be 1 to {_affordable(n_columns, LIMIT)}."
        )
    return most, ""


def n_sets(n_columns: int, most: int) -> int:
    """Sets of 1 to `most` columns.

    >>> n_sets(9, 9), n_sets(3, 2)
    (511, 6)
    """
    return sum(comb(n_columns, size) for size in range(1, most + 1))


def _affordable(n_columns: int, budget: int) -> int:
    most = 0
    while most < n_columns and n_sets(n_columns, most + 1) <= budget:
        most += 1
    return most


def separations(tuples: Tuples, most: int, progress: Callable[[str], None] | None = None) -> list[Separation]:
    """Every set of up to `most` columns and all together; few columns first, the most telling first among them.

    Each set is the refinement of a smaller one, and tuples that look like no other any more are not looked at again.
    """
    names = list(tuples.cells)
    place = {name: i for i, name in enumerate(names)}
    # The most different columns come first in most sets, which settles many tuples early.
    names.sort(key=lambda name: -int(tuples.cells[name].max(initial=0)))
    total, said = n_sets(len(names), most), monotonic()
    found: list[Separation] = []
    for chosen, facts in _walk(tuples, names, most):
        found.append(_named(chosen, facts, names, tuples))
        if progress and monotonic() - said > 1:
            said = monotonic()
            progress(f"{len(found):,} of {total:,} sets of columns")
    if most < len(names):
        found.append(_all_together(tuples, names))
    found = [replace(one, columns=tuple(sorted(one.columns, key=place.__getitem__))) for one in found]
    found.sort(key=lambda one: (len(one.columns), -one.distinct, one.alike, [place[name] for name in one.columns]))
    return found


def _start(tuples: Tuples) -> _Step:
    n = len(tuples.rows)
    return _Step((), np.arange(n), np.zeros(n, dtype=np.int64), 1)


def _walk(tuples: Tuples, names: Sequence[str], most: int) -> Iterator[tuple[tuple[int, ...], tuple[int, int, int]]]:
    """Every set with its facts, each made from the one without its last column."""
    stack = [_start(tuples)]
    while stack:
        step = stack.pop()
        for i in range(step.chosen[-1] + 1 if step.chosen else 0, len(names)):
            more, facts = _refined(tuples, step, i, tuples.cells[names[i]])
            yield more.chosen, facts
            if len(more.chosen) < most:
                stack.append(more)


def _refined(tuples: Tuples, step: _Step, i: int, cells: Ints) -> tuple[_Step, tuple[int, int, int]]:
    """The step with one more column, and its facts: distinct tuples, pairs left alike, unique rows."""
    chosen = (*step.chosen, i)
    if not len(step.left):
        return _Step(chosen, step.left, step.group, 0, step.settled), step.settled
    size = int(cells.max()) + 1
    group, n_groups = _dense(step.group * size + cells[step.left], step.n_groups * size)
    several = np.bincount(group, minlength=n_groups) > 1
    rows = np.bincount(group, weights=tuples.rows[step.left], minlength=n_groups).astype(np.int64)
    alike, unique = rows * (rows - 1) // 2, np.where(_of_one_person(tuples, step.left, group, rows), rows, 0)
    alone = ~several
    settled = (
        step.settled[0] + int(alone.sum()),
        step.settled[1] + int(alike[alone].sum()),
        step.settled[2] + int(unique[alone].sum()),
    )
    facts = (
        settled[0] + int(several.sum()),
        settled[1] + int(alike[several].sum()),
        settled[2] + int(unique[several].sum()),
    )
    going = several[group]
    rank = np.cumsum(several) - 1
    return _Step(chosen, step.left[going], rank[group[going]], int(several.sum()), settled), facts


def _of_one_person(tuples: Tuples, left: Ints, group: Ints, rows: Ints) -> NDArray[np.bool_]:
    """Classes that hold rows of one person only."""
    if tuples.lowest is None or tuples.highest is None:
        alone: NDArray[np.bool_] = rows == 1
        return alone
    lowest, highest = np.full(len(rows), np.iinfo(np.int64).max), np.full(len(rows), -1, dtype=np.int64)
    np.minimum.at(lowest, group, tuples.lowest[left])
    np.maximum.at(highest, group, tuples.highest[left])
    same: NDArray[np.bool_] = lowest == highest
    return same


def _dense(key: Ints, space: int) -> tuple[Ints, int]:
    """The keys ranked without gaps; by counting where the space is small, else by sorting."""
    if space <= max(DENSE, 2 * len(key)):
        rank = np.cumsum(np.bincount(key, minlength=space) > 0) - 1
        return rank[key], int(rank[-1]) + 1
    found, codes = np.unique(key, return_inverse=True)
    return codes.astype(np.int64), len(found)


def _all_together(tuples: Tuples, names: Sequence[str]) -> Separation:
    step, facts = _start(tuples), (0, 0, 0)
    for i, name in enumerate(names):
        step, facts = _refined(tuples, step, i, tuples.cells[name])
    return _named(step.chosen, facts, names, tuples)


def _named(chosen: tuple[int, ...], facts: tuple[int, int, int], names: Sequence[str], tuples: Tuples) -> Separation:
    return Separation(tuple(names[i] for i in chosen), *facts, int(tuples.rows.sum()))
