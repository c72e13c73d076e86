"""The verifier's models agree with the requirements, which share no code with them."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.codec import Domain, Level
from sfumato.data.evidence import group_evidence
from sfumato.requirements.alpha_k import AlphaK
from sfumato.requirements.l_diversity import LDiversity
from sfumato.requirements.t_closeness import TCloseness
from sfumato.verify.models import Unknown, distance_of, entropy, fraction, l_holds, l_reached, share_of

VALUES = ["a", "b", "c", "d", "e"]
NODE = np.array([0, 0, 1, 1, 2], np.int32)
TABLES = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=7), min_size=1, max_size=5)


def both(table: list[list[int]]):  # type: ignore[no-untyped-def]
    """The same groups as the requirements' evidence and as the verifier's counters."""
    level = Level(NODE, ("x", "y", "z"))
    domain = Domain("text", pa.array(VALUES), levels=(level,), region="node")
    group = np.repeat(np.arange(len(table)), [len(one) for one in table])
    codes = np.array([code for one in table for code in one], np.int32)
    evidence = group_evidence(group, len(table), {"s": codes}, {"s": domain}, None)
    return evidence, [Counter(one) for one in table], [len(one) for one in table]


@given(TABLES, st.integers(1, 5), st.sampled_from(["distinct", "entropy", "recursive", "frequency"]))
@settings(max_examples=200, deadline=None)
def test_diversity_agrees(table: list[list[int]], l: int, kind: str) -> None:
    evidence, groups, sizes = both(table)
    asked = LDiversity(l, on="s", kind=kind, c=1.5 if kind == "recursive" else None)  # type: ignore[arg-type]
    holds = l_holds(groups, sizes, asked.parameters())
    assert holds == asked.holds(evidence).holds
    if holds:
        achieved = asked.holds(evidence).achieved
        reached = l_reached(groups, sizes, asked.parameters())
        assert set(achieved) == set(reached)
        assert all(float(reached[key]) == pytest.approx(achieved[key], rel=1e-9) for key in reached)


@given(TABLES, st.sampled_from(["equal", "ordered", "hierarchical"]))
@settings(max_examples=200, deadline=None)
def test_closeness_agrees(table: list[list[int]], distance: str) -> None:
    evidence, groups, _ = both(table)
    total: Counter[int] = sum(groups, Counter())
    levels = [{code: int(NODE[code]) for code in range(5)}]
    t = distance_of(groups, total, distance, range(5), levels)
    asked = TCloseness(t, on="s", distance=distance)  # type: ignore[arg-type]
    assert asked.holds(evidence).holds
    assert asked.holds(evidence).achieved["t"] == pytest.approx(float(t))
    if t > 0:
        assert not TCloseness(t * Fraction(999, 1000), on="s", distance=distance).holds(evidence).holds  # type: ignore[arg-type]


@given(TABLES)
@settings(max_examples=100, deadline=None)
def test_shares_agree(table: list[list[int]]) -> None:
    evidence, groups, sizes = both(table)
    share = share_of(groups, sizes)
    assert AlphaK(share, 1, on="s").holds(evidence).achieved["alpha"] == pytest.approx(float(share))


def test_entropy_is_exact_at_the_threshold() -> None:
    assert entropy((2, 2, 2), Fraction(3), Fraction(1))
    assert not entropy((2, 2, 2), Fraction(3) + Fraction(1, 10**12), Fraction(1))
    assert not entropy((3, 3, 2), Fraction(3), Fraction(1))


def test_parameters_are_read_as_written() -> None:
    assert fraction(0.2) == Fraction(1, 5) and fraction("1/3") == Fraction(1, 3)
    for odd in (True, None, [1], "many", "1/0"):
        with pytest.raises(Unknown):
            fraction(odd)


def test_large_groups_next_to_the_threshold_of_entropy_agree() -> None:
    """A surplus between a float's error and 1e-9 in a group that nobody multiplies out."""
    counts = [12_001, 11_999, 12_000]
    achieved = math.exp(math.log(36_000) - sum(n * math.log(n) for n in counts) / 36_000)
    groups, sizes = [Counter(dict(enumerate(counts)))], [36_000]
    codes = [code for code, n in enumerate(counts) for _ in range(n)]
    evidence, _, _ = both([codes])
    for gap in (1e-8, 1e-10, 1e-11, 1e-12, -1e-11, -1e-9):
        asked = LDiversity(achieved - gap, on="s", kind="entropy")
        assert l_holds(groups, sizes, asked.parameters()) == asked.holds(evidence).holds == (gap > 0), gap


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        ("delta-disclosure", {"delta": 10**12}),
        ("delta-disclosure", {"delta": -1}),
        ("beta-likeness", {"beta": 2, "kind": "foo"}),
        ("population-uniqueness", {"threshold": 0.1, "estimate": "foo", "population_size": 1000}),
        ("population-uniqueness", {"threshold": 0.1, "estimate": "snb", "population_size": -3}),
        ("k-map", {"k": -3, "population": 0.5, "estimate": "poisson", "significance": 0.01}),
        ("k-map", {"k": 10**400, "population": 0.5, "estimate": "poisson", "significance": 0.01}),
        ("average-risk", {"threshold": 1.5}),
    ],
)
def test_parameters_that_nobody_could_have_asked_for_are_unknown(model: str, parameters: dict[str, Any]) -> None:
    from sfumato.verify.models_of_risk import check_ranges

    with pytest.raises(Unknown):
        check_ranges(model, parameters)
