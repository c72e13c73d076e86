"""Is a table one of the worlds? Deal its rows out to row types and groups so that every one gets what it must hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.data.codec import Codes
from sfumato.errors import Unanswerable
from sfumato.worlds.sums import totals
from sfumato.worlds.tuples import distinct, pick

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

SECONDS = 120.0
"""Time for the search that remains when no row or group is forced any more."""


@dataclass(frozen=True, eq=False)
class Options:
    """Where rows may go: option e puts rows of kind `row[e]` somewhere and serves the needs `needs[e]`, (E, m); need i
    must be served by exactly `wanted[i]` rows."""

    row: Ints
    needs: Ints
    wanted: Ints


class Demand(Protocol):
    """A primitive that asks for rows."""

    @property
    def n_rows(self) -> int:
        """How many."""
        ...

    def options(self, rows: Mapping[str, Codes]) -> Options:
        """Where distinct rows may go."""
        ...


def contains(demands: Sequence[Demand], columns: Sequence[str], codes: Mapping[str, Codes]) -> bool:
    """Is the table a world?

    Rows to row types is a flow. Groups ask for slots and values at once: a three-way transportation problem, hard in
    general, so forced choices come first, then an exact search with a time limit (`Unanswerable` when it is reached).
    """
    n_rows = len(codes[columns[0]])
    if n_rows != sum(demand.n_rows for demand in demands):
        return False
    first, of = distinct([codes[c] for c in columns], n_rows)
    rows = pick(codes, columns, first)
    found = [demand.options(rows) for demand in demands]
    before = np.cumsum([0, *(len(one.wanted) for one in found)])
    width = max(one.needs.shape[1] for one in found)
    # Rows are needs too: each must go somewhere. Options with fewer needs repeat their last one.
    needs = [np.pad(one.needs, ((0, 0), (0, width - one.needs.shape[1])), mode="edge") for one in found]
    shifted = [one + first_need for one, first_need in zip(needs, before, strict=False)]
    wanted = np.concatenate([one.wanted for one in found])
    own = np.concatenate([one.row for one in found])[:, None] + len(wanted)
    everything = np.concatenate([own, np.concatenate(shifted)], axis=1)
    return _Dealing(everything, np.concatenate([wanted, np.bincount(of)]), width == 1).possible()


class _Dealing:
    """Options that serve needs: `needs` (E, m) with the row's own need first, `wanted` what is still to be served."""

    def __init__(self, needs: Ints, wanted: Ints, flow: bool) -> None:
        self.needs, self.wanted, self.flow = needs, wanted.astype(np.int64), flow

    def possible(self) -> bool:
        """Can all needs be served at once?"""
        while True:
            if (self.wanted < 0).any():
                return False
            self.needs = self.needs[(self.wanted[self.needs] > 0).all(axis=1)]
            served = [np.unique(column) for column in self.needs.T]
            open_ = np.flatnonzero(self.wanted > 0)
            if not np.isin(open_, np.concatenate(served) if served else open_[:0]).all():
                return False
            if len(open_) == 0:
                return True
            if not self._force():
                return self._flows() if self.flow else self._search()

    def _force(self) -> bool:
        """Serve needs that have one option left; False when there are none."""
        n = len(self.wanted)
        chosen = np.zeros(len(self.needs), dtype=np.int64)
        for column in self.needs.T:
            lone = np.bincount(column, minlength=n)[column] == 1
            chosen[lone] = np.maximum(chosen[lone], self.wanted[column[lone]])
        told = np.flatnonzero(chosen)
        for i, column in enumerate(self.needs.T):
            fresh = np.ones(len(told), dtype=np.bool_)
            for earlier in self.needs.T[:i]:
                fresh &= earlier[told] != column[told]
            self.wanted = self.wanted - totals(column[told[fresh]], chosen[told[fresh]], n).astype(np.int64)
        self.needs = np.delete(self.needs, told, axis=0)
        return len(told) > 0

    def _flows(self) -> bool:
        """One need per option beside the row: a flow from rows to needs."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_flow

        used, place = np.unique(self.needs, return_inverse=True)
        place = place.reshape(self.needs.shape)
        source, sink = len(used), len(used) + 1
        rows, types = np.unique(place[:, 0]), np.unique(place[:, 1])
        tail = np.concatenate([place[:, 0], np.full(len(rows), source), types])
        head = np.concatenate([place[:, 1], rows, np.full(len(types), sink)])
        wanted = self.wanted[used]
        room = np.concatenate([np.minimum(wanted[place[:, 0]], wanted[place[:, 1]]), wanted[rows], wanted[types]])
        graph = csr_array((room.astype(np.int32), (tail, head)), shape=(sink + 1, sink + 1))
        asked = int(wanted[rows].sum())
        return asked == int(wanted[types].sum()) and int(maximum_flow(graph, source, sink).flow_value) == asked

    def _search(self) -> bool:
        """An integer program over what is left, one for each connected component."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        n = len(self.wanted)
        tail = np.repeat(self.needs[:, 0], self.needs.shape[1] - 1)
        graph = csr_array((np.ones(len(tail)), (tail, self.needs[:, 1:].reshape(-1))), shape=(n, n))
        label = connected_components(graph, directed=False)[1][self.needs[:, 0]]
        order = np.argsort(label, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(label[order])) + 1)
        return all(self._component(self.needs[part]) for part in parts)

    def _component(self, needs: Ints) -> bool:
        from scipy.optimize import LinearConstraint, milp
        from scipy.sparse import coo_array

        used, place = np.unique(needs, return_inverse=True)
        place = place.reshape(needs.shape)
        option = np.repeat(np.arange(len(needs)), needs.shape[1])
        matrix = coo_array((np.ones(option.size), (place.reshape(-1), option)), shape=(len(used), len(needs))).tocsr()
        matrix.data[:] = 1.0
        wanted = self.wanted[used].astype(np.float64)
        rule = LinearConstraint(matrix, wanted, wanted)
        whole = np.ones(len(needs), dtype=np.int64)
        found = milp(np.zeros(len(needs)), integrality=whole, constraints=rule, options={"time_limit": SECONDS})
        if found.status not in (0, 2):
            raise Unanswerable(
                f"Whether the table is a world was not settled in {SECONDS:.0f} s: {len(needs)} ways to place rows are "
                "left. Compare within single groups, or publish smaller groups."
            )
        return bool(found.status == 0)
