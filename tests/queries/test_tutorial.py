"""Every number that the tutorial on anonymized and uncertain data gives for its census table, as answers.

Cormode and Srivastava, "Anonymized Data: Generation, Models, Usage": possible worlds of a generalized and of a
permuted table, what can be asked of them, and the homogeneity and similarity attacks.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.codec import Domain, encode_into
from sfumato.desk import PublishedRelease
from sfumato.errors import SfumatoError
from tests.oracles.queries import Oracle, Row
from tests.queries.agreement import mismatches
from tests.queries.census import (
    ANY_BIRTH,
    ANY_SEX,
    ANY_ZIP,
    APRIL,
    FEBRUARY,
    HOMOGENEOUS,
    JANUARY,
    PEOPLE,
    TYPES,
    cells,
    generalized,
    matching,
    permuted,
)
from tests.queries.tiny import shape

BY_BIRTH = [
    ((JANUARY,), ("M",), ANY_ZIP),
    ((APRIL,), ("F",), ANY_ZIP),
    ((FEBRUARY,), ANY_SEX, ANY_ZIP),
] * 2
"""1/21/76 M 537**; 4/13/86 F 537**; 2/28/76 * 537**."""
FULL_BY_BIRTH = [((row[0],), ANY_SEX, ANY_ZIP) for row in PEOPLE]
"""Full-domain ⟨B0, S1, Z2⟩."""
FULL_BY_SEX = [(ANY_BIRTH, (row[1],), ANY_ZIP) for row in PEOPLE]
"""Full-domain ⟨B1, S0, Z2⟩: 76-86 M 537** and 76-86 F 537**."""
BIRTH_HIDDEN = [(ANY_BIRTH, (row[1],), (row[2],)) for row in PEOPLE]
"""The births of ⟨B1, S0, Z2⟩ alone, few enough worlds to enumerate."""
BY_ZIP = [(ANY_BIRTH, ANY_SEX, (row[2],)) for row in PEOPLE]
"""76-86 * and the ZIP as it is."""
MEN_AND_WOMEN = [[0, 2, 3], [1, 4, 5]]
NEIGHBOURS = [[0, 1], [2, 3], [4, 5]]
IN_1976 = "year(born) = 1976"
ONE_PERSON = "born = '1976-01-21' AND sex = 'M' AND zip = '53715'"


def only(release: PublishedRelease, text: str) -> dict[str, Any]:
    """The single row of an answer."""
    (row,) = release.sql(text, seed=1).rows()
    return row


def figures(release: PublishedRelease, measure: str, where: str) -> tuple[Any, Any, Any]:
    """Lower bound, estimate and upper bound; a certain answer is all three."""
    row = only(release, f"SELECT {measure} AS x FROM census WHERE {where}")
    return row.get("x__lo", row["x"]), row["x"], row.get("x__hi", row["x"])


def codes_of(release: PublishedRelease, rows: list[Row]) -> dict[str, Any]:
    """A table as codes of the release's domains."""
    worlds = release.worlds()
    columns = {c: pa.array([row[i] for row in rows], kind) for i, (c, kind) in enumerate(TYPES.items())}
    return {c: encode_into(worlds.domains[c], columns[c]) for c in worlds.columns}


# ---- generalization ----------------------------------------------------------------------------------------------


def test_the_salary_of_one_person_is_best_guessed_as_the_average_of_two() -> None:
    """ "Best guess is 57,500 (weighted average of 50,000 and 65,000)"."""
    low, guess, high = figures(generalized(BY_BIRTH), "avg(salary)", ONE_PERSON)
    assert (low, high) == (50_000, 65_000)
    assert guess == pytest.approx(57_500, rel=1e-12)


def test_the_largest_salary_of_males_in_53706() -> None:
    """ "Could be as small as 50,000, or as big as 75,000"."""
    release = generalized(BY_BIRTH)
    low, guess, high = figures(release, "max(salary)", "sex = 'M' AND zip = '53706'")
    assert (low, high) == (50_000, 75_000)
    worlds = cells(BY_BIRTH).worlds
    there = [
        (chance, max(row[3] for row in rows if row[1:3] == ("M", "53706")))
        for chance, rows in worlds
        if any(row[1:3] == ("M", "53706") for row in rows)
    ]
    assert {most for _, most in there} == {50_000, 60_000, 65_000, 75_000}
    total = sum(chance for chance, _ in there)
    assert guess == pytest.approx(float(sum(chance * most for chance, most in there) / total), rel=1e-12)


def test_the_original_and_the_other_table_of_the_slide_are_worlds() -> None:
    """ "The table T … is one of the possible worlds", "(many) other tables are also possible"."""
    release = generalized(BY_BIRTH)
    other: list[Row] = [
        (JANUARY, "M", "53710", 50_000),
        (APRIL, "F", "53715", 55_000),
        (FEBRUARY, "F", "53703", 60_000),
        (JANUARY, "M", "53703", 65_000),
        (APRIL, "F", "53706", 70_000),
        (FEBRUARY, "M", "53715", 75_000),
    ]
    worlds = release.worlds()
    assert worlds.contains(codes_of(release, PEOPLE)) and worlds.contains(codes_of(release, other))
    women = [(born, "F", place, pay) for born, _, place, pay in other]
    assert not worlds.contains(codes_of(release, women))


def test_born_in_1976_under_generalization() -> None:
    """ "Bounds = [1, 5], selectivity estimate = 1, actual value = 4".

    The slide takes for granted that both ends of 76-86 occur. Nothing in the table says so, so hard bounds are [0, 6];
    the worlds where both ends occur give the slide's. Its estimate spreads births over the days of eleven years.
    """
    release, tiny = generalized(FULL_BY_SEX), cells(BIRTH_HIDDEN)
    low, guess, high = figures(release, "count(*)", IN_1976)
    assert (low, high) == (0, 6)
    assert guess == pytest.approx(4.0)
    both = [
        sum(row[0].year == 1976 for row in rows)
        for _, rows in tiny.worlds
        if {row[0].year for row in rows} == {1976, 1986}
    ]
    assert (min(both), max(both)) == (1, 5)
    days = [datetime.date(1976, 1, 1) + datetime.timedelta(i) for i in range(4018)]
    assert days[-1] == datetime.date(1986, 12, 31)
    spread = [(days, sexes, places) for _, sexes, places in FULL_BY_SEX]
    by_day = generalized(spread, domains={"born": Domain("date", pa.array(days), complete=True)})
    low, guess, high = figures(by_day, "count(*)", IN_1976)
    assert (low, high) == (0, 6)
    assert guess == pytest.approx(6 * 366 / 4018)
    assert round(guess) == 1


def test_average_salary_of_those_born_in_1976_under_generalization() -> None:
    """ "Bounds = [50K, 75K], actual value = 62.5K"."""
    low, guess, high = figures(generalized(FULL_BY_SEX), "avg(salary)", IN_1976)
    assert (low, high) == (50_000, 75_000)
    assert guess == pytest.approx(62_500)


def test_a_masked_zip_is_one_of_a_hundred() -> None:
    """ "ZIP = 537** → ZIP ∈ {53700, …, 53799}"."""
    hundred = tuple(str(53_700 + i) for i in range(100))
    anywhere = Domain("text", pa.array(hundred), region="node", complete=True)
    release = generalized([(b, s, hundred) for b, s, _ in BY_BIRTH], domains={"zip": anywhere})
    assert figures(release, "count(*)", "zip = '53715'") == (0, pytest.approx(0.06), 6)
    assert figures(release, "count(*)", "zip BETWEEN '53700' AND '53799'") == (6, 6, 6)
    assert figures(release, "count(*)", "zip LIKE '5371%'") == (0, pytest.approx(0.6), 6)


def test_suppressed_people_may_be_anybody() -> None:
    """Tuple suppression: "missing tuples could take any value from the space of all tuples"."""
    kept = [row for row in PEOPLE if row[0] != JANUARY]
    exact = [((row[0],), (row[1],), (row[2],)) for row in kept]
    release = generalized(exact, kept, suppressed=2)
    assert only(release, "SELECT count(*) AS n FROM census")["n"] == 6
    assert figures(release, "count(*)", "born = '1976-01-21'")[::2] == (0, 2)
    assert figures(release, "count(*)", "born = '1986-04-13'")[::2] == (2, 4)
    low, _, high = figures(release, "max(salary)", "sex = 'F'")
    assert (low, high) == (75_000, None)
    low, _, high = figures(release, "min(salary)", "sex = 'F'")
    assert (low, high) == (None, 55_000)


# ---- permutation -------------------------------------------------------------------------------------------------


def test_one_persons_tuple_is_known_and_the_salary_is_one_of_two() -> None:
    """Salaries permuted among neighbours: "can uniquely identify tuple, but uncertainty about SA value"."""
    release = permuted(NEIGHBOURS)
    assert figures(release, "count(*)", ONE_PERSON) == (1, 1, 1)
    assert figures(release, "avg(salary)", ONE_PERSON) == (50_000, pytest.approx(52_500), 55_000)
    assert figures(release, "count(*)", f"{ONE_PERSON} AND salary = 50000") == (0, pytest.approx(0.5), 1)


def test_born_in_1976_under_permutation() -> None:
    """ "Estimate = 4, actual value = 4"."""
    assert figures(permuted(MEN_AND_WOMEN), "count(*)", IN_1976) == (4, 4, 4)
    assert only(permuted(MEN_AND_WOMEN), f"SELECT count(*) AS n FROM census WHERE {IN_1976}")["__how"] == "exact"


def test_average_salary_of_those_born_in_1976_under_permutation() -> None:
    """ "Estimated bounds = [57.5K, 62.5K], actual value = 62.5K"."""
    low, guess, high = figures(permuted(MEN_AND_WOMEN), "avg(salary)", IN_1976)
    assert (low, high) == (57_500, 62_500)
    assert guess == pytest.approx((50_000 + 60_000 + 65_000 + (55_000 + 70_000 + 75_000) / 3) / 4)


def test_salaries_inside_a_group_are_not_independent() -> None:
    """The slide's "No!": three men with 60,000 each is no world, though each man may have 60,000."""
    release = permuted(MEN_AND_WOMEN)
    swapped = [60_000, 75_000, 65_000, 50_000, 70_000, 55_000]
    independent = [60_000, 55_000, 60_000, 60_000, 55_000, 55_000]
    worlds = release.worlds()
    assert worlds.contains(codes_of(release, PEOPLE))
    assert worlds.contains(codes_of(release, [(*r[:3], p) for r, p in zip(PEOPLE, swapped, strict=True)]))
    assert not worlds.contains(codes_of(release, [(*r[:3], p) for r, p in zip(PEOPLE, independent, strict=True)]))
    assert figures(release, "count(*)", "sex = 'M' AND salary = 60000") == (1, 1, 1)
    for born, place in (("1976-01-21", "53715"), ("1976-02-28", "53703"), ("1976-01-21", "53703")):
        each = f"born = '{born}' AND zip = '{place}' AND sex = 'M' AND salary = 60000"
        assert figures(release, "count(*)", each) == (0, pytest.approx(1 / 3), 1)


# ---- attacks -----------------------------------------------------------------------------------------------------


def test_homogeneity_makes_a_salary_certain() -> None:
    """All worlds agree on the salary of (1/21/76, M, 53715), although the table is 2-anonymous."""
    release = generalized(FULL_BY_BIRTH, HOMOGENEOUS)
    low, guess, high = figures(release, "avg(salary)", "born = '1976-01-21'")
    assert (low, guess, high) == (50_000, 50_000, 50_000)
    assert figures(release, "count(*)", "born = '1976-01-21' AND salary <> 50000") == (0, 0, 0)
    low, guess, high = figures(release, "avg(salary)", ONE_PERSON)
    assert (low, guess, high) == (50_000, 50_000, 50_000)
    answer = release.sql("SELECT born, min(salary) AS a, max(salary) AS b FROM census GROUP BY born").rows()
    assert [row["a"] == row["b"] for row in answer] == [True, True, True]


def test_for_some_groupings_there_is_no_loss() -> None:
    """The same people with 76-86, *, and their ZIP: the salary is one of two."""
    release = generalized(BY_ZIP, HOMOGENEOUS)
    assert figures(release, "avg(salary)", ONE_PERSON) == (50_000, pytest.approx(52_500), 55_000)
    answer = release.sql("SELECT zip, count(*) AS n, min(salary) AS a, max(salary) AS b FROM census GROUP BY zip")
    assert [(row["zip"], row["n"], row["a"], row["b"]) for row in answer.rows()] == [
        ("53703", 2, 50_000, 60_000),
        ("53706", 2, 55_000, 60_000),
        ("53715", 2, 50_000, 55_000),
    ]


def test_similar_salaries_are_distinct_and_give_the_person_away() -> None:
    """The similarity attack: 50,000 and 50,001 are 2-diverse, and the answer is as good as certain."""
    rows = [(*row[:3], row[3] + (i >= 3)) for i, row in enumerate(HOMOGENEOUS)]
    low, guess, high = figures(generalized(FULL_BY_BIRTH, rows), "avg(salary)", "born = '1976-01-21'")
    assert (low, guess, high) == (50_000.5, 50_000.5, 50_000.5)
    low, guess, high = figures(generalized(FULL_BY_BIRTH, rows), "avg(salary)", ONE_PERSON)
    assert (low, high) == (50_000, 50_001)
    assert guess == pytest.approx(50_000.5, rel=1e-15)


# ---- everything against enumeration ------------------------------------------------------------------------------


ASKED = [
    shape("avg(salary)", where=ONE_PERSON),
    shape("max(salary)", where="sex = 'M' AND zip = '53706'"),
    shape("min(salary)", "max(salary)", where="sex = 'F' OR zip LIKE '5371%'"),
    shape("count(*)", where=IN_1976),
    shape("avg(salary)", where=IN_1976),
    shape("count(*)", where="salary > 55000 AND sex = 'M'"),
    shape("sum(salary)", where="born < '1980-01-01'"),
    shape("count(*)", "max(salary)", keys="born"),
    shape("avg(salary)", keys="sex"),
]
FORMS: dict[str, tuple[Any, Any]] = {
    "birth hidden": (generalized, BIRTH_HIDDEN),
    "by sex": (generalized, FULL_BY_SEX[:2]),
    "by birth": (generalized, [(b, s, z[:3] if i < 4 else z[:2]) for i, (b, s, z) in enumerate(BY_BIRTH)]),
    "by zip": (generalized, BY_ZIP[:3]),
    "men and women": (permuted, MEN_AND_WOMEN),
    "neighbours": (permuted, NEIGHBOURS),
}


@pytest.mark.parametrize("name", FORMS)
def test_answers_equal_enumeration(name: str) -> None:
    make, parts = FORMS[name]
    if make is permuted:
        release, tiny = permuted(parts), matching(parts)
    else:
        rows = PEOPLE[: len(parts)]
        release, tiny = generalized(parts, rows), cells(parts, rows)
    oracle = Oracle(tiny)
    assert [one for asked in ASKED for one in mismatches(release.worlds(), oracle, asked)] == []


def test_what_is_no_column_of_the_table_is_said() -> None:
    """The identifier is not in the release."""
    with pytest.raises(SfumatoError, match="ssn"):
        generalized(BY_BIRTH).sql("SELECT count(*) FROM census WHERE ssn = '11-1-111'")
    assert np.isclose(only(generalized(BY_BIRTH), "SELECT avg(salary) AS a FROM census")["a"], 62_500)
