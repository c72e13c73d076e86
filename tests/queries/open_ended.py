"""Random tiny releases whose cells may hold values beyond their lists: open ends, and columns with unlisted values.

Each comes with two enumerations: of the listed leaves, which estimates are about, and of all worlds with some values
beyond the ends and between the leaves, which hard bounds are about.
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.codec import Domain
from sfumato.worlds.alternatives import Alternatives
from sfumato.worlds.bijection import Bijection
from sfumato.worlds.blocks import Blocks
from tests.oracles.queries import Cells, Matching, Row, Tables, Tiny

TYPES = {"age": pa.int64(), "sex": pa.string(), "born": pa.date32(), "pay": pa.int64(), "ok": pa.bool_()}
NAMES = tuple(TYPES)
QUASI, SENSITIVE = NAMES[:3], NAMES[3:]
BORN = [datetime.date(1976, 1, 21), datetime.date(1976, 2, 28), datetime.date(1986, 4, 13)]
LISTED = {
    "age": Domain("integer", pa.array([20, 21, 22, 23], pa.int64()), missing=True),
    "sex": Domain("text", pa.array(["F", "M"]), missing=True, region="set"),
    "born": Domain("date", pa.array(BORN)),
    "pay": Domain("integer", pa.array([-10, 10, 20, 40], pa.int64()), missing=True),
    "ok": Domain("boolean", pa.array([False, True]), missing=True),
}
BELOW = {"age": (19, 4), "born": (datetime.date(1970, 5, 5),), "pay": (-11, -300)}
ABOVE = {"age": (24, 70), "born": (datetime.date(1999, 9, 9),), "pay": (41, 500)}
ELSEWHERE = {"age": (4, 70), "sex": ("X",), "born": (BORN[0].replace(month=2), None), "pay": (-300, 15, 500), "ok": ()}
Generator = np.random.Generator
Options = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Open:
    """A release, its worlds over listed leaves, and its worlds over all values tried."""

    worlds: Any
    listed: Tiny
    wide: Tiny


def domains(chance: Generator) -> dict[str, Domain]:
    """Ends open at random, on ordered columns."""
    found = dict(LISTED)
    for name in BELOW:
        found[name] = replace(found[name], open_low=bool(chance.random() < 0.4), open_high=bool(chance.random() < 0.5))
    return found


def leaves(domain: Domain, low: int = 0, high: int | None = None) -> tuple[Any, ...]:
    """Listed values of a run of codes."""
    return tuple(domain.with_missing().to_pylist()[low : domain.size if high is None else high + 1])


def beyond(name: str, domain: Domain, value: Any) -> tuple[Any, ...]:
    """What a cell published as one leaf may hold."""
    last = domain.values[domain.n_values - 1].as_py()
    low = BELOW[name] if domain.open_low and value == domain.values[0].as_py() else ()
    return (value, *low, *(ABOVE[name] if domain.open_high and value == last else ()))


def spread(names: Sequence[str], of: dict[str, Domain], row: Row) -> list[Row]:
    """All rows that one row of listed values may stand for."""
    return list(itertools.product(*(beyond(c, of[c], value) for c, value in zip(names, row, strict=True))))


def cells(chance: Generator, of: dict[str, Domain], n: int, unknown: frozenset[str]) -> tuple[Any, Any, Any]:
    """Rows known up to small regions; in columns of `unknown` they may hold anything."""
    low = {c: chance.integers(0, of[c].size, n).astype(np.int32) for c in NAMES}
    high = {c: low[c].copy() for c in NAMES}
    for name in chance.permutation(NAMES)[: 2 if n == 1 else 1]:
        row = chance.integers(n)
        high[name][row] = min(of[name].size - 1, low[name][row] + int(chance.integers(1, 3)))
    listed: list[Options] = []
    wide: list[Options] = []
    for i in range(n):
        told = [leaves(of[c], low[c][i], high[c][i]) for c in NAMES]
        listed.append(tuple(told))
        wide.append(tuple(tuple(_anything(c, of[c], told[k], c in unknown)) for k, c in enumerate(NAMES)))
    made = Alternatives(NAMES, of, low, high, np.ones(n, dtype=np.int64), unknown=unknown)
    return made, Cells(listed), Cells(wide)


def _anything(name: str, domain: Domain, told: tuple[Any, ...], unknown: bool) -> dict[Any, None]:
    found = dict.fromkeys(one for value in told for one in beyond(name, domain, value))
    return found | dict.fromkeys(ELSEWHERE[name] + leaves(domain)) if unknown else found


def matching(chance: Generator, of: dict[str, Domain], sizes: Sequence[int]) -> tuple[Any, Any, list[Tables]]:
    """Groups of permuted sensitive values."""
    group = np.repeat(np.arange(len(sizes)), sizes).astype(np.int64)
    columns = {c: chance.integers(0, of[c].size, len(group)).astype(np.int32) for c in NAMES}
    slots, values = ({c: columns[c] for c in names} for names in (QUASI, SENSITIVE))
    groups, wide = [], []
    for g in range(len(sizes)):
        ours, theirs = (
            [tuple(leaves(of[c])[columns[c][i]] for c in names) for i in np.flatnonzero(group == g)]
            for names in (QUASI, SENSITIVE)
        )
        groups.append((ours, theirs))
        tables = [
            list(table)
            for way in itertools.permutations(theirs)
            for table in itertools.product(*(spread(NAMES, of, a + b) for a, b in zip(ours, way, strict=True)))
        ]
        wide.append(Tables(tables))
    return Bijection(NAMES, of, slots, group, values, group), Matching(groups), wide


def release(chance: Generator, most: int = 1500) -> Open:
    """A random one with at most `most` worlds in the wide enumeration."""
    while True:
        of = domains(chance)
        kind = chance.integers(4)
        unknown = frozenset(chance.permutation(NAMES)[: int(chance.integers(1, 3))].tolist())
        rows, listed, wide = cells(chance, of, int(chance.integers(1, 4)), frozenset() if kind == 0 else unknown)
        if kind == 3:
            rows, listed, wide = cells(chance, of, 1, unknown)
        parts: list[Any] = [rows] if kind < 2 else []
        few: list[Any] = [listed] if kind < 2 else []
        many: list[Any] = [wide] if kind < 2 else []
        if kind >= 2:
            sizes = [[2], [3], [2, 2], [1, 2], [2, 1, 1]][chance.integers(5)]
            made, exact, tables = matching(chance, of, sizes)
            parts, few, many = [made], [exact], list(tables)
        if kind == 3:
            parts, few, many = [*parts, rows], [*few, listed], [*many, wide]
        if 1 < n_worlds(many) <= most:
            return Open(parts[0] if len(parts) == 1 else Blocks(tuple(parts)), Tiny(TYPES, few), Tiny(TYPES, many))


def n_worlds(pieces: Sequence[Any]) -> int:
    """How many combinations there are."""
    n = 1
    for piece in pieces:
        if isinstance(piece, Tables):
            n *= len(piece.tables)
        else:
            n *= int(np.prod([len(cell) for row in piece.regions for cell in row]))
    return n
