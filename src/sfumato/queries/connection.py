"""One private DuckDB connection for row expressions: no files, no network, no settings, one thread."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from sfumato.errors import ParameterError

SETTINGS = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "memory_limit": "2GB",
    "threads": "1",
}
_lock = threading.RLock()
_open: list[Any] = []


def quoted(name: str) -> str:
    """A name as an SQL identifier.

    >>> print(quoted('a "b" c'))
    "a ""b"" c"
    """
    return '"' + name.replace('"', '""') + '"'


def evaluate(columns: Mapping[str, pa.Array], expressions: Sequence[str], n_rows: int) -> list[pa.Array]:
    """Each SQL expression on every row of the columns, in row order; never says which values failed."""
    table = pa.table({"": pa.nulls(n_rows, pa.int8())} | dict(columns))
    chosen = ", ".join(f"{text} AS v{i}" for i, text in enumerate(expressions))
    with _lock:
        connection = _connection()
        connection.register("cells", table)
        try:
            found = connection.sql(f"SELECT {chosen} FROM cells").to_arrow_table()
        except duckdb.Error as error:
            raise ParameterError(_failure(error)) from None
        finally:
            connection.unregister("cells")
    return [column.combine_chunks() if column.num_chunks != 1 else column.chunk(0) for column in found.columns]


def describe(types: Mapping[str, pa.DataType], chosen: Sequence[str], tail: str) -> list[tuple[str, str]]:
    """Name and SQL type of every output of `SELECT chosen FROM cells tail`, bound by DuckDB on no rows."""
    empty = pa.table({name: pa.array([], kind) for name, kind in types.items()})
    with _lock:
        connection = _connection()
        connection.register("cells", empty)
        try:
            rows = connection.execute(f"DESCRIBE SELECT {', '.join(chosen)} FROM cells {tail}").fetchall()
        except duckdb.Error as error:
            raise ParameterError(f"The query does not fit the columns: {_first_line(error)} Correct it.") from None
        finally:
            connection.unregister("cells")
    return [(str(row[0]), str(row[1])) for row in rows]


def _connection() -> Any:
    if not _open:
        connection = duckdb.connect(":memory:", config=SETTINGS)
        connection.execute("SET lock_configuration = true")
        read_back = connection.execute("SELECT current_setting('enable_external_access')").fetchall()
        if read_back[0][0] not in (False, "false"):
            raise RuntimeError("DuckDB did not switch external access off")
        _open.append(connection)
    return _open[0]


def _first_line(error: duckdb.Error) -> str:
    """No rows were read, so the first line names only columns, types and the query's own words."""
    return str(error).splitlines()[0].rstrip(".") + "."


def _failure(error: duckdb.Error) -> str:
    """What went wrong without the engine's text, which may quote cells."""
    kind = type(error).__name__.removesuffix("Exception")
    return (
        f"An expression of the query fails on some values that cells may have (DuckDB: {kind} error). "
        "Guard it, for example with TRY_CAST, CASE or NULLIF."
    )
