"""What the public report says about a release, read from its published cells alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.report.wording import ROLES

if TYPE_CHECKING:
    from sfumato.contracts import Release, Worlds


@dataclass(frozen=True)
class ColumnFacts:
    """One published column: how its cells are published and how many leaves they leave open."""

    name: str
    kind: str
    role: str
    published: str
    exact_share: float
    median_leaves: int
    most_leaves: int


@dataclass(frozen=True)
class Facts:
    """Counts of a release, suppressed rows apart."""

    n_rows: int
    n_suppressed: int
    n_groups: int
    smallest: int
    largest: int
    sizes: NDArray[np.int64]
    columns: tuple[ColumnFacts, ...]


def facts_of(release: Release) -> Facts:
    """Read the counts; suppressed rows tell nothing about columns and are left out of the widths."""
    sizes = np.asarray(release.groups().column(1).to_numpy(), dtype=np.int64)
    worlds = release.worlds()
    n_suppressed = release.n_rows - int(sizes.sum())
    return Facts(
        n_rows=release.n_rows,
        n_suppressed=n_suppressed,
        n_groups=len(sizes),
        smallest=int(sizes.min(initial=release.n_rows)),
        largest=int(sizes.max(initial=0)),
        sizes=sizes,
        columns=tuple(_column(release, worlds, name, n_suppressed) for name in release.schema.names()),
    )


def _column(release: Release, worlds: Worlds, name: str, n_suppressed: int) -> ColumnFacts:
    column = release.schema[name]
    width, weight = _published(*worlds.leaves(name), n_suppressed)
    moved = release.form == "anatomized" and column.role == "sensitive"
    n = int(weight.sum())
    exact = float(weight[width == 1].sum() / n) if n else 1.0
    return ColumnFacts(
        name=name,
        kind=column.kind,
        role=ROLES.get(column.role, str(column.role)),
        published="permuted" if moved else ("exact" if exact == 1 else release.domains[name].region),
        exact_share=exact,
        median_leaves=_weighted_median(width, weight),
        most_leaves=int(width.max(initial=1)),
    )


def _published(
    width: NDArray[np.int64], weight: NDArray[np.int64], n_suppressed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Without the suppressed rows, which hold as many leaves as there are: the widest kind."""
    order = np.argsort(width, kind="stable")
    width, left = width[order], weight[order].copy()
    for i in range(len(left) - 1, -1, -1):
        if n_suppressed <= 0:
            break
        taken = min(int(left[i]), n_suppressed)
        left[i] -= taken
        n_suppressed -= taken
    return width[left > 0], left[left > 0]


def _weighted_median(width: NDArray[np.int64], weight: NDArray[np.int64]) -> int:
    """The width of the middle row; widths come sorted."""
    if not len(width):
        return 1
    reached = np.cumsum(weight)
    return int(width[int(np.searchsorted(reached, (int(reached[-1]) + 1) // 2))])
