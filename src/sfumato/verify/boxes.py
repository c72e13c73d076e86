"""Which boxes hold which points: every pair, found by halving both along the most separating column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
SMALL = 1 << 14


def pairs(points: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """All (point, box) with low ≤ point ≤ high in every column. Shapes: points (P, d), low and high (B, d).

    >>> found = pairs(np.array([[1], [5]]), np.array([[0], [1]]), np.array([[3], [9]]))
    >>> [one.tolist() for one in found]
    [[0, 0, 1], [0, 1, 1]]
    """
    left: list[Ints] = []
    right: list[Ints] = []
    stack = [(np.arange(len(points)), np.arange(len(low)))]
    while stack:
        some, boxes = stack.pop()
        if not len(some) or not len(boxes):
            continue
        halves = _halves(points, low, high, some, boxes) if len(some) * len(boxes) > SMALL else None
        if halves is not None:
            stack.extend(halves)
            continue
        for part in np.array_split(some, max(1, len(some) * len(boxes) // (1 << 20))):
            inside = np.ones((len(part), len(boxes)), dtype=bool)
            for column in range(points.shape[1]):
                here = points[part, column][:, None]
                inside &= (low[boxes, column] <= here) & (here <= high[boxes, column])
            hits = np.nonzero(inside)
            left.append(part[hits[0]])
            right.append(boxes[hits[1]])
    first = np.concatenate(left) if left else np.zeros(0, dtype=np.int64)
    second = np.concatenate(right) if right else np.zeros(0, dtype=np.int64)
    order = np.lexsort((second, first))
    return first[order], second[order]


def _halves(points: Ints, low: Ints, high: Ints, some: Ints, boxes: Ints) -> list[tuple[Ints, Ints]] | None:
    """Two smaller problems, or None when no column separates."""
    best, least = None, len(some) * len(boxes) * 0.9
    for column in range(points.shape[1]):
        here = points[some, column]
        cut = np.partition(here, (len(here) - 1) // 2)[(len(here) - 1) // 2]
        below = here <= cut
        reaching, beyond = low[boxes, column] <= cut, high[boxes, column] > cut
        work = below.sum() * reaching.sum() + (~below).sum() * beyond.sum()
        if work < least:
            best, least = [(some[below], boxes[reaching]), (some[~below], boxes[beyond])], work
    return best
