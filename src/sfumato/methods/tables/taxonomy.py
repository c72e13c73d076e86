"""Recoding by cuts through taxonomies: a column's values go up to nodes of different levels that partition it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import Incompatible
from sfumato.methods.fulldomain.distinct import distinct_keys
from sfumato.methods.fulldomain.publishing import group_of_rows, release
from sfumato.methods.fulldomain.space import Ints, Keys, Space
from sfumato.methods.fulldomain.tables import Table

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.contracts import Recipe
    from sfumato.data.codec import Codes
    from sfumato.data.dataset import Dataset
    from sfumato.data.levels import Levels
    from sfumato.methods.fulldomain.cuts import Cut, Judge
    from sfumato.releases.generalized import Generalized


@dataclass(frozen=True, eq=False)
class Branch:
    """A node of a column's taxonomy with its children: the level-0 nodes `first` … `last` are under it.

    `heads[i]`: first level-0 node of the child above first + i. `below`: branches right under it. `n`: rows under it;
    `several`: they differ in class, or there is no class. `cost`: what is lost when the children become the node.
    """

    column: int
    first: int
    last: int
    heads: Ints = field(repr=False)
    below: tuple[int, ...]
    n: int
    several: bool
    cost: float


def branches_of(space: Space, dataset: Dataset, on: str | None) -> list[Branch]:
    """Every branch with tuples under it, by column, then fine to coarse."""
    found: list[Branch] = []
    for j, levels in enumerate(space.levels):
        leaf = space.layout.nodes(space.keys, j)
        seen = np.bincount(leaf, minlength=levels.n_nodes(0)) > 0
        counted = _counted(space, dataset, on, leaf, levels.n_nodes(0))
        leaves = levels.leaves(0)
        top, head = np.full(len(seen), -1, dtype=np.int64), np.arange(len(seen), dtype=np.int64)
        whole = None if on is not None else space.n_rows * max(levels.domain.size - 1, 1)
        for first, last, heads in _splits(levels, seen, head):
            here = slice(first, last + 1)
            below = tuple(int(one) for one in np.unique(top[here]) if one >= 0)
            n, several, cost = _cost(counted[here], leaves[here], heads, whole)
            top[here] = len(found)
            found.append(Branch(j, first, last, heads, below, n, several, cost))
    return found


def _splits(levels: Levels, seen: NDArray[np.bool_], head: Ints) -> Iterator[tuple[int, int, Ints]]:
    """Nodes of several children with a tuple under them, fine to coarse: first and last level-0 node, and the first of
    the child above each."""
    for level in range(1, levels.height + 1):
        starts = np.flatnonzero(np.diff(levels.up(0, level), prepend=-1))
        ends = np.append(starts[1:], len(head)) - 1
        for first, last in zip(starts.tolist(), ends.tolist(), strict=True):
            if head[first] != head[last] and seen[first : last + 1].any():
                yield first, last, head[first : last + 1].copy()
        head = np.repeat(starts, ends - starts + 1)


def _counted(space: Space, dataset: Dataset, on: str | None, leaf: Ints, size: int) -> Ints:
    """Rows of every level-0 node by class, (size, classes); one class when none is named."""
    of_row = leaf[space.of_row]
    if on is None:
        return np.bincount(of_row, minlength=size).astype(np.int64)[:, None]
    n_classes = dataset.domains[on].size
    cell = of_row * n_classes + dataset.codes[on]
    return np.bincount(cell, minlength=size * n_classes).astype(np.int64).reshape(size, n_classes)


def _cost(counted: Ints, leaves: Ints, heads: Ints, whole: int | None) -> tuple[int, bool, float]:
    """Rows, whether their class differs, and what is lost: bits about the class per row, or with `whole` the share of
    that many rows × leaves."""
    starts = np.flatnonzero(np.diff(heads, prepend=-1))
    parts = np.add.reduceat(counted, starts, axis=0)
    together = parts.sum(axis=0)
    n = int(together.sum())
    if whole is not None:
        under = np.add.reduceat(leaves, starts)
        return n, n > 0, (n * int(under.sum()) - int((parts[:, 0] * under).sum())) / whole
    lost = _bits(together) - sum(_bits(part) for part in parts)
    return n, int((together > 0).sum()) > 1, max(lost, 0.0) / max(n, 1)


def _bits(counts: Ints) -> float:
    """Rows times the entropy of their class."""
    some = counts[counts > 0].astype(np.float64)
    return float((some * np.log2(some.sum() / some)).sum()) if len(some) else 0.0


def refuse_no_class(method: str, dataset: Dataset, on: str | None) -> None:
    """Raise `Incompatible` when the class column is not published as it is."""
    if on is not None and (on not in dataset.schema or dataset.schema[on].role not in ("sensitive", "plain")):
        raise Incompatible(
            f"{method} reads classes from column {on!r}, which must be published as it is. "
            "Give it the role sensitive or plain, or leave on= out."
        )


@dataclass(frozen=True, eq=False)
class Recoded:
    """The space's tuples under one cut a column: `heads[j][node]` is the first level-0 node of the cut's node above.

    `keys`: the tuples with heads in place of level-0 nodes, (T, W); `table`: their groups.
    """

    space: Space
    heads: tuple[Ints, ...] = field(repr=False)
    keys: Keys = field(repr=False)
    table: Table = field(repr=False)

    @classmethod
    def of(cls, space: Space, *, coarse: bool) -> Recoded:
        """Everything generalized, or nothing."""
        heads = tuple(
            np.zeros(levels.n_nodes(0), dtype=np.int64) if coarse else np.arange(levels.n_nodes(0), dtype=np.int64)
            for levels in space.levels
        )
        keys = np.zeros_like(space.keys) if coarse else space.keys
        return cls(space, heads, keys, Table(space.bottom, *distinct_keys(keys, space.n)))

    def turned(self, branch: Branch, heads: Ints | int) -> Recoded:
        """The same with other heads for what is under a branch; only its groups are counted again."""
        j, layout, old = branch.column, self.space.layout, self.table
        turned = self.heads[j].copy()
        turned[branch.first : branch.last + 1] = heads
        leaf = layout.nodes(self.space.keys, j)
        inside = np.flatnonzero((leaf >= branch.first) & (leaf <= branch.last))
        keys, word, shift = self.keys.copy(), layout.word[j], layout.shift[j]
        keys[inside, word] &= ~(layout.mask[j] << shift)
        keys[inside, word] |= turned[leaf[inside]].astype(np.uint64) << shift
        assert old.of_base is not None
        found, n, of = distinct_keys(keys[inside], self.space.n[inside])
        stays = np.ones(len(old.n), dtype=np.bool_)
        stays[old.of_base[inside]] = False
        of_base = (np.cumsum(stays, dtype=np.int32) - 1)[old.of_base].astype(np.int32)
        of_base[inside] = int(stays.sum()) + of
        table = Table(
            self.space.bottom, np.concatenate([old.keys[stays], found]), np.concatenate([old.n[stays], n]), of_base
        )
        return Recoded(self.space, (*self.heads[:j], turned, *self.heads[j + 1 :]), keys, table)

    def smallest(self, judge: Judge) -> int:
        """Units of the smallest group that is not too small for any requirement; 0 without one."""
        sizes = judge.evidence.sizes(self.table)
        return int(sizes[(sizes >= judge.least) & (self.table.n > 0)].min(initial=2**62)) % 2**62

    def release(self, dataset: Dataset, cut: Cut, recipe: Recipe, chance: Chance) -> Generalized:
        """The groups that stay, each with the nodes of the cuts."""
        low: dict[str, Codes] = {}
        high: dict[str, Codes] = {}
        for j, name in enumerate(self.space.columns):
            head = self.space.layout.nodes(cut.keys[cut.kept], j)
            first, last = self.space.levels[j].runs(0)
            low[name], high[name] = first[head], last[np.searchsorted(self.heads[j], head, side="right") - 1]
        return release(dataset, group_of_rows(cut), low, high, recipe, chance)
