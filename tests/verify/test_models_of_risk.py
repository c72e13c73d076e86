"""The verifier's shares, risks and estimates agree with the requirements, which share no code with them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.verify.test_models import TABLES, both

from sfumato.data.evidence import Groups
from sfumato.requirements.average_risk import AverageRisk
from sfumato.requirements.beta_likeness import BetaLikeness
from sfumato.requirements.delta_disclosure import DeltaDisclosure
from sfumato.requirements.delta_presence import DeltaPresence
from sfumato.requirements.k_map import KMap
from sfumato.requirements.population_uniqueness import PopulationUniqueness
from sfumato.requirements.sample_uniqueness import SampleUniqueness
from sfumato.verify.models_of_risk import of_shares, of_sizes, plausible, undecidable

SIZES = st.lists(st.sampled_from([1, 1, 1, 2, 2, 3, 5, 9]), min_size=1, max_size=15)
parts = st.fractions(min_value=Fraction(1, 20), max_value=1, max_denominator=20)


def promise(requirement: Any, achieved: Any) -> dict[str, Any]:
    return {"model": requirement.model, "parameters": requirement.parameters(), "achieved": achieved}


def agree(requirement: Any, found: Any, judged: tuple[bool, dict[str, Any]]) -> None:
    holds, reached = judged
    assert holds == found.holds, requirement
    assert set(reached) == set(found.achieved)
    for key, value in found.achieved.items():
        if float(reached[key]) <= 1 or key != "threshold":
            assert float(reached[key]) == pytest.approx(value, rel=1.9e-9, abs=1e-11)


@settings(max_examples=600, deadline=None)
@given(TABLES, st.fractions(min_value=Fraction(1, 4), max_value=4, max_denominator=6))
def test_shares_agree(table: list[list[int]], bound: Fraction) -> None:
    evidence, groups, _ = both(table)
    total: Counter[int] = sum(groups, Counter())
    for asked in (
        DeltaDisclosure(bound, on="s"), BetaLikeness(bound, on="s"), BetaLikeness(bound, on="s", kind="enhanced"),
    ):  # fmt: skip
        found = asked.holds(evidence)
        agree(asked, found, of_shares(groups, total, promise(asked, found.achieved)))


@settings(max_examples=600, deadline=None)
@given(SIZES, parts, st.sampled_from([1, Fraction(1, 10), Fraction(1, 3), 5000]))
def test_risks_and_estimates_agree(sizes: list[int], threshold: Fraction, population: Fraction) -> None:
    evidence = Groups(np.array(sizes), {}, {}, {})
    for asked in (
        AverageRisk(threshold), SampleUniqueness(threshold),
        PopulationUniqueness(threshold, estimate="zayatz", population_size=population),
        KMap(3, population=population), KMap(6, population=population, significance=Fraction(1, 5)),
        KMap(4, population=population, estimate="zero-truncated-poisson"),
    ):  # fmt: skip
        found = asked.holds(evidence)
        if abs(float(threshold) - found.achieved.get("threshold", 9)) > 1e-7:  # estimates are rounded against us
            agree(asked, found, of_sizes(sizes, promise(asked, found.achieved)))


def test_pitman_agrees() -> None:
    generator = np.random.Generator(np.random.Philox(key=8))
    n_solved = 0
    for _ in range(25):
        sizes = generator.zipf(1.9, int(generator.integers(20, 400))).clip(1, 60)
        asked = PopulationUniqueness(0.5, estimate="pitman", population_size=0.05)
        found = asked.holds(Groups(sizes.astype(np.int64), {}, {}, {}))
        holds, reached = of_sizes(sizes.tolist(), promise(asked, found.achieved))
        assert holds == found.holds
        if found.achieved["threshold"] < 1:
            n_solved += 1
            assert reached["threshold"] == pytest.approx(found.achieved["threshold"], rel=1.5e-9)
    assert n_solved >= 15


def test_what_bytes_cannot_decide() -> None:
    presence = promise(DeltaPresence(0.1, 0.5, subset=[0]), {"low": 0.2, "high": 0.5})
    assert "population is needed" in undecidable("delta-presence", presence["parameters"])
    assert plausible([2, 3], presence)
    assert not plausible([2, 3], {**presence, "achieved": {"low": 0.05, "high": 0.5}})
    known = {"model": "k-map", "parameters": {"k": 3, "population": "table"}, "achieved": {"k": 4}}
    assert undecidable("k-map", known["parameters"]) and plausible([2, 3], known)
    assert not plausible([5, 6], known)  # who is published belongs to the population
    assert not undecidable("k-map", {"k": 3, "population": 0.1})
