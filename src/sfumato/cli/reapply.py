"""`sfumato reapply`: new rows under a recoding that is published."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sfumato.desk import PublishedRelease


class Several(StrEnum):
    """What is done with a row that lies in several regions."""

    suppress = "suppress"
    innermost = "innermost"


def reapply(
    package: Annotated[str, typer.Argument(help="Package directory or zip whose recoding is applied.")],
    new: Annotated[str, typer.Argument(help="New rows with the same columns: CSV or Parquet; - for standard input.")],
    output: Annotated[str, typer.Option("--output", "-o", help="Directory or .zip for the new rows' package.")],
    project: Annotated[
        Path | None, typer.Option(help="Project file that says how rows are read and which hierarchies there are.")
    ] = None,
    several: Annotated[Several, typer.Option(help="A row in several regions.")] = Several.suppress,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse (exit 3) instead of suppressing groups that fail a promise.")
    ] = False,
    title: Annotated[str | None, typer.Option(help="Title of the package.")] = None,
    license: Annotated[str | None, typer.Option(help="Licence of the package.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the package at the output path.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Put new rows into the regions of a package; every promise is judged on them alone and together with the old rows.

    What is suppressed and why is printed for you and not published.
    """
    from sfumato import desk
    from sfumato.cli import exits
    from sfumato.cli.job import hierarchies_of
    from sfumato.cli.output import Progress, note, readable
    from sfumato.cli.project import read_project
    from sfumato.errors import Infeasible
    from sfumato.saving import refuse_taken

    refuse_taken(Path(output).absolute(), force)
    found = read_project(project) if project else None
    rules = hierarchies_of(found, project.parent) if found and project else {}
    with Progress() as progress, readable(new) as path:
        progress("reading")
        old = desk.open(package)
        rows = desk.read(path, **(found.reading() if found else {}))
        progress(f"placing {rows.n_rows} rows")
        try:
            made = desk.reapply(old, rows, hierarchies=rules, several=several.value, strict=strict)
        except Infeasible as error:
            if not strict:
                raise
            note(f"Error: {error}")
            raise typer.Exit(exits.NOT_MET) from None
        progress(f"writing and verifying {made.release.n_rows} rows")
        made.save(output, title=title, license=license, force=force)
    _report(made, output, json)


def _report(made: PublishedRelease, output: str, json: bool) -> None:
    from dataclasses import asdict

    from sfumato.cli.output import emit, emit_json, suggest
    from sfumato.report.text import release_json, release_lines

    tally = made.tally
    assert tally is not None
    if json:
        emit_json({**release_json(made.release), "path": output, "verified": True, "tally": asdict(tally)})
    else:
        for line in release_lines(made.release):
            emit(line)
        emit(f"of {tally.n_rows:,} new rows {tally.n_published:,} are published; suppressed (not published why):")
        emit(f"  {tally.n_nowhere:,} in no region, {tally.n_several:,} in several regions")
        emit(f"  {tally.n_failing_alone:,} in groups that fail a promise on the new rows alone")
        emit(f"  {tally.n_failing_together:,} in groups that fail a promise together with the old rows")
        emit(f"written to {output}, verified on its bytes")
    suggest(f"sfumato verify {output}")
