"""`sfumato profile`: how identifying each column is."""

from __future__ import annotations

from typing import Annotated

import typer


def profile(
    source: Annotated[str, typer.Argument(help="CSV or Parquet; - for standard input.")],
    json: Annotated[bool, typer.Option("--json", help="Print the profile as JSON.")] = False,
) -> None:
    """How identifying each column is, which roles suit it, and why. Never shows a value."""
    from sfumato import desk
    from sfumato.cli.output import Progress, emit, emit_json, readable, suggest

    with Progress() as progress, readable(source) as path:
        progress("reading")
        people = desk.read(path)
        progress(f"profiling {people.n_rows} rows")
        found = people.profile()
    if json:
        emit_json(found.json())
    else:
        emit(f"{people.name}: {people.n_rows:,} rows, {len(people.schema.columns)} columns\n")
        emit(repr(found))
    if source != "-":
        suggest(f"sfumato init {source}")
