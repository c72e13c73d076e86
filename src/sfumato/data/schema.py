"""Columns with their kind, role and hierarchy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from sfumato.errors import SchemaError

if TYPE_CHECKING:
    from sfumato.data.hierarchy import Hierarchy

Kind = Literal["integer", "real", "decimal", "date", "boolean", "text"]
Role = Literal["identifier", "quasi", "sensitive", "plain", "unit"]
ROLES: tuple[Role, ...] = get_args(Role)
PUBLISHED: tuple[Role, ...] = ("quasi", "sensitive", "plain")
TAKEN = ("group_id",)
"""Columns of a release's own, beside `<column>__lo` and `<column>__hi`."""


@dataclass(frozen=True)
class Column:
    """One column: `role` None means undecided, and an undecided column is never published."""

    name: str
    kind: Kind
    role: Role | None = None
    hierarchy: Hierarchy | None = None


@dataclass(frozen=True)
class Schema:
    """The columns of a table in their order.

    >>> s = Schema((Column("age", "integer"), Column("pay", "integer")))
    >>> s.with_roles(quasi=["age"], sensitive=["pay"]).names("quasi")
    ('age',)
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise SchemaError(f"Column names must differ; found twice: {', '.join(twice)}. Rename one of each.")

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise SchemaError(f"There is no column {name!r}; the columns are {', '.join(c.name for c in self.columns)}.")

    def __contains__(self, name: object) -> bool:
        return any(column.name == name for column in self.columns)

    def names(self, *roles: Role) -> tuple[str, ...]:
        """Names of the columns that have one of these roles; all names when none is given."""
        return tuple(column.name for column in self.columns if not roles or column.role in roles)

    def with_roles(
        self,
        *,
        identifier: Iterable[str] = (),
        quasi: Iterable[str] = (),
        sensitive: Iterable[str] = (),
        plain: Iterable[str] = (),
        unit: str | None = None,
    ) -> Schema:
        """The same columns with exactly these roles; unnamed columns become undecided."""
        asked: dict[Role, Iterable[str]] = {
            "identifier": identifier,
            "quasi": quasi,
            "sensitive": sensitive,
            "plain": plain,
            "unit": [] if unit is None else [unit],
        }
        role_of: dict[str, Role] = {}
        for role, names in asked.items():
            for name in [names] if isinstance(names, str) else names:
                if role_of.get(self[name].name, role) != role:
                    raise SchemaError(f"Column {name!r} was given two roles, {role_of[name]} and {role}. Keep one.")
                role_of[name] = role
        _refuse_taken([name for name, role in role_of.items() if role in PUBLISHED])
        return Schema(tuple(replace(column, role=role_of.get(column.name)) for column in self.columns))

    def with_hierarchies(self, hierarchies: Mapping[str, Hierarchy]) -> Schema:
        """The same columns with these hierarchies put in place of the ones they had."""
        for name in hierarchies:
            self[name]
        return Schema(tuple(replace(c, hierarchy=hierarchies.get(c.name, c.hierarchy)) for c in self.columns))


def _refuse_taken(published: Iterable[str]) -> None:
    taken = [name for name in published if name.lower() in TAKEN or name.lower().endswith(("__lo", "__hi"))]
    if taken:
        raise SchemaError(
            f"A release has columns of its own called {', '.join(TAKEN)}, <column>__lo and <column>__hi, "
            f"so {', '.join(taken)} cannot be published under that name. Rename it in the data."
        )
