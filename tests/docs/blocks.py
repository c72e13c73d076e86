"""Code blocks of a Markdown file, run as a reader would run them, their output compared."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
ANY = "…"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text, line, and the `output` block right after it."""

    language: str
    text: str
    line: int
    output: str | None


def blocks_of(text: str) -> list[Block]:
    """Every `python` and `console` block of a page in order."""
    found = list(FENCE.finditer(text))
    blocks = []
    for here, after in zip(found, [*found[1:], None], strict=False):
        told = after is not None and after[1] == "output" and not text[here.end() : after.start()].strip()
        if here[1] in ("python", "console"):
            line = text.count("\n", 0, here.start()) + 1
            blocks.append(Block(here[1], here[2], line, after[2] if told and after else None))
    return blocks


def run(block: Block, names: dict[str, Any], folder: Path) -> None:
    """Run one block in a folder; `AssertionError` when its output is not what the page says."""
    if block.language == "console":
        _run_console(block, folder)
        return
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.chdir(folder):
        exec(compile(block.text, f"<line {block.line}>", "exec"), names)
    if block.output is not None:
        assert_same(said.getvalue(), block.output, block.line)


def _run_console(block: Block, folder: Path) -> None:
    for command, expected in _commands(block.text):
        words = list(shlex.shlex(command, posix=True, punctuation_chars=True))
        plain = words[0] == "sfumato" and not any(set(word) <= set("();<>|&") for word in words)
        code, out, err = _called(command, folder) if plain else _spawned(command, folder)
        wanted = re.search(r"# exit (\d+)$", command)
        assert code == int(wanted[1] if wanted else 0), f"line {block.line}: {command}\n{err}"
        if expected:
            assert_same(out or err, expected, block.line)


def _called(command: str, folder: Path) -> tuple[int, str, str]:
    """A plain `sfumato …` command runs in this process: the imports are paid for once."""
    from sfumato.cli.application import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(folder):
        code = main(shlex.split(command, comments=True)[1:])
    return code, out.getvalue(), err.getvalue()


def _spawned(command: str, folder: Path) -> tuple[int, str, str]:
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
    found = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    return found.returncode, found.stdout, found.stderr


def _commands(text: str) -> list[tuple[str, str]]:
    """(command, expected output) pairs; a command goes on after a backslash."""
    joined = text.replace("\\\n", "")
    parts = re.split(r"^\$ ", joined, flags=re.M)[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


def assert_same(found: str, wanted: str, line: int) -> None:
    """Equal up to trailing space; a line `…` stands for any lines, `…` inside a line for any text."""
    pattern = ""
    for one in wanted.rstrip().splitlines():
        if one.strip() == ANY:
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(piece) for piece in one.rstrip().split(ANY)) + r"[ ]*\n"
    text = "\n".join(one.rstrip() for one in found.rstrip().splitlines()) + "\n"
    assert re.fullmatch(pattern, text), f"the block at line {line} says\n{wanted}\nbut it printed\n{text}"
