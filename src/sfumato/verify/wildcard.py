"""k when a missing quasi-identifier matches anything: reported beside the promise, never instead of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from sfumato.verify.cells import Cells, Said
from sfumato.verify.regions import axis_of

MOST_STEPS = 5_000_000
Row = tuple[Any, ...]


def k_wildcard(cells: Cells) -> int | None:
    """Fewest rows that a row is compatible with when a missing quasi-identifier matches anything.

    Two rows are compatible when in every column their published cells are equal or one of them is surely missing. Equal
    rows are compatible, so this is never below k. None: no rows, or too many different ones to compare.
    """
    table = cells.tables["data" if cells.form == "generalized" else "quasi"]
    columns = []
    for said in (one for one in cells.columns if one.role == "quasi"):
        names = said.ends if said.published != "exact" else (said.name,)
        ends = list(zip(*(table.column(n).to_pylist() for n in names), strict=True))
        cell_of = {one: _cell(cells, said, one) for one in set(ends)}
        columns.append([cell_of[one] for one in ends])
    counted = Counter(zip(*columns, strict=True)) if columns else Counter({(): table.num_rows})
    by_gaps: dict[tuple[int, ...], list[tuple[Row, int]]] = defaultdict(list)
    for row, times in counted.items():
        by_gaps[tuple(i for i, cell in enumerate(row) if cell is None)].append((row, times))
    if not table.num_rows or len(counted) * len(by_gaps) > MOST_STEPS:
        return None
    found: Counter[Row] = Counter()
    for gaps, rows in by_gaps.items():
        for others, theirs in by_gaps.items():
            known = [i for i in range(len(columns)) if i not in gaps and i not in others]
            held: Counter[Row] = Counter()
            for row, times in theirs:
                held[tuple(row[i] for i in known)] += times
            for row, _ in rows:
                found[row] += held[tuple(row[i] for i in known)]
    return min(found.values())


def _cell(cells: Cells, said: Said, ends: Row) -> Any:
    """A published cell; None when it is surely missing."""
    if said.published == "exact":
        return ends[0]
    if said.published == "range":
        return None if said.missing and ends[-1] == "always" else ends
    last = axis_of(said, cells.leaves).n_values
    return None if said.missing and ends == (last, last) else ends
