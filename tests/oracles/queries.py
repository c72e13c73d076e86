"""Every world of a tiny release, and the original SQL run by DuckDB on each of them.

Worlds are enumerated from the raw published pieces in plain Python: cells anywhere in their regions, and every
matching of slots and values inside a group. Nothing here uses our code for worlds or queries.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa

Row = tuple[Any, ...]


@dataclass
class Cells:
    """Rows whose cells are known up to a region: for each row and column the possible values."""

    regions: list[tuple[tuple[Any, ...], ...]]


@dataclass
class Matching:
    """Groups of slots (values of the first columns) and of values (the other columns) in an unknown order."""

    groups: list[tuple[list[Row], list[Row]]]


@dataclass
class Tables:
    """All tables that some rows may be, spelled out; equally likely."""

    tables: list[list[Row]]


@dataclass
class Tiny:
    """A release of a few rows: column names with Arrow types, and its independent pieces.

    `worlds`: distinct tables with how many of the `n` equally likely combinations give them.
    """

    columns: dict[str, pa.DataType]
    pieces: Sequence[Cells | Matching | Tables]
    worlds: list[tuple[int, list[Row]]] = field(default_factory=list)
    n: int = 0

    def __post_init__(self) -> None:
        law: dict[tuple[Row, ...], int] = defaultdict(int)
        names: dict[Row, str] = {}
        for rows in _all_worlds(self.pieces):
            law[tuple(sorted(rows, key=lambda row: names.get(row) or names.setdefault(row, repr(row))))] += 1
        self.worlds = [(ways, list(rows)) for rows, ways in law.items()]
        self.n = sum(law.values())


def n_raw_worlds(pieces: Sequence[Cells | Matching]) -> int:
    """How many combinations an enumeration goes through."""
    n = 1
    for piece in pieces:
        if isinstance(piece, Cells):
            for row in piece.regions:
                for cell in row:
                    n *= len(cell)
        else:
            for slots, _ in piece.groups:
                for i in range(len(slots)):
                    n *= i + 1
    return n


def _all_worlds(pieces: Sequence[Cells | Matching | Tables]) -> Iterator[list[Row]]:
    blocks: list[list[list[Row]]] = []
    for piece in pieces:
        if isinstance(piece, Tables):
            blocks.append(piece.tables)
        elif isinstance(piece, Cells):
            blocks += [[[row] for row in itertools.product(*regions)] for regions in piece.regions]
        else:
            for slots, values in piece.groups:
                ways = itertools.permutations(values)
                blocks.append([[a + b for a, b in zip(slots, way, strict=True)] for way in ways])
    for chosen in itertools.product(*blocks):
        yield [row for part in chosen for row in part]


@dataclass(frozen=True)
class Shape:
    """One SELECT in pieces, so that it can be asked of one world, of the release, and of all worlds at once."""

    outputs: tuple[str, ...]
    keys: tuple[str, ...] = ()
    where: str | None = None
    having: str | None = None
    order: str | None = None
    limit: str = ""

    def sql(self, table: str = "data", *, world: bool = False, plain: bool = False) -> str:
        """The query; `world`: grouped by the column w as well; `plain`: without HAVING, ORDER BY and LIMIT."""
        outputs = [f"{text} AS o{i}" for i, text in enumerate((*self.keys, *self.outputs))]
        keys = (["w"] if world else []) + list(self.keys)
        text = f"SELECT {', '.join((['w'] if world else []) + outputs)} FROM {table}"
        text += f" WHERE {self.where}" if self.where else ""
        text += f" GROUP BY {', '.join(f'({key})' for key in keys)}" if keys else ""
        if plain:
            return text
        text += f" HAVING {self.having}" if self.having else ""
        text += f" ORDER BY {self.order}" if self.order and not world else ""
        return text + (f" {self.limit}" if not world else "")


@dataclass
class Truth:
    """What enumeration says about one answer row."""

    row: Fraction
    """P(the row is in the answer)."""
    laws: list[dict[Any, Fraction]]
    """For each output, the law of its value over worlds where it is not NULL (unnormalised)."""


_SEEN: dict[tuple[str, ...], list[Row]] = {}


class Stack:
    """All worlds of several releases in one DuckDB table, numbered throughout; every query runs once for all."""

    def __init__(self, tinies: Sequence[Tiny]) -> None:
        self.columns = tinies[0].columns
        self.connection = duckdb.connect(config={"threads": "1"})
        self.connection.register("empty", self.table([]))
        self.starts = [0, *itertools.accumulate(len(tiny.worlds) for tiny in tinies)]
        worlds = [world for tiny in tinies for _, world in tiny.worlds]
        rows = [(w, *row) for w, world in enumerate(worlds) for row in world]
        kinds = {"w": pa.int32(), **self.columns}
        table = pa.table({n: pa.array([r[i] for r in rows], k) for i, (n, k) in enumerate(kinds.items())})
        self.connection.register("stacked", table)
        self._found: dict[str, list[list[Row]]] = {}

    def table(self, rows: Sequence[Row]) -> pa.Table:
        """One world as a table."""
        return pa.table({n: pa.array([r[i] for r in rows], k) for i, (n, k) in enumerate(self.columns.items())})

    def on_empty(self, text: str) -> list[Row]:
        """Results on no rows do not depend on the release."""
        place = (text, *self.columns)
        if place not in _SEEN:
            _SEEN[place] = self.connection.execute(text).fetchall()
        return _SEEN[place]

    def rows(self, shape: Shape, plain: bool) -> list[list[Row]]:
        """Result rows of the query in every world of every release."""
        text = shape.sql("stacked", world=True, plain=plain)
        if text not in self._found:
            self._found[text] = self._rows(shape, text, plain)
        return self._found[text]

    def _rows(self, shape: Shape, text: str, plain: bool) -> list[list[Row]]:
        found: list[list[Row]] = [[] for _ in range(self.starts[-1])]
        for w, *row in self.connection.execute(text).fetchall():
            found[w].append(tuple(row))
        if not shape.keys:
            nothing = self.on_empty(shape.sql("empty", plain=plain))
            seen = {w for (w,) in self.connection.execute(
                "SELECT DISTINCT w FROM stacked" + (f" WHERE {shape.where}" if shape.where else "")
            ).fetchall()}  # fmt: skip
            for w, rows in enumerate(found):
                if w not in seen:
                    rows.extend(nothing)
        return found


class Oracle:
    """One tiny release and all of its worlds in DuckDB, alone or among others of a stack."""

    def __init__(self, tiny: Tiny, stack: Stack | None = None, place: int = 0) -> None:
        self.tiny, self.place = tiny, place
        self.stack = Stack([tiny]) if stack is None else stack

    def in_each_world(self, shape: Shape, *, plain: bool, stacked: bool = True) -> list[list[Row]]:
        """Result rows of the query in every world."""
        if stacked and not (shape.limit and not plain):
            first, last = self.stack.starts[self.place : self.place + 2]
            return self.stack.rows(shape, plain)[first:last]
        found = []
        for _, world in self.tiny.worlds:
            self.stack.connection.register("data", self.stack.table(world))
            found.append(self.stack.connection.execute(shape.sql(plain=plain)).fetchall())
        return found

    def on_no_rows(self, shape: Shape) -> Row:
        """The outputs over an empty group: COUNT 0, everything else NULL."""
        return self.stack.on_empty(Shape(shape.outputs).sql("empty", plain=True))[0]

    def truths(self, shape: Shape) -> dict[Row, Truth]:
        """Per answer row (its key values) what all worlds together say."""
        n_keys = len(shape.keys)
        groups = [_by_key(rows, n_keys) for rows in self.in_each_world(shape, plain=True)]
        shown = groups
        if shape.having or shape.limit:
            shown = [_by_key(rows, n_keys) for rows in self.in_each_world(shape, plain=False)]
        nothing = self.on_no_rows(shape) if shape.keys else ()
        made = {}
        for key in dict.fromkeys(key for rows in groups for key in rows):
            laws: list[dict[Any, int]] = [defaultdict(int) for _ in shape.outputs]
            there = 0
            for (ways, _), rows, kept in zip(self.tiny.worlds, groups, shown, strict=True):
                for law, value in zip(laws, rows.get(key, nothing), strict=True):
                    if value is not None and value == value:
                        law[value] += ways
                there += ways * (key in kept)
            shares = [{value: Fraction(ways, self.tiny.n) for value, ways in law.items()} for law in laws]
            made[key] = Truth(Fraction(there, self.tiny.n), shares)
        return made


def oracles(tinies: Sequence[Tiny]) -> list[Oracle]:
    """Oracles of several releases that share their queries."""
    stack = Stack(tinies)
    return [Oracle(tiny, stack, place) for place, tiny in enumerate(tinies)]


def _by_key(rows: Sequence[Row], n_keys: int) -> dict[Row, Row]:
    return {normal(row[:n_keys]): tuple(row[n_keys:]) for row in rows}


def normal(row: Sequence[Any]) -> Row:
    """A key that compares by value."""
    return tuple(float(v) if isinstance(v, int) and not isinstance(v, bool) else v for v in row)


def number(value: Any) -> float:
    """A result as a number; dates as days since 1970."""
    if hasattr(value, "toordinal"):
        seconds = getattr(value, "hour", 0) * 3600 + getattr(value, "minute", 0) * 60 + getattr(value, "second", 0)
        micro = getattr(value, "microsecond", 0)
        return value.toordinal() - 719163 + (seconds + micro / 1e6) / 86400
    return float(value)


def mean(law: dict[Any, Fraction]) -> float:
    """Expectation given not NULL."""
    total = sum(law.values())
    return float(sum(Fraction(number(value)) * chance for value, chance in law.items()) / total)


def quantile(law: dict[Any, Fraction], q: float) -> float:
    """The least value whose cumulated probability reaches q."""
    total, below = sum(law.values()), Fraction(0)
    for value in sorted(law, key=number):
        below += law[value]
        if below / total >= Fraction(q) - Fraction(1, 10**12):
            return number(value)
    raise AssertionError
