"""Random tiny releases, once as raw pieces for the oracle and once as our worlds; and the shapes asked of them."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.codec import Domain
from sfumato.worlds.alternatives import Alternatives
from sfumato.worlds.bijection import Bijection
from sfumato.worlds.blocks import Blocks
from tests.oracles.queries import Cells, Matching, Shape, Tiny, n_raw_worlds

TYPES = {"age": pa.int64(), "sex": pa.string(), "born": pa.date32(), "pay": pa.int64(), "ok": pa.bool_()}
TYPES |= {"cost": pa.decimal128(38, 2), "load": pa.float64()}
QUASI, SENSITIVE = ("age", "sex", "born"), ("pay", "ok", "cost", "load")
DOMAINS = {
    "age": Domain("integer", pa.array([20, 21, 22, 23], pa.int64()), missing=True, complete=True),
    "sex": Domain("text", pa.array(["F", "M"]), missing=True, region="set", complete=True),
    "born": Domain(
        "date",
        pa.array([datetime.date(1976, 1, 21), datetime.date(1976, 2, 28), datetime.date(1986, 4, 13)]),
        complete=True,
    ),
    "pay": Domain("integer", pa.array([-10, 10, 20, 40], pa.int64()), missing=True, complete=True),
    "ok": Domain("boolean", pa.array([False, True]), missing=True, complete=True),
    "cost": Domain(
        "decimal", pa.array([Decimal("-1.10"), Decimal("0.00"), Decimal("3.05")], TYPES["cost"]), complete=True
    ),
    "load": Domain("real", pa.array([0.1, 0.7, 2.5]), missing=True, complete=True),
}
Generator = np.random.Generator


def leaves(name: str) -> list[Any]:
    """Values of a domain in code order."""
    return DOMAINS[name].with_missing().to_pylist()


def _codes(chance: Generator, name: str, n: int) -> np.ndarray:
    return chance.integers(0, DOMAINS[name].size, n).astype(np.int32)


def alternatives(chance: Generator, n: int, room: int) -> tuple[Alternatives, Cells]:
    """`n` rows with regions on quasi-identifiers whose sizes multiply to at most `room`."""
    low = {name: _codes(chance, name, n) for name in TYPES}
    high = {name: low[name].copy() for name in TYPES}
    for _ in range(30):
        name = QUASI[chance.integers(3)] if chance.random() < 0.8 else SENSITIVE[chance.integers(len(SENSITIVE))]
        row = chance.integers(n)
        widths = np.ones(n, dtype=float)
        for column in TYPES:
            widths *= high[column] - low[column] + 1
        width = high[name][row] - low[name][row] + 1
        if high[name][row] + 1 < DOMAINS[name].size and widths.prod() / width * (width + 1) <= room:
            high[name][row] += 1
    regions = [tuple(tuple(leaves(name)[low[name][i] : high[name][i] + 1]) for name in TYPES) for i in range(n)]
    return Alternatives(tuple(TYPES), DOMAINS, low, high, np.ones(n, dtype=np.int64)), Cells(regions)


def bijection(chance: Generator, sizes: list[int]) -> tuple[Bijection, Matching]:
    """Groups of these sizes; slots hold the quasi-identifiers, values the sensitive columns."""
    n = sum(sizes)
    group = np.repeat(np.arange(len(sizes)), sizes).astype(np.int64)
    slots = {name: _codes(chance, name, n) for name in QUASI}
    values = {name: _codes(chance, name, n) for name in SENSITIVE}
    groups = []
    for g in range(len(sizes)):
        rows = np.flatnonzero(group == g)
        groups.append(
            (
                [tuple(leaves(c)[slots[c][i]] for c in QUASI) for i in rows],
                [tuple(leaves(c)[values[c][i]] for c in SENSITIVE) for i in rows],
            )
        )
    mixed_up = chance.permutation(n)
    return (
        Bijection(tuple(TYPES), DOMAINS, {c: slots[c][mixed_up] for c in QUASI}, group[mixed_up], values, group),
        Matching(groups),
    )


def release(chance: Generator, room: int = 250) -> tuple[Any, Tiny]:
    """Independent cells, a bijection, or both, of at most six rows."""
    kind = chance.integers(3)
    if kind == 0:
        worlds, piece = alternatives(chance, int(chance.integers(1, 7)), room)
        return worlds, Tiny(TYPES, [piece])
    sizes = [[2], [3], [2, 2], [3, 2], [4], [3, 3], [2, 2, 2], [1, 3]][chance.integers(8)]
    if kind == 1:
        worlds, matching = bijection(chance, sizes)
        return worlds, Tiny(TYPES, [matching])
    first, matching = bijection(chance, [2, 2][: chance.integers(1, 3)])
    second, piece = alternatives(chance, int(chance.integers(1, 3)), room // n_raw_worlds([matching]))
    return Blocks((first, second)), Tiny(TYPES, [matching, piece])


def shape(*outputs: str, **rest: Any) -> Shape:
    """Keys may be given as one text."""
    keys = rest.pop("keys", ())
    return Shape(outputs, (keys,) if isinstance(keys, str) else keys, **rest)


def reads(one: Shape, *columns: str) -> bool:
    """Does the query name one of these columns?"""
    return any(re.search(rf"\b{column}\b", one.sql()) is not None for column in columns)


AGES = "age BETWEEN 21 AND 22"
SHAPES = [
    shape("count(*)"),
    shape("count(*)", where="sex = 'M'"),
    shape("count(*)", where=f"{AGES} AND sex = 'F' AND pay > 0"),
    shape("count(*)", where="age > 20 AND sex IN ('M', 'X') AND born < DATE '1980-01-01'"),
    shape("count(*)", where="age * 1 < pay"),
    shape("count(*)", where="age IS NULL OR pay IS NULL"),
    shape("count(*)", where="NOT (age > 21 AND sex = 'M')"),
    shape("count(*)", where="age NOT IN (20, NULL)"),
    shape("count(*)", where="sex LIKE 'M%' OR ok"),
    shape("count(*)", where="born >= '1976-02-01' AND ok IS NOT NULL"),
    shape("count(*)", where="CASE WHEN age > 21 THEN pay > 10 ELSE sex = 'F' END"),
    shape("count(*)", where="NULL"),
    shape("count(*)", where="1 = 0"),
    shape("count(*)", where="1 = 1 AND age <> 22"),
    shape("count(pay)", where="sex = 'M'"),
    shape("count(sex)"),
    shape("count(CASE WHEN age > 21 THEN sex END)", where="ok"),
    shape("count(*) FILTER (WHERE age > 20 AND pay < 30)"),
    shape("count_if(sex = 'M')", where="pay > 0"),
    shape("sum(pay)"),
    shape("sum(pay)", where="sex = 'M'"),
    shape("sum(age)", where="pay > 0"),
    shape("sum(age * pay)", where="ok"),
    shape("sum(pay) FILTER (WHERE age = 21)"),
    shape("sum(CASE WHEN sex = 'M' THEN 1 ELSE 0 END)"),
    shape("avg(pay)", where="sex = 'M'"),
    shape("avg(pay)", where="age > 20 AND born < '1980-01-01'"),
    shape("avg(age)", where="pay >= 10"),
    shape("avg(pay - age)", where="ok OR sex = 'F'"),
    shape("avg(age) FILTER (WHERE ok)"),
    shape("min(pay)", where="sex = 'M'"),
    shape("max(pay)", where=f"{AGES}"),
    shape("max(born)", where="pay > 0"),
    shape("min(age)"),
    shape("max(age + pay)", where="sex IS NOT NULL"),
    shape("min(pay / 4)", where="age < 23"),
    shape("count(*)", keys="sex"),
    shape("count(*)", keys="age"),
    shape("count(*)", keys="pay"),
    shape("count(*)", keys=("sex", "ok")),
    shape("count(*)", keys="age // 2", where="pay > 0"),
    shape("count(*)", keys="year(born)", where="sex = 'M'"),
    shape("count(*)", keys="CASE WHEN age >= 22 THEN 'old' ELSE 'young' END"),
    shape("count(*)", keys="age > 21"),
    shape("sum(pay)", keys="sex"),
    shape("avg(pay)", keys="sex", where="age > 20"),
    shape("avg(age)", keys="ok"),
    shape("max(pay)", keys="sex"),
    shape("min(pay)", keys="age"),
    shape("count(*)", "avg(pay)", "max(age)", keys="sex"),
    shape("count(*)", keys="sex", having="count(*) >= 2"),
    shape("count(*)", keys="age", having="count(*) BETWEEN 1 AND 2 OR count(*) = 5"),
    shape("count(*)", keys="sex", having="count(pay) = 0"),
    shape("count(*)", keys="sex", having="sum(pay) > 15"),
    shape("count(*)", keys="sex", having="sex = 'M' AND max(age) < 23"),
    shape("count(*)", having="count(*) > 100"),
    shape("count(*)", where="sex = 'M'", having="count(*) > 1"),
    shape("avg(pay)", where="sex = 'M'", having="count(*) > 1"),
    shape("2 * count(*) + 1", where="sex = 'M'"),
    shape("-avg(pay) / 2", where="sex = 'M'"),
    shape("100.0 * count(*) FILTER (WHERE ok) / count(*)", where="age > 20"),
    shape("count(pay) / count(*)", keys="sex"),
    shape("sum(CASE WHEN pay > 10 THEN 1 ELSE 0 END) * 1.0 / count(*)", where="sex = 'M'"),
    shape("sum(pay) / count(pay)", where="age > 20"),
    shape("count(*) - count(pay)", where="sex = 'M'"),
    shape("count(*) FILTER (WHERE ok) - count(*) FILTER (WHERE NOT ok)", where="sex = 'M'"),
    shape("max(pay) - min(pay)", where="sex = 'M'"),
    shape("round(avg(pay), 1)", where="sex = 'M'"),
    shape("coalesce(sum(pay), 0)", where="sex = 'M'"),
    shape("CASE WHEN count(*) > 1 THEN avg(pay) ELSE 0 END", where="sex = 'M'"),
    shape("greatest(count(*), 2)", where="ok"),
    shape("count(*) > 1", where="sex = 'M'"),
    shape("count(*) // 2", where="sex = 'M'"),
    shape("sum(pay) / nullif(count(*) - 1, 0)", where="sex = 'M'"),
    shape("count(*)", keys="sex", order="o0", limit="LIMIT 1"),
    shape("count(*)", keys="sex", order="o1 DESC, o0", limit="LIMIT 1"),
    shape("count(*)", keys="age", order="o0 DESC NULLS FIRST", limit="LIMIT 2 OFFSET 1"),
    shape("count(*)", where="cost = 3.05"),
    shape("count(*)", where="cost IN (3.05, 7) OR load <= 0.7"),
    shape("count(*)", where="cost", having="count(*) + 0.5"),
    shape("sum(cost)", "avg(cost)", "max(cost)", where="sex = 'M'"),
    shape("sum(load)", "avg(load)", "min(load)", keys="sex"),
    shape("avg(born)", where="sex = 'M'"),
    shape("sum(pay) * 0.1", "sum(pay) / 49 * 49", "floor(sum(pay) * 100 * 0.29)"),
    shape("avg(pay) / 3", "avg(cost) * 0.7", "100.0 * avg(load)", where="sex = 'M'"),
    shape("CAST(max(cost) AS INT)", "CAST(avg(pay) AS INT)", "round(sum(cost), 1)", keys="ok"),
    shape("100.0 * count(*) FILTER (WHERE ok) / count(*)", "100.0 * sum(pay) / count(pay)", keys="sex"),
    shape("coalesce(TRY_CAST(sum(pay) * 4 AS TINYINT), -1)", "CAST(sum(pay) / 7 AS SMALLINT)"),
    shape("count(*) + 0 * sum(pay)", "count(*) - count(*)", where="pay = 10"),
    shape("sum(pay) / sum(age)", "count(*) / count(pay)", "sum(load) - sum(load) * 0.3", keys="sex"),
    shape("count(*)", keys="sex", having="sum(age) / sum(pay) > 2"),
    shape("count(*)", keys="sex", having="count(*) / count(pay) >= 2"),
    shape("count(*)", keys="sex", having="sum(pay) / count(ok)"),
    shape("count(*)", where="sex = 'M'", having="count(pay) / count(*) > 0.5"),
    shape("count(*)", keys="ok", having="-(sum(pay) / sum(cost)) > 1 OR greatest(sum(pay) / 0, 1) > 2"),
    shape("sum(pay) - sum(age)", "ln(sum(pay))", "greatest(avg(pay) / sum(cost), 1)", where="ok"),
    shape("count(*)", keys="NULL"),
]
