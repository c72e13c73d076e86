"""Groups as a query sees them: equal groups become one type, and only rows that can be in the answer are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.codec import Codes
from sfumato.outcomes import Factor, Outcome, RowMap
from sfumato.worlds.tuples import Table, distinct, expand, refuse_beyond, starts_of, table_of

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]

DROPPED, KEPT, KEPT_MAYBE, DROPPED_MAYBE = -1, 0, 1, 2


@dataclass(frozen=True, eq=False)
class Grouped:
    """Groups 0 … G−1 of `sizes` rows; `slot_order`, `value_order`: rows of each side in group order."""

    sizes: Ints
    slot_order: Ints
    value_order: Ints
    slots: Mapping[str, Codes]
    values: Mapping[str, Codes]
    domain_sizes: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Side:
    """One side in group order: `kind` (n,) = 3·tuple + state, −1 when surely not in the answer; `codes` of the tuples
    over the columns that keys, arguments and mixed conditions read."""

    kind: Ints
    codes: Mapping[str, Codes]


@dataclass(frozen=True, eq=False)
class Members:
    """Kept rows of one side by group type: type, kind and multiplicity, sorted; `starts` (types + 1,)."""

    type: Ints
    kind: Ints
    times: Ints
    starts: Ints


@dataclass(frozen=True, eq=False)
class Entries:
    """Pairs (slot member, value member) of each group type that can be in the answer, sorted by type.

    Types: `sizes`, `times` (U,) = rows in a group, groups of the type. Members: `slot_times`, `value_times`.
    Entries: `type`, `slot`, `value` (indices of members), `outcome`; `listed` when the listed leaves put it in the
    answer, `maybe` when a condition is undecided, `loose` when key or values are.
    """

    sizes: Ints
    times: Ints
    slot_times: Ints
    value_times: Ints
    type: Ints
    slot: Ints
    value: Ints
    outcome: Ints
    listed: Bools
    maybe: Bools
    loose: Bools
    table: Table

    @property
    def undecided(self) -> bool:
        """Is any entry undecided?"""
        return bool(self.maybe.any() or self.loose.any())


def entries_of(rows: RowMap, grouped: Grouped) -> Entries:
    """What the row map makes of the pairs inside every type of group."""
    mixed = [
        f for f in rows.factors if not (set(f.columns) <= set(grouped.slots) or set(f.columns) <= set(grouped.values))
    ]
    read = list(dict.fromkeys([*rows.core_columns, *(c for f in mixed for c in f.columns)]))
    one_sided = [f for f in rows.factors if f not in mixed]
    slots = _side(grouped.slots, grouped.slot_order, read, one_sided, grouped.domain_sizes)
    values = _side(grouped.values, grouped.value_order, read, one_sided, grouped.domain_sizes)
    first, times = _types(grouped.sizes, slots.kind, values.kind)
    starts = np.cumsum(grouped.sizes) - grouped.sizes
    sizes = grouped.sizes[first]
    ours, theirs = (_members(side.kind, starts[first], sizes) for side in (slots, values))
    n_ours, n_theirs = np.diff(ours.starts), np.diff(theirs.starts)
    refuse_beyond(float((n_ours * n_theirs).sum()), read)
    type_, offset = expand(n_ours * n_theirs)
    slot = ours.starts[type_] + offset // n_theirs[type_]
    value = theirs.starts[type_] + offset % n_theirs[type_]
    pair = _Pairs(rows, mixed, slots.codes, values.codes)
    return pair.entries((sizes, times), (ours, theirs), (type_, slot, value))


def _side(
    columns: Mapping[str, Codes], order: Ints, read: Sequence[str], factors: Sequence[Factor], sizes: Mapping[str, int]
) -> Side:
    """Tuples over the columns read, and what the factors on this side make of every row."""
    names = [c for c in read if c in columns]
    mine = [f for f in factors if set(f.columns) <= set(columns)]
    first, of = distinct([columns[c] for c in names], len(order))
    kept, sure, gone = (np.full(len(order), flag) for flag in (True, True, False))
    for factor in mine:
        keeps, decided = _judged(factor, columns, sizes)
        kept &= keeps
        if decided is None:
            gone |= ~keeps
        else:
            sure &= decided
            gone |= ~keeps & decided
    state = np.where(gone, DROPPED, np.where(sure, KEPT, np.where(kept, KEPT_MAYBE, DROPPED_MAYBE)))
    kind = np.where(gone, DROPPED, 3 * of + state)[order]
    return Side(kind, {c: columns[c][first] for c in names})


def _judged(factor: Factor, columns: Mapping[str, Codes], sizes: Mapping[str, int]) -> tuple[Bools, Bools | None]:
    """A one-sided factor on every row."""
    if len(factor.columns) == 1:
        name = factor.columns[0]
        kept, sure = factor.keeps({name: np.arange(sizes[name], dtype=np.int32)})
        return kept[columns[name]], None if sure is None else sure[columns[name]]
    n = len(next(iter(columns.values())))
    first, of = distinct([columns[c] for c in factor.columns], n)
    kept, sure = factor.keeps({c: columns[c][first] for c in factor.columns})
    return kept[of], None if sure is None else sure[of]


def _types(sizes: Ints, slots: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Groups that look the same: one group of each type, and how many there are."""
    starts = np.cumsum(sizes) - sizes
    prints = []
    for seed in (1, 2):
        ours, theirs = (
            np.add.reduceat(_mixed(side, seed), starts) if len(side) else _mixed(side, seed) for side in (slots, values)
        )
        prints.append(_spread(ours + np.uint64(seed)) + _spread(theirs) * np.uint64(3) + sizes.astype(np.uint64))
    _, first, of, times = np.unique(prints[0], return_index=True, return_inverse=True, return_counts=True)
    if (prints[1] != prints[1][first][of]).any():
        # Two different groups met in one 64-bit print: 128 bits tell them apart.
        _, first, times = np.unique(np.stack(prints), axis=1, return_index=True, return_counts=True)
    return first.astype(np.int64), times.astype(np.int64)


def _mixed(kind: Ints, seed: int) -> Words:
    """A 64-bit word per kind, 0 for dropped rows: sums of words print a multiset."""
    words = _spread(kind.astype(np.uint64) + np.uint64(seed * 0x9E3779B97F4A7C15 % 2**64))
    words[kind < 0] = 0
    return words


def _spread(words: Words) -> Words:
    """The finaliser of splitmix64."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _members(kind: Ints, starts: Ints, sizes: Ints) -> Members:
    type_, offset = expand(sizes)
    mine = kind[starts[type_] + offset]
    told = np.flatnonzero(mine >= 0)
    first, of = distinct([type_[told], mine[told]], len(told))
    type_, mine = type_[told[first]], mine[told[first]]
    return Members(type_, mine, np.bincount(of, minlength=len(first)).astype(np.int64), starts_of(type_, len(sizes)))


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Judges pairs of tuples, each distinct pair once."""

    rows: RowMap
    mixed: Sequence[Factor]
    slots: Mapping[str, Codes]
    values: Mapping[str, Codes]

    def entries(self, types: tuple[Ints, Ints], sides: tuple[Members, Members], at: tuple[Ints, Ints, Ints]) -> Entries:
        ours, theirs = sides
        type_, slot, value = at
        slot_kind, value_kind = ours.kind[slot], theirs.kind[value]
        first, of = distinct([slot_kind // 3, value_kind // 3], len(slot))
        codes = {c: column[slot_kind[first] // 3] for c, column in self.slots.items()}
        codes |= {c: column[value_kind[first] // 3] for c, column in self.values.items()}
        table, outcome = table_of(self._core(codes, len(first)), self.rows.n_values)
        kept, sure, gone = self._mixed_factors(codes, len(first))
        slot_state, value_state = slot_kind % 3, value_kind % 3
        outcome = outcome[of]
        listed = (slot_state <= KEPT_MAYBE) & (value_state <= KEPT_MAYBE) & kept[of] & (table.key[outcome] >= 0)
        maybe = (slot_state != KEPT) | (value_state != KEPT) | ~sure[of]
        loose = ~table.sure[outcome]
        told = np.flatnonzero(~gone[of] & ((table.key[outcome] >= 0) | loose))
        return Entries(
            *types,
            slot_times=ours.times,
            value_times=theirs.times,
            type=type_[told],
            slot=slot[told],
            value=value[told],
            outcome=outcome[told],
            listed=listed[told],
            maybe=maybe[told],
            loose=loose[told],
            table=table,
        )

    def _core(self, codes: Mapping[str, Codes], n: int) -> Outcome:
        if n == 0:
            return Outcome(np.zeros(0, dtype=np.int64), np.zeros((0, self.rows.n_values)))
        names = self.rows.core_columns
        outcome = self.rows.core({c: codes[c] for c in names})
        if names:
            return outcome
        sure = None if outcome.sure is None else np.repeat(outcome.sure, n)
        return Outcome(np.repeat(outcome.key, n), np.repeat(outcome.values, n, axis=0), sure)

    def _mixed_factors(self, codes: Mapping[str, Codes], n: int) -> tuple[Bools, Bools, Bools]:
        kept, sure, gone = (np.full(n, flag) for flag in (True, True, False))
        for factor in self.mixed if n else ():
            keeps, decided = factor.keeps({c: codes[c] for c in factor.columns})
            kept &= keeps
            sure &= True if decided is None else decided
            gone |= ~keeps if decided is None else ~keeps & decided
        return kept, sure, gone
