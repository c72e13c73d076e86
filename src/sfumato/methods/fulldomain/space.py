"""The nodes of a generalization lattice and the weighted table of distinct tuples they are evaluated on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.levels import Levels
from sfumato.errors import ParameterError
from sfumato.kernels.rollup_sorting import Raise
from sfumato.methods.fulldomain.distinct import distinct_keys

if TYPE_CHECKING:
    from sfumato.data.codec import Codes
    from sfumato.data.dataset import Dataset

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]
Node = tuple[int, ...]
"""One level for each column."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Where each column stands in a key of several words: its word, its first bit, and a mask of its width."""

    word: Ints
    shift: Keys
    mask: Keys
    n_words: int

    @classmethod
    def of(cls, sizes: Sequence[int]) -> Layout:
        """Fields as wide as the columns' finest levels need, none across two words."""
        word, shift, at, n_words = [], [], 0, 1
        widths = [max(1, (size - 1).bit_length()) for size in sizes]
        for width in widths:
            if at + width > 64:
                at, n_words = 0, n_words + 1
            word.append(n_words - 1)
            shift.append(at)
            at += width
        masks = [(1 << width) - 1 for width in widths]
        return cls(np.array(word, dtype=np.int64), np.array(shift, np.uint64), np.array(masks, np.uint64), n_words)

    def keys(self, nodes: Iterable[Codes], n_rows: int) -> Keys:
        """Tuples of node numbers (one array a column, asked for one by one) as keys, shape (R, W)."""
        found = np.zeros((n_rows, self.n_words), dtype=np.uint64)
        for j, codes in enumerate(nodes):
            found[:, self.word[j]] |= codes.astype(np.uint64) << self.shift[j]
        return found

    def nodes(self, keys: Keys, column: int) -> Ints:
        """One column's node numbers back from keys, shape (R,)."""
        found: Ints = ((keys[:, self.word[column]] >> self.shift[column]) & self.mask[column]).astype(np.int64)
        return found


@dataclass(frozen=True, eq=False)
class Space:
    """The lattice over the quasi-identifiers of a dataset: `height + 1` levels a column, from values to `*`.

    `keys`, `n`: distinct tuples on level 0 with the rows that have them; `of_row[row]`: the tuple of a row.
    `around[requirement]`: per tuple the rows of a population beside the dataset (its own tuples have n = 0).
    """

    columns: tuple[str, ...]
    levels: tuple[Levels, ...]
    n_rows: int
    layout: Layout = field(repr=False)
    keys: Keys = field(repr=False)
    n: Ints = field(repr=False)
    of_row: NDArray[np.int32] = field(repr=False)
    around: Mapping[Any, Ints] = field(repr=False, default_factory=dict)

    @classmethod
    def of(cls, dataset: Dataset) -> Space:
        """The space of a prepared dataset and of the populations beside it."""
        columns = dataset.schema.names("quasi")
        levels = tuple(Levels.of(dataset.domains[name]) for name in columns)
        layout = Layout.of([one.n_nodes(0) for one in levels])

        def keys_of(codes: Mapping[str, Codes]) -> Keys:
            nodes = (one.node[0][codes[name]] for name, one in zip(columns, levels, strict=True))
            return layout.keys(nodes, len(codes[columns[0]]))

        beside = {requirement: keys_of(_listed(codes)) for requirement, codes in dataset.beside.items()}
        rows = keys_of(dataset.codes)
        weights = np.ones(len(rows), dtype=np.int64)
        if beside:
            rows = np.concatenate([rows, *beside.values()])
            weights = np.append(weights, np.zeros(len(rows) - len(weights), dtype=np.int64))
        keys, n, of_row = distinct_keys(rows, weights)
        around, at = {}, dataset.n_rows
        for requirement, some in beside.items():
            around[requirement] = np.bincount(of_row[at : at + len(some)], minlength=len(n)).astype(np.int64)
            at += len(some)
        return cls(columns, levels, dataset.n_rows, layout, keys, n, of_row[: dataset.n_rows], around)

    @property
    def heights(self) -> Node:
        """The coarsest level of every column."""
        return tuple(one.height for one in self.levels)

    @property
    def n_nodes(self) -> int:
        """How many nodes the lattice has."""
        return prod(height + 1 for height in self.heights)

    @property
    def bottom(self) -> Node:
        """Nothing generalized."""
        return (0,) * len(self.columns)

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """Columns with the widest first: raising those first makes tables small soon."""
        return tuple(sorted(range(len(self.columns)), key=lambda j: (-self.levels[j].n_nodes(0), j)))

    def node(self, levels: Mapping[str, int]) -> Node:
        """A node from column → level; columns that are not named stay on level 0."""
        unknown = [name for name in levels if name not in self.columns]
        if unknown:
            raise ParameterError(f"{', '.join(unknown)} is no quasi-identifier; these are {', '.join(self.columns)}.")
        try:
            found = tuple(index(levels.get(name, 0)) for name in self.columns)
        except TypeError:
            raise ParameterError("Levels are whole numbers from 0 up, as in node({'age': 2}).") from None
        for name, level, height in zip(self.columns, found, self.heights, strict=True):
            if not 0 <= level <= height:
                raise ParameterError(f"Column {name!r} has levels 0 to {height}; {level} was asked.")
        return found

    def named(self, node: Node) -> dict[str, int]:
        """Column → level."""
        return dict(zip(self.columns, node, strict=True))

    def raising(self, low: Node, high: Node) -> Raise:
        """What takes tuples from one node to a coarser one."""
        changed = [j for j in range(len(low)) if low[j] != high[j]]
        step = (changed[0], low[changed[0]], high[changed[0]]) if len(changed) == 1 else None
        if step in self._steps:
            return self._steps[step]
        found = self._raising(low, high, changed)
        if step is not None:
            self._steps[step] = found
        return found

    def _raising(self, low: Node, high: Node, changed: list[int]) -> Raise:
        tables = [self._up(j, low[j], high[j]) for j in changed]
        starts = np.cumsum([0, *(len(table) for table in tables)])[:-1]
        at = np.array(changed, dtype=np.int64)
        table = np.concatenate(tables) if tables else np.zeros(0, dtype=np.uint64)
        layout = self.layout
        return Raise(layout.word[at], layout.shift[at], layout.mask[at], starts.astype(np.uint64), table)

    def _up(self, column: int, low: int, high: int) -> Keys:
        known = self._ups
        if (column, low, high) not in known:
            known[column, low, high] = self.levels[column].up(low, high).astype(np.uint64)
        return known[column, low, high]

    @cached_property
    def _steps(self) -> dict[tuple[int, int, int] | None, Raise]:
        return {}

    @cached_property
    def _ups(self) -> dict[tuple[int, int, int], Keys]:
        return {}

    @cached_property
    def rows_of_nodes(self) -> tuple[tuple[Ints, ...], ...]:
        """Rows under each node: [column][level] → (n_nodes,)."""
        found = []
        for j, levels in enumerate(self.levels):
            finest = self.layout.nodes(self.keys, j)
            counts = np.bincount(finest, weights=self.n, minlength=levels.n_nodes(0)).astype(np.int64)
            above = [levels.up(0, level) for level in range(levels.height + 1)]
            found.append(
                tuple(
                    np.bincount(up, weights=counts, minlength=levels.n_nodes(level)).astype(np.int64)
                    for level, up in enumerate(above)
                )
            )
        return tuple(found)

    def grid(self) -> NDArray[Any]:
        """Every node of the lattice, shape (n_nodes, d), the last column fastest."""
        shape = [height + 1 for height in self.heights]
        return np.indices(shape, dtype=np.int16).reshape(len(shape), -1).T


def _listed(codes: Mapping[str, Codes]) -> dict[str, Codes]:
    """Rows of a population without those that hold a value the domains do not list: they lie in no region."""
    known = np.all([column >= 0 for column in codes.values()], axis=0)
    return {name: column[known] for name, column in codes.items()}
