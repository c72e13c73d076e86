"""Checks that need the original: it is one of the worlds, promises hold for persons, removed values are gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from sfumato.contracts import Finding
from sfumato.verify.canaries import SHORTEST, scan
from sfumato.verify.cells import Cells
from sfumato.verify.containment import Matched, match
from sfumato.verify.persons import check_persons


def check_original(cells: Cells, guarantees: Any, files: dict[str, bytes], raw: pa.Table) -> Iterator[Finding]:
    """Containment, units and the scan for removed values."""
    table = raw
    absent = [said.name for said in cells.columns if said.name not in table.column_names]
    if absent:
        yield Finding("original", False, f"The original has no column {', '.join(absent)}.")
        return
    n_rows = cells.n_published + cells.n_suppressed
    if table.num_rows != n_rows:
        detail = "The original has another number of rows than the release speaks of."
        yield Finding("original", False, detail, {"original": table.num_rows, "release": n_rows})
        return
    found = match(cells, table)
    yield _contained(found, table.num_rows)
    if guarantees["unit"] != "row" and found.contained is not False:
        yield from _check_units(cells, guarantees, table, found)
    yield _removed(cells, files, table, found)


def _contained(found: Matched, n_rows: int) -> Finding:
    if found.contained is None:
        detail = f"Not decided: {found.n_free} rows could belong to several groups. Slots and values agree in number."
        return Finding("original is a world", True, detail, {"free": found.n_free}, decided=False)
    detail = f"All {n_rows} rows of the original fit the release."
    if not found.contained:
        detail = "The release does not allow this original: no way to match rows and groups."
    return Finding("original is a world", found.contained, detail, {"rows": n_rows, "free": found.n_free})


def _check_units(cells: Cells, guarantees: Any, raw: pa.Table, found: Matched) -> Iterator[Finding]:
    unit = guarantees["unit"]
    if unit not in raw.column_names:
        yield Finding("units", False, f"The original has no column {unit!r} to count persons by.")
        return
    yield from check_persons(cells, guarantees, raw, found)


def _removed(cells: Cells, files: dict[str, bytes], raw: pa.Table, found: Matched) -> Finding:
    hidden = raw.filter(pa.array(found.group < 0)) if found.contained else raw.slice(0, 0)
    seen = scan(cells, files, raw, hidden)
    detail = (
        f"{seen.n_values} removed values of {SHORTEST} or more characters were looked for in {seen.n_bytes} bytes "
        f"(columns {', '.join(seen.columns) or 'none'}); {seen.n_short} shorter ones and {seen.n_shared} that "
        f"published cells hold by right were not; {seen.n_found} were found."
    )
    return Finding("removed values are gone", not seen.n_found, detail, {"found": seen.n_found})
