"""Lattices too large to list: a good node soon, then boxes of nodes ruled out one by one, with what is still open.

A box is all nodes between a finest and a coarsest one. It is ruled out when its coarsest node has too many rows in
groups that are too small, or when nothing from its finest node on can score below the best; else it is cut in two.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from sfumato.methods.fulldomain.ended import Ended, best_known, better, can_beat
from sfumato.methods.fulldomain.nodes import NEVER, Looked, Nodes
from sfumato.methods.fulldomain.walking import moved

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.progress import Watch
    from sfumato.methods.fulldomain.space import Node

PROMISING = 0.8
"""How much a box's coarsest node counts beside its finest one when the most promising box is chosen."""


@dataclass(frozen=True)
class Box:
    """Nodes from `low` to `high`, none of which scores below `bound`."""

    bound: float
    low: Node
    high: Node


class Boxes:
    """Boxes that are still open, by their bounds and by how promising they are."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._open: dict[int, Box] = {}
        self._by_bound: list[tuple[float, int]] = []
        self._by_promise: list[tuple[float, int]] = []
        self._turns = count()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, boxes: Iterable[Box]) -> None:
        """More boxes."""
        for box in boxes:
            turn = next(self._turns)
            self._open[turn] = box
            # Without bounds the newest box is the most promising one.
            known = box.bound > -NEVER
            promise = box.bound + PROMISING * (self._nodes.bound(box.high) - box.bound) if known else -float(turn)
            heapq.heappush(self._by_bound, (box.bound, turn))
            heapq.heappush(self._by_promise, (promise, turn))

    def take(self, *, promising: bool) -> Box:
        """The most promising box, where a better node may be, or the one with the least bound, which proves."""
        heap = self._by_promise if promising else self._by_bound
        while True:
            turn = heapq.heappop(heap)[1]
            if turn in self._open:
                return self._open.pop(turn)

    @property
    def bound(self) -> float:
        """What no node in an open box scores below."""
        while self._by_bound and self._by_bound[0][1] not in self._open:
            heapq.heappop(self._by_bound)
        return self._by_bound[0][0] if self._by_bound else NEVER


def branch(nodes: Nodes, watch: Watch) -> Ended:
    """A first solution from the top down, levels exchanged between columns, then boxes, while there is time."""
    best = best_known(nodes, dive(nodes, watch))
    best = None if best is None else improved(nodes, best, watch)
    space, boxes = nodes.space, Boxes(nodes)
    boxes.add([Box(nodes.bound(space.bottom), space.bottom, space.heights)])
    turn = 0
    while len(boxes) and not watch.over() and can_beat(boxes.bound, best):
        box, turn = boxes.take(promising=turn % 3 == 0), turn + 1
        top = nodes.at(box.high)
        if better(top, best):
            best = improved(nodes, top, watch)
        halves = [] if top.hopeless or box.low == box.high else _halves(nodes, box)
        boxes.add(half for half in halves if can_beat(half.bound, best))
        watch.say(nodes, best and best.score)
    if best is None:
        return Ended(None, boxes.bound, not len(boxes))
    if not isinstance(best.score, float):
        return Ended(best, -NEVER, not len(boxes))
    return Ended(best, min(boxes.bound, best.score), not len(boxes) or not can_beat(boxes.bound, best))


def dive(nodes: Nodes, watch: Watch) -> Looked | None:
    """From the top down, one level of one column lower, always to the neighbour with the least score."""
    here = nodes.at(nodes.space.heights)
    if not here.allowed:
        return None
    best = here
    while not watch.over():
        lower = [nodes.at(moved(here.node, j, -1)) for j in range(len(here.node)) if here.node[j]]
        allowed = [one for one in lower if one.allowed]
        if not allowed:
            break
        here = min(allowed, key=lambda one: (one.score, one.n_suppressed, one.node))
        best = here if better(here, best) else best
        watch.say(nodes, best.score)
    return best


def improved(nodes: Nodes, best: Looked, watch: Watch) -> Looked:
    """Levels exchanged: some column lower by one or two, another higher by one, as long as the score falls."""
    found: Looked | None = best
    while found is not None and not watch.over():
        best, found = found, None
        for node in _neighbours(nodes, best):
            one = nodes.at(node)
            if better(one, found or best):
                found = one
            if watch.over():
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
    return [listed[i] for i in np.argsort(bounds, kind="stable").tolist() if can_beat(float(bounds[i]), best)]


def _halves(nodes: Nodes, box: Box) -> list[Box]:
    """The box cut along the column where the upper half has the highest bound."""
    wide = [j for j in range(len(box.low)) if box.low[j] < box.high[j]]
    uppers = [moved(box.low, j, (box.high[j] - box.low[j]) // 2 + 1) for j in wide]
    bounds = nodes.scorer.bounds(np.array(uppers))
    at = len(wide) - 1 if bounds is None else int(np.argmax(bounds))
    axis, upper = wide[at], uppers[at]
    lower_top = (*box.high[:axis], upper[axis] - 1, *box.high[axis + 1 :])
    bound = box.bound if bounds is None else max(box.bound, float(bounds[at]))
    return [Box(box.bound, box.low, lower_top), Box(bound, upper, box.high)]
