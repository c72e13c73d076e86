"""Frames of other libraries as Arrow tables; what went wrong is said by column, never by cell."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa

from sfumato.errors import SchemaError


def arrow_of(source: Any) -> pa.Table:
    """The Arrow table behind a pandas, Polars, Arrow, DuckDB or any other frame with an Arrow stream."""
    module = type(source).__module__.partition(".")[0]
    if module == "pandas":
        return _from_pandas(source)
    if isinstance(source, Mapping):
        return _from_mapping(source)
    if isinstance(source, pa.Table):
        return source
    # A lazy frame runs its query here, and whatever stops the query may quote a cell.
    try:
        if isinstance(source, pa.RecordBatchReader):
            return source.read_all()
        if module == "polars" and hasattr(source, "collect"):
            source = source.collect()
        if hasattr(source, "__arrow_c_stream__"):
            return pa.table(source)
        import narwhals

        return narwhals.from_native(source, eager_only=True).to_arrow()
    except Exception:
        raise SchemaError(
            f"A value of type {type(source).__name__} cannot be read, or the query behind it fails. "
            "Give a path to CSV or Parquet, or a pandas, Polars, Arrow or DuckDB table that can be computed."
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
            array = pa.array(column, from_pandas=True)
            if _mixes_times(column, array):
                raise TypeError
        except (TypeError, ValueError, NotImplementedError, OverflowError):
            raise SchemaError(
                f"Column {name!r} mixes kinds of values, or holds objects or broken text. "
                "Make it all text, all numbers or all dates."
            ) from None
        arrays.append(array)
    if len({len(array) for array in arrays}) > 1:
        raise SchemaError("The columns differ in length. Give every column the same number of rows.")
    return pa.Table.from_arrays(arrays, names=names)


def _mixes_times(column: Any, array: pa.Array) -> bool:
    """Do Python objects mix dates with times, or times with zones and without? Arrow would cut off what differs."""
    if not pa.types.is_temporal(array.type) or str(getattr(column, "dtype", "object")) != "object":
        return False
    # Not-a-time is the one value that differs from itself.
    found = (value for value in column if value is not None and value == value)
    return len({(isinstance(value, datetime), getattr(value, "tzinfo", None) is None) for value in found}) > 1
