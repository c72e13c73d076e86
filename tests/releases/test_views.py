"""A package in the hands of stock DuckDB: views.sql and the plain end columns give hard bounds that hold."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from tests.oracles.packages import CITIES, DISEASES, age, anatomized, generalized, original_of

from sfumato.data.codec import Domain
from sfumato.data.schema import Column, Schema
from sfumato.desk import PublishedRelease
from sfumato.releases.anatomized import Anatomized
from sfumato.releases.generalized import Generalized
from sfumato.releases.package import write

Bounds = tuple[int, int]
DAY = datetime.date(1970, 1, 1)


@contextmanager
def opened(release: Any, folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The package written, and DuckDB in its directory after `.read views.sql`."""
    write(release, folder)
    before = Path.cwd()
    os.chdir(folder)
    try:
        connection = duckdb.connect(config={"threads": "1"})
        connection.execute((folder / "views.sql").read_text())
        yield connection
    finally:
        os.chdir(before)


def one(connection: duckdb.DuckDBPyConnection, text: str) -> Any:
    (row,) = connection.execute(text).fetchall()
    return row


def ours(release: Any, where: str) -> Bounds:
    """Our hard bounds of a count."""
    (row,) = PublishedRelease(release).sql(f"SELECT count(*) AS n FROM data WHERE {where}", seed=1).rows()
    return row.get("n__lo", row["n"]), row.get("n__hi", row["n"])


def beyond(release: Any, table: pa.Table, rng: np.random.Generator) -> pa.Table:
    """An original with some values at open ends moved beyond them."""
    for name, domain in release.domains.items():
        step: Any = {"integer": 3, "date": datetime.timedelta(40)}.get(domain.kind)
        if not (domain.open_low or domain.open_high):
            continue
        first, last = domain.values[0].as_py(), domain.values[-1].as_py()
        moved = []
        for value in table.column(name).to_pylist():
            if domain.open_low and value == first and rng.random() < 0.5:
                value = value - step
            elif domain.open_high and value == last and rng.random() < 0.5:
                value = value + step
            moved.append(value)
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array(moved, table.schema.field(name).type))
    return table


def truth(table: pa.Table, where: str) -> int:
    connection = duckdb.connect(config={"threads": "1"})
    connection.register("original", table)
    return int(one(connection, f"SELECT count(*) FROM original WHERE {where}")[0])


def literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, datetime.date):
        return f"DATE '{value}'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def condition(name: str, domain: Domain, rng: np.random.Generator) -> tuple[str, str, str]:
    """A predicate on one quasi-identifier in SQL, and as views.sql says it: certain, possible."""
    leaves = domain.values.to_pylist()
    if domain.region != "range":
        some = [leaf for leaf in leaves if rng.random() < 0.6] or leaves[:1]
        among = ", ".join(literal(leaf) for leaf in some)
        return f"{name} IN ({among})", f"certain_in({name}__cell, [{among}])", f"possible_in({name}__cell, [{among}])"
    low, high = sorted(rng.integers(0, len(leaves), 2).tolist())
    ends = [
        literal(leaves[low]) if rng.random() < 0.8 else "NULL",
        literal(leaves[high]) if rng.random() < 0.8 else "NULL",
    ]
    parts = [f"{name} {sign} {end}" for sign, end in zip((">=", "<="), ends, strict=True) if end != "NULL"]
    plain = " AND ".join(parts) or f"{name} IS NOT NULL"
    both = f"({name}__cell, {ends[0]}, {ends[1]})"
    return f"({plain})", f"certain_between{both}", f"possible_between{both}"


def quasi_of(release: Generalized) -> list[str]:
    return list(release.low)


# ---- generalized -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(9))
def test_bounds_of_generalized_packages_hold(seed: int, tmp_path: Path) -> None:
    """Equal to ours for one column and for conjunctions over columns; rows suppressed are in every upper bound."""
    rng = np.random.default_rng(seed)
    release = generalized(rng, n_suppressed=seed % 3)
    original = beyond(release, original_of(release, rng), rng)
    with opened(release, tmp_path / "p") as connection:
        for _ in range(6):
            chosen = rng.permutation(quasi_of(release))[: rng.integers(1, 3)]
            found = [condition(name, release.domains[name], rng) for name in chosen]
            if rng.random() < 0.4:
                some = ", ".join(literal(d) for d in rng.permutation(DISEASES)[:3])
                found.append((f"disease IN ({some})",) * 3)
            word = " AND " if rng.random() < 0.7 else " OR "
            plain, certain, possible = (word.join(part) for part in zip(*found, strict=True))
            filters = f"count(*) FILTER (WHERE {certain}), count(*) FILTER (WHERE {possible}) + suppressed()"
            lo, hi = one(connection, f"SELECT {filters} FROM data")
            least, most = ours(release, plain)
            assert lo <= least <= truth(original, plain) <= most <= hi, plain
            if len(found) == 1 or word == " AND ":
                assert (lo, hi) == (least, most) or release.n_suppressed, plain


@pytest.mark.parametrize("seed", range(9))
def test_plain_end_columns_give_hard_bounds(seed: int, tmp_path: Path) -> None:
    """No macros: a reader of Parquet compares `__lo` and `__hi`, where NULL is no bound."""
    rng = np.random.default_rng(100 + seed)
    release = generalized(rng)
    original = beyond(release, original_of(release, rng), rng)
    ranges = [c for c in quasi_of(release) if release.domains[c].region == "range"]
    write(release, tmp_path / "p")
    connection = duckdb.connect(config={"threads": "1"})
    published = tmp_path / "p" / "data" / "data.parquet"
    names = [row[0] for row in connection.execute(f"DESCRIBE FROM '{published}'").fetchall()]
    for name in ranges:
        leaves = release.domains[name].values.to_pylist()
        low, high = (literal(leaves[i]) for i in sorted(rng.integers(0, len(leaves), 2).tolist()))
        inside = f"{name}__lo >= {low} AND {name}__hi <= {high}"
        inside += f" AND {name}__null = 'never'" if f"{name}__null" in names else ""
        touching = f"coalesce({name}__lo <= {high}, true) AND coalesce({name}__hi >= {low}, true)"
        lo, hi = one(
            connection,
            f"SELECT count(*) FILTER (WHERE {inside}), count(*) FILTER (WHERE {touching}) FROM '{published}'",
        )
        plain = f"{name} BETWEEN {low} AND {high}"
        least, most = ours(release, plain)
        assert lo == least and most <= hi, plain
        assert lo <= truth(original, plain) <= hi, plain


def test_missing_values_are_never_certain_and_always_missing_is_never_possible(tmp_path: Path) -> None:
    domain = age(missing=True, open_ends=True)
    low, high = np.array([0, 5, 15, 20], np.int32), np.array([4, 9, 20, 20], np.int32)
    schema = Schema((Column("age", "integer", "quasi"), Column("disease", "text", "sensitive")))
    disease = Domain("text", pa.array(DISEASES), region="set")
    made = generalized(np.random.default_rng(0))
    group = np.repeat(np.arange(4), 2).astype(np.int64)
    exact = {"disease": np.arange(8, dtype=np.int32) % 6}
    domains = {"age": domain, "disease": disease}
    release = Generalized("census", schema, domains, {"age": low}, {"age": high}, group, exact, made.recipe)
    asked = {
        # (from, to): rows certainly, rows possibly inside; regions ≤24, 25-29, ≥35 or missing, missing
        (25, 29): (2, 2),
        (None, 29): (4, 4),
        (25, None): (2, 4),
        (None, 19): (0, 2),
        (40, None): (0, 2),
        (20, 24): (0, 2),
        (None, None): (4, 6),
    }
    with opened(release, tmp_path / "p") as connection:
        for (least, most), expected in asked.items():
            both = f"(age__cell, {literal(least)}, {literal(most)})"
            found = one(
                connection,
                f"SELECT count(*) FILTER (WHERE certain_between{both}), count(*) FILTER (WHERE possible_between{both}) "
                "FROM census",
            )
            assert found == expected, (least, most)
            where = " AND ".join(f"age {s} {x}" for s, x in ((">=", least), ("<=", most)) if x is not None)
            assert ours(release, where or "age IS NOT NULL") == expected, (least, most)


def test_every_published_name_can_be_a_column_or_a_table(tmp_path: Path) -> None:
    """Quotes, spaces and SQL words in names; a table that is called like a view of ours."""
    made = generalized(np.random.default_rng(3))
    names = {"age": 'a "b" c', "city": "it's", "sex": "select", "born": "Né(e)"}
    used = {old: names.get(old, old) for old in made.domains}
    release = replace(
        made,
        name='my "table"',
        schema=Schema(tuple(replace(c, name=used[c.name]) for c in made.schema)),
        domains={used[c]: d for c, d in made.domains.items()},
        low={used[c]: d for c, d in made.low.items()},
        high={used[c]: d for c, d in made.high.items()},
        exact={used[c]: d for c, d in made.exact.items()},
    )
    with opened(release, tmp_path / "p") as connection:
        assert one(connection, 'SELECT count(*) FROM "my ""table"""') == (made.n_rows,)
        kept = [d[0] for d in connection.execute("SELECT * FROM data LIMIT 0").description or []]
        assert {f"{used[c]}__cell" for c in made.low} <= set(kept)
    for taken in ("data", "domains", "Quasi"):
        with opened(replace(release, name=taken), tmp_path / taken) as connection:
            assert one(connection, "SELECT count(*) FROM data") == (made.n_rows,)


# ---- anatomized --------------------------------------------------------------------------------------------------


def sides(release: Anatomized, rng: np.random.Generator) -> tuple[str, str, str, str]:
    """A predicate on each side: quasi in SQL, certain and possible rows; sensitive."""
    domain = release.published().domains["age"]
    low, high = sorted(rng.integers(20, 40, 2).tolist())
    plain = f"age BETWEEN {low} AND {high}"
    certain = possible = plain
    if domain.open_low or domain.open_high:
        certain = f"age IS NOT NULL AND age__lo >= {low} AND age__hi <= {high}"
        possible = f"age IS NOT NULL AND coalesce(age__lo <= {high}, true) AND coalesce(age__hi >= {low}, true)"
    towns = ", ".join(literal(c) for c in rng.permutation(CITIES)[:4])
    some = ", ".join(literal(d) for d in rng.permutation(DISEASES)[:3])
    return (*(f"city IN ({towns}) AND {part}" for part in (plain, certain, possible)), f"disease IN ({some})")  # type: ignore[return-value]


@pytest.mark.parametrize("seed", range(9))
def test_count_bounds_of_anatomized_packages_are_ours(seed: int, tmp_path: Path) -> None:
    """Chosen rows on each side: certain ones for the lower end, possible ones for the upper where an end is open."""
    rng = np.random.default_rng(seed)
    release = anatomized(rng, n_suppressed=seed % 3)
    original = beyond(release, original_of(release, rng), rng)
    with opened(release, tmp_path / "p") as connection:
        for _ in range(5):
            plain, certain, possible, sensitive = sides(release, rng)
            connection.execute(f"CREATE OR REPLACE TEMP VIEW sure AS SELECT * FROM quasi WHERE {certain}")
            connection.execute(f"CREATE OR REPLACE TEMP VIEW perhaps AS SELECT * FROM quasi WHERE {possible}")
            connection.execute(f"CREATE OR REPLACE TEMP TABLE ill AS SELECT * FROM sensitive WHERE {sensitive}")
            lo = one(connection, "SELECT lo FROM count_bounds('sure', 'ill')")[0]
            hi = one(connection, "SELECT hi FROM count_bounds('perhaps', 'ill')")[0]
            where = f"{plain} AND {sensitive}"
            least, most = ours(release, where)
            assert lo == least and (hi == most or release.n_suppressed), where
            assert lo <= truth(original, where) <= most <= hi, where


def test_a_predicate_that_chooses_nothing_has_bounds_of_nothing(tmp_path: Path) -> None:
    release = anatomized(np.random.default_rng(1), n_suppressed=2)
    with opened(release, tmp_path / "p") as connection:
        connection.execute("CREATE TEMP VIEW none AS SELECT * FROM quasi WHERE false")
        assert one(connection, "FROM count_bounds('none', 'sensitive')") == (0, 2)
        assert one(connection, "FROM count_bounds('quasi', 'sensitive')") == (
            len(release.slot_group),
            release.n_rows,
        )


@pytest.mark.parametrize("seed", range(4))
def test_sensitive_ends_hold_row_by_row(seed: int, tmp_path: Path) -> None:
    """`data` shows with every row the least and greatest sensitive value of its group, and all of them."""
    rng = np.random.default_rng(seed)
    release = anatomized(rng)
    with opened(release, tmp_path / "p") as connection:
        rows = connection.execute("SELECT group_id, stage__lo, stage__hi, disease__values FROM small").fetchall()
    assert len(rows) == len(release.slot_group)
    stage = release.domains["stage"].decode(release.values["stage"]).to_pylist()
    ill = release.domains["disease"].decode(release.values["disease"]).to_pylist()
    group = {}
    for g in range(release.n_groups):
        mine = np.flatnonzero(release.value_group == g)
        known = [stage[i] for i in mine if stage[i] is not None]
        group[len(mine), min(known, default=None), max(known, default=None), frozenset(ill[i] for i in mine)] = g
    found = {(sum(r[0] == g for r in rows), lo, hi, frozenset(values)) for g, lo, hi, values in rows}
    assert found == set(group)
