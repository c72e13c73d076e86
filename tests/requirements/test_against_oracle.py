"""Every requirement and every compiled twin decides as its definition does, on random groups."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.contracts import Requirement
from sfumato.requirements.alpha_k import AlphaK
from sfumato.requirements.k_anonymity import KAnonymity
from sfumato.requirements.l_diversity import LDiversity
from sfumato.requirements.t_closeness import TCloseness
from tests.oracles import requirements as oracle
from tests.oracles.requirements import Row
from tests.requirements.evidence import domain_of, groups_of

M = 5
LEVELS = [[0, 0, 1, 1, 2], [0, 0, 0, 0, 1]]
thresholds = st.fractions(min_value=Fraction(1, 12), max_value=1, max_denominator=12)
at_least_one = st.fractions(min_value=1, max_value=4, max_denominator=6)


@st.composite
def tables(draw: st.DrawFn, most: int = 24) -> list[Row]:
    cells = st.tuples(st.integers(0, 3), st.integers(0, M - 1))
    drawn = draw(st.lists(cells, min_size=1, max_size=most))
    return [(group, value, i) for i, (group, value) in enumerate(drawn)]


@st.composite
def tables_of_units(draw: st.DrawFn) -> list[Row]:
    cells = st.tuples(st.integers(0, 2), st.integers(0, M - 1), st.integers(0, 5))
    return list(draw(st.lists(cells, min_size=1, max_size=20)))


def expected(requirement: Any, rows: list[Row]) -> bool:
    """What the definition says."""
    if isinstance(requirement, KAnonymity):
        return oracle.k_anonymous(rows, requirement.k)
    if isinstance(requirement, AlphaK):
        return oracle.alpha_k_anonymous(rows, requirement.alpha, requirement.k)
    if isinstance(requirement, TCloseness):
        return oracle.furthest(rows, M, requirement.distance, LEVELS) <= requirement.t
    return {
        "distinct": lambda: oracle.distinct_diverse(rows, int(requirement.l)),
        "entropy": lambda: oracle.entropy_diverse(rows, requirement.l),
        "frequency": lambda: oracle.frequency_diverse(rows, requirement.l),
        "recursive": lambda: oracle.recursively_diverse(rows, int(requirement.l), requirement.c),
    }[requirement.kind]()


def passes_twin(requirement: Requirement, rows: list[Row]) -> bool:
    """What the compiled test says, group by group."""
    twin = requirement.twin()
    assert twin is not None
    values = np.array([row[1] for row in rows])
    table = np.zeros(0) if twin.table is None else twin.table(np.bincount(values, minlength=M).astype(np.int64))
    parameters = np.array(twin.parameters)
    codes = {g: sorted(value for group, value, _ in rows if group == g) for g in {row[0] for row in rows}}
    return all(called(twin.test, np.array(found, dtype=np.uint16), parameters, table) for found in codes.values())


def called(test: Any, codes: Any, parameters: Any, table: Any) -> bool:
    """Call the compiled code itself, the way a kernel does."""
    return bool(_trampoline()(test, codes, parameters, table))


def _trampoline(known: list[Any] = []) -> Any:  # noqa: B006
    if not known:
        from numba import boolean, float64, njit, types, uint16

        kind = types.FunctionType(boolean(uint16[::1], float64[::1], float64[::1]))
        known.append(njit(boolean(kind, uint16[::1], float64[::1], float64[::1]))(lambda f, c, p, t: f(c, p, t)))
    return known[0]


requirements = st.one_of(
    st.builds(KAnonymity, st.integers(1, 6)),
    st.builds(lambda l: LDiversity(l, on="x"), st.integers(1, 4)),
    st.builds(lambda l: LDiversity(l, on="x", kind="entropy"), at_least_one),
    st.builds(lambda l: LDiversity(l, on="x", kind="entropy"), st.integers(1, 4)),
    st.builds(lambda l: LDiversity(l, on="x", kind="frequency"), at_least_one),
    st.builds(
        lambda l, c: LDiversity(l, on="x", kind="recursive", c=c),
        st.integers(1, 4),
        st.fractions(min_value=Fraction(1, 3), max_value=4, max_denominator=4),
    ),
    st.builds(lambda t, d: TCloseness(t, on="x", distance=d), thresholds, st.sampled_from(["equal", "ordered"])),
    st.builds(lambda a, k: AlphaK(a, k, on="x"), thresholds, st.integers(1, 4)),
)


@settings(max_examples=1500, deadline=None)
@given(rows=tables(), requirement=requirements)
def test_the_model_and_its_twin_decide_as_the_definition(rows: list[Row], requirement: Requirement) -> None:
    wanted = expected(requirement, rows)
    found = requirement.holds(groups_of(rows, M, LEVELS))
    assert found.holds == wanted
    assert found.n_failing == int((~requirement.passes(groups_of(rows, M, LEVELS))).sum())
    assert passes_twin(requirement, rows) == wanted


@settings(max_examples=400, deadline=None)
@given(rows=tables(), t=thresholds)
def test_the_hierarchical_distance(rows: list[Row], t: Fraction) -> None:
    requirement = TCloseness(t, on="x", distance="hierarchical")
    assert requirement.holds(groups_of(rows, M, LEVELS)).holds == expected(requirement, rows)
    flat = TCloseness(t, on="x", distance="hierarchical").holds(groups_of(rows, M))
    assert flat == TCloseness(t, on="x").holds(groups_of(rows, M))


@settings(max_examples=800, deadline=None)
@given(rows=tables_of_units(), requirement=requirements)
def test_units_count_once(rows: list[Row], requirement: Requirement) -> None:
    wanted = expected(requirement, rows)
    found = requirement.holds(groups_of(rows, M, LEVELS, units=True))
    assert found.holds == wanted
    assert requirement.holds(groups_of(rows * 3, M, LEVELS, units=True)) == found


@settings(max_examples=600, deadline=None)
@given(rows=tables(), requirement=requirements)
def test_what_is_achieved_would_also_be_met(rows: list[Row], requirement: Requirement) -> None:
    evidence = groups_of(rows, M, LEVELS)
    achieved = requirement.holds(evidence).achieved
    assert set(achieved) <= set(requirement.parameters())
    usable = {name: value for name, value in achieved.items() if value > 0}
    if usable != achieved:
        return
    same = {**requirement.parameters(), **achieved}
    again = type(requirement)(**same, **({"on": "x"} if requirement.columns else {}))
    assert again.holds(evidence).holds
    if achieved.get("l") == requirement.parameters().get("l") or "c" not in achieved:
        assert again.holds(evidence).achieved == pytest.approx(achieved, rel=1e-9)
    # A threshold like 2/3 is no float: what is achieved is then rounded past it.
    written = not any("/" in str(value) for value in requirement.parameters().values())
    if written and requirement.holds(evidence).holds:
        assert again.implies(requirement)


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
def test_distances_are_the_cheapest_transport(distance: str) -> None:
    generator = np.random.Generator(np.random.Philox(key=3))
    cost = np.ones((M, M)) - np.eye(M)
    if distance == "ordered":
        cost = np.abs(np.subtract.outer(np.arange(M), np.arange(M))) / (M - 1)
    if distance == "hierarchical":
        cost = sum((np.not_equal.outer(level, level) for level in [list(range(M)), *LEVELS]), np.zeros((M, M))) / 3
    for _ in range(30):
        rows: list[Row] = [(int(g), int(v), i) for i, (g, v) in enumerate(generator.integers(0, [2, M], size=(12, 2)))]
        q = oracle.shares(oracle.whole(rows), M)
        moved = max(
            oracle.moved_by_linear_programme(oracle.shares(h, M), q, cost) for h in oracle.histograms(rows).values()
        )
        achieved = TCloseness(1, on="x", distance=distance).holds(groups_of(rows, M, LEVELS)).achieved["t"]  # type: ignore[arg-type]
        assert achieved == pytest.approx(moved, abs=1e-9)


def test_long_runs_and_wide_domains_in_the_twins() -> None:
    generator = np.random.Generator(np.random.Philox(key=4))
    for m, n in [(2, 5000), (400, 3000), (40, 100_000), (65_536, 70_000)]:
        codes = np.sort((generator.random(n) ** 3 * m).astype(np.uint16))
        totals = np.bincount(codes, minlength=m).astype(np.int64) + generator.integers(0, 3, m)
        part = codes[generator.random(n) < 0.3]
        domain = domain_of(m)
        evidence = groups_of([], m) if not len(part) else _one_group(part, totals, domain)
        for requirement in (
            LDiversity(min(m, 30), on="x"),
            LDiversity(Fraction(m, 3) + 1, on="x", kind="entropy"),
            LDiversity(2, on="x", kind="recursive", c=Fraction(3, 7)),
            LDiversity(5, on="x", kind="recursive", c=3),
            *(TCloseness(t, on="x", distance=d) for t in (0.001, 0.01, 0.05, 0.3) for d in ("equal", "ordered")),
            *(AlphaK(a, 5, on="x") for a in (0.02, 0.3, 0.9)),
        ):
            twin = requirement.twin()
            assert twin is not None
            table = np.zeros(0) if twin.table is None else twin.table(totals)
            assert called(twin.test, part, np.array(twin.parameters), table) == requirement.holds(evidence).holds


def _one_group(codes: Any, totals: Any, domain: Any) -> Any:
    from dataclasses import replace

    from sfumato.data.evidence import group_evidence

    made = group_evidence(np.zeros(len(codes), dtype=np.int64), 1, {"x": codes.astype(np.int32)}, {"x": domain}, None)
    return replace(made, totals={"x": totals})


def test_thresholds_with_long_fractions_are_rounded_against_us_in_the_twin() -> None:
    third = Fraction(2**61 + 1, 3 * 2**61)
    requirement = TCloseness(third, on="x")
    twin = requirement.twin()
    assert twin is not None
    top, bottom = twin.parameters
    assert Fraction(int(top), int(bottom)) <= third
    assert LDiversity(3 + Fraction(1, 2**60), on="x", kind="entropy").twin().parameters[0] > 3 * 2**40
