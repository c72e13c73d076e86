"""`sfumato search`: candidates, exit codes, published schema, resuming, plots, publishing, no values in words."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sfumato.cli.application import main
from sfumato.cli.published import schema_of_output
from sfumato.methods.fulldomain.cuts import Judge
from sfumato.methods.fulldomain.nodes import Nodes
from sfumato.methods.fulldomain.progress import Watch

CANARY = "canary"
ROWS = "\n".join(
    f"{20 + i * 7 % 40},{'abcd'[i % 4]}{CANARY},{'FM'[i // 3 % 2]},{['flu', 'cold', 'hiv'][i % 3]}{CANARY}"
    for i in range(240)
)
ROLES = ["--quasi", "age,town,sex", "--sensitive", "disease", "--hierarchy", "age=intervals:5,10,20"]
NEED = ["--require", "k-anonymity:k=4", "--require", "l-diversity:l=2,on=disease"]
SEARCH = ["search", "people.csv", *ROLES, *NEED]
LATTICE = [*SEARCH, "--method", "lattice", "--no-errors"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(f"age,town,sex,disease\n{ROWS}\n", encoding="utf8")
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], arguments: list[str], code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    found = main(arguments)
    out, err = capsys.readouterr()
    assert found == code, err
    assert CANARY not in out + err
    return out, err


def as_json(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> Any:
    document = json.loads(said(capsys, [*arguments, "--json"])[0])
    jsonschema.validate(document, schema_of_output("search"))
    return document


def looked_at(monkeypatch: pytest.MonkeyPatch, most: int | None = None) -> list[object]:
    """Nodes evaluated from now on; beyond `most` somebody presses Ctrl-C."""
    seen: list[object] = []
    look = Nodes._look

    def counted(self: Nodes, node: Any) -> Any:
        if most is not None and len(seen) == most:
            raise KeyboardInterrupt
        seen.append(node)
        return look(self, node)

    monkeypatch.setattr(Nodes, "_look", counted)
    return seen


def test_three_methods_side_by_side_ranked_by_the_error_of_queries(here: Path, capsys) -> None:
    out, err = said(capsys, SEARCH)
    assert out.splitlines()[0].split()[:5] == ["rank", "method", "score", "proven", "suppressed"]
    assert {"lattice", "mondrian", "anatomy"} == {line.split()[1] for line in out.splitlines()[1:]}
    assert err.splitlines()[-1].startswith("Next: sfumato search people.csv")
    assert err.rstrip().endswith("--publish 1 -o people-release")
    found = as_json(capsys, SEARCH)
    errors = [one["query_error"] for one in found["candidates"]]
    assert errors == sorted(errors)
    assert [one["proven"] for one in found["candidates"] if one["method"]["name"] != "lattice"] == [None, None]


def test_a_lattice_alone_shows_its_frontier(here: Path, capsys) -> None:
    out, _ = said(capsys, LATTICE)
    assert "optimal" in out.splitlines()[1]
    assert "query error" not in out
    found = as_json(capsys, LATTICE)
    assert found["candidates"][0]["gap"] == 0
    assert found["lattices"][0]["proven"]
    scores = [one["score"] for one in found["candidates"]]
    assert scores == sorted(scores)


def test_without_errors_methods_keep_their_order(here: Path, capsys) -> None:
    arguments = [*SEARCH, "--no-errors", "--method", "mondrian", "--method", "lattice"]
    assert [one["method"]["name"] for one in as_json(capsys, arguments)["candidates"]] == ["mondrian", "lattice"]
    assert "not ranked" in said(capsys, arguments)[1]


def test_what_cannot_serve_is_left_out_with_its_reason(here: Path, capsys) -> None:
    roles = ["--quasi", "age,town,sex", "--require", "k-anonymity:k=4"]
    out, err = said(capsys, ["search", "people.csv", *roles])
    assert "anatomy" not in out
    assert "left out: anatomy: " in err


def test_metric_and_suppression_go_to_lattices(here: Path, capsys) -> None:
    found = as_json(capsys, [*SEARCH, "--metric", "loss:gs_factor=0.3", "--max-suppressed", "0.02", "--no-errors"])
    chosen = next(one["method"] for one in found["candidates"] if one["method"]["name"] == "lattice")
    assert chosen["parameters"]["gs_factor"] == 0.3
    assert chosen["parameters"]["max_suppressed"] == 0.02
    for option in (["--metric", "loss"], ["--max-suppressed", "0.1"], ["--plot", "x.html"]):
        assert option[0] in said(capsys, [*SEARCH, "--method", "mondrian", *option], code=2)[1]


def test_publish_takes_a_lattice_with_its_parameters(here: Path, capsys) -> None:
    method = "lattice:metric=precision,max_suppressed=0.02"
    out, _ = said(capsys, ["publish", "people.csv", *ROLES, *NEED, "--method", method, "-o", "out"])
    assert "by lattice (metric = precision" in out


def test_impossible_is_exit_4_with_the_nearest(here: Path, capsys) -> None:
    _, err = said(capsys, ["search", "people.csv", *ROLES, "--require", "k-anonymity:k=300"], code=4)
    assert "Nearest feasible: k = 240" in err


def test_no_solution_in_the_time_is_exit_6(here: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Judge, "allows", lambda self, cut: False)
    monkeypatch.setattr(Watch, "over", lambda self, share=1.0: True)
    _, err = said(capsys, [*LATTICE, "--time-limit", "1"], code=6)
    assert "no proof" in err


def test_a_time_limit_leaves_a_solution_that_is_not_proven(here: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watch, "over", lambda self, share=1.0: True)
    out, err = said(capsys, [*LATTICE, "--time-limit", "1"])
    assert "gap" in out
    assert "not proven, at most" in err
    monkeypatch.undo()
    monkeypatch.chdir(here)
    assert "optimal" in said(capsys, LATTICE)[0]


def test_a_search_is_taken_up_and_kept_for_its_owner_alone(here: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    first = as_json(capsys, LATTICE)
    assert stat.S_IMODE((here / ".sfumato").stat().st_mode) == 0o700
    kept = here / ".sfumato" / "search-people.json"
    assert CANARY not in kept.read_text(encoding="utf8")
    n_kept = len(json.loads(kept.read_text(encoding="utf8"))["nodes"])
    assert first["taken_up"] == 0
    again = as_json(capsys, LATTICE)
    assert again["taken_up"] == n_kept
    assert again["candidates"] == first["candidates"]
    assert f"taken up: {n_kept} nodes known" in said(capsys, LATTICE)[1]
    assert as_json(capsys, [*LATTICE, "--fresh"])["taken_up"] == 0
    assert as_json(capsys, [*LATTICE, "--max-suppressed", "0.5"])["taken_up"] == 0


def test_two_lattices_are_kept_apart(here: Path, capsys) -> None:
    arguments = [*SEARCH, "--no-errors", "--method", "lattice", "--method", "lattice:metric=precision"]
    first = as_json(capsys, arguments)
    again = as_json(capsys, arguments)
    assert again["taken_up"] > 0
    assert again["candidates"] == first["candidates"]
    assert sorted(path.name for path in (here / ".sfumato").glob("search*")) == [
        "search-people-2.json",
        "search-people.json",
    ]


def test_interrupted_it_keeps_what_is_known(here: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at(monkeypatch, most=3)
    _, err = said(capsys, LATTICE, code=130)
    assert "goes on from there" in err
    monkeypatch.undo()
    monkeypatch.chdir(here)
    seen = looked_at(monkeypatch)
    found = as_json(capsys, LATTICE)
    assert found["taken_up"] == 3
    assert len(seen) == found["lattices"][0]["looked_at"] - 3


def test_a_spoilt_memory_is_no_hindrance(here: Path, capsys) -> None:
    said(capsys, LATTICE)
    (here / ".sfumato" / "search-people.json").write_text("{", encoding="utf8")
    assert as_json(capsys, LATTICE)["taken_up"] == 0


def test_a_folder_that_cannot_be_written_is_no_hindrance(here: Path, capsys) -> None:
    (here / ".sfumato").write_text("a file", encoding="utf8")
    assert "not kept" in said(capsys, LATTICE)[1]


@pytest.mark.parametrize("name", ["lattice.html", "lattice.svg"])
def test_the_lattice_is_drawn(here: Path, capsys, name: str) -> None:
    _, err = said(capsys, [*LATTICE, "--plot", name])
    text = (here / name).read_text(encoding="utf8")
    assert "<svg" in text
    assert CANARY not in text
    assert f"drawn: {name}" in err
    said(capsys, [*LATTICE, "--plot", name], code=2)
    assert as_json(capsys, [*LATTICE, "--plot", name, "--force"])["plot"] == name
    assert ".html" in said(capsys, [*LATTICE, "--plot", "lattice.png"], code=2)[1]


def test_a_candidate_is_published_by_its_rank(here: Path, capsys) -> None:
    wanted = as_json(capsys, LATTICE)["candidates"][1]
    found = as_json(capsys, [*LATTICE, "--publish", "2", "-o", "out"])
    assert found["published"] == "out"
    said(capsys, ["verify", "out"])
    from sfumato.desk import open as open_package

    release = open_package("out")
    assert release.release.n_rows - release.groups().df().iloc[:, 1].sum() == wanted["suppressed"]
    said(capsys, [*LATTICE, "--publish", "1", "-o", "out"], code=2)
    said(capsys, [*LATTICE, "--publish", "99", "-o", "other"], code=2)
    said(capsys, [*LATTICE, "--publish", "1"], code=2)
    assert not (here / "other").exists()


PROJECT = """\
schema_version = 1
source = { path = "people.csv" }
require = [{ model = "k-anonymity", k = 4 }]
%s
[columns]
age = { role = "quasi", hierarchy = { intervals = [5, 10, 20] } }
town = { role = "quasi" }
sex = { role = "quasi" }
disease = { role = "sensitive" }
%s
"""
ONE = 'method = { name = "lattice", metric = { metric = "loss", gs_factor = 0.3 }, weights = { age = 0.8 } }'
TWO = 'method = [{ name = "lattice" }, { name = "lattice", metric = { metric = "precision" } }]'


@pytest.mark.parametrize(
    ("method", "search", "names"),
    [
        ("", "", ["lattice", "mondrian", "anatomy"]),
        (ONE, "", ["lattice", "mondrian", "anatomy"]),
        (TWO, "", ["lattice", "lattice"]),
        (TWO, '[search]\ntime_limit = 5\nmethods = [{ name = "mondrian", cut = "median" }]', ["mondrian"]),
    ],
)
def test_the_project_file_says_what_is_compared(here: Path, capsys, method: str, search: str, names) -> None:
    (here / "sfumato.toml").write_text(PROJECT % (method, search), encoding="utf8")
    found = as_json(capsys, ["search", "--no-errors", "--require", "l-diversity:l=2,on=disease"])
    compared = [one["method"]["name"] for one in found["candidates"]][: len(names)]
    assert compared == names
    if method == ONE:
        assert found["candidates"][0]["method"]["parameters"]["gs_factor"] == 0.3
        assert found["candidates"][0]["method"]["parameters"]["weights"] == {"age": 0.8}


def test_several_methods_do_not_publish(here: Path, capsys) -> None:
    (here / "sfumato.toml").write_text(PROJECT % (TWO, ""), encoding="utf8")
    assert "search --publish" in said(capsys, ["publish", "-o", "out"], code=2)[1]
    said(capsys, ["publish", "-o", "out", "--method", "mondrian"])
    (here / "sfumato.toml").write_text(PROJECT % ("method = 3", ""), encoding="utf8")
    assert "line 4" in said(capsys, ["search"], code=5)[1]
    (here / "sfumato.toml").write_text(PROJECT % ("", "[search]\nlimit = 3"), encoding="utf8")
    assert "time_limit" in said(capsys, ["search"], code=5)[1]
