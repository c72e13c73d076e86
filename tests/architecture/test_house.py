"""Small files in the right room: the sizes and names the house keeps, and registers that hold what exists."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "sfumato"
FILES = sorted(SOURCE.rglob("*.py"))
NAMES_THAT_SAY_NOTHING = {"utils", "util", "misc", "helpers", "helper", "common", "manager", "base"}
MOST_LINES, MOST_STEPS, MOST_KERNEL_STEPS, MOST_PARAMETERS = 400, 40, 80, 6


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's body without its docstring."""
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1:
        body = body[1:]
    return (function.end_lineno or 0) - body[0].lineno + 1


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_files_and_functions_stay_small(path: Path) -> None:
    assert path.stem not in NAMES_THAT_SAY_NOTHING
    assert path.read_text(encoding="utf8").count("\n") <= MOST_LINES, f"{path.name} is too long: split it by step"
    most = MOST_KERNEL_STEPS if "kernels" in path.parts else MOST_STEPS
    for function in functions(path):
        assert body_lines(function) <= most, f"{path.name}:{function.lineno} {function.name} is too long"
        if "kernels" in path.parts:
            continue
        arguments = function.args
        names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        count = len([name for name in names if name not in ("self", "cls")])
        # A Typer command declares one parameter per option: its signature is the CLI.
        if path.parent.name != "cli":
            assert count <= MOST_PARAMETERS, f"{path.name}:{function.lineno} {function.name} has {count} parameters"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_docstrings_are_there_and_short(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf8"))
    text = ast.get_docstring(tree)
    assert text, f"{path.name} has no docstring"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            doc = ast.get_docstring(node)
            assert doc, f"{path.name}:{node.lineno} {node.name} has no docstring"
            said = [line for line in doc.split("\n\n>>>")[0].splitlines() if not line.lstrip().startswith(">>>")]
            assert len(said) <= 14, f"{path.name}:{node.lineno} {node.name}: docstring of {len(said)} lines"


@pytest.mark.parametrize("room", ["requirements", "methods.tables"])
def test_registers_hold_what_exists(room: str) -> None:
    module = import_module(f"sfumato.{room}")
    registered = {entry.partition(":")[0].rpartition(".")[2] for entry in module.REGISTERED}
    folder = SOURCE / room.replace(".", "/")
    kinds = ("Requirement", "Method")
    there = {
        path.stem
        for path in folder.glob("*.py")
        if any(re.search(rf"^class \w+\([^)]*\b{kind}\b", path.read_text(encoding="utf8"), re.M) for kind in kinds)
    }
    assert registered == there


def test_news_fragments_are_named_well() -> None:
    for path in (ROOT / "news").glob("*.md"):
        assert re.fullmatch(r"[a-z0-9-]+\.(guarantee|format|feature|fix|speed)\.md", path.name), path.name
        assert path.read_text(encoding="utf8").strip()
