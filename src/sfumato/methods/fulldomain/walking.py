"""The order in which all nodes of a lattice are visited so that each table comes from one close by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.space import Node, Space


def in_order(space: Space) -> Iterator[Node]:
    """All nodes, fine to coarse; the columns that make tables small change slowest."""
    for levels in np.ndindex(*(space.heights[axis] + 1 for axis in space.axes)):
        node = [0] * len(space.axes)
        for axis, level in zip(space.axes, levels, strict=True):
            node[axis] = level
        yield tuple(node)


def moved(node: Node, axis: int, by: int) -> Node:
    """The node with one column some levels higher or lower."""
    return (*node[:axis], node[axis] + by, *node[axis + 1 :])


def box_below(node: Node) -> tuple[slice, ...]:
    """The node and all finer ones, as an index of an array over the lattice."""
    return tuple(slice(0, level + 1) for level in node)


def box_above(node: Node) -> tuple[slice, ...]:
    """The node and all coarser ones."""
    return tuple(slice(level, None) for level in node)
