"""Regions from their ends, and the label that belongs to them: written down anew from the format, not shared."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from itertools import accumulate
from typing import Any

from sfumato.verify.cells import STATES, Broken, Leaves, Said

LONGEST_SET = 12
MOST_LEAVES = 1 << 24
MOST_DIGITS = 40
Region = tuple[int, int]


@dataclass(frozen=True)
class Axis:
    """The leaves of one uncertain column: a declared grid (low, step, number) or listed values."""

    said: Said
    n_values: int
    grid: tuple[int, int] | None
    leaves: Leaves | None
    starts: frozenset[int] | None
    """First codes of the grid cells; None: every code starts one."""

    @cached_property
    def withheld(self) -> frozenset[int]:
        """Codes that stand for values that are not published."""
        return frozenset(self.said.domain.get("withheld", ()))

    def is_open(self, region: Region) -> bool:
        """May a cell of this region hold values that are not published?"""
        return any(region[0] <= code <= region[1] for code in self.withheld)

    def named(self, regions: Iterable[Region]) -> set[int]:
        """Leaves that cells with these regions may list: all of a declared list; of one taken from the data a region's
        only leaf, sets in full or their ends, and all below a node where only the outermost nodes were taken."""
        taken = self.said.domain.get("taken", "nothing")
        found: set[int] = set()
        for low, high in regions:
            whole = low == 0 and high == self.size - 1
            in_full = self.said.published == "set" and high - low < LONGEST_SET
            if taken == "nothing" or low == high or in_full or (taken == "nodes" and not whole):
                found.update(range(low, high + 1))
            elif self.said.published == "set" and not (whole and self.withheld):
                found.update((low, high))
        return found - self.withheld

    @property
    def size(self) -> int:
        """Codes, the missing value counted."""
        return self.n_values + int(self.said.missing)

    def code(self, value: Any) -> int | None:
        """The code of an end, None when it is no leaf."""
        if self.grid is None:
            return self._code_of.get(_text(value))
        away = _whole(value, _scale(self.said.type)) - self.grid[0]
        code, rest = divmod(away, self.grid[1])
        return code if rest == 0 and 0 <= code < self.n_values else None

    def code_between(self, value: Any) -> int | None:
        """The first leaf of the cell that holds a value between two leaves."""
        above = bisect_right(self.numeric, value)
        if 0 < above < self.n_values and (self.starts is None or above not in self.starts):
            return above - 1
        return None

    @cached_property
    def numeric(self) -> list[Any]:
        """Listed numbers or dates."""
        texts = self.leaves.texts[: self.n_values] if self.leaves else []
        return [_end(str(text), self.said.type) for text in texts]

    def region(self, ends: Sequence[Any]) -> Region | None:
        """The run of codes behind published ends; None when they are not on this axis."""
        low, high = self._ranks(ends) if self.said.published != "range" else self._numbers(ends)
        if low is None or high is None or not 0 <= low <= high < self.size:
            return None
        return low, high

    def _ranks(self, ends: Sequence[Any]) -> tuple[int | None, int | None]:
        return (ends[0] if isinstance(ends[0], int) else None), (ends[1] if isinstance(ends[1], int) else None)

    def _numbers(self, ends: Sequence[Any]) -> tuple[int | None, int | None]:
        state = STATES.get(ends[2], 3) if self.said.missing else 0
        if state == 2:
            gone = self.n_values if ends[0] is None and ends[1] is None else None
            return gone, gone
        low = self.code(ends[0]) if ends[0] is not None else (0 if self.said.open_low else None)
        top = self.n_values - 1
        high = self.code(ends[1]) if ends[1] is not None else (top if self.said.open_high else None)
        if low is None or high is None or state == 3 or not low <= high:
            return None, None
        hidden = (ends[0] is not None and low == 0 and self.said.open_low) or (
            ends[1] is not None and high == top and self.said.open_high
        )
        on_cells = self.starts is None or (low in self.starts and (high + 1 in self.starts or high == top))
        # The missing value comes after the last leaf, so a run that holds it holds that leaf too.
        if hidden or not on_cells or (state == 1 and high != top):
            return None, None
        return low, self.n_values if state == 1 else high

    def leaf(self, code: int, value: Any = None) -> str:
        """How one leaf is written; `value` is the end itself on a grid."""
        if code == self.n_values:
            return "missing"
        if self.said.open_low and self.said.open_high and self.n_values == 1:
            return "(.., ..)" if self.said.missing else "*"
        text = _text(value) if self.leaves is None or value is not None else str(self.leaves.texts[code])
        if self.said.open_low and code == 0:
            return f"<= {text}"
        return f">= {text}" if self.said.open_high and code == self.n_values - 1 else text

    def label(self, region: Region) -> str:
        """How a region must be written."""
        low, high = region
        if low == high:
            return self.leaf(low, self.value(low))
        if self.said.published == "node" and region in self.nodes:
            return self.nodes[region]
        named = self.said.published == "set" and self.said.domain.get("taken", "nothing") != "nothing"
        if low == 0 and high == self.size - 1 and not (named and not self.withheld):
            return "*"
        if self.said.published != "range":
            if self.is_open(region):
                return f"{{{self.leaf(low)}, …, {self.leaf(high)}}}"
            if high - low >= LONGEST_SET:
                return f"{{{self.leaf(low)}, …, {self.leaf(high)}}} ({high - low + 1} values)"
            return "{" + ", ".join(self.leaf(code) for code in range(low, high + 1)) + "}"
        rest = " or missing" if high == self.n_values else ""
        top = high - 1 if rest else high
        if low == top:
            return self.leaf(low, self.value(low)) + rest
        left = "(.." if self.said.open_low and low == 0 else f"[{_text(self.value(low))}"
        right = "..)" if self.said.open_high and top == self.n_values - 1 else f"{_text(self.value(top))}]"
        return f"{left}, {right}{rest}"

    @cached_property
    def nodes(self) -> dict[Region, str]:
        """Every node of every level as a run of codes; the finest level names a run."""
        found: dict[Region, str] = {}
        for labels in self.leaves.levels if self.leaves else ():
            start = 0
            for code in range(1, len(labels) + 1):
                if code == len(labels) or labels[code] is None or labels[code] != labels[start]:
                    if labels[start] is not None:
                        found.setdefault((start, code - 1), str(labels[start]))
                    start = code
        return found

    @cached_property
    def _code_of(self) -> dict[str | None, int]:
        texts = enumerate(self.leaves.texts) if self.leaves else ()
        return {text: code for code, text in texts if code not in self.withheld}

    def value(self, code: int) -> Any:
        """The value of a leaf: a number or date on a grid, its text when listed, None for the missing value."""
        if code == self.n_values:
            return None
        if self.grid is None:
            assert self.leaves is not None
            return self.leaves.texts[code]
        whole = self.grid[0] + code * self.grid[1]
        if self.said.type.startswith("date"):
            return date.fromordinal(whole + date(1970, 1, 1).toordinal())
        scale = _scale(self.said.type)
        return Decimal(whole).scaleb(-scale).quantize(Decimal(1).scaleb(-scale)) if scale else whole


def axis_of(said: Said, leaves: Mapping[str, Leaves]) -> Axis:
    """The axis of one uncertain column, or `Broken` when it is not described."""
    if "grid" in said.domain:
        grid = said.domain["grid"]
        try:
            scale = _scale(said.type)
            low, high = (_whole(_end(grid[key], said.type), scale) for key in ("low", "high"))
            step = int(_short(grid["step"]).scaleb(scale))
            n_values = (high - low) // step + 1
            if n_values > MOST_LEAVES:
                raise Broken(f"the grid of column {said.name!r} has more values than a release can have")
            starts = _starts(grid.get("cells"), n_values)
        except (KeyError, TypeError, ValueError, ArithmeticError):
            raise Broken(f"the grid of column {said.name!r} is not described") from None
        if step < 1 or n_values < 1 or low + (n_values - 1) * step != high:
            raise Broken(f"the grid of column {said.name!r} does not reach its ends")
        return Axis(said, n_values, (low, step), None, starts)
    listed = leaves.get(said.name, Leaves([None] if said.missing else [], []))
    n_values = len(listed.texts) - int(said.missing)
    if said.missing != (None in listed.texts) or (said.missing and listed.texts.index(None) != n_values):
        raise Broken(f"the values of column {said.name!r} are not listed as datapackage.json says")
    starts = _starts(said.domain.get("cells"), n_values) if said.domain.get("cells") else None
    withheld = said.domain.get("withheld", ())
    if not isinstance(withheld, list | tuple) or not set(withheld) <= set(range(n_values)):
        raise Broken(f"what is withheld of column {said.name!r} is not described")
    return Axis(said, n_values, None, listed, starts)


def cells_fit(said: Said, n_values: int) -> bool:
    """Do the described grid cells cover these values?"""
    try:
        _starts(said.domain.get("cells"), n_values)
    except (TypeError, ValueError, ArithmeticError):
        return False
    return True


def _starts(runs: Any, n_values: int) -> frozenset[int] | None:
    if runs is None:
        return None
    if sum(max(0, int(times)) for _, times in runs) > n_values:
        raise ValueError("cells")
    widths = [int(width) for width, times in runs for _ in range(int(times))]
    if min(widths, default=0) < 1 or sum(widths) != n_values:
        raise ValueError("cells")
    return frozenset(accumulate(widths, initial=0))


def _scale(kind: str) -> int:
    scale = int(kind.rpartition(",")[2].rstrip(") ")) if kind.startswith("decimal") else 0
    if not 0 <= scale <= MOST_DIGITS:
        raise ValueError("scale")
    return scale


def _end(text: str, kind: str) -> Any:
    if kind.startswith("date"):
        return date.fromisoformat(text)
    return _short(text)


def _short(text: Any) -> Decimal:
    """A number that can be written down: a few signs such as 1E+999999999 would fill the memory."""
    number = Decimal(text)
    if not number.is_finite() or abs(number.adjusted()) > MOST_DIGITS:
        raise ValueError("number")
    return number


def _whole(value: Any, scale: int) -> int:
    """A number in units of its last place, or a date in days since 1970."""
    if isinstance(value, date):
        return value.toordinal() - date(1970, 1, 1).toordinal()
    scaled = Decimal(str(value)).scaleb(scale)
    if scaled != int(scaled):
        return -(1 << 62)
    return int(scaled)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value).lower() if isinstance(value, bool) else str(value)
