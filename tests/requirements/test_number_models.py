"""(k,e)-anonymity, variance control and m-uniqueness decide as defined, and none of them stops a proximity breach."""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.codec import Domain, encode
from sfumato.data.evidence import Groups, group_evidence
from sfumato.requirements.ke_anonymity import KE
from sfumato.requirements.m_uniqueness import MUnique
from sfumato.requirements.numbers import steps_and_scale
from sfumato.requirements.variance_control import VarianceControl
from sfumato.verify.models_of_numbers import of_numbers
from tests.oracles import numbers as oracle
from tests.oracles.numbers import Row

BIG = 2**62
VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "integer": (pa.int64(), [-3, 0, 1, 2, 7, None]),
    "integer far": (pa.int64(), [-BIG, -BIG + 1, 0, BIG, BIG + 2, -(2**63), None]),
    "integer unsigned": (pa.uint64(), [0, 1, 2**64 - 2, 2**64 - 1]),
    "decimal": (pa.decimal128(10, 2), [Decimal("0.10"), Decimal("0.30"), Decimal("-1.25"), Decimal("0.20"), None]),
    "decimal wide": (pa.decimal128(38, 3), [Decimal(10**34) + Decimal("0.001"), Decimal(10**34), Decimal(-5)]),
    "real": (pa.float64(), [0.1, 0.2, 0.3, -7.5, 1e-12, None]),
    "real far": (pa.float64(), [1e300, 1e-300, 2.0, 1 / 3]),
    "date": (pa.date32(), [datetime.date(1969, 12, 30), datetime.date(1970, 1, 2), datetime.date(2020, 2, 29), None]),
}
thresholds = st.sampled_from([0, "1/10", "0.2", 1, 2, "9/2", 10, "1e-12", 2**63, "1e300"])
models = st.one_of(
    st.builds(lambda k, e: KE(k, e, on="x"), st.integers(1, 4), thresholds),
    st.builds(lambda t: VarianceControl(t, on="x"), thresholds),
    st.builds(lambda m: MUnique(m, on="x"), st.integers(1, 4)),
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, list[Row]]:
    name = draw(st.sampled_from(list(VALUES)))
    cells = st.tuples(st.integers(0, 2), st.sampled_from(VALUES[name][1]), st.integers(0, 5))
    rows = draw(st.lists(cells, min_size=1, max_size=14))
    return name, rows if draw(st.booleans()) else [(g, v, i) for i, (g, v, _) in enumerate(rows)]


def evidence_of(name: str, rows: list[Row]) -> Groups:
    domain, codes = encode(pa.array([row[1] for row in rows], VALUES[name][0]), name.split()[0])  # type: ignore[arg-type]
    group = np.unique([row[0] for row in rows], return_inverse=True)[1].astype(np.int64)
    unit = np.array([row[2] for row in rows], dtype=np.int32)
    return group_evidence(group, int(group.max()) + 1, {"x": codes}, {"x": domain}, unit)


def whole_numbers(*groups: list[int]) -> Groups:
    rows: list[Row] = [(g, v, (g, i)) for g, values in enumerate(groups) for i, v in enumerate(values)]
    return evidence_of("integer", [(g, v, i) for i, (g, v, _) in enumerate(rows)])


def expected(requirement: Any, rows: list[Row]) -> bool:
    if isinstance(requirement, KE):
        return oracle.ke_anonymous(rows, requirement.k, requirement.e)
    if isinstance(requirement, VarianceControl):
        return oracle.variance_controlled(rows, requirement.t)
    return oracle.m_unique(rows, requirement.m)


@settings(max_examples=3000, deadline=None)
@given(table=tables(), requirement=models)
def test_they_decide_as_the_definition_and_the_verifier_agrees(table: tuple[str, list[Row]], requirement: Any) -> None:
    name, rows = table
    evidence = evidence_of(name, rows)
    found = requirement.holds(evidence)
    assert found.holds == expected(requirement, rows)
    assert found.n_failing == int((~requirement.passes(evidence)).sum())
    by_group = [[row for row in rows if row[0] == group] for group in sorted({row[0] for row in rows})]
    assert requirement.passes(evidence).tolist() == [expected(requirement, one) for one in by_group]
    groups = [Counter(value for value, _ in one) for one in oracle.members(rows)]
    sizes = [oracle.units(one) for one in oracle.members(rows)]
    promise = {"model": requirement.model, "parameters": requirement.parameters()}
    holds, reached = of_numbers(groups, sizes, promise)
    assert holds == found.holds and set(reached) == set(found.achieved)
    assert all(float(reached[key]) == pytest.approx(value, rel=1e-9) for key, value in found.achieved.items())


@settings(max_examples=1500, deadline=None)
@given(table=tables(), requirement=models)
def test_what_is_achieved_is_met_and_what_is_least_is_needed(table: tuple[str, list[Row]], requirement: Any) -> None:
    name, rows = table
    evidence = evidence_of(name, rows)
    achieved = requirement.holds(evidence).achieved
    assert set(achieved) == set(requirement.parameters())
    if int(evidence.sizes.min()) > 1 and all(value >= 1 for key, value in achieved.items() if key in "km"):
        assert type(requirement)(**achieved, on="x").holds(evidence).holds
    assert (evidence.sizes[requirement.passes(evidence)] >= requirement.least).all()
    whole = evidence_of(name, [(0, value, unit) for _, value, unit in rows])
    if not requirement.holds(whole).holds and (nearest := requirement.nearest(whole)):
        assert type(requirement)(**nearest, on="x").holds(whole).holds
        assert requirement.implies(type(requirement)(**nearest, on="x"))
    assert requirement.nearest(whole) or isinstance(requirement, MUnique)


@settings(max_examples=1500, deadline=None)
@given(table=tables(), requirement=models)
def test_merging_and_growing_keep_what_is_declared(table: tuple[str, list[Row]], requirement: Any) -> None:
    name, rows = table
    met = requirement.holds(evidence_of(name, rows)).holds
    merged = [(0, value, unit) for _, value, unit in rows]
    apart = len({(group, unit) for group, _, unit in rows}) == len({unit for _, _, unit in rows})
    if met and requirement.monotone(repeats=not apart):
        assert requirement.holds(evidence_of(name, merged)).holds
    first = [row for row in rows if row[0] == rows[0][0]]
    if requirement.grows and requirement.holds(evidence_of(name, first)).holds:
        assert requirement.holds(evidence_of(name, merged)).holds


def test_what_is_not_declared_fails_somewhere() -> None:
    """Merging repeats a value; a unit in both groups counts once; more rows may lower a variance."""
    assert MUnique(2, on="x").holds(whole_numbers([1, 2], [2, 7])).holds
    assert not MUnique(2, on="x").holds(whole_numbers([1, 2, 2, 7])).holds
    assert not MUnique(2, on="x").monotone(repeats=False) and not MUnique(2, on="x").grows
    rows: list[Row] = [(0, 0, 1), (0, 2, 2), (0, 2, 3), (1, 0, 1), (1, 2, 4), (1, 2, 5)]
    asked = VarianceControl("8/9", on="x")
    assert asked.holds(evidence_of("integer", rows)).holds
    assert not asked.holds(evidence_of("integer", [(0, v, u) for _, v, u in rows])).holds
    assert not asked.monotone(repeats=True) and asked.monotone(repeats=False) and not asked.grows
    assert asked.holds(whole_numbers([0, 2, 2])).holds and not asked.holds(whole_numbers([0, 2, 2, 2, 2])).holds


def test_thresholds_are_exact() -> None:
    """0.3 − 0.1 is 0.2 as written, which it is not in floats; the variance of 0, 0, 1 is 2/9."""
    tenths = evidence_of("real", [(0, 0.1, 1), (0, 0.3, 2)])
    assert KE(2, 0.2, on="x").holds(tenths).holds
    assert not KE(2, Fraction(1, 5) + Fraction(1, 10**30), on="x").holds(tenths).holds
    third = whole_numbers([0, 0, 1])
    assert VarianceControl("2/9", on="x").holds(third).holds
    assert not VarianceControl(Fraction(2, 9) + Fraction(1, 10**30), on="x").holds(third).holds
    assert VarianceControl("0.01", on="x").holds(tenths).holds and KE(1, 0, on="x").holds(tenths).holds


def test_missing_values_and_groups_without_numbers() -> None:
    rows: list[Row] = [(0, None, 1), (0, 7, 2)]
    assert KE(2, 0, on="x").holds(evidence_of("integer", rows)).achieved == {"k": 2, "e": 0}
    assert not KE(2, 1, on="x").holds(evidence_of("integer", rows)).holds
    assert MUnique(2, on="x").holds(evidence_of("integer", rows)).holds
    assert not MUnique(2, on="x").holds(evidence_of("integer", [(0, None, 1), (0, None, 2)])).holds
    nothing = evidence_of("integer", [(0, None, 1), (0, None, 2)])
    assert VarianceControl(1, on="x").holds(nothing).achieved == {"t": 0}


@pytest.mark.parametrize("requirement", [KE(2, 1, on="x"), VarianceControl(1, on="x")], ids=repr)
@pytest.mark.parametrize("values", [["a", "b"], [True, False]])
def test_numbers_are_needed(requirement: Any, values: list[Any]) -> None:
    table = pa.table({"age": [1, 2], "x": values})
    data = sf.read(table).roles(quasi=["age"], sensitive=["x"])
    with pytest.raises(sf.Incompatible, match="'x'"):
        sf.publish(data, sf.Mondrian(), require=requirement, seed=1)
    MUnique(2, on="x").holds(group_evidence(np.zeros(2, np.int64), 1, {"x": data.codes["x"]}, data.domains, None))


def test_numbers_become_steps() -> None:
    assert steps_and_scale(Domain("integer", pa.array([], pa.int64())))[0].tolist() == []
    steps, scale = steps_and_scale(Domain("real", pa.array([1 / 3, 0.5])))
    assert steps.dtype == object and [Fraction(s, scale) for s in steps] == [Fraction(str(1 / 3)), Fraction(1, 2)]
    steps, scale = steps_and_scale(Domain("decimal", pa.array([Decimal("1.25")], pa.decimal128(10, 2)), missing=True))
    assert (steps.tolist(), steps.dtype, scale) == ([125], np.int64, 100)


def test_large_groups_stay_exact() -> None:
    """Squares beyond 64 bits."""
    values = [10**9 * i for i in range(50)] * 20
    found = VarianceControl(1, on="x").holds(whole_numbers(values)).achieved["t"]
    assert found == pytest.approx(float(oracle.variance([Fraction(v) for v in values])))


# ---- Section 3 of the paper: the model is satisfied, and yet a short interval holds most of a group -----------------

FIRST_GROUP = [1000, 1010, 1020, 50000]


def test_a_group_of_the_running_example_meets_them_all_and_is_breached() -> None:
    """Table 1b, group 1: Andy's salary is in [1000, 1020] with 75 %, though no salary is likelier than 25 %."""
    group = whole_numbers(FIRST_GROUP)
    for met in (KE(4, 49_000, on="x"), VarianceControl(4 * 10**8, on="x"), MUnique(4, on="x")):
        assert met.holds(group).holds, met
    assert oracle.breach(FIRST_GROUP, Fraction(20)) == Fraction(3, 4)
    assert oracle.breach(FIRST_GROUP, Fraction(0)) == Fraction(1, 4)


@pytest.mark.parametrize("k", [3, 10, 100])
def test_k_e_anonymity_allows_all_but_one_in_a_short_interval(k: int) -> None:
    """§3.1.2: k − 1 nearly identical values and one faraway; the risk is (k − 1)/k."""
    values = [*range(k - 1), 10**9]
    assert KE(k, 10**9, on="x").holds(whole_numbers(values)).holds
    assert oracle.breach(values, Fraction(k)) == Fraction(k - 1, k)


@pytest.mark.parametrize("n", [3, 10, 100])
def test_any_variance_allows_all_but_one_at_one_value(n: int) -> None:
    """§3.1.2: |G| − 1 tuples share one value; the risk is (|G| − 1)/|G| in any neighbourhood, even of length 0."""
    values = [5] * (n - 1) + [10**9]
    t = Fraction(n - 1, n**2) * (10**9 - 5) ** 2
    assert VarianceControl(t, on="x").holds(whole_numbers(values)).holds
    assert oracle.breach(values, Fraction(0)) == Fraction(n - 1, n)


@pytest.mark.parametrize("m", [3, 10, 100])
def test_different_values_allow_all_in_a_short_interval(m: int) -> None:
    """§3.1.1: exact values are hidden with 1/m, a short interval is certain."""
    values = list(range(1000, 1000 + m))
    assert MUnique(m, on="x").holds(whole_numbers(values)).holds
    assert oracle.breach(values, Fraction(0)) == Fraction(1, m)
    assert oracle.breach(values, Fraction(m - 1)) == 1


def test_the_models_of_categories_are_met_by_the_breached_group() -> None:
    """§3.1.1: k-anonymity, l-diversity in every reading and (α,k)-anonymity on group 1 of Table 1b."""
    group = whole_numbers(FIRST_GROUP)
    readings = ("distinct", "entropy", "frequency")
    asked = [sf.KAnonymity(4), sf.AlphaK(0.25, 4, on="x"), *(sf.LDiversity(4, on="x", kind=kind) for kind in readings)]  # type: ignore[arg-type]
    assert all(one.holds(group).holds for one in asked)
    assert oracle.breach(FIRST_GROUP, Fraction(20)) == Fraction(3, 4)


def test_groups_equally_close_to_the_table_are_not_equally_safe() -> None:
    """§3.1.2: {1, 3, 5000} and {2, 4000, 6000} are both at 0.1 from the table, and only the first is breached."""
    groups = [1, 3, 5000], [2, 4000, 6000]
    evidence = whole_numbers(*groups)
    assert sf.TCloseness("0.1", on="x", distance="ordered").passes(evidence).all()
    assert not sf.TCloseness("0.0999999", on="x", distance="ordered").passes(evidence).any()
    assert [oracle.breach(one, Fraction(2)) for one in groups] == [Fraction(2, 3), Fraction(1, 3)]
