"""`sfumato publish`: from a table to a verified package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import (
    Identifier,
    License,
    Name,
    Plain,
    ProjectFile,
    Quasi,
    Require,
    Rules,
    Sensitive,
    Source,
    Title,
    Unit,
)

if TYPE_CHECKING:
    from sfumato.desk import PublishedRelease
    from sfumato.verify import Verification


def publish(
    source: Source = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", envvar="SFUMATO_OUTPUT", help="Directory, .zip, or - for stdout.")
    ] = None,
    project: ProjectFile = None,
    require: Require = None,
    method: Annotated[
        str | None,
        typer.Option(
            envvar="SFUMATO_METHOD", help="NAME:PARAMETERS, e.g. mondrian:cut=median or lattice:max_suppressed=0.02."
        ),
    ] = None,
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    plain: Plain = None,
    identifier: Identifier = None,
    unit: Unit = None,
    hierarchy: Rules = None,
    name: Name = None,
    title: Title = None,
    license: License = None,
    seed: Annotated[
        int | None, typer.Option(help="For science only: the release is marked not for publication.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the package at the output path.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Make a release that meets every requirement, verify its bytes, put it in place.

    From sfumato.toml alone (sfumato publish -o out) or from options; options and SFUMATO_* win over the file.
    """
    from sfumato.cli.job import Flags, job_of
    from sfumato.cli.output import names
    from sfumato.cli.project import FILE_NAME

    roles = {"quasi": quasi, "sensitive": sensitive, "plain": plain, "identifier": identifier}
    named = {role: names(columns) for role, columns in roles.items()} | {"unit": [unit] if unit else []}
    released = {"name": name, "title": title, "license": license}
    flags = Flags(source, require or (), [method] if method else (), named, hierarchy or (), released)
    file = project or (Path(FILE_NAME) if source is None else None)
    _run(job_of(flags, file), output, seed=seed, force=force, json=json)


def _run(job: Any, output: str | None, *, seed: int | None, force: bool, json: bool) -> None:
    from sfumato import desk
    from sfumato.cli.output import Progress, readable
    from sfumato.errors import ParameterError
    from sfumato.saving import refuse_taken

    if output is None:
        raise ParameterError("No output was named. Say where the package goes: -o DIRECTORY, -o FILE.zip or -o -.")
    method = job.method
    if output != "-":
        refuse_taken(Path(output).absolute(), force)
    with Progress() as progress, readable(job.source) as path:
        progress(f"reading {Path(job.source).name}")
        people = job.read(path)
        release = desk.publish(
            people, method, require=list(job.require), hierarchies=job.hierarchies, seed=seed, progress=progress
        )
        progress(f"writing and verifying {release.release.n_rows} rows")
        options = {"title": job.title, "license": job.license, "allow_seeded": seed is not None}
        if output == "-":
            _to_stdout(release, options)
            return
        found = release.save(output, force=force, **options)
    _report(release, found, output, json)


def _to_stdout(release: PublishedRelease, options: dict[str, Any]) -> None:
    """The package as a zip on standard output."""
    import sys
    import tempfile

    with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
        target = Path(folder) / f"{release.name}.zip"
        release.save(target, **options)
        sys.stdout.buffer.write(target.read_bytes())
        sys.stdout.buffer.flush()


def _report(release: PublishedRelease, found: Verification, output: str, json: bool) -> None:
    from sfumato.cli.output import emit, emit_json, note, suggest
    from sfumato.report.text import release_json, release_lines

    if json:
        emit_json({**release_json(release.release), "path": output, "verified": found.holds})
    else:
        for line in release_lines(release.release):
            emit(line)
        emit(f"written to {output}, {len(found.findings)} checks passed on its bytes")
    if release.recipe.reproducible:
        note("This release was made with a seed and is marked as not for publication.")
    suggest(f"sfumato query {output} -c 'SELECT count(*) AS n FROM {release.name}'")
