"""What to publish and how: the project file with flags put over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.cli.exits import unknown
from sfumato.cli.project import ColumnEntry, Project, SearchEntry, read_project
from sfumato.errors import ParameterError, SchemaError

if TYPE_CHECKING:
    from sfumato.contracts import Method, Requirement
    from sfumato.data.dataset import Dataset
    from sfumato.data.hierarchies.rule import Hierarchy

ROLES = ("identifier", "quasi", "sensitive", "plain", "unit")
COMPARED = ("lattice", "mondrian", "anatomy")
"""Methods that a search compares when none are named."""


@dataclass(frozen=True)
class Flags:
    """What the command line and the environment say; None or empty: nothing."""

    source: str | None = None
    require: Sequence[str] = ()
    methods: Sequence[str] = ()
    roles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hierarchies: Sequence[str] = ()
    release: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """Everything a publication needs, checked as far as it can be without reading the data."""

    source: str
    reading: Mapping[str, Any]
    require: tuple[Requirement, ...]
    methods: tuple[Method, ...]
    compared: tuple[Method, ...]
    search: SearchEntry
    columns: Mapping[str, ColumnEntry]
    hierarchies: Mapping[str, Hierarchy]
    name: str | None
    title: str | None
    license: str | None

    @property
    def method(self) -> Method:
        """The one method to publish with."""
        if len(self.methods) != 1:
            named = ", ".join(method.name for method in self.methods) or "none"
            raise ParameterError(
                f"One method publishes; {len(self.methods)} are named ({named}). Choose with --method, or publish a "
                "candidate: sfumato search --publish 1 -o OUTPUT."
            )
        return self.methods[0]

    def read(self, path: str) -> Dataset:
        """The original with its roles."""
        from sfumato import desk

        people = desk.read(path, name=self.name, **self.reading)
        known = [column.name for column in people.schema]
        wrong = [unknown("column", name, known) for name in self.columns if name not in people.schema]
        if wrong:
            raise SchemaError(" ".join(wrong))
        role = {r: [n for n, entry in self.columns.items() if entry.role == r] for r in ROLES}
        if len(role["unit"]) > 1:
            raise SchemaError(f"Only one column can be the unit; {', '.join(role['unit'])} are. Keep one.")
        unit = role.pop("unit")
        return people.roles(**role, unit=unit[0] if unit else None)


def job_of(flags: Flags, project_path: Path | None) -> Job:
    """Flags over the project file; without a source on the command line the project file must be there."""
    project, folder = Project(schema_version=1), Path()
    if project_path is not None:
        project, folder = read_project(project_path), project_path.parent
    columns = _columns(project.columns, flags.roles)
    require = _requirements(flags.require or project.require)
    return Job(
        source=_source(flags, project, folder),
        reading=project.reading(),
        require=require,
        methods=_parsed(flags.methods or _tables(project.method)),
        compared=_compared(flags, project),
        search=project.search,
        columns=columns,
        hierarchies=_hierarchies(columns, flags.hierarchies, folder),
        name=flags.release.get("name") or project.release.name,
        title=flags.release.get("title") or project.release.title,
        license=flags.release.get("license") or project.release.license,
    )


def hierarchy_flag(text: str) -> tuple[str, dict[str, Any]]:
    """A `--hierarchy` option as a column and the table the project file would hold.

    >>> hierarchy_flag("age=intervals:5,10,low=0,high=100")
    ('age', {'intervals': [5, 10], 'low': 0, 'high': 100})
    >>> hierarchy_flag("zip=masking"), hierarchy_flag("born=dates:month,year")
    (('zip', {'masking': 'right'}), ('born', {'dates': ['month', 'year']}))
    """
    column, equals, rule = text.partition("=")
    kind, _, rest = rule.partition(":")
    if not equals or not column or not kind:
        raise ParameterError("A hierarchy is written COLUMN=KIND:PARAMETERS, for example age=intervals:5,10,20.")
    parts = [part.strip() for part in rest.split(",") if part.strip()]
    listed = [_number(part) for part in parts if "=" not in part]
    named = {key: _number(value) for key, _, value in (part.partition("=") for part in parts if "=" in part)}
    alone: dict[str, Any] = {"masking": "right", "suppression": True}
    if kind in alone and not listed:
        return column, {kind: alone[kind], **named}
    single = kind in ("masking", "file")
    return column, {kind: rest if kind == "file" else listed[0] if single and listed else listed, **named}


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _source(flags: Flags, project: Project, folder: Path) -> str:
    if flags.source:
        return flags.source
    if project.source is None:
        raise ParameterError(
            "No data was named. Give a path, or [source] in sfumato.toml (sfumato init DATA writes one)."
        )
    return str(folder / project.source.path)


def _columns(written: Mapping[str, ColumnEntry], roles: Mapping[str, Sequence[str]]) -> dict[str, ColumnEntry]:
    """Roles from flags replace the file's roles of those columns."""
    columns = dict(written)
    given: dict[str, str] = {}
    for role, names in roles.items():
        for name in names:
            if given.setdefault(name, role) != role:
                raise ParameterError(f"Column {name!r} was given two roles, {given[name]} and {role}. Keep one.")
            columns[name] = columns.get(name, ColumnEntry()).model_copy(update={"role": role})
    return columns


def _requirements(found: Sequence[str | dict[str, Any]]) -> tuple[Requirement, ...]:
    from sfumato import requirements

    if not found:
        raise ParameterError("No requirement was named. Say what must hold, for example --require k-anonymity:k=5.")
    return tuple(requirements.parse(one) for one in found)


def _parsed(found: Sequence[str | dict[str, Any]]) -> tuple[Method, ...]:
    from sfumato import methods

    return tuple(methods.parse(one) for one in found)


def _tables(method: dict[str, Any] | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return method if isinstance(method, list) else [method]


def _compared(flags: Flags, project: Project) -> tuple[Method, ...]:
    """What a search compares: the methods named; where only one is, in the file, the usual ones with it among them."""
    named = flags.methods or project.search.methods or project.method
    if not isinstance(named, dict):
        return _parsed(named)
    one = _parsed([named])[0]
    usual = tuple(one if name == one.name else _parsed([name])[0] for name in COMPARED)
    return usual if one in usual else (*usual, one)


def hierarchies_of(project: Project, folder: Path) -> dict[str, Hierarchy]:
    """The hierarchies that a project file names; file paths count from its folder."""
    return _hierarchies(project.columns, (), folder)


def _hierarchies(columns: Mapping[str, ColumnEntry], flags: Sequence[str], folder: Path) -> dict[str, Hierarchy]:
    specs = {name: entry.hierarchy for name, entry in columns.items() if entry.hierarchy}
    found = {name: _hierarchy(name, spec, folder) for name, spec in specs.items()}
    return found | dict(map(hierarchy_of_flag, flags))


def hierarchy_of_flag(text: str) -> tuple[str, Hierarchy]:
    """A `--hierarchy` option as a column and its hierarchy; file paths count from here."""
    name, spec = hierarchy_flag(text)
    return name, _hierarchy(name, spec, Path())


def _hierarchy(name: str, spec: Mapping[str, Any], base: Path) -> Hierarchy:
    from sfumato.data.hierarchy import from_spec

    try:
        return from_spec(spec, base=base)
    except ParameterError as error:
        raise ParameterError(f"Hierarchy of {name!r}: {error}") from None
