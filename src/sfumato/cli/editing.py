"""Editing one column's hierarchy in the project file: one line changes, comments and layout stay."""

from __future__ import annotations

import copy
import os
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sfumato.errors import SchemaError


def write_hierarchy(path: Path, column: str, spec: dict[str, Any]) -> None:
    """Put a hierarchy into the file, in place of the one that is there; refused when that is not surely right."""
    with path.open(encoding="utf8", newline="") as file:
        text = file.read()
    there = path.resolve()
    written, new = with_hierarchy(text, column, spec, path.name), there.with_name(f".{there.name}.new")
    try:
        with new.open("w", encoding="utf8", newline="") as file:
            file.write(written)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(there, new)
        os.replace(new, there)
    finally:
        new.unlink(missing_ok=True)


def with_hierarchy(text: str, column: str, spec: dict[str, Any], name: str = "sfumato.toml") -> str:
    """The text with this hierarchy for a column; reading it again gives the same settings and this one.

    >>> with_hierarchy('[columns]\\nage = { role = "quasi" } # years\\n', "age", {"intervals": [5]})
    '[columns]\\nage = {role = "quasi", hierarchy = {intervals = [5]}} # years\\n'
    """
    wanted = copy.deepcopy(tomllib.loads(text))
    entry = wanted.get("columns", {}).get(column)
    if not isinstance(entry, dict) or not entry.get("role"):
        raise SchemaError(
            f"{name} gives column {column!r} no role, so a hierarchy there would do nothing. Write its role first, "
            f'as in {column} = {{ role = "quasi" }} under [columns].'
        )
    entry["hierarchy"] = spec
    for lines in _edits(text.splitlines(keepends=True), column, entry):
        if _loads("".join(lines)) == wanted:
            return "".join(lines)
    raise SchemaError(
        f"{name} writes column {column!r} in a way that cannot be edited safely. Write it on one line under [columns], "
        f"or put this in yourself: hierarchy = {_inline(spec)}"
    )


def _edits(lines: list[str], column: str, entry: dict[str, Any]) -> Iterator[list[str]]:
    """Ways to write it, each changing one line or adding one."""
    for i, line in enumerate(lines):
        found = _loads(line)
        if found is None or len(found) != 1:
            continue
        if isinstance(found.get(column), dict):
            yield _replaced(lines, i, column, entry)
        elif "hierarchy" in found:
            yield _replaced(lines, i, "hierarchy", entry["hierarchy"])
        elif found == {"columns": {column: {}}}:
            end = _ending(line)
            added = f"hierarchy = {_inline(entry['hierarchy'])}{end}"
            yield [*lines[:i], line.rstrip("\r\n") + end, added, *lines[i + 1 :]]


def _replaced(lines: list[str], i: int, key: str, value: dict[str, Any]) -> list[str]:
    """Line i with another value after its key, and the comment it had."""
    line = lines[i]
    whole, end = line.rstrip("\r\n"), line[len(line.rstrip("\r\n")) :]
    found = _loads(whole)
    equals = [n for n, letter in enumerate(whole) if letter == "=" and _loads(f"{whole[:n]}= 0") == {key: 0}]
    hashes = [n for n, letter in enumerate(whole) if letter == "#" and _loads(whole[:n]) == found]
    if not equals:
        return lines
    kept = len(whole[: hashes[0]].rstrip()) if hashes else len(whole.rstrip())
    start = whole[: equals[0] + 1]
    return [*lines[:i], f"{start} {_inline(value)}{whole[kept:]}{end}", *lines[i + 1 :]]


def _ending(line: str) -> str:
    return "\r\n" if line.endswith("\r\n") else "\n"


def _loads(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _inline(value: dict[str, Any]) -> str:
    """A table on one line."""
    return str(_tables(value).as_string())


def _tables(value: Any) -> Any:
    import tomlkit

    if not isinstance(value, dict):
        return value
    table = tomlkit.inline_table()
    for key, one in value.items():
        table[key] = _tables(one)
    return table
