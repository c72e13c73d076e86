"""One node of the lattice, evaluated: its groups, and which of them stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.contracts import Requirement
from sfumato.data.evidence import taken
from sfumato.methods.feasibility import columns_of
from sfumato.methods.fulldomain.distinct import compiled
from sfumato.methods.fulldomain.evidence import Evidence
from sfumato.methods.fulldomain.tables import Table, Tables

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset
    from sfumato.data.evidence import Groups
    from sfumato.methods.fulldomain.space import Ints, Keys, Node, Space

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Figures:
    """A figure of every node of every level: that of node x on level l of column j is `table[start[j][l] + x]`."""

    start: tuple[tuple[int, ...], ...]
    table: NDArray[np.float64]

    @classmethod
    def of(cls, space: Space, of_level: Callable[[int, int], NDArray[np.float64]]) -> Figures:
        """From one array for each column and level."""
        parts = [[of_level(j, level) for level in range(height + 1)] for j, height in enumerate(space.heights)]
        at, start = 0, []
        for levels in parts:
            ends = at + np.cumsum([0, *(len(part) for part in levels)])
            start.append(tuple(ends[:-1].tolist()))
            at = int(ends[-1])
        return cls(tuple(start), np.concatenate([part for levels in parts for part in levels]).astype(np.float64))


@dataclass(frozen=True, eq=False)
class Cut:
    """A node's groups: `n` rows in each, and whether it stays (`kept`); the others are suppressed, row by row."""

    space: Space
    node: Node
    keys: Keys = field(repr=False)
    n: Ints = field(repr=False)
    kept: Bools = field(repr=False)
    of_base: NDArray[np.int32] | None = field(repr=False, default=None)

    @cached_property
    def counted(self) -> tuple[float, ...]:
        """Rows suppressed, groups that stay, rows of the smallest of them, Σ n² over them, and over all groups."""
        if compiled(len(self.n)):
            from sfumato.kernels.rollup import counted

            return tuple(counted(self.n, self.kept).tolist())
        stay, squares = self.n[self.kept], self.n.astype(np.float64) ** 2
        smallest = float(stay.min()) if len(stay) else 0.0
        rows = float(self.n.sum() - stay.sum())
        return rows, float(len(stay)), smallest, float(squares[self.kept].sum()), float(squares.sum())

    @property
    def n_suppressed(self) -> int:
        """Rows that are suppressed."""
        return int(self.counted[0])

    @property
    def n_groups(self) -> int:
        """Groups that stay."""
        return int(self.counted[1])

    @property
    def smallest(self) -> int:
        """Rows of the smallest group that stays; 0 when none does."""
        return int(self.counted[2])

    @cached_property
    def lost(self) -> Bools:
        """Groups that are suppressed, without those of a population that hold no row."""
        return ~self.kept & (self.n > 0)

    def nodes(self, groups: Bools) -> list[Ints]:
        """Node numbers of some groups, one array a column."""
        keys = self.keys[groups]
        return [self.space.layout.nodes(keys, j) for j in range(len(self.space.columns))]

    def weighted(self, some: Bools, figures: Figures) -> NDArray[np.float64]:
        """Σ over the rows of some groups of their node's figure, one sum a column, (d,)."""
        start = np.array([of[level] for of, level in zip(figures.start, self.node, strict=True)], dtype=np.uint64)
        if compiled(len(self.n)):
            from sfumato.kernels.rollup import field_sums

            layout = self.space.layout
            found: NDArray[np.float64] = field_sums(
                self.keys, self.n, some, layout.word, layout.shift, layout.mask, start, figures.table
            )
            return found
        nodes, n = self.nodes(some), self.n[some].astype(np.float64)
        return np.array([(n * figures.table[int(at) + of]).sum() for at, of in zip(start, nodes, strict=True)])

    def sums(self, of_tuples: NDArray[np.float64]) -> NDArray[np.float64]:
        """A figure of the space's tuples summed over groups, (G,)."""
        assert self.of_base is not None
        return np.bincount(self.of_base, weights=of_tuples, minlength=len(self.n)).astype(np.float64)


class Judge:
    """Which groups of a node stay under these requirements, and whether few enough rows are suppressed.

    Sizes are in units. Distributions are compared with the sensitive values of all rows, suppressed ones counted;
    `settled` compares with those of the rows that stay. `totals`: those of a larger table that the dataset is part of.
    """

    def __init__(
        self,
        dataset: Dataset,
        requirements: Sequence[Requirement],
        space: Space,
        share: Fraction,
        totals: Mapping[str, Ints] | None = None,
    ) -> None:
        self.space = space
        self.requirements = tuple(requirements)
        self.most = int(share * space.n_rows)
        self.evidence = Evidence(dataset, columns_of(requirements), space, totals)
        single = [r for r in requirements if of_single_groups(r)]
        # A unit with several values stands for several in a distribution.
        known = {} if self.evidence.by_unit else self.evidence.totals
        self.least = max((r.least_in(known, dataset.domains) for r in single), default=1)
        self._alone = [r for r in requirements if of_single_groups(r) and not only_size(r)]
        self._together = [r for r in requirements if not of_single_groups(r)]
        self.only_sizes = not self._alone and not self._together
        repeats = self.evidence.by_unit
        # A coarser region takes in more of a population than what its groups count.
        lasting = [r.monotone(repeats) and (r.reads == "groups" or r.grows) for r in requirements]
        self.merging = not self._together and all(lasting)
        self.reads_totals = bool(columns_of(requirements))
        self._settle = False
        self.follows = repeats or bool(columns_of(requirements)) or bool(space.around)

    def tables(self, *, follow: bool = False) -> Tables:
        """Tables with what judging needs."""
        return Tables(self.space, follow=follow or self.follows)

    def by_size(self, table: Table) -> Cut:
        """The node with all groups that have units enough: where too many rows are in others, it is hopeless, and so
        is every finer node."""
        sizes = self.evidence.sizes(table)
        kept = sizes >= self.least
        return Cut(self.space, table.node, table.keys, table.n, kept & (table.n > 0), table.of_base)

    def settling(self) -> Judge:
        """The same judge, for whom only what stays counts."""
        found = copy(self)
        found._settle, found.merging = True, False
        found.least = max((r.least for r in self.requirements if of_single_groups(r)), default=1)
        return found

    def cut(self, table: Table, by_size: Cut | None = None) -> Cut:
        """The node with its groups judged; `by_size`, where it is at hand."""
        return self.settled(table) if self._settle else self._judged(table, by_size or self.by_size(table))

    def _judged(self, table: Table, by_size: Cut) -> Cut:
        if self.only_sizes or not by_size.n_groups:
            return by_size
        kept = by_size.kept.copy()
        kept[kept] = self._passing(self.evidence.of(table, self.evidence.sizes(table), kept))
        return replace(by_size, kept=kept)

    def settled(self, table: Table) -> Cut:
        """The same with distributions compared with those of the rows that stay alone: what a reader can check.

        Groups that then fail are suppressed as well, until all that stay pass.
        """
        cut = self._judged(table, self.by_size(table))
        kept, before = cut.kept.copy(), -1
        while self.reads_totals and kept.any() and before != int(kept.sum()):
            before = int(kept.sum())
            kept[kept] = self._passing(self.evidence.staying(table, kept))
        return replace(cut, kept=kept)

    def allows(self, cut: Cut) -> bool:
        """No more rows are suppressed than asked, and at least one stays."""
        return cut.n_suppressed <= self.most and cut.n_groups > 0

    def _passing(self, groups: Groups) -> Bools:
        passing = np.ones(groups.n_groups, dtype=np.bool_)
        for requirement in self._alone:
            passing &= requirement.passes(groups)
        before = -1
        while self._together and before != int(passing.sum()):
            before = int(passing.sum())
            for requirement in self._together:
                passing[passing] = requirement.keeps(taken(groups, passing))
        return passing


def of_single_groups(requirement: Requirement) -> bool:
    """Judged group by group, whatever the others are."""
    return type(requirement).keeps is Requirement.keeps


def only_size(requirement: Requirement) -> bool:
    """Any group of `least` units passes, whatever else is in it."""
    by_size = not requirement.columns and requirement.reads == "groups"
    return by_size and requirement.grows and of_single_groups(requirement)
