"""Hierarchies of columns as `sfumato hierarchy` shows them: levels, nodes and how full they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset
    from sfumato.data.hierarchies.rule import Hierarchy
    from sfumato.data.occupancy import Occupied

MOST_NODES = 60
Origin = Literal["project", "set", "suggested"]
SAID: Mapping[Origin, str] = {"project": "from the project file", "set": "tried with --set", "suggested": "suggested"}


@dataclass(frozen=True)
class Shown:
    """One column with the hierarchy in force, where it comes from, why, and how full its levels are."""

    column: str
    hierarchy: Hierarchy | None
    origin: Origin
    reason: str
    levels: tuple[Occupied, ...]


@dataclass(frozen=True)
class Counted:
    """What is counted, and how many of it a node needs."""

    k: int
    unit: str


def shown(people: Dataset, column: str, given: Mapping[str, tuple[Hierarchy, Origin]], k: int) -> Shown:
    """A column under the hierarchy given for it, else under the suggested one."""
    from sfumato.data.suggest import levels_under, suggest_one

    people.schema[column]
    if column in given:
        hierarchy, origin = given[column]
        return Shown(column, hierarchy, origin, "", levels_under(people, column, hierarchy, k))
    found = suggest_one(people, column, k)
    return Shown(column, found.hierarchy, "suggested", found.reason, found.levels)


def overview(found: Sequence[Shown], counted: Counted) -> Iterator[str]:
    """One line a level of every column, then the reasons of what is suggested."""
    import pyarrow as pa

    from sfumato.data.tabular import Tabular

    rows = [
        {
            "column": one.column,
            "level": level.level,
            "nodes": level.n_nodes,
            "empty": level.n_empty,
            "smallest": level.smallest,
            "median": level.median,
            f"nodes below {counted.k}": level.below(counted.k)[0],
            "rows in them": level.below(counted.k)[1],
        }
        for one in found
        for level in one.levels
    ]
    for one in found:
        yield headline(one)
    if rows:
        yield ""
        yield Tabular(pa.Table.from_pylist(rows)).listing(most=len(rows))


def headline(one: Shown) -> str:
    """The hierarchy of one column in a line."""
    from sfumato.data.suggest import written

    rule = "none" if one.hierarchy is None else shortened(written(one.hierarchy), 110)
    return f"{one.column}: {rule}, {SAID[one.origin]}{'. ' if one.reason else ''}{one.reason}"


def preview(one: Shown, counted: Counted) -> Iterator[str]:
    """Every node of every level with what is below it; nodes with fewer than k are marked."""
    yield headline(one)
    for level in one.levels:
        n_few, n_rows = level.below(counted.k)
        few = (
            f"{n_few:,} nodes with fewer than {counted.k} {counted.unit}s hold {n_rows:,} rows" if n_few else "all full"
        )
        what = f"nodes, {level.n_empty:,} empty" if level.level else "values"
        yield ""
        yield f"level {level.level}: {level.n_nodes:,} {what}; {few}"
        if level.level:
            yield from _nodes(level, counted)


def _nodes(level: Occupied, counted: Counted) -> Iterator[str]:
    labels = [shortened(label) for label in level.labels[:MOST_NODES]]
    width = max((len(label) for label in labels), default=4)
    units = counted.unit != "row"
    yield f"  {'node':<{width}}  {'values':>9}  {'rows':>9}" + (f"  {counted.unit + 's':>9}" if units else "")
    for i, label in enumerate(labels):
        line = f"  {label:<{width}}  {level.values[i]:>9,}  {level.rows[i]:>9,}"
        line += f"  {level.units[i]:>9,}" if units else ""
        yield line + (f"  < {counted.k}" if level.units[i] < counted.k else "")
    if level.n_nodes > MOST_NODES:
        yield f"  … {level.n_nodes - MOST_NODES:,} more nodes; --json lists all"


def shortened(text: str, most: int = 60) -> str:
    """A label on one line of a terminal.

    >>> shortened("a" + chr(27) + "b"), shortened("abcdef", most=4)
    ('a?b', 'abc…')
    """
    plain = "".join(one if one.isprintable() else "?" for one in text)
    return plain if len(plain) <= most else plain[: most - 1] + "…"


def as_json(found: Sequence[Shown], counted: Counted, nodes: bool) -> list[dict[str, Any]]:
    """The same for machines; with every node when they are asked for."""
    return [
        {
            "column": one.column,
            "hierarchy": None if one.hierarchy is None else one.hierarchy.spec(),
            "origin": one.origin,
            "reason": one.reason,
            "levels": [_level(level, counted, nodes) for level in one.levels],
        }
        for one in found
    ]


def _level(level: Occupied, counted: Counted, nodes: bool) -> dict[str, Any]:
    n_few, n_rows = level.below(counted.k)
    found: dict[str, Any] = {
        "level": level.level,
        "n_nodes": level.n_nodes,
        "n_empty": level.n_empty,
        "smallest": level.smallest,
        "median": level.median,
        "n_below_k": n_few,
        "rows_below_k": n_rows,
    }
    if nodes and level.level:
        counts = zip(level.labels, level.values.tolist(), level.rows.tolist(), level.units.tolist(), strict=True)
        found["nodes"] = [{"label": a, "values": b, "rows": c, "units": d} for a, b, c, d in counts]
    return found
