"""Exit codes, help, and where messages go."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from sfumato import errors
from sfumato.cli import REGISTERED, exits, output
from sfumato.cli.application import main
from sfumato.cli.output import plain, readable, write_new
from sfumato.errors import ParameterError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ParameterError("x"), 2),
        (errors.Incompatible("x"), 2),
        (errors.Unanswerable("x"), 2),
        (errors.Infeasible("x"), 4),
        (errors.SchemaError("x"), 5),
        (MemoryError(), 6),
        (TimeoutError(), 6),
        (KeyboardInterrupt(), 130),
        (ValueError("x"), 1),
        (errors.SfumatoError("x"), 1),
    ],
)
def test_every_error_has_its_code(error: BaseException, code: int) -> None:
    assert exits.code_of(error) == code


def _run(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    def fails() -> None:
        raise error

    from sfumato.cli import doctor

    monkeypatch.setattr(doctor, "findings", fails)
    return main(["doctor"])


def test_an_interrupt_inside_duckdb_is_an_interrupt(monkeypatch, capsys) -> None:
    assert _run(monkeypatch, RuntimeError("Query interrupted")) == 130
    assert "Interrupted" in capsys.readouterr().err


def test_errors_go_to_stderr_with_the_nearest_feasible(monkeypatch, capsys) -> None:
    assert _run(monkeypatch, errors.Infeasible("k is 9, there are 4 rows. Lower k.", {"k": 4})) == 4
    said = capsys.readouterr()
    assert said.out == ""
    assert "Nearest feasible: k = 4" in said.err


def test_an_unexpected_error_never_quotes_its_message(monkeypatch, capsys) -> None:
    assert _run(monkeypatch, ValueError("canary-7781 is not a number")) == 1
    said = capsys.readouterr()
    assert "canary" not in said.out + said.err
    assert "ValueError" in said.err


def test_an_interrupt_says_so(monkeypatch, capsys) -> None:
    assert _run(monkeypatch, KeyboardInterrupt()) == 130
    assert "Interrupted" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["verfy"], ["--bogus"], ["doctor", "--bogus"], ["verify"], []])
def test_wrong_usage_is_two(arguments: list[str], capsys) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().out == ""


def test_a_misspelt_verb_names_the_nearest(capsys) -> None:
    main(["verfy"])
    assert "Did you mean verify?" in capsys.readouterr().err


@pytest.mark.parametrize("verb", [name for name, _ in REGISTERED])
def test_every_verb_has_help(verb: str, capsys) -> None:
    assert main([verb, "--help"]) == 0
    assert "Usage: sfumato" in capsys.readouterr().out


def test_register_and_files_agree() -> None:
    folder = Path(exits.__file__).parent
    rooms = {"__init__", "application", "exits", "output", "project", "job", "published", "options", "kept"}
    rooms |= {"editing", "hierarchies"}
    assert {path.stem for path in folder.glob("*.py")} - rooms == {name for name, _ in REGISTERED}


def test_a_reader_that_leaves_early_is_no_error() -> None:
    code = "from sfumato.cli.application import run; run()"
    command = f'{sys.executable} -c "{code}" schema project | head -c 1; echo "${{PIPESTATUS[0]}}"'
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in found.stderr
    assert "Exception" not in found.stderr


def test_help_is_quick_and_lists_every_verb(capsys) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name, _ in REGISTERED)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, capsys) -> None:
    assert main(["completion", shell]) == 0
    assert "sfumato" in capsys.readouterr().out


def test_completion_completes_verbs() -> None:
    found = subprocess.run(
        [sys.executable, "-c", "from sfumato.cli.application import run; run()"],
        env={"_SFUMATO_COMPLETE": "complete_bash", "COMP_WORDS": "sfumato pro", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout.split() == ["profile"]


def test_numbers_json_has_no_word_for_become_null() -> None:
    assert plain({"a": float("nan"), "b": [float("-inf"), 1.5]}) == {"a": None, "b": [None, 1.5]}


def test_files_are_not_replaced_unasked(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_new(path, b"1", force=False)
    with pytest.raises(ParameterError, match="--force"):
        write_new(path, b"2", force=False)
    assert path.read_bytes() == b"1"
    write_new(path, b"2", force=True)
    assert path.read_bytes() == b"2"


def test_standard_input_becomes_a_private_file(monkeypatch) -> None:
    import io

    class Fake:
        buffer = io.BytesIO(b"a,b\n1,2\n")

    monkeypatch.setattr(sys, "stdin", Fake())
    with readable("-") as path:
        assert Path(path).suffix == ".csv"
        assert Path(path).read_text() == "a,b\n1,2\n"
        assert Path(path).parent.stat().st_mode & 0o077 == 0
    assert not Path(path).exists()


def test_long_work_says_what_it_does_on_stderr_without_a_terminal(monkeypatch, capsys) -> None:
    monkeypatch.setattr(output, "PATIENCE", 0.0)
    with output.Progress() as progress:
        progress("reading people.csv")
        for _ in range(100):
            if progress._plain:
                break
            time.sleep(0.02)
        progress("publishing 5 rows")
    out, err = capsys.readouterr()
    assert out == ""
    assert "… publishing 5 rows" in err


def test_short_work_is_silent(capsys) -> None:
    with output.Progress() as progress:
        progress("reading people.csv")
    assert capsys.readouterr().err == ""
