"""Before publication: ends that show nobody, domains that do not show which values exist."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato.data.dataset import Dataset, from_arrow
from sfumato.data.hierarchy import cuts, dates, groups, intervals, masking, ordered, prepare
from sfumato.errors import ParameterError, SchemaError
from tests.data.samples import people

AUTOMATIC = [None, intervals(5, 10), intervals(7), cuts(0, 20, 50)]
ages = st.lists(st.integers(-30, 130), min_size=4, max_size=40)
units = st.integers(1, 8)


def on(dataset: Dataset, hierarchy: object, least: int) -> Dataset:
    return prepare(dataset, {} if hierarchy is None else {"x": hierarchy}, least)  # type: ignore[dict-item]


def same(one: Dataset, other: Dataset) -> bool:
    """Same domain and same codes of x."""
    a, b = one.domains["x"], other.domains["x"]
    levels = [(level.node.tolist(), level.labels) for level in a.levels]
    return (
        a.values.equals(b.values)
        and levels == [(level.node.tolist(), level.labels) for level in b.levels]
        and (a.open_low, a.open_high, a.missing, a.region) == (b.open_low, b.open_high, b.missing, b.region)
        and (a.cell is None) == (b.cell is None)
        and (a.cell is None or b.cell is None or a.cell.tolist() == b.cell.tolist())
        and one.codes["x"].tolist() == other.codes["x"].tolist()
    )


@pytest.mark.parametrize("hierarchy", AUTOMATIC)
@settings(max_examples=60, deadline=None)
@given(cells=ages, least=units, who=st.integers(1, 12))
def test_open_ends_have_enough_people_at_or_beyond(hierarchy: object, cells: list[int], least: int, who: int) -> None:
    persons = pa.array([i % who for i in range(len(cells))])
    dataset = from_arrow(pa.table({"x": pa.array(cells), "p": persons})).roles(quasi=["x"], unit="p")
    domain = on(dataset, hierarchy, least).domains["x"]
    low, high = domain.values[0].as_py(), domain.values[-1].as_py()
    wanted = min(max(least, 2), len(set(persons.to_pylist())))
    assert domain.open_low and domain.open_high
    if domain.n_values > 1:
        assert len({p for x, p in zip(cells, persons.to_pylist(), strict=True) if x <= low}) >= wanted
        assert len({p for x, p in zip(cells, persons.to_pylist(), strict=True) if x >= high}) >= wanted
    else:
        assert domain.leaf_label(0) == "*"


@pytest.mark.parametrize("hierarchy", AUTOMATIC)
@settings(max_examples=60, deadline=None)
@given(cells=ages, least=units)
def test_moving_the_largest_value_tenfold_changes_nothing(hierarchy: object, cells: list[int], least: int) -> None:
    assume(max(cells) > 0)
    moved = list(cells)
    moved[int(np.argmax(cells))] *= 10
    assert same(on(people(pa.array(cells)), hierarchy, least), on(people(pa.array(moved)), hierarchy, least))


@settings(max_examples=60, deadline=None)
@given(cells=st.lists(st.dates(datetime.date(1950, 1, 1), datetime.date(2020, 1, 1)), min_size=4), least=units)
def test_moving_the_first_date_changes_nothing(cells: list[datetime.date], least: int) -> None:
    moved = list(cells)
    moved[cells.index(min(cells))] = datetime.date(1850, 5, 5)
    for hierarchy in (None, dates("month", "year")):
        assert same(on(people(pa.array(cells)), hierarchy, least), on(people(pa.array(moved)), hierarchy, least))


@settings(max_examples=60, deadline=None)
@given(
    cells=st.lists(st.sampled_from(["a", "b", "c"]), min_size=1),
    numbers=st.lists(st.integers(0, 50), min_size=1),
    absent=st.integers(0, 50),
)
def test_an_absent_value_added_to_a_declared_domain_changes_no_domain(
    cells: list[str], numbers: list[int], absent: int
) -> None:
    tree = groups({"u": ["a", "b"], "v": ["c", "d"]})
    few, more = on(people(pa.array(cells)), tree, 2), on(people(pa.array([*cells, "d"])), tree, 2)
    assert few.domains["x"].values.equals(more.domains["x"].values)
    assert few.codes["x"].tolist() == more.codes["x"].tolist()[:-1]
    bands = intervals(5, 10, low=0, high=50)
    few, more = on(people(pa.array(numbers)), bands, 2), on(people(pa.array([*numbers, absent])), bands, 2)
    assert few.domains["x"].values.equals(more.domains["x"].values)
    assert few.codes["x"].tolist() == more.codes["x"].tolist()[:-1]


@settings(max_examples=60, deadline=None)
@given(cells=ages)
def test_a_declared_end_is_open_exactly_when_something_lies_beyond(cells: list[int]) -> None:
    prepared = on(people(pa.array(cells)), intervals(5, low=0, high=100), 2)
    domain = prepared.domains["x"]
    assert (domain.values[0].as_py(), domain.values[-1].as_py()) == (0, 100)
    assert domain.open_low == (min(cells) < 0) and domain.open_high == (max(cells) > 100)
    assert any("beyond a declared end" in note for note in prepared.notes) == (min(cells) < 0 or max(cells) > 100)
    assert domain.decode(prepared.codes["x"]).to_pylist() == [min(max(cell, 0), 100) for cell in cells]


def test_the_missing_value_is_a_value_of_its_own() -> None:
    prepared = on(people(pa.array([20, None, 30, 40, 50])), intervals(5, 10, low=20, high=50), 2)
    domain = prepared.domains["x"]
    assert domain.missing and prepared.codes["x"].tolist()[1] == domain.size - 1
    assert domain.node_of(0, domain.size - 1) == (0, domain.size - 1, "*")
    assert domain.cell is not None and domain.cell[-1] == domain.cell[-2] + 1


def test_a_column_without_values_is_prepared() -> None:
    for arrow in (pa.int64(), pa.string(), pa.date32(), pa.float64(), pa.bool_()):
        prepared = prepare(people(pa.array([None, None], arrow)), {}, 2)
        assert prepared.domains["x"].decode(prepared.codes["x"]).to_pylist() == [None, None]


def test_only_published_columns_and_units_remain() -> None:
    table = pa.table({name: pa.array(["1", "2"]) for name in "abcdef"})
    dataset = from_arrow(table).roles(identifier="a", quasi="b", sensitive="c", plain="d", unit="e")
    assert prepare(dataset, {}, 2).schema.names() == ("b", "c", "d", "e")
    with pytest.raises(SchemaError, match="no column 'zz'"):
        prepare(dataset, {"zz": masking()}, 2)


def test_a_sensitive_column_gains_order_and_levels_and_keeps_its_values() -> None:
    table = pa.table({"x": pa.array([1, 2, 3, 4]), "ill": pa.array(["flu", "hiv", "flu", None])})
    dataset = from_arrow(table).roles(quasi=["x"], sensitive=["ill"])
    tree = groups({"rare": ["hiv", "tbc"], "common": ["cold", "flu"]})
    prepared = prepare(dataset, {"ill": tree}, 2)
    domain = prepared.domains["ill"]
    assert domain.values.to_pylist() == ["hiv", "flu"] and not domain.complete
    assert domain.levels[0].labels == ("rare", "common", "missing")
    assert domain.decode(prepared.codes["ill"]).to_pylist() == ["flu", "hiv", "flu", None]
    ranked = prepare(dataset, {"ill": ordered(["hiv", "flu", "cold"])}, 2).domains["ill"]
    assert ranked.values.to_pylist() == ["hiv", "flu"]


def test_a_sensitive_number_may_have_bands_but_no_end_that_cuts() -> None:
    table = pa.table({"x": pa.array([1, 2, 3]), "pay": pa.array([10, 25, 99])})
    dataset = from_arrow(table).roles(quasi=["x"], sensitive=["pay"])
    prepared = prepare(dataset, {"pay": intervals(10, 50)}, 5)
    domain = prepared.domains["pay"]
    assert domain.values.to_pylist() == [10, 25, 99] and not (domain.open_low or domain.open_high)
    assert [level.node.tolist() for level in domain.levels] == [[0, 1, 2], [0, 0, 1]]
    with pytest.raises(ParameterError, match="several values into one"):
        prepare(dataset, {"pay": intervals(10, low=0, high=50)}, 5)


def test_ends_count_people_not_rows() -> None:
    """One person in a hundred rows cannot hold an end alone."""
    table = pa.table({"x": pa.array([200] * 100 + [20, 30, 40, 50]), "p": pa.array([0] * 100 + [1, 2, 3, 4])})
    dataset = from_arrow(table).roles(quasi=["x"], unit="p")
    assert prepare(dataset, {"x": intervals(1)}, 2).domains["x"].values[-1].as_py() == 50
