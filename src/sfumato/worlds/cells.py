"""Entries of group types split by key: the matrix a key sees inside a group, and the simple shape most of them have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.worlds.group_types import Entries
from sfumato.worlds.sums import totals

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Cells:
    """C matrices, one per (group type, key) with any entry; rows are slots, columns are values, zero elsewhere.

    Per cell: `key`, `size` n of the group, `times` groups. `entry`: indices into `Entries`, sorted by cell, with the
    `cell`, `row` and `column` of each. `row_cell`, `row_times` per row with its multiplicity, the same for columns.
    """

    key: Ints
    size: Ints
    times: Ints
    entry: Ints
    cell: Ints
    row: Ints
    column: Ints
    row_cell: Ints
    row_times: Ints
    column_cell: Ints
    column_times: Ints

    @property
    def n_cells(self) -> int:
        """C."""
        return len(self.key)

    @cached_property
    def n_slots(self) -> Floats:
        """Slots that meet a nonzero entry, per cell."""
        return totals(self.row_cell, self.row_times, self.n_cells)

    @cached_property
    def n_values(self) -> Floats:
        """Values that meet a nonzero entry, per cell."""
        return totals(self.column_cell, self.column_times, self.n_cells)

    @cached_property
    def full(self) -> Bools:
        """Is every crossing of those rows and columns an entry?"""
        n_rows = np.bincount(self.row_cell, minlength=self.n_cells)
        n_columns = np.bincount(self.column_cell, minlength=self.n_cells)
        found: Bools = np.bincount(self.cell, minlength=self.n_cells) == n_rows * n_columns
        return found

    @cached_property
    def ways(self) -> Floats:
        """Pairs of a slot and a value behind each entry."""
        return (self.row_times[self.row] * self.column_times[self.column]).astype(np.float64)


def cells_of(entries: Entries, chosen: Ints, n_keys: int) -> Cells:
    """Split some entries by type and key; with no keys by type alone."""
    label = entries.type[chosen] * max(n_keys, 1)
    if n_keys:
        label = label + entries.table.key[entries.outcome[chosen]]
    order = np.argsort(label, kind="stable")
    entry, label = chosen[order], label[order]
    new = changes(label)
    cell = np.cumsum(new) - 1
    first = entry[new]
    # Inside a cell entries keep the order of slots, so rows are runs; columns need a sort of their own.
    new_row = new | changes(entries.slot[entry])
    row = np.cumsum(new_row) - 1
    value = entries.value[entry]
    by_value = np.lexsort((value, cell))
    new_column = changes(cell[by_value]) | changes(value[by_value])
    column = np.empty(len(entry), dtype=np.int64)
    column[by_value] = np.cumsum(new_column) - 1
    head = by_value[new_column]
    return Cells(
        key=entries.table.key[entries.outcome[first]],
        size=entries.sizes[entries.type[first]],
        times=entries.times[entries.type[first]],
        entry=entry,
        cell=cell,
        row=row,
        column=column,
        row_cell=cell[new_row],
        row_times=entries.slot_times[entries.slot[entry[new_row]]],
        column_cell=cell[head],
        column_times=entries.value_times[value[head]],
    )


def changes(labels: Ints) -> Bools:
    """True where a sorted label differs from the one before."""
    found = np.ones(len(labels), dtype=np.bool_)
    found[1:] = labels[1:] != labels[:-1]
    return found


@dataclass(frozen=True, eq=False)
class Draws:
    """Cells where counting means drawing: `drawn` slots take values out of `size`, of which `marked` count.

    Items are the marked values (or, sides swapped, slots): `item_cell`, `item_value`, `item_times`. `cell` (D,) are the
    cells of this shape, `rest` the others; items refer to positions in `cell`.
    """

    cell: Ints
    rest: Ints
    size: Ints
    drawn: Ints
    marked: Ints
    item_cell: Ints
    item_value: Floats
    item_times: Ints


def draws_of(cells: Cells, value: Floats) -> Draws:
    """Cells whose entries fill a rectangle and depend on one side only; `value` per entry."""
    by_column = cells.full & ~_uneven(cells.column, cells.column_cell, value, cells.cell)
    by_row = cells.full & ~by_column & ~_uneven(cells.row, cells.row_cell, value, cells.cell)
    simple = by_column | by_row
    place = np.cumsum(simple) - 1
    owners, values, times = [], [], []
    for mine, index, owner, n in (
        (by_column, cells.column, cells.column_cell, cells.column_times),
        (by_row, cells.row, cells.row_cell, cells.row_times),
    ):
        told = mine[owner]
        one = np.empty(len(owner))
        one[index] = value
        owners.append(place[owner[told]])
        values.append(one[told])
        times.append(n[told])
    slots, marks = cells.n_slots.astype(np.int64), cells.n_values.astype(np.int64)
    cell = np.flatnonzero(simple)
    return Draws(
        cell=cell,
        rest=np.flatnonzero(~simple),
        size=cells.size[cell],
        drawn=np.where(by_column, slots, marks)[cell],
        marked=np.where(by_column, marks, slots)[cell],
        item_cell=np.concatenate(owners),
        item_value=np.concatenate(values),
        item_times=np.concatenate(times),
    )


def _uneven(index: Ints, owner: Ints, value: Floats, cell: Ints) -> Bools:
    """Per cell: does some row (or column) hold two different values?"""
    one = np.empty(len(owner))
    one[index] = value
    found = np.zeros(int(cell.max(initial=-1)) + 1, dtype=np.bool_)
    found[cell[one[index] != value]] = True
    return found
