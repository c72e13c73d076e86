"""Risk figures against their definitions, written out pair by pair and person by person on tiny tables."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.contracts import Promise
from sfumato.data.dataset import Dataset
from sfumato.data.example import example
from sfumato.releases.form import Form
from sfumato.report.risk import RiskReport
from sfumato.utility.population import expected_risk
from sfumato.utility.risk import EDGES
from sfumato.utility.separation import LIMIT, USUAL, n_sets
from tests.utility.enumeration import anatomized, generalized

NAMES = ("a", "b", "c")
cell = st.one_of(st.none(), st.integers(0, 2))
rows = st.lists(st.tuples(cell, cell, st.sampled_from("xyz")), min_size=1, max_size=12)


def table(found: list[tuple[Any, ...]], names: tuple[str, ...] = NAMES) -> Dataset:
    kinds = {"a": pa.int64(), "b": pa.int64(), "c": pa.string(), "person": pa.int64()}
    return sf.read(pa.table({name: pa.array([row[i] for row in found], kinds[name]) for i, name in enumerate(names)}))


def attackers(report: RiskReport) -> dict[str, dict[str, Any]]:
    return {line["attacker"]: line for line in report.attackers.rows()}


def by_hand(risks: list[float], threshold: float) -> dict[str, float]:
    """One attacker's figures from the risk of every record."""
    n = len(risks)
    counts = {
        "records_at_highest": sum(r == max(risks) for r in risks),
        "records_at_lowest": sum(r == min(risks) for r in risks),
        "records_at_risk": sum(r > threshold for r in risks),
    }
    shares = {name.replace("records", "share"): count / n for name, count in counts.items()}
    return {"highest": max(risks), "lowest": min(risks), "average": sum(risks) / n, **counts, **shares}


def agree(line: dict[str, Any], wanted: dict[str, float]) -> None:
    for name, value in wanted.items():
        assert line[name] == pytest.approx(value, rel=1e-12), name


@given(rows, st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 1.0]))
def test_a_table_without_a_population(found: list[tuple[Any, ...]], threshold: float) -> None:
    report = sf.risk(table(found), quasi=NAMES, threshold=threshold)
    of = Counter(found)
    risks = [1 / of[row] for row in found]
    for name in ("prosecutor", "journalist"):
        agree(attackers(report)[name], by_hand(risks, threshold))
    assert attackers(report)["marketer"]["average"] == pytest.approx(sum(risks) / len(risks))
    assert attackers(report)["marketer"]["highest"] is None
    assert report.risks.n_unique == sum(of[row] == 1 for row in found)
    assert [(line["size"], line["classes"]) for line in report.classes.rows()] == sorted(Counter(of.values()).items())


@given(rows, rows, st.sampled_from([0.0, 0.2, 0.5]))
def test_a_population_table(found: list[tuple[Any, ...]], others: list[tuple[Any, ...]], threshold: float) -> None:
    report = sf.risk(table(found), quasi=NAMES, threshold=threshold, population=table(found + others))
    mine, everybody = Counter(found), Counter(found + others)
    risks = [1 / everybody[row] for row in found]
    wanted = by_hand(risks, threshold)
    wanted["average"] = max(wanted["average"], len(mine) / sum(everybody[row] for row in mine))
    agree(attackers(report)["journalist"], wanted)
    assert attackers(report)["marketer"]["average"] == pytest.approx(sum(risks) / len(risks))
    assert {line["basis"] for line in report.attackers.rows()} == {"exact"}
    assert report.risks.population == len(found) + len(others)


def test_a_population_that_lacks_published_persons_makes_no_risk_smaller() -> None:
    report = sf.risk(table([(1, 1, "x"), (1, 1, "x"), (2, 2, "y")]), quasi=NAMES, population=table([(1, 1, "x")]))
    assert attackers(report)["journalist"]["highest"] == 1.0
    assert attackers(report)["journalist"]["basis"] == "upper bound"
    assert any("2 of 2 classes" in note for note in report.notes)


@given(rows, st.integers(0, 5))
def test_risk_falls_in_its_interval(found: list[tuple[Any, ...]], copies: int) -> None:
    found = found + found[:1] * copies
    lines = sf.risk(table(found), quasi=NAMES).distribution.rows()
    of = Counter(found)
    for line in lines:
        inside = sum(line["above"] < 1 / of[row] <= line["to"] for row in found)
        assert line["records"] == inside
        assert line["share"] == pytest.approx(inside / len(found))
        assert line["cumulative"] == pytest.approx(sum(1 / of[row] <= line["to"] for row in found) / len(found))
    assert [line["to"] for line in lines] == list(EDGES)


@given(rows, st.integers(1, 3))
def test_sets_of_columns_are_counted_pair_by_pair(found: list[tuple[Any, ...]], most: int) -> None:
    lines = sf.risk(table(found), quasi=NAMES, most_combined=most).columns.rows()
    told = {tuple(line["columns"].split(", ")): line for line in lines}
    sizes = {*range(1, most + 1), len(NAMES)}
    assert set(told) == {chosen for size in sizes for chosen in combinations(NAMES, size)}
    for chosen, line in told.items():
        tuples = [tuple(row[NAMES.index(name)] for name in chosen) for row in found]
        pairs = list(combinations(tuples, 2))
        assert line["distinct"] == len(set(tuples))
        assert line["distinctness"] == len(set(tuples)) / len(found)
        assert line["separation"] == pytest.approx(sum(p != q for p, q in pairs) / len(pairs) if pairs else 1.0)
        assert line["unique_rows"] == sum(Counter(tuples)[one] == 1 for one in tuples)
    keys = [(line["size"], -line["distinct"], -line["separation"]) for line in lines]
    assert keys == sorted(keys)


@given(st.lists(st.tuples(cell, st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=12))
def test_persons_are_counted_not_rows(found: list[tuple[Any, ...]]) -> None:
    people = table(found, ("a", "b", "person")).roles(quasi=["a", "b"], unit="person")
    persons: dict[tuple[Any, ...], set[int]] = {}
    for *values, person in found:
        persons.setdefault(tuple(values), set()).add(person)
    report = sf.risk(people)
    agree(attackers(report)["prosecutor"], by_hand([1 / len(p) for p in persons.values() for _ in p], 0.2))
    assert report.risks.n_records == sum(len(p) for p in persons.values())
    assert report.risks.n_rows == len(found)
    for line in report.columns.rows():
        chosen = ["ab".index(name) for name in line["columns"].split(", ")]
        of: dict[tuple[Any, ...], set[int]] = {}
        for row in found:
            of.setdefault(tuple(row[i] for i in chosen), set()).add(row[2])
        assert line["unique_rows"] == sum(len(of[tuple(row[i] for i in chosen)]) == 1 for row in found)


def test_copies_of_a_person_change_nothing() -> None:
    once = [(1, 0, 1), (1, 0, 2), (2, 1, 3)]
    names = ("a", "b", "person")
    one, many = (
        sf.risk(table(found, names).roles(quasi=["a", "b"], unit="person"), population=7)
        for found in (once, once + [once[0]] * 50)
    )
    assert one.attackers.rows() == many.attackers.rows()


@pytest.mark.parametrize(("sizes", "n", "population"), [([1, 2, 5, 40], 48, 60), ([1, 1, 3], 5, 5000), ([2], 2, 2)])
def test_the_estimate_is_the_mean_over_the_model(sizes: list[int], n: int, population: int) -> None:
    share = n / population
    for size, found in zip(sizes, expected_risk(sizes, n, population), strict=True):
        chance, total, more = share**size, 0.0, 0
        while more < 200_000 and (chance > 1e-17 or more < 10):
            total += chance / (size + more)
            chance *= (1 - share) * (size + more) / (more + 1)
            more += 1
        assert found == pytest.approx(total, rel=1e-6)
        assert found <= 1 / size


def test_a_population_size_is_an_estimate_below_the_prosecutor() -> None:
    people = table([(1, 1, "x"), (1, 1, "x"), (2, 2, "y")])
    report = sf.risk(people, quasi=NAMES, population=30)
    lines = attackers(report)
    alone = 0.1 * math.log(10) / 0.9
    assert lines["journalist"]["highest"] == pytest.approx(alone)
    assert lines["journalist"]["basis"] == lines["marketer"]["basis"] == "estimate"
    assert lines["marketer"]["average"] <= lines["prosecutor"]["average"]
    assert any("Benedetti" in note for note in report.notes)
    whole = attackers(sf.risk(people, quasi=NAMES, population=3))
    assert whole["journalist"]["average"] == pytest.approx(whole["prosecutor"]["average"])


def test_the_sampled_share_is_of_persons() -> None:
    rows_of = [(1, 0, 7), (2, 0, 7), (3, 0, 8), (3, 0, 9)]
    people = table(rows_of, ("a", "b", "person")).roles(quasi=["a", "b"], unit="person")
    report = sf.risk(people, population=30)
    assert attackers(report)["journalist"]["highest"] == pytest.approx(expected_risk([1], 3, 30)[0])
    sf.risk(people, population=3)
    with pytest.raises(sf.ParameterError, match="3 persons"):
        sf.risk(people, population=2)


ARX_SETS = {
    ("sex",): (0.4, 0.6),
    ("state",): (0.6, 0.7),
    ("age",): (0.6, 0.8),
    ("sex", "state"): (0.8, 0.9),
    ("age", "state"): (1.0, 1.0),
    ("age", "sex"): (1.0, 1.0),
    ("age", "sex", "state"): (1.0, 1.0),
}


def test_sets_of_columns_as_arx_counts_them() -> None:
    """Figures of ARX's test TestRiskQuasiIdentifiers, which were worked out by hand."""
    people = sf.read(
        pa.table(
            {
                "age": [20, 30, 40, 20, 40],
                "sex": ["Female", "Female", "Female", "Male", "Male"],
                "state": ["CA", "CA", "TX", "NY", "CA"],
            }
        )
    )
    lines = sf.risk(people, quasi=["age", "sex", "state"]).columns.rows()
    found = {tuple(line["columns"].split(", ")): (line["distinctness"], line["separation"]) for line in lines}
    assert found == {chosen: pytest.approx(figures) for chosen, figures in ARX_SETS.items()}


AGES, SEXES = [34, 45, 66, 70, 34, 70, 45], ["male", "female", "male", "female", "female", "male", "male"]
ZIPS = ["81667", "81675", "81925", "81931", "81931", "81931", "81931"]


def test_average_and_highest_risk_as_arx_has_them() -> None:
    """Figures of ARX's test TestRiskMetrics on its seven rows, before and after its 2-anonymization."""
    before = sf.risk(sf.read(pa.table({"age": AGES, "sex": SEXES, "zip": ZIPS})), quasi=["age", "sex", "zip"])
    after = pa.table({"age": [age >= 50 for age in AGES], "zip": [zip_code[:3] for zip_code in ZIPS]})
    line = attackers(before)["prosecutor"]
    assert (line["average"], line["highest"]) == (1.0, 1.0)
    line = attackers(sf.risk(sf.read(after), quasi=["age", "zip"]))["prosecutor"]
    assert (line["average"], line["highest"]) == (0.42857142857142855, 0.5)


def cells_of(release: Form) -> list[tuple[Any, ...]]:
    """The written quasi-identifiers of every published row."""
    quasi = release.schema.names("quasi")
    written = next(t for t in release.tables().values() if set(quasi) <= set(t.column_names))
    shown = [n for n in written.column_names if n.removesuffix("__lo").removesuffix("__hi") in quasi]
    return list(zip(*(written.column(name).to_pylist() for name in shown), strict=True))


@pytest.mark.parametrize("release", [generalized(), generalized(3), anatomized()], ids=lambda r: r.form)
def test_a_release_is_judged_by_its_published_cells(release: Form) -> None:
    report = sf.risk(sf.PublishedRelease(release))
    cells = cells_of(release)
    agree(attackers(report)["prosecutor"], by_hand([1 / Counter(cells)[one] for one in cells], 0.2))
    assert report.risks.n_suppressed == release.n_suppressed
    assert report.risks.n_records == len(cells)
    assert report.risks.n_rows == release.n_rows


def test_suppressed_rows_carry_no_risk_and_are_in_no_share() -> None:
    without, with_some = (attackers(sf.risk(sf.PublishedRelease(generalized(n))))["prosecutor"] for n in (0, 4))
    assert without == with_some
    empty = replace(
        generalized(4),
        group=np.zeros(0, dtype=np.int64),
        low={c: v[:0] for c, v in generalized().low.items()},
        high={c: v[:0] for c, v in generalized().high.items()},
        exact={"pay": np.zeros(0, dtype=np.int32)},
    )
    report = sf.risk(sf.PublishedRelease(empty), population=10)
    assert attackers(report)["prosecutor"]["highest"] == attackers(report)["marketer"]["average"] == 0
    assert report.page()


@given(st.lists(st.tuples(st.sampled_from([19, 20, 21, 22, 23, 24, None]), st.sampled_from("abcdz")), max_size=12))
def test_persons_of_a_population_lie_in_published_cells(people: list[tuple[int | None, str]]) -> None:
    """Two groups: ages 20–21 in town a, ages 22–23 in towns b and c."""
    drawn = [(20, "a"), (21, "a"), (22, "b"), (23, "c"), (22, "c"), *people]
    ages, towns = [age for age, _ in drawn], [town for _, town in drawn]
    population = sf.read(pa.table({"age": pa.array(ages, pa.int64()), "town": towns}))
    line = attackers(sf.risk(sf.PublishedRelease(generalized()), population=population, threshold=0.3))["journalist"]
    first = sum(age in (20, 21) and town == "a" for age, town in drawn)
    second = sum(age in (22, 23) and town in "bc" for age, town in drawn)
    wanted = by_hand([1 / first] * 2 + [1 / second] * 3, 0.3)
    wanted["average"] = max(wanted["average"], 2 / (first + second))
    agree(line, wanted)


def test_a_release_made_from_units_gives_upper_bounds() -> None:
    recipe = replace(
        generalized().recipe, unit="person", promises=(Promise("k-anonymity", {"k": 2}, None, {"k": 2.0}),)
    )
    report = sf.risk(sf.PublishedRelease(generalized().with_recipe(recipe)))
    line = attackers(report)["prosecutor"]
    assert (line["highest"], line["average"], line["basis"]) == (0.5, 0.5, "upper bound")
    assert any("1/2" in note for note in report.notes)
    few = attackers(sf.risk(sf.PublishedRelease(generalized().with_recipe(recipe)), population=4))
    assert few["journalist"]["highest"] == 0.5


def test_before_and_after_publishing() -> None:
    people = example().roles(quasi=["age", "sex", "race", "education"], sensitive=["occupation"])
    before, after = sf.risk(people), sf.risk(sf.publish(people, sf.Mondrian(), require=sf.KAnonymity(5)))
    assert attackers(before)["prosecutor"]["highest"] == 1
    assert attackers(after)["prosecutor"]["highest"] <= 0.2
    assert attackers(after)["prosecutor"]["records_at_risk"] == 0
    among = attackers(sf.risk(sf.publish(people, sf.Mondrian(), require=sf.KAnonymity(5)), population=people))
    assert among["journalist"]["highest"] <= 0.2


def test_too_many_sets_are_capped_and_said() -> None:
    wide = sf.read(pa.table({f"c{i}": [i % 2, 0, 1] for i in range(20)}))
    told: list[str] = []
    report = sf.risk(wide, quasi=wide.schema.names(), progress=told.append)
    assert n_sets(20, 3) < len(report.columns) <= USUAL + 1
    assert any("up to 3 and all 20 together" in note for note in report.notes)
    assert sf.risk(wide, quasi=wide.schema.names(), most_combined=2).columns.rows()[-1]["size"] == 20
    with pytest.raises(sf.ParameterError, match="most_combined"):
        sf.risk(wide, quasi=wide.schema.names(), most_combined=20)
    assert n_sets(20, 20) > LIMIT
    with pytest.raises(sf.ParameterError, match="most_combined"):
        sf.risk(wide, quasi=["c1"], most_combined=0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"threshold": 1.5}, "threshold"),
        ({"population": 2}, "population"),
        ({"population": True}, "population"),
        ({"population": 10.5}, "population"),
        ({"quasi": ["unheard"]}, "unheard"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], said: str) -> None:
    people = table([(1, 1, "x"), (1, 1, "x"), (2, 2, "y")])
    with pytest.raises(sf.SfumatoError, match=said):
        sf.risk(people, **{"quasi": NAMES, **options})


def test_an_unread_table_and_a_release_without_the_columns_beside_one_another_are_refused() -> None:
    with pytest.raises(sf.SchemaError, match=r"sf\.read"):
        sf.risk(pa.table({"a": [1]}))
    with pytest.raises(sf.ParameterError, match="beside one another"):
        sf.risk(sf.PublishedRelease(anatomized()), quasi=["age", "pay"])


def test_quasi_identifiers_are_proposed_when_nobody_names_them() -> None:
    people = sf.read(pa.table({"age": [20 + i % 30 for i in range(60)], "diagnosis": [f"d{i % 3}" for i in range(60)]}))
    report = sf.risk(people)
    assert report.risks.quasi == ("age",)
    assert "age" in report.notes[0]


def test_the_report_shows_no_value_and_escapes_names(tmp_path) -> None:
    nasty = '<script>alert("x")</script>'
    people = sf.read(pa.table({nasty: ["canary1", "canary2", "canary1"], "b": [1, 2, 3]}))
    report = sf.risk(people, quasi=[nasty, "b"], population=people)
    page = report.page().decode()
    for text in (page, repr(report), report._repr_html_(), str(report.json())):
        assert "canary" not in text
    assert "<script" not in page + report._repr_html_()
    assert page.count("<svg") >= 4
    report.to_html(tmp_path / "risk.html")
    assert (tmp_path / "risk.html").read_text(encoding="utf8") == page
    with pytest.raises(sf.ParameterError, match="force"):
        report.to_html(tmp_path / "risk.html")
    assert report.df().shape[0] == report.pl().height == report.arrow().num_rows == 3


def test_the_expected_risk_of_large_classes_is_a_number() -> None:
    """Against the sum over the negative binomial law, for small and large classes and shares."""
    import math

    from sfumato.utility.population import expected_risk

    for share in (0.9, 0.3, 0.01, 0.001):
        for size in (1, 2, 59, 60, 61, 300, 2_000):
            mean, spread = size / share, math.sqrt(size * (1 - share)) / share
            low, high = max(size, int(mean - 9 * spread)), int(mean + (60 if size < 100 else 9) * spread + 10)
            logs = [
                math.lgamma(f) - math.lgamma(size) - math.lgamma(f - size + 1)
                + size * math.log(share) + (f - size) * math.log1p(-share) - math.log(f)
                for f in range(low, high + 1)
            ]  # fmt: skip
            wanted = math.fsum(math.exp(one) for one in logs)
            n = 1_000_000
            found = expected_risk([size], round(share * n), n)[0]
            assert found == pytest.approx(wanted, rel=1e-6), (share, size)
    assert 0 < expected_risk([10**7], 10**7, 10**9)[0] <= 1e-7


def test_what_is_promised_of_persons_holds_for_the_quasi_identifiers_only() -> None:
    """With a further column, one person may be alone however many persons look alike without it."""
    raw = pa.table({"p": [0, 0, 0, 0, 1, 2, 3, 4], "q": ["a"] * 8, "s": ["rare"] * 4 + ["usual"] * 4})
    people = sf.read(raw).roles(quasi=["q"], sensitive=["s"], unit="p")
    release = sf.publish(people, sf.Mondrian(), require=sf.KAnonymity(5), seed=1)
    alone = sf.risk(release, quasi=["q", "s"]).attackers.rows()
    assert max(row["highest"] for row in alone if row["attacker"] == "prosecutor") == 1.0
