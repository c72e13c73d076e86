"""The original: integer codes under a schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.data.codec import Codes, Domain, encode, encode_into
from sfumato.data.kinds import canonical, kind_of_column
from sfumato.data.schema import Column, Schema
from sfumato.errors import SchemaError

if TYPE_CHECKING:
    from sfumato.data.profile import Profile


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table about people as codes; immutable, every verb returns a new one.

    `codes[name][row]` indexes `domains[name]`. `notes` say what was decided on the way in. `beside[requirement]`:
    the quasi-identifiers of a population that a requirement counts, as codes of the same domains (−1: not listed).
    Its text form never shows a cell.
    """

    name: str
    schema: Schema
    domains: Mapping[str, Domain]
    codes: Mapping[str, Codes]
    n_rows: int
    notes: tuple[str, ...] = ()
    beside: Mapping[Any, Mapping[str, Codes]] = field(default_factory=dict)

    def only(self, rows: NDArray[np.bool_]) -> Dataset:
        """Some rows, on the same domains; shape of `rows` (n_rows,)."""
        codes = {name: column[rows] for name, column in self.codes.items()}
        return replace(self, codes=codes, n_rows=int(rows.sum()))

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
        schema = self.schema.with_roles(identifier=identifier, quasi=quasi, sensitive=sensitive, plain=plain, unit=unit)
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

    def profile(self, *, most_combined: int = 3) -> Profile:
        """Distinctness, unique combinations, dependencies between columns, proposed roles with reasons."""
        from sfumato.data.profile import profile

        return profile(self, most_combined=most_combined)

    def __repr__(self) -> str:
        roles = ", ".join(f"{c.name}: {c.kind}{'' if c.role is None else ' ' + c.role}" for c in self.schema)
        return f"<Dataset {self.name}: {self.n_rows} rows; {roles}>"


def from_arrow(table: pa.Table, name: str = "data") -> Dataset:
    """A dataset from an Arrow table whose columns already have their types."""
    schema = Schema(tuple(Column(field.name, kind_of_column(field.type, field.name)) for field in table.schema))
    domains, codes = {}, {}
    for column, array in zip(schema, table.columns, strict=True):
        domains[column.name], codes[column.name] = encode(one_array(array, column.name), column.kind)
    return Dataset(name, schema, domains, codes, table.num_rows)


def codes_on(dataset: Dataset, domains: Mapping[str, Domain]) -> dict[str, Codes]:
    """The dataset's columns as codes of these domains (a release's), −1 where a value is not among them."""
    codes = {}
    for name, domain in domains.items():
        dataset.schema[name]
        table = encode_into(domain, dataset.domains[name].with_missing())
        codes[name] = table[dataset.codes[name]]
    return codes


def one_array(array: pa.ChunkedArray, name: str) -> pa.Array:
    """One column in the type its kind is kept in: text as one dictionary array, the rest plain."""
    if pa.types.is_dictionary(array.type) and kind_of_column(array.type, name) != "text":
        array = array.cast(array.type.value_type)
    chunks = [canonical(chunk, name) for chunk in array.chunks] or [canonical(pa.array([], array.type), name)]
    if pa.types.is_string(chunks[0].type):
        chunks = [chunk.dictionary_encode() for chunk in chunks]
    if len(chunks) > 1 and pa.types.is_dictionary(chunks[0].type):
        return pa.chunked_array(chunks).unify_dictionaries().combine_chunks()
    kept = chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
    if pa.types.is_floating(kept.type):
        _refuse_not_numbers(kept, name)
    return kept


def _refuse_not_numbers(array: pa.Array, name: str) -> None:
    n_nan = pc.sum(pc.is_nan(array)).as_py() or 0
    n_infinite = pc.sum(pc.is_inf(array)).as_py() or 0
    if n_nan or n_infinite:
        raise SchemaError(
            f"Column {name!r} has {n_nan} NaN and {n_infinite} infinite numbers, which no answer can be computed from. "
            "Make them missing (null), or name how they are written with null_values=(...) for a CSV file."
        )
