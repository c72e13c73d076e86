"""Anatomy: two tables that share a group id; which row has which sensitive values is permuted inside a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.contracts import Recipe
from sfumato.data.codec import Codes, Domain
from sfumato.data.evidence import Groups, group_evidence
from sfumato.data.schema import Schema
from sfumato.errors import SchemaError
from sfumato.releases.distinct import distinct_rows
from sfumato.releases.form import Form, Frame, with_suppressed
from sfumato.releases.read_cells import exact_column, group_ids
from sfumato.releases.regions import ends, group_columns
from sfumato.releases.used import used_by_values
from sfumato.releases.views import anatomized_views

if TYPE_CHECKING:
    from typing import Self

    from sfumato.contracts import Worlds


@dataclass(frozen=True, eq=False, repr=False)
class Anatomized(Form):
    """Quasi-identifier table and sensitive table; inside a group every matching of the two is possible.

    `slots[c]`: (n,) codes of quasi and plain columns, `slot_group` (n,) their group. `values[c]`: (n,) codes of
    the sensitive columns (a tuple of them moves together), `value_group` (n,). Both group columns hold every group
    equally often. `n_suppressed` rows are known to exist and nothing else.
    """

    form: ClassVar[str] = "anatomized"
    name: str
    schema: Schema
    domains: Mapping[str, Domain]
    slots: Mapping[str, Codes]
    slot_group: NDArray[np.int64]
    values: Mapping[str, Codes]
    value_group: NDArray[np.int64]
    recipe: Recipe
    n_suppressed: int = 0

    @property
    def n_rows(self) -> int:
        """Published and suppressed rows."""
        return len(self.slot_group) + self.n_suppressed

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.slot_group.max(initial=-1)) + 1

    @property
    def regions(self) -> tuple[str, ...]:
        """No column: quasi-identifiers are published as they are, an end of their domain at most left open."""
        return ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Published columns in schema order."""
        return self.schema.names("quasi", "sensitive", "plain")

    def with_recipe(self, recipe: Recipe) -> Self:
        """The same parts under another recipe."""
        return replace(self, recipe=recipe)

    def published(self) -> Self:
        """The same release with every domain cut to what its cells use."""
        domains, slots, values = {}, {}, {}
        for name in self.columns:
            if self.schema[name].role == "sensitive":
                domains[name], values[name] = used_by_values(self.domains[name], self.values[name], levels=True)
            else:
                domains[name], slots[name] = used_by_values(self.domains[name], self.slots[name], levels=False)
        return replace(self, domains=domains, slots=slots, values=values)

    def sensitive_rows(self) -> tuple[NDArray[np.int64], Mapping[str, Codes]]:
        """The rows of the sensitive table."""
        return self.value_group, self.values

    def without(self, column: str) -> Self:
        """The same release without one sensitive column."""
        schema = Schema(tuple(c for c in self.schema if c.name != column))
        domains = {name: domain for name, domain in self.domains.items() if name != column}
        values = {name: codes for name, codes in self.values.items() if name != column}
        return replace(self, schema=schema, domains=domains, values=values)

    def worlds(self) -> Worlds:
        """One uniform matching of slots and values inside every group."""
        from sfumato.worlds.bijection import Bijection

        cut = self.published()
        part = Bijection(cut.columns, cut.domains, cut.slots, cut.slot_group, cut.values, cut.value_group)
        return with_suppressed([part], self.n_suppressed)

    def evidence(self) -> Groups | None:
        """The groups and their sensitive values; None when a unit column was used."""
        if self.recipe.unit != "row":
            return None
        cut = self.published()
        return group_evidence(cut.value_group, cut.n_groups, cut.values, cut.domains, None)

    def groups(self) -> pa.Table:
        """One row per group: id, number of rows, and every sensitive column's values with their ends."""
        cut = self.published()
        columns = group_columns(np.bincount(cut.slot_group, minlength=cut.n_groups), self.schema)
        for name, codes in cut.values.items():
            columns.update(_value_sets(name, cut.domains[name], cut.value_group, codes))
        return pa.table(columns)

    def tables(self) -> Mapping[str, pa.Table]:
        """`quasi`: quasi-identifiers and plain columns; `sensitive`: tuples of sensitive values."""
        cut = self.published()
        quasi = {}
        for name, codes in cut.slots.items():
            domain = cut.domains[name]
            quasi[name] = domain.decode(codes)
            if domain.open_low or domain.open_high:
                quasi.update(ends(name, domain, codes, codes))
        sensitive = {name: cut.domains[name].decode(codes) for name, codes in cut.values.items()}
        return {
            "quasi": pa.table({**quasi, "group_id": pa.array(cut.slot_group)}),
            "sensitive": pa.table({"group_id": pa.array(cut.value_group), **sensitive}),
        }

    def table(self) -> pa.Table:
        """The published rows of the quasi-identifier table as written."""
        return self.tables()["quasi"]

    @classmethod
    def table_names(cls) -> tuple[str, ...]:
        """Two tables."""
        return ("quasi", "sensitive")

    @classmethod
    def from_tables(cls, frame: Frame, tables: Mapping[str, pa.Table]) -> Self:
        """The release behind the two written tables; both must hold every group equally often."""
        slot_group, _ = group_ids(tables["quasi"])
        value_group, _ = group_ids(tables["sensitive"])
        if not np.array_equal(np.bincount(slot_group), np.bincount(value_group)):
            raise SchemaError(
                "data/quasi.parquet and data/sensitive.parquet do not hold the same groups. Verify the package."
            )
        domains: dict[str, Domain] = {}
        slots: dict[str, Codes] = {}
        values: dict[str, Codes] = {}
        for name in frame.schema.names("quasi", "sensitive", "plain"):
            if frame.schema[name].role == "sensitive":
                domains[name], values[name] = exact_column(frame, tables["sensitive"], name)
            else:
                domains[name], slots[name] = exact_column(frame, tables["quasi"], name)
        return cls(
            frame.name,
            frame.schema,
            domains,
            slots,
            slot_group,
            values,
            value_group,
            frame.recipe,
            frame.n_suppressed,
        )

    @classmethod
    def views(cls, frame: Frame) -> str:
        """Views `quasi`, `sensitive`, `data`, the release's own name, and the macro `count_bounds`."""
        return anatomized_views(frame)


def _value_sets(name: str, domain: Domain, group: NDArray[np.int64], codes: Codes) -> dict[str, pa.Array]:
    """Per group: the distinct values as a label, the first and the last of them."""
    found = distinct_rows([group, codes], len(group))
    owner, code = group[found.first], codes[found.first]
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    last = np.append(starts[1:], len(owner)) - 1
    text = np.array([domain.leaf_label(c) for c in range(domain.size)], dtype=object)
    labels = ["{" + ", ".join(text[part]) + "}" for part in np.split(code, starts[1:])] if len(code) else []
    low, high = domain.decode(code[starts]), domain.decode(code[last])
    return {name: pa.array(labels, pa.string()), f"{name}__lo": low, f"{name}__hi": high}
