"""On a release with one world every answer is DuckDB's own: random expressions over rows and aggregates."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from sfumato.chance import Seeded
from sfumato.errors import SfumatoError
from sfumato.queries.ask import ask
from sfumato.queries.parse import bare, parse
from sfumato.worlds.alternatives import Alternatives
from tests.oracles.queries import number
from tests.queries.tiny import DOMAINS, TYPES

NUMBERS = ["age", "pay", "year(born)", "length(sex)", "2", "-1", "0.5", "NULL", "day(born)"]
TRUTHS = [
    *("ok", "sex = 'M'", "age > 21", "pay IS NULL", "born < DATE '1980-01-01'", "sex LIKE 'M%'", "age IN (20, 22)"),
    *("pay BETWEEN 0 AND 20", "sex IS NOT NULL", "NULL", "born = '1976-01-21'"),
]
OF_NUMBERS = [
    *("({} + {})", "({} - {})", "({} * {})", "({} / {})", "({} % {})", "({} // {})", "{} + {}", "{} - {}", "{} * {}"),
    *("coalesce({}, {})", "greatest({}, {})", "least({}, {})", "nullif({}, {})", "round({}, 1) + {}", "-({} + {})"),
]
OF_AGGREGATES = [
    *("{}", "{}", "{} + {}", "({} + {}) * 2", "{} / {}", "coalesce({}, 0)", "round({}, 2)", "{} > {}", "2 * ({} - 1)"),
    *("CASE WHEN count(*) > 2 THEN {} END", "{} // 2", "-({} - {})"),
]
CALLS = ["count(*)", "count({})", "sum({})", "avg({})", "min({})", "max({})", "count_if(?)", "min(born)", "avg(born)"]


def numeric(random: Random, depth: int = 2) -> str:
    if depth == 0 or random.random() < 0.3:
        return random.choice(NUMBERS)
    if random.random() < 0.15:
        one, other = numeric(random, depth - 1), numeric(random, depth - 1)
        return f"CASE WHEN {truth(random, depth - 1)} THEN {one} ELSE {other} END"
    return random.choice(OF_NUMBERS).format(numeric(random, depth - 1), numeric(random, depth - 1))


def truth(random: Random, depth: int = 2) -> str:
    if depth == 0 or random.random() < 0.3:
        return random.choice(TRUTHS)
    if random.random() < 0.3:
        sign = random.choice(["<", "<=", "=", "<>", ">", "IS DISTINCT FROM"])
        return f"({numeric(random, depth - 1)} {sign} {numeric(random, depth - 1)})"
    form = random.choice(["({} AND {})", "({} OR {})", "(NOT {} OR {})", "NOT ({} OR {})", "(({}) = ({}))"])
    return form.format(truth(random, depth - 1), truth(random, depth - 1))


def aggregate(random: Random) -> str:
    call = random.choice(CALLS).replace("?", truth(random)).format(numeric(random))
    return call + (f" FILTER (WHERE {truth(random, 1)})" if random.random() < 0.2 else "")


def query(random: Random) -> tuple[str, bool]:
    """A query and whether it has a key."""
    keys = ["sex", "age", "ok", "year(born)", "(age + 1) * 2", truth(random, 1)]
    key = random.choice(keys) if random.random() < 0.5 else None
    text = "SELECT " + (f"{key} AS k, " if key else "")
    text += random.choice(OF_AGGREGATES).format(aggregate(random), aggregate(random)) + " AS x FROM data"
    text += f" WHERE {truth(random)}" if random.random() < 0.6 else ""
    text += f" GROUP BY ({key})" if key else ""
    text += f" HAVING {aggregate(random)} IS NOT NULL" if random.random() < 0.2 else ""
    return text, key is not None


def plain(value: Any) -> Any:
    """A number, a text or None: what is not finite counts as NULL."""
    if value is None or isinstance(value, str):
        return value
    value = number(value)
    return value if math.isfinite(value) else None


def close(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-6 * max(1.0, abs(one))
    return bool(one == other)


@pytest.mark.parametrize("seed", range(4))
def test_one_world_is_answered_as_duckdb_does(seed: int) -> None:
    random, chance, compared = Random(seed), np.random.default_rng(seed), 0
    connection = duckdb.connect(config={"threads": "1"})
    for _ in range(60):
        n = int(chance.integers(1, 7))
        codes = {c: chance.integers(0, DOMAINS[c].size, n).astype(np.int32) for c in TYPES}
        worlds = Alternatives(tuple(TYPES), DOMAINS, codes, codes, np.ones(n, dtype=np.int64))
        connection.register("data", pa.table({c: DOMAINS[c].decode(codes[c]) for c in TYPES}))
        text, grouped = query(random)
        try:
            found = ask(worlds, text, n_worlds=3, chance=Seeded(1)).rows()
            wanted = connection.execute(text).fetchall()
        except (SfumatoError, duckdb.Error):
            continue
        compared += 1
        ours = sorted(
            [tuple(plain(r[c]) for c in ("k", "x")[not grouped :]) for r in found if r["__row"] > 0], key=repr
        )
        theirs = sorted([tuple(plain(value) for value in row) for row in wanted], key=repr)
        assert len(ours) == len(theirs), text
        assert all(close(a, b) for x, y in zip(ours, theirs, strict=True) for a, b in zip(x, y, strict=True)), text
    assert compared > 20


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("(a + b) * 2", "((a) + b) * (2)", True),
        ("(a + b) * 2", "a + b * 2", False),
        ("a + b * 2", "a + (b * 2)", True),
        ("a - (b - c)", "a - b - c", False),
        ("(a - b) - c", "a - b - c", True),
        ("NOT (a > 1 OR b > 1)", "NOT a > 1 OR b > 1", False),
        ("-(a + b)", "-a + b", False),
        ("(a = 1) = (b = 1)", "a = 1 = b = 1", False),
    ],
)
def test_parentheses_matter_where_they_matter(one: str, other: str, same: bool) -> None:
    trees = [
        bare(parse(f"SELECT max({text}) FROM data", ("data",), ("a", "b", "c")).outputs[0].expression.this)
        for text in (one, other)
    ]
    assert (trees[0] == trees[1]) == same
    assert (trees[0].sql(dialect="duckdb") == trees[1].sql(dialect="duckdb")) == same
