"""Every hierarchy: nodes are runs of leaves, regions are the smallest that may be published, errors name no value."""

from __future__ import annotations

import datetime
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.codec import Domain
from sfumato.data.dataset import codes_on
from sfumato.data.hierarchy import (
    Hierarchy,
    cuts,
    dates,
    from_spec,
    groups,
    hierarchy_file,
    intervals,
    masking,
    ordered,
    prepare,
    propose,
    registered,
    suppression,
)
from sfumato.errors import ParameterError, SchemaError
from tests.data.samples import KINDS, columns, people

CANARY = "Zanzibar-canary"


def rules(kind: str) -> dict[str, Hierarchy]:
    hierarchy = KINDS[kind][2]
    return {} if hierarchy is None else {"x": hierarchy}


def placed(column: pa.Array, hierarchy: Hierarchy, least: int = 2) -> Domain:
    return prepare(people(column), {"x": hierarchy}, least).domains["x"]


def all_nodes(domain: Domain) -> set[tuple[int, int]]:
    """Every node as a set of leaves would be, from the definition: leaves with equal node numbers."""
    nodes = {(code, code) for code in range(domain.size)} | {(0, domain.size - 1)}
    for level in domain.levels:
        ends: dict[int, list[int]] = {}
        for code, node in enumerate(level.node.tolist()):
            ends.setdefault(node, []).append(code)
        nodes |= {(codes[0], codes[-1]) for codes in ends.values()}
    return nodes


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_nodes_are_runs_and_nest(kind: str, data: st.DataObject) -> None:
    prepared = prepare(people(data.draw(columns(kind))), rules(kind), 2)
    domain = prepared.domains["x"]
    assert 0 <= prepared.codes["x"].min() <= prepared.codes["x"].max() < domain.size
    assert prepared.schema["x"].kind == domain.kind
    for level in domain.levels:
        assert len(level.node) == domain.size
        steps = np.diff(level.node)
        assert set(steps.tolist()) <= {0, 1} and level.node[0] == 0
        assert len(level.labels) == level.node[-1] + 1
        assert all(level.labels)
        if domain.missing:
            assert (level.node == level.node[-1]).sum() == 1 and level.labels[-1] == "missing"
    for fine, coarse in pairwise(domain.levels):
        assert all(np.unique(coarse.node[fine.node == node]).size == 1 for node in np.unique(fine.node))
    if domain.kind in ("integer", "decimal", "date", "real"):
        assert (np.diff(domain.numbers[: domain.n_values]) > 0).all()
    if domain.cell is not None:
        assert set(np.diff(domain.cell).tolist()) <= {0, 1}


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_cover_is_the_smallest_publishable_region(kind: str, data: st.DataObject) -> None:
    domain = prepare(people(data.draw(columns(kind, most=12))), rules(kind), 2).domains["x"]
    ends = st.integers(0, domain.size - 1)
    a, b, c, d = sorted(data.draw(st.tuples(ends, ends, ends, ends)))

    def cover(low: int, high: int) -> tuple[int, int]:
        found = domain.cover(np.array([low], np.int32), np.array([high], np.int32))
        return int(found[0][0]), int(found[1][0])

    inner, outer = cover(b, c), cover(a, d)
    assert inner[0] <= b and c <= inner[1]
    assert cover(*inner) == inner
    assert outer[0] <= inner[0] and inner[1] <= outer[1]
    if domain.region == "node":
        holding = [node for node in all_nodes(domain) if node[0] <= b and c <= node[1]]
        assert inner == min(holding, key=lambda node: node[1] - node[0])
    elif domain.region == "set" or domain.cell is None:
        assert inner == (b, c)
    else:
        cells = {int(cell) for cell in domain.cell[b : c + 1]}
        assert list(range(inner[0], inner[1] + 1)) == [i for i in range(domain.size) if int(domain.cell[i]) in cells]


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_what_is_prepared_is_found_again_on_its_domain(kind: str, data: st.DataObject) -> None:
    original = people(data.draw(columns(kind)))
    prepared = prepare(original, rules(kind), 2)
    assert codes_on(original, prepared.domains)["x"].tolist() == prepared.codes["x"].tolist()
    # Inside the ends a cell keeps its value.
    domain = prepared.domains["x"]
    for cell, code in zip(original.arrow()["x"].to_pylist(), prepared.codes["x"].tolist(), strict=True):
        at_end = (domain.open_low and code == 0) or (domain.open_high and code == domain.n_values - 1)
        leaf = domain.with_missing()[code].as_py()
        assert at_end or leaf == cell or (domain.kind == "text" and leaf == str(cell))


@pytest.mark.parametrize(
    "hierarchy", [h for _, _, h in KINDS.values() if h is not None] + [hierarchy_file("folder/city.csv")]
)
def test_specs_are_json_and_read_back(hierarchy: Hierarchy) -> None:
    spec = hierarchy.spec()
    assert from_spec(json.loads(json.dumps(spec))) == hierarchy
    assert hierarchy.keyword in spec and registered()[hierarchy.keyword] is type(hierarchy)


def test_relative_files_count_from_the_project(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("a;x\nb;y\n", encoding="utf8")
    assert placed(pa.array(["a", "b"]), from_spec({"file": "h.csv"}, base=tmp_path)).n_values == 2


# ---- each kind by example -----------------------------------------------------------------------------------------


def test_zip_codes_are_completed_below_their_common_prefix() -> None:
    for column in (pa.array(["53715", "53710", "53706", "53703"]), pa.array([53715, 53710, 53706, 53703])):
        domain = placed(column, masking())
        texts = [str(value) for value in domain.values.to_pylist()]
        assert texts == [str(code) for code in range(53700, 53800)]
        assert [level.labels[:2] for level in domain.levels] == [("5370*", "5371*"), ("537**",)]
        assert domain.range_label(0, 99) == "537**"
        assert domain.complete and domain.region == "node"


def test_masking_from_the_left_groups_by_endings() -> None:
    domain = placed(pa.array(["153", "253", "917"]), masking("left"))
    assert domain.levels[0].labels[:3] == ("*00", "*10", "*20") or "*53" in domain.levels[0].labels
    at = {value: code for code, value in enumerate(domain.values.to_pylist())}
    assert domain.node_of(*sorted((at["153"], at["253"])))[2] == "*53"


def test_adding_a_zip_code_under_the_same_prefix_changes_nothing() -> None:
    some, more = (placed(pa.array(v), masking()) for v in (["53715", "53703"], ["53715", "53703", "53788"]))
    assert some.values.equals(more.values) and len(some.levels) == len(more.levels)


def test_intervals_begin_at_low_and_nest() -> None:
    domain = placed(pa.array([17, 33, 60]), intervals(5, 10, 20, low=17, high=60))
    assert domain.levels[0].labels[0] == "[17, 21]" and domain.levels[1].labels[0] == "[17, 26]"
    assert (domain.open_low, domain.open_high, domain.values[-1].as_py()) == (False, False, 60)


def test_cut_points_top_and_bottom_code() -> None:
    domain = placed(pa.array([3, 5, 18, 30, 65, 90]), cuts(18, 65))
    assert (domain.values[0].as_py(), domain.values[-1].as_py()) == (17, 65)
    assert domain.levels[0].labels == ("(.., 17]", "[18, 64]", "[65, ..)")
    assert domain.open_low and domain.open_high


def test_declared_dates_cover_whole_coarsest_units() -> None:
    born = pa.array([datetime.date(1976, 1, 21), datetime.date(1976, 2, 28), datetime.date(1986, 4, 13)])
    domain = placed(born, dates("month", "quarter", "year", low="1976-01-21", high="1986-04-13"))
    assert (domain.values[0].as_py(), domain.values[-1].as_py()) == (
        datetime.date(1976, 1, 1),
        datetime.date(1986, 12, 31),
    )
    labels = [level.labels[0] for level in domain.levels]
    assert labels == ["1976-01", "1976-Q1", "1976"]
    assert not domain.open_low and not domain.open_high
    decades = placed(born, dates("decade", low="1969-12-31", high="1986-04-13"))
    assert decades.levels[0].labels == ("1960s", "1970s", "1980s")


def test_groups_keep_their_order_and_list_absent_values() -> None:
    domain = placed(pa.array(["b", "x"]), groups({"one": ["x", "y"], "two": ["b", "a"]}))
    assert domain.values.to_pylist() == ["x", "y", "b", "a"]
    assert (
        domain.range_label(0, 1) == "one" and domain.range_label(1, 2) == "{y, b}" and domain.range_label(0, 3) == "*"
    )


def test_numbers_in_an_arx_file_stay_numbers(tmp_path: Path) -> None:
    path = tmp_path / "age.csv"
    path.write_text(
        "\n".join(f"{age};{age // 10 * 10}-{age // 10 * 10 + 9};*" for age in range(20, 50)), encoding="utf8"
    )
    domain = placed(pa.array([20, 31, 49]), hierarchy_file(path))
    assert domain.kind == "integer" and domain.n_values == 30 and domain.levels[0].labels == ("20-29", "30-39", "40-49")
    path.write_text("1;odd\n2;even\n3;odd\n", encoding="utf8")
    prepared = prepare(people(pa.array([1, 2, 3])), {"x": hierarchy_file(path)}, 2)
    assert prepared.schema["x"].kind == "text" and "as text" in prepared.notes[0]
    assert prepared.domains["x"].values.to_pylist() == ["1", "3", "2"]


def test_commas_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    path.write_bytes(b"\xef\xbb\xbf" + b'a,"x, y",*\r\nb,z,*\r\n')
    assert placed(pa.array(["a", "b"]), hierarchy_file(path)).levels[0].labels == ("x, y", "z")


# ---- what breaks, and how it is said ------------------------------------------------------------------------------

BROKEN = {
    "leaf missing": ("a;x\nb;x\n", "1 values of column 'x' are not among its 2 leaves"),
    "two parents": (
        f"a;{CANARY};u\nb;{CANARY};v\n{CANARY}q;y;v\n",
        "1 nodes of level 1 have more than one parent at level 2",
    ),
    "hole": (f"a;x\n{CANARY};\n", "level 1 has 1 empty labels"),
    "no leaf": (f"a;x\n;{CANARY}\n", "level 0 (the leaves) has 1 empty labels"),
    "duplicate": (f"{CANARY};x\n{CANARY};x\na;x\n", "1 leaves occur more than once"),
    "cycle": (f"{CANARY};x;{CANARY}\na;y;z\n", "1 labels are above themselves"),
    "ragged": (f"{CANARY};x;y\na;x\n", "1 of 2 lines do not have the 3 fields"),
    "empty": ("\n", "is empty"),
}


@pytest.mark.parametrize("fault", sorted(BROKEN))
def test_broken_files_say_which_level_and_how_many(fault: str, tmp_path: Path) -> None:
    text, said = BROKEN[fault]
    path = tmp_path / "h.csv"
    path.write_text(text, encoding="utf8")
    with pytest.raises(SchemaError) as error:
        placed(pa.array(["a", CANARY]), hierarchy_file(path))
    assert said in str(error.value) and CANARY not in str(error.value)


def test_files_that_are_not_there_or_not_utf8(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="cannot be read"):
        hierarchy_file(tmp_path / "none.csv").tree()
    (tmp_path / "latin.csv").write_bytes("é;x\n".encode("latin-1"))
    with pytest.raises(SchemaError, match="UTF-8"):
        hierarchy_file(tmp_path / "latin.csv").tree()


WRONG: list[tuple[Any, str]] = [
    (lambda: intervals(), "at least one width"),
    (lambda: intervals(0), "above 0"),
    (lambda: intervals(5, 7), "multiple"),
    (lambda: intervals(5, 5), "multiple"),
    (lambda: intervals(5, low=9, high=9), "smaller"),
    (lambda: intervals("x"), "Intervals"),
    (lambda: cuts(), "at least one cut point"),
    (lambda: cuts(5, 3), "rise"),
    (lambda: cuts([1, 2], [3]), "nest"),
    (lambda: cuts(1, [2]), "not both"),
    (lambda: masking("middle"), "side"),  # type: ignore[arg-type]
    (lambda: dates(), "fine to coarse"),
    (lambda: dates("year", "month"), "fine to coarse"),
    (lambda: dates("week"), "Dates"),
    (lambda: dates("day", low="2020-01-02", high="2020-01-01"), "before"),
    (lambda: groups({}), "at least one group"),
    (lambda: groups({"a": ["x"], "b": {"c": ["y"]}}), "1 values lie less deep"),
    (lambda: groups({"a": ["x"], "b": ["x"]}), "more than once"),
    (lambda: groups(["x"]), "mapping"),  # type: ignore[arg-type]
    (lambda: ordered([]), "at least one value"),
    (lambda: ordered(["a", "a"]), "more than once"),
    (lambda: ordered(["a", "b"], sizes=(2, 3)), "multiple"),
    (lambda: from_spec({}), "exactly one"),
    (lambda: from_spec({"intervals": [5], "masking": "right"}), "exactly one"),
    (lambda: from_spec({"intervals": [5], "lo": 3}), "unknown key 'lo'"),
    (lambda: from_spec({"masking": "right", "low": 3}), "stands alone"),
    (lambda: from_spec({"suppression": False}), "true"),
]


@pytest.mark.parametrize("case", range(len(WRONG)))
def test_wrong_parameters_are_told(case: int) -> None:
    make, said = WRONG[case]
    with pytest.raises(ParameterError, match=said):
        make()


UNFIT: list[tuple[pa.Array, Hierarchy, type[Exception], str]] = [
    (pa.array([CANARY]), intervals(5), ParameterError, "is of kind text"),
    (pa.array([CANARY]), cuts(5), ParameterError, "is of kind text"),
    (pa.array([CANARY]), dates("year"), ParameterError, "is of kind text"),
    (pa.array([True, False]), masking(), ParameterError, "is of kind boolean"),
    (pa.array([1, 2]), intervals(0.5), ParameterError, "whole numbers"),
    (pa.array([1, 2]), groups({CANARY: ["x", "y"]}), SchemaError, "cannot be read as integer"),
    (pa.array([1, 987654]), groups({"a": [1, 2], "b": [3]}), SchemaError, "1 values of column"),
    (pa.array([CANARY]), groups({"a": ["x"], "b": ["y"]}), SchemaError, "1 values of column"),
    (pa.array([0, 10_000_000]), intervals(5, low=0, high=10_000_000), SchemaError, "grid steps"),
    (pa.array([1 / 3, 0.5]), intervals(5), SchemaError, "9 decimals"),
]


@pytest.mark.parametrize("case", range(len(UNFIT)))
def test_hierarchies_that_do_not_fit_the_column_name_no_value(case: int) -> None:
    column, hierarchy, kind, said = UNFIT[case]
    with pytest.raises(kind, match=said) as error:
        placed(column, hierarchy)
    assert CANARY not in str(error.value) and "987654" not in str(error.value)


# ---- proposals ----------------------------------------------------------------------------------------------------


def test_proposals_follow_the_spread() -> None:
    small = people(pa.array(range(17, 91)))
    wide = people(pa.array([*list(range(0, 100000, 100)), 10**12]))
    assert propose(small, "x").spec()["intervals"][:2] == [2, 10]  # type: ignore[union-attr]
    assert propose(wide, "x").spec()["intervals"] == [1000, 5000, 10_000, 50_000]  # type: ignore[union-attr]
    assert propose(people(pa.array(["0123", "4567"])), "x") == masking()
    assert propose(people(pa.array(["a", "b"])), "x") is None
    born = people(pa.array([datetime.date(1920, 1, 1) + datetime.timedelta(days=40 * i) for i in range(900)]))
    assert propose(born, "x").spec() == {"dates": ["year", "decade"]}  # type: ignore[union-attr]


def test_suppression_publishes_a_value_or_everything() -> None:
    domain = placed(pa.array(["a", "b", "c"]), suppression())
    assert domain.node_of(0, 1) == (0, 2, "*")
