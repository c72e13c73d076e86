"""Units of a population whose quasi-identifiers lie in the regions that a release publishes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.releases.distinct import distinct_rows
from sfumato.releases.generalized import Generalized

if TYPE_CHECKING:
    from sfumato.contracts import Release
    from sfumato.data.dataset import Dataset

    Ints = NDArray[np.int64]

BLOCK = 1 << 24
"""Comparisons at once."""


def around(release: Release, prepared: Dataset) -> dict[Any, Ints]:
    """For every requirement that counts a population: its rows in each published class's region, (classes,)."""
    if not prepared.beside or not isinstance(release, Generalized):
        return {}
    classes = release.classes()
    first = np.unique(classes, return_index=True)[1]
    found = {}
    for requirement, codes in prepared.beside.items():
        names = list(release.regions)
        rows = distinct_rows([codes[name] + 1 for name in names], len(codes[names[0]]))
        inside = np.zeros(len(first), dtype=np.int64)
        step = max(BLOCK // max(len(rows.first), 1), 1)
        for start in range(0, len(first), step):
            some = first[start : start + step]
            lies = np.ones((len(some), len(rows.first)), dtype=np.bool_)
            for name in names:
                column = codes[name][rows.first]
                lies &= (release.low[name][some, None] <= column) & (column <= release.high[name][some, None])
            inside[start : start + step] = lies.astype(np.int64) @ rows.n
        found[requirement] = inside
    return found
