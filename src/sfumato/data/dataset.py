"""The original: integer codes under a schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.codec import Codes, Domain, encode
from sfumato.data.schema import Column, Kind, Schema
from sfumato.errors import SchemaError

if TYPE_CHECKING:
    from sfumato.data.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table about people as codes; immutable, every verb returns a new one.

    `codes[name][row]` indexes `domains[name]`. Its text form never shows a cell.
    """

    name: str
    schema: Schema
    domains: Mapping[str, Domain]
    codes: Mapping[str, Codes]
    n_rows: int

    def roles(
        self,
        *,
        identifier: Iterable[str] = (),
        quasi: Iterable[str] = (),
        sensitive: Iterable[str] = (),
        plain: Iterable[str] = (),
        unit: str | None = None,
    ) -> Dataset:
        """The same data with these roles; columns without one are never published."""
        schema = self.schema.with_roles(
            identifier=identifier, quasi=quasi, sensitive=sensitive, plain=plain, unit=unit
        )
        return replace(self, schema=schema)

    @cached_property
    def units(self) -> NDArray[np.int32] | None:
        """Which person each row is about, as dense codes; None when every row is a person of its own.

        A row whose unit is missing counts as a person of its own.
        """
        names = self.schema.names("unit")
        if not names:
            return None
        domain, codes = self.domains[names[0]], self.codes[names[0]]
        if not domain.missing:
            return codes
        lone = codes == domain.n_values
        dense = codes.copy()
        dense[lone] = domain.n_values + np.arange(int(lone.sum()), dtype=np.int32)
        return dense

    def arrow(self) -> pa.Table:
        """The original values of all columns."""
        return pa.table({c.name: self.domains[c.name].decode(self.codes[c.name]) for c in self.schema})

    def __repr__(self) -> str:
        roles = ", ".join(f"{c.name}: {c.kind}{'' if c.role is None else ' ' + c.role}" for c in self.schema)
        return f"<Dataset {self.name}: {self.n_rows} rows; {roles}>"


def from_arrow(table: pa.Table, name: str = "data", kinds: Mapping[str, Kind] | None = None) -> Dataset:
    """A dataset from an Arrow table whose columns already have their types."""
    columns, domains, codes = [], {}, {}
    for field, array in zip(table.schema, table.columns, strict=True):
        kind = (kinds or {}).get(field.name) or kind_of(field.type)
        if pa.types.is_large_string(field.type) or pa.types.is_string_view(field.type):
            array = array.cast(pa.string())
        columns.append(Column(field.name, kind))
        domains[field.name], codes[field.name] = encode(array, kind)
    return Dataset(name, Schema(tuple(columns)), domains, codes, table.num_rows)


def kind_of(arrow: Any) -> Kind:
    """The kind of column an Arrow type makes."""
    kinds: list[tuple[Any, Kind]] = [
        (pa.types.is_boolean, "boolean"),
        (pa.types.is_integer, "integer"),
        (pa.types.is_floating, "real"),
        (pa.types.is_decimal, "decimal"),
        (pa.types.is_date, "date"),
        (pa.types.is_string, "text"),
        (pa.types.is_large_string, "text"),
        (pa.types.is_string_view, "text"),
        (pa.types.is_null, "text"),
    ]
    for test, kind in kinds:
        if test(arrow):
            return kind
    if pa.types.is_dictionary(arrow):
        return kind_of(arrow.value_type)
    raise SchemaError(f"A column of type {arrow} is not supported; cast it to text, a number or a date.")
