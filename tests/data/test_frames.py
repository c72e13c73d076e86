"""Frames of every library: the same table is the same dataset, and what cannot be one is refused by column."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.data.dataset import Dataset
from sfumato.data.files import read
from sfumato.errors import SchemaError

CANARY = "canary"
TABLE = pa.table(
    {
        "town": pa.array(["b", None, "a", "b", "ü"]),
        "age": pa.array([30, 20, None, 30, -1], pa.int64()),
        "weight": pa.array([1.5, -0.0, 0.0, None, 1e300]),
        "born": pa.array(
            [datetime.date(1999, 12, 31), None, datetime.date(1899, 1, 1), *[datetime.date(2020, 2, 29)] * 2]
        ),
        "alive": pa.array([True, False, None, True, True]),
        "pay": pa.array(
            [Decimal("1.50"), None, Decimal("-2.25"), Decimal("1.50"), Decimal("0.00")], pa.decimal128(9, 2)
        ),
    }
)


def same(one: Dataset, other: Dataset) -> bool:
    """Equal columns, kinds, domains and codes."""
    assert [(c.name, c.kind) for c in one.schema] == [(c.name, c.kind) for c in other.schema]
    for name, domain in one.domains.items():
        twin = other.domains[name]
        assert domain.values.to_pylist() == twin.values.to_pylist(), name
        assert domain.values.type == twin.values.type, name
        assert (domain.missing, domain.region) == (twin.missing, twin.region), name
        assert one.codes[name].tolist() == other.codes[name].tolist(), name
        assert one.codes[name].dtype == other.codes[name].dtype == np.int32
    return one.n_rows == other.n_rows


def in_pandas(table: pa.Table) -> pd.DataFrame:
    """With the types pandas users have: nullable numbers, categoricals, objects, timestamps at midnight."""
    columns = table.to_pydict()
    return pd.DataFrame(
        {
            "town": pd.Categorical(columns["town"], categories=["zzz", "ü", "b", "a"]),
            "age": pd.array(columns["age"], dtype="Int64"),
            "weight": pd.array(columns["weight"], dtype="Float64"),
            "born": pd.to_datetime(pd.Series(columns["born"])),
            "alive": pd.array(columns["alive"], dtype="boolean"),
            "pay": pd.Series(columns["pay"], dtype=object),
        }
    )


def in_parquet(table: pa.Table, folder: Path) -> Path:
    pq.write_table(table, folder / "data.parquet", row_group_size=2)
    return folder / "data.parquet"


WAYS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "arrow table": lambda table, _: table,
    "arrow chunks": lambda table, _: pa.concat_tables([table.slice(0, 2), table.slice(2)]),
    "record batch": lambda table, _: table.to_batches()[0],
    "record batch reader": lambda table, _: table.to_reader(max_chunksize=2),
    "dictionaries": lambda table, _: pa.table({n: table[n].dictionary_encode() for n in table.column_names}),
    "pandas": lambda table, _: in_pandas(table),
    "pandas arrow types": lambda table, _: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas with an index": lambda table, _: in_pandas(table).set_index(pd.Index([4, 4, 2, 1, 0])),
    "polars": lambda table, _: pl.from_arrow(table),
    "polars lazy": lambda table, _: pl.from_arrow(table).lazy(),
    "polars categorical": lambda table, _: pl.from_arrow(table).with_columns(pl.col("town").cast(pl.Categorical)),
    "polars enum": lambda table, _: pl.from_arrow(table).with_columns(
        pl.col("town").cast(pl.Enum(["ü", "z", "b", "a"]))
    ),
    "polars timestamps": lambda table, _: pl.from_arrow(table).with_columns(pl.col("born").cast(pl.Datetime("ns"))),
    "duckdb": lambda table, _: duckdb.connect().from_arrow(table),
    "dict of lists": lambda table, _: table.to_pydict(),
    "dict of arrays": lambda table, _: {name: table[name].combine_chunks() for name in table.column_names},
    "parquet": in_parquet,
}


@pytest.mark.parametrize("way", WAYS)
def test_the_same_table_is_the_same_dataset(way: str, tmp_path: Path) -> None:
    data = read(WAYS[way](TABLE, tmp_path))
    assert same(data, read(TABLE))
    assert data.name == "data"
    assert data.arrow().to_pydict() == TABLE.to_pydict()
    assert data.notes == ()


def test_a_csv_file_with_declared_kinds_is_the_same_dataset_too(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    shown = {
        name: ["" if cell is None else str(cell) for cell in TABLE[name].to_pylist()] for name in TABLE.column_names
    }
    shown["alive"] = [cell.lower() for cell in shown["alive"]]
    shown["weight"] = ["1.5", "0.0", "0.0", "", "1.0e300"]
    lines = [",".join(shown), *(",".join(row) for row in zip(*shown.values(), strict=True))]
    path.write_text("\n".join(lines), encoding="utf8")
    found = read(path)
    expected = read(TABLE)
    assert found.domains["pay"].values.to_pylist() == expected.domains["pay"].values.to_pylist()
    assert [column.kind for column in found.schema] == [column.kind for column in expected.schema]
    assert all(found.codes[name].tolist() == expected.codes[name].tolist() for name in TABLE.column_names)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (pd.Series([1, 2, None]), "real"),
        (pd.Series([1, 2, None], dtype="Int8"), "integer"),
        (pd.Series([1, 2, None], dtype="UInt64"), "integer"),
        (pd.Series([1, 2, None], dtype=object), "integer"),
        (pd.Series([1.0, 2.0, None], dtype=object), "real"),
        (pd.Series(["x", None, float("nan")], dtype=object), "text"),
        (pd.Series(["x", None, "y"], dtype="string"), "text"),
        (pd.Series([True, None, False], dtype=object), "boolean"),
        (pd.Series([datetime.date(2020, 1, 1), None, pd.NaT], dtype=object), "date"),
        (pd.Series([datetime.datetime(2020, 1, 1), pd.NaT, None], dtype=object), "date"),
        (pd.Series(pd.Categorical([3, 1, None])), "integer"),
        (pd.Series(pd.Categorical([True, False, None])), "boolean"),
        (pd.Series(pd.Categorical(pd.to_datetime(["2020-01-01", "2020-01-02", None]))), "date"),
        (pd.Series([Decimal("1.5"), None, 2], dtype=object), "decimal"),
    ],
)
def test_missing_values_of_pandas_columns(cells: pd.Series, kind: str) -> None:
    data = read(pd.DataFrame({"x": cells}))
    assert data.schema["x"].kind == kind
    found = data.arrow()["x"].to_pylist()
    expected = [None if pd.isna(cell) else cell for cell in cells]
    if kind == "date":
        expected = [cell and datetime.date(cell.year, cell.month, cell.day) for cell in expected]
    assert found == expected


def test_unused_categories_are_no_values() -> None:
    times = pd.to_datetime(["2020-01-01T00:00", "2020-01-02T10:00"])
    frame = pd.DataFrame(
        {
            "town": pd.Categorical(["a", "a"], categories=["a", "b"]),
            "day": pd.Categorical(times[:1].repeat(2), categories=times),
        }
    )
    data = read(frame)
    assert data.domains["town"].values.to_pylist() == ["a"]
    assert data.domains["day"].values.to_pylist() == [datetime.date(2020, 1, 1)]


def test_series_and_labels_become_columns_with_names() -> None:
    assert read(pd.Series([1, 2], name="age")).schema.names() == ("age",)
    assert read(pd.DataFrame([[1, 2]])).schema.names() == ("0", "1")
    assert read({1: [2]}, name="people").name == "people"


@pytest.mark.parametrize("zero", [[-0.0, 0.0], [0.0, -0.0]])
def test_minus_zero_is_zero(zero: list[float]) -> None:
    for source in (
        pd.DataFrame({"x": zero}),
        pl.DataFrame({"x": zero}),
        pa.table({"x": pa.array(zero).dictionary_encode()}),
    ):
        data = read(source)
        assert [str(value) for value in data.domains["x"].values.to_pylist()] == ["0.0"]
        assert data.codes["x"].tolist() == [0, 0]


def test_declared_kinds_hold_for_frames_too() -> None:
    frame = pl.DataFrame({"a": ["1", "NA", "1"], "b": [1.0, 2.0, 1.0], "c": [1, 0, 1], "d": [True, None, False]})
    data = read(frame, kinds={"a": "integer", "b": "integer", "c": "boolean", "d": "text"}, null_values=("NA",))
    assert data.arrow().to_pydict() == {
        "a": [1, None, 1],
        "b": [1, 2, 1],
        "c": [True, False, True],
        "d": ["true", None, "false"],
    }
    assert read(frame).schema["a"].kind == "text", "text of a typed frame is text, whatever it looks like"


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (pa.array([1.5, 2.0]), "integer"),
        (pa.array([1 / 3, 2.0]), "decimal"),
        (pa.array([1, 2]), "boolean"),
        (pa.array([1, 2]), "date"),
        (pa.array([datetime.date(2020, 1, 1)]), "integer"),
        (pa.array([True]), "integer"),
        (pa.array([2**53 + 1]), "real"),
        (pa.array([Decimal("1.5")]), "integer"),
        (pa.array([Decimal("1.00000000000000000001")]), "real"),
        (pa.array([Decimal(2**53 + 1)]), "real"),
        (pa.array([CANARY]), "integer"),
    ],
)
def test_a_cast_that_loses_is_refused(cells: pa.Array, kind: Any) -> None:
    with pytest.raises(SchemaError, match=f"'x' cannot be read as {kind} without loss") as refusal:
        read(pa.table({"x": cells}), kinds={"x": kind})
    assert CANARY not in str(refusal.value)


noon = datetime.datetime(2020, 1, 1, 12)
utc = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (pd.DataFrame({"x": [1, CANARY, 2.5]}), "mixes kinds"),
        (pd.DataFrame({"x": [True, 1]}), "mixes kinds"),
        (pd.DataFrame({"x": pd.Categorical([1, CANARY])}), "mixes kinds"),
        (pd.DataFrame({"x": pd.Series([CANARY + "\ud800"], dtype=object)}), "broken text"),
        (pd.DataFrame({"x": [datetime.date(2020, 1, 1), noon]}), "mixes kinds"),
        (pd.DataFrame({"x": [1 + 2j]}), "mixes kinds"),
        (pd.DataFrame({"x": [2**70, 1]}), "mixes kinds"),
        (pd.DataFrame({"x": [2**63, 1]}), "beyond 64 bits"),
        (pd.DataFrame({"x": [CANARY.encode()]}), "has type binary"),
        (pd.DataFrame({"x": [[CANARY]]}), "has type list"),
        (pd.DataFrame({"x": [{CANARY: 1}]}), "has type struct"),
        (pd.DataFrame({"x": pd.to_timedelta([1])}), "has type duration"),
        (pd.DataFrame({"x": [datetime.time(1, 2)]}), "has type time"),
        (pd.DataFrame({"x": [noon, noon, datetime.datetime(2020, 1, 1)]}), "time of day in 2 rows"),
        (pd.DataFrame({"x": pd.Categorical([noon, noon])}), "time of day in 2 rows"),
        (pd.DataFrame({"x": [utc]}), "time zones"),
        (pd.DataFrame({"x": [1.0, float("inf")]}), "0 NaN and 1 infinite"),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), "found x"),
        (pd.DataFrame([[1, 2]], columns=["x", ""]), "1 columns without a name"),
        (pd.DataFrame({"x": []}), "1 columns and 0 rows"),
        (pd.DataFrame(), "0 columns and 0 rows"),
        (pl.DataFrame({"x": [float("nan"), 1.0, float("-inf")]}), "1 NaN and 1 infinite"),
        (pl.DataFrame({"x": [noon]}), "time of day in 1 rows"),
        (pl.DataFrame({"x": [utc]}), "time zones"),
        (pl.DataFrame({"x": [[CANARY]]}), "has type list"),
        (pl.DataFrame({"x": [{CANARY: 1}]}), "has type struct"),
        (pl.LazyFrame({"x": [CANARY]}).select(pl.col("x").cast(pl.Int64)), "query behind it fails"),
        (pl.LazyFrame({"x": [CANARY]}).select("y"), "query behind it fails"),
        (pa.table({"x": pa.array([float("nan"), 1.0]).dictionary_encode()}), "1 NaN and 0 infinite"),
        (pa.table({"x": pa.array([{CANARY: [1]}])}), "has type struct"),
        (pa.table({"x": pa.array([[(CANARY, 1)]], pa.map_(pa.string(), pa.int64()))}), "has type map"),
        (pa.table([[1], [2]], names=["x", "X"]), "in more than upper and lower case"),
        ({"x": [1], "y": [1, 2]}, "differ in length"),
        ({"x": 5}, "mixes kinds"),
        ({"x": [noon, utc]}, "mixes kinds"),
        ({"x": np.zeros((2, 2))}, "mixes kinds"),
        ({}, "0 columns and 0 rows"),
        (42, "type int cannot be read"),
        (None, "type NoneType cannot be read"),
        ([{"x": CANARY}], "type list cannot be read"),
    ],
)
def test_what_is_no_table_of_people_is_refused_by_column(source: Any, said: str) -> None:
    with pytest.raises(SchemaError) as refusal:
        read(source)
    text = str(refusal.value)
    assert said in text
    assert CANARY not in text
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT timestamptz '2020-01-01' AS x", "time zones"),
        ("SELECT time '10:00' AS x", "has type time"),
        ("SELECT [1] AS x", "has type list"),
        ("SELECT 1 AS x, 2 AS x", "found x"),
        (f"SELECT '{CANARY}'::INTEGER AS x FROM range(2)", "query behind it fails"),
    ],
)
def test_duckdb_relations_are_refused_by_column(sql: str, said: str) -> None:
    with duckdb.connect() as database, pytest.raises(SchemaError) as refusal:
        read(database.sql(sql))
    assert said in str(refusal.value)
    assert CANARY not in str(refusal.value)
