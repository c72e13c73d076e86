"""Grids that nobody declared: ends that show no person, one grid for every column, nothing moves with one outlier."""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.dataset import codes_on
from sfumato.data.hierarchy import prepare, propose
from sfumato.releases.package import read, write
from sfumato.verify import verify
from tests.data.samples import people


def publish(cells: list[Any] | pa.Array, k: int = 3, seed: int | None = None, **more: Any) -> tuple[pa.Table, Any]:
    column = pa.array(cells)
    table = pa.table({"x": column, "job": [f"job{i % 3}" for i in range(len(column))], **more})
    data = sf.read(table, name="people").roles(quasi=["x", *more], sensitive=["job"])
    return table, sf.publish(data, sf.Mondrian(), require=sf.KAnonymity(k), seed=seed)


def ends_of(release: Any) -> list[Any]:
    rows = release.release.groups().to_pylist()
    return [row[end] for row in rows for end in ("x__lo", "x__hi") if row[end] is not None]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("n", [30, 60, 300])
def test_no_published_end_is_a_value_of_few(seed: int, n: int) -> None:
    draw = np.random.default_rng(seed)
    shapes = [
        draw.permutation(np.arange(n) * 70 // n + 18), draw.integers(18, 90, n), draw.normal(45, 15, n).astype(int),
        draw.lognormal(3, 1, n).astype(int), draw.geometric(0.2, n),
    ]  # fmt: skip
    for ages in shapes:
        _, release = publish(ages.tolist())
        spec = propose(people(pa.array(ages)), "x", 3).spec()  # type: ignore[union-attr]
        held = Counter(ages.tolist())
        assert spec["intervals"][0] > 1 or all(held[end] >= 3 for end in ends_of(release))


@pytest.mark.parametrize("seed", range(10))
def test_no_published_date_is_a_day_of_few(seed: int) -> None:
    draw = np.random.default_rng(seed)
    days = [datetime.date(1980, 1, 1) + datetime.timedelta(days=int(d)) for d in draw.integers(0, 90, 40)]
    _, release = publish(days)
    spec = propose(people(pa.array(days)), "x", 3).spec()  # type: ignore[union-attr]
    held = Counter(days)
    assert spec["dates"][0] != "day" or all(held[end] >= 3 for end in ends_of(release))


def test_large_tables_keep_single_years() -> None:
    draw = np.random.default_rng(0)
    for ages in (draw.integers(17, 91, 30_000), np.clip(draw.normal(39, 13, 30_000), 17, 90).astype(int)):
        domain = prepare(people(pa.array(ages)), {}, 5).domains["x"]
        assert domain.cell is None and domain.n_values > 55


@pytest.mark.parametrize("top", [10**5, 10**8, 10**12, 10**16])
def test_wide_integers_are_published(top: int, tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    table, release = publish(draw.integers(0, top, 200).tolist(), k=5)
    write(release.release, tmp_path / "package")
    judged = verify(tmp_path / "package", raw=table)
    assert judged.holds, [one for one in judged.findings if not one.holds]
    assert len(release.release.groups()) > 4
    for one in (release.release, read(tmp_path / "package")):
        worlds = one.worlds()
        codes = codes_on(sf.read(table), {c: worlds.domains[c] for c in worlds.columns})
        assert worlds.contains(codes)
    values = table["x"].to_pylist()
    for low, high in ((top // 4, top // 2), (values[0], values[0]), (0, top // 3 + 7)):
        row = release.sql(f"SELECT count(*) AS n FROM data WHERE x BETWEEN {low} AND {high}").rows()[0]
        assert row["n__lo"] <= sum(low <= value <= high for value in values) <= row["n__hi"]


numbers = st.one_of(
    st.lists(st.integers(-(10**17), 10**17), min_size=1, max_size=60),
    st.lists(st.integers(0, 10**6), min_size=1, max_size=60),
    st.lists(st.decimals(-(10**12), 10**12, places=4), min_size=1, max_size=60).map(
        lambda found: pa.array(found, pa.decimal128(20, 4))
    ),
    st.lists(st.integers(-(10**9), 10**9).map(lambda n: n / 64), min_size=1, max_size=60),
    st.lists(st.dates(), min_size=1, max_size=60),
    st.lists(st.text(max_size=5), min_size=1, max_size=60),
    st.lists(st.booleans(), min_size=1, max_size=60),
)


@settings(max_examples=250, deadline=None)
@given(cells=numbers, least=st.integers(1, 6))
def test_a_proposal_never_fails(cells: Any, least: int) -> None:
    original = people(pa.array(cells))
    prepared = prepare(original, {}, least)
    domain = prepared.domains["x"]
    assert codes_on(original, prepared.domains)["x"].tolist() == prepared.codes["x"].tolist()
    assert domain.size <= 2**22 + 2
    propose(original, "x", least)


@settings(max_examples=100, deadline=None)
@given(
    cells=st.lists(st.integers(1, 120), min_size=4, max_size=80), least=st.integers(1, 5), persons=st.integers(3, 80)
)
def test_the_grid_does_not_move_with_the_largest_value(cells: list[int], least: int, persons: int) -> None:
    unit = pa.array([i % persons for i in range(len(cells))])
    moved = list(cells)
    moved[int(np.argmax(cells))] *= 10
    found = []
    for one in (cells, moved):
        data = sf.read(pa.table({"x": one, "p": unit})).roles(quasi=["x"], unit="p")
        prepared = prepare(data, {}, least)
        domain = prepared.domains["x"]
        cell = None if domain.cell is None else domain.cell.tolist()
        found.append((domain.values.to_pylist(), cell, domain.open_low, domain.open_high, prepared.codes["x"].tolist()))
    assert found[0] == found[1]


WIDE = [
    "count(*) AS n FROM data WHERE price >= 50000",
    "count(*) AS n FROM data WHERE price < -5",
    "count(*) AS n FROM data WHERE price BETWEEN 11899.99 AND 61999.99",
    "count(*) AS n FROM data WHERE NOT (price < 70000) AND job <> 'a'",
    "count(*) AS n FROM data WHERE price IN (1, 2, 50000.55) OR job = 'a'",
    "count(*) AS n FROM data WHERE price * 2 > 100000",
    "avg(price) AS n FROM data WHERE job = 'a' AND price BETWEEN 20000 AND 60000",
    "max(price) AS n FROM data WHERE price < 50000",
    "min(price) AS n FROM data WHERE price > 1000",
    "sum(price) AS n FROM data WHERE job = 'b' AND price BETWEEN 20000 AND 80000",
    "count(*) FILTER (WHERE price > 33333.33) AS n FROM data WHERE job = 'c'",
]


@pytest.fixture(scope="module")
def priced(tmp_path_factory: pytest.TempPathFactory) -> tuple[pa.Table, sf.PublishedRelease, Path]:
    chance = np.random.default_rng(3)
    price = [Decimal(int(cents)) / 100 for cents in chance.integers(0, 10_000_000, 2000)]
    table = pa.table({"price": pa.array(price, pa.decimal128(12, 2)), "job": chance.choice(list("abcdef"), 2000)})
    path = tmp_path_factory.mktemp("wide") / "priced"
    people = sf.read(table).roles(quasi=["price"], sensitive=["job"])
    sf.publish(people, sf.Mondrian(), require=sf.KAnonymity(5)).save(path)
    return table, sf.open(path), path


@pytest.mark.parametrize("question", WIDE)
def test_bounds_over_wide_cells_hold_the_truth(question: str, priced: Any) -> None:
    data, release, _ = priced
    row = release.sql(f"SELECT {question}").rows()[0]
    (truth,) = duckdb.sql(f"SELECT {question}").fetchall()[0]
    assert data.num_rows == 2000
    low, high = row.get("n__lo", row["n"]), row.get("n__hi", row["n"])
    assert low is None or low <= float(truth) + 1e-9
    assert high is None or float(truth) <= high + 1e-9


@pytest.mark.parametrize("least", [-5, 0, 12345.67, 50000, 61999.99, 99999])
def test_bounds_over_wide_cells_are_no_wider_than_those_of_plain_columns(least: float, priced: Any) -> None:
    _, release, path = priced
    row = release.sql(f"SELECT count(*) AS n FROM data WHERE price >= {least}").rows()[0]
    cells = f"'{path}/data/data.parquet'"
    plain = (
        f"SELECT count(*) FILTER (coalesce(price__lo >= {least}, false)), "
        f"count(*) FILTER (coalesce(price__hi >= {least}, true)) FROM {cells}"
    )
    low, high = duckdb.sql(plain).fetchall()[0]
    assert low <= row.get("n__lo", row["n"]) <= row.get("n__hi", row["n"]) <= high


def test_digits_of_a_grid_are_no_trace_of_a_removed_code(tmp_path: Path) -> None:
    chance = np.random.default_rng(12)
    price = [Decimal(int(cents)) / 100 for cents in chance.integers(-(10**7), 10**8, 300)]
    codes = [f"{50_000 * i - 1:06d}"[:5] for i in range(1, 20)]
    table = pa.table(
        {
            "price": pa.array(price, pa.decimal128(12, 2)),
            "code": [codes[i % len(codes)] for i in range(300)],
            "job": ["a", "b", "c"] * 100,
        }
    )
    people = sf.read(table).roles(quasi=["price"], sensitive=["job"], identifier=["code"])
    release = sf.publish(people, sf.Mondrian(), require=sf.KAnonymity(4))
    release.save(tmp_path / "out")
    listed = "\n".join(map(str, sf.open(tmp_path / "out").release.domains["price"].values.to_pylist()))
    assert any(code in listed for code in codes)
    assert sf.verify(tmp_path / "out", raw=table).holds
