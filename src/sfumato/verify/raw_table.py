"""The original as the verifier reads it: any table, or a CSV or Parquet path; every cell in one comparable form."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sfumato.errors import SchemaError
from sfumato.verify.cells import Cells, Said
from sfumato.verify.regions import Axis

Ints = NDArray[np.int64]
OUTSIDE = -1


@dataclass(frozen=True)
class Reading:
    """How the original is written: texts that mean missing, the encoding, whether spaces and Unicode forms vary."""

    null_values: tuple[str, ...] = ("",)
    encoding: str = "utf-8"
    normalize: bool = False


def read_raw(raw: Any, reading: Reading) -> pa.Table:
    """An Arrow table; a CSV is read as text."""
    table = _opened(raw, reading)
    if reading == Reading():
        return table
    for i, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            texts = table.column(i).combine_chunks().dictionary_encode("encode")
            values = [_tidy(text, reading) for text in texts.dictionary.to_pylist()]
            table = table.set_column(i, field.name, pa.array(values, pa.string()).take(texts.indices))
    return table


def _tidy(text: str | None, reading: Reading) -> str | None:
    if text is None or text in reading.null_values:
        return None
    tidied = " ".join(unicodedata.normalize("NFC", text).split()) if reading.normalize else text
    return None if tidied in reading.null_values else tidied


def _opened(raw: Any, reading: Reading) -> pa.Table:
    if isinstance(raw, str | Path):
        return _from_path(Path(raw), reading.encoding)
    if isinstance(raw, pa.Table):
        return raw
    if hasattr(raw, "arrow"):
        return pa.table(raw.arrow())
    if hasattr(raw, "__arrow_c_stream__"):
        return pa.table(raw)
    raise SchemaError(f"The original cannot be read from a {type(raw).__name__}. Give a path or an Arrow table.")


def _from_path(path: Path, encoding: str) -> pa.Table:
    if not path.is_file():
        raise SchemaError(f"There is no file {path.name}. Check the path of the original.")
    try:
        if path.suffix.lower() in (".parquet", ".pq", ".parq"):
            return pq.read_table(path, partitioning=None)
        import duckdb

        with duckdb.connect() as connection:
            query = "FROM read_csv(?, all_varchar = true, header = true, encoding = ?)"
            return pa.table(connection.sql(query, params=[str(path), encoding]).to_arrow_table())
    except (pa.ArrowException, OSError, duckdb_error()) as error:
        raise SchemaError(f"{path.name} cannot be read as a table ({type(error).__name__}). Pass it as one.") from None


def duckdb_error() -> type[Exception]:
    """The parent of DuckDB's errors."""
    import duckdb

    found: type[Exception] = duckdb.Error
    return found


@dataclass(frozen=True)
class Coded:
    """A column as codes into its distinct values, in one comparable form (missing: None)."""

    codes: Ints
    values: list[Any]

    def mapped(self, place: Callable[[Any], int]) -> Ints:
        """Each distinct value through a function, row by row."""
        table = np.array([place(value) for value in self.values], dtype=np.int64)
        return table[self.codes] if len(table) else self.codes


def coded(column: Any, kind: str) -> Coded:
    """Distinct values of a column, comparable under a kind; what cannot be is kept as its text."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode("encode")
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    values = [comparable(value, kind) for value in encoded.dictionary.to_pylist()]
    codes = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    gone = encoded.is_null().to_numpy(zero_copy_only=False)
    if gone.any():
        values.append(None)
        codes = np.where(gone, len(values) - 1, codes)
    return Coded(codes, values)


def comparable(value: Any, kind: str) -> Any:
    """A value so that the same cell is equal whether read from text, a frame or the package."""
    if value is None:
        return None
    try:
        return _FORMS[kind](value)
    except (KeyError, ValueError, InvalidOperation):
        return str(value)


def _as_date(value: Any) -> date:
    if isinstance(value, datetime):
        return value.date()
    return value if isinstance(value, date) else date.fromisoformat(str(value).strip())


def _as_truth(value: Any) -> bool:
    return value if isinstance(value, bool) else {"true": True, "false": False}[str(value).strip().lower()]


_FORMS: Mapping[str, Callable[[Any], Any]] = {
    "integer": lambda value: Decimal(str(value).strip()),
    "decimal": lambda value: Decimal(str(value).strip()),
    "real": lambda value: float(str(value)),
    "date": _as_date,
    "boolean": _as_truth,
    "text": str,
}


def place_on(axis: Axis) -> Callable[[Any], int]:
    """The code of an original value on an uncertain column's axis; beyond an open end it is the end leaf."""
    said, top = axis.said, axis.n_values - 1
    between = said.domain.get("between") is True
    ends = (axis.value(0), axis.value(top)) if axis.n_values else (None, None)
    ends = (axis.numeric[0], axis.numeric[top]) if between and axis.n_values else ends

    def place(value: Any) -> int:
        if value is None:
            return axis.n_values if said.missing else OUTSIDE
        numeric = not isinstance(value, str) and ends[0] is not None and not isinstance(ends[0], str)
        if numeric and said.open_low and value <= ends[0]:
            return 0
        if numeric and said.open_high and value >= ends[1]:
            return top
        code = None if axis.grid is not None and isinstance(value, str) else axis.code(value)
        if code is None and between and not isinstance(value, str):
            code = axis.code_between(value)
        return OUTSIDE if code is None else code

    return place


def exact_keys(cells: Cells, said: Said, raw: Any) -> tuple[Ints, Ints]:
    """Codes of an exact column in the package's rows and in the original's, comparable with one another."""
    mine = coded(cells.table_of(said).column(said.name), said.kind)
    theirs = coded(raw, said.kind)
    known = [value for value in mine.values if value is not None]
    low, high = (min(known), max(known)) if known and said.ends else (None, None)
    number: dict[Any, int] = {}

    def place(value: Any) -> int:
        if value is not None and not isinstance(value, str):
            value = low if said.open_low and low is not None and value <= low else value
            value = high if said.open_high and high is not None and value >= high else value
        return number.setdefault(value, len(number))

    return mine.mapped(place), theirs.mapped(place)


def tuples(columns: Sequence[Ints], n_rows: int) -> tuple[Ints, Ints]:
    """Rows as one code per distinct tuple, and a first row of each."""
    key = np.zeros(n_rows, dtype=np.int64)
    first = np.zeros(min(n_rows, 1), dtype=np.int64)
    for column in columns:
        width = int(column.max(initial=0)) + 2
        _, first, key = np.unique(key * width + column + 1, return_index=True, return_inverse=True)
        key = key.astype(np.int64)
    return key, first.astype(np.int64)
