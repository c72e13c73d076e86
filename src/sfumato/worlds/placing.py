"""Which rows fit which row types (points in boxes) and which groups (slots and values met together)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.data.codec import Codes
from sfumato.worlds.tuples import distinct, expand

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

FEW_PAIRS = 1 << 18
"""Point-box pairs compared at once."""


class Boxes:
    """Points in boxes: halve the codes of one column after the other until all pairs can be compared."""

    def __init__(
        self, points: Sequence[Codes], low: Sequence[Codes], high: Sequence[Codes], unknown: Sequence[bool]
    ) -> None:
        self.points, self.low, self.high, self.unknown = points, low, high, unknown
        self.found: list[tuple[Ints, Ints]] = []

    def pairs(self) -> tuple[Ints, Ints]:
        """All (point, box) with the point in the box."""
        self._visit(np.arange(len(self.points[0])), np.arange(len(self.low[0])))
        point = np.concatenate([np.zeros(0, dtype=np.int64), *(p for p, _ in self.found)])
        return point, np.concatenate([np.zeros(0, dtype=np.int64), *(b for _, b in self.found)])

    def _visit(self, points: Ints, boxes: Ints) -> None:
        stack = [(points, boxes)]
        while stack:
            points, boxes = stack.pop()
            if len(points) * len(boxes) <= FEW_PAIRS:
                self._compare(points, boxes)
                continue
            halves = min((self._halved(c, points, boxes) for c in range(len(self.points))), key=_n_pairs)
            if _n_pairs(halves) > 0.9 * len(points) * len(boxes):
                for begin in range(0, len(points), step := max(1, FEW_PAIRS // len(boxes))):
                    self._compare(points[begin : begin + step], boxes)
            else:
                stack += halves

    def _halved(self, c: int, points: Ints, boxes: Ints) -> list[tuple[Ints, Ints]]:
        code = self.points[c][points]
        middle = np.partition(code, (len(code) - 1) // 2)[(len(code) - 1) // 2]
        below = code <= middle
        left = self.low[c][boxes] <= middle
        if self.unknown[c]:
            left = np.ones(len(boxes), dtype=np.bool_)
        return [(points[below], boxes[left]), (points[~below], boxes[self.high[c][boxes] > middle])]

    def _compare(self, points: Ints, boxes: Ints) -> None:
        inside = np.ones((len(points), len(boxes)), dtype=np.bool_)
        for code, low, high, unknown in zip(self.points, self.low, self.high, self.unknown, strict=True):
            mine = code[points][:, None]
            fits = (mine >= low[boxes]) & (mine <= high[boxes])
            inside &= fits | (mine < 0) if unknown else fits
        p, b = np.nonzero(inside)
        if len(p):
            self.found.append((points[p], boxes[b]))


def _n_pairs(halves: list[tuple[Ints, Ints]]) -> int:
    return sum(len(points) * len(boxes) for points, boxes in halves)


def seats(group: Ints, columns: Mapping[str, Codes], rows: Mapping[str, Codes]) -> tuple[Ints, Ints, Ints, Ints]:
    """One side of a bijection: (kind, group, how many) of each distinct seat, sorted by kind, and each row's kind."""
    n = len(group)
    joint = [np.concatenate([columns[c], rows[c]]) for c in columns]
    _, of = distinct(joint, len(joint[0]))
    first, seat = distinct([of[:n], group], n)
    return of[:n][first], group[first], np.bincount(seat, minlength=len(first)).astype(np.int64), of[n:]


def groups_of_rows(
    slots: tuple[Ints, Ints, Ints, Ints], values: tuple[Ints, Ints, Ints, Ints]
) -> tuple[Ints, Ints, Ints]:
    """All (row, slot seat, value seat) of one group that the row's two parts could take."""
    kind, group, _, row_kind = slots
    starts, ends = np.searchsorted(kind, row_kind, "left"), np.searchsorted(kind, row_kind, "right")
    row, offset = expand(ends - starts)
    seat = starts[row] + offset
    n_groups = int(max(values[1].max(initial=0), group.max(initial=0))) + 1
    held = values[0] * n_groups + values[1]
    wanted = values[3][row] * n_groups + group[seat]
    at = np.minimum(np.searchsorted(held, wanted), max(len(held) - 1, 0))
    met = np.flatnonzero(held[at] == wanted) if len(held) else np.zeros(0, dtype=np.int64)
    return row[met], seat[met], at[met]
