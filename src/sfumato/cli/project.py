"""The project file: what it may say, reading it, and errors that name the line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sfumato.cli.exits import unknown
from sfumato.errors import SchemaError

FILE_NAME = "sfumato.toml"


class Strict(BaseModel):
    """A table of the project file: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(Strict):
    """Where the original is, relative to the project file, its shape, and how its text is read."""

    path: str
    kind: Literal["table"] = "table"
    null_values: list[str] | None = None
    encoding: str | None = None


class ColumnEntry(Strict):
    """What one column is: a role, and how its values generalize."""

    role: Literal["identifier", "quasi", "sensitive", "plain", "unit"] | None = None
    kind: Literal["integer", "real", "decimal", "date", "boolean", "text"] | None = None
    hierarchy: dict[str, Any] | None = None


class ReleaseEntry(Strict):
    """What the published package says about itself."""

    name: str | None = None
    title: str | None = None
    license: str | None = None


class SearchEntry(Strict):
    """What `sfumato search` compares, and how many seconds each search of a lattice may take."""

    methods: list[dict[str, Any]] = Field(default_factory=list)
    time_limit: float | None = Field(default=None, gt=0)


class Project(Strict):
    """The whole project file, `sfumato.toml`. `method`: one table, or several to choose from."""

    schema_version: Literal[1]
    source: Source | None = None
    require: list[dict[str, Any]] = Field(default_factory=list)
    method: dict[str, Any] | list[dict[str, Any]] = Field(default_factory=lambda: {"name": "mondrian"})
    search: SearchEntry = Field(default_factory=SearchEntry)
    columns: dict[str, ColumnEntry] = Field(default_factory=dict)
    release: ReleaseEntry = Field(default_factory=ReleaseEntry)

    def reading(self) -> dict[str, Any]:
        """How the original is read: the options of `read` that the file sets."""
        source = self.source
        kinds = {name: entry.kind for name, entry in self.columns.items() if entry.kind}
        found = {
            "kinds": kinds,
            "null_values": source and source.null_values,
            "encoding": source and source.encoding,
        }
        return {option: value for option, value in found.items() if value}

    def names(self, role: str) -> list[str]:
        """Columns with a role."""
        return [name for name, entry in self.columns.items() if entry.role == role]


def read_project(path: Path) -> Project:
    """The project file at `path`; `SchemaError` names the line, the key and the nearest known one."""
    try:
        text = path.read_text(encoding="utf8")
        found = tomllib.loads(text)
    except FileNotFoundError:
        raise SchemaError(f"There is no {path.name} here. Write one with `sfumato init DATA`.") from None
    except UnicodeDecodeError:
        raise SchemaError(f"{path.name} is not UTF-8 text. Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"{path.name} is not valid TOML: {error}. Mend that line.") from None
    try:
        return Project.model_validate(found)
    except ValidationError as error:
        problems = [_problem(one, text, path.name) for one in error.errors()]
        raise SchemaError(" ".join(dict.fromkeys(problems))) from None


def _problem(error: Any, text: str, name: str) -> str:
    """One validation error in words, without the value that was found."""
    # Pydantic names the tried kind among the steps where a key has several.
    steps = [str(step) for step in error["loc"] if "[" not in str(step)]
    key = steps[-1] if steps else ""
    where = f"{name}{_line(text, steps)}"
    if error["type"] == "extra_forbidden":
        return f"{where}: {unknown('key', key, _keys_beside(steps[:-1]))}"
    if error["type"] == "missing":
        return f"{where}: the key {'.'.join(steps)!r} is missing. Add it."
    said = str(error["msg"]).removeprefix("Input ")
    return f"{where}: {'.'.join(steps)} {said[0].lower()}{said[1:]}."


def _line(text: str, steps: list[str]) -> str:
    """ ", line 7" of the innermost key that is written in the file; "" when none is."""
    for key in reversed(steps):
        written = re.compile(rf"""(?<![\w-])["']?{re.escape(key)}["']?\s*(?:=|\]|\.)""")
        for number, line in enumerate(text.splitlines(), start=1):
            if written.search(line.split("#", 1)[0]):
                return f", line {number}"
    return ""


def _keys_beside(steps: list[str]) -> list[str]:
    """Known keys of the table at these steps."""
    model: type[BaseModel] = Project
    for step in steps:
        field = model.model_fields.get(step)
        inner = field.annotation if field else (ColumnEntry if model is Project else None)
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            model = inner
        elif step == "source":
            model = Source
        elif step == "columns" or "columns" in steps:
            model = ColumnEntry
    return list(model.model_fields)
