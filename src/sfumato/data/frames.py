"""Frames of other libraries as Arrow tables; what went wrong is said by column, never by cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from sfumato.errors import SchemaError


def arrow_of(source: Any) -> pa.Table:
    """The Arrow table behind a pandas, Polars, Arrow, DuckDB or any other frame with an Arrow stream."""
    module = type(source).__module__.partition(".")[0]
    if module == "pandas":
        return _from_pandas(source)
    if module == "polars" and hasattr(source, "collect"):
        source = source.collect()
    if isinstance(source, Mapping):
        return _from_mapping(source)
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatchReader):
        return source.read_all()
    try:
        if hasattr(source, "__arrow_c_stream__"):
            return pa.table(source)
        import narwhals

        return narwhals.from_native(source, eager_only=True).to_arrow()
    except Exception:
        raise SchemaError(
            f"A value of type {type(source).__name__} cannot be read. "
            "Give a path to CSV or Parquet, or a pandas, Polars, Arrow or DuckDB table."
        ) from None


def _from_pandas(frame: Any) -> pa.Table:
    if not hasattr(frame, "columns"):
        frame = frame.to_frame()
    names = [str(name) for name in frame.columns]
    return _columns(names, [frame.iloc[:, i] for i in range(len(names))])


def _from_mapping(columns: Mapping[str, Any]) -> pa.Table:
    return _columns(list(map(str, columns)), list(columns.values()))


def _columns(names: list[str], columns: list[Any]) -> pa.Table:
    arrays = []
    for name, column in zip(names, columns, strict=True):
        try:
            arrays.append(pa.array(column, from_pandas=True))
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
            raise SchemaError(
                f"Column {name!r} mixes kinds of values or holds objects. Make it all text, all numbers or all dates."
            ) from None
    if len({len(array) for array in arrays}) > 1:
        raise SchemaError("The columns differ in length. Give every column the same number of rows.")
    return pa.Table.from_arrays(arrays, names=names)
