"""`sfumato hierarchy`: see, try and write down how a column becomes coarser."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sfumato.cli.hierarchies import Shown
    from sfumato.cli.job import Job
    from sfumato.data.dataset import Dataset

PAUSE = 0.2
"""Seconds between looks at the project file."""
WITHOUT = "k-anonymity:k=5"
"""What nodes are measured against when the project names no requirement."""


def hierarchy(
    column: Annotated[str | None, typer.Argument(help="Column; all quasi-identifiers when left out.")] = None,
    source: Annotated[str | None, typer.Argument(help="CSV or Parquet; - for standard input.")] = None,
    project: Annotated[Path | None, typer.Option(help="Project file; sfumato.toml when no source is given.")] = None,
    tried: Annotated[
        str | None, typer.Option("--set", help="Try KIND:PARAMETERS instead, e.g. intervals:5,10,20.")
    ] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Every node of every level, with counts.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it again whenever the project file changes; end with Ctrl-C.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", help="Put the hierarchy into the project file.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Levels of quasi-identifiers and how full their nodes are; try and write hierarchies. Shows values: for you only.

    Without a column: all of them. sfumato hierarchy age --set intervals:5,10 --preview tries one without editing.
    """
    from sfumato.cli.project import FILE_NAME
    from sfumato.errors import ParameterError

    if column and source is None and Path(column).is_file():
        column, source = None, column
    file = project or (Path(FILE_NAME) if source is None else None)
    if column is None and (tried or write or preview):
        raise ParameterError("--set, --preview and --write are for one column. Name it: sfumato hierarchy COLUMN …")
    if file is None and (watch or write):
        raise ParameterError("--watch and --write need a project file. Name it with --project.")
    if watch and write:
        raise ParameterError("--watch shows what you edit, --write edits for you. Use one of them.")
    look = _Look(column, source, file, tried, preview, json)
    if watch and file is not None:
        _watch(look, file)
        return
    found = look.show()
    if write and file is not None and column is not None:
        _write(file, column, found[0])
    look.suggest(written=write)


@dataclass
class _Look:
    """What is looked at, and how it is shown; the data is read again only when the way of reading changes."""

    column: str | None
    source: str | None
    file: Path | None
    tried: str | None
    nodes: bool
    json: bool
    _read: tuple[Any, Dataset] | None = field(default=None, repr=False)

    def show(self) -> list[Shown]:
        """Look and print once."""
        from sfumato.cli import hierarchies
        from sfumato.cli.output import Progress, emit, emit_json

        with Progress() as progress:
            progress("reading")
            job = self._job()
            people = self._people(job)
            progress(f"placing {people.n_rows} rows")
            k = max(one.least for one in job.require)
            unit = next(iter(people.schema.names("unit")), "row")
            counted = hierarchies.Counted(k, unit if unit == "row" else "unit")
            found = [hierarchies.shown(people, name, self._given(job), k) for name in self._names(people)]
        if self.json:
            columns = hierarchies.as_json(found, counted, self.nodes)
            emit_json({"table": people.name, "k": k, "unit": unit, "columns": columns})
            return found
        lines = hierarchies.preview(found[0], counted) if self.nodes else hierarchies.overview(found, counted)
        for line in lines:
            emit(line)
        return found

    def suggest(self, written: bool) -> None:
        """What to do next."""
        from sfumato.cli.output import suggest

        given = f" --project {self.file}" if self.file and self.file.name != "sfumato.toml" else ""
        if self.column is None or written:
            one = f"sfumato hierarchy COLUMN {self.source or ''}".rstrip()
            suggest(f"{one}{given} --preview" if self.column is None else f"sfumato publish{given} -o release")
        elif self.file is None:
            suggest(f"sfumato init {self.source}")
        else:
            tried = f" --set {self.tried}" if self.tried else ""
            suggest(f"sfumato hierarchy {self.column}{given}{tried} {'--write' if self.nodes else '--preview'}")

    def _job(self) -> Job:
        from sfumato.cli.job import Flags, job_of
        from sfumato.cli.project import read_project

        named = self.file is not None and read_project(self.file).require
        return job_of(Flags(self.source, () if named else (WITHOUT,)), self.file)

    def _people(self, job: Job) -> Dataset:
        from sfumato.cli.output import readable

        key = (job.source, repr(job.reading), repr({name: entry.role for name, entry in job.columns.items()}))
        if self._read is None or self._read[0] != key:
            with readable(job.source) as path:
                self._read = (key, job.read(path))
        return self._read[1]

    def _names(self, people: Dataset) -> tuple[str, ...]:
        if self.column is not None:
            return (self.column,)
        return people.schema.names("quasi") or tuple(c.name for c in people.schema if c.role is None)

    def _given(self, job: Job) -> dict[str, Any]:
        """Hierarchies of the project file, and the one that is tried."""
        from sfumato.cli.job import hierarchy_of_flag

        given: dict[str, Any] = {name: (one, "project") for name, one in job.hierarchies.items()}
        if self.tried and self.column:
            given[self.column] = (hierarchy_of_flag(f"{self.column}={self.tried}")[1], "set")
        return given


def _write(file: Path, column: str, found: Shown) -> None:
    from sfumato.cli.editing import write_hierarchy
    from sfumato.cli.output import note
    from sfumato.errors import ParameterError

    if found.hierarchy is None:
        raise ParameterError(f"There is no hierarchy to write for {column!r}; name one with --set.")
    spec = found.hierarchy.spec()
    if found.origin == "set" and "file" in spec:
        # A path on the command line counts from here, one in the project file from that file.
        spec["file"] = Path(os.path.relpath(spec["file"], file.resolve().parent)).as_posix()
    if found.origin != "project":
        write_hierarchy(file, column, spec)
    note(f"The hierarchy of {column!r} is in {file}.")


def _watch(look: _Look, file: Path) -> None:
    """Show, and again after every change of the file, until Ctrl-C."""
    seen: Any = ()
    try:
        while True:
            now = _stamp(file)
            if now != seen:
                seen = now
                _show_again(look, file)
            time.sleep(PAUSE)
    except KeyboardInterrupt:
        look.suggest(written=False)


def _show_again(look: _Look, file: Path) -> None:
    """On a clear screen; a mistake made while the file is edited is said, and its mending waited for."""
    import sys

    from sfumato.cli.output import note
    from sfumato.errors import SfumatoError

    if sys.stdout.isatty():
        typer.echo("\033[2J\033[H", nl=False)
    try:
        look.show()
    except (SfumatoError, OSError) as error:
        note(f"Error: {error if isinstance(error, SfumatoError) else f'{file.name} cannot be read.'}")
    sys.stdout.flush()
    note(f"Watching {file.name}; end with Ctrl-C.")


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
