"""Rows as points: distances on quasi-identifiers of any kind, and centres of some rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.hierarchies.ordered import Ordered

if TYPE_CHECKING:
    from sfumato.data.codec import Codes
    from sfumato.data.dataset import Dataset

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Aggregate = Literal["mean", "median", "mode"]


@dataclass(frozen=True, eq=False)
class Column:
    """One quasi-identifier of all points: codes (n,), and the place of each code on a scale from 0 to 1.

    `scale` (size,) is None where values are only equal or not; NaN on it is the missing value.
    """

    codes: Codes = field(repr=False)
    scale: Floats | None

    @classmethod
    def of(cls, dataset: Dataset, name: str) -> Column:
        """Numbers and dates over the range of their domain, declared orders by rank, other text not at all."""
        domain, hierarchy = dataset.domains[name], dataset.schema[name].hierarchy
        numbers = None if domain.kind in ("text", "boolean") else domain.numbers
        if isinstance(hierarchy, Ordered):
            numbers = np.arange(domain.size, dtype=np.float64)
            numbers[domain.n_values :] = np.nan
        if numbers is None or not domain.n_values:
            return cls(dataset.codes[name], None)
        known = numbers[: domain.n_values]
        span = float(known.max() - known.min())
        return cls(dataset.codes[name], (numbers - known.min()) / (span or 1.0))

    def squares(self, rows: Ints, centre: float) -> Floats:
        """Squared distances of some rows from a centre: a code without a scale, a place on it, NaN for missing."""
        if self.scale is None:
            differs: Floats = (self.codes[rows] != centre).astype(np.float64)
            return differs
        gone = np.isnan(self.scale)
        away: Floats = (~gone).astype(np.float64)
        if not np.isnan(centre):
            away = np.where(gone, 1.0, (self.scale - centre) ** 2)
        found: Floats = away[self.codes[rows]]
        return found

    def place(self, row: int) -> float:
        """Where one row is."""
        code = int(self.codes[row])
        return float(code) if self.scale is None else float(self.scale[code])

    def centre(self, rows: Ints, aggregate: Aggregate) -> float:
        """Mean or median of what is not missing; the most frequent value (the first of several) without a scale."""
        counts = np.bincount(self.codes[rows])
        if self.scale is None:
            return float(np.argmax(counts))
        if aggregate == "mode":
            return float(self.scale[int(np.argmax(counts))])
        places = self.scale[self.codes[rows]]
        known = places[~np.isnan(places)]
        if 2 * len(known) < len(places) or not len(known):
            return float("nan")
        return float(known.sum() / len(known) if aggregate == "mean" else np.median(known))


@dataclass(frozen=True, eq=False)
class Points:
    """All quasi-identifiers; squared distances are summed over columns, each at most 1."""

    columns: tuple[Column, ...]

    def from_centre(self, rows: Ints, aggregate: Aggregate) -> Floats:
        """Squared distances of some rows from their centre, (n,)."""
        return self._squares(rows, [column.centre(rows, aggregate) for column in self.columns])

    def from_row(self, rows: Ints, row: int) -> Floats:
        """Squared distances of some rows from one, (n,)."""
        return self._squares(rows, [column.place(row) for column in self.columns])

    def _squares(self, rows: Ints, centres: list[float]) -> Floats:
        found = np.zeros(len(rows))
        for column, centre in zip(self.columns, centres, strict=True):
            found += column.squares(rows, centre)
        return found
