"""Sets of nodes: the minimal ones that are allowed, and those that nothing beats in risk and score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.fulldomain.walking import box_above, box_below, in_order

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.nodes import Looked, Nodes
    from sfumato.methods.fulldomain.space import Node, Space

    Bools = NDArray[np.bool_]

MOST_LISTED = 1 << 20
"""Lattices with more nodes are not listed whole."""


def minimal_nodes(nodes: Nodes) -> list[Node]:
    """Allowed nodes with no finer allowed node (Incognito's and Samarati's answer), from the coarsest columns on; in
    lattices too large to list, among the nodes looked at.
    """
    if nodes.space.n_nodes > MOST_LISTED:
        allowed = [node for node, one in nodes.known.items() if one.allowed]
        return sorted(node for node in allowed if not any(_finer(other, node) for other in allowed))
    found = allowed_nodes(nodes)
    below = found.copy()
    for axis in range(below.ndim):
        np.logical_or.accumulate(below, axis=axis, out=below)
    strictly = np.zeros_like(found)
    for axis in range(below.ndim):
        upper: list[slice] = [slice(None)] * below.ndim
        lower = list(upper)
        upper[axis], lower[axis] = slice(1, None), slice(0, -1)
        strictly[tuple(upper)] |= below[tuple(lower)]
    return [tuple(map(int, node)) for node in np.argwhere(found & ~strictly)]


def allowed_nodes(nodes: Nodes) -> Bools:
    """Which nodes are allowed, one flag a node of the lattice.

    Where more rows only help, a node that is allowed says so of all coarser ones, one that is not of all finer ones.
    """
    shape = [height + 1 for height in nodes.space.heights]
    allowed, unknown = np.zeros(shape, dtype=np.bool_), np.ones(shape, dtype=np.bool_)
    for one in list(nodes.known.values()):
        _note(one, allowed, unknown, grows=nodes.judge.only_sizes)
    for node in _from_the_top(nodes.space):
        if unknown[node]:
            _note(nodes.at(node), allowed, unknown, grows=nodes.judge.only_sizes)
    return allowed


def pareto_nodes(nodes: Nodes) -> list[Node]:
    """Allowed nodes that no other beats in both risk and score, by rising score."""
    if nodes.space.n_nodes <= MOST_LISTED:
        allowed = allowed_nodes(nodes)
        looked = [nodes.at(node) for node in in_order(nodes.space) if allowed[node]]
    else:
        looked = [one for one in nodes.known.values() if one.allowed]
    found: list[Node] = []
    least = np.inf
    for one in sorted(looked, key=lambda one: (one.score, one.risk, one.n_suppressed, one.node)):
        if one.risk < least:
            least = one.risk
            found.append(one.node)
    return found


def _note(one: Looked, allowed: Bools, unknown: Bools, *, grows: bool) -> None:
    unknown[one.node] = False
    allowed[one.node] = one.allowed
    if one.hopeless:
        unknown[box_below(one.node)] = False
    if one.allowed and grows:
        allowed[box_above(one.node)] = True
        unknown[box_above(one.node)] = False


def _from_the_top(space: Space) -> list[Node]:
    """Coarse nodes first, as their tables are small."""
    grid = space.grid()
    order = np.argsort(-grid.sum(axis=1, dtype=np.int64), kind="stable")
    return [tuple(node) for node in grid[order].tolist()]


def _finer(one: Node, other: Node) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))
