"""How many leaves a cell may hold, for each primitive of worlds."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from sfumato.worlds.alternatives import Alternatives
from sfumato.worlds.bijection import Bijection
from sfumato.worlds.blocks import Blocks

Ints = NDArray[np.int64]


@singledispatch
def leaves(worlds: object, column: str) -> tuple[Ints, Ints]:
    """Kinds of rows as (leaves the cell of `column` may hold, number of such rows); shapes (T,)."""
    raise NotImplementedError(f"no leaf counts for {type(worlds).__name__}")


@leaves.register(Alternatives)
def _(worlds: Alternatives, column: str) -> tuple[Ints, Ints]:
    width = np.asarray(worlds.high[column], dtype=np.int64) - worlds.low[column] + 1
    return width, np.asarray(worlds.weight, dtype=np.int64)


@leaves.register(Bijection)
def _(worlds: Bijection, column: str) -> tuple[Ints, Ints]:
    """A slot's own column is known; a value column may hold each distinct value of its group."""
    if column in worlds.slots:
        one = np.ones(len(worlds.slot_group), dtype=np.int64)
        return one, one
    pairs = np.unique(np.stack([worlds.value_group, worlds.values[column].astype(np.int64)]), axis=1)
    groups, sizes = np.unique(worlds.value_group, return_counts=True)
    n_distinct = np.bincount(np.searchsorted(groups, pairs[0]), minlength=len(groups))
    return n_distinct.astype(np.int64), sizes.astype(np.int64)


@leaves.register(Blocks)
def _(worlds: Blocks, column: str) -> tuple[Ints, Ints]:
    found = [leaves(part, column) for part in worlds.parts]
    return np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found])
