"""Columns of a dataset as hierarchies see them: distinct values with distinct units below and above."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.data.codec import Codes
from sfumato.data.hierarchies.rule import Ints, Source

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset


def source_of(dataset: Dataset, column: str, least: int) -> Source:
    """The column with its tail counts in distinct units; `least` units must lie at or beyond automatic ends."""
    domain, codes = dataset.domains[column], dataset.codes[column]
    units = dataset.units
    if domain.missing:
        kept = codes < domain.n_values
        codes, units = codes[kept], None if units is None else units[kept]
    below = np.cumsum(_firsts(codes, units, domain.n_values, lowest=True))
    above = np.cumsum(_firsts(codes, units, domain.n_values, lowest=False)[::-1])[::-1]
    return Source(column, domain, below.astype(np.int64), above.astype(np.int64), least)


def _firsts(codes: Codes, units: Codes | None, size: int, *, lowest: bool) -> Ints:
    """How many units have each value as their lowest (or highest)."""
    if units is None:
        return np.bincount(codes, minlength=size)
    order = np.lexsort((codes if lowest else -codes, units))
    first = np.ones(len(order), dtype=bool)
    first[1:] = units[order][1:] != units[order][:-1]
    return np.bincount(codes[order][first], minlength=size)
