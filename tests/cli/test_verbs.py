"""Every verb end to end: data on stdout, words on stderr, exit codes, published schemas, no values in messages."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sfumato.cli.application import main
from sfumato.cli.published import PRINTED, schema_of_output

CANARY = "canary"
ROWS = "\n".join(
    f"name{CANARY}{i},{20 + i * 7 % 29},5370{i % 4},{'FM'[i % 2]},{['flu', 'cold', 'hiv'][i % 3]}{CANARY}"
    for i in range(48)
)
DATA = f"name,age,zip,sex,disease\n{ROWS}\n"
ROLES = ["--quasi", "age,sex", "--sensitive", "disease", "--identifier", "name"]
NEED = ["--require", "k-anonymity:k=3", "--require", "l-diversity:l=2,on=disease"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(DATA, encoding="utf8")
    return tmp_path


@pytest.fixture
def package(here: Path) -> str:
    assert main(["publish", "people.csv", "-o", "out", *ROLES, *NEED]) == 0
    return "out"


def said(capsys: pytest.CaptureFixture[str], arguments: list[str], code: int = 0) -> tuple[str, str]:
    """Run a verb, check its exit code, give back stdout and stderr."""
    capsys.readouterr()
    found = main(arguments)
    out, err = capsys.readouterr()
    assert found == code, err
    return out, err


def checked(name: str, out: str) -> Any:
    """JSON output that follows its published schema."""
    document = json.loads(out)
    jsonschema.validate(document, schema_of_output(name))
    return document


def test_publish_verify_query_measure_report(package: str, here: Path, capsys) -> None:
    out, err = said(capsys, ["verify", package])
    assert "FAIL" not in out
    assert "Next:" in err
    out, _ = said(capsys, ["query", package, "-c", "SELECT count(*) AS n FROM people", "--format", "csv"])
    assert out.splitlines()[1].startswith("48,")
    out, _ = said(capsys, ["measure", package, "--truth", "people.csv", "--queries", "20"])
    assert "bounds_coverage" in out
    said(capsys, ["report", package, "-o", "report.html"])
    assert (here / "report.html").read_bytes() == (here / package / "report" / "index.html").read_bytes()


def test_json_follows_the_published_schemas(package: str, here: Path, capsys) -> None:
    verified = checked("verification", said(capsys, ["verify", package, "--json"])[0])
    assert verified["holds"]
    question = "SELECT sex, count(*) AS n FROM people WHERE age > 26 GROUP BY sex"
    rows = checked("answer", said(capsys, ["query", package, "-c", question, "--json", "--q", ".05,.95"])[0])
    assert {"sex", "n", "n__lo", "n__hi", "n__q05", "n__q95", "__row", "__how"} <= set(rows[0])
    arguments = ["measure", package, "--truth", "people.csv", "--queries", "5", "--json"]
    assert checked("figures", said(capsys, arguments)[0])["figures"]
    checked("profile", said(capsys, ["profile", "people.csv", "--json"])[0])
    checked("init", said(capsys, ["init", "people.csv", "--json"])[0])
    checked("doctor", said(capsys, ["doctor", "--json"])[0])
    released = checked("release", said(capsys, ["publish", "people.csv", "-o", "b", "--json", *ROLES, *NEED])[0])
    assert released["verified"]
    assert released["promises"][0]["achieved"]["k"] >= 3


@pytest.mark.parametrize("name", ["project", "requirements", "methods", *PRINTED])
def test_schemas_are_json_schemas(name: str, capsys) -> None:
    document = json.loads(said(capsys, ["schema", name])[0])
    for schema in document.values() if name in ("requirements", "methods") else [document]:
        jsonschema.Draft202012Validator.check_schema(schema)


def test_init_writes_a_file_that_publishes_once_roles_are_accepted(here: Path, capsys) -> None:
    said(capsys, ["init", "people.csv"])
    text = (here / "sfumato.toml").read_text(encoding="utf8")
    assert "# age" in text
    assert CANARY not in text
    _, err = said(capsys, ["publish", "-o", "out"], code=2)
    assert "quasi" in err
    said(capsys, ["init", "people.csv"], code=2)
    said(capsys, ["init", "people.csv", "--accept", "--force"])
    said(capsys, ["publish", "-o", "out"])
    said(capsys, ["verify", "out", "--raw", "people.csv"])


def test_the_project_file_is_relative_to_itself(here: Path, capsys) -> None:
    (here / "deep").mkdir()
    said(capsys, ["init", "people.csv", "--accept", "-o", "deep/mine.toml"])
    said(capsys, ["publish", "--project", "deep/mine.toml", "-o", "out"])


def test_the_project_file_says_how_the_original_is_read(here: Path, capsys) -> None:
    rows = "\n".join(f"{'NA' if i % 9 == 0 else 20 + i % 30},{['Köln', 'Jena'][i % 2]}" for i in range(90))
    (here / "raw.csv").write_bytes(f"age,city\n{rows}\n".encode("latin-1"))
    (here / "p.toml").write_text(
        "schema_version = 1\nrequire = [{ model = 'k-anonymity', k = 3 }]\n"
        "source = { path = 'raw.csv', null_values = ['', 'NA'], encoding = 'latin-1' }\n"
        "[columns]\nage = { role = 'quasi' }\ncity = { role = 'quasi' }\n",
        encoding="utf8",
    )
    said(capsys, ["publish", "--project", "p.toml", "-o", "out"])
    out, _ = said(capsys, ["query", "out", "-c", "SELECT count(*) AS n FROM raw WHERE age IS NOT NULL", "-f", "jsonl"])
    row = json.loads(out)
    assert row.get("n__lo", row["n"]) <= 80 <= row.get("n__hi", row["n"])
    said(capsys, ["verify", "out", "--raw", "raw.csv", "--project", "p.toml"])
    said(capsys, ["measure", "out", "--truth", "raw.csv", "--project", "p.toml", "--queries", "5"])


def test_nothing_is_replaced_unasked(package: str, here: Path, capsys) -> None:
    before = (here / package / "SHA256SUMS").read_bytes()
    _, err = said(capsys, ["publish", "people.csv", "-o", package, *ROLES, *NEED], code=2)
    assert "--force" in err
    assert (here / package / "SHA256SUMS").read_bytes() == before
    said(capsys, ["publish", "people.csv", "-o", package, "--force", *ROLES, *NEED])


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["publish", "people.csv", *ROLES, *NEED], 2, "-o"),
        (["publish", "people.csv", "-o", "x", *ROLES], 2, "--require"),
        (["publish", "people.csv", "-o", "x", *ROLES, "--require", "k-anonimity:k=3"], 2, "k-anonymity"),
        (["publish", "people.csv", "-o", "x", *ROLES, "--require", "k-anonymity:k=0"], 2, "k"),
        (["publish", "people.csv", "-o", "x", *ROLES, *NEED, "--method", "mondrain"], 2, "no method"),
        (["publish", "people.csv", "-o", "x", "--quasi", "agee", *NEED], 5, "Did you mean age"),
        (["publish", "people.csv", "-o", "x", *ROLES, "--plain", "age", *NEED], 2, "two roles"),
        (["publish", "people.csv", "-o", "x", *ROLES, *NEED, "--hierarchy", "age=intervals:4,6"], 2, "'age'"),
        (["init", "people.csv", "-o", "people.csv", "--force"], 2, "the data itself"),
        (["publish", "people.csv", "-o", "x", *ROLES, "--require", "k-anonymity:k=100"], 4, "48"),
        (["publish", "nowhere.csv", "-o", "x", *ROLES, *NEED], 5, "nowhere.csv"),
        (["publish", "-o", "x"], 5, "init"),
        (["query", "nowhere", "-c", "SELECT 1"], 5, "nowhere"),
        (["verify", "people.csv"], 5, "people.csv"),
        (["profile", "empty.csv"], 5, ""),
        (["schema", "unheard"], 2, "unheard"),
        (["init", "people.csv", "-o", "people.csv"], 2, "the data itself"),
    ],
)
def test_mistakes_say_what_to_do_and_write_nothing(
    here: Path, capsys, arguments: list[str], code: int, words: str
) -> None:
    (here / "empty.csv").write_text("")
    before = sorted(path.name for path in here.iterdir())
    out, err = said(capsys, arguments, code)
    assert words in err
    assert "Traceback" not in err
    assert CANARY not in err + out
    assert sorted(path.name for path in here.iterdir()) == before


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("DROP TABLE people", 2),
        ("SELECT * FROM people", 2),
        ("SELECT count(*) FROM people; SELECT 1", 2),
        ("SELEC 1", 2),
        ("SELECT x FROM people", 5),
    ],
)
def test_questions_that_cannot_be_answered(package: str, capsys, sql: str, code: int) -> None:
    capsys.readouterr()
    assert main(["query", package, "-c", sql]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Error: ")


def test_a_changed_byte_fails_the_gate(package: str, here: Path, capsys) -> None:
    path = here / package / "guarantees.json"
    path.write_text(path.read_text().replace('"k": 3', '"k": 4'))
    out, err = said(capsys, ["verify", package], code=3)
    assert "FAIL" in out
    assert "do not use" in err


def test_quantiles_and_formats_are_checked(package: str, capsys) -> None:
    question = ["query", package, "-c", "SELECT count(*) AS n FROM data WHERE age > 26"]
    said(capsys, [*question, "--q", "5"], code=2)
    said(capsys, [*question, "--format", "xml"], code=2)
    for form in ("duckbox", "json", "jsonl", "csv", "markdown"):
        assert "n__lo" in said(capsys, [*question, "--format", form])[0]
    _, err = said(capsys, [*question, "--explain"])
    assert "n" in err


def test_sql_comes_from_standard_input(package: str, capsys, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("SELECT count(*) AS n FROM people"))
    assert said(capsys, ["query", package, "--format", "csv"])[0].splitlines()[1].startswith("48,")


def test_data_comes_from_standard_input_and_a_package_goes_to_standard_output(here: Path, capfdbinary) -> None:
    import subprocess

    code = "from sfumato.cli.application import run; run()"
    arguments = ["publish", "-", "-o", "-", "--name", "people", *ROLES, *NEED]
    found = subprocess.run(
        [sys.executable, "-c", code, *arguments], input=DATA.encode(), capture_output=True, check=True
    )
    names = zipfile.ZipFile(io.BytesIO(found.stdout)).namelist()
    assert any(name.endswith("guarantees.json") for name in names)
    assert CANARY.encode() not in found.stderr


def test_environment_says_what_flags_say(here: Path, capsys, monkeypatch) -> None:
    for key, value in {"REQUIRE": "k-anonymity:k=3", "QUASI": "age,sex", "OUTPUT": "out", "METHOD": "mondrian"}.items():
        monkeypatch.setenv(f"SFUMATO_{key}", value)
    said(capsys, ["publish", "people.csv"])
    assert (here / "out" / "guarantees.json").exists()


def test_a_seeded_release_says_it_is_not_for_publication(here: Path, capsys) -> None:
    _, err = said(capsys, ["publish", "people.csv", "-o", "out", "--seed", "3", *ROLES, *NEED])
    assert "not for publication" in err


def test_the_profile_shows_no_value(here: Path, capsys) -> None:
    out, err = said(capsys, ["profile", "people.csv"])
    assert "disease" in out
    assert CANARY not in out + err


def test_a_zip_is_a_package_too(here: Path, capsys) -> None:
    said(capsys, ["publish", "people.csv", "-o", "out.zip", *ROLES, *NEED])
    said(capsys, ["verify", "out.zip"])
    said(capsys, ["query", "out.zip", "-c", "SELECT count(*) AS n FROM people"])


def test_the_demo_runs(here: Path, capsys) -> None:
    out, err = said(capsys, ["demo", "--rows", "400"])
    assert out.count("truth") == 6 + 1
    assert (here / "demo-output" / "mondrian" / "report" / "index.html").exists()
    assert (here / "demo-output" / "anatomy" / "guarantees.json").exists()
    assert "Next:" in err
    document = checked("demo", said(capsys, ["demo", "--rows", "400", "--json"])[0])
    assert len(document["questions"]) == 5


def test_what_the_bytes_do_not_decide_is_marked(here: Path, capsys) -> None:
    people = (here / "people.csv").read_text(encoding="utf8").splitlines()
    lines = [f"{line},{'person' if i == 0 else f'p{i}'}" for i, line in enumerate(people)]
    (here / "persons.csv").write_text("\n".join(lines) + "\n", encoding="utf8")
    said(capsys, ["publish", "persons.csv", "-o", "persons", *ROLES, *NEED, "--unit", "person"])
    out, err = said(capsys, ["verify", "persons"])
    assert out.count("open  promise") == 2 and "--raw" in err
    verified = checked("verification", said(capsys, ["verify", "persons", "--json"])[0])
    assert verified["holds"] and sum(not one["decided"] for one in verified["findings"]) == 2
    out, err = said(capsys, ["verify", "persons", "--raw", "persons.csv"])
    assert "open" not in out and "All" in err
