"""Suggested hierarchies: they place their column, say why, count what is below every node, and name no value."""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.hierarchy import from_spec, prefixes
from sfumato.data.suggest import levels_under, suggest_one
from tests.data.samples import KINDS, columns, people

CANARY = "Zanzibar"
ICD = ["250.13", "250.1", "250", "401.9", "401.1", "V45.8", "V45.81"]


@pytest.mark.parametrize(
    ("values", "keyword"),
    [
        ([*range(20, 60)], "intervals"),
        ([datetime.date(1950 + i, 1 + i % 12, 3) for i in range(40)], "dates"),
        (["53715", "53703", "53706", "53799"], "masking"),
        (ICD, "prefixes"),
        (["A10BA02", "A10BA03", "C09AA01", "C09AA02"], "masking"),
        (["Married-civ-spouse", "Married-AF-spouse", "Divorced", "Widowed", "Never-married"], "suppression"),
        (["north", "south", "east"], "suppression"),
        ([True, False], "boolean"),
        ([None, None], "suppression"),
    ],
)
def test_each_kind_of_column_gets_what_fits_it(values: list[Any], keyword: str) -> None:
    found = sf.suggest_hierarchies(pa.table({"x": values}))
    assert next(iter(found["x"].spec())) == ("suppression" if keyword == "boolean" else keyword)
    (row,) = found.rows()
    assert row["column"] == "x" and row["reason"].endswith(".")


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_suggestions_place_their_column_and_count_by_hand(kind: str, data: st.DataObject) -> None:
    column = data.draw(columns(kind))
    persons = pa.array(data.draw(st.lists(st.integers(0, 4), min_size=len(column), max_size=len(column))))
    dataset = sf.read(pa.table({"x": column, "who": persons})).roles(quasi=["x"], unit="who")
    found = suggest_one(dataset, "x", 2)
    assert found.hierarchy is not None and from_spec(found.hierarchy.spec()) == found.hierarchy
    prepared = sf.data.hierarchy.prepare(dataset, {"x": found.hierarchy}, 2)
    domain, codes = prepared.domains["x"], prepared.codes["x"].tolist()
    cells = column.to_pylist()
    for level in found.levels:
        nodes = range(domain.size) if level.level == 0 else domain.levels[level.level - 1].node.tolist()
        values, rows, units = defaultdict(set), Counter(), defaultdict(set)
        for cell, code, person in zip(cells, codes, persons.to_pylist(), strict=True):
            values[nodes[code]].add(cell)
            rows[nodes[code]] += 1
            units[nodes[code]].add(person)
        for counted, by_hand in (
            (level.values, [len(values[node]) for node in sorted(rows)]),
            (level.rows, [rows[node] for node in sorted(rows)]),
            (level.units, [len(units[node]) for node in sorted(rows)]),
        ):
            assert counted.tolist() == by_hand
        few = [node for node in rows if len(units[node]) < 3]
        assert level.below(3) == (len(few), sum(rows[node] for node in few))
        assert level.smallest == min(len(one) for one in units.values())


def test_quasi_identifiers_are_served_and_the_result_publishes() -> None:
    frame = pd.DataFrame(
        {"age": [20 + i % 40 for i in range(200)], "icd": [ICD[i % 7] for i in range(200)], "ill": ["a", "b"] * 100}
    )
    dataset = sf.read(frame).roles(quasi=["age", "icd"], sensitive=["ill"])
    found = sf.suggest_hierarchies(dataset)
    assert set(found) == {"age", "icd"} and len(found) == 2
    assert found.df().shape[0] == 2 and found.pl().height == 2
    release = sf.publish(dataset, sf.Mondrian(), require=sf.KAnonymity(5), hierarchies=found)
    assert release.recipe.promises[0].achieved["k"] >= 5
    own = sf.publish(dataset, sf.Mondrian(), require=sf.KAnonymity(5), hierarchies={**found, "age": sf.intervals(10)})
    assert own.release.n_rows == 200
    assert set(sf.suggest_hierarchies(frame)) == {"age", "icd", "ill"}


def test_what_no_grid_fits_is_said_and_left_out() -> None:
    found = sf.suggest_hierarchies(pa.table({"x": [0.1234567891234, 2.5], "y": [1, 2]}))
    assert set(found) == {"y"} and found.details["x"].hierarchy is None
    assert "decimals" in found.details["x"].reason


def test_reasons_show_no_value() -> None:
    table = pa.table({"a": [CANARY, f"{CANARY}-1", f"{CANARY}-2"], "b": [f"{CANARY}{i}" for i in range(3)]})
    found = sf.suggest_hierarchies(table)
    assert CANARY not in repr(found) + str(found.rows())
    with pytest.raises(sf.ParameterError) as refused:
        levels_under(sf.read(table), "a", sf.intervals(5), 2)
    assert CANARY not in str(refused.value)
    with pytest.raises(sf.ParameterError):
        sf.suggest_hierarchies(table, k=0)


def test_codes_meet_under_what_they_begin_with() -> None:
    domain = sf.data.hierarchy.prepare(people(pa.array(ICD)), {"x": prefixes(".")}, 2).domains["x"]
    assert domain.values.to_pylist() == ["250", "250.1", "250.13", "401.1", "401.9", "V45.8", "V45.81"]
    assert [level.labels for level in domain.levels] == [("250.*", "401.*", "V45.*")]
    assert not domain.complete and domain.taken == "values"
    deep = sf.data.hierarchy.prepare(people(pa.array(["a", "a.b", "a.b-c", "a.b-d"])), {"x": prefixes(".-")}, 2)
    assert [level.labels for level in deep.domains["x"].levels] == [("a.*", "a.b.*")]


@pytest.mark.parametrize("wrong", ["", "..", "a", "5", "*"])
def test_separators_are_checked(wrong: str) -> None:
    with pytest.raises(sf.ParameterError):
        sf.prefixes(wrong)
    with pytest.raises(sf.ParameterError, match="kind integer"):
        sf.data.hierarchy.prepare(people(pa.array([1, 2])), {"x": prefixes(".")}, 2)
