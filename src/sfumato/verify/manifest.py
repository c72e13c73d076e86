"""Is datapackage.json derivable from the cells: columns, counts, ends on their grids, labels, used leaves only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.contracts import Finding
from sfumato.verify.cells import Broken, Cells, Leaves, Said
from sfumato.verify.promises import as_text
from sfumato.verify.regions import Axis, Region, axis_of, cells_fit

KINDS = {
    "integer": "int",
    "real": "double",
    "decimal": "decimal",
    "date": "date32",
    "boolean": "bool",
    "text": "string",
}


def check_manifest(cells: Cells, package: Any) -> list[Finding]:
    """Every check of the description against the cells."""
    findings = [_check_columns(cells, package), _check_counts(cells), _check_group_ids(cells)]
    for said in cells.columns:
        findings.extend(_check_column(cells, said))
    findings.append(_check_listed(cells))
    return findings


def _expected(cells: Cells) -> dict[str, list[str]]:
    """Column names of every table as the format orders them."""
    if cells.form == "generalized":
        names = [name for one in cells.columns for name in (one.name, *one.ends)]
        return {"data": [*names, "group_id"]}
    quasi = [name for one in cells.columns if one.role != "sensitive" for name in (one.name, *one.ends)]
    sensitive = [one.name for one in cells.columns if one.role == "sensitive"]
    return {"quasi": [*quasi, "group_id"], "sensitive": ["group_id", *sensitive]}


def _check_columns(cells: Cells, package: Any) -> Finding:
    expected = _expected(cells)
    fields = {
        one["name"]: [field.get("name") for field in one.get("schema", {}).get("fields", [])]
        for one in package["resources"]
    }
    exact = all(one.published == "exact" for one in cells.columns if one.role != "quasi" or cells.form != "generalized")
    uncertain = all(one.published != "exact" for one in cells.columns if one.role == "quasi")
    good = (
        {name: table.column_names for name, table in cells.tables.items()} == expected == fields
        and exact
        and (uncertain or cells.form != "generalized")
    )
    detail = "The tables have the columns that are described." if good else "Tables and description differ in columns."
    return Finding("columns", good, detail)


def _check_counts(cells: Cells) -> Finding:
    rows = {table.num_rows for table in cells.tables.values()}
    good = rows == {cells.n_published}
    detail = f"{cells.n_published} rows are published." if good else "The described number of rows is not there."
    return Finding("row counts", good, detail, {"described": cells.n_published, "rows": max(rows, default=0)})


def _check_group_ids(cells: Cells) -> Finding:
    """Ids 0 … G−1 in every table, equally often in each, and one region a group."""
    counted = []
    for table in cells.tables.values():
        column = table.column("group_id") if "group_id" in table.column_names else pa.chunked_array([[None]])
        if not pa.types.is_integer(column.type) or column.null_count:
            return Finding("group ids", False, "Group ids are not whole numbers.")
        found = pc.value_counts(column)
        counted.append(dict(zip(found.field("values").to_pylist(), found.field("counts").to_pylist(), strict=True)))
    n_groups = len(counted[0])
    if any(one != counted[0] for one in counted) or set(counted[0]) != set(range(n_groups)):
        return Finding("group ids", False, "Group ids do not run from 0 without gaps, or differ between the tables.")
    if cells.form == "generalized":
        table = cells.tables["data"]
        names = ["group_id", *(name for one in cells.quasi for name in one.ends if name in table.column_names)]
        if table.select(names).group_by(names).aggregate([]).num_rows != n_groups:
            return Finding("group ids", False, "Rows of one group have different regions.")
    return Finding("group ids", True, f"{n_groups} groups, one region each.", {"groups": n_groups})


def _check_column(cells: Cells, said: Said) -> Iterator[Finding]:
    """One column: its types, and for uncertain ones its ends, labels and used leaves."""
    table = cells.table_of(said)
    if any(name not in table.column_names for name in (said.name, *said.ends)):
        yield Finding(f"column {said.name}", False, "It is not in its table.")
        return
    if not _types_fit(said, table):
        yield Finding(f"column {said.name}", False, "Its cells are not of the described type.")
        return
    if said.published == "exact":
        yield _check_exact(cells, said, table)
        return
    try:
        axis = axis_of(said, cells.leaves)
    except Broken as reason:
        yield Finding(f"column {said.name}", False, f"Its domain cannot be used: {reason}.")
        return
    yield from _check_regions(axis, table)


def _types_fit(said: Said, table: pa.Table) -> bool:
    if not said.type.startswith(KINDS.get(said.kind, "?")) and not (said.kind == "integer" and "int" in said.type):
        return False
    if said.published == "exact":
        opened = [table.column(name).type for name in said.ends[:2]]
        return all(str(kind) == said.type for kind in [table.column(said.name).type, *opened])
    ends = [str(table.column(name).type) for name in said.ends[:2]]
    wanted = said.type if said.published == "range" else "int32"
    return all(kind == wanted for kind in ends) and str(table.column(said.name).type) == "string"


def _check_exact(cells: Cells, said: Said, table: pa.Table) -> Finding:
    """Missing cells only where described; a listing that is the published values; open ends consistent."""
    column = table.column(said.name)
    wrong = []
    if bool(column.null_count) != said.missing:
        wrong.append("missing values differ from the description")
    values = {as_text(value) for value in column.unique().to_pylist() if value is not None}
    if said.name in cells.leaves:
        listed = [text for text in cells.leaves[said.name].texts if text is not None]
        if set(listed) != values or len(listed) != len(values):
            wrong.append("model/domains.parquet does not list exactly its values")
        if not cells_fit(said, len(listed)):
            wrong.append("its grid cells do not fit its values")
    elif said.domain:
        wrong.append("its listed domain is missing")
    if said.ends and not _open_ends_fit(said, table):
        wrong.append("its open ends do not belong to its values")
    return Finding(f"column {said.name}", not wrong, f"{'; '.join(wrong) or 'Published as it is'}.")


def _open_ends_fit(said: Said, table: pa.Table) -> bool:
    """lo = hi = value, but NULL below the least and above the greatest value where that end is open."""
    names = [said.name, *said.ends]
    rows = table.select(names).group_by(names).aggregate([]).to_pylist()
    values = [row[said.name] for row in rows if row[said.name] is not None]
    for row in rows:
        value = row[said.name]
        low = None if value is None or (said.open_low and value == min(values)) else value
        high = None if value is None or (said.open_high and value == max(values)) else value
        state = ("always" if value is None else "never") if said.missing else None
        if (row[said.ends[0]], row[said.ends[1]], row.get(f"{said.name}__null")) != (low, high, state):
            return False
    return True


def _check_regions(axis: Axis, table: pa.Table) -> Iterator[Finding]:
    said = axis.said
    names = [said.name, *said.ends]
    rows = table.select(names).group_by(names).aggregate([])
    columns = [rows.column(name).to_pylist() for name in names]
    regions, off, wrong = set(), 0, 0
    for label, *ends in zip(*columns, strict=True):
        region = axis.region(ends)
        if region is None:
            off += 1
            continue
        regions.add(region)
        wrong += label != axis.label(region)
    good = "All ends are on its domain." if not off else f"{off} distinct regions are not on its domain."
    yield Finding(f"ends of {said.name}", not off, good, {"regions": len(regions)})
    good = "Labels say what the ends say." if not wrong else f"{wrong} labels do not say what the ends say."
    yield Finding(f"labels of {said.name}", not wrong, good)
    unused = 0 if off else _unused(axis, regions)
    good = "Only what is used is published." if not unused else f"{unused} unused leaves or nodes are published."
    yield Finding(f"domain of {said.name}", not unused, good)


def _unused(axis: Axis, regions: set[Region]) -> int:
    """Leaves outside every region or, in a list taken from the data, named by none; nodes that are no region; a missing
    value that no region holds."""
    covered = [0] * (axis.size + 1)
    for low, high in regions:
        covered[low] += 1
        covered[high + 1] -= 1
    depth, unused = 0, 0
    for code in range(axis.size):
        depth += covered[code]
        unused += depth == 0 and (axis.leaves is not None or code == axis.n_values)
    listed = set(range(axis.n_values)) - axis.withheld if axis.leaves is not None else set()
    unnamed = 0 if unused else len(listed - axis.named(regions))
    return unused + unnamed + len(set(axis.nodes) - regions) + _duplicates(axis.leaves)


def _duplicates(leaves: Leaves | None) -> int:
    return len(leaves.texts) - len(set(leaves.texts)) if leaves else 0


def _check_listed(cells: Cells) -> Finding:
    """model/domains.parquet lists columns that are described as listed, and no others."""
    described = {one.name for one in cells.columns if one.domain.get("listed")}
    levels = {one.name: one.domain.get("levels", 0) for one in cells.columns}
    deep = [
        name
        for name, leaves in cells.leaves.items()
        if any(any(label is not None for label in level) for level in leaves.levels[levels.get(name) or 0 :])
    ]
    good = set(cells.leaves) == described and not deep
    return Finding("listed domains", good, "As described." if good else "Other columns or levels than described.")
