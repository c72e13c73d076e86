"""Lists of values taken from the data: what no published cell names is in no byte, and every answer allows for it."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.codec import Domain, Level
from sfumato.data.dataset import codes_on
from sfumato.releases.package import read, write
from sfumato.releases.package_write import files_of
from sfumato.releases.used import used_by_regions
from sfumato.verify import verify
from tests.oracles.tampering import edited, put

TOWNS = [f"CANARY-{chr(65 + i % 5)}{i:03d}" for i in range(40)]
RULES: dict[str, Any] = {
    "suppressed": sf.suppression(),
    "masked": sf.masking(),
    "left": sf.masking("left"),
    "flat": None,
}


def release_of(towns: list[Any], rule: Any, k: int = 4, **more: Any) -> tuple[pa.Table, sf.PublishedRelease]:
    table = pa.table(
        {
            "town": pa.array(towns, pa.string()),
            "job": [f"job{i % 4}" for i in range(len(towns))],
            **{name: pa.array(column) for name, column in more.items()},
        }
    )
    data = sf.read(table, name="people").roles(quasi=["town", *more], sensitive=["job"])
    rules = {} if rule is None else {"town": rule}
    return table, sf.publish(data, sf.Mondrian(), require=sf.KAnonymity(k), hierarchies=rules)


def texts(path: Path) -> str:
    """All bytes of a package, Parquet pages read."""
    found = ""
    with zipfile.ZipFile(path) as package:
        for entry in package.namelist():
            content = package.read(entry)
            found += content.decode("latin-1")
            if entry.endswith(".parquet"):
                found += str(pq.read_table(io.BytesIO(content)).to_pydict())
    return found


@pytest.mark.parametrize("rule", ["suppressed", "masked", "left"])
def test_values_under_a_label_are_nowhere(rule: str, tmp_path: Path) -> None:
    table, release = release_of(TOWNS, RULES[rule], k=40)
    release.save(tmp_path / "package.zip")
    found = texts(tmp_path / "package.zip")
    assert not [town for town in TOWNS if town in found]
    assert release.release.groups()["town"].to_pylist() == ["*"]
    assert verify(tmp_path / "package.zip", raw=table).holds


def test_codes_of_several_lengths_are_not_listed(tmp_path: Path) -> None:
    codes = [str(7**i + 1000 * i) for i in range(12)]
    table, release = release_of(codes, sf.masking(), k=12)
    release.save(tmp_path / "package.zip")
    with zipfile.ZipFile(tmp_path / "package.zip") as package:
        rows = pq.read_table(io.BytesIO(package.read("model/domains.parquet"))).to_pylist()
    assert [row["value"] for row in rows] == ["*"]
    assert verify(tmp_path / "package.zip", raw=table).holds


def test_what_a_cell_names_stays() -> None:
    names = ["a"] * 4 + ["b"] * 4 + ["c", "d", "e", "f"]
    _, release = release_of(names, None)
    domain = release.release.published().domains["town"]
    assert domain.values.to_pylist() == list("abcdef") and not domain.withheld
    _, whole = release_of(["a", "b", "c"] * 2, None, k=6)
    assert whole.release.groups()["town"].to_pylist() == ["{a, b, c}"]
    assert whole.release.published().domains["town"].values.to_pylist() == ["a", "b", "c"]


def test_an_outlying_prefix_is_not_listed() -> None:
    zips = [str(53700 + i) for i in range(20)]
    for outlier in ("91234", "88111"):
        _, release = release_of([*zips, outlier], sf.masking(), k=21)
        assert release.release.published().domains["town"].values.to_pylist() == ["*"]
    _, both = release_of([*zips, "91234", "91235", "91236", "91237"], sf.masking(), k=4)
    assert not both.release.published().domains["town"].withheld


def test_a_declared_list_stays_whole() -> None:
    tree = sf.groups({"north": ["a", "b", "never"], "south": ["c", "d"]})
    _, release = release_of(["a", "b", "c", "d"] * 2, tree, k=8)
    assert release.release.published().domains["town"].values.to_pylist() == ["a", "b", "never", "c", "d"]


def sets(n: int = 30) -> Domain:
    return Domain("text", pa.array([f"v{i:02d}" for i in range(n)]), region="set", taken="values")


def test_a_long_set_names_its_ends_only() -> None:
    low, high = np.array([2, 10, 25], np.int32), np.array([20, 24, 26], np.int32)
    cut, a, b = used_by_regions(sets(), low, high)
    assert cut.values.to_pylist() == ["v02", "…", "v10", "… 2", "v20", "… 3", "v24", "v25", "v26"]
    assert [cut.range_label(*one) for one in zip(a.tolist(), b.tolist(), strict=True)] == [
        "{v02, …, v20}", "{v10, …, v24}", "{v25, v26}",
    ]  # fmt: skip
    again = used_by_regions(cut, a, b)
    assert again[0].values.equals(cut.values) and again[1].tolist() == a.tolist() and again[2].tolist() == b.tolist()


def test_neither_number_nor_order_of_what_is_withheld_shows() -> None:
    def cut(names: list[str]) -> tuple[Any, ...]:
        node = np.array([0 if name < "m" else 1 for name in names], np.int32)
        named = names.index("k")
        domain = Domain("text", pa.array(names), levels=(Level(node, ("low", "high")),), region="node", taken="values")
        last = int(node.argmax()) - 1
        low, high = np.array([0, 0, named], np.int32), np.array([len(names) - 1, last, named], np.int32)
        found, a, b = used_by_regions(domain, low, high)
        return (
            found.values.to_pylist(), found.withheld, a.tolist(), b.tolist(),
            [found.range_label(*one) for one in zip(a.tolist(), b.tolist(), strict=True)],
            [level.labels for level in found.levels],
        )  # fmt: skip

    assert cut(["a", "k", "x"]) == cut(["k", "l", "y", "z"]) == cut(["b", "c", "k", "l", "m", "o"])
    assert cut(["a", "k", "x"])[4] == ["*", "low", "k"]


cells = st.lists(
    st.one_of(st.none(), st.text("ab1", min_size=1, max_size=4), st.sampled_from(["aa", "bb"])), min_size=8, max_size=40
)


@pytest.mark.parametrize("rule", sorted(RULES))
@settings(max_examples=25, deadline=None)
@given(towns=cells, ages=st.integers(0, 3))
def test_the_original_is_a_world_before_and_after_reading(
    rule: str, towns: list[Any], ages: int, tmp_path_factory: Any
) -> None:
    table, release = release_of(towns, RULES[rule], k=3, age=[20 + (i * ages) % 9 for i in range(len(towns))])
    path = tmp_path_factory.mktemp("p") / "package"
    write(release.release, path)
    original = sf.read(table)
    for one in (release.release, read(path)):
        worlds = one.worlds()
        codes = codes_on(original, {c: worlds.domains[c] for c in worlds.columns})
        assert worlds.contains(codes)
    judged = verify(path, raw=table)
    assert judged.holds, [finding for finding in judged.findings if not finding.holds]


QUERIES = [
    "SELECT count(*) AS n FROM data WHERE town = 'aa'",
    "SELECT count(*) AS n FROM data WHERE town <> 'aa' AND age > 22",
    "SELECT count(*) AS n FROM data WHERE town IN ('aa', 'bb', 'b') OR job = 'job1'",
    "SELECT count(*) AS n FROM data WHERE town IS NULL",
    "SELECT count(*) AS n FROM data WHERE town LIKE 'a%'",
    "SELECT sum(length(town)) AS n FROM data",
    "SELECT max(length(town)) AS n FROM data WHERE age < 25",
    "SELECT sum(CASE WHEN town = 'aa' THEN 1 ELSE 0 END) AS n FROM data",
    "SELECT avg(age) AS n FROM data WHERE town > 'ab'",
]


@pytest.mark.parametrize("rule", sorted(RULES))
@settings(max_examples=15, deadline=None)
@given(towns=cells, step=st.integers(0, 3))
def test_bounds_hold_the_truth(rule: str, towns: list[Any], step: int) -> None:
    table, release = release_of(towns, RULES[rule], k=3, age=[20 + (i * step) % 9 for i in range(len(towns))])
    with duckdb.connect() as connection:
        connection.register("data", table)
        for query in QUERIES:
            ((truth,),) = connection.sql(query).fetchall()
            row = release.sql(query).rows()[0]
            lo, hi = row.get("n__lo", row["n"]), row.get("n__hi", row["n"])
            if truth is not None:
                assert (lo is None or lo <= truth + 1e-9) and (hi is None or truth <= hi + 1e-9), (query, row, truth)
        grouped = release.sql("SELECT town, count(*) AS n FROM data GROUP BY town").rows()
        truths = dict(connection.sql("SELECT town, count(*) AS n FROM data GROUP BY town").fetchall())
        for row in grouped:
            assert row.get("n__lo", row["n"]) <= max(truths.get(row["town"], 0), 1)
            assert truths.get(row["town"], 0) <= row.get("n__hi", row["n"])


@pytest.mark.parametrize("rule", sorted(RULES))
def test_macros_bound_counts_with_plain_duckdb(rule: str, tmp_path: Path) -> None:
    towns = ["aa"] * 5 + TOWNS + [None] * 3
    table, release = release_of(towns, RULES[rule])
    release.save(tmp_path / "package")
    with duckdb.connect() as connection:
        connection.sql(f"SET file_search_path = '{tmp_path / 'package'}'")
        connection.execute((tmp_path / "package" / "views.sql").read_text())
        for among in (["aa"], TOWNS[:7], [*TOWNS, "aa"], ["*", "…"]):
            row = connection.execute(
                "SELECT count(*) FILTER (certain_in(town__cell, $a)), count(*) FILTER (possible_in(town__cell, $a)) "
                "FROM data",
                {"a": among},
            ).fetchone()
            truth = sum(town in among for town in table["town"].to_pylist())
            assert row is not None and row[0] <= truth <= row[1]


@pytest.mark.parametrize("rule", sorted(RULES))
@pytest.mark.parametrize("k", [2, 4, 40])
def test_losses_are_finite_figures(rule: str, k: int) -> None:
    table, release = release_of(TOWNS, RULES[rule], k=k, age=[20 + i % 9 for i in range(40)])
    figures = sf.measure(release, truth=sf.read(table)).rows()
    assert figures and all(np.isfinite(one["value"]) for one in figures)
    found = {(one["metric"], one["column"]): one["value"] for one in figures}
    assert 0 <= found["ncp", "town"] <= 1 and found["bounds_coverage", None] == 1
    if rule == "suppressed" and k == 40:
        assert found["ncp", "town"] == 1


def test_a_listed_value_that_no_cell_names_is_found(tmp_path: Path) -> None:
    table, release = release_of(TOWNS, sf.suppression(), k=40)
    whole = release.release.domains["town"]
    listed = replace(release.release, domains={**release.release.domains, "town": replace(whole, taken="nothing")})

    def admit(document: Any) -> None:
        document["sfumato"]["columns"][0]["domain"] |= {"taken": "values", "withheld": []}

    files = edited(files_of(listed), "datapackage.json", admit)
    assert files is not None
    judged = verify(put(files, tmp_path / "listed"), raw=table)
    wrong = {finding.check for finding in judged.findings if not finding.holds}
    assert {"domain of town", "removed values are gone"} <= wrong


def test_a_mask_is_no_group_and_the_answer_says_so() -> None:
    towns = [None if i < 12 else f"town{i % 20}" for i in range(240)]
    table = pa.table({"town": towns, "age": [20 + i * 7 % 40 for i in range(240)], "job": ["a", "b", "c"] * 80})
    data = sf.read(table).roles(quasi=["town", "age"], sensitive=["job"])
    rules = {"town": sf.suppression(), "age": sf.intervals(5, 20, low=20, high=59)}
    release = sf.publish(data, sf.Mondrian(), require=sf.KAnonymity(4), hierarchies=rules, seed=1)
    assert "*" in release.groups().arrow()["town"].to_pylist()
    answer = release.sql("SELECT town, count(*) AS n FROM data GROUP BY town")
    shown = [row["town"] for row in answer.rows()]
    assert set(shown) <= set(towns)
    assert len(shown) < 21
    assert "groups that are not shown" in answer.explain() and "not published" in answer.explain()
    assert set(release.sql("SELECT upper(town) AS t, count(*) FROM data GROUP BY 1").arrow()["t"].to_pylist()) <= {
        None if town is None else town.upper() for town in towns
    }
