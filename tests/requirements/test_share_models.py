"""δ-disclosure and β-likeness decide as their definitions, on random groups and exactly at the threshold."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.requirements.beta_likeness import BetaLikeness
from sfumato.requirements.delta_disclosure import DeltaDisclosure
from tests.oracles import requirements as oracle
from tests.oracles.requirements import Row
from tests.requirements.evidence import counted, groups_of
from tests.requirements.test_against_oracle import M, tables, tables_of_units

DELTAS = [Fraction(1, 3), Fraction(1, 2), Fraction(4, 5), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3)]
BETAS = [Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4)]
models = st.one_of(
    st.builds(lambda d: DeltaDisclosure(d, on="x"), st.sampled_from(DELTAS)),
    st.builds(lambda b: BetaLikeness(b, on="x"), st.sampled_from(BETAS)),
    st.builds(lambda b: BetaLikeness(b, on="x", kind="enhanced"), st.sampled_from(BETAS)),
)


def expected(requirement: Any, rows: list[Row]) -> bool:
    if isinstance(requirement, DeltaDisclosure):
        return oracle.delta_disclosed(rows, requirement.delta)
    return oracle.beta_like(rows, requirement.beta, requirement.kind)


@settings(max_examples=3000, deadline=None)
@given(rows=tables() | tables_of_units(), requirement=models, units=st.booleans())
def test_they_decide_as_the_definition(rows: list[Row], requirement: Any, units: bool) -> None:
    rows = rows if units else [(g, v, i) for i, (g, v, _) in enumerate(rows)]
    evidence = groups_of(rows, M, units=units)
    found = requirement.holds(evidence)
    assert found.holds == expected(requirement, rows)
    assert found.n_failing == int((~requirement.passes(evidence)).sum())
    assert (requirement.keeps(evidence) == requirement.passes(evidence)).all()


@settings(max_examples=1000, deadline=None)
@given(rows=tables(), requirement=models)
def test_what_is_achieved_is_met_and_hardly_less_is(rows: list[Row], requirement: Any) -> None:
    evidence = groups_of(rows, M)
    (name, value), *_ = requirement.holds(evidence).achieved.items()
    if value < 1e-9 or getattr(requirement, "kind", "basic") == "enhanced":
        return
    made = {**requirement.parameters(), "on": "x"}
    assert type(requirement)(**{**made, name: value}).holds(evidence).holds
    assert not type(requirement)(**{**made, name: value * (1 - 1e-9)}).holds(evidence).holds


def test_the_threshold_itself() -> None:
    """A value twice as frequent as in the table: log₂ 2 = 1 is not below 1, but a gain of 1 is at most 1."""
    twice = counted([4, 0], [0, 4])
    assert DeltaDisclosure(1, on="x").holds(twice).holds is False
    assert DeltaDisclosure(Fraction(1) + Fraction(1, 10**30), on="x").holds(twice).holds
    assert not DeltaDisclosure(Fraction(1) - Fraction(1, 10**30), on="x").holds(twice).holds
    assert BetaLikeness(1, on="x").holds(twice).holds
    assert BetaLikeness(1, on="x").holds(twice).achieved == {"beta": 1.0}
    assert not BetaLikeness(Fraction(1) - Fraction(1, 10**30), on="x").holds(twice).holds
    assert not BetaLikeness(1, on="x", kind="enhanced").holds(twice).holds  # −ln ½ = 0.69


def test_values_that_a_group_lacks_are_not_compared() -> None:
    """As in ARX; so merging a group without a value can break it."""
    fine = counted([2, 0], [1, 9], [1, 1])
    assert DeltaDisclosure(2, on="x").holds(counted([1, 1], [0, 2])).holds
    held = [h for h in product(range(3), repeat=2) if any(h)]
    broken = 0
    asked = (DeltaDisclosure(1, on="x"), BetaLikeness(1, on="x"), BetaLikeness(1, on="x", kind="enhanced"))
    for one, other, third in product(held, repeat=3):
        apart, merged = counted(one, other, third), counted([a + b for a, b in zip(one, other, strict=True)], third)
        for requirement in asked:
            both = requirement.passes(apart)[:2].all()
            if both and not requirement.passes(merged)[0]:
                assert isinstance(requirement, DeltaDisclosure)
                broken += 1
    assert broken
    assert not DeltaDisclosure(2, on="x").monotone(repeats=False)
    assert BetaLikeness(1, on="x").monotone(repeats=False)
    assert DeltaDisclosure(2, on="x").holds(fine).n_failing >= 0


def test_a_frequent_value_may_not_become_certain_in_the_enhanced_reading() -> None:
    """Cao and Karras 2012, §3: with β = 1 a value with a share above ½ may reach 1, which −ln p forbids."""
    groups = counted([6, 0], [0, 4])
    assert BetaLikeness(1, on="x").passes(groups).tolist() == [True, False]
    assert BetaLikeness(1, on="x", kind="enhanced").passes(groups).tolist() == [False, False]
    constant = counted([3], [5])
    assert BetaLikeness(1, on="x", kind="enhanced").holds(constant).achieved == {"beta": 0.0}


def test_large_counts_stay_exact() -> None:
    from dataclasses import replace

    one = counted([3, 1], [1, 3])
    counts = replace(one.counts["x"], n=one.counts["x"].n * 10**9)
    big = replace(one, counts={"x": counts}, totals={"x": one.totals["x"] * 10**9}, sizes=one.sizes * 10**9)
    for requirement in (BetaLikeness(0.5, on="x"), BetaLikeness(Fraction(1, 2) - Fraction(1, 10**25), on="x")):
        assert requirement.holds(big).holds == requirement.holds(one).holds == (requirement.beta == Fraction(1, 2))
    assert np.array_equal(DeltaDisclosure(1, on="x").passes(big), DeltaDisclosure(1, on="x").passes(one))


@pytest.mark.parametrize("kind", ["basic", "enhanced"])
def test_missing_is_a_value(kind: Any) -> None:
    import pyarrow as pa

    from sfumato.data.codec import encode
    from sfumato.data.evidence import group_evidence

    domain, codes = encode(pa.array(["flu", None, None, "flu"]), "text")
    evidence = group_evidence(np.array([0, 0, 1, 1]), 2, {"x": codes}, {"x": domain}, None)
    assert BetaLikeness(0.1, on="x", kind=kind).holds(evidence).holds
    evidence = group_evidence(np.array([0, 1, 1, 0]), 2, {"x": codes}, {"x": domain}, None)
    assert not BetaLikeness(0.1, on="x", kind=kind).holds(evidence).holds
    assert not DeltaDisclosure(1, on="x").holds(evidence).holds
