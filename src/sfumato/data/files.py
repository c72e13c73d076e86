"""Reading tables: paths and frames of every library become one `Dataset`, column by column, codes at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.data.cast import cast, infer, n_numbers
from sfumato.data.codec import Codes, Domain, encode
from sfumato.data.csv_text import read_text
from sfumato.data.dataset import Dataset, one_array
from sfumato.data.frames import arrow_of
from sfumato.data.kinds import kind_of, kind_of_column
from sfumato.data.schema import Column, Kind, Schema
from sfumato.errors import ParameterError, SchemaError

# Anything but printed ASCII: only such texts can change when tidied.
ODD = "[^!-~]"
PARQUET = (".parquet", ".pq", ".parq")
OTHER_FORMATS = (".xlsx", ".xls", ".ods", ".sav", ".dta", ".sas7bdat", ".rds", ".feather", ".arrow", ".json", ".jsonl")


@dataclass(frozen=True)
class Columns:
    """A table to be read column by column; `written`: its cells are text whose kind is to be found."""

    names: tuple[str, ...]
    column: Callable[[str], pa.ChunkedArray]
    n_rows: int
    written: bool = False


def read(
    source: Any,
    *,
    name: str | None = None,
    kinds: Mapping[str, Kind] | None = None,
    null_values: str | Sequence[str] = ("",),
    normalize: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """A dataset from a CSV or Parquet path, or any pandas, Polars, Arrow or DuckDB table.

    A CSV column becomes numbers, dates or truth values only if every cell is written the usual way: "0012" stays
    text. `kinds` decides otherwise, and a cast that would lose a value is an error. `null_values`: texts that mean
    missing. `normalize`: texts in Unicode form NFC without outer and doubled spaces.
    """
    missing = (null_values,) if isinstance(null_values, str) else tuple(null_values)
    columns, found = _open(source, missing, encoding)
    _check(columns, kinds or {})
    settings = Settings(kinds or {}, missing, normalize, columns.written)
    schema, domains, codes, notes = [], {}, {}, []
    for column in columns.names:
        domain, own, said = _read_column(column, columns.column(column), settings)
        schema.append(Column(column, domain.kind))
        domains[column], codes[column] = domain, own
        notes.extend(said)
    return Dataset(_table_name(name, found), Schema(tuple(schema)), domains, codes, columns.n_rows, tuple(notes))


@dataclass(frozen=True)
class Settings:
    """What the caller declared about cells."""

    kinds: Mapping[str, Kind]
    null_values: tuple[str, ...]
    normalize: bool
    written: bool


def _open(source: Any, null_values: tuple[str, ...], encoding: str) -> tuple[Columns, str]:
    """The columns behind a source and the name it has."""
    if isinstance(source, str | Path):
        path = Path(source)
        if not path.is_file():
            what = "does not exist"
            if path.exists():
                what = "is a directory" if path.is_dir() else "is a pipe or device; the command line reads one as -"
            raise SchemaError(f"{path.name or path} {what}. Give the path of a CSV or Parquet file.")
        if path.suffix.lower() in OTHER_FORMATS:
            raise SchemaError(f"{path.name} is a {path.suffix} file, which is not read. Save it as CSV or Parquet.")
        opened = _parquet(path) if _is_parquet(path) else _csv(path, null_values, encoding)
        return opened, path.stem
    table = arrow_of(source)
    return Columns(tuple(table.column_names), table.column, table.num_rows), "data"


def _csv(path: Path, null_values: tuple[str, ...], encoding: str) -> Columns:
    found = read_text(path, null_values, encoding)
    n_rows = len(next(iter(found.values())))
    return Columns(tuple(found), found.pop, n_rows, written=True)


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return path.suffix.lower() in PARQUET or file.read(4) == b"PAR1"


def _parquet(path: Path) -> Columns:
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError):
        raise SchemaError(f"{path.name} is not a Parquet file, or is cut off. Write it again.") from None
    names = tuple(file.schema_arrow.names)

    def column(name: str) -> pa.ChunkedArray:
        kept = [name] if kind_of_column(file.schema_arrow.field(name).type, name) == "text" else None
        try:
            # The reader for whole data sets takes longer to load than a small file to read.
            found = pq.ParquetFile(path, read_dictionary=kept).read(columns=[name]).column(name)
            # Damaged bytes can decode to texts that are no UTF-8 or to places beyond a dictionary.
            found.validate(full=True)
            return found
        except (pa.ArrowException, OSError):
            raise SchemaError(f"Column {name!r} of {path.name} cannot be read; write the file again.") from None

    return Columns(names, column, file.metadata.num_rows)


def _check(columns: Columns, kinds: Mapping[str, Kind]) -> None:
    names = columns.names
    n_empty = sum(not name.strip() for name in names)
    if n_empty:
        raise SchemaError(f"The table has {n_empty} columns without a name. Name every column.")
    plain = [name.casefold() for name in names]
    twice = sorted({name for name in names if plain.count(name.casefold()) > 1})
    if twice:
        raise SchemaError(
            f"Column names must differ, in more than upper and lower case; found {', '.join(twice)}. Rename them."
        )
    if not names or not columns.n_rows:
        raise SchemaError(f"The table has {len(names)} columns and {columns.n_rows} rows. Give at least one row.")
    unknown = sorted(set(kinds) - set(names))
    if unknown:
        raise SchemaError(
            f"kinds= names columns that are not there: {', '.join(unknown)}; there are {', '.join(names)}."
        )
    for name, kind in kinds.items():
        if kind not in get_args(Kind):
            raise ParameterError(f"kinds= gives {name!r} the unknown kind {kind!r}; use {', '.join(get_args(Kind))}.")


def _read_column(name: str, array: pa.ChunkedArray, settings: Settings) -> tuple[Domain, Codes, list[str]]:
    """One column as domain and codes, and what was decided about it."""
    own = one_array(array, name)
    kind = settings.kinds.get(name)
    notes: list[str] = []
    if kind_of(own.type) == "text" or kind not in (None, kind_of(own.type)):
        own, kind, notes = _on_distinct(name, own, settings)
    domain, codes = encode(own, kind or kind_of(own.type))
    if domain.n_values == 0:
        notes.append(f"Column {name!r} has no value in any row.")
    return domain, codes, notes


def _on_distinct(name: str, array: pa.Array, settings: Settings) -> tuple[pa.Array, Kind, list[str]]:
    """Cleaning, finding the kind and casting, each on distinct values only."""
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    values = encoded.dictionary
    notes: list[str] = []
    if pa.types.is_string(values.type):
        values, notes = _clean(name, values, settings)
    kind = settings.kinds.get(name) or (infer(values.drop_null()) if settings.written else kind_of(values.type))
    if settings.written and kind == "text" and name not in settings.kinds:
        notes += _mixed(name, values)
    if kind != kind_of(values.type):
        values = _cast(name, encoded.indices, values, kind)
    return pa.DictionaryArray.from_arrays(encoded.indices, values), kind, notes


def _clean(name: str, values: pa.Array, settings: Settings) -> tuple[pa.Array, list[str]]:
    """Texts with missing values as null, normalised when that was asked for."""
    odd = pc.match_substring_regex(values, ODD).fill_null(False)
    notes = []
    if settings.normalize:
        values = pc.if_else(odd, _tidy(values), values)
    elif n_variants := _variants(values.filter(odd), values.filter(pc.invert(odd))):
        notes.append(
            f"Column {name!r} has {n_variants} values that differ from another only in spaces or Unicode form; "
            "read(..., normalize=True) makes them one."
        )
    if settings.null_values:
        missing = pc.is_in(values, value_set=pa.array(settings.null_values, pa.string()))
        values = pc.if_else(missing, pa.scalar(None, pa.string()), values)
    return values, notes


def _tidy(values: pa.Array) -> pa.Array:
    """Unicode form NFC, without outer and doubled spaces."""
    return pc.utf8_trim_whitespace(pc.replace_substring_regex(pc.utf8_normalize(values, "NFC"), r"\s+", " "))


def _variants(odd: pa.Array, plain: pa.Array) -> int:
    """How many values become another when tidied; only odd ones can change."""
    tidy = _tidy(odd).unique()
    return len(odd) - len(tidy) + (pc.sum(pc.is_in(tidy, value_set=plain)).as_py() or 0)


def _mixed(name: str, values: pa.Array) -> list[str]:
    numbers, n = n_numbers(values), len(values.drop_null())
    if not 0 < numbers < n:
        return []
    return [
        f"Column {name!r} stays text: {numbers} of its {n} distinct values are numbers, {n - numbers} are not. "
        "Name what means missing with null_values (read or [source]), or cast with kinds={...} (kind in [columns])."
    ]


def _cast(name: str, indices: pa.Array, values: pa.Array, kind: Kind) -> pa.Array:
    found, lost = cast(values, kind)
    lost &= values.is_valid().to_numpy(zero_copy_only=False)
    if lost.any():
        n_rows = int(np.isin(indices.drop_null().to_numpy(), np.flatnonzero(lost)).sum())
        raise SchemaError(
            f"Column {name!r} cannot be read as {kind} without loss: {int(lost.sum())} distinct values in {n_rows} "
            "rows do not fit. Correct them, name them in null_values=(...), or read the column as text."
        )
    return found


def _table_name(given: str | None, found: str) -> str:
    """A name that SQL takes unquoted."""
    if given is not None:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", given):
            raise ParameterError("name= must be a word of letters, digits and _, not beginning with a digit.")
        return given
    word = re.sub(r"[^a-z0-9_]+", "_", found.lower()).strip("_") or "data"
    return f"t_{word}" if word[0].isdigit() else word
