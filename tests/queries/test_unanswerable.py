"""What cannot be answered is refused by name with the nearest form; nothing opens a file; garbled text never breaks."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.chance import Seeded
from sfumato.errors import ParameterError, SchemaError, SfumatoError, Unanswerable
from sfumato.queries.answer import Answer
from sfumato.queries.ask import ask
from sfumato.queries.connection import evaluate
from tests.queries.tiny import release

CLAUSES = [
    # text, what it names, the nearest form
    ("SELECT * FROM data", r"SELECT \*", "GROUP BY age, sex"),
    ("SELECT * EXCLUDE (age) FROM data", r"SELECT \*", "GROUP BY"),
    ("SELECT data.* FROM data", r"SELECT \*", "GROUP BY"),
    ("FROM data", r"SELECT \*", "GROUP BY"),
    ("TABLE data", r"SELECT \*", "GROUP BY"),
    ("SELECT age FROM data", "single rows", "GROUP BY age"),
    ("SELECT age, count(*) FROM data", "single rows", "GROUP BY age"),
    ("SELECT sex, age, count(*) FROM data GROUP BY sex", "'age' stands outside", "Add it to GROUP BY"),
    ("SELECT count(*) FROM data ORDER BY sex", "'sex'", "GROUP BY sex"),
    ("SELECT 1 FROM data", "constants alone", r"count\(\*\)"),
    ("SELECT DISTINCT age FROM data", "DISTINCT", "GROUP BY"),
    ("SELECT DISTINCT ON (age) age FROM data", "DISTINCT", "GROUP BY"),
    ("SELECT count(DISTINCT age) FROM data", "DISTINCT inside", "GROUP BY"),
    ("SELECT sum(DISTINCT age) FROM data", "DISTINCT inside", "GROUP BY"),
    ("SELECT count(*) FROM data a JOIN data b ON a.age = b.age", "JOIN", "each release by itself"),
    ("SELECT count(*) FROM data a LEFT JOIN data b USING (age)", "JOIN", "each release by itself"),
    ("SELECT count(*) FROM data NATURAL JOIN data b", "JOIN", "each release by itself"),
    ("SELECT count(*) FROM data SEMI JOIN data b USING (age)", "JOIN", "each release by itself"),
    ("SELECT count(*) FROM data ASOF JOIN data b ON a.age >= b.age", "JOIN", "each release by itself"),
    ("SELECT count(*) FROM data POSITIONAL JOIN data b", "JOIN", "each release by itself"),
    ("SELECT count(*) FROM data CROSS JOIN data b", "JOIN", "each release by itself"),
    ("SELECT count(*) FROM data, data b", "second table", "each release by itself"),
    ("SELECT count(*) FROM data, LATERAL (SELECT 1)", "second table", "each release by itself"),
    ("SELECT count(*) FROM data, unnest([1, 2])", "second table", "each release by itself"),
    ("SELECT count(*) FROM (SELECT * FROM data)", "subquery in FROM", "FROM data"),
    ("SELECT count(*) FROM (VALUES (1))", "FROM", "FROM data"),
    ("SELECT count(*) FROM data WHERE age IN (SELECT age FROM data)", "subquery", "first"),
    ("SELECT count(*) FROM data WHERE EXISTS (SELECT 1)", "subquery", "first"),
    ("SELECT count(*) FROM data WHERE age = (SELECT max(age) FROM data)", "subquery", "first"),
    ("SELECT (SELECT 1), count(*) FROM data", "subquery", "first"),
    ("WITH x AS (SELECT 1) SELECT count(*) FROM data", "CTE", "where it is used"),
    ("WITH RECURSIVE x AS (SELECT 1) SELECT count(*) FROM data", "CTE", "where it is used"),
    ("SELECT row_number() OVER (ORDER BY age) FROM data", "window function", "GROUP BY"),
    ("SELECT sum(count(*)) OVER () FROM data", "window function", "GROUP BY"),
    ("SELECT sum(pay) OVER w FROM data WINDOW w AS (ORDER BY age)", "WINDOW", "GROUP BY"),
    ("SELECT age FROM data QUALIFY row_number() OVER () = 1", "QUALIFY", "HAVING"),
    ("SELECT count(*) FROM data UNION SELECT 1", "UNION", "each SELECT by itself"),
    ("SELECT count(*) FROM data UNION ALL SELECT 1", "UNION", "each SELECT by itself"),
    ("SELECT count(*) FROM data INTERSECT SELECT 1", "INTERSECT", "each SELECT by itself"),
    ("SELECT count(*) FROM data EXCEPT SELECT 1", "EXCEPT", "each SELECT by itself"),
    ("SELECT count(*) FROM data PIVOT (count(*) FOR sex IN ('M'))", "PIVOT", "GROUP BY"),
    ("SELECT count(*) FROM data UNPIVOT (a FOR b IN (age))", "UNPIVOT", "GROUP BY"),
    ("PIVOT data ON sex USING count(*)", "PIVOT", "one SELECT"),
    ("UNPIVOT data ON age INTO NAME a VALUE b", "UNPIVOT", "one SELECT"),
    ("SELECT count(*) FROM data USING SAMPLE 10%", "SAMPLE", "Leave it out"),
    ("SELECT count(*) FROM data TABLESAMPLE 10%", "SAMPLE", "Leave it out"),
    ("SELECT count(*) FROM data FOR UPDATE", "locking", "Leave it out"),
    ("SELECT count(*) INTO x FROM data", "INTO", "arrow"),
    ("SELECT count(*) FROM data GROUP BY ROLLUP (age)", "ROLLUP", "each grouping"),
    ("SELECT count(*) FROM data GROUP BY CUBE (age)", "CUBE", "each grouping"),
    ("SELECT count(*) FROM data GROUP BY GROUPING SETS ((age), ())", "GROUPING SETS", "each grouping"),
    ("SELECT count(*) FROM data GROUP BY count(*)", "aggregate in GROUP BY", "columns"),
    ("SELECT count(*) FROM data WHERE count(*) > 1", "aggregate in WHERE", "HAVING"),
    ("SELECT sum(count(*)) FROM data", "aggregate inside an aggregate", "GROUP BY"),
    ("SELECT count(*) FROM data ORDER BY ALL", "ORDER BY ALL", "ORDER BY 1, 2"),
    ("SELECT count(*) FROM data LIMIT 10%", "percentage", "LIMIT"),
    ("SELECT count(*) FROM data LIMIT 1 WITH TIES", "ties", "LIMIT"),
    ("SELECT count(*) FROM data LIMIT 1 + 1", "LIMIT", "digits"),
    ("SELECT count(*) FROM data LIMIT (SELECT 1)", "LIMIT", "digits"),
    ("SELECT count(*) FROM data OFFSET 1 + 1", "OFFSET", "digits"),
    ("SELECT count(*) FROM data FETCH FIRST 1 ROWS ONLY", "FETCH", "LIMIT"),
    ("SELECT count(*) FROM data d(a, b)", "column aliases", "AS"),
    ("SELECT count(*) FROM main.data", "qualified", "FROM data"),
    ("SELECT count(*)", "no released table", "FROM data"),
    ("SELECT count(*) FROM data; SELECT count(*) FROM data", "2 statements", "one SELECT"),
    ("", "0 statements", "one SELECT"),
    ("SELECT count(*) FROM data WHERE age = ?", "placeholder", "value"),
    ("SELECT count(*) FROM data WHERE age = $1", "placeholder", "value"),
    ("SELECT median(age) FROM data", "median", "COUNT, SUM, AVG, MIN and MAX"),
    ("SELECT quantile_cont(age, 0.5) FROM data", "percentile_cont", "COUNT, SUM, AVG, MIN and MAX"),
    ("SELECT mode(age) FROM data", "mode", "COUNT, SUM, AVG, MIN and MAX"),
    ("SELECT stddev(age) FROM data", "stddev", "COUNT, SUM, AVG, MIN and MAX"),
    ("SELECT corr(age, pay) FROM data", "corr", "COUNT, SUM, AVG, MIN and MAX"),
    ("SELECT list(age) FROM data", "array_agg", "COUNT, SUM, AVG, MIN and MAX"),
    ("SELECT string_agg(sex, ',') FROM data", "group_concat", "COUNT, SUM, AVG, MIN and MAX"),
    ("SELECT first(age) FROM data", "first", "COUNT, SUM, AVG, MIN and MAX"),
    ("SELECT any_value(age) FROM data", "ANY_VALUE", "COUNT, SUM, AVG, MIN and MAX"),
    ("SELECT arg_max(age, pay) FROM data", "arg_max", "COUNT, SUM, AVG, MIN and MAX"),
    ("SELECT bool_or(ok) FROM data", "BOOL_OR", "CASE"),
    ("SELECT sum(age ORDER BY pay) FROM data", "ORDER BY inside", "order"),
    ("SELECT sum(*) FROM data", r"SUM\(\*\)", "column"),
    ("SELECT count(age, sex) FROM data", "several arguments", "one argument"),
    ("SELECT min(age, 2) FROM data", "several arguments", "one argument"),
    ("SELECT sum(sex) FROM data", "'sex' that is text", "COUNT, GROUP BY"),
    ("SELECT max(sex) FROM data WHERE age > 20", "'sex' that is text", "COUNT, GROUP BY"),
    ("SELECT min(sex || 'x') FROM data", "text", "COUNT, GROUP BY"),
    ("SELECT count(*) || 'x' FROM data WHERE age > 20", "text", "aggregates themselves"),
    ("SELECT count(*) FROM data WHERE random() < 0.5", "volatile", "Leave it out"),
    ("SELECT count(*) FILTER (WHERE random() < 0.5) FROM data", "volatile", "Leave it out"),
    ("SELECT count(*) FROM data ORDER BY random()", "volatile", "Leave it out"),
    ("SELECT uuid(), count(*) FROM data", "uuid", "usual number, text and date functions"),
    ("SELECT nextval('s'), count(*) FROM data", "nextval", "usual number, text and date functions"),
    ("SELECT count(*) FROM data WHERE born < current_date", "present time", "literal"),
    ("SELECT count(*) FROM data WHERE born < today()", "present time", "literal"),
    ("SELECT count(*), now() FROM data", "now", "usual number, text and date functions"),
    ("SELECT count(*) FROM data WHERE sex ~ 'M'", "operator ~", "regexp_matches"),
    ("SELECT max(COLUMNS(*)) FROM data", "columns", "usual number, text and date functions"),
    ("SELECT unnest([1, 2]), count(*) FROM data", "explode", "usual number, text and date functions"),
    ("SELECT [age], count(*) FROM data GROUP BY age", "array", "usual number, text and date functions"),
    ("SELECT INTERVAL 1 DAY, count(*) FROM data GROUP BY 1", "interval", "Cast"),
    ("SELECT error('x'), count(*) FROM data", "error", "usual number, text and date functions"),
    ("SELECT current_setting('threads'), count(*) FROM data", "current_setting", "usual number"),
    ("SELECT getenv('HOME'), count(*) FROM data", "getenv", "usual number, text and date functions"),
]
STATEMENTS = [
    ("INSERT INTO data VALUES (1)", "INSERT"),
    ("UPDATE data SET age = 1", "UPDATE"),
    ("DELETE FROM data", "DELETE"),
    ("DROP TABLE data", "DROP"),
    ("TRUNCATE data", "TRUNCATETABLE"),
    ("ALTER TABLE data ADD COLUMN x INT", "ALTER"),
    ("CREATE TABLE x AS SELECT count(*) FROM data", "CREATE"),
    ("MERGE INTO data USING data b ON true WHEN MATCHED THEN DELETE", "MERGE"),
    ("INSTALL httpfs", "INSTALL"),
    ("LOAD httpfs", "LOAD"),
    ("SET threads = 4", "SET"),
    ("PRAGMA database_list", "PRAGMA"),
    ("CALL pragma_version()", "CALL"),
    ("EXPLAIN SELECT count(*) FROM data", "EXPLAIN"),
    ("DESCRIBE data", "DESCRIBE"),
    ("SHOW TABLES", "SHOW"),
    ("SUMMARIZE data", "SUMMARIZE"),
    ("VALUES (1)", "VALUES"),
    ("BEGIN", "TRANSACTION"),
    ("USE data", "USE"),
]
ON_FILES = [
    "SELECT count(*) FROM read_csv('{0}')",
    "SELECT count(*) FROM read_csv_auto('{0}')",
    "SELECT count(*) FROM read_text('{0}')",
    "SELECT count(*) FROM read_parquet('{0}')",
    "SELECT count(*) FROM glob('{0}')",
    "SELECT count(*) FROM sniff_csv('{0}')",
    "SELECT count(*) FROM query_table('{0}')",
    "SELECT count(*) FROM query('FROM ''{0}''')",
    "SELECT count(*) FROM '{0}'",
    'SELECT count(*) FROM "{0}"',
    "SELECT count(*) FROM pragma_table_info('{0}')",
    "SELECT count(*) FROM data, read_csv('{0}')",
    "SELECT count(*) FROM data WHERE sex IN (FROM read_csv('{0}'))",
    "SELECT count(*) FROM data WHERE sex = read_text('{0}')",
    "SELECT max(read_blob('{0}')) FROM data",
    "SELECT count(*) FROM data HAVING read_text('{0}') = 'x'",
    "SELECT count(*) FROM data ORDER BY read_text('{0}')",
    "SELECT count(*) FROM data LIMIT (SELECT 1 FROM '{0}')",
    "ATTACH '{0}'",
    "COPY data FROM '{0}'",
    "COPY data TO '{0}.out'",
    "COPY (SELECT count(*) FROM data) TO '{0}.out'",
    "EXPORT DATABASE '{0}.out'",
    "IMPORT DATABASE '{0}'",
    "CREATE VIEW x AS FROM '{0}'",
]


@functools.cache
def worlds() -> Any:
    return release(np.random.Generator(np.random.Philox(key=3)), 60)[0]


def asked(text: str) -> Answer:
    return ask(worlds(), text, n_worlds=5, chance=Seeded(1))


@pytest.mark.parametrize(("text", "named", "nearest"), CLAUSES, ids=[text for text, _, _ in CLAUSES])
def test_the_clause_and_the_nearest_form_are_named(text: str, named: str, nearest: str) -> None:
    with pytest.raises(Unanswerable, match=f"(?s){named}.*{nearest}"):
        asked(text)


@pytest.mark.parametrize(("text", "named"), STATEMENTS)
def test_what_is_no_select_is_refused(text: str, named: str) -> None:
    with pytest.raises(Unanswerable, match=rf"the statement {named}\b.*Write one SELECT"):
        asked(text)


@pytest.mark.parametrize("text", ON_FILES)
def test_no_file_is_opened_or_written(text: str, tmp_path: Path) -> None:
    """A file that is there is refused in the same words as one that is not: nobody looked."""
    (tmp_path / "a.csv").write_text("sex\ncanary\n")
    said = []
    for name in ("a.csv", "b.csv"):
        with pytest.raises(SfumatoError) as refusal:
            asked(text.format(tmp_path / name))
        assert isinstance(refusal.value, Unanswerable | ParameterError | SchemaError)
        said.append(str(refusal.value).replace(name, "?"))
    assert said[0] == said[1] and "canary" not in said[0]
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_the_engine_itself_has_no_files_and_no_settings(tmp_path: Path) -> None:
    """Even text that passed the parser could not reach them."""
    (tmp_path / "a.txt").write_text("canary")
    for text in (
        f"(SELECT content FROM read_text('{tmp_path / 'a.txt'}'))",
        f"(SELECT count(*) FROM '{tmp_path / 'a.txt'}')",
        f"(SELECT count(*) FROM glob('{tmp_path}/*'))",
    ):
        with pytest.raises(ParameterError) as refusal:
            evaluate({}, [text], 1)
        assert "canary" not in str(refusal.value)
    here = [[{"age": 1}]]
    with pytest.raises(ParameterError):
        evaluate({}, ["(SELECT count(*) FROM here)"], 1)
    assert here


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT count(*) FROM nothing", "no table 'nothing'"),
        ("SELECT count(*) FROM data a WHERE b.age = 1", "no table"),
        ("SELECT count(aeg) FROM data", "Did you mean age"),
        ("SELECT rowid FROM data", "no column 'rowid'"),
    ],
)
def test_names_that_are_not_there(text: str, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        asked(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELEC count(*) FROM data", "syntax|statement"),
        ("SELECT count(* FROM data", "syntax"),
        ("SELECT count(*) FROM data WHERE 'abc", "syntax"),
        ("SELECT count(*) FROM data HAVING", "syntax"),
        ("SELECT count(*) FROM data WHERE 'abc'", "neither true nor false|does not fit|fails on"),
        ("SELECT count(*) FROM data WHERE upper(sex)", "neither true nor false|does not fit|fails on"),
        ("SELECT count(*) FROM data HAVING 'abc'", "neither true nor false|does not fit|fails on"),
        ("SELECT count(*) FROM data WHERE age = 0x1F", "a number runs into a name"),
        ("SELECT count(*) FROM data WHERE age = 'x'", "fails on some values"),
        ("SELECT count(*) FROM data WHERE born = '1976-02-30'", "fails on some values"),
        ("SELECT sum(born) FROM data", "does not fit the columns"),
        ("SELECT avg(1e308 * 1e10 * age) FROM data", "infinite"),
        ("SELECT count(*) FROM data ORDER BY 5", "1 items"),
        ("SELECT count(*) AS __row FROM data", "two columns called"),
        ("SELECT count(*) FROM data WHERE " + "(" * 3000 + "age = 1" + ")" * 3000, "nested too deeply"),
        ("SELECT count(*) FROM data WHERE " + "NOT " * 5000 + "ok", "nested too deeply"),
        ("SELECT count(*) FROM data -- " + "x" * 60_000, "characters"),
    ],
    ids=lambda text: text[:40],
)
def test_mistakes_are_typed_errors(text: str, said: str) -> None:
    with pytest.raises((ParameterError, Unanswerable), match=said):
        asked(text)


def test_messages_never_quote_cells() -> None:
    """DuckDB's own text would name the value that failed."""
    with pytest.raises(ParameterError) as refusal:
        asked("SELECT sum(CAST(sex AS INT)) FROM data")
    assert "'M'" not in str(refusal.value) and "'F'" not in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) FROM data;",
        "FROM data SELECT count(*)",
        "SELECT NULL, count(*) FROM data GROUP BY NULL",
        "SELECT count(*) FROM data ORDER BY NULL",
        "SELECT age, count(*) FROM data WHERE 1 = 0 GROUP BY age ORDER BY age",
        "SELECT 1 FROM data HAVING count(*) > 0",
        "SELECT count(*) FROM data LIMIT 99999999999999999999999",
        "SELECT count(*) FROM data WHERE age IN ()",
        "SELECT count(*) FROM data /* a comment */ WHERE ok -- and another",
    ],
)
def test_what_looks_odd_but_can_be_answered(text: str) -> None:
    assert isinstance(asked(text), Answer)


SEEDS = [
    "SELECT count(*) FROM data WHERE age > 20 AND sex = 'M'",
    "SELECT sex, avg(pay) AS a, max(born) FROM data GROUP BY sex HAVING count(*) >= 2 ORDER BY a DESC LIMIT 2",
    "SELECT age // 2 AS d, sum(pay) / count(*) FROM data WHERE born < DATE '1980-01-01' GROUP BY 1",
    "SELECT 100.0 * count(*) FILTER (WHERE ok) / count(*) FROM data",
    "SELECT CASE WHEN age BETWEEN 20 AND 21 THEN 'a' ELSE sex END AS k, min(pay) FROM data GROUP BY ALL",
    "SELECT coalesce(sum(age * pay), 0), round(avg(age), 1) FROM data WHERE sex LIKE 'M%' OR NOT ok",
]
WORDS = r"""
SELECT FROM data WHERE GROUP BY HAVING ORDER LIMIT OFFSET DISTINCT AND OR NOT IN IS NULL LIKE BETWEEN CASE
WHEN THEN ELSE END AS ALL age sex born pay ok count sum avg min max ( ) , * + - / // % . ; = <> < > <= >= ||
:: 'M' '1976-01-21' '' 0 1 2 20 1.5 1e9 -1 DATE INTERVAL DAY year upper round abs CAST TRY_CAST INT VARCHAR
DOUBLE BOOLEAN FILTER OVER JOIN USING ON WITH UNION EXISTS TRUE FALSE ASC DESC NULLS FIRST LAST [ ] { } $1 ? @
# -- /* */ " ' `
"""


@st.composite
def garbled(draw: st.DrawFn) -> str:
    """A good query with some words left out, put in, or changed places, and sometimes odd characters."""
    words = draw(st.sampled_from(SEEDS)).replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split()
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(words)))
        how = draw(st.sampled_from(["put", "drop", "change", "swap", "odd"]))
        if how == "put":
            words.insert(at, draw(st.sampled_from(WORDS.split())))
        elif how == "odd":
            words.insert(at, draw(st.text(max_size=3)))
        elif at < len(words) and how == "drop":
            del words[at]
        elif at < len(words) and how == "change":
            words[at] = draw(st.sampled_from(WORDS.split()))
        elif at + 1 < len(words):
            words[at], words[at + 1] = words[at + 1], words[at]
    return " ".join(words)


@settings(max_examples=300, deadline=None)
@given(garbled())
def test_garbled_text_is_answered_or_refused(text: str) -> None:
    try:
        found = asked(text)
    except SfumatoError as error:
        assert str(error)
        return
    assert found.arrow().column_names[-2:] == ["__row", "__how"]
