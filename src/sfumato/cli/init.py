"""`sfumato init`: a project file to start from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset

HEAD = (
    "What to publish and how. Keys may also come from options and SFUMATO_* variables.",
    "Columns without a role are never published. Roles: identifier, quasi, sensitive, plain, unit.",
)


def init(
    source: Annotated[str, typer.Argument(help="CSV or Parquet.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Project file to write.")] = Path("sfumato.toml"),
    accept: Annotated[
        bool, typer.Option("--accept", help="Write the suggested roles as settings, not as comments.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print what was suggested as JSON.")] = False,
) -> None:
    """Profile a table and write sfumato.toml with suggested roles as comments, each with its reason."""
    from sfumato import desk
    from sfumato.cli.output import Progress, emit, emit_json, note, suggest, write_new
    from sfumato.errors import ParameterError

    if output.exists() and Path(source).exists() and output.samefile(source):
        raise ParameterError(f"{output} is the data itself. Choose another path for the project file.")
    with Progress() as progress:
        progress("reading")
        people = desk.read(source)
        progress(f"profiling {people.n_rows} rows")
        columns = suggestions(people)
    beside = os.path.relpath(source, output.resolve().parent)
    write_new(output, project_text(beside, people.name, columns, accept).encode(), force)
    if json:
        emit_json({"project": str(output), "columns": columns})
    else:
        for one in columns:
            emit(f"{one['name']}: {one['role'] or 'undecided'} ({one['reason']})")
    if not accept:
        note(f"Look at the suggestions in {output} and uncomment the roles you agree with.")
    suggest(
        "sfumato publish -o release"
        if output.name == "sfumato.toml"
        else f"sfumato publish --project {output} -o release"
    )


def suggestions(people: Dataset) -> list[dict[str, Any]]:
    """Per column: name, suggested role, the reason, and a hierarchy for quasi-identifiers."""
    from sfumato.data.hierarchy import propose

    found = []
    for row in people.profile().columns.rows():
        role = row["role"]
        rule = propose(people, row["name"]) if role == "quasi" else None
        hierarchy = None if rule is None else rule.spec()
        found.append({"name": row["name"], "role": role, "reason": row["reason"], "hierarchy": hierarchy})
    return found


def project_text(source: str, name: str, columns: list[dict[str, Any]], accept: bool) -> str:
    """The project file; without `accept` the suggested roles are comments."""
    import tomlkit

    sensitive = [one["name"] for one in columns if one["role"] == "sensitive"]
    document = tomlkit.document()
    for line in HEAD:
        document.add(tomlkit.comment(line))
    document["schema_version"] = 1
    document["source"] = _inline({"path": source, "kind": "table"})
    document["require"] = _inline_list(_needs(sensitive))
    document["method"] = _inline({"name": "mondrian"})
    table = tomlkit.table()
    for one in columns:
        table.add(tomlkit.comment(f"{one['name']}: {one['reason']}"))
        entry = {key: one[key] for key in ("role", "hierarchy") if one[key] is not None}
        if not entry:
            continue
        if accept:
            table[one["name"]] = _inline(entry)
        else:
            table.add(tomlkit.comment(_line(one["name"], entry)))
    document["columns"] = table
    document["release"] = tomlkit.item({"name": name, "title": name.replace("_", " ").capitalize()})
    return tomlkit.dumps(document)


def _needs(sensitive: Sequence[str]) -> list[dict[str, Any]]:
    return [{"model": "k-anonymity", "k": 5}, *({"model": "l-diversity", "l": 2, "on": name} for name in sensitive)]


def _inline(entry: dict[str, Any]) -> Any:
    import tomlkit

    table = tomlkit.inline_table()
    for key, value in entry.items():
        table[key] = _inline(value) if isinstance(value, dict) else value
    return table


def _inline_list(entries: list[dict[str, Any]]) -> Any:
    import tomlkit

    array = tomlkit.array()
    for entry in entries:
        array.append(_inline(entry))
    return array


def _line(name: str, entry: dict[str, Any]) -> str:
    """One setting as it would stand uncommented."""
    import tomlkit

    return tomlkit.dumps({name: _inline(entry)}).strip()
