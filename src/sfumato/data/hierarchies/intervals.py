"""Intervals of equal width, each level a multiple of the one below."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from sfumato.data.hierarchies.grid import Bands, find_ends, place_on_grid, scale_of
from sfumato.data.hierarchies.rule import Hierarchy, Placed, Source, only
from sfumato.declared import Exact, declared, plain
from sfumato.errors import ParameterError


@declared
class Intervals(Hierarchy):
    """Numbers in bands of these widths: the finest is what a range may end on.

    Bands start at `low` when it is declared, else at multiples of the width. `low` and `high` are the first and last
    leaf (top and bottom coding): values beyond are published as "this or beyond".
    """

    widths: tuple[Exact, ...]
    low: Exact | None = None
    high: Exact | None = None
    keyword: ClassVar[str] = "intervals"

    def __post_init__(self) -> None:
        if not self.widths or min(self.widths) <= 0:
            raise ParameterError("intervals: give at least one width, each above 0, as in intervals(5, 10, 20).")
        for fine, coarse in zip(self.widths, self.widths[1:], strict=False):
            if coarse <= fine or (coarse / fine).denominator != 1:
                raise ParameterError(
                    f"intervals: each width must be a multiple of the one before; {plain(coarse)} is not a larger "
                    f"multiple of {plain(fine)}."
                )
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ParameterError("intervals: low= must be smaller than high=.")

    def place(self, source: Source) -> Placed:
        """Every grid step between the ends is a leaf; cells are the finest bands."""
        scale = scale_of(source, "intervals", declared=(*self.widths, self.low, self.high))
        low = None if self.low is None else scale.whole(self.low, source.name, "low")
        high = None if self.high is None else scale.whole(self.high, source.name, "high")
        bands = [Bands(scale.whole(width, source.name, "the width"), low or 0) for width in self.widths]
        return place_on_grid(
            source, scale, [(band, None) for band in bands], find_ends(source, scale, bands[0], low, high)
        )

    def spec(self) -> dict[str, Any]:
        """{"intervals": [5, 10], "low": 0, "high": 100}."""
        ends = {"low": self.low, "high": self.high}
        return {"intervals": plain(self.widths)} | {name: plain(end) for name, end in ends.items() if end is not None}

    @classmethod
    def of(cls, value: Any, **rest: Any) -> Intervals:
        """From {intervals = [5, 10], low = …, high = …}."""
        return cls(
            tuple(value) if isinstance(value, list | tuple) else (value,), **only(rest, "intervals", "low", "high")
        )


def intervals(*widths: Fraction | float | str, low: Any = None, high: Any = None) -> Intervals:
    """Bands of these widths, fine to coarse, each a multiple of the one before.

    >>> intervals(5, 10, 20, low=0, high=100).spec()
    {'intervals': [5, 10, 20], 'low': 0, 'high': 100}
    """
    return Intervals(widths=widths, low=low, high=high)  # type: ignore[arg-type]
