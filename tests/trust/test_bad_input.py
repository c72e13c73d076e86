"""Bad input at the command line: the right exit code, words that say what to do, no cell, nothing written or lost."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.cli.application import main

CANARY = "canary"
SECRET = 7_741_113
"""No number below it is in any message, so that a cell that gets out is seen."""


def person(i: int) -> list[str]:
    return [
        f"{CANARY}-name-{i}",
        str(20 + i * 7 % 29),
        "FM"[i % 2],
        f"{CANARY}-{['flu', 'cold', 'hiv'][i % 3]}",
        str(SECRET + i),
    ]


HEADER = "name,age,sex,disease,pay"
GOOD = "\n".join([HEADER, *(",".join(person(i)) for i in range(48))]) + "\n"
ROLES = ["--identifier", "name", "--quasi", "age,sex", "--sensitive", "disease"]
NEED = ["--require", "k-anonymity:k=3", "--require", "l-diversity:l=2,on=disease"]
PUBLISH = ["publish", "people.csv", "-o", "kept", "--force", *ROLES, *NEED]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a good table and a release of it, made once."""
    folder = tmp_path_factory.mktemp("released")
    (folder / "people.csv").write_text(GOOD, encoding="utf8")
    arguments = ["publish", str(folder / "people.csv"), "-o", str(folder / "kept"), *ROLES, *NEED]
    assert main(arguments) == 0
    return folder


@pytest.fixture
def here(released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    shutil.copytree(released, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def refused(here: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., str]]:
    """Runs a verb that must fail, and looks at all that must not happen."""

    def run(arguments: list[str], code: int, said: str = "") -> str:
        before = contents(here)
        capsys.readouterr()
        found = main(arguments)
        out, err = capsys.readouterr()
        assert found == code, err
        assert out == ""
        assert "Traceback" not in err
        assert CANARY not in err
        assert not re.search(str(SECRET)[:4], err)
        assert err.startswith("Error: ")
        assert "unexpected" not in err
        assert re.search(said, err), err
        # What was found, and what to do about it.
        assert len(re.findall(r"[.;:?](?:\s|$)", err.removeprefix("Error: "))) >= 2, err
        assert contents(here) == before
        assert sorted(path.name for path in here.iterdir()) == sorted({name.split("/")[0] for name in before})
        return err

    yield run


def lines(*more: str, header: str = HEADER) -> bytes:
    return "\n".join([header, *(",".join(person(i)) for i in range(12)), *more, ""]).encode()


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "blank": (b"\n\n\n", "empty line"),
    "header only": (HEADER.encode(), "no rows"),
    "blank before the header": (b"\n" + GOOD.encode(), "empty line"),
    "duplicate columns": (lines(header="name,age,sex,age,pay"), "repeats column names, in columns 2, 4"),
    "columns by case": (lines(header="name,age,sex,disease,Age"), "upper and lower case; found Age, age"),
    "unnamed columns": (lines(header="name,age,,disease,"), "2 empty column names"),
    "too few fields": (lines(f"{CANARY},3", f"{CANARY},3"), "2 lines with missing columns"),
    "too many fields": (lines(f"{CANARY},30,F,{CANARY},5,{CANARY}"), "1 lines with too many columns"),
    "unclosed quote": (lines(f'{CANARY},30,F,"{CANARY},5', f"{CANARY},30,F,x,5"), "not a regular CSV file"),
    "two line ends": (lines(f"{CANARY},30,F,x,5\r"), "not a regular CSV file"),
    "wrong encoding": (lines(f"{CANARY} Zoë,30,F,x,5").replace("ë".encode(), b"\xeb"), "is not utf-8"),
    "utf-16": (GOOD.encode("utf-16"), "is not utf-8"),
    "packed": (b"\x1f\x8b\x08\x00" + GOOD.encode(), "is compressed"),
    "broken Parquet": (b"PAR1" + GOOD.encode() + b"PAR1", "not a Parquet file"),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_files_that_are_no_table(here: Path, refused: Callable[..., str], kind: str) -> None:
    content, said = BAD_FILES[kind]
    (here / "people.csv").write_bytes(content)
    refused(["profile", "people.csv"], 5, said)
    refused(["init", "people.csv"], 5, said)
    refused(["init", "people.csv", "--json", "--accept", "-o", "kept/SHA256SUMS", "--force"], 5, said)
    refused(PUBLISH, 5, said)
    refused(["publish", "people.csv", "-o", "-", *ROLES, *NEED], 5, said)
    refused(["measure", "kept", "--truth", "people.csv"], 5, said)
    refused(["verify", "kept", "--raw", "people.csv"], 5, said)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([1.5, float("nan"), SECRET + 0.5], "'pay' has 1 NaN and 0 infinite"),
        ([float("inf"), -float("inf"), SECRET + 0.5], "'pay' has 0 NaN and 2 infinite"),
        ([[SECRET]] * 3, "'pay' has type list"),
        ([{f"{CANARY}": 1}] * 3, "'pay' has type struct"),
        ([CANARY.encode()] * 3, "'pay' has type binary"),
        ([], "0 rows"),
    ],
)
def test_parquet_with_cells_nobody_can_publish(
    here: Path, refused: Callable[..., str], cells: list[object], said: str
) -> None:
    table = pa.table({"name": [CANARY] * len(cells), "age": list(range(len(cells))), "pay": cells})
    pq.write_table(table, here / "people.parquet")
    refused(["profile", "people.parquet"], 5, said)
    refused(["publish", "people.parquet", "-o", "kept", "--force", "--quasi", "age", *NEED[:2]], 5, said)


def test_columns_that_are_not_there(here: Path, refused: Callable[..., str]) -> None:
    refused([*PUBLISH, "--quasi", "agee"], 5, "agee.*Did you mean age")
    refused([*PUBLISH, "--hierarchy", "agee=intervals:5"], 5, "agee")
    refused([*PUBLISH, "--require", "l-diversity:l=2,on=illness"], 5, "illness")
    (here / "people.csv").write_text(GOOD.replace("disease", "illness", 1))
    refused(PUBLISH, 5, "disease.*There are name, age, sex, illness, pay")
    refused(["measure", "kept", "--truth", "people.csv"], 5, "disease")


@pytest.mark.parametrize("name", ["group_id", "age__lo", "x__hi"])
def test_columns_called_like_those_of_a_release(
    here: Path, refused: Callable[..., str], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (here / "people.csv").write_text(GOOD.replace("sex", name, 1).replace("pay", "__row", 1))
    for role in ("--quasi", "--sensitive", "--plain"):
        refused(["publish", "people.csv", "-o", "kept", "--force", role, name, *NEED[:2]], 5, f"{name}.*Rename it")
    for method in ("mondrian", "anatomy"):
        roles = ["--identifier", name, "--quasi", "age", "--sensitive", "disease", "--plain", "__row"]
        arguments = ["publish", "people.csv", "-o", "kept", "--force", *roles, "--method", method, *NEED[2:]]
        assert main(arguments) == 0
        assert main(["verify", "kept"]) == 0
    assert f"{CANARY}-name" not in "".join(capsys.readouterr())


def test_mixed_columns_are_read_as_text_and_casts_that_lose_are_refused(
    here: Path, refused: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "people.csv").write_bytes(lines(f"{CANARY},30,F,{CANARY}-flu,{CANARY}", f"x,NaN,F,{CANARY}-flu,inf"))
    assert main(["profile", "people.csv"]) == 0
    out, err = capsys.readouterr()
    assert "Column 'pay' stays text: 12 of its 14 distinct values are numbers, 2 are not." in out
    assert "Column 'age' stays text" in out
    assert CANARY not in out + err
    assert str(SECRET)[:4] not in out + err
    project = 'schema_version = 1\nsource = { path = "people.csv" }\nrequire = [{ model = "k-anonymity", k = 2 }]\n'
    (here / "sfumato.toml").write_text(f'{project}[columns]\nage = {{ role = "quasi", kind = "integer" }}\n')
    refused(["publish", "-o", "kept", "--force"], 5, "'age' cannot be read as integer.*1 distinct values in 1 rows")


def test_one_row_and_columns_without_values(
    here: Path, refused: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "people.csv").write_text(f"{HEADER}\n{','.join(person(1))}\n")
    refused(PUBLISH, 4, "k")
    assert main(["profile", "people.csv"]) == 0
    rows = "".join(f"{CANARY},,F,{CANARY}-{i % 3},\n" for i in range(12))
    (here / "people.csv").write_text(f"{HEADER}\n{rows}")
    assert main(["profile", "people.csv"]) == 0
    assert main(["publish", "people.csv", "-o", "fresh", *ROLES, *NEED]) == 0
    out, err = capsys.readouterr()
    assert "Column 'age' has no value in any row." in out
    assert CANARY not in out + err
    assert main(["verify", "fresh", "--raw", "people.csv"]) == 0


@pytest.mark.parametrize("method", ["mondrian", "anatomy"])
def test_more_people_asked_for_than_there_are(refused: Callable[..., str], method: str) -> None:
    one = ["--method", method, "--require", "k-anonymity:k=49"]
    refused(["publish", "people.csv", "-o", "kept", "--force", *ROLES, *one], 4, "48")
    two = ["--method", method, "--require", "l-diversity:l=4,on=disease"]
    refused(["publish", "people.csv", "-o", "kept", "--force", *ROLES, *two], 4, "3")


HIERARCHIES = {
    "empty": ("", "is empty"),
    "a hole": ("F;woman;*\nM;;*\n", "hierarchy|Hierarchy"),
    "a ragged line": ("F;woman;*\nM;man\n", "1 of 2 lines"),
    "a leaf twice": ("F;woman;*\nM;man;*\nF;woman;*\n", "F|twice|leaves|once"),
    "not nested": ("F;a;x\nM;a;y\nN;b;x\n", "level"),
    "a value left out": ("F;woman;*\nN;man;*\n", "sex"),
}


@pytest.mark.parametrize("kind", HIERARCHIES)
def test_hierarchy_files_that_are_no_hierarchy(here: Path, refused: Callable[..., str], kind: str) -> None:
    text, said = HIERARCHIES[kind]
    (here / "sex.csv").write_text(text)
    refused([*PUBLISH, "--hierarchy", "sex=file:sex.csv"], 5, said)


def test_hierarchy_files_never_show_the_values_they_lack(here: Path, refused: Callable[..., str]) -> None:
    (here / "disease.csv").write_text(f"{CANARY}-flu;infection;*\n{CANARY}-cold;infection;*\n")
    roles = ["--quasi", "age,disease", "--hierarchy", "disease=file:disease.csv", *NEED[:2]]
    refused(["publish", "people.csv", "-o", "kept", "--force", *roles], 5, "disease")
    refused([*PUBLISH, "--hierarchy", "sex=file:nowhere.csv"], 5, "nowhere.csv")
    (here / "disease.csv").write_bytes(b"\xff\xfe\x00")
    refused(["publish", "people.csv", "-o", "kept", "--force", *roles], 5, "UTF-8")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("require", "requires"), "line 3.*Did you mean require"),
        (("role", "rolle"), "line 6.*Did you mean role"),
        (('"quasi"', '"secret"'), "line 6"),
        (("schema_version = 1", "schema_version = 9"), "schema_version"),
        (("[columns]", "[columns"), "not valid TOML"),
        (("k = 3", "kay = 3"), "kay"),
        (('name = "mondrian"', 'name = "mondrain"'), "mondrian"),
    ],
)
def test_a_project_file_with_a_mistake(
    here: Path, refused: Callable[..., str], change: tuple[str, str], said: str
) -> None:
    text = (
        'schema_version = 1\nsource = { path = "people.csv" }\nrequire = [{ model = "k-anonymity", k = 3 }]\n'
        'method = { name = "mondrian" }\n[columns]\nage = { role = "quasi" }\n'
    )
    (here / "sfumato.toml").write_text(text.replace(*change, 1))
    refused(["publish", "-o", "kept", "--force"], 2 if change[0] in ("k = 3", 'name = "mondrian"') else 5, said)


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "   ",
        "SELECT",
        "SELEC count(*) FROM data",
        "SELECT count(*) FROM data; SELECT 1",
        "DROP TABLE data",
        "INSERT INTO data VALUES (1)",
        "COPY data TO 'leak.csv'",
        "ATTACH 'leak.db'",
        "PRAGMA database_list",
        "SET memory_limit = '1GB'",
        "CREATE TABLE leak AS SELECT * FROM data",
        "SELECT count(*) FROM read_csv('people.csv')",
        "SELECT count(*) FROM data UNION SELECT 1",
        "WITH x AS (DELETE FROM data RETURNING *) SELECT count(*) FROM x",
        "SELECT getenv('HOME')",
        "SELECT count(*) FROM data WHERE",
        "SELECT count(*) FROM data WHERE age = ",
        "SELECT count(*) FROM data WHERE (age > 3",
        "SELECT count(*) FROM data WHERE age > 'x' OR '",
        "\x00",
    ],
)
def test_questions_that_are_not_one_select_over_the_release(refused: Callable[..., str], sql: str) -> None:
    refused(["query", "kept", "-c", sql], 2)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT count(*) FROM 'people.csv'", "release is called data or people"),
        ("SELECT count(*) FROM nowhere", "release is called data or people"),
        ("SELECT count(name) FROM data", "columns are age, sex, disease"),
        ("SELECT sex, avg(pay) FROM data GROUP BY sex", "columns are age, sex, disease"),
    ],
)
def test_questions_about_what_the_release_does_not_have(refused: Callable[..., str], sql: str, said: str) -> None:
    refused(["query", "kept", "-c", sql], 5, said)


def test_a_package_with_a_changed_byte_is_refused_by_every_verb(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever byte: `verify` exits 3 or 5, and no other verb quotes a cell or falls over."""
    whole = contents(here / "kept")
    n_failed = 0
    for name, content in whole.items():
        changed = bytearray(content)
        changed[len(changed) // 2] ^= 0x55
        (here / "kept" / name).write_bytes(changed)
        before = contents(here)
        for arguments in (["verify", "kept"], ["query", "kept", "-c", "SELECT count(*) AS n FROM data WHERE age > 30"]):
            capsys.readouterr()
            code = main(arguments)
            out, err = capsys.readouterr()
            assert code in ((3, 5) if arguments[0] == "verify" else (0, 5)), (name, code, err)
            assert "Traceback" not in err
            assert "unexpected" not in err
            assert f"{CANARY}-name" not in out + err
            n_failed += arguments[0] == "verify"
        assert contents(here) == before
        (here / "kept" / name).write_bytes(content)
    assert n_failed == len(whole)
    assert main(["verify", "kept"]) == 0


def test_packages_that_are_none(here: Path, refused: Callable[..., str]) -> None:
    question = ["-c", "SELECT count(*) AS n FROM data"]
    (here / "folder").mkdir()
    (here / "folder" / "people.csv").write_text(GOOD)
    (here / "broken.zip").write_bytes(b"PK\x03\x04" + GOOD.encode())
    shutil.copytree(here / "kept", here / "half")
    (here / "half" / "guarantees.json").unlink()
    for package in ("nowhere", "people.csv", "folder", "broken.zip", "half"):
        refused(["query", package, *question], 5, package.partition(".")[0])
        refused(["measure", package, "--truth", "people.csv"], 5)
        refused(["report", package, "-o", "report.html"], 5)
    for package in ("nowhere", "people.csv", "broken.zip"):
        refused(["verify", package], 5, package.partition(".")[0])
    for package in ("folder", "half"):
        assert main(["verify", package]) == 3
