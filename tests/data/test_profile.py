"""What a profile counts, against plain Python; what it proposes, with reasons; and that it shows no cell."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.combinations import Keys
from sfumato.data.dataset import Dataset
from sfumato.data.dependencies import LEAST_GAIN, LEAST_SHARE, dependencies
from sfumato.data.files import read

Row = tuple[Any, ...]
NAMES = ("a", "b", "c", "d", "e")


@st.composite
def tables(draw: st.DrawFn, most_columns: int = 5, most_rows: int = 12) -> list[Row]:
    """Rows of few values each, some missing."""
    width = draw(st.integers(1, most_columns))
    cell = st.one_of(st.none(), st.integers(0, 3))
    return draw(st.lists(st.tuples(*[cell] * width), min_size=1, max_size=most_rows))


def dataset(rows: list[Row], units: list[Any] | None = None) -> Dataset:
    names = NAMES[: len(rows[0])]
    columns = {name: pa.array([row[i] for row in rows], pa.int64()) for i, name in enumerate(names)}
    if units is not None:
        columns["who"] = pa.array(units, pa.int64())
    return read(pa.table(columns)).roles(quasi=names, unit=None if units is None else "who")


def lone_rows(rows: list[Row], chosen: tuple[int, ...], people: list[Any]) -> int:
    """Rows whose combination belongs to one person."""
    owners: dict[Row, set[Any]] = {}
    for row, person in zip(rows, people, strict=True):
        owners.setdefault(tuple(row[i] for i in chosen), set()).add(person)
    return sum(len(owners[tuple(row[i] for i in chosen)]) == 1 for row in rows)


@settings(max_examples=60, deadline=None)
@given(rows=tables())
def test_columns_are_counted_as_by_hand(rows: list[Row]) -> None:
    found = dataset(rows).profile().columns.rows()
    assert [row["name"] for row in found] == list(NAMES[: len(rows[0])])
    for i, row in enumerate(found):
        cells = [one[i] for one in rows]
        counts = Counter(cells)
        pairs = list(combinations(cells, 2))
        assert row["distinct"] == len(set(cells) - {None})
        assert row["missing"] == cells.count(None)
        assert row["unique_rows"] == sum(n == 1 for n in counts.values())
        assert row["distinctness"] == pytest.approx(len(counts) / len(cells))
        apart = sum(x != y for x, y in pairs) / len(pairs) if pairs else 1.0
        assert row["separation"] == pytest.approx(apart)


@settings(max_examples=60, deadline=None)
@given(rows=tables(), data=st.data(), most=st.integers(1, 4))
def test_combinations_are_counted_as_by_hand(rows: list[Row], data: st.DataObject, most: int) -> None:
    """One person may have many rows; a row whose person is missing is a person of its own."""
    person = st.one_of(st.none(), st.integers(0, 4))
    units = data.draw(st.one_of(st.none(), st.lists(person, min_size=len(rows), max_size=len(rows))))
    people = [(i,) if units is None or units[i] is None else units[i] for i in range(len(rows))]
    found = dataset(rows, units).profile(most_combined=most).uniques.rows()
    width = len(rows[0])
    sizes = sorted({*range(1, min(most, width) + 1), width})
    wanted = [chosen for size in sizes for chosen in combinations(range(width), size)]
    by_columns = {frozenset(row["columns"].split(", ")): row for row in found}
    assert by_columns.keys() == {frozenset(NAMES[i] for i in chosen) for chosen in wanted}
    assert len(found) == len(wanted)
    for chosen in wanted:
        row = by_columns[frozenset(NAMES[i] for i in chosen)]
        assert row["size"] == len(chosen)
        assert row["distinct"] == len({tuple(one[i] for i in chosen) for one in rows})
        assert row["unique_rows"] == lone_rows(rows, chosen, people)
        assert row["unique_share"] == pytest.approx(row["unique_rows"] / len(rows))
    order = [(row["size"], -row["unique_share"], -row["distinct"]) for row in found]
    assert order == sorted(order)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), n_rows=st.integers(2, 40))
def test_dependencies_are_found_as_by_hand(data: st.DataObject, n_rows: int) -> None:
    """b is a function of a but for some rows, c of both, d free, e constant."""
    number = st.integers(0, 6)
    a = data.draw(st.lists(number, min_size=n_rows, max_size=n_rows))
    noise = data.draw(st.sets(st.integers(0, n_rows - 1), max_size=3))
    b = [7 if i in noise else cell // 2 for i, cell in enumerate(a)]
    c = [None if x == 3 else x * 10 + y for x, y in zip(a, b, strict=True)]
    d = data.draw(st.lists(number, min_size=n_rows, max_size=n_rows))
    rows = list(zip(a, b, c, d, [1] * n_rows, strict=True))
    expected = {}
    for x in range(5):
        for y in range(5):
            base = max(Counter(row[y] for row in rows).values()) / n_rows
            constant = len({row[x] for row in rows}) == 1 or base == 1
            if x == y or constant or 2 * len({row[x] for row in rows}) > n_rows:
                continue
            pairs: dict[Any, Counter[Any]] = {}
            for row in rows:
                pairs.setdefault(row[x], Counter())[row[y]] += 1
            kept = sum(max(counts.values()) for counts in pairs.values())
            if kept / n_rows >= LEAST_SHARE and kept / n_rows - base >= LEAST_GAIN * (1 - base):
                expected[NAMES[x], NAMES[y]] = (kept / n_rows, kept == n_rows)
    found = dependencies(dataset(rows), NAMES)
    assert {(one.determinant, one.dependent): (one.share, one.exact) for one in found} == expected
    assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)


@settings(max_examples=60, deadline=None)
@given(
    columns=st.lists(st.lists(st.integers(0, 2), min_size=9, max_size=9), min_size=1, max_size=5),
    sizes=st.lists(st.sampled_from([3, 1 << 13, 1 << 25, 1 << 31]), min_size=5, max_size=5),
)
def test_keys_of_huge_domains_tell_the_same_rows_apart(columns: list[list[int]], sizes: list[int]) -> None:
    """Products of sizes far beyond 64 bits neither overflow nor mix rows."""
    key = Keys(np.zeros(9, np.int64), 1)
    for cells, size in zip(columns, sizes, strict=False):
        key = key.with_column(Keys(np.array(cells, np.int64) * ((size - 1) // 2), size))
    rows = list(zip(*columns, strict=True))
    assert key.codes.min() >= 0
    assert key.codes.max() < key.size
    assert sorted(key.counts().tolist()) == sorted(Counter(rows).values())
    assert key.dense().size == len(set(rows))
    assert [[a == b for a in key.codes] for b in key.codes] == [[a == b for a in rows] for b in rows]


def patients(n: int = 300) -> pa.Table:
    dice = random.Random(7)
    zips = [f"{53700 + dice.randrange(12)}" for _ in range(n)]
    return pa.table(
        {
            "name": [f"canary-person-{i}" for i in range(n)],
            "social_security_number": [f"{(i * 7919 + 13) % 10**9:09d}" for i in range(n)],
            "age": [dice.randrange(18, 90) for _ in range(n)],
            "zip": zips,
            "city": [f"canary-city-{int(code) % 4}" for code in zips],
            "sex": [dice.choice(["canary-f", "canary-m"]) for _ in range(n)],
            "diagnosis": [dice.choice(["canary-flu", "canary-hiv", "canary-cold"]) for _ in range(n)],
            "salary": [7_000_003 + 1009 * dice.randrange(4000) for _ in range(n)],
            "remarks": [f"canary {dice.random()} text" for _ in range(n)],
            "country": ["canary-land"] * n,
            "visits": [dice.randrange(5) for _ in range(n)],
            "lab_value": [dice.random() for _ in range(n)],
            "nothing": pa.nulls(n, pa.string()),
        }
    )


def test_roles_are_proposed_with_reasons() -> None:
    rows = {row["name"]: row for row in read(patients()).profile().columns.rows()}
    expected = {
        "name": ("identifier", "points at one person (100% distinct)"),
        "social_security_number": ("identifier", "points at one person (100% distinct)"),
        "age": ("quasi", "others may know"),
        "zip": ("quasi", "others may know"),
        "city": ("quasi", "others may know"),
        "sex": ("quasi", "others may know"),
        "diagnosis": ("sensitive", "keep private"),
        "salary": ("sensitive", "keep private"),
        "remarks": ("identifier", "nearly every row has its own value"),
        "country": ("plain", "one value in all rows"),
        "visits": ("quasi", "5 values shared by many rows"),
        "lab_value": (None, "300 rows have a value of their own; decide"),
        "nothing": (None, "no value in any row"),
    }
    assert rows.keys() == expected.keys()
    for name, (role, reason) in expected.items():
        assert rows[name]["role"] == role, name
        assert reason in rows[name]["reason"], name


def test_a_city_decided_by_its_zip_is_reported_and_nothing_else() -> None:
    found = read(patients()).profile().dependencies.rows()
    assert found == [{"determinant": "zip", "dependent": "city", "share": 1.0, "exact": True}]


def test_the_roles_given_decide_which_columns_are_combined() -> None:
    data = read(patients())
    proposed = data.profile().uniques.rows()
    assert {row["columns"] for row in proposed if row["size"] == 1} == {"age", "zip", "city", "sex", "visits"}
    given_roles = data.roles(quasi=["age", "sex"]).profile().uniques.rows()
    assert {row["columns"] for row in given_roles} == {"age", "sex", "age, sex"}
    assert [row["size"] for row in given_roles] == [1, 1, 2]


def test_no_cell_is_in_any_text_form() -> None:
    data = read(patients()).roles(quasi=["age", "zip", "city", "sex"], sensitive=["diagnosis"])
    found = data.profile()
    texts = [repr(found), json.dumps(found.json()), found._repr_html_(), str(found.df()), str(found.pl()), repr(data)]
    texts += [repr(data.domains[name]) for name in data.schema.names()]
    cells = {
        str(cell) for name in ("social_security_number", "zip", "salary") for cell in data.arrow()[name].to_pylist()
    }
    for text in texts:
        assert "canary" not in text
        assert not [cell for cell in cells if cell in text]


@pytest.mark.parametrize("name", ["patient_id", "PatientId", "customer", "pid"])
def test_an_id_that_repeats_is_proposed_as_unit(name: str) -> None:
    repeated = pa.table({name: [i // 3 for i in range(300)], "age": [i % 50 for i in range(300)]})
    row = read(repeated).profile().columns.rows()[0]
    assert (row["role"], "one person, many rows" in row["reason"]) == ("unit", True)
    single = pa.table({name: list(range(300)), "age": [i % 50 for i in range(300)]})
    row = read(single).profile().columns.rows()[0]
    assert (row["role"], "every row has its own value" in row["reason"]) == ("identifier", True)
    halves = pa.table({name: [i // 150 for i in range(300)], "age": [i % 50 for i in range(300)]})
    assert read(halves).profile().columns.rows()[0]["role"] != "unit"


def test_rows_of_one_person_do_not_hide_them() -> None:
    """Ten rows of one person with a zip of their own are ten rows that give this person away."""
    table = pa.table({"who": [0] * 10 + list(range(1, 11)), "zip": ["x"] * 10 + ["y", "z"] * 5})
    people = read(table).roles(quasi=["zip"], unit="who")
    (row,) = people.profile().uniques.rows()
    assert (row["distinct"], row["unique_rows"], row["unique_share"]) == (3, 10, 0.5)
    assert people.profile().columns.rows()[1]["unique_rows"] == 10
    (row,) = read(table).roles(quasi=["zip"]).profile().uniques.rows()
    assert row["unique_rows"] == 0


def test_many_columns_are_combined_in_part_and_the_profile_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """With time for 12 combinations only, pairs and triples are made of the four most distinct columns."""
    monkeypatch.setattr("sfumato.data.combinations.CELLS", 0)
    names = [f"c{i}" for i in (3, 0, 7, 5, 1, 2, 6, 4)]
    table = pa.table({name: [row % (2 + int(name[1])) for row in range(60)] for name in names})
    found = read(table).roles(quasi=names).profile()
    assert found.notes == ("Combinations of 2 and more leave out the 4 least distinct columns to save time.",)
    rows = found.uniques.rows()
    assert Counter(row["size"] for row in rows) == {1: 8, 2: 6, 3: 4, 8: 1}
    assert {name for row in rows if row["size"] in (2, 3) for name in row["columns"].split(", ")} == {
        "c4",
        "c5",
        "c6",
        "c7",
    }


def test_one_row_has_a_profile() -> None:
    found = read({"age": [5], "job": ["x"]}).profile()
    assert [(row["unique_rows"], row["separation"]) for row in found.columns.rows()] == [(1, 1.0), (1, 1.0)]
    assert len(found.dependencies) == 0
