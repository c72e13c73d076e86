"""How many leaves a cell may hold, for each primitive of worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sfumato.contracts import Worlds
    from sfumato.worlds.alternatives import Alternatives
    from sfumato.worlds.bijection import Bijection
    from sfumato.worlds.blocks import Blocks

Ints = NDArray[np.int64]


def leaves(worlds: Worlds, column: str) -> tuple[Ints, Ints]:
    """Kinds of rows as (leaves the cell of `column` may hold, number of such rows); shapes (T,).

    One more than the column has where a cell may hold values that are not published.
    """
    found: tuple[Ints, Ints] = LEAVES[type(worlds).__name__](worlds, column)
    return found


def _of_alternatives(worlds: Alternatives, column: str) -> tuple[Ints, Ints]:
    width = np.asarray(worlds.high[column], dtype=np.int64) - worlds.low[column] + 1
    if column in worlds.unknown:
        width = np.full(len(width), worlds.domains[column].size + 1, dtype=np.int64)
    return width, np.asarray(worlds.weight, dtype=np.int64)


def _of_bijection(worlds: Bijection, column: str) -> tuple[Ints, Ints]:
    """A slot's own column is known; a value column may hold each distinct value of its group."""
    if column in worlds.slots:
        one = np.ones(len(worlds.slot_group), dtype=np.int64)
        return one, one
    pairs = np.unique(np.stack([worlds.value_group, worlds.values[column].astype(np.int64)]), axis=1)
    groups, sizes = np.unique(worlds.value_group, return_counts=True)
    n_distinct = np.bincount(np.searchsorted(groups, pairs[0]), minlength=len(groups))
    return n_distinct.astype(np.int64), sizes.astype(np.int64)


def _of_blocks(worlds: Blocks, column: str) -> tuple[Ints, Ints]:
    found = [leaves(part, column) for part in worlds.parts]
    return np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found])


# By name, so that a question about one primitive does not load the others and what they need.
LEAVES: dict[str, Any] = {"Alternatives": _of_alternatives, "Bijection": _of_bijection, "Blocks": _of_blocks}
