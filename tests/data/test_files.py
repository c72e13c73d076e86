"""Paths to datasets: what a CSV or Parquet file holds comes in whole, or is refused without quoting it."""

from __future__ import annotations

import bz2
import csv
import datetime
import gzip
import lzma
import string
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.data.dataset import Dataset
from sfumato.data.files import read
from sfumato.errors import ParameterError, SchemaError

Reader = Callable[..., Dataset]


@pytest.fixture
def csv_file(tmp_path: Path) -> Callable[..., Path]:
    def written(content: str | bytes, encoding: str = "utf-8", name: str = "people.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return written


def cells(data: Dataset) -> dict[str, list[Any]]:
    return data.arrow().to_pydict()


def one_column(path: Path, **options: Any) -> tuple[str, list[Any]]:
    """Kind and cells of the first column."""
    data = read(path, **options)
    name = data.schema.columns[0].name
    return data.schema[name].kind, cells(data)[name]


@pytest.mark.parametrize(
    ("written", "kind", "expected"),
    [
        (["1", "-20", "0"], "integer", [1, -20, 0]),
        (["999999999999999999", "-999999999999999999"], "integer", [10**18 - 1, 1 - 10**18]),
        (["99999999999999999999", "1"], "text", ["99999999999999999999", "1"]),
        (["0012", "13"], "text", ["0012", "13"]),
        (["+1", "2"], "text", ["+1", "2"]),
        (["1,000", "2"], "text", ["1,000", "2"]),
        (["1_000", "2"], "text", ["1_000", "2"]),
        (["1 ", "2"], "text", ["1 ", "2"]),
        (["1.5", "2"], "decimal", [Decimal("1.5"), Decimal("2.0")]),
        (["0.1", "0.10"], "decimal", [Decimal("0.10")] * 2),
        (["1.", "2"], "text", ["1.", "2"]),
        ([".5", "2"], "text", [".5", "2"]),
        (["123456789.123456789"], "decimal", [Decimal("123456789.123456789")]),
        (["0.1234567891", "1.0"], "real", [0.1234567891, 1.0]),
        (["0.12345678901234567890", "1"], "text", ["0.12345678901234567890", "1"]),
        (["1.5e3", "-2.5E-3"], "real", [1500.0, -0.0025]),
        (["0.30000000000000004", "0.10000000000000001"], "real", [0.1 + 0.2, 0.1]),
        (["9007199254740993.0", "1.5e3"], "text", ["9007199254740993.0", "1.5e3"]),
        (["1.0e400", "1.5"], "text", ["1.0e400", "1.5"]),
        (["12E3", "1e5"], "text", ["12E3", "1e5"]),
        (["2020-02-29", "1899-12-31"], "date", [datetime.date(2020, 2, 29), datetime.date(1899, 12, 31)]),
        (["2021-02-29", "2020-01-01"], "text", ["2021-02-29", "2020-01-01"]),
        (["01/02/2020"], "text", ["01/02/2020"]),
        (["2020-01-01 10:00"], "text", ["2020-01-01 10:00"]),
        (["true", "false"], "boolean", [True, False]),
        (["TRUE", "FALSE"], "boolean", [True, False]),
        (["True", "true"], "text", ["True", "true"]),
        (["yes", "no"], "text", ["yes", "no"]),
        (["0", "1"], "integer", [0, 1]),
        (["NaN", "1.5"], "text", ["NaN", "1.5"]),
        (["inf", "1.5"], "text", ["inf", "1.5"]),
        (["0x1F", "2"], "text", ["0x1F", "2"]),
        (["٣", "2"], "text", ["٣", "2"]),
    ],
)
def test_a_column_is_what_every_cell_is_written_as(
    csv_file: Any, written: list[str], kind: str, expected: list[Any]
) -> None:
    path = csv_file("x,y\n" + "".join(f'"{cell}",z\n' for cell in written))
    assert one_column(path) == (kind, expected)
    kept = read(path, kinds={"x": "text"})
    assert cells(kept)["x"] == written


def test_missing_cells_do_not_change_the_kind(csv_file: Any) -> None:
    data = read(csv_file("a,b,c,d\n1,,true,\n,2.5,,\n3,,false,\n"))
    assert [(column.name, column.kind) for column in data.schema] == [
        ("a", "integer"),
        ("b", "decimal"),
        ("c", "boolean"),
        ("d", "text"),
    ]
    assert cells(data) == {
        "a": [1, None, 3],
        "b": [None, Decimal("2.5"), None],
        "c": [True, None, False],
        "d": [None] * 3,
    }
    assert data.notes == ("Column 'd' has no value in any row.",)


def test_numbers_of_any_size_keep_every_digit(csv_file: Any) -> None:
    whole = [10**power + 1 for power in range(18)] + [-(10**power) for power in range(18)]
    tenths = [f"{number}.{number % 10}" for number in whole if abs(number) < 10**16]
    data = read(csv_file("n\n" + "\n".join(map(str, whole)) + "\n"))
    assert cells(data)["n"] == whole
    data = read(csv_file("x\n" + "\n".join(tenths) + "\n"))
    assert data.schema["x"].kind == "decimal"
    assert cells(data)["x"] == [Decimal(text) for text in tenths]


@pytest.mark.parametrize(
    ("written", "kind", "expected"),
    [
        (["1", "0", "true"], "boolean", [True, False, True]),
        (["1", "2"], "decimal", [Decimal(1), Decimal(2)]),
        (["1", "2"], "real", [1.0, 2.0]),
        (["1", "2"], "text", ["1", "2"]),
    ],
)
def test_declared_kinds_win(csv_file: Any, written: list[str], kind: Any, expected: list[Any]) -> None:
    path = csv_file("x,y\n" + "".join(f"{cell},z\n" for cell in written))
    assert one_column(path, kinds={"x": kind}) == (kind, expected)


@pytest.mark.parametrize(
    ("written", "kind", "n_distinct", "n_rows"),
    [
        (["0012", "7", "0012"], "integer", 1, 2),
        (["1.5", "7"], "integer", 1, 1),
        (["canary", "canary", "canbird", "7"], "integer", 2, 3),
        (["1e5x", "2.5"], "real", 1, 1),
        (["nan", "2.5"], "real", 1, 1),
        (["12345678901234567890.5", "2.5"], "decimal", 1, 1),
        (["2021-02-29", "2020-02-29"], "date", 1, 1),
        (["2020-1-1"], "date", 1, 1),
        (["yes", "true"], "boolean", 1, 1),
    ],
)
def test_a_cast_that_loses_is_an_error_with_counts(
    csv_file: Any, written: list[str], kind: Any, n_distinct: int, n_rows: int
) -> None:
    path = csv_file("pay,y\n" + "".join(f"{cell},z\n" for cell in written))
    with pytest.raises(SchemaError) as refusal:
        read(path, kinds={"pay": kind})
    text = str(refusal.value)
    assert f"'pay' cannot be read as {kind}" in text
    assert f"{n_distinct} distinct values in {n_rows} rows" in text
    assert not [cell for cell in written if len(cell) > 1 and cell in text]


def test_mixed_columns_stay_text_and_say_so(csv_file: Any) -> None:
    path = csv_file("pay,y\n100,z\n2.5,z\nunknown,z\nunknown,z\n")
    data = read(path)
    assert cells(data)["pay"] == ["100", "2.5", "unknown", "unknown"]
    (note,) = data.notes
    assert note.startswith("Column 'pay' stays text: 2 of its 3 distinct values are numbers, 1 are not.")
    assert "unknown" not in note
    assert read(path, kinds={"pay": "text"}).notes == ()
    data = read(path, null_values=("unknown",))
    assert cells(data)["pay"] == [Decimal("100.0"), Decimal("2.5"), None, None]
    assert data.notes == ()


def test_texts_that_mean_missing(csv_file: Any) -> None:
    path = csv_file('a,b\nNA,x\n"NA",\n-,""\n')
    assert cells(read(path)) == {"a": ["NA", "NA", "-"], "b": ["x", None, None]}
    assert cells(read(path, null_values=("NA", "-"))) == {"a": [None] * 3, "b": ["x", "", ""]}
    assert cells(read(path, null_values="NA"))["a"] == [None, None, "-"]
    assert cells(read(path, null_values=())) == {"a": ["NA", "NA", "-"], "b": ["x", "", ""]}
    path = csv_file('a,b,c,d\n NA,-,  ,"NA  "\n1,1.50,2020-01-01,true\n')
    data = read(path, null_values=("NA", "-", ""), normalize=True)
    assert [column.kind for column in data.schema] == ["integer", "decimal", "date", "boolean"]
    assert cells(data) == {
        "a": [None, 1],
        "b": [None, Decimal("1.50")],
        "c": [None, datetime.date(2020, 1, 1)],
        "d": [None, True],
    }


def test_variants_are_noted_and_made_one_when_asked(csv_file: Any) -> None:
    path = csv_file("town,n\nZürich,1 \nZu\u0308rich, 2\n Zürich,3\nNew  York,4\nNew York,5\n\u00a0,6\n")
    plain = read(path)
    assert plain.domains["town"].n_values == 6
    assert any("3 values that differ" in note and "normalize=True" in note for note in plain.notes)
    assert not any("rich" in note or "York" in note for note in plain.notes)
    tidy = read(path, normalize=True)
    assert cells(tidy) == {"town": ["Zürich"] * 3 + ["New York"] * 2 + [None], "n": [1, 2, 3, 4, 5, 6]}
    assert tidy.notes == ()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_quotes_and_line_ends(csv_file: Any, delimiter: str, end: str) -> None:
    lines = [["id", "full name"], ["1", f'"a{delimiter} ""b"" {end}c"'], ["2", "d'e"]]
    data = read(csv_file(end.join(delimiter.join(line) for line in lines) + end))
    assert cells(data) == {"id": [1, 2], "full name": [f'a{delimiter} "b" {end}c', "d'e"]}


def test_a_last_line_needs_no_end_and_empty_lines_between_are_skipped(csv_file: Any) -> None:
    assert cells(read(csv_file("a,b\n1,2\n\n3,4"))) == {"a": [1, 3], "b": [2, 4]}
    assert cells(read(csv_file("a\n1\n\n3\n"))) == {"a": [1, None, 3]}


def test_semicolons_leave_decimal_commas_alone(csv_file: Any) -> None:
    data = read(csv_file("a;b\n1,5;2\n2,25;3\n"))
    assert cells(data) == {"a": ["1,5", "2,25"], "b": [2, 3]}


def test_apostrophes_quote_only_when_they_must(csv_file: Any) -> None:
    assert cells(read(csv_file("'a','b'\n'1','x, y'\n'2','z'\n"))) == {"a": [1, 2], "b": ["x, y", "z"]}
    assert cells(read(csv_file("a,b\n1,'x, y'\n2,'z'\n"))) == {"a": [1, 2], "b": ["x, y", "z"]}
    assert cells(read(csv_file("a\n'\n'\n"))) == {"a": ["'", "'"]}
    assert cells(read(csv_file("a,b\n1,'t Hooft\n2,'t Hart'\n"))) == {"a": [1, 2], "b": ["'t Hooft", "'t Hart'"]}


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [("utf-8", "utf-8"), ("utf-8-sig", "UTF8"), ("latin-1", "latin-1"), ("utf-16", "utf-16")],
)
def test_declared_encodings(csv_file: Any, encoding: str, declared: str) -> None:
    path = csv_file('"näme",b\nJosé,2\nZoë,3\n', encoding)
    assert cells(read(path, encoding=declared)) == {"näme": ["José", "Zoë"], "b": [2, 3]}


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("a,b\nCanary Zoë,2\n".encode("latin-1"), "utf-8"),
        ("a,b\nCanary Zoë,2\n".encode("utf-16"), "utf-8"),
        ("a,b\nCanary Zoë,2\n".encode("utf-16-le"), "utf-16"),
        ("a,b\nCanary Zoë,2\n".encode("utf-16-be"), "utf-16"),
        (b"\xfe\xff" + "a,b\nCanary Zoë,2\n".encode("utf-16-be"), "utf-16"),
        ("a,b\nCanary Zoë,2\n".encode("utf-16")[:-1], "utf-16"),
        ("a,b\nCanary Zoë".encode()[:-1], "utf-8"),
        (b"a,b\nCanary," + b"x" * (5 << 20) + b"\xff\n", "utf-8"),
    ],
)
def test_a_wrong_encoding_is_refused(csv_file: Any, content: bytes, encoding: str) -> None:
    with pytest.raises(SchemaError, match=r"UTF-8") as refusal:
        read(csv_file(content), encoding=encoding)
    assert "Canary" not in str(refusal.value)
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


def test_an_encoding_nobody_knows_is_refused(csv_file: Any) -> None:
    with pytest.raises(SchemaError, match="utf-8, latin-1 or utf-16"):
        read(csv_file("a,b\n1,2\n"), encoding="cp437")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("\n\n", "begins with an empty line"),
        ("\n\na,b\n1,2\n", "begins with an empty line"),
        ("  \na,b\n1,2\n", "begins with an empty line"),
        ("\ufeff", "begins with an empty line"),
        ("a,b", "a header line and no rows"),
        ("a,b\n", "a header line and no rows"),
        ("a,b\n\n\n", "a header line and no rows"),
        ("a,b,a,b,c\n1,2,3,4,5\n", "repeats column names, in columns 1, 2, 3, 4"),
        ("canary7,canary7\n1,2\n", "put a header above"),
        ("17,2020-01-31,5.5\n18,2020-02-01,6\n", "a header seems to be missing"),
        ("a, a\n1,2\n", "repeats column names, in columns 1, 2"),
        ("Zip,zip\n1,2\n", "in more than upper and lower case; found Zip, zip"),
        ("a,,c,\n1,2,3,4\n", "2 empty column names"),
        ('a," "\n1,2\n', "1 empty column names"),
        ("a,b\ncanary,2\ncanary\ncanary\n", "2 lines with missing columns"),
        ("a,b\ncanary,2\ncanary,2,3\n", "1 lines with too many columns"),
        ("a,b\ncanary,2,3\ncanary,2,3\n", "2 lines with too many columns"),
        ('a,b\ncanary,"2\ncanary,3\n', "1 lines with unquoted value"),
        ('a,b\ncanary,"2"canary\ncanary,3\n', "1 lines with unquoted value"),
        ("canary" * 40_000 + "\n1\n", "has 240000 characters and holds no column names"),
        ("a,b\r\ncanary,2\ncanary,3\r\n", "line ends of two kinds"),
        ("a,b\ncanary,2\n" + "x" * (5 << 19) + ",2\n", "line size over maximum"),
    ],
)
def test_irregular_files_are_refused_with_counts(csv_file: Any, content: str, said: str) -> None:
    with pytest.raises(SchemaError) as refusal:
        read(csv_file(content))
    text = str(refusal.value)
    assert said in text
    assert "people.csv" in text or "Rename" in text or "Give a CSV file" in text
    assert "canary" not in text
    assert len(text) < 300


def test_one_row_and_one_column_are_enough(csv_file: Any) -> None:
    data = read(csv_file("a\n5\n"))
    assert (data.n_rows, cells(data), data.name) == (1, {"a": [5]}, "people")


@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_are_refused(csv_file: Any, packed: Callable[[bytes], bytes]) -> None:
    with pytest.raises(SchemaError, match="is compressed"):
        read(csv_file(packed(b"a,b\n1,2\n")))


def test_archives_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("people.csv", "a,b\n1,2\n")
    with pytest.raises(SchemaError, match="is compressed"):
        read(path)


def test_paths_that_are_no_file(tmp_path: Path, csv_file: Any) -> None:
    with pytest.raises(SchemaError, match=r"nowhere\.csv does not exist"):
        read(tmp_path / "nowhere.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(SchemaError, match=r"folder\.csv is a directory"):
        read(str(tmp_path / "folder.csv"))
    csv_file("a,b\n1,2\n", name="peoples.csv")
    with pytest.raises(SchemaError, match=r"must not hold \*"):
        read(csv_file("a,b\n1,2\n", name="people*.csv"))


@pytest.mark.parametrize(
    ("file", "given", "name"),
    [
        ("Patients 2026-11.csv", None, "patients_2026_11"),
        ("2026.csv", None, "t_2026"),
        ("é.csv", None, "data"),
        ("x.csv", "Mine_1", "Mine_1"),
    ],
)
def test_a_table_has_a_name_sql_takes(csv_file: Any, file: str, given: str | None, name: str) -> None:
    assert read(csv_file("a,b\n1,2\n", name=file), name=given).name == name


@pytest.mark.parametrize("name", ["", "1a", "a b", 'a"; DROP TABLE x', "é"])
def test_a_name_sql_does_not_take_is_refused(csv_file: Any, name: str) -> None:
    with pytest.raises(ParameterError, match="name="):
        read(csv_file("a,b\n1,2\n"), name=name)


def test_kinds_name_columns_and_kinds_that_are_there(csv_file: Any) -> None:
    path = csv_file("a,b\n1,2\n")
    with pytest.raises(SchemaError, match="c; there are a, b"):
        read(path, kinds={"c": "text"})
    with pytest.raises(ParameterError, match="'number'; use integer"):
        read(path, kinds={"a": "number"})


printed = st.characters(codec="utf-8", categories=("L", "M", "N", "P", "S", "Zs"))
awkward = st.text("',;\t|\" \n\r#\\'a0-.", max_size=6)
columns = st.lists(st.text(string.ascii_lowercase, min_size=1, max_size=4), min_size=1, max_size=4, unique=True)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), names=columns, quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
def test_whatever_the_csv_module_writes_reads_back(
    tmp_path: Path, data: st.DataObject, names: list[str], quoting: int
) -> None:
    delimiter = data.draw(st.sampled_from(",;\t|")) if len(names) > 1 else ","
    end = data.draw(st.sampled_from(["\n", "\r\n"])) if quoting == csv.QUOTE_ALL else "\r\n"
    cell = st.one_of(st.text(printed, max_size=8), awkward)
    row = st.lists(cell, min_size=len(names), max_size=len(names))
    rows = data.draw(st.lists(row, min_size=1, max_size=6))
    path = tmp_path / "any.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=end)
        writer.writerows([names, *rows])
    found = read(path, kinds=dict.fromkeys(names, "text"), null_values=())
    assert list(found.schema.names()) == names
    assert list(zip(*cells(found).values(), strict=True)) == [tuple(row) for row in rows]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    numbers=st.lists(st.integers(1 - 10**16, 10**16 - 1), min_size=1, max_size=8),
    days=st.dates(),
    scale=st.integers(0, 9),
)
def test_numbers_and_dates_written_plainly_read_back(
    tmp_path: Path, numbers: list[int], days: datetime.date, scale: int
) -> None:
    decimals = [Decimal(number).scaleb(-scale) for number in numbers]
    path = tmp_path / "numbers.csv"
    lines = [f"{n},{x:f},{days.isoformat()}\n" for n, x in zip(numbers, decimals, strict=True)]
    path.write_text("n,x,d\n" + "".join(lines))
    data = read(path)
    assert cells(data) == {"n": numbers, "x": decimals, "d": [days] * len(numbers)}
    assert data.schema["x"].kind == ("decimal" if scale else "integer")


def test_parquet_with_row_groups_and_dictionaries(tmp_path: Path) -> None:
    table = pa.table(
        {
            "zip": pa.array(["0012", "b", None, "0012", "a"] * 4).dictionary_encode(),
            "age": pa.array([3, 1, None, 2, 1] * 4).dictionary_encode(),
            "day": pa.array([datetime.date(2020, 1, 1 + i) for i in range(20)]),
            "pay": pa.array([Decimal(i) / 4 for i in range(20)], pa.decimal128(9, 2)),
            "a.b": pa.array([True, False] * 10),
        }
    )
    pq.write_table(table, tmp_path / "people.parquet", row_group_size=3)
    data = read(tmp_path / "people.parquet")
    assert cells(data) == table.to_pydict()
    assert [column.kind for column in data.schema] == ["text", "integer", "date", "decimal", "boolean"]
    assert data.domains["zip"].values.to_pylist() == ["0012", "a", "b"]
    assert data.domains["age"].values.to_pylist() == [1, 2, 3]
    assert data.notes == ()


def test_parquet_is_known_by_its_bytes_too(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "people.csv")
    assert cells(read(tmp_path / "people.csv")) == {"a": [1, 2]}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (pa.table({"a": pa.array([], pa.int64())}), "1 columns and 0 rows"),
        (pa.table([[1], [2]], names=["a", "a"]), "found a"),
        (pa.table({" ": [1], "a": [2]}), "1 columns without a name"),
        (pa.table({"a": [[1]]}), "'a' has type list"),
        (pa.table({"a": [{"canary": 1}]}), "'a' has type struct,"),
        (pa.table({"a": [b"canary"]}), "'a' has type binary"),
        (pa.table({"a": [1.0, float("nan"), float("inf")]}), "1 NaN and 1 infinite"),
    ],
)
def test_parquet_that_is_no_table_of_people(tmp_path: Path, table: pa.Table, said: str) -> None:
    pq.write_table(table, tmp_path / "people.parquet")
    with pytest.raises(SchemaError) as refusal:
        read(tmp_path / "people.parquet")
    assert said in str(refusal.value)
    assert "canary" not in str(refusal.value)


def test_damaged_parquet_is_refused_or_read_and_never_quoted(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    table = pa.table({"a": list(range(500)), "b": [f"canary{i}" for i in range(500)]})
    pq.write_table(table, path)
    whole = path.read_bytes()
    damaged = [whole[:length] for length in range(0, len(whole), 61)]
    damaged += [whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :] for at in range(0, len(whole), 97)]
    n_refused = 0
    for content in damaged:
        path.write_bytes(content)
        try:
            read(path)
        except SchemaError as refusal:
            n_refused += 1
            assert "canary" not in str(refusal)
    assert n_refused > len(damaged) // 2


def test_parquet_text_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"b": ["canary", "x"]}), path, compression="none", use_dictionary=False)
    path.write_bytes(path.read_bytes().replace(b"canary", b"canar\xff"))
    with pytest.raises(SchemaError, match=r"'b' of people\.parquet cannot be read"):
        read(path)
