"""The best node of a lattice that can be listed whole: every node is looked at or proven not to be better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.fulldomain.ended import ROUNDING, Ended, best_known, better, can_beat, number_of
from sfumato.methods.fulldomain.nodes import NEVER, Looked, Nodes
from sfumato.methods.fulldomain.walking import box_above, box_below, in_order, moved

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.progress import Watch

Bools = NDArray[np.bool_]


def descent(nodes: Nodes, watch: Watch) -> Looked | None:
    """A first solution: from the top, one level of one column lower while the node stays allowed."""
    here = nodes.at(nodes.space.heights)
    best = here if here.allowed else None
    while here.allowed and not watch.over():
        lower = [moved(here.node, j, -1) for j in range(len(here.node)) if here.node[j]]
        lower.sort(key=lambda node: (nodes.bound(node), sum(node), node))
        found = next((one for one in map(nodes.at, lower) if one.allowed), None)
        if found is None:
            break
        best, here = (found if better(found, best) else best), found
    return best


def sweep(nodes: Nodes, watch: Watch) -> Ended:
    """From the coarsest bound down. A node with too many rows in groups that are too small rules out all finer ones;
    a bound above the best score rules out the node."""
    grid = nodes.space.grid()
    bounds = nodes.scorer.bounds(grid)
    assert bounds is not None
    order = np.argsort(-bounds, kind="stable")
    open_nodes = np.ones([height + 1 for height in nodes.space.heights], dtype=np.bool_)
    flat, falling = open_nodes.reshape(-1), -bounds[order]
    best = best_known(nodes, descent(nodes, watch))
    for one in nodes.known.values():
        _close(open_nodes, one)
    at = 0
    while at < len(order):
        if best is not None:
            # bounds[order] falls: skip what cannot be better.
            least = ROUNDING * abs(number_of(best)) - number_of(best)
            at = max(at, int(np.searchsorted(falling, least, side="right")))
        if at < len(order) and flat[order[at]]:
            one = nodes.at(tuple(grid[order[at]].tolist()))
            _close(open_nodes, one)
            best = one if better(one, best) else best
            watch.say(nodes, best and best.score)
        at += 1
        if watch.over():
            break
    rest = order[at:][flat[order[at:]]]
    bound = min(float(bounds[rest].min(initial=NEVER)), NEVER if best is None else number_of(best))
    proven = best is None or not can_beat(bound, best)
    return Ended(best, bound, proven and (best is not None or len(rest) == 0))


def walk(nodes: Nodes, watch: Watch) -> Ended:
    """Every node, fine to coarse, where scores have no bound from the levels alone; a node's floor rules out all
    coarser ones. The columns that make tables small change slowest, so that each table comes from one close by."""
    space = nodes.space
    open_nodes = np.ones([height + 1 for height in space.heights], dtype=np.bool_)
    best = best_known(nodes, descent(nodes, watch))
    for node in in_order(space):
        if not open_nodes[node]:
            continue
        one = nodes.at(node)
        best = one if better(one, best) else best
        if best is not None and isinstance(best.score, float) and one.floor >= best.score:
            open_nodes[box_above(node)] = False
        watch.say(nodes, best and best.score)
        if watch.over():
            return Ended(best, -NEVER, False)
    proven = best.score if best is not None and isinstance(best.score, float) else -NEVER
    return Ended(best, proven, True)


def _close(open_nodes: Bools, one: Looked) -> None:
    """What a node says of others is taken note of."""
    open_nodes[one.node] = False
    if one.hopeless:
        open_nodes[box_below(one.node)] = False
