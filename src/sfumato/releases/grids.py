"""Declared grids as four facts (low, high, step, cell widths) and back to leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.codec import Codes, Domain, text_of
from sfumato.data.schema import Kind
from sfumato.data.steps import scale_of, steps_of, values_of
from sfumato.errors import SchemaError

MOST_LEAVES = 1 << 24


def grid_of(domain: Domain) -> dict[str, Any]:
    """A grid domain as JSON: ends as text, step in days or units, cells as runs [width, how many].

    >>> grid_of(Domain("integer", pa.array(range(20, 40, 2)), cell=np.repeat(np.arange(2, dtype=np.int32), 5)))
    {'low': '20', 'high': '38', 'step': '2', 'cells': [[5, 2]]}
    """
    steps = steps_of(domain.values, scale_of(domain.values.type))[0]
    step = int(steps[1] - steps[0]) if len(steps) > 1 else 1
    return {
        "low": text_of(domain.values[0]),
        "high": text_of(domain.values[-1]),
        "step": f"{Decimal(step).scaleb(-scale_of(domain.values.type)):f}",
        "cells": runs_of_cells(domain),
    }


def runs_of_cells(domain: Domain) -> list[list[int]] | None:
    """Widths of the grid cells without the missing value's, run by run; None when every leaf is a cell."""
    if domain.cell is None:
        return None
    widths = np.bincount(domain.cell[: domain.n_values]).tolist()
    return [[width, len(list(run))] for width, run in groupby(widths)]


def values_of_grid(grid: Mapping[str, Any], kind: pa.DataType) -> pa.Array:
    """All leaves of a grid, of an Arrow type."""
    low, high, step = (_whole(str(grid[key]), kind, key == "step") for key in ("low", "high", "step"))
    if step <= 0 or high < low or (high - low) // step >= MOST_LEAVES:
        raise SchemaError("datapackage.json describes a grid without or with too many values. Verify the package.")
    steps = np.arange(low, high + 1, step, dtype=np.int64)
    described: Kind = "decimal" if pa.types.is_decimal(kind) else "date" if pa.types.is_date32(kind) else "integer"
    return values_of(steps, described, scale_of(kind)).cast(kind)


def cells_of_runs(runs: Sequence[Sequence[int]] | None, n_values: int, missing: bool) -> Codes | None:
    """The cell of every code, the missing value in one of its own."""
    if runs is None:
        return None
    widths = [width for width, n in runs for _ in range(n)]
    if min(widths, default=0) < 1 or sum(widths) != n_values:
        raise SchemaError("datapackage.json has cells that do not fit their domain. Verify the package.")
    cell = np.repeat(np.arange(len(widths), dtype=np.int32), widths)
    return np.append(cell, np.int32(len(widths))) if missing else cell


def _whole(text: str, kind: pa.DataType, is_step: bool) -> int:
    if pa.types.is_date32(kind) and not is_step:
        return (date.fromisoformat(text) - date(1970, 1, 1)) // timedelta(days=1)
    return int(Decimal(text).scaleb(scale_of(kind)))
