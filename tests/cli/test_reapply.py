"""`sfumato reapply`: a verified package of the new rows, a tally for the custodian, exit codes, no value on stderr."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from sfumato.cli.application import main
from sfumato.cli.published import schema_of_output

CANARY = "canary"
HEAD = "age,sex,disease\n"
OLD = HEAD + "".join(f"{20 + i * 7 % 29},{'FM'[i % 2]},{['flu', 'cold', 'hiv'][i % 3]}{CANARY}\n" for i in range(120))
NEW = HEAD + "".join(f"{20 + i * 5 % 29},{'FM'[i % 2]},{['flu', 'cold'][i % 2]}{CANARY}\n" for i in range(120))
ROLES = ["--quasi", "age,sex", "--sensitive", "disease"]
NEED = ["--require", "k-anonymity:k=8"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.csv").write_text(OLD, encoding="utf8")
    (tmp_path / "new.csv").write_text(NEW, encoding="utf8")
    assert main(["publish", "old.csv", "-o", "old", *ROLES, *NEED, "--hierarchy", "age=intervals:10"]) == 0
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], arguments: list[str], code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    found = main(arguments)
    out, err = capsys.readouterr()
    assert found == code, err
    assert CANARY not in err
    return out, err


def test_new_rows_become_a_verified_package(here: Path, capsys) -> None:
    out, err = said(capsys, ["reapply", "old", "new.csv", "-o", "follow"])
    assert "of 120 new rows" in out and "in several regions" in out and CANARY not in out
    assert err.splitlines()[-1] == "Next: sfumato verify follow"
    said(capsys, ["verify", "follow", "--raw", "new.csv"])
    said(capsys, ["reapply", "old", "new.csv", "-o", "follow"], code=2)
    provenance = json.loads((here / "follow" / "provenance.json").read_text(encoding="utf8"))
    assert provenance["method"] == {"name": "reapply", "parameters": {"of": "old", "several": "suppress"}}
    published = "".join(path.read_text(encoding="utf8") for path in (here / "follow").glob("*.json"))
    assert "nowhere" not in published and "fail" not in published


def test_json_follows_its_schema(here: Path, capsys) -> None:
    out, _ = said(capsys, ["reapply", "old", "new.csv", "-o", "follow.zip", "--several", "innermost", "--json"])
    document = json.loads(out)
    jsonschema.validate(document, schema_of_output("reapplied"))
    tally = document["tally"]
    assert sum(tally.values()) == 2 * tally["n_rows"] == 240
    assert document["promises"][0]["achieved"]["k"] >= 8


def test_strict_is_a_gate(here: Path, capsys) -> None:
    (here / "few.csv").write_text("\n".join(NEW.splitlines()[:4]) + "\n", encoding="utf8")
    _, err = said(capsys, ["reapply", "old", "few.csv", "-o", "few", "--strict"], code=3)
    assert "3 lie in groups that fail on the new rows alone" in err
    _, err = said(capsys, ["reapply", "old", "few.csv", "-o", "few"], code=4)
    assert "None of the 3 new rows" in err
    assert not (here / "few").exists()


def test_the_project_says_how_rows_are_read_and_what_hierarchies_there_are(here: Path, capsys) -> None:
    (here / "p.toml").write_text(
        "schema_version = 1\nsource = { path = 'old.csv', null_values = ['', 'NA'] }\n"
        "require = [{ model = 'k-anonymity', k = 8 }]\n"
        "[columns]\nage = { role = 'quasi', hierarchy = { intervals = [10] } }\nsex = { role = 'quasi' }\n",
        encoding="utf8",
    )
    (here / "new.csv").write_text(NEW + f"NA,F,flu{CANARY}\n", encoding="utf8")
    out, _ = said(capsys, ["reapply", "old", "new.csv", "-o", "follow", "--project", "p.toml", "--json"])
    assert json.loads(out)["tally"]["n_nowhere"] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["reapply", "nowhere", "new.csv", "-o", "x"], 5, "nowhere"),
        (["reapply", "old", "nothing.csv", "-o", "x"], 5, "nothing.csv"),
        (["reapply", "old", "lacking.csv", "-o", "x"], 5, "lack sex"),
        (["reapply", "old", "new.csv"], 2, "output"),
        (["reapply", "old", "new.csv", "-o", "x", "--several", "guess"], 2, "innermost"),
    ],
)
def test_mistakes_say_what_to_do(here: Path, capsys, arguments: list[str], code: int, words: str) -> None:
    (here / "lacking.csv").write_text(f"age,disease\n20,{CANARY}\n", encoding="utf8")
    _, err = said(capsys, arguments, code)
    assert words in err
    assert not (here / "x").exists()
