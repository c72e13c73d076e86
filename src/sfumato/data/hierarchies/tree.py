"""Categories with nodes above them: checks that a table of labels is a tree, and puts its leaves in tree order.

Errors say which level breaks and how many values, never which values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.codec import ROOT, Codes, Domain, Level, Region
from sfumato.data.hierarchies.rule import Placed, Source, with_missing
from sfumato.data.steps import Ints
from sfumato.errors import SchemaError


@dataclass(frozen=True)
class Tree:
    """Leaves in their order and, per level from fine to coarse, the label above each leaf; without the root."""

    leaves: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...] = ()
    whole: bool = True
    """All values a cell may hold are listed (declared), not only those present."""
    region: Region = "node"


def checked(tree: Tree, name: str) -> Tree:
    """The same tree without its root level, or `SchemaError` naming the first level that breaks."""
    columns = [list(tree.leaves), *map(list, tree.levels)]
    for n, labels in enumerate(columns):
        n_empty = sum(not label.strip() for label in labels)
        if n_empty:
            raise SchemaError(f"{name}: {_level(n)} has {n_empty} empty labels (holes). Fill them in.")
    n_twice = len(tree.leaves) - len(set(tree.leaves))
    if n_twice:
        raise SchemaError(f"{name}: {n_twice} leaves occur more than once. Keep one line for each value.")
    for n, (below, above) in enumerate(pairwise(columns)):
        n_split = _with_two_parents(below, above)
        if n_split:
            raise SchemaError(
                f"{name}: {n_split} nodes of {_level(n)} have more than one parent at level {n + 1}. "
                "Give each node one parent."
            )
    n_round = _on_a_cycle(columns)
    if n_round:
        raise SchemaError(f"{name}: {n_round} labels are above themselves (a cycle). Rename the node or its ancestor.")
    levels = list(tree.levels)
    while levels and (len(set(levels[-1])) == 1 or set(levels[-1]) == {ROOT}):
        levels.pop()
    return replace(tree, levels=tuple(levels))


def place_tree(tree: Tree, source: Source, name: str, *, keep_order: bool = False) -> Placed:
    """The column on the tree's leaves; numbers and dates keep their kind when the tree allows ascending order."""
    raw = source.domain
    values = _typed(tree, raw, name)
    # A list taken from the data is published as text: a label may stand there for values that are not.
    order = None if raw.kind == "text" or not tree.whole else _ascending(values, tree)
    if order is None:
        values = pa.array(tree.leaves, pa.string())
        order = np.arange(len(values)) if keep_order else _tree_order(tree)
    kind = "text" if pa.types.is_string(values.type) else raw.kind
    values = values.take(pa.array(order))
    levels = tuple(_level_of([labels[i] for i in order]) for labels in tree.levels)
    domain = Domain(kind, values, levels=levels, region=tree.region, complete=tree.whole)
    domain = domain if tree.whole else replace(domain, taken="values")
    own = raw.values if kind == raw.kind else raw.values.cast(pa.string())
    found = pc.index_in(own, value_set=values)
    if found.null_count:
        raise SchemaError(
            f"{name}: {found.null_count} values of column {source.name!r} are not among its {len(values)} leaves. "
            "Add a line for each, or read the column with null_values=(...) when they mean missing."
        )
    table = found.cast(pa.int32()).to_numpy(zero_copy_only=False)
    why = "its hierarchy is not in ascending order" if tree.whole else "the list of its values is taken from the data"
    notes = () if kind == raw.kind else (f"{source.name}: published as text, {why}.",)
    return Placed(*with_missing(domain, table, raw), notes)


def _level(n: int) -> str:
    return f"level {n}" if n else "level 0 (the leaves)"


def _with_two_parents(below: Sequence[str], above: Sequence[str]) -> int:
    parents: dict[str, set[str]] = {}
    for child, parent in zip(below, above, strict=True):
        parents.setdefault(child, set()).add(parent)
    return sum(len(found) > 1 for found in parents.values())


def _on_a_cycle(columns: Sequence[Sequence[str]]) -> int:
    """Labels that come back above themselves after another label, anywhere on one leaf's path to the root."""
    found = set()
    for path in zip(*columns, strict=True):
        steps = [label for label, before in zip(path, (None, *path), strict=False) if label != before]
        found |= {label for label in steps if steps.count(label) > 1}
    return len(found)


def _typed(tree: Tree, raw: Domain, name: str) -> pa.Array:
    """The leaves in the raw column's type."""
    leaves = pa.array(tree.leaves, pa.string())
    if raw.kind == "text":
        return leaves
    try:
        return leaves.cast(raw.values.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise SchemaError(
            f"{name}: some of its {len(leaves)} leaves cannot be read as {raw.kind}, the kind of the column. "
            "Correct them, or read the column with kinds={...: 'text'}."
        ) from None


def _ascending(values: pa.Array, tree: Tree) -> Ints | None:
    """The order by value when every node is a run in it, else None."""
    if pc.count_distinct(values).as_py() < len(values):
        return None
    order = np.asarray(pc.array_sort_indices(values).to_numpy(), dtype=np.int64)
    for labels in tree.levels:
        ranked = [labels[i] for i in order]
        runs = 1 + sum(a != b for a, b in pairwise(ranked))
        if runs > len(set(labels)):
            return None
    return order


def _tree_order(tree: Tree) -> Ints:
    """Leaves by coarsest node, then the next, in order of first appearance."""
    keys = [np.arange(len(tree.leaves))]
    for labels in tree.levels:
        rank: dict[str, int] = {}
        keys.append(np.array([rank.setdefault(label, len(rank)) for label in labels]))
    return np.asarray(np.lexsort(keys), dtype=np.int64)


def _level_of(labels: Sequence[str]) -> Level:
    node: Codes = np.zeros(len(labels), dtype=np.int32)
    node[1:] = np.cumsum([a != b for a, b in pairwise(labels)])
    starts = np.unique(node, return_index=True)[1]
    return Level(node, tuple(labels[int(i)] for i in starts))
