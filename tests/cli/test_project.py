"""The project file: unknown keys are errors that name the line and the nearest key."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.cli.job import Flags, hierarchy_flag, job_of
from sfumato.cli.project import read_project
from sfumato.errors import ParameterError, SchemaError

GOOD = """
schema_version = 1
source  = { path = "patients.csv", kind = "table" }
require = [{ model = "k-anonymity", k = 5 }, { model = "l-diversity", l = 2, on = "diagnosis" }]
method  = { name = "mondrian" }
[columns]
name      = { role = "identifier" }
age       = { role = "quasi", hierarchy = { intervals = [5, 10, 20] } }
zip       = { role = "quasi", hierarchy = { masking = "right" } }
diagnosis = { role = "sensitive" }
[release]
title = "Patients 2026"
license = "CC-BY-4.0"
"""


@pytest.fixture
def write(tmp_path: Path):
    def written(text: str) -> Path:
        path = tmp_path / "sfumato.toml"
        path.write_text(text, encoding="utf8")
        return path

    return written


def test_the_documented_file_is_read(write) -> None:
    project = read_project(write(GOOD))
    assert project.names("quasi") == ["age", "zip"]
    assert project.release.title == "Patients 2026"


@pytest.mark.parametrize(
    ("text", "line", "near"),
    [
        (GOOD.replace("require =", "requires ="), 4, "require"),
        (GOOD.replace("diagnosis = { role", "diagnosis = { rôle".replace("ô", "ol")), 10, "role"),
        (GOOD.replace("license =", "licence ="), 13, "license"),
        (GOOD.replace('kind = "table"', 'kinds = "table"'), 3, "kind"),
    ],
)
def test_an_unknown_key_names_its_line_and_the_nearest_key(write, text: str, line: int, near: str) -> None:
    with pytest.raises(SchemaError) as caught:
        read_project(write(text))
    assert f"line {line}" in str(caught.value)
    assert f"Did you mean {near}" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("schema_version = 2\n", "schema_version"),
        ("title = 'x'\n", "schema_version"),
        ("schema_version = = 1\n", "TOML"),
        (GOOD.replace('role = "sensitive"', 'role = "secret"'), "diagnosis"),
    ],
)
def test_a_broken_file_says_where(write, text: str, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        read_project(write(text))


def test_a_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="sfumato init"):
        read_project(tmp_path / "sfumato.toml")


def test_flags_win_over_the_file(write) -> None:
    flags = Flags(
        require=["k-anonymity:k=7"],
        roles={"sensitive": ["age"]},
        hierarchies=["zip=masking:left"],
        release={"title": "Other"},
    )
    job = job_of(flags, write(GOOD))
    assert [one.parameters() for one in job.require] == [{"k": 7}]
    assert job.columns["age"].role == "sensitive"
    assert job.hierarchies["zip"].spec() == {"masking": "left"}
    assert job.title == "Other"
    assert job.license == "CC-BY-4.0"


def test_the_source_lies_beside_the_project_file(write, tmp_path: Path) -> None:
    assert job_of(Flags(), write(GOOD)).source == str(tmp_path / "patients.csv")


@pytest.mark.parametrize("text", ["age", "=intervals:5", "age=", "age=unheard:5"])
def test_a_bad_hierarchy_flag_is_a_usage_error(text: str) -> None:
    with pytest.raises(ParameterError):
        job_of(Flags(source="x.csv", require=["k-anonymity:k=2"], hierarchies=[text]), None)


def test_hierarchy_flags_say_what_the_file_says() -> None:
    assert hierarchy_flag("age=cuts:18,65.5") == ("age", {"cuts": [18, 65.5]})
    assert hierarchy_flag("city=file:a/b:c.csv") == ("city", {"file": "a/b:c.csv"})
    assert hierarchy_flag("x=suppression") == ("x", {"suppression": True})


@pytest.mark.parametrize("flags", [Flags(source="x.csv"), Flags(require=["k-anonymity:k=2"])])
def test_what_is_missing_is_said(flags: Flags) -> None:
    with pytest.raises(ParameterError, match=r"No (requirement|data)"):
        job_of(flags, None)
