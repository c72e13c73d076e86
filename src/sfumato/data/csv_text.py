"""CSV as text: DuckDB sniffs and parses, every column comes as dictionary-encoded text; nothing is guessed here.

DuckDB's own messages quote the file, so none of them is passed on.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import pyarrow as pa

from sfumato.errors import SchemaError

DELIMITERS = ",;\t|"
ENCODINGS = {"utf-8": "utf-8", "utf8": "utf-8", "latin-1": "latin-1", "latin1": "latin-1", "utf-16": "utf-16"}
BATCH_ROWS = 122_880
VALUE = re.compile(r"[-+]?[0-9][-0-9.,:/ ]*")
CHUNK_BYTES = 1 << 22
PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"BZh", b"\xfd7zX")
"""How gzip, Zstandard, zip, bzip2 and xz files begin."""
SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
}
READ = (
    "read_csv($path, auto_detect=false, delim=$delimiter, quote=$quote, escape=$quote, header=true, skip=0, "
    "columns=$columns, nullstr=$nulls, null_padding=false, encoding=$encoding{more})"
)


@dataclass(frozen=True)
class Layout:
    """How a CSV file is written: between fields, around fields, and its column names."""

    delimiter: str
    quote: str
    names: tuple[str, ...]


def read_text(path: Path, null_values: Sequence[str], encoding: str) -> dict[str, pa.ChunkedArray]:
    """Every column of a CSV file with a header line, as dictionary-encoded text; `SchemaError` when it is none."""
    known = ENCODINGS.get(encoding.lower())
    if known is None:
        raise SchemaError(f"Encoding {encoding!r} is not supported; use utf-8, latin-1 or utf-16, or convert the file.")
    if any(sign in str(path) for sign in "*?["):
        raise SchemaError("The path of a CSV file must not hold *, ? or [. Rename the file.")
    first = _first_line(path, known)
    with duckdb.connect(config=SETTINGS) as database:
        layout = _layout(database, path, first, known)
        _check_names(layout.names, path.name)
        if layout.quote == "'" and not first.startswith("'"):
            # Apostrophes are rather part of a text: they quote only where the lines do not fit without.
            with suppress(SchemaError):
                return _parse(database, path, replace(layout, quote='"'), null_values, known)
        return _parse(database, path, layout, null_values, known)


def _first_line(path: Path, encoding: str) -> str:
    """The header line; the whole file is decoded once, so that a wrong encoding is found before anything is read."""
    if path.stat().st_size == 0:
        raise SchemaError(f"{path.name} is empty. Give a CSV file with a header line and at least one row.")
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
    start, n_read, ended = "", 0, False
    with path.open("rb") as file:
        begins = file.read(6)
        if begins.startswith(PACKED) or path.suffix.lower() in (".gz", ".zst"):
            raise SchemaError(f"{path.name} is compressed. Unpack it first, or write it as Parquet.")
        if encoding == "utf-16" and begins.startswith(codecs.BOM_UTF16_BE):
            raise SchemaError(f"{path.name} is UTF-16 with the high byte first. Save it as UTF-8.")
        file.seek(0)
        while not ended:
            chunk = file.read(CHUNK_BYTES)
            ended = not chunk
            try:
                text = decoder.decode(chunk, final=ended)
            except UnicodeError as error:
                place = n_read + getattr(error, "start", 0)
                raise SchemaError(
                    f"{path.name} is not {encoding}: the byte at {place} does not fit. "
                    "Give its encoding, as in read(path, encoding='latin-1'), or save it as UTF-8."
                ) from None
            n_read += len(chunk)
            start = start or text
    first = re.split("\r\n|\n|\r", start, maxsplit=1)[0]
    if not first.strip():
        raise SchemaError(f"{path.name} begins with an empty line. Put the column names in its first line.")
    return first


def _layout(database: duckdb.DuckDBPyConnection, path: Path, first: str, encoding: str) -> Layout:
    """The sniffed delimiter and quote; a header that DuckDB splits into one field is split by what it holds."""
    delimiter, quote = "", '"'
    try:
        found = database.execute(
            "SELECT delimiter, quote FROM sniff_csv($path, all_varchar=true, header=true, skip=0, encoding=$encoding)",
            {"path": str(path), "encoding": encoding},
        ).fetchall()
        delimiter, quote = found[0][0], found[0][1]
    except duckdb.Error:
        pass
    quote = quote if quote in ('"', "'") else '"'
    names = _fields(first, delimiter, quote) if delimiter in tuple(DELIMITERS) else []
    if len(names) < 2:
        delimiter = max(DELIMITERS, key=lambda sign: len(_fields(first, sign, quote)))
        names = _fields(first, delimiter, quote)
    return Layout(delimiter, quote, tuple(name.strip() for name in names))


def _fields(line: str, delimiter: str, quote: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter, quotechar=quote), [])
    except csv.Error:
        raise SchemaError(
            f"The first line of the file has {len(line)} characters and holds no column names. Give a CSV file."
        ) from None


def _check_names(names: Sequence[str], file: str) -> None:
    n_empty = sum(not name for name in names)
    if n_empty or not names:
        raise SchemaError(
            f"The header of {file} has {n_empty} empty column names. Name every column in the first line."
        )
    # Where the header is missing, names are cells: none is quoted.
    twice = [str(i + 1) for i, name in enumerate(names) if names.count(name) > 1]
    if twice:
        raise SchemaError(
            f"The header of {file} repeats column names, in columns {', '.join(twice)}. Rename all but one of each, "
            "or put a header above the first row."
        )
    if all(VALUE.fullmatch(name) for name in names):
        raise SchemaError(
            f"The first line of {file} has {len(names)} fields, all of them numbers or dates: a header seems to be "
            "missing. Put one above the first row; a name needs more than digits."
        )


def _parse(
    database: duckdb.DuckDBPyConnection, path: Path, layout: Layout, null_values: Sequence[str], encoding: str
) -> dict[str, pa.ChunkedArray]:
    given = {
        "path": str(path),
        "delimiter": layout.delimiter,
        "quote": layout.quote,
        "columns": {f"c{i}": "VARCHAR" for i in range(len(layout.names))},
        "nulls": list(null_values) or ["\x00"],
        "encoding": encoding,
    }
    parts: dict[str, list[pa.Array]] = {name: [] for name in layout.names}
    try:
        for batch in database.sql(f"SELECT * FROM {READ.format(more='')}", params=given).to_arrow_reader(BATCH_ROWS):
            for name, column in zip(layout.names, batch.columns, strict=True):
                parts[name].append(column.dictionary_encode())
    except duckdb.Error:
        raise SchemaError(_what_is_wrong(path, layout, given)) from None
    if not any(parts.values()) or not sum(map(len, parts[layout.names[0]])):
        raise SchemaError(f"{path.name} has a header line and no rows. Give at least one row.")
    return {name: pa.chunked_array(chunks) for name, chunks in parts.items()}


def _what_is_wrong(path: Path, layout: Layout, given: Mapping[str, object]) -> str:
    """Counts of the lines that do not fit, never the lines."""
    advice = "Quote fields that hold the delimiter, and give every line the same number of fields."
    more = ", ignore_errors=true, store_rejects=true, rejects_limit=1000000"
    try:
        with duckdb.connect(config=SETTINGS) as database:
            database.execute(f"SELECT count(*) FROM {READ.format(more=more)}", dict(given)).fetchall()
            found = database.execute(
                "SELECT lower(error_type::VARCHAR), count(DISTINCT line) FROM reject_errors GROUP BY 1 ORDER BY 1"
            ).fetchall()
    except duckdb.Error:
        found = []
    counts = "; ".join(f"{n} lines with {kind}" for kind, n in found) or _line_ends(path)
    return f"{path.name} is not a regular CSV file of {len(layout.names)} columns: it has {counts}. {advice}"


def _line_ends(path: Path) -> str:
    """What is wrong with a file whose lines all have the right fields."""
    with path.open("rb") as file:
        ends = {line[-2:] == b"\r\n" for line in file if line.endswith(b"\n")}
    return "line ends of two kinds; keep one" if len(ends) == 2 else "a line that cannot be parsed"
