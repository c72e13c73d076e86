"""`sfumato risk` on tables and packages: figures on stdout, words on stderr, the published schema, no values."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.cli.test_verbs import CANARY, DATA, NEED, ROLES, checked, said


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(DATA, encoding="utf8")
    return tmp_path


@pytest.fixture
def package(here: Path, capsys) -> str:
    said(capsys, ["publish", "people.csv", "-o", "out", *ROLES, *NEED])
    return "out"


def test_a_table_before_and_a_package_after(package: str, here: Path, capsys) -> None:
    before = checked("risk", said(capsys, ["risk", "people.csv", "--quasi", "age,sex", "--json"])[0])
    after = checked("risk", said(capsys, ["risk", package, "--json"])[0])
    assert before["quasi"] == after["quasi"] == ["age", "sex"]
    assert before["attackers"][0]["highest"] == 1
    assert after["attackers"][0]["highest"] <= 1 / 3
    assert [line["columns"] for line in after["columns"]][-1] == "age, sex"


@pytest.mark.parametrize("population", ["500", "people.csv"])
def test_a_population_is_a_number_or_a_table(package: str, here: Path, capsys, population: str) -> None:
    for source in (["people.csv", "--quasi", "age,sex"], [package]):
        found = checked("risk", said(capsys, ["risk", *source, "--population", population, "--json"])[0])
        assert found["population"] == (500 if population == "500" else 48)
        assert {line["attacker"] for line in found["distribution"]} == {"prosecutor", "journalist"}


def test_text_page_and_next_step_show_no_value(package: str, here: Path, capsys) -> None:
    out, err = said(capsys, ["risk", "people.csv", "--unit", "name", "--quasi", "disease,zip", "--html", "risk.html"])
    page = (here / "risk.html").read_text(encoding="utf8")
    for text in (out, err, page):
        assert CANARY not in text
        assert "5370" not in text
    assert err.splitlines()[-1] == "Next: open risk.html in a browser"
    assert said(capsys, ["risk", package])[1].splitlines()[-1] == f"Next: sfumato verify {package}"
    err = said(capsys, ["risk", "people.csv", "--html", "risk.html"], code=2)[1]
    assert "--force" in err
    said(capsys, ["risk", "people.csv", "--html", "risk.html", "--force"])


def test_roles_come_from_the_project_file_and_data_from_standard_input(here: Path, capsys, monkeypatch) -> None:
    (here / "sfumato.toml").write_text(
        "schema_version = 1\n[columns]\nzip = { role = 'quasi', kind = 'text' }\nname = { role = 'unit' }\n"
    )
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DATA.encode())))
    found = checked("risk", said(capsys, ["risk", "-", "--project", "sfumato.toml", "--json"])[0])
    assert found["quasi"] == ["zip"]
    assert any("'name'" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["risk", "people.csv", "--quasi", "agee"], 5, "agee"),
        (["risk", "people.csv", "--quasi", "age", "--population", "3"], 2, "population"),
        (["risk", "people.csv", "--quasi", "age", "--threshold", "2"], 2, "threshold"),
        (["risk", "people.csv", "--quasi", "age", "--most-combined", "0"], 2, "most-combined"),
        (["risk", "nowhere.csv"], 5, "nowhere.csv"),
        (["risk", "out", "--unit", "name"], 2, "--unit"),
        (["risk", "out", "--quasi", "name"], 5, "name"),
    ],
)
def test_mistakes_have_their_exit_codes(package: str, capsys, arguments: list[str], code: int, word: str) -> None:
    out, err = said(capsys, arguments, code=code)
    assert not out
    assert word in err
    assert CANARY not in err
