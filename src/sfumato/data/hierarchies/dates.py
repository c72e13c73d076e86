"""Dates by calendar units: day → month → quarter → year → decade."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from sfumato.data.hierarchies.grid import Bands, Cells, Levels, find_ends, place_on_grid, scale_of
from sfumato.data.hierarchies.rule import Hierarchy, Ints, Placed, Source, only
from sfumato.declared import declared
from sfumato.errors import ParameterError

Unit = Literal["day", "month", "quarter", "year", "decade"]
UNITS: tuple[Unit, ...] = get_args(Unit)
MONTHS: dict[Unit, int] = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
# Months are counted from 1970-01; decades begin with years that end in 0.
EPOCH = datetime.date(1970, 1, 1)


@dataclass(frozen=True)
class Months:
    """Cells of a whole number of months, counted from January 1970.

    >>> Months(12).first(np.array([400])).tolist(), Months(1).last(np.array([0])).tolist()
    ([365], [30])
    """

    n: int
    anchor: int = 0

    def _unit(self, steps: Ints) -> Ints:
        months = steps.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
        return np.asarray(months // self.n, dtype=np.int64)

    def _start(self, unit: Ints) -> Ints:
        return (unit * self.n).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)

    def first(self, steps: Ints) -> Ints:
        """First day of each day's unit."""
        return self._start(self._unit(steps))

    def last(self, steps: Ints) -> Ints:
        """Last day of each day's unit."""
        return self._start(self._unit(steps) + 1) - 1


@declared
class Dates(Hierarchy):
    """Dates in calendar units, fine to coarse; the finest is what a range may end on.

    With `low` or `high` the domain is widened to whole units of the coarsest level; an end that is not declared lies
    on a boundary of the finest unit with enough units at or beyond it.
    """

    units: tuple[Unit, ...]
    low: datetime.date | None = None
    high: datetime.date | None = None
    keyword: ClassVar[str] = "dates"

    def __post_init__(self) -> None:
        ranks = [UNITS.index(unit) for unit in self.units]
        if not ranks or ranks != sorted(set(ranks)):
            raise ParameterError(f"dates: name one or more of {', '.join(UNITS)}, from fine to coarse.")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ParameterError("dates: low= must be before high=.")

    def place(self, source: Source) -> Placed:
        """Every day between the ends is a leaf; cells are the finest units."""
        scale = scale_of(source, "dates", kinds=("date",))
        coarsest = cells_of(self.units[-1])
        low = None if self.low is None else int(coarsest.first(_days(self.low))[0])
        high = None if self.high is None else int(coarsest.last(_days(self.high))[0])
        ends = find_ends(source, scale, cells_of(self.units[0]), low, high)
        placed = place_on_grid(source, scale, levels_of([unit for unit in self.units if unit != "day"]), ends)
        return placed if self.units[0] != "day" else _by_days(placed)

    def spec(self) -> dict[str, Any]:
        """{"dates": ["month", "year"]}."""
        ends = {"low": self.low, "high": self.high}
        return {"dates": list(self.units)} | {name: end.isoformat() for name, end in ends.items() if end is not None}

    @classmethod
    def of(cls, value: Any, **rest: Any) -> Dates:
        """From {dates = ["month", "year"], low = …, high = …}."""
        return dates(*([value] if isinstance(value, str) else value), **only(rest, "dates", "low", "high"))


def dates(*levels: str, low: Any = None, high: Any = None) -> Dates:
    """Calendar units from fine to coarse: day, month, quarter, year, decade.

    >>> dates("month", "year").spec()
    {'dates': ['month', 'year']}
    """
    return Dates(units=levels, low=low, high=high)  # type: ignore[arg-type]


def cells_of(unit: Unit) -> Cells:
    """The cells of one unit."""
    return Months(MONTHS[unit]) if unit in MONTHS else Bands(1)


def levels_of(units: Sequence[Unit]) -> Levels:
    """Cells of units with their labels."""
    return [(cells_of(unit), _label(unit)) for unit in units]


def _days(day: datetime.date) -> Ints:
    return np.array([(day - EPOCH).days], dtype=np.int64)


def _by_days(placed: Placed) -> Placed:
    """Every day is a cell of its own."""
    return replace(placed, domain=replace(placed.domain, cell=None))


def _label(unit: Unit) -> Callable[[int, int], str]:
    def write(first: int, last: int) -> str:
        day = EPOCH + datetime.timedelta(days=first)
        texts = {
            "month": f"{day:%Y-%m}",
            "quarter": f"{day.year}-Q{(day.month + 2) // 3}",
            "year": str(day.year),
            "decade": f"{day.year // 10 * 10}s",
        }
        return texts[unit]

    return write
