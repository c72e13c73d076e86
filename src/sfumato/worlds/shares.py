"""The share of each row type that a WHERE clause keeps: each factor on its distinct regions, one product over factors.

Row types that some factor never keeps are in no answer; they are left out before anything is multiplied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.outcomes import Factor
from sfumato.worlds.regions import Regions, tuples_of
from sfumato.worlds.sums import totals

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Seen:
    """Row types as factors see them: distinct regions over some columns, sizes of the domains, and columns that may
    hold values outside the list."""

    regions: Callable[[tuple[str, ...]], Regions]
    sizes: Mapping[str, int]
    unknown: frozenset[str]
    n_types: int


@dataclass(frozen=True, eq=False)
class Share:
    """What a WHERE clause keeps of the row types `types`, all others being in no answer; arrays are over these types.

    `part` of its tuples; whether some world keeps the row, whether all do; `attained` is False where these are only
    outer bounds (None: nowhere).
    """

    types: Ints | slice
    part: Floats
    can: Bools
    must: Bools
    attained: Bools | None


@dataclass(frozen=True, eq=False)
class Counted:
    """One factor on its distinct regions (R,): the part kept; tuples in all, kept surely, undecided (None: none)."""

    found: Regions
    part: Floats
    all: Ints
    surely: Ints
    undecided: Ints | None

    @cached_property
    def can(self) -> Bools:
        """Regions of which some world keeps a row."""
        can: Bools = self.surely > 0 if self.undecided is None else self.surely + self.undecided > 0
        return can


def share_of(factors: Sequence[Factor], seen: Seen) -> Share:
    """The product over independent factors."""
    counted = [_counted(factor, seen) for factor in factors]
    types = _candidates(counted, seen.n_types)
    region = [one.found.of[types] for one in counted]
    n = seen.n_types if isinstance(types, slice) else len(types)
    part = np.ones(n)
    for one, of in zip(counted, region, strict=True):
        part *= one.part[of]
    if all(one.undecided is None for one in counted):
        return Share(types, part, part > 0, part == 1, None)
    can, must = np.ones(n, np.bool_), np.ones(n, np.bool_)
    can_surely, can_escape = np.ones(n, np.bool_), np.zeros(n, np.bool_)
    for one, of in zip(counted, region, strict=True):
        undecided = np.zeros_like(one.surely) if one.undecided is None else one.undecided
        can &= one.can[of]
        must &= (one.surely == one.all)[of]
        can_surely &= (one.surely > 0)[of]
        can_escape |= (one.surely + undecided < one.all)[of]
    return Share(types, part, can, must, (can == can_surely) & (must == ~can_escape))


def _candidates(counted: Sequence[Counted], n_types: int) -> Ints | slice:
    """Row types that every factor may keep: those of the most selective factor, sifted by the others."""
    sizes = [int(one.found.n_types[one.can].sum()) for one in counted]
    if not sizes or 2 * min(sizes) > n_types:
        return slice(None)
    first = sizes.index(min(sizes))
    types = counted[first].found.types_of(np.flatnonzero(counted[first].can))
    for one in (*counted[:first], *counted[first + 1 :]):
        types = types[one.can[one.found.of[types]]]
    return types


def _counted(factor: Factor, seen: Seen) -> Counted:
    found = seen.regions(tuple(factor.columns))
    one = _on_one_column(factor, found, seen) if len(factor.columns) == 1 else _on_tuples(factor, found)
    if seen.unknown.isdisjoint(factor.columns):
        return one
    # A value outside the list may be kept or not, whatever the listed ones are.
    undecided = np.zeros_like(one.surely) if one.undecided is None else one.undecided
    return Counted(found, one.part, one.all + 1, one.surely, undecided + 1)


def _on_one_column(factor: Factor, found: Regions, seen: Seen) -> Counted:
    name = factor.columns[0]
    kept, sure = factor.keeps({name: np.arange(seen.sizes[name], dtype=np.int32)})
    low, beyond = found.low[0], found.high[0] + 1

    def inside(flags: Bools) -> Ints:
        before = np.zeros(len(flags) + 1, dtype=np.int64)
        np.cumsum(flags, out=before[1:])
        return before[beyond] - before[low]

    return _decided(found, beyond - low, inside, kept, sure)


def _on_tuples(factor: Factor, found: Regions) -> Counted:
    region, codes, of = tuples_of(found)
    kept, sure = factor.keeps(codes)

    def inside(flags: Bools) -> Ints:
        return totals(region, flags[of], len(found.volume)).astype(np.int64)

    return _decided(found, found.volume.astype(np.int64), inside, kept, sure)


def _decided(found: Regions, every: Ints, inside: Callable[[Bools], Ints], kept: Bools, sure: Bools | None) -> Counted:
    n_kept = inside(kept)
    if sure is None or bool(sure.all()):
        return Counted(found, n_kept / every, every, n_kept, None)
    return Counted(found, n_kept / every, every, inside(kept & sure), inside(~sure))
