"""Expected number of rows equal to a given row, for each primitive of worlds."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sfumato.contracts import Worlds
    from sfumato.data.codec import Codes
    from sfumato.worlds.alternatives import Alternatives
    from sfumato.worlds.bijection import Bijection
    from sfumato.worlds.blocks import Blocks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
PAIRS_AT_ONCE = 4_000_000


def row_ids(codes: Mapping[str, Codes]) -> Ints:
    """Dense ids (n,) of rows: equal rows share one.

    >>> row_ids({"a": np.array([1, 1, 2]), "b": np.array([0, 0, 0])}).tolist()
    [0, 0, 1]
    """
    ids = np.zeros(len(next(iter(codes.values()))), dtype=np.int64)
    for column in codes.values():
        wide = ids * (int(column.max(initial=0)) + 2) + column + 1
        ids = np.unique(wide, return_inverse=True)[1].astype(np.int64)
    return ids


def expected_rows(worlds: Worlds, rows: Mapping[str, Codes]) -> Floats:
    """E[number of rows equal to rows[i]] over the worlds; shape (N,)."""
    found: Floats = EXPECTED[type(worlds).__name__](worlds, rows)
    return found


def _of_alternatives(worlds: Alternatives, rows: Mapping[str, Codes]) -> Floats:
    """Σ_types weight · Π_c [low ≤ x_c ≤ high] / leaves, over the types that agree on the exactly known columns.

    Values outside the list are one value more: of a cell that may hold them, it has the share of its withheld leaves.
    """
    fixed = [c for c in worlds.columns if c not in worlds.unknown and bool((worlds.low[c] == worlds.high[c]).all())]
    others = {c: np.maximum(worlds.domains[c].n_withheld(worlds.low[c], worlds.high[c]), 1) for c in worlds.unknown}
    spread = [c for c in worlds.columns if c not in fixed]
    density = np.asarray(worlds.weight, dtype=np.float64)
    for name in spread:
        density = density / (worlds.high[name].astype(np.int64) - worlds.low[name] + 1)
    of_type, of_row = _shared_ids([worlds.low[c] for c in fixed], [rows[c] for c in fixed], len(density), _length(rows))
    order = np.argsort(of_type, kind="stable")
    first = np.searchsorted(of_type[order], of_row, side="left")
    last = np.searchsorted(of_type[order], of_row, side="right")
    found = np.zeros(len(of_row))
    for begin, end in _slices(last - first):
        row, offset = _expand(first[begin:end], last[begin:end])
        kind = order[offset]
        share = density[kind]
        for name in spread:
            code = rows[name][begin + row]
            times = (worlds.low[name][kind] <= code) & (code <= worlds.high[name][kind])
            share = share * (np.where(code < 0, others[name][kind], times) if name in others else times)
        found[begin:end] = np.bincount(row, weights=share, minlength=end - begin)
    return found


def _of_bijection(worlds: Bijection, rows: Mapping[str, Codes]) -> Floats:
    """Σ_g (slots of g equal to x's slot part) · (values of g equal to x's value part) / |g|."""
    n, size = _length(rows), len(worlds.slot_group)
    slot, wanted_slot = _shared_ids(list(worlds.slots.values()), [rows[c] for c in worlds.slots], size, n)
    value, wanted_value = _shared_ids(list(worlds.values.values()), [rows[c] for c in worlds.values], size, n)
    groups, of_slot = np.unique(worlds.slot_group, return_inverse=True)
    of_value = np.searchsorted(groups, worlds.value_group)
    sizes = np.bincount(of_slot)
    n_slots, n_values = int(max(slot.max(), wanted_slot.max())) + 1, int(max(value.max(), wanted_value.max())) + 1
    seats, n_seats = np.unique(slot * len(groups) + of_slot, return_counts=True)
    held, n_held = np.unique(of_value * n_values + value, return_counts=True)
    starts = np.searchsorted(seats, np.arange(n_slots + 1) * len(groups))
    first, last = starts[wanted_slot], starts[wanted_slot + 1]
    found = np.zeros(n)
    for begin, end in _slices(last - first):
        row, seat = _expand(first[begin:end], last[begin:end])
        group = seats[seat] % len(groups)
        cell = group * n_values + wanted_value[begin + row]
        at = np.minimum(np.searchsorted(held, cell), len(held) - 1)
        share = np.where(held[at] == cell, n_seats[seat] * n_held[at] / sizes[group], 0.0)
        found[begin:end] = np.bincount(row, weights=share, minlength=end - begin)
    return found


def _of_blocks(worlds: Blocks, rows: Mapping[str, Codes]) -> Floats:
    total = np.zeros(_length(rows))
    for part in worlds.parts:
        total += expected_rows(part, rows)
    return total


# By name, so that a question about one primitive does not load the others and what they need.
EXPECTED: dict[str, Any] = {"Alternatives": _of_alternatives, "Bijection": _of_bijection, "Blocks": _of_blocks}


def _length(rows: Mapping[str, Codes]) -> int:
    return len(next(iter(rows.values())))


def _shared_ids(ours: list[Codes], theirs: list[Codes], n_ours: int, n_theirs: int) -> tuple[Ints, Ints]:
    """Row ids over two tables at once; with no columns every row is the same."""
    if not ours:
        return np.zeros(n_ours, dtype=np.int64), np.zeros(n_theirs, dtype=np.int64)
    both = {str(i): np.concatenate([a, b]) for i, (a, b) in enumerate(zip(ours, theirs, strict=True))}
    ids = row_ids(both)
    return ids[:n_ours], ids[n_ours:]


def _expand(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """All pairs (i, j) with first[i] ≤ j < last[i]."""
    counts = last - first
    row = np.repeat(np.arange(len(first)), counts)
    before = np.cumsum(counts) - counts
    return row, np.arange(len(row)) - before[row] + first[row]


def _slices(counts: Ints) -> list[tuple[int, int]]:
    """Consecutive runs of rows with about `PAIRS_AT_ONCE` pairs each."""
    part = np.cumsum(counts) // PAIRS_AT_ONCE
    edges = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(counts)]
    return [(a, b) for a, b in pairwise(edges) if a < b]
