"""What must never happen between an original and its package, end to end through the public verbs."""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.contracts import Recipe
from sfumato.data.codec import Domain
from sfumato.data.schema import Column, Schema
from sfumato.releases.generalized import Generalized

METHODS = [sf.Mondrian(), sf.Mondrian(recoding="relaxed"), sf.Anatomy()]
N_RUNS = 200


def ordered(n: int = 60) -> pa.Table:
    """Rows in the order of age and pay; pay tells which row of the original a published row is."""
    return pa.table(
        {
            "age": [20 + i // 2 for i in range(n)],
            "pay": list(range(1000, 1000 + n)),
            "job": [f"job{i % 5}" for i in range(n)],
        }
    )


def publish(table: pa.Table, method: Any, need: Any = None, **roles: Any) -> sf.PublishedRelease:
    data = sf.read(table, name="people").roles(quasi=["age"], sensitive=["pay", "job"], **roles)
    return sf.publish(data, method, require=need or [sf.KAnonymity(3), sf.LDiversity(3, on="job")])


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.corrcoef(np.argsort(np.argsort(one)), np.argsort(np.argsort(other)))[0, 1])


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_neither_rows_nor_group_ids_carry_the_order(method: Any) -> None:
    table = ordered()
    by_row, by_group = [], []
    for _ in range(N_RUNS):
        release = publish(table, method).release
        parts = release.tables()
        rows = parts["data"] if "data" in parts else parts["sensitive"]
        original = np.array(rows["pay"].to_pylist())
        by_row.append(rank_correlation(np.arange(len(original)), original))
        by_group.append(rank_correlation(np.array(rows["group_id"].to_pylist()), original))
    limit = 4 / math.sqrt(N_RUNS * table.num_rows)
    n_groups_limit = 4 / math.sqrt(N_RUNS * 5)
    assert abs(np.mean(by_row)) < limit
    assert abs(np.mean(by_group)) < n_groups_limit


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("times", [1, 2, 10, 100])
def test_one_person_in_many_rows_changes_no_claim(method: Any, times: int) -> None:
    table = ordered(30).append_column("person", pa.array([f"p{i}" for i in range(30)]))
    doubled = pa.concat_tables([table, *[table.slice(0, 1)] * (times - 1)])
    release = publish(doubled, method, unit="person")
    assert release.release.n_rows == 29 + times
    assert claims(release) == counted_again(release)
    size, diversity = claims(release)
    assert size >= 3 and diversity >= 3
    # All persons in one group: whatever the rows, the claims of the table with one row a person.
    everybody = [sf.KAnonymity(30), sf.LDiversity(5, on="job")]
    assert claims(publish(doubled, method, everybody, unit="person")) == (30, 5)
    data = sf.read(table.slice(0, 1).take([0] * times), name="people").roles(
        quasi=["age"], sensitive=["pay", "job"], unit="person"
    )
    with pytest.raises(sf.Infeasible):
        sf.publish(data, method, require=sf.KAnonymity(2))


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_missing_is_a_value_of_its_own(method: Any) -> None:
    table = pa.table(
        {
            "age": pa.array([None] * 6 + [30] * 6, pa.int64()),
            "pay": pa.array([None, 1, 2] * 4, pa.int64()),
            "job": pa.array(["a", None, "b"] * 4, pa.string()),
        }
    )
    release = publish(table, method, [sf.KAnonymity(3), sf.LDiversity(3, on="job")])
    assert claims(release) == counted_again(release, True)
    assert claims(release)[0] >= 3 and claims(release)[1] == 3
    assert release.sql("SELECT count(*) AS n FROM data WHERE job IS NULL").rows()[0]["n"] == 4
    all_missing = pa.table(
        {"age": pa.nulls(6, pa.int64()), "pay": pa.nulls(6, pa.int64()), "job": pa.array(["a", "b", None] * 2)}
    )
    alone = publish(all_missing, method, [sf.KAnonymity(6), sf.LDiversity(3, on="job")])
    assert claims(alone) == counted_again(alone, True) == (6, 3)
    with pytest.raises(sf.Infeasible) as refused:
        publish(all_missing, method, [sf.KAnonymity(3), sf.LDiversity(4, on="job")])
    assert refused.value.nearest == {"l": 3}


@pytest.mark.parametrize("n_missing", [1, 2, 3, 4])
def test_a_group_of_missing_cells_is_as_small_as_it_is(n_missing: int) -> None:
    """Two ages of three rows beside rows without one: as a wildcard, missing would join every group."""
    ages = [None] * n_missing + [30] * 3 + [50] * 3
    n = len(ages)
    table = pa.table(
        {"age": pa.array(ages, pa.int64()), "pay": list(range(n)), "job": [f"job{i % 4}" for i in range(n)]}
    )
    release = publish(table, sf.Mondrian(), [sf.KAnonymity(3), sf.LDiversity(1, on="job")])
    alike = written_alike(release)
    assert claims(release)[0] == min(map(len, alike.values()))
    as_wildcard = [
        sum(len(other) for seen, other in alike.items() if seen == cells or "always" in (*seen, *cells))
        for cells in alike
    ]
    assert claims(release)[0] <= min(as_wildcard)
    assert any("always" in cells for cells in alike) is (n_missing >= 3)


def test_groups_that_only_a_wildcard_would_pass_or_fail() -> None:
    """Published by hand: the missing cells stand alone in a group of two, with a missing job as one of two jobs."""
    domains = {
        "age": Domain("integer", pa.array([30, 31, 32]), missing=True),
        "job": Domain("text", pa.array(["a", "b"]), missing=True, region="set"),
    }
    codes = {name: np.array(found, dtype=np.int32) for name, found in [("low", [0, 3]), ("high", [2, 3])]}
    release = Generalized(
        "people",
        Schema((Column("age", "integer", "quasi"), Column("job", "text", "sensitive"))),
        domains,
        {"age": codes["low"]},
        {"age": codes["high"]},
        np.array([0, 0, 0, 1, 1]),
        {"job": np.array([0, 1, 1, 2, 0], dtype=np.int32)},
        Recipe("by hand", {}),
    )
    evidence = release.evidence()
    assert evidence is not None
    # As a wildcard the two missing ages would have three more that fit: k = 5.
    assert (sf.KAnonymity(2).holds(evidence).holds, sf.KAnonymity(3).holds(evidence).holds) == (True, False)
    assert sf.KAnonymity(3).holds(evidence).achieved == {"k": 2}
    # As a wildcard the missing job could be an "a" like the other: l = 1.
    assert sf.LDiversity(2, on="job").holds(evidence).holds
    assert sf.LDiversity(2, on="job").holds(evidence).achieved == {"l": 2}


def claims(release: sf.PublishedRelease) -> tuple[Any, Any]:
    """What is promised of sizes and of diversity."""
    size, diversity = release.recipe.promises
    assert size.model == ("group-size" if release.release.form == "anatomized" else "k-anonymity")
    return size.achieved["k"], diversity.achieved["l"]


def written_alike(release: sf.PublishedRelease) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Written rows by their published age, or in anatomy by their group."""
    tables = release.release.tables()
    rows = tables["data"].to_pylist() if "data" in tables else tables["sensitive"].to_pylist()
    seen = ("age", "age__lo", "age__hi", "age__null") if "data" in tables else ("group_id",)
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(tuple(row.get(name) for name in seen), []).append(row)
    return found


def counted_again(release: sf.PublishedRelease, rows_are_persons: bool = False) -> tuple[int, int]:
    """Fewest persons (by their pay, or rows) and fewest jobs of a group, from the written cells."""
    groups = written_alike(release).values()
    persons = [len(rows) if rows_are_persons else len({row["pay"] for row in rows}) for rows in groups]
    return min(persons), min(len({row["job"] for row in rows}) for rows in groups)


def test_moving_the_largest_value_changes_no_byte(tmp_path: Path) -> None:
    contents = []
    for top in (90, 900):
        table = pa.table(
            {"age": [*range(20, 60), top], "pay": [1, 2, 3] * 13 + [1, 2], "job": ["a", "b", "c"] * 13 + ["a", "b"]}
        )
        data = sf.read(table, name="people").roles(quasi=["age"], sensitive=["pay", "job"])
        release = sf.publish(data, sf.Mondrian(), require=sf.KAnonymity(4), seed=7)
        target = tmp_path / f"{top}.zip"
        release.save(target, allow_seeded=True)
        contents.append(target.read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_no_byte_of_what_was_removed_is_in_the_package(method: Any, tmp_path: Path) -> None:
    n = 40
    table = pa.table(
        {
            "name": [f"CANARY-NAME-{i:04d}" for i in range(n)],
            "note": [f"CANARY-NOTE-{i:04d}" for i in range(n)],
            "town": [f"CANARY-TOWN-{i:04d}" for i in range(n)],
            "age": [31_000_017 + 1009 * i for i in range(n)],
            "job": [f"job{i % 4}" for i in range(n)],
        }
    )
    data = sf.read(table, name="people").roles(identifier=["name"], quasi=["age", "town"], sensitive=["job"])
    rules = {"town": sf.suppression(), "age": sf.intervals(1_000_000)}
    release = sf.publish(data, method, require=[sf.KAnonymity(4), sf.LDiversity(2, on="job")], hierarchies=rules)
    release.save(tmp_path / "package.zip")
    removed = ["CANARY-NAME", "CANARY-NOTE"] + (["31000017", "CANARY-TOWN"] if method.name == "mondrian" else [])
    with zipfile.ZipFile(tmp_path / "package.zip") as package:
        for entry in package.namelist():
            content = package.read(entry)
            text = content.decode("latin-1")
            if entry.endswith(".parquet"):
                read = pq.read_table(io.BytesIO(content))
                text += str(read.to_pydict()) + str(read.schema) + str(pq.ParquetFile(io.BytesIO(content)).metadata)
            for canary in removed:
                assert canary not in text, f"{canary} survives in {entry}"


def test_no_value_is_in_errors_or_texts(tmp_path: Path) -> None:
    secret = "SECRETVALUE"
    table = pa.table({"age": [1, 2, 3], "zip": [f"{secret}{i}" for i in range(3)], "job": [f"{secret}x"] * 3})
    data = sf.read(table, name="people").roles(quasi=["age", "zip"], sensitive=["job"])
    texts = [repr(data), repr(data.schema), repr(data.profile())]
    bad: list[Any] = [
        lambda: sf.publish(data, sf.Mondrian(), require=sf.KAnonymity(9)),
        lambda: sf.publish(data, sf.Mondrian(), require=sf.LDiversity(2, on="job")),
        lambda: sf.publish(data, sf.Anatomy(), require=sf.LDiversity(2, on="job")),
        lambda: sf.publish(data, sf.Mondrian(), require=sf.KAnonymity(1), hierarchies={"zip": sf.groups({"a": ["b"]})}),
        lambda: sf.publish(data, sf.Mondrian(), require=sf.KAnonymity(1), hierarchies={"zip": sf.ordered(["x", "y"])}),
        lambda: sf.publish(data, sf.Mondrian(), require=sf.KAnonymity(1), hierarchies={"zip": sf.intervals(5)}),
        lambda: sf.read(table, kinds={"zip": "integer"}),
        lambda: sf.read(table, kinds={"job": "date"}),
    ]
    for attempt in bad:
        with pytest.raises(sf.SfumatoError) as refusal:
            attempt()
        texts.append(str(refusal.value))
    path = tmp_path / "ragged.csv"
    path.write_text(f"a,b\n1,{secret}\n2,{secret},{secret}\n")
    with pytest.raises(sf.SchemaError) as ragged:
        sf.read(path)
    texts.append(str(ragged.value))
    assert not [text for text in texts if secret in text]
