"""The published cells as the verifier reads them, and what datapackage.json says of each column."""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

MOST_CELLS = 1 << 31
MOST_BYTES = 1 << 33
STATES = {"never": 0, "maybe": 1, "always": 2}


class Broken(Exception):
    """The package cannot be judged any further; carries the reason, never a cell."""


@dataclass(frozen=True)
class Said:
    """One column of datapackage.json."""

    name: str
    kind: str
    role: str
    type: str
    published: str
    missing: bool
    open_low: bool
    open_high: bool
    complete: bool
    domain: Mapping[str, Any]

    @property
    def ends(self) -> tuple[str, ...]:
        """Names of its end columns."""
        if self.published == "exact":
            opened = self.role != "sensitive" and (self.open_low or self.open_high)
            null = (f"{self.name}__null",) if self.missing else ()
            return (f"{self.name}__lo", f"{self.name}__hi", *null) if opened else ()
        null = (f"{self.name}__null",) if self.published == "range" and self.missing else ()
        return (f"{self.name}__lo", f"{self.name}__hi", *null)


@dataclass(frozen=True)
class Leaves:
    """A listed column: leaf texts in rank order (None: the missing value) and the label of every level."""

    texts: list[str | None]
    levels: list[list[str | None]]


@dataclass(frozen=True)
class Cells:
    """Everything that was read: tables by name, columns as said, listed leaves."""

    form: str
    columns: tuple[Said, ...]
    tables: Mapping[str, pa.Table]
    leaves: Mapping[str, Leaves]
    n_published: int
    n_suppressed: int

    @property
    def quasi(self) -> tuple[Said, ...]:
        """Columns published as regions."""
        return tuple(one for one in self.columns if one.published != "exact")

    def said(self, name: str) -> Said | None:
        """One column by name."""
        return next((one for one in self.columns if one.name == name), None)

    def table_of(self, column: Said) -> pa.Table:
        """The table that holds a column."""
        if self.form == "generalized":
            return self.tables["data"]
        return self.tables["sensitive" if column.role == "sensitive" else "quasi"]

    def groups(self, on: str | None) -> list[Counter[Any]]:
        """Rows per class and value of `on` (None: one value): classes are equal regions, or anatomy's groups."""
        if self.form == "generalized":
            table, keys = self.tables["data"], [end for one in self.quasi for end in one.ends]
        else:
            table, keys = self.tables["sensitive"], ["group_id"]
        names = [*keys, *([on] if on is not None else [])]
        if not names:
            return [Counter({None: table.num_rows})] if table.num_rows else []
        counted = table.select(names).group_by(names).aggregate([([], "count_all")])
        columns = [counted.column(name).to_pylist() for name in names]
        n = counted.column("count_all").to_pylist()
        found: dict[tuple[Any, ...], Counter[Any]] = defaultdict(Counter)
        values = columns[-1] if on is not None else [None] * len(n)
        for key, value, times in zip(zip(*columns[: len(keys)], strict=True), values, n, strict=True):
            found[key][value] += times
        return list(found.values()) if keys else [Counter(dict(zip(values, n, strict=True)))]

    def alike(self) -> list[int]:
        """Rows per published combination of quasi-identifiers; where those are exact, their values, not the groups."""
        if self.form == "generalized":
            return [sum(group.values()) for group in self.groups(None)]
        names = [one.name for one in self.columns if one.role == "quasi"]
        n_rows = self.tables["quasi"].num_rows
        if not names:
            return [n_rows] if n_rows else []
        counted = self.tables["quasi"].select(names).group_by(names).aggregate([([], "count_all")])
        return [int(n) for n in counted.column("count_all").to_pylist()]


def read_cells(files: Mapping[str, bytes], package: Any) -> Cells:
    """Tables and columns of a package, or `Broken` when datapackage.json and the files do not fit."""
    try:
        ours = package["sfumato"]
        columns = tuple(_said(one) for one in ours["columns"])
        form, n_published, n_suppressed = ours["form"], ours["n_published"], ours["n_suppressed"]
        names = [one["name"] for one in package["resources"]]
        paths = [one["path"] for one in package["resources"]]
    except (KeyError, TypeError):
        raise Broken("datapackage.json does not describe a release") from None
    expected = {"generalized": ["data"], "anatomized": ["quasi", "sensitive"]}.get(form)
    if names != expected or paths != [f"data/{name}.parquet" for name in names] or ours.get("format") != 1:
        raise Broken("datapackage.json does not name the tables of a known form and format")
    tables = {name: _table(files, path) for name, path in zip(names, paths, strict=True)}
    listed = _table(files, "model/domains.parquet") if "model/domains.parquet" in files else None
    leaves = _leaves(listed) if listed is not None else {}
    if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in (n_published, n_suppressed)):
        raise Broken("datapackage.json does not count its rows")
    return Cells(form, columns, tables, leaves, n_published, n_suppressed)


def _said(one: Mapping[str, Any]) -> Said:
    found = Said(**{**one, "domain": one.get("domain") or {}})
    flags = (found.missing, found.open_low, found.open_high, found.complete)
    known = found.published in ("range", "node", "set", "exact") and found.role in ("quasi", "sensitive", "plain")
    if not known or not all(isinstance(flag, bool) for flag in flags) or not isinstance(found.name, str):
        raise KeyError("column")
    return found


def _table(files: Mapping[str, bytes], path: str) -> pa.Table:
    if path not in files:
        raise Broken(f"{path} is missing")
    try:
        if _swells(pq.read_metadata(io.BytesIO(files[path]))):
            raise Broken(f"{path} would unfold to more than a package may hold")
        return pq.read_table(io.BytesIO(files[path]), partitioning=None)
    except (pa.ArrowException, OSError, ValueError, MemoryError):
        raise Broken(f"{path} is not a readable Parquet file") from None


def _swells(meta: Any) -> bool:
    """Dictionary pages, by which a few bytes become many, or more cells or bytes than a package may hold."""
    chunks = [meta.row_group(i).column(j) for i in range(meta.num_row_groups) for j in range(meta.num_columns)]
    dictionary = any(one.dictionary_page_offset is not None or "DICTIONARY" in str(one.encodings) for one in chunks)
    many = meta.num_rows * meta.num_columns > MOST_CELLS
    return dictionary or many or sum(one.total_uncompressed_size for one in chunks) > MOST_BYTES


def _leaves(table: pa.Table) -> dict[str, Leaves]:
    names = table.column_names
    if names[:3] != ["column", "rank", "value"] or any(name != f"level_{i + 1}" for i, name in enumerate(names[3:])):
        raise Broken("model/domains.parquet does not have the columns column, rank, value, level_1 …")
    found: dict[str, Leaves] = {}
    for row in zip(*(table.column(name).to_pylist() for name in names), strict=True):
        leaves = found.setdefault(row[0], Leaves([], [[] for _ in names[3:]]))
        if row[1] != len(leaves.texts) or row[0] is None:
            raise Broken("model/domains.parquet does not count its ranks from 0 column by column")
        leaves.texts.append(row[2])
        for level, label in zip(leaves.levels, row[3:], strict=True):
            level.append(label)
    return found
