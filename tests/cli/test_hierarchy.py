"""`sfumato hierarchy`: overview, preview, watching the project file, writing one line of it, and no value on stderr."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.cli.application import main
from sfumato.cli.editing import with_hierarchy
from sfumato.cli.published import schema_of_output
from sfumato.errors import SchemaError

CANARY = "canary"
ROWS = "\n".join(
    f"{20 + i * 7 % 29},5370{i % 4},{['flu', 'cold', 'hiv'][i % 3]}{CANARY}.{i % 2},{i // 2}" for i in range(48)
)
PROJECT = """\
schema_version = 1
source = { path = "people.csv" }  # the data
require = [{ model = "k-anonymity", k = 3 }]

[columns]  # what each is
age = { role = "quasi", hierarchy = { intervals = [5, 10] } }   # in years
zip = { role = "quasi" }
disease = { role = "quasi" }
person = { role = "unit" }

[release]
title = "People"
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(f"age,zip,disease,person\n{ROWS}\n", encoding="utf8")
    (tmp_path / "sfumato.toml").write_text(PROJECT, encoding="utf8")
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], arguments: list[str], code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    found = main(arguments)
    out, err = capsys.readouterr()
    assert found == code, err
    assert CANARY not in err
    return out, err


def test_the_overview_shows_every_quasi_identifier(here: Path, capsys) -> None:
    out, err = said(capsys, ["hierarchy"])
    assert "age: " in out and "from the project file" in out and "suggested" in out
    assert "person" not in out and CANARY not in out
    assert err.splitlines()[-1].startswith("Next: sfumato hierarchy COLUMN")
    out, _ = said(capsys, ["hierarchy", "people.csv"])
    assert "person: " in out


@pytest.mark.parametrize("arguments", [[], ["age"], ["disease", "--preview"], ["zip", "--set", "masking", "--preview"]])
def test_json_follows_its_schema(here: Path, capsys, arguments: list[str]) -> None:
    document = json.loads(said(capsys, ["hierarchy", *arguments, "--json"])[0])
    jsonschema.validate(document, schema_of_output("hierarchy"))
    assert (document["k"], document["unit"]) == (3, "person")
    assert len(document["columns"]) == (1 if arguments else 3)


def test_the_preview_counts_values_rows_and_units_below_every_node(here: Path, capsys) -> None:
    document = json.loads(said(capsys, ["hierarchy", "age", "--preview", "--json"])[0])
    (column,) = document["columns"]
    rows = [(int(line.split(",")[0]), line.split(",")[3]) for line in ROWS.splitlines()]
    assert column["hierarchy"] == {"intervals": [5, 10]} and column["origin"] == "project"
    for level in column["levels"][1:]:
        inner = level["nodes"][1:-1]
        for node in inner:
            low, high = map(int, node["label"].strip("[]").split(", "))
            inside = [(age, person) for age, person in rows if low <= age <= high]
            assert node["rows"] == len(inside)
            assert node["units"] == len({person for _, person in inside})
            assert node["values"] == len({age for age, _ in inside})
        assert sum(node["rows"] for node in level["nodes"]) == 48
    out, _ = said(capsys, ["hierarchy", "age", "--set", "intervals:1,24", "--preview"])
    assert "tried with --set" in out and "< 3" not in out
    out, _ = said(capsys, ["hierarchy", "age", "--set", "intervals:1,2", "--preview"])
    assert "< 3" in out and "fewer than 3 units" in out


def test_writing_changes_one_line_and_keeps_the_rest(here: Path, capsys) -> None:
    _, err = said(capsys, ["hierarchy", "age", "--set", "intervals:2,4", "--write"])
    text = (here / "sfumato.toml").read_text(encoding="utf8")
    changed = [line for line in text.splitlines() if line not in PROJECT.splitlines()]
    assert changed == ['age = {role = "quasi", hierarchy = {intervals = [2, 4]}}   # in years']
    assert err.splitlines()[-1] == "Next: sfumato publish -o release"
    said(capsys, ["hierarchy", "disease", "--write"])
    assert tomllib.loads((here / "sfumato.toml").read_text())["columns"]["disease"]["hierarchy"] == {"prefixes": "."}
    said(capsys, ["publish", "-o", "release"])


def test_a_written_file_path_counts_from_the_project_file(here: Path, capsys) -> None:
    (here / "deep").mkdir()
    (here / "deep" / "p.toml").write_text(PROJECT.replace("people.csv", "../people.csv"), encoding="utf8")
    (here / "zip.csv").write_text("\n".join(f"5370{i};5370*" if i < 2 else f"5370{i};rest" for i in range(4)))
    said(capsys, ["hierarchy", "zip", "--project", "deep/p.toml", "--set", "file:zip.csv", "--write"])
    assert tomllib.loads((here / "deep/p.toml").read_text())["columns"]["zip"]["hierarchy"] == {"file": "../zip.csv"}
    out, _ = said(capsys, ["hierarchy", "zip", "--project", "deep/p.toml", "--preview"])
    assert "rest" in out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["hierarchy", "agee"], 5, "no column"),
        (["hierarchy", "age", "--set", "intervals:4,6"], 2, "'age'"),
        (["hierarchy", "age", "--set", "dates:month"], 2, "dates"),
        (["hierarchy", "disease", "--set", "file:wrong.csv"], 5, "not among its 1 leaves"),
        (["hierarchy", "--preview"], 2, "one column"),
        (["hierarchy", "age", "people.csv", "--write"], 2, "--project"),
        (["hierarchy", "age", "--watch", "--write"], 2, "one of them"),
        (["hierarchy", "nothing.csv"], 5, "no column"),
        (["hierarchy", "x", "nothing.csv"], 5, "does not exist"),
    ],
)
def test_mistakes_say_what_to_do(here: Path, capsys, arguments: list[str], code: int, words: str) -> None:
    (here / "wrong.csv").write_text("flu;a\n")
    _, err = said(capsys, arguments, code)
    assert words in err
    assert (here / "sfumato.toml").read_text(encoding="utf8") == PROJECT


SPEC = {"intervals": [5], "low": 0}
FILES = {
    "inline": '[columns]\nage = { role = "quasi" }\n',
    "aligned, commented": '[columns]\n  age   = { role = "quasi", kind = "integer" } # a "#" here\n',
    "quoted": '[columns]\n"the = age" = { role = "quasi" }\n',
    "own table": '[columns.age] # years\nrole = "quasi"\n[release]\ntitle = "x"\n',
    "own table with one": '[columns.age]\nhierarchy = { cuts = [5] } # old\nrole = "quasi"\n',
    "windows": '[columns]\r\nage = { role = "quasi" }\r\n',
    "no last line end": '[columns]\nage = { role = "quasi" }',
    "a look-alike before": '[other]\nage = { role = "quasi" }\n[columns]\nage = { role = "quasi" }\n',
    "commented out above": '[columns]\n# age = { role = "quasi" }\nage = { role = "quasi" }\n',
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_every_way_of_writing_a_column_is_edited(text: str) -> None:
    column = "the = age" if "the = age" in text else "age"
    new = with_hierarchy(text, column, SPEC)
    wanted = tomllib.loads(text)
    wanted["columns"][column]["hierarchy"] = SPEC
    assert tomllib.loads(new) == wanted
    old, now = text.splitlines(keepends=True), new.splitlines(keepends=True)
    assert len(set(now) - set(old)) == 1 and len(now) - len(old) in (0, 1)
    for comment in ("# years", '# a "#" here', "# old", "# age"):
        assert (comment in text) == (comment in new)
    assert ("\r\n" in text) == ("\r\n" in new)


@pytest.mark.parametrize(
    "text",
    [
        '[columns]\nage.role = "quasi"\n',
        'columns = { age = { role = "quasi" } }\n',
        '[columns]\nsex = { role = "quasi" }\n',
        "[columns]\nage = { kind = 'integer' }\n",
        "",
    ],
)
def test_what_cannot_be_edited_safely_is_refused(text: str) -> None:
    with pytest.raises(SchemaError):
        with_hierarchy(text, "age", SPEC)


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)


@settings(max_examples=200, deadline=None)
@given(name=names, groups=st.dictionaries(names, st.lists(names, min_size=1, max_size=3), min_size=1, max_size=3))
def test_any_spec_under_any_name_reads_back(name: str, groups: dict[str, list[str]]) -> None:
    import tomlkit

    text = tomlkit.dumps({"schema_version": 1, "columns": {name: {"role": "quasi"}}})
    assert tomllib.loads(with_hierarchy(text, name, {"groups": groups}))["columns"][name]["hierarchy"] == {
        "groups": groups
    }


def test_watching_shows_every_change_and_ends_on_ctrl_c(here: Path) -> None:
    code = "from sfumato.cli.application import run; run()"
    arguments = [sys.executable, "-u", "-c", code, "hierarchy", "age", "--preview", "--watch"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=lambda: [lines.put(one) for one in running.stdout or []], daemon=True).start()
        errors: queue.Queue[str] = queue.Queue()
        threading.Thread(target=lambda: [errors.put(one) for one in running.stderr or []], daemon=True).start()

        def wait_for(words: str, there: queue.Queue[str]) -> None:
            while words not in there.get(timeout=60):
                pass

        wait_for("[5, 10]", lines)
        wait_for("Watching", errors)
        (here / "sfumato.toml").write_text(PROJECT.replace("[5, 10]", "[5, 11"), encoding="utf8")
        wait_for("not valid TOML", errors)
        wait_for("Watching", errors)
        (here / "sfumato.toml").write_text(PROJECT.replace("[5, 10]", "[4, 8]"), encoding="utf8")
        wait_for("[4, 8]", lines)
        wait_for("Watching", errors)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=60) == 0
