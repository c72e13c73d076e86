"""Functional dependencies between columns: generalizing one side is in vain when the other gives it away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.data.combinations import Keys, keys_of

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset

Ints = NDArray[np.int64]
SCREEN_ROWS = 200_000
LEAST_SHARE = 0.95
LEAST_GAIN = 0.8
MOST_COLUMNS = 40


@dataclass(frozen=True)
class Dependency:
    """`share`: rows whose dependent value is the most frequent one of their determinant value (1: it is a function)."""

    determinant: str
    dependent: str
    share: float
    exact: bool


def dependencies(dataset: Dataset, columns: Sequence[str]) -> list[Dependency]:
    """Pairs where one column all but decides the other, and guessing without it would do clearly worse.

    Columns that are nearly a key or constant are left out: they decide, or are decided by, everything. Pairs are
    screened on every m-th row of a large table and counted on all rows when they pass.
    """
    keys = {name: keys_of(dataset, name) for name in columns}
    base = {name: int(key.counts().max()) / dataset.n_rows for name, key in keys.items()}
    kept = [name for name in columns if base[name] < 1][:MOST_COLUMNS]
    decides = {name for name in kept if 2 * len(keys[name].counts()) <= dataset.n_rows}
    step = max(1, dataset.n_rows // SCREEN_ROWS)
    found = []
    for a, b in combinations(kept, 2):
        asked = [(x, y) for x, y in ((a, b), (b, a)) if x in decides]
        if step > 1:
            asked = [(x, y) for x, y in asked if _tells(_share(keys[x], keys[y], step), base[y])]
        for x, y in asked:
            share = _share(keys[x], keys[y], 1)
            if _tells(share, base[y]):
                found.append(Dependency(x, y, share, share == 1.0))
    return sorted(found, key=lambda one: (-one.share, one.determinant, one.dependent))


def _tells(share: float, base: float) -> bool:
    return share >= LEAST_SHARE and (share - base) >= LEAST_GAIN * (1 - base)


def _share(determinant: Keys, dependent: Keys, step: int) -> float:
    """Σ over determinant values of their most frequent dependent value's rows, as a share of all rows (1 − g₃)."""
    a, b = determinant.codes[::step], dependent.codes[::step]
    pairs, n = _pair_counts(a, b, determinant.size, dependent.size)
    most = np.zeros(determinant.size, dtype=np.int64)
    np.maximum.at(most, pairs // dependent.size, n)
    return float(most.sum() / len(a))


def _pair_counts(a: Ints, b: Ints, n_a: int, n_b: int) -> tuple[Ints, Ints]:
    cells = a * n_b + b
    if n_a * n_b <= 1 << 22:
        counts = np.bincount(cells, minlength=n_a * n_b)
        pairs = np.flatnonzero(counts)
        return pairs, counts[pairs]
    pairs, n = np.unique(cells, return_counts=True)
    return pairs, n
