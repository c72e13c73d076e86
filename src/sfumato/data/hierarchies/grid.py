"""Numbers and dates on a grid: where the ends lie, which leaves there are, which cell each leaf is in.

The ends never show a person: they are declared, or the largest grid boundary with at least `least` units at or
beyond it; the end leaf then means "this or beyond".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Protocol

import numpy as np

from sfumato.data.codec import Codes, Domain, Level
from sfumato.data.hierarchies.rule import Ints, Placed, Source, with_missing
from sfumato.data.schema import Kind
from sfumato.data.steps import BIGGEST, MOST_DECIMALS, decimals_of, steps_of, values_of
from sfumato.errors import ParameterError, SchemaError

MOST_LEAVES = 2**22
NOWHERE = -BIGGEST
NUMBERS: tuple[Kind, ...] = ("integer", "decimal", "real")


class Cells(Protocol):
    """One level of a grid: the cell of a step, in whole steps."""

    @property
    def anchor(self) -> int:
        """Some boundary of the grid."""
        ...

    def first(self, steps: Ints) -> Ints:
        """First step of the cell of each step; ±`NOWHERE` where the cell has no end."""
        ...

    def last(self, steps: Ints) -> Ints:
        """Last step of the cell of each step."""
        ...


@dataclass(frozen=True)
class Bands:
    """Cells of equal width that start at `anchor`.

    >>> Bands(5).first(np.array([-1, 0, 7])).tolist(), Bands(5).last(np.array([-1, 7])).tolist()
    ([-5, 0, 5], [-1, 9])
    """

    width: int
    anchor: int = 0

    def first(self, steps: Ints) -> Ints:
        """First step of each step's band."""
        return self.anchor + (steps - self.anchor) // self.width * self.width

    def last(self, steps: Ints) -> Ints:
        """Last step of each step's band."""
        return self.first(steps) + self.width - 1


@dataclass(frozen=True)
class Scale:
    """How a column's values are whole steps: its published kind and decimals, and the raw values as steps."""

    kind: Kind
    decimals: int
    steps: Ints = field(repr=False)

    def whole(self, number: Fraction, column: str, what: str) -> int:
        """A declared number in steps; `ParameterError` when it is finer than the column."""
        steps = number * 10**self.decimals
        if steps.denominator != 1:
            has = f"{self.decimals} decimals" if self.decimals else "whole numbers"
            raise ParameterError(f"Column {column!r} holds {has}; {what} {float(number):g} is finer. Use a multiple.")
        return int(steps)


def scale_of(
    source: Source, what: str, kinds: Sequence[Kind] = NUMBERS, declared: Sequence[Fraction | None] = ()
) -> Scale:
    """The steps of a column of one of these kinds, or `ParameterError` with what to use instead.

    Real numbers take as many decimals as they and the `declared` numbers are written with.
    """
    raw = source.domain
    if raw.kind not in kinds:
        raise ParameterError(
            f"Column {source.name!r} is of kind {raw.kind}; {what} need {' or '.join(kinds)}. "
            "Use a hierarchy for its kind, or read the column with kinds={...}."
        )
    if raw.kind == "real":
        numbers = raw.values.to_numpy(zero_copy_only=False)
        decimals = decimals_of(numbers)
        if decimals is None:
            raise SchemaError(
                f"Column {source.name!r} holds real numbers with more than 9 decimals, which single people out. "
                "Round it before reading, or make it sensitive or plain."
            )
        decimals = max([decimals, *(_written_decimals(number) for number in declared if number is not None)])
        return Scale("decimal", decimals, steps_of(raw.values, decimals)[0])
    decimals = raw.values.type.scale if raw.kind == "decimal" else 0
    return Scale(raw.kind, decimals, steps_of(raw.values, decimals)[0])


def _written_decimals(number: Fraction) -> int:
    return next((n for n in range(MOST_DECIMALS) if (number * 10**n).denominator == 1), MOST_DECIMALS)


@dataclass(frozen=True)
class Ends:
    """First and last leaf in steps; an open end means "this or beyond"."""

    low: int
    high: int
    open_low: bool
    open_high: bool
    notes: tuple[str, ...] = ()


def quantile_steps(source: Source, steps: Ints, least: int) -> tuple[int, int]:
    """The smallest value with ≥ `least` units at or below it, the largest with ≥ `least` at or above it."""
    least = min(least, int(source.above[0]))
    low = int(np.searchsorted(source.below, least, side="left"))
    high = len(steps) - 1 - int(np.searchsorted(source.above[::-1], least, side="left"))
    return int(steps[low]), int(steps[high])


def find_ends(source: Source, scale: Scale, cells: Cells, low: int | None, high: int | None) -> Ends:
    """The ends of the domain: declared ones as they are, the others by the grid and `least`."""
    if low is not None and high is not None and low >= high:
        raise ParameterError(f"Column {source.name!r}: low= must be smaller than high=.")
    n = len(scale.steps)
    if n == 0:
        first, last = (low if low is not None else cells.anchor), (high if high is not None else cells.anchor)
        return Ends(first, max(first, last), low is None, high is None)
    first, last = _automatic(source, scale, cells, low, high)
    open_low = bool(scale.steps[0] < low) if low is not None else source.least > 0
    open_high = bool(scale.steps[-1] > high) if high is not None else source.least > 0
    return Ends(first, last, open_low, open_high, _notes(source, low, high, (open_low, open_high)))


def _automatic(source: Source, scale: Scale, cells: Cells, low: int | None, high: int | None) -> tuple[int, int]:
    if source.least == 0:
        first, last = int(scale.steps[0]), int(scale.steps[-1])
        return (first if low is None else low), (last if high is None else high)
    least, most = quantile_steps(source, scale.steps, source.least)
    first = int(cells.last(np.array([least]))[0]) if low is None else low
    last = int(cells.first(np.array([most]))[0]) if high is None else high
    if first < last:
        return first, last
    # The tails overlap: one leaf that means "anything", or anything from the declared end on.
    leaf = next(end for end in (low, high, cells.anchor) if end is not None)
    return leaf, leaf


def _notes(source: Source, low: int | None, high: int | None, opened: tuple[bool, bool]) -> tuple[str, ...]:
    notes = []
    declared = [end is not None for end in (low, high)]
    if any(told and open_ for told, open_ in zip(declared, opened, strict=True)):
        notes.append(f"{source.name}: values beyond a declared end are published as that end or beyond.")
    return tuple(notes)


Label = Callable[[int, int], str]
"""First and last step of a node's cell → how the node is written when no end cuts it."""
Levels = Sequence[tuple[Cells, Label | None]]


def place_on_grid(source: Source, scale: Scale, levels: Levels, ends: Ends, wide: Cells | None = None) -> Placed:
    """Leaves at every step between the ends, cells of the finest level, one `Level` per coarser-than-leaf level.

    With `wide`, when that would be too many leaves: the first and the last step of each of its cells.
    """
    n = ends.high - ends.low + 1
    if n > MOST_LEAVES and wide is not None:
        return _place_wide(source, scale, levels, ends, wide)
    if n > MOST_LEAVES:
        raise SchemaError(
            f"Column {source.name!r} has {n} grid steps between its ends; at most {MOST_LEAVES} are possible. "
            "Round the column to fewer digits, or declare closer ends with low= and high=."
        )
    steps = np.arange(ends.low, ends.high + 1, dtype=np.int64)
    return _place_at(source, scale, levels, ends, steps)


def _place_wide(source: Source, scale: Scale, levels: Levels, ends: Ends, cells: Cells) -> Placed:
    """Two leaves a cell; whatever lies between them is there as the first."""
    steps: list[int] = []
    at = ends.low
    while at <= ends.high:
        last = min(int(cells.last(np.array([at]))[0]), ends.high)
        steps += [at] if at == last else [at, last]
        at = last + 1
    placed = _place_at(source, scale, levels, ends, np.array(steps, dtype=np.int64))
    return replace(placed, domain=replace(placed.domain, between=True))


def _place_at(source: Source, scale: Scale, levels: Levels, ends: Ends, steps: Ints) -> Placed:
    """One leaf at each of these steps."""
    n = len(steps)
    nodes = [_nodes(cells, steps) for cells, _ in levels]
    built = tuple(
        Level(node, _labels(node, steps, label, scale, ends))
        for (_, label), node in zip(levels, nodes, strict=True)
        if 1 < int(node[-1]) + 1 < n
    )
    cell = nodes[0] if nodes and int(nodes[0][-1]) + 1 < n else None
    values = values_of(steps, scale.kind, scale.decimals)
    domain = Domain(
        scale.kind,
        values,
        levels=built,
        cell=cell,
        open_low=ends.open_low,
        open_high=ends.open_high,
        complete=True,
    )
    # A value between two leaves is there as the first of its cell.
    table = np.searchsorted(steps, np.clip(scale.steps, ends.low, ends.high), side="right").astype(np.int32) - 1
    return Placed(*with_missing(domain, table, source.domain), ends.notes)


def _nodes(cells: Cells, steps: Ints) -> Codes:
    first = cells.first(steps)
    node = np.zeros(len(steps), dtype=np.int32)
    node[1:] = np.cumsum(first[1:] != first[:-1])
    return node


def _labels(node: Codes, steps: Ints, label: Label | None, scale: Scale, ends: Ends) -> tuple[str, ...]:
    starts = np.searchsorted(node, np.arange(int(node[-1]) + 1))
    lows = steps[starts]
    highs = np.append(steps[starts[1:] - 1], steps[-1])
    if label is None:
        texts = [interval_text(a, b) for a, b in zip(*_texts(lows, highs, scale), strict=True)]
    else:
        texts = [label(int(a), int(b)) for a, b in zip(lows, highs, strict=True)]
    opened = _texts(lows[-1:], highs[:1], scale)
    if ends.open_low:
        texts[0] = f"(.., {opened[1][0]}]" if label is None else f"<= {texts[0]}"
    if ends.open_high:
        texts[-1] = f"[{opened[0][0]}, ..)" if label is None else f">= {texts[-1]}"
    return tuple(texts)


def _texts(lows: Ints, highs: Ints, scale: Scale) -> tuple[list[str], list[str]]:
    def write(steps: Ints) -> list[str]:
        return [str(value) for value in values_of(steps, scale.kind, scale.decimals).to_pylist()]

    return write(lows), write(highs)


def interval_text(low: str, high: str) -> str:
    """How a cell is written: `[20, 24]`, or the value itself."""
    return low if low == high else f"[{low}, {high}]"
