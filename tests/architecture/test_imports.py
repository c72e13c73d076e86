"""Imports point one way; randomness has one source; the public face starts fast."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "sfumato"
FILES = sorted(SOURCE.rglob("*.py"))
# Lower rooms first; rooms of one step never import each other.
STEPS: list[set[str]] = [
    {"errors"},
    {"declared", "chance", "kernels"},
    {"data"},
    {"outcomes"},
    {"contracts"},
    {"engines"},
    {"requirements", "worlds"},
    {"releases"},
    {"methods", "queries"},
    {"mining", "attacks", "utility", "verify"},
    {"report"},
    {"saving", "searching"},
    {"desk"},
    {"cli", "workbench", "studies"},
]
STEP_OF = {room: step for step, rooms in enumerate(STEPS) for room in rooms}
VERIFIER_MAY = {"errors", "declared", "contracts", "outcomes", "data.tabular", "verify"}


def room_of(path: Path) -> str:
    """The room (first folder or module) a file belongs to; the package root is ''."""
    first = path.relative_to(SOURCE).parts[0]
    return "" if first == "__init__.py" else first.removesuffix(".py")


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    """Every run-time import of ours, deferred ones counted, those under TYPE_CHECKING not: (line, dotted name)."""
    tree = ast.parse(path.read_text(encoding="utf8"))
    hidden = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for child in node.body
        for inner in ast.walk(child)
    }
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def ours(path: Path) -> Iterator[tuple[int, str]]:
    """Imports of this package: (line, name below the package)."""
    for line, name in imports_of(path):
        if name == "sfumato" or name.startswith("sfumato."):
            yield line, name.removeprefix("sfumato").removeprefix(".")


def modules() -> dict[str, Path]:
    """Dotted name below the package → file."""
    names = {}
    for path in FILES:
        parts = path.relative_to(SOURCE).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_down(path: Path) -> None:
    room = room_of(path)
    if room == "":
        return
    assert room in STEP_OF, f"room {room!r} has no step; add it to STEPS"
    for line, name in ours(path):
        other = name.split(".")[0]
        assert other in STEP_OF, f"{path}:{line} imports the package root or an unknown room"
        allowed = other == room or STEP_OF[other] < STEP_OF[room]
        assert allowed, f"{path}:{line}: {room} must not import {other}"


@pytest.mark.parametrize("path", sorted((SOURCE / "verify").rglob("*.py")), ids=lambda p: p.name)
def test_the_verifier_shares_no_code_with_what_it_verifies(path: Path) -> None:
    for line, name in ours(path):
        known = any(name == may or name.startswith(may + ".") for may in VERIFIER_MAY)
        assert known, f"{path}:{line} imports {name}"


@pytest.mark.parametrize("path", sorted((SOURCE / "kernels").rglob("*.py")), ids=lambda p: p.name)
def test_kernels_import_nothing_of_ours_but_kernels(path: Path) -> None:
    assert all(name.startswith("kernels") for _, name in ours(path))


def test_no_cycles_between_modules() -> None:
    names = modules()

    def target(name: str) -> str | None:
        return next((n for n in (name, name.rpartition(".")[0]) if n in names and n), None)

    edges = {name: {t for _, n in ours(path) if (t := target(n)) and t != name} for name, path in names.items() if name}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, "cycle: " + " → ".join([*trail, name])
        if name in done:
            return
        for other in edges[name]:
            visit(other, (*trail, name))
        done.add(name)

    for name in edges:
        visit(name, ())


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_chance_has_one_source(path: Path) -> None:
    if room_of(path) == "chance":
        return
    text = path.read_text(encoding="utf8")
    banned = {name for _, name in imports_of(path)} & {"random", "secrets"}
    if room_of(path) == "saving":
        banned -= {"secrets"}
    assert not banned, f"{path} imports {banned}"
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node).startswith(("np.random.", "numpy.random.", "random.")):
            rest = ast.unparse(node).split("random.", 1)[1]
            assert rest in {"Generator"}, f"{path}:{node.lineno} draws from {ast.unparse(node)}"


HEAVY = ("numba", "scipy", "altair", "opendp", "pyspark", "numpy", "pyarrow", "duckdb", "polars", "pandas", "sqlglot")


@pytest.mark.parametrize("start", ["import sfumato", "import sfumato; dir(sfumato)", "from sfumato import cli"])
def test_starting_loads_nothing_heavy(start: str) -> None:
    code = f"{start}; import sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['sfumato', '--help']\n"
        f"import atexit; atexit.register(lambda: print('LOADED', [m for m in {HEAVY!r} if m in sys.modules]))\n"
        "from sfumato.cli.application import run; run()"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "LOADED []" in found.stdout, found.stdout + found.stderr
    assert "publish" in found.stdout
