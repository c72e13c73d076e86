"""Small files in the right room: the sizes and names the house keeps, and registers that hold what exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "sfumato"
FILES = sorted(SOURCE.rglob("*.py"))
NAMES_THAT_SAY_NOTHING = {"utils", "util", "misc", "helpers", "helper", "common", "manager", "base"}
MOST_LINES, MOST_STEPS, MOST_KERNEL_STEPS, MOST_PARAMETERS, MOST_NESTED, MOST_SAID = 400, 40, 80, 6, 3, 12
# Compiled loops take arrays one by one, as Numba has no cheap records; one entry, one reason.
MORE_PARAMETERS = {
    "kernels/mondrian_grow.py:grow": "the whole search in one compiled loop: three arrays a lane, the rules, the tests",
}
MORE_PARAMETERS |= {
    "kernels/rollup.py:_roll_one": "one compiled loop: keys, weights, what to raise, the table, three results",
    "kernels/rollup_wide.py:roll": "the same for wide keys",
    "kernels/rollup.py:field_sums": "one compiled loop: keys, weights, which rows, four arrays a field, the figures",
}
DEEPER = {"verify/regions.py:nodes": "runs of equal labels on every level, ended by a label or the end"}
BASES = {
    "requirements": "Requirement",
    "methods.tables": "Method",
    "methods.metrics": "Metric",
    "data.hierarchies": "Hierarchy",
    "releases": "Form",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = Function | ast.ClassDef
paths = pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))


def functions(path: Path) -> list[Function]:
    tree = ast.parse(path.read_text(encoding="utf8"))
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def place(path: Path, function: Function) -> str:
    return f"{path.relative_to(SOURCE).as_posix()}:{function.name}"


def body_lines(function: Function) -> int:
    """Lines of a function's body without its docstring."""
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1:
        body = body[1:]
    return (function.end_lineno or 0) - body[0].lineno + 1


def n_parameters(function: Function) -> int:
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def nested(steps: Sequence[ast.stmt]) -> int:
    """How deep blocks stand in one another; `elif` stands beside its `if`, inner functions count for themselves."""
    return max((_depth(step) for step in steps), default=0)


def _depth(step: ast.stmt) -> int:
    if isinstance(step, Documented) or (not hasattr(step, "body") and not isinstance(step, ast.Match)):
        return 0
    parts = [getattr(step, "body", []), getattr(step, "finalbody", [])]
    parts += [part.body for part in (*getattr(step, "handlers", []), *getattr(step, "cases", []))]
    orelse = getattr(step, "orelse", [])
    chained = isinstance(step, ast.If) and len(orelse) == 1 and isinstance(orelse[0], ast.If)
    inner = max(nested(part) for part in parts)
    return max(1 + inner, nested(orelse) + (not chained) if orelse else 0)


def documented(body: Sequence[ast.stmt], public: bool = True) -> Iterator[tuple[Documented, bool]]:
    """Functions, classes and methods, and whether each is public."""
    for node in body:
        if isinstance(node, Documented):
            seen = public and not node.name.startswith("_")
            yield node, seen
            if isinstance(node, ast.ClassDef):
                yield from documented(node.body, seen)


@paths
def test_files_and_functions_stay_small(path: Path) -> None:
    assert path.stem not in NAMES_THAT_SAY_NOTHING
    assert path.read_text(encoding="utf8").count("\n") <= MOST_LINES, f"{path.name} is too long: split it by step"
    most = MOST_KERNEL_STEPS if "kernels" in path.parts else MOST_STEPS
    for function in functions(path):
        at = place(path, function)
        assert body_lines(function) <= most, f"{at} is too long"
        assert at in DEEPER or nested(function.body) <= MOST_NESTED, f"{at}: blocks stand too deep in one another"
        # A Typer command declares one parameter per option: its signature is the CLI.
        if path.parent.name != "cli" and at not in MORE_PARAMETERS:
            assert n_parameters(function) <= MOST_PARAMETERS, f"{at} has {n_parameters(function)} parameters"


@paths
def test_docstrings_are_there_and_short(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf8"))
    text = ast.get_docstring(tree)
    assert text, f"{path.name} has no docstring"
    assert len(text.splitlines()) <= MOST_SAID, f"{path.name}: docstring of {len(text.splitlines())} lines"
    for node, public in documented(tree.body):
        doc = ast.get_docstring(node)
        assert doc or not public, f"{path.name}:{node.lineno} {node.name} has no docstring"
        n_said = len((doc or "").splitlines())
        assert n_said <= MOST_SAID, f"{path.name}:{node.lineno} {node.name}: docstring of {n_said} lines"


def test_nesting_is_counted_as_it_is_read() -> None:
    def depth(text: str) -> int:
        return nested(ast.parse(text).body)

    assert depth("x = 1") == 0
    assert depth("if a:\n x\nelif b:\n y\nelif c:\n z\nelse:\n w") == 1
    assert depth("if a:\n x\nelse:\n for b in c:\n  y") == 2
    assert depth("for a in b:\n try:\n  x\n except E:\n  with c:\n   if d:\n    y") == 4
    assert depth("while a:\n match b:\n  case 1:\n   x") == 2
    assert depth("if a:\n def f():\n  if b:\n   if c:\n    x") == 1


@pytest.mark.parametrize("room", BASES)
def test_registers_hold_what_exists(room: str) -> None:
    registered = import_module(f"sfumato.{room}").REGISTERED
    folder = SOURCE / room.replace(".", "/")
    there = {
        f"sfumato.{room}.{path.stem}:{name}"
        for path in folder.glob("*.py")
        for name in re.findall(rf"^class (\w+)\([^)]*\b{BASES[room]}\b", path.read_text(encoding="utf8"), re.M)
    }
    assert len(set(registered)) == len(registered)
    assert set(registered) == there


def test_news_fragments_are_named_well() -> None:
    for path in (ROOT / "news").glob("*.md"):
        assert re.fullmatch(r"[a-z0-9-]+\.(guarantee|format|feature|fix|speed)\.md", path.name), path.name
        assert path.read_text(encoding="utf8").strip()
