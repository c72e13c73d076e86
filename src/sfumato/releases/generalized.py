"""Generalized rows: every group publishes one region per quasi-identifier, the other columns row by row."""

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
from sfumato.releases.read_cells import column_of, exact_column, group_ids
from sfumato.releases.regions import codes_of_ends, end_names, ends, group_columns, labels
from sfumato.releases.used import used_by_regions, used_by_values
from sfumato.releases.views import generalized_views

if TYPE_CHECKING:
    from typing import Self

    from sfumato.contracts import Worlds


@dataclass(frozen=True, eq=False, repr=False)
class Generalized(Form):
    """Cells known up to a region; all originals whose cells lie in the regions are possible.

    `low[c]`, `high[c]`: (G,) ends of group g's region in codes of quasi-identifier c. `group`: (n,) group of each
    published row. `exact[c]`: (n,) codes of the sensitive and plain columns. `n_suppressed` rows are known to exist
    and nothing else: each of their cells may be anything.
    """

    form: ClassVar[str] = "generalized"
    name: str
    schema: Schema
    domains: Mapping[str, Domain]
    low: Mapping[str, Codes]
    high: Mapping[str, Codes]
    group: NDArray[np.int64]
    exact: Mapping[str, Codes]
    recipe: Recipe
    n_suppressed: int = 0

    @property
    def n_rows(self) -> int:
        """Published and suppressed rows."""
        return len(self.group) + self.n_suppressed

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(next(iter(self.low.values()))) if self.low else int(self.group.max(initial=-1)) + 1

    @property
    def regions(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return self.schema.names("quasi")

    @property
    def columns(self) -> tuple[str, ...]:
        """Published columns in schema order."""
        return self.schema.names("quasi", "sensitive", "plain")

    def with_recipe(self, recipe: Recipe) -> Self:
        """The same parts under another recipe."""
        return replace(self, recipe=recipe)

    def published(self) -> Self:
        """The same release with every domain cut to what its cells use."""
        domains, low, high, exact = dict(self.domains), {}, {}, {}
        for name in self.regions:
            domains[name], low[name], high[name] = used_by_regions(self.domains[name], self.low[name], self.high[name])
        for name in self.schema.names("sensitive", "plain"):
            keep_levels = self.schema[name].role == "sensitive"
            domains[name], exact[name] = used_by_values(self.domains[name], self.exact[name], keep_levels)
        return replace(self, domains={c: domains[c] for c in self.columns}, low=low, high=high, exact=exact)

    def classes(self) -> NDArray[np.int64]:
        """For each group the class of groups whose published cells look the same, (G,)."""
        ends_of_groups = [end[name] for name in self.regions for end in (self.low, self.high)]
        return distinct_rows(ends_of_groups, self.n_groups).of

    def sensitive_rows(self) -> tuple[NDArray[np.int64], Mapping[str, Codes]]:
        """The class of every published row, and its sensitive cells."""
        return self.classes()[self.group], {name: self.exact[name] for name in self.schema.names("sensitive")}

    def without(self, column: str) -> Self:
        """The same release without one sensitive column."""
        schema = Schema(tuple(c for c in self.schema if c.name != column))
        domains = {name: domain for name, domain in self.domains.items() if name != column}
        exact = {name: codes for name, codes in self.exact.items() if name != column}
        return replace(self, schema=schema, domains=domains, exact=exact)

    def worlds(self) -> Worlds:
        """Independent cells: one row type for every distinct published row; types whose cells may hold values that
        are not published stand in parts of their own."""
        from sfumato.worlds.alternatives import Alternatives

        cut = self.published()
        exact = list(cut.exact.values())
        types = distinct_rows([cut.classes()[cut.group], *exact], len(cut.group))
        group = cut.group[types.first]
        low = {c: cut.low[c][group] if c in cut.low else cut.exact[c][types.first] for c in cut.columns}
        high = {c: cut.high[c][group] if c in cut.high else cut.exact[c][types.first] for c in cut.columns}
        known = {c: cut.domains[c] for c in cut.low}
        opened = {c: domain.n_withheld(low[c], high[c]) > 0 for c, domain in known.items() if domain.withheld}
        kinds = distinct_rows([flags.astype(np.int64) for flags in opened.values()], len(group))
        parts: list[Alternatives] = []
        for kind, first in enumerate(kinds.first.tolist()):
            some = kinds.of == kind
            unknown = frozenset(c for c, flags in opened.items() if flags[first])
            first_of, last_of = ({c: end[c][some] for c in cut.columns} for end in (low, high))
            parts.append(Alternatives(cut.columns, cut.domains, first_of, last_of, types.n[some], unknown=unknown))
        return with_suppressed(parts, self.n_suppressed)

    def evidence(self) -> Groups | None:
        """Classes of rows that look the same on the quasi-identifiers; None when a unit column was used."""
        if self.recipe.unit != "row":
            return None
        cut = self.published()
        group, sensitive = cut.sensitive_rows()
        return group_evidence(group, int(group.max(initial=-1)) + 1, sensitive, cut.domains, None)

    def groups(self) -> pa.Table:
        """One row per group: id, number of published rows, label and ends of every quasi-identifier."""
        cut = self.published()
        counted = group_columns(np.bincount(cut.group, minlength=cut.n_groups), self.schema)
        return pa.table({**counted, **cut._cells()})

    def _cells(self) -> dict[str, pa.Array]:
        """Label and end columns of every group."""
        cells = {}
        for name in self.regions:
            domain, low, high = self.domains[name], self.low[name], self.high[name]
            cells.update({name: labels(domain, low, high), **ends(name, domain, low, high)})
        return cells

    def table(self) -> pa.Table:
        """The published rows as written: labels, ends, exact columns, group id."""
        cut = self.published()
        of_groups = cut._cells()
        rows = pa.array(cut.group)
        columns = {}
        for name in cut.columns:
            if name in cut.exact:
                columns[name] = cut.domains[name].decode(cut.exact[name])
                continue
            for column in (name, *end_names(name, cut.domains[name])):
                columns[column] = of_groups[column].take(rows)
        return pa.table({**columns, "group_id": rows})

    def tables(self) -> Mapping[str, pa.Table]:
        """One table: `data`."""
        return {"data": self.table()}

    @classmethod
    def table_names(cls) -> tuple[str, ...]:
        """One table: `data`."""
        return ("data",)

    @classmethod
    def from_tables(cls, frame: Frame, tables: Mapping[str, pa.Table]) -> Self:
        """The release behind a written table: groups from group ids, regions from ends, domains from the frame."""
        table = tables["data"]
        group, first = group_ids(table)
        domains, low, high, exact = dict(frame.domains), {}, {}, {}
        for name in frame.schema.names("quasi"):
            cells = {end: column_of(table, end) for end in end_names(name, domains[name])}
            row_low, row_high = codes_of_ends(name, domains[name], cells)
            low[name], high[name] = row_low[first], row_high[first]
            if (low[name][group] != row_low).any() or (high[name][group] != row_high).any():
                raise SchemaError(f"Column {name!r}: rows of one group have different regions. Verify the package.")
        for name in frame.schema.names("sensitive", "plain"):
            domains[name], exact[name] = exact_column(frame, table, name)
        ordered = {c: domains[c] for c in frame.schema.names("quasi", "sensitive", "plain")}
        return cls(frame.name, frame.schema, ordered, low, high, group, exact, frame.recipe, frame.n_suppressed)

    @classmethod
    def views(cls, frame: Frame) -> str:
        """View `data`, the release's own name, and certain/possible macros for every quasi-identifier."""
        return generalized_views(frame)
