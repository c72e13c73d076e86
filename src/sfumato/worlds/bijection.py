"""Permutation groups: inside each group every matching of slots and values is equally likely, groups independent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.data.codec import Codes, Domain
from sfumato.errors import SchemaError
from sfumato.outcomes import RowMap
from sfumato.worlds.bijection_outcomes import BijectionOutcomes
from sfumato.worlds.containment import Demand, Options, contains
from sfumato.worlds.expected import in_groups
from sfumato.worlds.group_types import Grouped, entries_of
from sfumato.worlds.placing import groups_of_rows, seats

if TYPE_CHECKING:
    from sfumato.chance import Chance

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Bijection:
    """Slots (n rows over the columns of `slots`) and values (n rows over the columns of `values`), each in groups.

    A world gives every slot one value of its group, each value once: rows of a group are *not* independent, two slots
    never take the same value. Group ids are any integers, in any order, equally often on both sides.
    """

    columns: tuple[str, ...]
    domains: Mapping[str, Domain]
    slots: Mapping[str, Codes]
    slot_group: Ints
    values: Mapping[str, Codes]
    value_group: Ints
    basis: str = "uniform prior"

    @property
    def n_types(self) -> int:
        """Number of groups."""
        return len(self.grouped.sizes)

    @property
    def n_rows(self) -> int:
        """Rows of every world."""
        return len(self.slot_group)

    def certain(self, column: str) -> bool:
        """True for slot columns: each row keeps its own value (an open end leaves even that undecided)."""
        if column in self.values:
            return False
        codes, domain = self.slots[column], self.domains[column]
        open_low = domain.open_low and bool((codes == 0).any())
        return not (open_low or (domain.open_high and bool((codes == domain.n_values - 1).any())))

    @cached_property
    def grouped(self) -> Grouped:
        """Both sides in group order."""
        ids, slot_of = np.unique(self.slot_group, return_inverse=True)
        others, value_of = np.unique(self.value_group, return_inverse=True)
        sizes = np.bincount(slot_of, minlength=len(ids))
        if len(ids) != len(others) or (ids != others).any() or (sizes != np.bincount(value_of)).any():
            raise SchemaError("A bijection needs equally many slots and values in every group; the two sides differ.")
        return Grouped(
            sizes=sizes.astype(np.int64),
            slot_order=np.argsort(slot_of, kind="stable").astype(np.int64),
            value_order=np.argsort(value_of, kind="stable").astype(np.int64),
            slots=self.slots,
            values=self.values,
            domain_sizes={name: domain.size for name, domain in self.domains.items()},
        )

    def outcomes(self, rows: RowMap) -> BijectionOutcomes:
        """Answerable facts of a row map."""
        entries = entries_of(rows, self.grouped)
        return BijectionOutcomes(rows.n_keys, entries)

    def sample(self, chance: Chance) -> Mapping[str, Codes]:
        """One world; rows in random order."""
        generator, grouped = chance.generator(), self.grouped
        group = np.repeat(np.arange(len(grouped.sizes)), grouped.sizes)
        shuffled = generator.permutation(self.n_rows)
        # A stable sort by group of a uniform order is a uniform order inside every group.
        value = grouped.value_order[shuffled[np.argsort(group[shuffled], kind="stable")]]
        row = generator.permutation(self.n_rows)
        slots = {name: codes[grouped.slot_order][row] for name, codes in self.slots.items()}
        values = {name: codes[value][row] for name, codes in self.values.items()}
        return {name: (slots | values)[name] for name in self.columns}

    def leaves(self, column: str) -> tuple[Ints, Ints]:
        """A slot's own column is known; a value column may hold each distinct value of its group."""
        if column in self.slots:
            one = np.ones(self.n_rows, dtype=np.int64)
            return one, one
        pairs = np.unique(np.stack([self.value_group, self.values[column].astype(np.int64)]), axis=1)
        groups, sizes = np.unique(self.value_group, return_counts=True)
        n_distinct = np.bincount(np.searchsorted(groups, pairs[0]), minlength=len(groups))
        return n_distinct.astype(np.int64), sizes.astype(np.int64)

    def expected(self, rows: Mapping[str, Codes]) -> Floats:
        """Σ over groups of slots that fit · values that fit / size."""
        return in_groups(self, rows)

    def contains(self, codes: Mapping[str, Codes]) -> bool:
        """Can the rows be dealt out to the groups so that each gets its slots and its values?"""
        return contains(self.demands(), self.columns, codes)

    def demands(self) -> tuple[Demand, ...]:
        """What `contains` must serve: every group its slots and its values."""
        return (self,)

    def options(self, rows: Mapping[str, Codes]) -> Options:
        """The groups where a row's slot and value both occur."""
        _, group = np.unique(np.concatenate([self.slot_group, self.value_group]), return_inverse=True)
        slots = seats(group[: self.n_rows], self.slots, rows)
        values = seats(group[self.n_rows :], self.values, rows)
        row, slot, value = groups_of_rows(slots, values)
        needs = np.stack([slot, len(slots[0]) + value], axis=1)
        return Options(row, needs, np.concatenate([slots[2], values[2]]))
