"""`sfumato search`: candidates side by side, from methods and lattices, taken up where an earlier search stopped."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import (
    Identifier,
    Name,
    Plain,
    ProjectFile,
    Quasi,
    Require,
    Rules,
    Sensitive,
    Source,
    Unit,
)

if TYPE_CHECKING:
    from sfumato.cli.job import Job
    from sfumato.contracts import Method
    from sfumato.data.dataset import Dataset
    from sfumato.searching import Found

DONE = {"plot", "publish", "output", "fresh", "force", "json"}
"""Options that say what to do with the candidates, not what to search."""


@dataclass(frozen=True)
class Wanted:
    """What to do with what is found."""

    time_limit: float | None
    errors: bool
    plot: Path | None
    rank: int | None
    output: str | None
    fresh: bool
    force: bool
    json: bool
    again: list[str]


def search(
    ctx: typer.Context,
    source: Source = None,
    project: ProjectFile = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            envvar="SFUMATO_METHOD",
            help="NAME:PARAMETERS, repeatable; lattice, mondrian and anatomy when none is named.",
        ),
    ] = None,
    require: Require = None,
    quasi: Quasi = None,
    sensitive: Sensitive = None,
    plain: Plain = None,
    identifier: Identifier = None,
    unit: Unit = None,
    hierarchy: Rules = None,
    name: Name = None,
    metric: Annotated[
        str | None, typer.Option(help="What lattices minimize, e.g. precision; loss:gs_factor=0.3.")
    ] = None,
    max_suppressed: Annotated[
        str | None, typer.Option(help="Share of rows that lattices may suppress, e.g. 0.04.")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(min=0.001, help="Seconds for each search of a lattice.")] = None,
    errors: Annotated[
        bool, typer.Option("--errors/--no-errors", help="Measure the error of 200 random queries, and rank by it.")
    ] = True,
    plot: Annotated[Path | None, typer.Option(help="Also draw the lattice: FILE.html or FILE.svg.")] = None,
    publish: Annotated[int | None, typer.Option(min=1, help="Publish the candidate of this rank to --output.")] = None,
    output: Annotated[str | None, typer.Option("--output", "-o", help="Directory or .zip for --publish.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what an earlier search found.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the candidates as JSON.")] = False,
) -> None:
    """Compare methods, and the nodes of a generalization lattice, by loss, risk and error of queries.

    A search is kept in .sfumato/ beside the project file, for you alone, and taken up again by the next one: after a
    time limit, after Ctrl-C, or to publish a candidate. Exit 6: no solution was found in the time.
    """
    from sfumato.cli.job import Flags, job_of
    from sfumato.cli.output import names
    from sfumato.cli.project import FILE_NAME

    roles = {"quasi": quasi, "sensitive": sensitive, "plain": plain, "identifier": identifier}
    named = {role: names(columns) for role, columns in roles.items()} | {"unit": [unit] if unit else []}
    file = project or (Path(FILE_NAME) if source is None else None)
    job = job_of(Flags(source, require or (), method or (), named, hierarchy or (), {"name": name}), file)
    wanted = Wanted(time_limit or job.search.time_limit, errors, plot, publish, output, fresh, force, json, _again(ctx))
    changed = {"metric": metric, "max_suppressed": max_suppressed}
    methods = [_changed(one, {key: value for key, value in changed.items() if value}) for one in job.compared]
    _refuse(methods, {key for key, value in changed.items() if value}, wanted)
    _run(job, methods, file.parent if file else Path(), wanted)


def _changed(method: Method, given: dict[str, Any]) -> Method:
    """The method with those of the given parameters that it knows."""
    from dataclasses import fields, replace

    known = {one.name for one in fields(method)}  # type: ignore[arg-type]
    return replace(method, **{key: value for key, value in given.items() if key in known})  # type: ignore[type-var]


def _refuse(methods: Sequence[Method], given: set[str], wanted: Wanted) -> None:
    """What cannot work is said before the search."""
    from sfumato.cli.output import refuse_existing
    from sfumato.errors import ParameterError
    from sfumato.saving import refuse_taken
    from sfumato.searching import Searching

    lattices = any(isinstance(method, Searching) for method in methods)
    asked = [f"--{key.replace('_', '-')}" for key in sorted(given)] + ["--plot"] * (wanted.plot is not None)
    if asked and not lattices:
        raise ParameterError(f"{' and '.join(asked)} is about lattices, and none is searched. Add --method lattice.")
    if wanted.plot is not None:
        if wanted.plot.suffix.lower() not in (".html", ".svg"):
            raise ParameterError("--plot writes a page or a picture: name a FILE.html or a FILE.svg.")
        refuse_existing(wanted.plot, wanted.force)
    if (wanted.rank is None) != (wanted.output is None):
        raise ParameterError("Say both which candidate and where it goes: --publish RANK -o OUTPUT.")
    if wanted.output is not None:
        refuse_taken(Path(wanted.output).absolute(), wanted.force)


def _run(job: Job, methods: Sequence[Method], folder: Path, wanted: Wanted) -> None:
    from sfumato.cli.kept import kept_search
    from sfumato.cli.output import Progress, emit, emit_json, readable, write_new

    with readable(job.source) as path:
        with Progress() as progress:
            progress(f"reading {Path(job.source).name}")
            people = job.read(path)
        with kept_search(folder, people.name, fresh=wanted.fresh) as kept, Progress() as progress:
            found = _found(job, people, methods, (wanted.time_limit, kept.path), progress)
    with Progress() as progress:
        progress("comparing candidates")
        said: dict[str, Any] = found.json(errors=wanted.errors) | {"taken_up": kept.taken_up}
        lines = _lines(found, wanted.errors)
        if wanted.plot is not None and found.lattices:
            progress("drawing the lattice")
            write_new(wanted.plot, found.plot().written(wanted.plot), wanted.force)
            said["plot"] = str(wanted.plot)
    if not wanted.json:
        emit(lines)
    _notes(said, found, wanted)
    if wanted.rank is not None:
        _publish(found, job, wanted, said)
    if wanted.json:
        emit_json(said)
    _next(found, wanted, said)


def _found(job: Job, people: Dataset, methods: Sequence[Method], limits: Any, progress: Any) -> Found:
    """The search; when every method is refused, each says why before the exit."""
    from sfumato import desk
    from sfumato.cli.output import note

    time_limit, memory = limits
    options = {"time_limit": time_limit, "memory": memory, "progress": progress}
    try:
        return desk.search(people, methods, require=list(job.require), hierarchies=job.hierarchies, **options)
    except Exception as error:
        for line in getattr(error, "__notes__", ()):
            note(f"left out: {line}")
        raise


def _lines(found: Found, errors: bool) -> str:
    import pyarrow as pa

    from sfumato.data.tabular import Tabular
    from sfumato.report.found import found_rows

    return Tabular(pa.Table.from_pylist(found_rows(found, errors=errors))).listing()


def _notes(said: dict[str, Any], found: Found, wanted: Wanted) -> None:
    """What to know about the table: what was left out, taken up, not proven, drawn."""
    from sfumato.cli.output import note
    from sfumato.report.wording import number

    for one in said["refused"]:
        note(f"left out: {one['method']}: {one['reason']}")
    if said["taken_up"]:
        note(f"taken up: {number(said['taken_up'])} nodes known from an earlier search (--fresh forgets them)")
    for spec, one in found.lattices:
        if not one.ended.optimal:
            gap = one.best.gap
            could = "how much lower it could be is not known" if gap is None else f"at most {number(gap)} too high"
            looked = f"{number(one.nodes.n_looked)} of {number(one.nodes.space.n_nodes)} nodes"
            note(f"{spec}: the time was up after {looked}; the score is not proven, {could}. Call again to go on.")
    if not wanted.errors and len(found.unranked) > 1:
        note("not ranked: candidates stand in the order of their methods, as no errors were measured")
    if wanted.plot is not None:
        note(f"drawn: {wanted.plot}" if found.lattices else "not drawn: no lattice was searched to a solution")


def _publish(found: Found, job: Job, wanted: Wanted, said: dict[str, Any]) -> None:
    from sfumato.cli.output import Progress, emit
    from sfumato.errors import ParameterError
    from sfumato.report.text import release_lines

    candidates = found.listed(errors=wanted.errors)
    assert wanted.rank is not None and wanted.output is not None
    if wanted.rank > len(candidates):
        raise ParameterError(f"There are {len(candidates)} candidates; rank {wanted.rank} was asked.")
    with Progress() as progress:
        progress(f"publishing candidate {wanted.rank}")
        release = candidates[wanted.rank - 1].publish()
        progress(f"writing and verifying {release.release.n_rows} rows")
        checked = release.save(wanted.output, title=job.title, license=job.license, force=wanted.force)
    said["published"] = wanted.output
    if not wanted.json:
        for line in ("", *release_lines(release.release)):
            emit(line)
        emit(f"written to {wanted.output}, {len(checked.findings)} checks passed on its bytes")


def _next(found: Found, wanted: Wanted, said: dict[str, Any]) -> None:
    """Publish the best; then verify it."""
    from sfumato.cli.output import suggest

    if "published" in said:
        suggest(f"sfumato verify {shlex.quote(said['published'])}")
    else:
        suggest(shlex.join([*wanted.again, "--publish", "1", "-o", f"{found.job.dataset.name}-release"]))


def _again(ctx: typer.Context) -> list[str]:
    """The same search as a command, without what it did beside searching."""
    told = ["sfumato", "search"]
    for one in ctx.command.params:
        name = str(one.name)
        source = ctx.get_parameter_source(name)
        if name in DONE or source is None or source.name != "COMMANDLINE":
            continue
        value = ctx.params[name]
        if name == "source":
            told.append(str(value))
        elif isinstance(value, bool):
            told.append(one.opts[0] if value else one.secondary_opts[0])
        else:
            for each in value if isinstance(value, list | tuple) else [value]:
                told += [one.opts[0], str(each)]
    return told
