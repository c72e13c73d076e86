"""Adult at any size: the 30,162-row version where the data folder is there, else the embedded excerpt, resampled.

Larger tables are drawn with replacement (seed 2026) and 10 % of the cells of every column are redrawn from that
column, so that rows are not mere copies.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.measuring import ROOT

SHARED = Path(ROOT).parent / "shared" / "data" / "adult"
QUASI = ["sex", "age", "race", "marital_status", "education", "native_country", "workclass", "salary_class"]
SENSITIVE = "occupation"


def source() -> pa.Table:
    """The original rows."""
    path = SHARED / "adult_arx_30162.parquet"
    if path.exists():
        table = pq.read_table(path)
        return table.rename_columns([name.replace("-", "_") for name in table.column_names])
    from sfumato.data.example import example

    return example().arrow()


def adult(n: int | None, folder: Path, kind: str = "parquet") -> Path:
    """A file with n rows (None: the source as it is), made once."""
    path = folder / f"adult-{n or 'source'}.{kind}"
    if not path.exists():
        table = source() if n is None else _resampled(source(), n)
        folder.mkdir(parents=True, exist_ok=True)
        if kind == "csv":
            pyarrow.csv.write_csv(table, path)
        else:
            pq.write_table(table, path, row_group_size=1_000_000)
    return path


def copies(n: int, folder: Path) -> Path:
    """A Parquet file with n rows drawn with replacement, no cell redrawn; made once."""
    path = folder / f"adult-copies-{n}.parquet"
    if not path.exists():
        rows = np.random.Generator(np.random.Philox(key=2026)).integers(0, source().num_rows, n, dtype=np.int32)
        columns = {name: source()[name].combine_chunks() for name in source().column_names}
        coded = {c: v.dictionary_encode() if pa.types.is_string(v.type) else v for c, v in columns.items()}
        folder.mkdir(parents=True, exist_ok=True)
        table = pa.table({name: values.take(pa.array(rows)) for name, values in coded.items()})
        pq.write_table(table, path, row_group_size=1_000_000)
    return path


def _resampled(table: pa.Table, n: int) -> pa.Table:
    chance = np.random.Generator(np.random.Philox(key=2026))
    rows = chance.integers(0, table.num_rows, n, dtype=np.int32)
    columns = {}
    for name in table.column_names:
        mine = rows.copy()
        redrawn = chance.random(n, dtype=np.float32) < 0.1
        mine[redrawn] = chance.integers(0, table.num_rows, int(redrawn.sum()), dtype=np.int32)
        values = table[name].combine_chunks()
        coded = values.dictionary_encode() if pa.types.is_string(values.type) else values
        columns[name] = coded.take(pa.array(mine))
    return pa.table(columns)
