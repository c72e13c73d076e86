"""Answers as tables: names and order of columns, companions, every way out, and what they say of themselves."""

from __future__ import annotations

import csv
import datetime
import html
import importlib.util
import io
import json
import math
import re
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato.chance import Secret, Seeded
from sfumato.data.codec import Domain
from sfumato.errors import ParameterError, SfumatoError
from sfumato.queries.answer import Answer
from sfumato.queries.ask import ask
from sfumato.queries.formats import FORMATS
from sfumato.worlds.alternatives import Alternatives
from sfumato.worlds.blocks import Blocks
from tests.queries.tiny import SHAPES, release

ODD = ["", " a ", '"quoted", or <b>bold</b> & more', "a|b\\c", "first\nsecond", "naïve – 日本", "*star* `tick`", "NULL"]
DAYS = [datetime.date(1969, 12, 30) + datetime.timedelta(i) for i in range(5)]
DOMAINS = {
    "who": Domain("text", pa.array(sorted(ODD)), missing=True, region="set", complete=True),
    "Pay in €": Domain("integer", pa.array([-10, 0, 10, 20]), missing=True, complete=True),
    "day": Domain("date", pa.array(DAYS), complete=True),
    "ok": Domain("boolean", pa.array([False, True]), complete=True),
    "rate": Domain("real", pa.array([0.1, 0.25, 1e9 / 3]), complete=True),
}


def hand_made() -> Alternatives:
    """Twelve rows: every odd text certain, other cells in small regions."""
    chance = np.random.default_rng(5)
    n = 12
    low = {c: chance.integers(0, d.size, n).astype(np.int32) for c, d in DOMAINS.items()}
    low["who"] = np.arange(n, dtype=np.int32) % DOMAINS["who"].size
    high = {c: np.minimum(low[c] + chance.integers(0, 2, n), d.size - 1).astype(np.int32) for c, d in DOMAINS.items()}
    high["who"] = np.where(np.arange(n) < 9, low["who"], low["who"] + 1).astype(np.int32)
    return Alternatives(tuple(DOMAINS), DOMAINS, low, high, np.ones(n, dtype=np.int64))


WORLDS = hand_made()
BY_WHO = 'SELECT who, count(*) AS n, avg("Pay in €") AS a, max(day) AS d, min(rate) AS r FROM data GROUP BY who'


def answer(text: str, quantiles: tuple[float, ...] = (), worlds: Any = None, n_worlds: int = 200) -> Answer:
    return ask(worlds or WORLDS, text, quantiles=quantiles, n_worlds=n_worlds, chance=Seeded(2))


def number(value: Any) -> float:
    if isinstance(value, datetime.datetime):
        return (value - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
    return float(value.toordinal() - 719163 if isinstance(value, datetime.date) else value)


# ---- names and columns -------------------------------------------------------------------------------------------


def test_columns_stand_in_the_order_of_the_query_with_companions_after_their_own() -> None:
    found = answer("SELECT max(day) AS d, who, count(*), 1 + 1 AS two FROM data GROUP BY who", (0.95, 0.5))
    assert found.arrow().column_names == [
        *("d", "d__lo", "d__hi", "d__q95", "d__q50"),
        "who",
        *("count_star()", "count_star()__lo", "count_star()__hi", "count_star()__q95", "count_star()__q50"),
        "two",
        *("__row", "__how"),
    ]
    assert [one.name for one in found.shown] == ["d", "who", "count_star()", "two"]
    assert [len(one.companions) for one in found.shown] == [4, 0, 4, 0]


def test_certain_columns_have_no_companions() -> None:
    (row,) = answer("SELECT count(*) AS n, count(*) FILTER (WHERE ok) AS m FROM data", (0.5,)).rows()
    assert list(row) == ["n", "m", "m__lo", "m__hi", "m__q50", "__row", "__how"]
    assert row["n"] == 12 and isinstance(row["n"], int)


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        ("count(*) AS n, count(*) AS n", ["n", "n_1"]),
        ("count(*) AS n, count(*) AS n_1, count(*) AS n", ["n", "n_1", "n_2"]),
        ("count(*), count(*)", ["count_star()", "count_star()_1"]),
        ('count(who), sum(rate), avg("Pay in €")', ["count(who)", "sum(rate)", 'avg("Pay in €")']),
        ("max(rate + 1)", ["max((rate + 1))"]),
        ('count(*) AS "a ""b"" c"', ['a "b" c']),
    ],
)
def test_names_are_those_of_duckdb_and_repeated_ones_get_a_number(chosen: str, names: list[str]) -> None:
    assert [one.name for one in answer(f"SELECT {chosen} FROM data").shown] == names


@pytest.mark.parametrize(
    "chosen",
    [
        "count(*) AS __row",
        "count(*) AS __how",
        "count(*) FILTER (WHERE ok) AS n, count(*) AS n__lo",
        "count(*) AS n__hi, count(*) FILTER (WHERE ok) AS n",
        "count(*) AS n__q50, count(*) FILTER (WHERE ok) AS n",
    ],
)
def test_a_name_that_a_companion_needs_is_refused_not_overwritten(chosen: str) -> None:
    with pytest.raises(ParameterError, match=r"two columns called '.*__.*another name"):
        answer(f"SELECT {chosen} FROM data", (0.5,))


def test_a_name_like_a_companions_is_free_where_nothing_is_uncertain() -> None:
    assert answer("SELECT count(*) AS n, count(day) AS n__lo FROM data").rows()[0]["n__lo"] == 12


@pytest.mark.parametrize(
    ("q", "name"),
    [
        (0.05, "n__q05"),
        (0.5, "n__q50"),
        (0.95, "n__q95"),
        (0.975, "n__q97_5"),
        (0.001, "n__q00_1"),
        (0.9999, "n__q99_99"),
    ],
)
def test_names_of_quantiles(q: float, name: str) -> None:
    assert answer("SELECT count(*) FILTER (WHERE ok) AS n FROM data", (q, q)).arrow().column_names[3] == name


@pytest.mark.parametrize("q", [0, 1, -0.1, 5, math.nan])
def test_impossible_quantiles_are_refused(q: float) -> None:
    with pytest.raises(ParameterError, match="between 0 and 1"):
        answer("SELECT count(*) FROM data", (q,))


def test_types_are_those_of_the_values() -> None:
    found = answer(
        'SELECT who, max(day) AS d, avg(day) AS m, sum("Pay in €") AS s, count(*) AS n, max(rate) AS r '
        "FROM data GROUP BY who"
    ).arrow()
    kinds = {name: str(found.schema.field(name).type) for name in found.column_names}
    assert kinds["who"] == "string" and kinds["__how"] == "string" and kinds["__row"] == "double"
    assert kinds["d__lo"] == kinds["d__hi"] == "date32[day]"
    assert kinds["m"] == kinds["m__lo"] == "timestamp[us]"
    assert kinds["n__lo"] == kinds["s__hi"] == "int64" and kinds["n"] == "double"
    assert kinds["r__lo"] == "double"


# ---- dates and truth values --------------------------------------------------------------------------------------


def test_averages_of_dates_are_moments_between_their_bounds() -> None:
    """Days before 1970 are negative; an average lies between days."""
    (row,) = answer("SELECT avg(day) AS a, min(day) AS b, max(day) AS c FROM data").rows()
    start, days = datetime.datetime(1969, 12, 30), [WORLDS.low["day"], WORLDS.high["day"]]
    least, most = (start + datetime.timedelta(float(side.mean())) for side in days)
    middle = start + datetime.timedelta(float((days[0] + days[1]).mean() / 2))
    close = datetime.timedelta(seconds=1)
    assert abs(row["a"] - middle) < close
    assert abs(row["a__lo"] - least) < close and abs(row["a__hi"] - most) < close


def test_dates_and_times_are_compared_in_one_unit() -> None:
    """Bounds of comparisons and of mixed values hold in every sampled world, which DuckDB judges by itself."""
    import duckdb

    moments = ["avg(day)", "min(day)", "max(CAST(day AS TIMESTAMP))", "DATE '1969-12-31'", "avg(day) FILTER (WHERE ok)"]
    pairs = [(a, b) for a in moments for b in moments if a != b and not a.startswith("DATE")]
    compared = ", ".join(f"{a} > {b} AS x{i}" for i, (a, b) in enumerate(pairs))
    mixed = ", ".join(f"coalesce({a}, {b}) AS y{i}" for i, (a, b) in enumerate(pairs))
    (row,) = answer(f"SELECT {compared}, {mixed} FROM data").rows()
    open_ended, connection = 0, duckdb.connect(config={"threads": "1"})
    for seed in range(8):
        codes = WORLDS.sample(Seeded(seed))
        data = pa.table({c: DOMAINS[c].decode(codes[c]) for c in WORLDS.columns})
        connection.register("data", data)
        found = connection.execute(f"SELECT {compared}, {mixed} FROM data").fetchall()[0]
        for name, value in zip([f"{c}{i}" for c in "xy" for i in range(len(pairs))], found, strict=True):
            lo, hi = (number(row.get(f"{name}__{end}", row[name])) for end in ("lo", "hi"))
            assert lo - 1e-9 <= number(value) <= hi + 1e-9, name
            open_ended += lo < hi
    assert open_ended > 50


def test_truth_values_are_shares() -> None:
    (row,) = answer("SELECT count(*) FILTER (WHERE ok) > 9 AS many FROM data").rows()
    assert (row["many__lo"], row["many__hi"]) == (0, 1)
    assert 0 < row["many"] < 1


# ---- NULL and nothing --------------------------------------------------------------------------------------------


def test_unbounded_is_null_never_a_number() -> None:
    """Suppressed rows may have values that no list holds."""
    domains = {"x": Domain("integer", pa.array([1, 2, 3]))}
    codes = {"x": np.array([0, 1, 2], np.int32)}
    part = Alternatives(("x",), domains, codes, codes, np.ones(3, dtype=np.int64))
    low, high = {"x": np.zeros(1, np.int32)}, {"x": np.full(1, 2, np.int32)}
    lost = Alternatives(("x",), domains, low, high, np.ones(1, dtype=np.int64), unknown=frozenset({"x"}))
    found = answer("SELECT max(x) AS b, min(x) AS a, sum(x) AS s, avg(x) AS v FROM data", worlds=Blocks((part, lost)))
    (row,) = found.rows()
    assert (row["b__lo"], row["b__hi"]) == (3, None)
    assert (row["a__lo"], row["a__hi"]) == (None, 1)
    assert (row["s__lo"], row["s__hi"], row["v__lo"], row["v__hi"]) == (None, None, None, None)
    assert all(row[name] is not None for name in "basv")
    assert "∞" in found._repr_html_() and "NULL" in found.text()
    assert found._repr_html_().count("<svg") == 4


def test_null_in_every_world_is_null() -> None:
    (row,) = answer("SELECT sum(rate) AS s, count(*) AS n FROM data WHERE 1 = 0", (0.5,)).rows()
    assert row == {"s": None, "n": 0, "__row": 1.0, "__how": "exact"}


def test_how_likely_null_is_is_explained() -> None:
    empty = answer('SELECT max(rate) AS m FROM data WHERE NOT ok AND "Pay in €" > 10 AND rate < 0.2')
    chance = empty.shown[0].null
    assert 0 < chance < 1
    assert f"m: NULL with probability up to {chance:.4g}" in empty.explain()


@pytest.mark.parametrize(
    "rest", ["WHERE 1 = 0 GROUP BY who", "WHERE 1 = 0 GROUP BY who ORDER BY who DESC, n", "GROUP BY who LIMIT 0"]
)
def test_an_answer_without_rows_still_has_its_columns(rest: str) -> None:
    found = answer(f"SELECT who, count(*) AS n FROM data {rest}", (0.5,))
    assert len(found) == 0 and found.arrow().column_names == ["who", "n", "__row", "__how"]
    assert found.df().empty and found.pl().is_empty()
    for form in FORMATS:
        assert "who" in found.render(form) or form in ("json", "jsonl")
    assert json.loads(found.render("json")) == [] and found.render("jsonl") == ""
    assert found._repr_html_().count("<tr>") == 1
    assert found.explain()


# ---- ways out ----------------------------------------------------------------------------------------------------


def test_frames_and_the_capsule_hold_the_same_table() -> None:
    found = answer(BY_WHO, (0.1,))
    table = found.arrow()
    assert pa.table(found).equals(table)
    assert isinstance(found.df(), pd.DataFrame) and isinstance(found.pl(), pl.DataFrame)
    assert found.df().columns.tolist() == found.pl().columns == table.column_names
    assert found.pl().to_arrow().to_pylist() == table.to_pylist() == found.rows()
    assert pl.DataFrame(found).equals(found.pl())
    assert found.df()["n"].tolist() == table.column("n").to_pylist()
    assert len(found) == table.num_rows == 9
    assert {row["who"] for row in found.rows()} == {*ODD, None}


def texts(found: Answer) -> list[list[str]]:
    """Cells as text, six significant digits, as boxes show them; bounds a step outwards where six are too few."""

    def text(value: Any, name: str) -> str:
        if value is None:
            return "NULL"
        if not isinstance(value, float):
            return str(value).replace("\n", "\\n")
        if value == round(value) and abs(value) < 1e15:
            return f"{value:.1f}"
        shown = Decimal(f"{value:.5e}")
        step = Decimal(1).scaleb(shown.adjusted() - 5)
        if name.endswith("__lo") and shown > Decimal(value):
            shown -= step
        if name.endswith("__hi") and shown < Decimal(value):
            shown += step
        return f"{float(shown):.6g}"

    return [[text(value, name) for name, value in row.items()] for row in found.rows()]


def test_duckbox_reads_back() -> None:
    found = answer(BY_WHO, (0.25,))
    lines = found.render("duckbox").splitlines()
    assert len({len(line) for line in lines}) == 1
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if line.startswith("│")]
    assert cells[0] == found.arrow().column_names
    assert cells[1][:4] == ["varchar", "double", "int64", "int64"]
    assert cells[2:] == [[cell.strip() for cell in row] for row in texts(found)]
    assert found.text() == repr(found) == found.render("duckbox")


def test_long_answers_are_cut_in_the_middle() -> None:
    domains = {"x": Domain("integer", pa.array(range(100)))}
    codes = {"x": np.arange(100, dtype=np.int32)}
    many = Alternatives(("x",), domains, codes, codes, np.ones(100, dtype=np.int64))
    found = answer("SELECT x, count(*) AS n FROM data GROUP BY x", worlds=many)
    shown = found.text()
    assert "100 rows (60 not shown)" in shown
    assert " 19 " in shown and " 20 " not in shown and " 80 " in shown and " 79 " not in shown
    assert len(found.render("csv").splitlines()) == 101


def test_json_reads_back() -> None:
    found = answer(BY_WHO, (0.25,))
    plain = [
        {key: str(value) if isinstance(value, datetime.date) else value for key, value in row.items()}
        for row in found.rows()
    ]
    assert json.loads(found.render("json")) == plain
    lines = found.render("jsonl").split("\n")
    assert [json.loads(line) for line in lines] == plain


def test_json_has_no_words_that_json_does_not_know() -> None:
    def refuse(word: str) -> None:
        raise AssertionError(word)

    found = answer("SELECT rate - 0.1 AS k, count(*) AS n FROM data GROUP BY 1")
    assert json.loads(found.render("json"), parse_constant=refuse)
    odd = answer("SELECT CASE WHEN ok THEN CAST('nan' AS DOUBLE) ELSE CAST('inf' AS DOUBLE) END AS k, count(*) AS n "
                 "FROM data GROUP BY 1")  # fmt: skip
    assert {str(row["k"]) for row in json.loads(odd.render("json"), parse_constant=refuse)} == {"nan", "inf"}


def test_csv_reads_back() -> None:
    found = answer(BY_WHO, (0.25,))
    rows = list(csv.reader(io.StringIO(found.render("csv"))))
    assert rows[0] == found.arrow().column_names
    for row, line in zip(found.rows(), rows[1:], strict=True):
        for value, cell in zip(row.values(), line, strict=True):
            if isinstance(value, float):
                assert float(cell) == value
            else:
                assert cell == ("" if value is None else str(value))


def test_markdown_reads_back() -> None:
    found = answer(BY_WHO, (0.25,))
    lines = found.render("markdown").split("\n")
    cells = [[_plain(cell.strip()) for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    assert cells[0] == found.arrow().column_names
    assert set(lines[1]) <= set("|-:") and lines[1].count("|") == len(cells[0]) + 1
    assert cells[2:] == [[cell.strip() for cell in row] for row in texts(found)]
    assert "<b>" not in found.render("markdown")


def _plain(cell: str) -> str:
    return html.unescape(re.sub(r"\\([\\|*`_])", r"\1", cell))


@pytest.mark.parametrize("form", ["duckbox", "csv", "markdown"])
def test_truth_values_are_written_as_sql_does(form: str) -> None:
    shown = answer("SELECT ok, count(*) AS n FROM data GROUP BY ok").render(form)
    assert "true" in shown and "false" in shown and "True" not in shown


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ParameterError, match="duckbox, json, jsonl, csv, markdown"):
        answer(BY_WHO).render("xml")


# ---- pictures ----------------------------------------------------------------------------------------------------


def test_html_escapes_cells_and_draws_one_bar_for_each_uncertain_cell() -> None:
    found = answer(BY_WHO.replace("AS n", 'AS "<i>n</i>"'))
    shown = found._repr_html_()
    assert "<b>" not in shown and "<i>" not in shown
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; more" in shown and "&lt;i&gt;n&lt;/i&gt;" in shown
    uncertain = [one.name for one in found.shown if one.companions]
    assert len(uncertain) == 4
    assert shown.count("<svg") == sum(row[name] is not None for row in found.rows() for name in uncertain)
    assert shown.count("<tr>") == len(found) + 1
    for x, width in re.findall(r'<rect x="(-?[\d.]+)" y="3" width="([\d.]+)"', shown):
        assert 0 <= float(x) <= 110 and float(x) + float(width) <= 110.5


def test_html_of_certain_answers_has_no_bars() -> None:
    shown = answer("SELECT count(*) AS n FROM data")._repr_html_()
    assert "<svg" not in shown and ">12<" in shown


def test_plots_say_how_to_install_what_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(SfumatoError, match=r"pip install 'sfumato\[plots\]'"):
        answer(BY_WHO).plot()


@pytest.mark.skipif(importlib.util.find_spec("altair") is None, reason="needs altair")
def test_plots_have_a_panel_for_each_uncertain_column() -> None:
    found = answer(BY_WHO)
    drawn = json.loads(found.plot().to_json())
    panels = drawn["vconcat"]
    assert [panel["layer"][0]["encoding"]["x"]["title"] for panel in panels] == ["n", "a", "d", "r"]
    assert all(panel["layer"][0]["encoding"]["x2"]["field"] == "hi" for panel in panels)
    assert panels[2]["layer"][0]["encoding"]["x"]["type"] == "temporal"
    assert len(panels[0]["data"]["values"] if "data" in panels[0] else drawn["data"]["values"]) == 9
    with pytest.raises(ParameterError, match="certain"):
        answer("SELECT count(*) FROM data").plot()


# ---- what answers say --------------------------------------------------------------------------------------------


def test_explain_names_basis_route_and_samples() -> None:
    said = answer(BY_WHO).explain()
    assert "Basis: uniform prior; 12 rows in every world." in said
    assert "who: certain; GROUP BY key." in said
    assert "n: uncertain; mean in closed form, bounds by optimisation over worlds" in said
    assert "a: uncertain; mean by the exact integral" in said
    assert "r: uncertain; mean from the exact law, bounds by threshold search" in said
    assert "__row: closed form." in said and "sampled" not in said
    drawn = answer("SELECT abs(max(rate) - sum(rate)) AS x FROM data WHERE ok").explain()
    assert "200 worlds were sampled" in drawn and "interval arithmetic" in drawn
    assert "HAVING decides __row" in answer("SELECT who FROM data GROUP BY who HAVING count(*) > 1").explain()
    assert "LIMIT without ORDER BY" in answer("SELECT who FROM data GROUP BY who LIMIT 1").explain()


def test_show_prints_quantiles_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer("SELECT count(*) FILTER (WHERE ok) AS n FROM data")
    found.show(quantiles=(0.05, 0.95))
    printed = capsys.readouterr().out
    assert "n__q05" in printed and "n__q95" in printed
    assert "n__q05" not in found.arrow().column_names


# ---- laws over many queries --------------------------------------------------------------------------------------


LEVELS = (0.01, 0.25, 0.5, 0.75, 0.99)
NAMES = ("q01", "q25", "q50", "q75", "q99")


@pytest.mark.parametrize("seed", range(6))
def test_quantiles_rise_and_stay_within_hard_bounds(seed: int) -> None:
    worlds, _ = release(np.random.default_rng(seed), 60)
    checked = 0
    for shape in SHAPES[seed::3]:
        found = ask(worlds, shape.sql(), quantiles=LEVELS, n_worlds=60, chance=Seeded(seed))
        for one in found.shown:
            if not one.companions:
                continue
            for row in found.rows():
                lo, hi = (row[name] for name in one.companions[:2])
                drawn = [number(row[f"{one.name}__{name}"]) for name in NAMES if row[f"{one.name}__{name}"] is not None]
                assert drawn == sorted(drawn), shape.sql()
                assert lo is None or not drawn or drawn[0] >= number(lo) - 1e-9, shape.sql()
                assert hi is None or not drawn or drawn[-1] <= number(hi) + 1e-9, shape.sql()
                checked += len(drawn)
    assert checked > 20


@pytest.mark.parametrize("seed", range(6))
def test_what_is_exact_is_the_same_every_time(seed: int) -> None:
    worlds, _ = release(np.random.default_rng(seed), 60)
    compared = 0
    for shape in SHAPES[seed::4]:
        one, other = (ask(worlds, shape.sql(), n_worlds=40, chance=chance) for chance in (Secret(), Secret()))
        for left, right in zip(one.rows(), other.rows(), strict=False):
            if left["__how"] == right["__how"] == "exact":
                assert left == right, shape.sql()
                compared += 1
            for name in left:
                if name.endswith(("__lo", "__hi")) and not shape.limit:
                    assert left[name] == right[name], shape.sql()
    assert compared > 5


def test_a_seed_makes_sampled_figures_repeatable() -> None:
    text = "SELECT max(rate) - min(rate) AS x, count(*) FILTER (WHERE ok) - count(who) AS y FROM data"
    assert answer(text, (0.1,)).rows() == answer(text, (0.1,)).rows()
    assert answer(text).rows()[0]["__how"] in ("sampled", "interval")
