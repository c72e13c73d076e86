"""Do row order and group ids carry anything? In a secret shuffle they carry nothing, so any pattern is a trace."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.contracts import Finding
from sfumato.verify.cells import Cells

FEWEST = 40
"""Rows or groups below which a correlation says nothing."""
LIMIT = 6.5
"""Standard deviations: a fair shuffle passes them once in 10¹⁰ columns."""
LEAST_CHANCE = math.log(1e-10)

Floats = NDArray[np.float64]


def check_order(cells: Cells) -> Iterator[Finding]:
    """Rank correlation of every column with the row's position, with the next row, and of group facts with the id."""
    for name, table in cells.tables.items():
        suspicious = [c for c in table.column_names if _has_pattern(_ranks(table.column(c)))]
        grouped = _grouped_in_runs(_ranks(table.column("group_id")))
        if grouped and "group_id" not in suspicious:
            suspicious.append("group_id")
        detail = f"The order of {table.num_rows} rows carries nothing that can be measured."
        if suspicious:
            detail = f"The order of rows follows {', '.join(suspicious)}: it is no secret shuffle."
        yield Finding(f"row order of {name}", not suspicious, detail, {"rows": table.num_rows})
    yield _check_ids(cells)


def _check_ids(cells: Cells) -> Finding:
    table = next(iter(cells.tables.values()))
    ids = table.column("group_id").to_numpy()
    groups, first, sizes = np.unique(ids, return_index=True, return_counts=True)
    facts: dict[str, Floats] = {"size": _ranked(sizes), "first row": _ranked(first)}
    for one in cells.quasi:
        for end in one.ends:
            facts[end] = _ranks(table.column(end).take(pa.array(first)))
    position = np.arange(len(groups), dtype=np.float64)
    told = [name for name, ranks in facts.items() if _correlation(ranks, position) > LIMIT]
    ascending = len(first) > 1 and bool((np.diff(first) > 0).all()) and -math.lgamma(len(first) + 1) < LEAST_CHANCE
    if ascending and "first row" not in told:
        told.append("first row")
    detail = f"The ids of {len(groups)} groups carry nothing that can be measured."
    if told:
        detail = f"Group ids follow {', '.join(told)}: they are no secret numbering."
    return Finding("group numbering", not told, detail, {"groups": len(groups)})


def _has_pattern(ranks: Floats) -> bool:
    """Correlated with the position, or with the row before."""
    if len(ranks) < 3:
        return False
    rising = bool((np.diff(ranks) >= 0).all()) or bool((np.diff(ranks) <= 0).all())
    if rising and _chance_of_sorted(ranks) < LEAST_CHANCE:
        return True
    position = np.arange(len(ranks), dtype=np.float64)
    return max(_correlation(ranks, position), _correlation(ranks[1:], ranks[:-1])) > LIMIT


def _grouped_in_runs(ranks: Floats) -> bool:
    """Every group in one run of rows, where a shuffle would hardly do that: G! · Π n_g! / n!."""
    if not len(ranks):
        return False
    runs = int((np.diff(ranks) != 0).sum()) + 1
    n_groups = len(np.unique(ranks))
    return runs == n_groups and _chance_of_sorted(ranks) + math.lgamma(n_groups + 1) < LEAST_CHANCE


def _chance_of_sorted(ranks: Floats) -> float:
    """log probability that a shuffle of these values is in order: Π n_v! / n!."""
    counts = np.unique(ranks, return_counts=True)[1]
    return float(sum(math.lgamma(n + 1) for n in counts.tolist()) - math.lgamma(len(ranks) + 1))


def _correlation(one: Floats, other: Floats) -> float:
    """|r|·√n, about a standard normal's size in a shuffle; 0 where there is too little to say."""
    if len(one) < FEWEST or one.std() == 0 or other.std() == 0:
        return 0.0
    return abs(float(np.corrcoef(one, other)[0, 1])) * math.sqrt(len(one))


def _ranks(column: Any) -> Floats:
    """Dense ranks of cells, missing ones last; strings and numbers alike."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    ranks = pc.rank(array, sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks, dtype=np.float64)


def _ranked(values: NDArray[np.int64]) -> Floats:
    return np.unique(values, return_inverse=True)[1].astype(np.float64)
