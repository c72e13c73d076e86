"""Intervals between chosen cut points; each coarser level keeps some of the points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato.data.hierarchies.grid import NOWHERE, find_ends, place_on_grid, scale_of
from sfumato.data.hierarchies.rule import Hierarchy, Ints, Placed, Source, only
from sfumato.data.steps import BIGGEST
from sfumato.declared import Exact, declared, plain
from sfumato.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Between:
    """Cells between cut points; a point is the first step of its cell.

    >>> cells = Between(np.array([18, 65]))
    >>> cells.first(np.array([30, 70])).tolist(), cells.last(np.array([3, 30])).tolist()
    ([18, 65], [17, 64])
    """

    points: Ints

    @property
    def anchor(self) -> int:
        """The first point."""
        return int(self.points[0])

    def first(self, steps: Ints) -> Ints:
        """The cut point at or below each step."""
        return np.insert(self.points, 0, NOWHERE)[np.searchsorted(self.points, steps, side="right")]

    def last(self, steps: Ints) -> Ints:
        """The step before the next cut point."""
        return np.append(self.points - 1, BIGGEST)[np.searchsorted(self.points, steps, side="right")]


@declared
class Cuts(Hierarchy):
    """Numbers between cut points: 18, 65 make "below 18", "18 to 64" and "65 and above" for whole numbers.

    Without `low` and `high` the outer cells are top and bottom coded: one leaf that means "this or beyond".
    """

    levels: tuple[tuple[Exact, ...], ...]
    low: Exact | None = None
    high: Exact | None = None
    keyword: ClassVar[str] = "cuts"

    def __post_init__(self) -> None:
        if not self.levels or not all(self.levels):
            raise ParameterError(
                "cuts: give at least one cut point, as in cuts(18, 65) or cuts([18, 40, 65], [18, 65])."
            )
        for n, points in enumerate(self.levels, start=1):
            if list(points) != sorted(set(points)):
                raise ParameterError(f"cuts: the points of level {n} must rise.")
            if not set(points) <= set(self.levels[0]) or (n > 1 and not set(points) <= set(self.levels[n - 2])):
                raise ParameterError(
                    f"cuts: level {n} has a point that the level below does not have. Nodes must nest."
                )

    def place(self, source: Source) -> Placed:
        """Every grid step between the ends is a leaf; cells lie between the finest cut points."""
        scale = scale_of(source, "cuts", declared=(*self.levels[0], self.low, self.high))
        name = source.name
        low = None if self.low is None else scale.whole(self.low, name, "low")
        high = None if self.high is None else scale.whole(self.high, name, "high")
        cells = [
            Between(np.array([scale.whole(point, name, "a cut point") for point in points], dtype=np.int64))
            for points in self.levels
        ]
        return place_on_grid(
            source, scale, [(cell, None) for cell in cells], find_ends(source, scale, cells[0], low, high)
        )

    def spec(self) -> dict[str, Any]:
        """{"cuts": [18, 65]} or {"cuts": [[18, 40, 65], [18, 65]]}."""
        ends = {"low": self.low, "high": self.high}
        levels = plain(self.levels)
        return {"cuts": levels[0] if len(levels) == 1 else levels} | {
            name: plain(end) for name, end in ends.items() if end is not None
        }

    @classmethod
    def of(cls, value: Any, **rest: Any) -> Cuts:
        """From {cuts = [18, 65]} or {cuts = [[18, 40, 65], [18, 65]]}."""
        value = value if isinstance(value, list | tuple) else [value]
        return cuts(*value, **only(rest, "cuts", "low", "high"))


def cuts(*points: Any, low: Any = None, high: Any = None) -> Cuts:
    """Intervals between cut points, or one list of points per level from fine to coarse.

    >>> cuts(18, 65).spec(), cuts([18, 40, 65], [40]).spec()
    ({'cuts': [18, 65]}, {'cuts': [[18, 40, 65], [40]]})
    """
    nested = [isinstance(point, list | tuple) for point in points]
    if any(nested) and not all(nested):
        raise ParameterError("cuts: give either points, or one list of points per level, not both.")
    levels = tuple(tuple(level) for level in points) if any(nested) else (tuple(points),)
    return Cuts(levels=levels, low=low, high=high)
