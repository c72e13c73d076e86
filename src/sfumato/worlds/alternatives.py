"""Independent cells: every row of a type is anywhere in the type's region, each code equally likely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.data.codec import Codes, Domain
from sfumato.outcomes import RowMap
from sfumato.worlds.alternatives_outcomes import AlternativesOutcomes, Classes
from sfumato.worlds.containment import Demand, Options, contains
from sfumato.worlds.expected import in_types
from sfumato.worlds.placing import Boxes
from sfumato.worlds.regions import Regions, atoms_of, regions
from sfumato.worlds.shares import Seen, share_of

if TYPE_CHECKING:
    from sfumato.chance import Chance

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_KEPT = 32
"""Sets of columns whose distinct regions are remembered."""


@dataclass(frozen=True, eq=False)
class Alternatives:
    """T row types; type t stands for `weight[t]` rows, each cell independent and uniform over codes low … high.

    `low[c]`, `high[c]`: (T,). Columns in `unknown` may hold values outside the listed domain in these rows: what reads
    them is undecided, estimates use the listed leaves, and `contains` accepts the code −1 there.
    """

    columns: tuple[str, ...]
    domains: Mapping[str, Domain]
    low: Mapping[str, Codes]
    high: Mapping[str, Codes]
    weight: Ints
    unknown: frozenset[str] = frozenset()
    basis: str = "uniform prior"
    _seen: dict[tuple[str, ...], Regions] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_types(self) -> int:
        """Number of row types."""
        return len(self.weight)

    @property
    def n_rows(self) -> int:
        """Rows of every world."""
        return int(self.weight.sum())

    def certain(self, column: str) -> bool:
        """True when every row has one possible value there: one code, not an open end, not outside the list."""
        low, high, domain = self.low[column], self.high[column], self.domains[column]
        if column in self.unknown or not bool((low == high).all()):
            return False
        open_low = domain.open_low and bool((low == 0).any())
        return not (open_low or (domain.open_high and bool((low == domain.n_values - 1).any())))

    def regions(self, columns: tuple[str, ...]) -> Regions:
        """Distinct regions over some columns, remembered for the next query."""
        if columns not in self._seen:
            while len(self._seen) >= MOST_KEPT:
                self._seen.pop(next(iter(self._seen)))
            self._seen[columns] = regions(columns, self.low, self.high, self.n_types)
        return self._seen[columns]

    def outcomes(self, rows: RowMap) -> AlternativesOutcomes:
        """Answerable facts of a row map."""
        seen = self.regions(tuple(rows.core_columns))
        atoms = atoms_of(rows, seen, not self.unknown.isdisjoint(seen.columns))
        sizes = {name: domain.size for name, domain in self.domains.items()}
        share = share_of(rows.factors, Seen(self.regions, sizes, self.unknown, self.n_types))
        classes = Classes(seen.of[share.types], self.weight[share.types], share)
        return AlternativesOutcomes(rows.n_keys, atoms, seen.volume, classes)

    def sample(self, chance: Chance) -> Mapping[str, Codes]:
        """One world; rows in random order."""
        generator = chance.generator()
        row = generator.permutation(np.repeat(np.arange(self.n_types), self.weight))
        return {
            name: generator.integers(self.low[name][row], self.high[name][row], endpoint=True, dtype=np.int32)
            for name in self.columns
        }

    def leaves(self, column: str) -> tuple[Ints, Ints]:
        """One more than the column has where a cell may hold what is not listed."""
        width = np.asarray(self.high[column], dtype=np.int64) - self.low[column] + 1
        if column in self.unknown:
            width = np.full(len(width), self.domains[column].size + 1, dtype=np.int64)
        return width, np.asarray(self.weight, dtype=np.int64)

    def expected(self, rows: Mapping[str, Codes]) -> Floats:
        """Σ over row types of weight · P(the row)."""
        return in_types(self, rows)

    def contains(self, codes: Mapping[str, Codes]) -> bool:
        """Can the rows be dealt out to the row types?"""
        return contains(self.demands(), self.columns, codes)

    def demands(self) -> tuple[Demand, ...]:
        """What `contains` must serve: every type its rows."""
        return (self,)

    def options(self, rows: Mapping[str, Codes]) -> Options:
        """The types whose region holds each row."""
        points, low, high = ([part[c] for c in self.columns] for part in (rows, self.low, self.high))
        row, kind = Boxes(points, low, high, [c in self.unknown for c in self.columns]).pairs()
        return Options(row, kind[:, None], np.asarray(self.weight, dtype=np.int64))
