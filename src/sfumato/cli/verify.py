"""`sfumato verify`: a gate for continuous integration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def verify(
    package: Annotated[str, typer.Argument(help="Package directory or zip.")],
    raw: Annotated[
        str | None, typer.Option(help="The original: adds containment, units and the scan for removed values.")
    ] = None,
    project: Annotated[Path | None, typer.Option(help="Project file that says how the original is read.")] = None,
    null: Annotated[list[str] | None, typer.Option(help="Text that means missing in the original; repeatable.")] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of the original: utf-8, latin-1, utf-16.")] = "utf-8",
    normalize: Annotated[bool, typer.Option("--normalize", help="Tidy the original's spaces and Unicode.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Re-check every promise of a package on its bytes; exit 3 if one fails."""
    from json import loads

    from sfumato import desk
    from sfumato.cli import exits
    from sfumato.cli.output import Progress, emit, emit_json, note, readable, suggest
    from sfumato.cli.project import read_project

    with Progress() as progress:
        progress("verifying")
        if raw is None:
            found = desk.verify(package)
        else:
            with readable(raw) as path:
                # The verifier reads the original with code of its own; a file that is no table is refused before.
                reading = read_project(project).reading() if project else {}
                told = {"null_values": tuple(null or [""]), "encoding": encoding, "normalize": normalize}
                original = desk.read(path, **{**told, **reading})
                found = desk.verify(package, raw=original if reading else path, **told)
    if json:
        emit_json({"package": package, **loads(found.json())})
    else:
        for finding in found.findings:
            mark = "FAIL" if not finding.holds else "ok  " if finding.decided else "open"
            emit(f"{mark}  {finding.check}: {finding.detail}")
    failed = sum(not finding.holds for finding in found.findings)
    if failed:
        note(f"{failed} of {len(found.findings)} checks fail: do not use or share this package.")
        raise typer.Exit(exits.NOT_MET)
    if found.undecided:
        advice = "" if raw else "; give the original with --raw to decide them"
        note(f"No check fails, but {len(found.undecided)} of {len(found.findings)} are not decided{advice}.")
    else:
        note(f"All {len(found.findings)} checks hold.")
    suggest(f"sfumato query {package} -c 'SELECT count(*) AS n FROM data'")
