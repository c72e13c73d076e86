"""`sfumato risk`: how likely records are found again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset
    from sfumato.desk import PublishedRelease


def risk(
    source: Annotated[str, typer.Argument(help="CSV, Parquet or package; - for a table on standard input.")],
    quasi: Annotated[
        list[str] | None, typer.Option(help="Columns somebody may know; repeatable or comma-separated.")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Column that says which person a row is about.")] = None,
    population: Annotated[
        str | None, typer.Option(help="Persons the table was drawn from: how many, or a table of them.")
    ] = None,
    threshold: Annotated[float, typer.Option(min=0, max=1, help="Records above this risk are at risk.")] = 0.2,
    most_combined: Annotated[int | None, typer.Option(min=1, help="Columns to combine at most.")] = None,
    project: Annotated[Path | None, typer.Option(help="Project file: roles, and how tables are read.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    html: Annotated[Path | None, typer.Option(help="Also write the report as one HTML page.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the HTML file if it exists.")] = False,
) -> None:
    """Prosecutor, journalist and marketer risk, its distribution, and how columns tell rows apart. Shows no value."""
    from sfumato import desk
    from sfumato.cli.output import Progress, emit, emit_json, names, refuse_existing, suggest, write_new
    from sfumato.cli.project import read_project

    if html is not None:
        refuse_existing(html, force)
    told = read_project(project) if project else None
    reading = dict(told.reading()) if told else {}
    known = names(quasi) or (told.names("quasi") if told else [])
    unit = unit or next(iter(told.names("unit") if told else []), None)
    with Progress() as progress:
        progress("reading")
        table = _subject(source, unit, reading)
        among = _population(population, unit, reading)
        progress("counting records that look alike")
        options = {"threshold": threshold, "most_combined": most_combined, "progress": progress}
        found = desk.risk(table, quasi=known or None, population=among, **options)
    if html is not None:
        write_new(html, found.page(), force)
    if json:
        emit_json(found.json())
    else:
        emit(repr(found))
    if source != "-" or html is not None:
        suggest(_next(source, html))


def _is_package(source: str) -> bool:
    return source.lower().endswith(".zip") or (source != "-" and Path(source).is_dir())


def _subject(source: str, unit: str | None, reading: dict[str, Any]) -> Dataset | PublishedRelease:
    """A package as it is, a table with its unit."""
    from sfumato import desk
    from sfumato.errors import ParameterError

    if not _is_package(source):
        return _table(source, unit, reading)
    if unit and not reading:
        raise ParameterError("A package does not say which rows are one person's: --unit is for tables.")
    return desk.open(source)


def _table(source: str, unit: str | None, reading: dict[str, Any]) -> Dataset:
    from sfumato import desk
    from sfumato.cli.output import readable

    with readable(source) as path:
        people = desk.read(path, **reading)
    return people.roles(unit=unit) if unit else people


def _population(text: str | None, unit: str | None, reading: dict[str, Any]) -> Dataset | int | None:
    """A number of persons, or a table of them; the unit column is used where the table has it."""
    if text is None:
        return None
    if text.replace("_", "").isdecimal():
        return int(text)
    people = _table(text, None, reading)
    return people.roles(unit=unit) if unit and unit in people.schema else people


def _next(source: str, html: Path | None) -> str:
    if html is not None:
        return f"open {html} in a browser"
    if _is_package(source):
        return f"sfumato verify {source}"
    return f"sfumato risk {source} --html risk.html"
