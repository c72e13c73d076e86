"""Lattices too large to list: a good node soon, then boxes of nodes ruled out one by one, with what is still open.

A box is all nodes between a finest and a coarsest one. It is ruled out when its coarsest node has too many rows in
groups that are too small, or when nothing from its finest node on can score below the best; else it is cut in two.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from sfumato.methods.fulldomain.ended import ROUNDING, Ended, better, number_of
from sfumato.methods.fulldomain.nodes import NEVER, Looked, Nodes
from sfumato.methods.fulldomain.walking import moved

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.progress import Watch
    from sfumato.methods.fulldomain.space import Node

DIVING, IMPROVING = 0.25, 0.6
"""Shares of the time until which a first solution is sought, and until which it is improved."""


@dataclass(frozen=True, order=True)
class Box:
    """Nodes from `low` to `high`, none of which scores below `bound`."""

    bound: float
    turn: int
    low: Node
    high: Node


def branch(nodes: Nodes, watch: Watch) -> Ended:
    """Best-first from the top, then exchanges of levels between columns, then boxes, while there is time."""
    best = dive(nodes, watch)
    if best is not None:
        best = improved(nodes, best, watch)
    space = nodes.space
    turns = count()
    boxes = [Box(nodes.bound(space.bottom), next(turns), space.bottom, space.heights)]
    while boxes and not watch.over():
        box = heapq.heappop(boxes)
        if best is not None and not _can_beat(box.bound, best):
            return Ended(best, number_of(best), True)
        top = nodes.at(box.high)
        best = top if better(top, best) else best
        if not top.hopeless and box.low != box.high:
            for low, high in _halves(nodes, box):
                heapq.heappush(boxes, Box(max(box.bound, nodes.bound(low)), next(turns), low, high))
        watch.say(nodes, best and best.score)
    bound = min((box.bound for box in boxes), default=NEVER)
    if best is None:
        return Ended(None, bound, not boxes)
    proven = not boxes or not _can_beat(bound, best)
    return Ended(best, min(bound, _least(best)), proven)


def dive(nodes: Nodes, watch: Watch) -> Looked | None:
    """From the top down, the best-scored node first, always to its allowed neighbours one level lower (as ARX's
    heuristic search does)."""
    top = nodes.at(nodes.space.heights)
    if not top.allowed:
        return None
    best, seen = top, {top.node}
    waiting = [(top.score, top.node)]
    while waiting and not watch.over(DIVING):
        _, node = heapq.heappop(waiting)
        for axis in range(len(node)):
            if not node[axis] or (lower := moved(node, axis, -1)) in seen:
                continue
            seen.add(lower)
            one = nodes.at(lower)
            if one.allowed:
                best = one if better(one, best) else best
                heapq.heappush(waiting, (one.score, lower))
        watch.say(nodes, best.score)
    return best


def improved(nodes: Nodes, best: Looked, watch: Watch) -> Looked:
    """Levels exchanged: some column lower by one or two, another higher by one, as long as the score falls."""
    found: Looked | None = best
    while found is not None and not watch.over(IMPROVING):
        best, found = found, None
        for node in _neighbours(nodes, best):
            one = nodes.at(node)
            if better(one, found or best):
                found = one
            if watch.over(IMPROVING):
                break
        watch.say(nodes, best.score)
    return found or best


def _neighbours(nodes: Nodes, best: Looked) -> list[Node]:
    """Nodes near by whose bound is below the best score, lowest bound first."""
    heights, here = nodes.space.heights, best.node
    lower = [moved(here, j, -by) for j in range(len(here)) for by in (1, 2) if here[j] >= by]
    found = set(lower)
    found |= {
        moved(node, j, 1) for node in lower for j in range(len(here)) if node[j] < heights[j] and node[j] == here[j]
    }
    listed = sorted(found)
    bounds = nodes.scorer.bounds(np.array(listed)) if listed else None
    if bounds is None:
        return listed
    return [listed[i] for i in np.argsort(bounds, kind="stable").tolist() if _can_beat(float(bounds[i]), best)]


def _halves(nodes: Nodes, box: Box) -> list[tuple[Node, Node]]:
    """The box cut along the column where the upper half has the highest bound."""
    wide = [j for j in range(len(box.low)) if box.low[j] < box.high[j]]
    uppers = [moved(box.low, j, (box.high[j] - box.low[j]) // 2 + 1) for j in wide]
    bounds = nodes.scorer.bounds(np.array(uppers))
    at = 0 if bounds is None else int(np.argmax(bounds))
    axis, upper = wide[at], uppers[at]
    return [(box.low, (*box.high[:axis], upper[axis] - 1, *box.high[axis + 1 :])), (upper, box.high)]


def _can_beat(bound: float, best: Looked) -> bool:
    return bound < _least(best)


def _least(best: Looked) -> float:
    return best.score * (1 - ROUNDING) if isinstance(best.score, float) else NEVER
