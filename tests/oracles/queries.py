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
class Tiny:
    """A release of a few rows: column names with Arrow types, and its independent pieces."""

    columns: dict[str, pa.DataType]
    pieces: list[Cells | Matching]
    worlds: list[tuple[Fraction, list[Row]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        law: dict[tuple[Row, ...], Fraction] = defaultdict(Fraction)
        for chance, rows in _all_worlds(self.pieces):
            law[tuple(sorted(rows, key=repr))] += chance
        self.worlds = [(chance, list(rows)) for rows, chance in law.items()]
        assert sum(chance for chance, _ in self.worlds) == 1


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


def _all_worlds(pieces: Sequence[Cells | Matching]) -> Iterator[tuple[Fraction, list[Row]]]:
    blocks: list[list[list[Row]]] = []
    for piece in pieces:
        if isinstance(piece, Cells):
            blocks += [[[row] for row in itertools.product(*regions)] for regions in piece.regions]
        else:
            for slots, values in piece.groups:
                ways = itertools.permutations(values)
                blocks.append([[a + b for a, b in zip(slots, way, strict=True)] for way in ways])
    n = 1
    for block in blocks:
        n *= len(block)
    for chosen in itertools.product(*blocks):
        yield Fraction(1, n), [row for part in chosen for row in part]


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


class Oracle:
    """One tiny release and all of its worlds in DuckDB."""

    def __init__(self, tiny: Tiny) -> None:
        self.tiny = tiny
        self.connection = duckdb.connect(config={"threads": "1"})
        self.connection.register("empty", self._table([]))
        rows = [(w, *row) for w, (_, world) in enumerate(tiny.worlds) for row in world]
        names = ["w", *tiny.columns]
        kinds = [pa.int32(), *tiny.columns.values()]
        table = pa.table(
            {n: pa.array([r[i] for r in rows], k) for i, (n, k) in enumerate(zip(names, kinds, strict=True))}
        )
        self.connection.register("stacked", table)

    def _table(self, rows: Sequence[Row]) -> pa.Table:
        return pa.table({n: pa.array([r[i] for r in rows], k) for i, (n, k) in enumerate(self.tiny.columns.items())})

    def in_each_world(self, shape: Shape, *, plain: bool, stacked: bool = True) -> list[list[Row]]:
        """Result rows of the query in every world."""
        if stacked and not (shape.limit and not plain):
            return self._stacked(shape, plain)
        found = []
        for _, world in self.tiny.worlds:
            self.connection.register("data", self._table(world))
            found.append(self.connection.execute(shape.sql(plain=plain)).fetchall())
        return found

    def _stacked(self, shape: Shape, plain: bool) -> list[list[Row]]:
        found: list[list[Row]] = [[] for _ in self.tiny.worlds]
        for w, *row in self.connection.execute(shape.sql("stacked", world=True, plain=plain)).fetchall():
            found[w].append(tuple(row))
        if not shape.keys:
            nothing = self._on_empty(shape.sql("empty", plain=plain))
            seen = {w for (w,) in self.connection.execute(
                "SELECT DISTINCT w FROM stacked" + (f" WHERE {shape.where}" if shape.where else "")
            ).fetchall()}  # fmt: skip
            for w, rows in enumerate(found):
                if w not in seen:
                    rows.extend(nothing)
        return found

    def on_no_rows(self, shape: Shape) -> Row:
        """The outputs over an empty group: COUNT 0, everything else NULL."""
        bare = Shape(shape.outputs)
        return self._on_empty(bare.sql("empty", plain=True))[0]

    def _on_empty(self, text: str) -> list[Row]:
        """Results on no rows do not depend on the release."""
        place = (text, *self.tiny.columns)
        if place not in _SEEN:
            _SEEN[place] = self.connection.execute(text).fetchall()
        return _SEEN[place]

    def truths(self, shape: Shape) -> dict[Row, Truth]:
        """Per answer row (its key values) what all worlds together say."""
        n_keys = len(shape.keys)
        groups = self.in_each_world(shape, plain=True)
        shown = self.in_each_world(shape, plain=False) if shape.having or shape.limit else groups
        keys = {normal(row[:n_keys]) for rows in groups for row in rows}
        nothing = self.on_no_rows(shape) if shape.keys else ()
        made = {}
        for key in keys:
            laws: list[dict[Any, Fraction]] = [defaultdict(Fraction) for _ in shape.outputs]
            there = Fraction(0)
            for (chance, _), rows, kept in zip(self.tiny.worlds, groups, shown, strict=True):
                mine = [row[n_keys:] for row in rows if normal(row[:n_keys]) == key]
                values = mine[0] if mine else nothing
                for law, value in zip(laws, values, strict=True):
                    if value is not None and value == value and value not in (float("inf"), float("-inf")):
                        law[value] += chance
                there += chance * any(normal(row[:n_keys]) == key for row in kept)
            made[key] = Truth(there, [dict(law) for law in laws])
        return made


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
