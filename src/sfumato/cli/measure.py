"""`sfumato measure`: what a release still tells."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def measure(
    package: Annotated[str, typer.Argument(help="Package directory or zip.")],
    truth: Annotated[str, typer.Option(help="The original table; - for standard input.")],
    metric: Annotated[
        list[str] | None, typer.Option(help="Only these measures; repeatable or comma-separated.")
    ] = None,
    project: Annotated[Path | None, typer.Option(help="Project file that says how the original is read.")] = None,
    queries: Annotated[int, typer.Option(min=1, help="Random COUNT queries in the workload.")] = 200,
    seed: Annotated[int | None, typer.Option(help="Makes the workload repeatable.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Losses, workload error, width and coverage of a release against its original."""
    from sfumato import desk
    from sfumato.cli.output import Progress, emit, emit_json, names, readable, suggest
    from sfumato.cli.project import read_project

    with Progress() as progress, readable(truth) as path:
        release = desk.open(package)
        progress("reading the original")
        original = desk.read(path, **(read_project(project).reading() if project else {}))
        progress(f"asking {queries} random queries")
        found = desk.measure(release, original, metrics=names(metric) or None, n_queries=queries, seed=seed)
    if json:
        emit_json({"package": package, "figures": found.rows()})
    else:
        emit(repr(found))
    suggest(f"sfumato report {package} -o report.html")
