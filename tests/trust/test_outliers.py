"""One outlier, or one declared value that nobody has, end to end: over every hierarchy and both methods."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.hierarchy import registered
from sfumato.releases.package_write import files_of

METHODS = [sf.Mondrian(), sf.Mondrian(recoding="relaxed"), sf.Anatomy()]
AGES = [20 + i % 41 for i in range(80)]
DAY = datetime.date(1980, 1, 1)
DERIVED = {"croissant.json", "SHA256SUMS"}


def files(cells: list[Any], rule: Any, method: Any) -> dict[str, bytes]:
    column = pa.array(cells)
    table = pa.table({"x": column, "job": [f"job{i % 4}" for i in range(len(column))]})
    data = sf.read(table, name="people").roles(quasi=["x"], sensitive=["job"])
    need = [sf.KAnonymity(4), sf.LDiversity(2, on="job")] if method.name == "mondrian" else sf.LDiversity(2, on="job")
    rules = {} if rule is None else {"x": rule}
    return files_of(sf.publish(data, method, require=need, hierarchies=rules, seed=7).release)


def changed(one: dict[str, bytes], other: dict[str, bytes]) -> set[str]:
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def days(ages: list[int]) -> list[datetime.date]:
    return [DAY + datetime.timedelta(days=30 * age) for age in ages]


AUTOMATIC: dict[str, tuple[Any, Any]] = {
    "integer proposed": (None, list),
    "decimal proposed": (None, lambda ages: [Decimal(age) / 2 for age in ages]),
    "real proposed": (None, lambda ages: [age / 4 for age in ages]),
    "date proposed": (None, days),
    "intervals": (sf.intervals(5, 10), list),
    "intervals of one": (sf.intervals(1), list),
    "intervals from low": (sf.intervals(5, low=0), list),
    "cuts": (sf.cuts([25, 30, 45], [30]), list),
    "suppression": (sf.suppression(), list),
    "dates": (sf.dates("month", "year"), days),
    "days": (sf.dates("day", "year"), days),
}
DECLARED: dict[str, tuple[Any, Any]] = {
    "intervals": (sf.intervals(5, 10, low=0, high=60), list),
    "cuts": (sf.cuts([25, 45], low=0, high=60), list),
    "dates": (sf.dates("month", "year", low="1980-01-01", high="1984-12-31"), days),
}


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("name", sorted(AUTOMATIC))
def test_moving_the_largest_value_changes_no_byte_but_an_exact_cell(name: str, method: Any) -> None:
    rule, typed = AUTOMATIC[name]
    one, other = (files(typed([*AGES, top]), rule, method) for top in (90, 900))
    if method.name == "anatomy" and changed(one, other):
        # Anatomy publishes quasi-identifiers as they are: the moved cell itself, and digests of its table.
        assert changed(one, other) <= {"data/quasi.parquet", *DERIVED}
    else:
        assert one == other


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("name", sorted(DECLARED))
def test_beyond_a_declared_end_a_value_may_lie_anywhere(name: str, method: Any) -> None:
    rule, typed = DECLARED[name]
    assert files(typed([*AGES, 90]), rule, method) == files(typed([*AGES, 900]), rule, method)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("name", sorted(DECLARED))
def test_a_value_moved_beyond_a_declared_end_changes_cells_and_says_that_the_end_is_open(
    name: str, method: Any
) -> None:
    rule, typed = DECLARED[name]
    moved = changed(files(typed([*AGES, 60]), rule, method), files(typed([*AGES, 600]), rule, method))
    tables = {"data/data.parquet", "data/quasi.parquet"}
    assert moved <= tables | DERIVED | {"datapackage.json", "provenance.json", "views.sql", "README.md"}


def absent(kind: str, folder: Path) -> tuple[list[str], Any, Any]:
    """Cells, a hierarchy, and the same one with a value that nobody has."""
    cells = [f"v{i % 6}" for i in range(60)]
    few = {"low": ["v0", "v1", "v2"], "high": ["v3", "v4", "v5"]}
    if kind == "groups":
        return cells, sf.groups(few), sf.groups({**few, "none": ["never"]})
    if kind == "ordered":
        names = [f"v{i}" for i in range(6)]
        return cells, sf.ordered(names, sizes=(3,)), sf.ordered([*names, "never"], sizes=(3,))
    for name, more in (("few.csv", ""), ("more.csv", "never;none\n")):
        lines = [f"{leaf};{group}\n" for group, leaves in few.items() for leaf in leaves]
        (folder / name).write_text("".join(lines) + more)
    return cells, sf.hierarchy_file(folder / "few.csv"), sf.hierarchy_file(folder / "more.csv")


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("kind", ["groups", "ordered", "file"])
def test_a_declared_value_that_nobody_has_changes_no_byte(kind: str, method: Any, tmp_path: Path) -> None:
    cells, few, more = absent(kind, tmp_path)
    assert files(cells, few, method) == files(cells, more, method)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_code_under_a_known_prefix_leaves_the_domain_as_it_is(method: Any) -> None:
    cells = [str(53700 + i % 20) for i in range(80)]
    one, other = (files([*cells, code], sf.masking(), method) for code in ("53777", "53778"))
    assert changed(one, other) <= {"data/quasi.parquet", "model/domains.parquet", *DERIVED}
    assert method.name == "anatomy" or "model/domains.parquet" not in changed(one, other)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_what_comes_after_a_common_beginning_is_published_only_where_a_cell_names_it(method: Any) -> None:
    cells = [f"{250 + i % 4}.{i % 5}" for i in range(80)]
    one, other = (files([*cells, code], sf.prefixes("."), method) for code in ("250.77", "250.78"))
    assert changed(one, other) <= {"data/quasi.parquet", *DERIVED}
    assert method.name == "anatomy" or one == other


def test_every_kind_of_hierarchy_is_tried() -> None:
    tried = {"intervals", "cuts", "suppression", "dates", "groups", "ordered", "file", "masking", "prefixes"}
    assert tried == set(registered())
