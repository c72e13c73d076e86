"""How many rows of a world are expected to equal a given row, for row types and for permutation groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.worlds.sums import totals
from sfumato.worlds.tuples import distinct, expand, slices, starts_of

if TYPE_CHECKING:
    from sfumato.data.codec import Codes
    from sfumato.worlds.alternatives import Alternatives
    from sfumato.worlds.bijection import Bijection

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def in_types(worlds: Alternatives, rows: Mapping[str, Codes]) -> Floats:
    """Σ_types weight · Π_c [low ≤ x_c ≤ high] / leaves, over the types that agree on the exactly known columns.

    Values outside the list are one value more: of a cell that may hold them, it has the share of its withheld leaves.
    """
    fixed = [c for c in worlds.columns if c not in worlds.unknown and bool((worlds.low[c] == worlds.high[c]).all())]
    others = {c: np.maximum(worlds.domains[c].n_withheld(worlds.low[c], worlds.high[c]), 1) for c in worlds.unknown}
    spread = [c for c in worlds.columns if c not in fixed]
    density = np.asarray(worlds.weight, dtype=np.float64)
    for name in spread:
        density = density / (worlds.high[name].astype(np.int64) - worlds.low[name] + 1)
    n = _length(rows)
    of_type, of_row = _shared([worlds.low[c] for c in fixed], [rows[c] for c in fixed], len(density), n)
    order = np.argsort(of_type, kind="stable")
    first = np.searchsorted(of_type[order], of_row, side="left")
    counts = np.searchsorted(of_type[order], of_row, side="right") - first
    found = np.zeros(n)
    for begin, end in slices(counts):
        row, offset = expand(counts[begin:end])
        kind = order[first[begin:end][row] + offset]
        share = density[kind]
        for name in spread:
            code = rows[name][begin + row]
            times = (worlds.low[name][kind] <= code) & (code <= worlds.high[name][kind])
            share = share * (np.where(code < 0, others[name][kind], times) if name in others else times)
        found[begin:end] = totals(row, share, end - begin)
    return found


def in_groups(worlds: Bijection, rows: Mapping[str, Codes]) -> Floats:
    """Σ_g (slots of g equal to x's slot part) · (values of g equal to x's value part) / |g|."""
    n, size = _length(rows), len(worlds.slot_group)
    slot, wanted_slot = _shared(list(worlds.slots.values()), [rows[c] for c in worlds.slots], size, n)
    value, wanted_value = _shared(list(worlds.values.values()), [rows[c] for c in worlds.values], size, n)
    groups, of_slot, sizes = np.unique(worlds.slot_group, return_inverse=True, return_counts=True)
    of_value = np.searchsorted(groups, worlds.value_group)
    n_slots = int(max(slot.max(initial=0), wanted_slot.max(initial=0))) + 1
    n_values = int(max(value.max(initial=0), wanted_value.max(initial=0))) + 1
    seats, n_seats = np.unique(slot * len(groups) + of_slot, return_counts=True)
    held, n_held = np.unique(of_value * n_values + value, return_counts=True)
    starts = starts_of(seats // max(len(groups), 1), n_slots)
    counts = np.diff(starts)[wanted_slot]
    found = np.zeros(n)
    for begin, end in slices(counts):
        row, offset = expand(counts[begin:end])
        seat = starts[wanted_slot[begin + row]] + offset
        group = seats[seat] % len(groups)
        cell = group * n_values + wanted_value[begin + row]
        at = np.minimum(np.searchsorted(held, cell), len(held) - 1)
        share = np.where(held[at] == cell, n_seats[seat] * n_held[at] / sizes[group], 0.0)
        found[begin:end] = totals(row, share, end - begin)
    return found


def _length(rows: Mapping[str, Codes]) -> int:
    return len(next(iter(rows.values())))


def _shared(ours: Sequence[Codes], theirs: Sequence[Codes], n_ours: int, n_theirs: int) -> tuple[Ints, Ints]:
    """Numbers of distinct tuples over two tables at once; with no columns every row is the same."""
    both = [np.concatenate([a, b]) for a, b in zip(ours, theirs, strict=True)]
    of = distinct(both, n_ours + n_theirs)[1]
    return of[:n_ours], of[n_ours:]
