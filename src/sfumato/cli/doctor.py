"""`sfumato doctor`: what is installed, what is missing, what the machine allows."""

from __future__ import annotations

from typing import Annotated, Any

import typer

EXTRAS = {
    "plots": ("altair", "vl_convert"),
    "web": ("starlette", "uvicorn"),
    "dp": ("opendp",),
    "spark": ("pyspark",),
    "docs": ("markdown_it",),
}


def doctor(
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """What is installed, what is missing, and what the machine allows. Exit 1 if a needed part is missing."""
    from sfumato.cli import exits
    from sfumato.cli.output import emit, emit_json, note, suggest

    found = findings()
    if json:
        emit_json(found)
    else:
        for line in lines(found):
            emit(line)
    if found["missing"]:
        note(f"Missing: {', '.join(found['missing'])}. Install sfumato again: pip install sfumato")
        raise typer.Exit(exits.UNEXPECTED)
    suggest("sfumato demo")


def findings() -> dict[str, Any]:
    """Versions, extras, kernel cache and limits."""
    import os
    import platform
    from importlib.metadata import version

    needed = _needed()
    return {
        "sfumato": version("sfumato"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "versions": needed,
        "missing": [name for name, found in needed.items() if found is None],
        "extras": {name: all(_importable(module) for module in modules) for name, modules in EXTRAS.items()},
        "kernel_cache": _kernel_cache(),
        "duckdb": _duckdb_limits() if needed.get("duckdb") else {},
    }


def lines(found: dict[str, Any]) -> list[str]:
    """The findings for people."""
    cache = found["kernel_cache"]
    warm = "warm: kernels start at once" if cache["compiled"] else "cold: the first large run compiles for some seconds"
    extras = ", ".join(f"{name} {'yes' if there else 'no'}" for name, there in found["extras"].items())
    duckdb = ", ".join(f"{name} {value}" for name, value in found["duckdb"].items())
    return [
        f"sfumato {found['sfumato']}, Python {found['python']}, {found['system']}, {found['cores']} cores",
        "needed: " + ", ".join(f"{name} {version or 'MISSING'}" for name, version in found["versions"].items()),
        f"extras: {extras}",
        f"kernel cache: {warm}{'' if cache['writable'] else '; its folder cannot be written, so it stays cold'}",
        f"DuckDB: {duckdb}",
    ]


def _needed() -> dict[str, str | None]:
    """Versions of what sfumato requires, from its own metadata."""
    import re
    from importlib.metadata import PackageNotFoundError, requires, version

    found: dict[str, str | None] = {}
    for line in requires("sfumato") or []:
        if "extra ==" in line:
            continue
        name = re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0]
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def _importable(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None


def _kernel_cache() -> dict[str, Any]:
    """Compiled kernels that lie ready beside their source, or where NUMBA_CACHE_DIR says."""
    import os
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec("sfumato.kernels")
    beside = Path(str(spec.origin)).parent / "__pycache__" if spec else Path()
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or beside)
    there = folder if folder.exists() else folder.parent
    return {"compiled": len(list(folder.rglob("*.nbc"))), "writable": os.access(there, os.W_OK)}


def _duckdb_limits() -> dict[str, Any]:
    import duckdb

    with duckdb.connect() as connection:
        names = ("threads", "memory_limit")
        return {name: connection.sql(f"SELECT current_setting('{name}')").fetchall()[0][0] for name in names}
