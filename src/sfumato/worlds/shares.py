"""The share of each row type that a WHERE clause keeps: prefix sums over codes, one product over factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.outcomes import Factor
from sfumato.worlds.regions import regions, tuples_of
from sfumato.worlds.sums import totals

if TYPE_CHECKING:
    from sfumato.data.codec import Codes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ends:
    """Ends of every row type's regions, sizes of the domains, and columns that may hold values outside the list."""

    low: Mapping[str, Codes]
    high: Mapping[str, Codes]
    sizes: Mapping[str, int]
    unknown: frozenset[str]
    n_types: int


@dataclass(frozen=True, eq=False)
class Share:
    """What a WHERE clause keeps of each row type, (T,): `part` of its tuples; whether some world keeps the row, whether
    all do; `attained` is False where these are only outer bounds (None: nowhere)."""

    part: Floats
    can: Bools
    must: Bools
    attained: Bools | None


@dataclass(frozen=True, eq=False)
class Counted:
    """One factor, per row type (T,): the part kept; tuples in all, kept surely, undecided (None: none anywhere)."""

    part: Floats
    all: NDArray[np.integer]
    surely: Ints
    undecided: Ints | None


def share_of(factors: Sequence[Factor], ends: Ends) -> Share:
    """The product over independent factors."""
    counted = [_counted(factor, ends) for factor in factors]
    part = np.ones(ends.n_types)
    for one in counted:
        part *= one.part
    if all(one.undecided is None for one in counted):
        return Share(part, part > 0, part == 1, None)
    n = ends.n_types
    can, must = np.ones(n, np.bool_), np.ones(n, np.bool_)
    can_surely, can_escape = np.ones(n, np.bool_), np.zeros(n, np.bool_)
    for one in counted:
        undecided = np.zeros(n, dtype=np.int64) if one.undecided is None else one.undecided
        can &= one.surely + undecided > 0
        must &= one.surely == one.all
        can_surely &= one.surely > 0
        can_escape |= one.surely + undecided < one.all
    return Share(part, can, must, (can == can_surely) & (must == ~can_escape))


def _counted(factor: Factor, ends: Ends) -> Counted:
    hidden = not ends.unknown.isdisjoint(factor.columns)
    found = _on_one_column(factor, ends) if len(factor.columns) == 1 else _on_tuples(factor, ends)
    if not hidden:
        return found
    # A value outside the list may be kept or not, whatever the listed ones are.
    undecided = np.zeros_like(found.surely) if found.undecided is None else found.undecided
    return Counted(found.part, found.all + 1, found.surely, undecided + 1)


def _on_one_column(factor: Factor, ends: Ends) -> Counted:
    name = factor.columns[0]
    kept, sure = factor.keeps({name: np.arange(ends.sizes[name], dtype=np.int32)})
    low, beyond = ends.low[name], ends.high[name] + 1

    def inside(flags: Bools) -> Ints:
        before = np.zeros(len(flags) + 1, dtype=np.int64)
        np.cumsum(flags, out=before[1:])
        return before.take(beyond) - before.take(low)

    n_kept, every = inside(kept), beyond - low
    if sure is None or bool(sure.all()):
        return Counted(n_kept / every, every, n_kept, None)
    return Counted(n_kept / every, every, inside(kept & sure), inside(~sure))


def _on_tuples(factor: Factor, ends: Ends) -> Counted:
    found = regions(factor.columns, ends.low, ends.high, ends.n_types)
    region, codes, of = tuples_of(found)
    kept, sure = factor.keeps(codes)
    n = len(found.volume)

    def inside(flags: Bools) -> Ints:
        return totals(region, flags[of], n).astype(np.int64)[found.of]

    n_kept = inside(kept)
    every = found.volume.astype(np.int64)[found.of]
    if sure is None or bool(sure.all()):
        return Counted(n_kept / every, every, n_kept, None)
    return Counted(n_kept / every, every, inside(kept & sure), inside(~sure))
