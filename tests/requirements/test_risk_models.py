"""Risks of whole tables, k-map and δ-presence: definitions, what is kept, estimates, and the figures of ARX's tests."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.evidence import Groups
from sfumato.requirements import uniques
from sfumato.requirements.average_risk import AverageRisk
from sfumato.requirements.cell_sizes import largest, needed
from sfumato.requirements.delta_presence import DeltaPresence
from sfumato.requirements.k_map import KMap
from sfumato.requirements.population_uniqueness import PopulationUniqueness
from sfumato.requirements.sample_uniqueness import SampleUniqueness
from sfumato.requirements.uniques import Histogram
from tests.oracles import requirements as oracle

ADULT = Path(__file__).parents[3] / "shared" / "data" / "adult" / "adult_arx_30162.parquet"
thresholds = st.fractions(min_value=0, max_value=1, max_denominator=8)
several = st.lists(st.integers(1, 6), min_size=1, max_size=7)
ones_and_more = st.lists(st.sampled_from([1, 1, 1, 2, 2, 3, 5]), min_size=2, max_size=12)


def of_sizes(sizes: Any, around: Any = None) -> Groups:
    """Evidence that has sizes alone, and persons around them."""
    return Groups(np.array(sizes, dtype=np.int64), {}, {}, {}, around or {})


def best_kept(sizes: list[int], met: Any) -> int:
    """Most units that any set of groups can keep, by trying all sets."""
    return max(
        sum(kept) for n in range(len(sizes) + 1) for kept in combinations(sizes, n) if not kept or met(list(kept))
    )


@settings(max_examples=2000, deadline=None)
@given(sizes=several, threshold=thresholds)
def test_risks_of_tables_and_what_is_kept(sizes: list[int], threshold: Fraction) -> None:
    models: list[tuple[Any, Any]] = [(SampleUniqueness(threshold), oracle.sample_uniqueness)]
    if threshold > 0:
        models.append((AverageRisk(threshold), oracle.average_risk))
    for requirement, figure in models:
        found = requirement.holds(of_sizes(sizes))
        assert found.holds == (figure(sizes) <= threshold)
        assert found.achieved["threshold"] == pytest.approx(float(figure(sizes)))
        assert type(requirement)(found.achieved["threshold"]).holds(of_sizes(sizes)).holds
        kept = requirement.keeps(of_sizes(sizes))
        left = np.array(sizes)[kept]
        assert int(left.sum()) == best_kept(sizes, lambda some, figure=figure: figure(some) <= threshold)
        assert requirement.holds(of_sizes(left)).holds
        assert found.n_failing == int((~kept).sum())
        if requirement.passes(of_sizes(sizes)).all():
            assert found.holds


def test_of_equal_groups_the_first_are_suppressed() -> None:
    assert SampleUniqueness(0.2).keeps(of_sizes([1, 4, 1, 1])).tolist() == [False, True, False, True]
    assert AverageRisk(0.5).keeps(of_sizes([1, 1, 3])).tolist() == [False, True, True]
    found = PopulationUniqueness(0.11, estimate="zayatz", population_size=1).keeps(of_sizes([1, 9, 1]))
    assert found.tolist() == [False, True, True]


def test_the_average_hides_a_row_that_stands_alone() -> None:
    """Why the model is weaker than k-anonymity: one unique row among a hundred alike."""
    assert AverageRisk(0.02).holds(of_sizes([1, 100])).holds
    assert not AverageRisk(0.02).passes(of_sizes([1, 100])).all()
    assert AverageRisk(0.2).least == 5 and AverageRisk(Fraction(3, 7)).least == 3


@settings(max_examples=1000, deadline=None)
@given(sizes=several, other=st.integers(1, 40))
def test_models_that_grow_pass_with_any_more_rows(sizes: list[int], other: int) -> None:
    more = [size + other for size in sizes]
    for requirement in (
        AverageRisk(0.3), SampleUniqueness(0.1), PopulationUniqueness(0.1, population_size=10**6),
        KMap(4, population=0.1), KMap(4, population=10**6), sf.KAnonymity(3),
    ):  # fmt: skip
        assert requirement.grows
        assert not (requirement.passes(of_sizes(sizes)) & ~requirement.passes(of_sizes(more))).any()


@settings(max_examples=1000, deadline=None)
@given(sizes=ones_and_more, extra=st.integers(0, 60))
def test_zayatz_is_the_sum_of_hypergeometric_chances(sizes: list[int], extra: int) -> None:
    if 1 not in sizes:
        return
    population = sum(sizes) + extra
    assert uniques.zayatz(Histogram.of(np.array(sizes)), population) == pytest.approx(
        float(oracle.zayatz(sizes, population)), rel=1e-12
    )


@settings(max_examples=80, deadline=None)
@given(sizes=ones_and_more)
def test_pitman_is_most_likely(sizes: list[int]) -> None:
    """Where Newton's method ends inside, no small step in any direction makes the sample likelier."""
    sample = Histogram.of(np.array(sizes))
    theta, alpha = uniques.solved(
        uniques._likelihood(sample), [uniques._moments(sample), *uniques._STARTS], lambda theta, alpha: theta >= 0
    )
    if math.isnan(theta) or not (0 < alpha < 1) or theta <= 1e-6:
        return
    step = 1e-5
    slopes = [
        (oracle.pitman_log_likelihood(sizes, theta + step * a, alpha + step * b)
         - oracle.pitman_log_likelihood(sizes, theta - step * a, alpha - step * b)) / (2 * step)
        for a, b in ((1, 0), (0, 1)) if alpha > step and alpha < 1 - step and theta > step
    ]  # fmt: skip
    assert all(abs(slope) < 1e-4 for slope in slopes)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_the_slide_negative_binomial_meets_groups_of_one_and_two(share: float) -> None:
    for alpha, beta in ((0.3, 0.2), (1.5, 0.4), (0.8, 0.7)):
        system = uniques._slide(1000.0, share, 0, 0)
        (ones, twos), slopes = system(alpha, beta)
        assert (ones, twos) == pytest.approx(oracle.slide_expected(1000.0, share, alpha, beta), rel=1e-9)
        for j, (a, b) in enumerate(((1e-6, 0), (0, 1e-6))):
            high, low = system(alpha + a, beta + b)[0], system(alpha - a, beta - b)[0]
            assert slopes[:, j] == pytest.approx((high - low) / 2e-6, rel=1e-5)


@pytest.mark.skipif(not ADULT.exists(), reason="the table of ARX's own tests is not here")
def test_estimates_are_those_of_the_tests_of_arx() -> None:
    """TestRiskMetrics: testAverageRisk2 and testDecisionRule2, on the 30,162 rows of Adult."""
    import pyarrow.parquet as pq

    rows = Counter(zip(*(column.to_pylist() for column in pq.read_table(ADULT).columns), strict=True))
    evidence = of_sizes(list(rows.values()))
    sample = Histogram.of(evidence.sizes)
    assert AverageRisk(1).holds(evidence).achieved["threshold"] == pytest.approx(0.6465751607983555, rel=1e-15)
    wanted = {
        ("pitman", 0.1): 0.27684993883653597, ("zayatz", 0.1): 0.3207402393466189, ("dankar", 0.1): 0.27684993883653597,
        ("dankar", 0.2): 0.3577099234829125, ("dankar", 0.01): 0.1446083531167384, ("dankar", 1): 0.5142895033485844,
    }  # fmt: skip
    for (name, share), figure in wanted.items():
        assert uniques.ESTIMATORS[name](sample, round(30162 / share)) == pytest.approx(figure, rel=1e-9)
        requirement = PopulationUniqueness(0.05, estimate=name, population_size=share)  # type: ignore[arg-type]
        assert requirement.holds(evidence).achieved["threshold"] == pytest.approx(figure, rel=1e-8)


def test_population_uniqueness_keeps_what_meets_it() -> None:
    generator = np.random.Generator(np.random.Philox(key=5))
    for turn in range(24):
        sizes = generator.integers(1, 5, int(generator.integers(1, 40)))
        estimate: Any = ("dankar", "pitman", "zayatz", "snb")[turn % 4]
        for population in (0.05, 0.4, 1, 1000):
            requirement = PopulationUniqueness(0.2, estimate=estimate, population_size=population)
            kept = requirement.keeps(of_sizes(sizes))
            assert requirement.holds(of_sizes(sizes[kept])).holds
            found = requirement.holds(of_sizes(sizes))
            assert found.holds == bool(kept.all()) or estimate != "zayatz"
            assert PopulationUniqueness(found.achieved["threshold"], estimate=estimate,
                                        population_size=population).holds(of_sizes(sizes)).holds  # fmt: skip


def test_no_estimate_is_not_met() -> None:
    alone = PopulationUniqueness(0.9, estimate="pitman", population_size=0.1).holds(of_sizes([1]))
    assert (alone.holds, alone.achieved) == (False, {"threshold": 1.0})
    assert PopulationUniqueness(0, population_size=0.1).holds(of_sizes([2, 3])).achieved == {"threshold": 0.0}


def test_merging_can_raise_the_estimate_of_zayatz() -> None:
    requirement = PopulationUniqueness(1, estimate="zayatz", population_size=100)
    fine, merged = (requirement.holds(of_sizes(sizes)).achieved["threshold"] for sizes in ([1, 2, 2], [1, 4]))
    assert merged > fine and not requirement.monotone(repeats=False)


def test_a_population_smaller_than_what_is_published_is_refused() -> None:
    for requirement in (PopulationUniqueness(0.1, population_size=5), KMap(3, population=5)):
        with pytest.raises(sf.Incompatible, match="5 persons, but 6"):
            requirement.holds(of_sizes([1, 5]))


@settings(max_examples=2000, deadline=None)
@given(
    k=st.integers(1, 30),
    share=st.sampled_from([Fraction(n, 1000) for n in (1, 3, 10, 50, 100, 250, 500, 999, 1000)]),
    truncated=st.booleans(),
    significance=st.sampled_from([Fraction(1, 100), Fraction(1, 20), Fraction(1, 2)]),
)
def test_group_sizes_that_k_map_needs(k: int, share: Fraction, truncated: bool, significance: Fraction) -> None:
    name: Any = "zero-truncated-poisson" if truncated else "poisson"
    found = needed(k, share, name, significance)
    assert found == oracle.k_map_needs(k, float(share), truncated, float(significance))
    assert needed(k + 1, share, name, significance) >= found
    most = largest(found, share, name, significance)
    assert most >= k and needed(most, share, name, significance) <= found < needed(most + 1, share, name, significance)


@pytest.mark.parametrize(("k", "units"), [(3, 2), (1000, 3)])
def test_what_k_map_needs_in_the_tests_of_arx(k: int, units: int) -> None:
    """TestAnonymizationKMap asks for 3-map and 1000-map of Adult among the 317,238,626 people of the USA."""
    assert needed(k, Fraction(30162, 317238626), "zero-truncated-poisson", Fraction(1, 100)) == units
    requirement = KMap(k, population=317238626, estimate="zero-truncated-poisson")
    sizes = [units] * 10 + [30162 - units * 10]
    assert requirement.holds(of_sizes(sizes)).holds
    assert not requirement.passes(of_sizes(sizes)).all()
    assert requirement.keeps(of_sizes([units - 1, 30163 - units])).tolist() == [False, True]


@settings(max_examples=1000, deadline=None)
@given(
    pairs=st.lists(st.tuples(st.integers(1, 6), st.integers(0, 8)), min_size=1, max_size=5),
    low=thresholds,
    high=st.fractions(min_value=Fraction(1, 8), max_value=1, max_denominator=8),
    k=st.integers(1, 9),
)
def test_models_of_a_population_that_is_known(
    pairs: list[tuple[int, int]], low: Fraction, high: Fraction, k: int
) -> None:
    sizes, around = [size for size, _ in pairs], [size + more for size, more in pairs]
    if low <= high:
        presence = DeltaPresence(low, high, subset=[0])
        evidence = of_sizes(sizes, {presence: np.array(around)})
        found = presence.holds(evidence)
        shares = [Fraction(a, b) for a, b in zip(sizes, around, strict=True)]
        assert found.holds == all(low <= share <= high for share in shares)
        assert presence.passes(evidence).tolist() == [low <= share <= high for share in shares]
        assert found.achieved == pytest.approx({"low": float(min(shares)), "high": float(max(shares))})
        merged = of_sizes([sum(sizes)], {presence: np.array([sum(around)])})
        assert not found.holds or presence.holds(merged).holds
    table = sf.read(pa.table({"x": [1]}))
    known = KMap(k, population=table)
    found = known.holds(of_sizes(sizes, {known: np.array(around)}))
    assert (found.holds, found.achieved) == (min(around) >= k, {"k": min(around)})


def test_who_is_chosen() -> None:
    table = pa.table({"age": [1, 2, 3, 4], "mark": [True, False, True, False], "part": [True, None, False, True]})
    data = sf.read(table)
    wanted = [True, False, True, False]
    for subset in ("mark", wanted, [0, 2], (2, 0, 0), np.array([0, 2]), np.array(wanted)):
        requirement = DeltaPresence(0.1, 0.5, subset=subset)
        assert requirement.chosen(data).tolist() == wanted
        assert requirement.population(data) is data
        assert requirement == DeltaPresence(0.1, 0.5, subset=subset) and hash(requirement) is not None
        assert requirement.reads == "population"
    assert DeltaPresence(0, 0.5, subset=[0, 2]) == DeltaPresence(0, 0.5, subset=[2, 0])
    of_columns = [("age", sf.Incompatible), ("part", sf.Incompatible), ("ghost", sf.SchemaError)]
    for wrong, error in (*of_columns, *((rows, sf.ParameterError) for rows in ([0, 4], [True], [-1]))):
        with pytest.raises(error):
            DeltaPresence(0, 0.5, subset=wrong).chosen(data)
    assert "2" not in repr(DeltaPresence(0, 1, subset=[2, 3]).subset)


def test_a_population_is_a_table_or_a_number() -> None:
    table = sf.read(pa.table({"age": [1, 2, 3, 4]}))
    known, size, share = KMap(2, population=table), KMap(2, population=1000), KMap(2, population=0.1)
    assert known.population(table) is table and size.population(table) is None and share.population(table) is None
    assert [one.reads for one in (known, size, share)] == ["population", "groups", "groups"]
    assert known == KMap(2, population=table) and known.implies(KMap(1, population=table)) and not known.implies(size)
    assert known.chosen(table) is None
    assert known.parameters() == {"k": 2, "population": "table"}
    for requirement in (known, DeltaPresence(0, 1, subset=[0])):
        with pytest.raises(sf.Incompatible, match="Lattice"):
            requirement.holds(of_sizes([2, 3]))


@pytest.mark.parametrize("method", [sf.Mondrian(), sf.Anatomy()], ids=repr)
def test_methods_that_count_no_population_say_so(method: Any) -> None:
    table = pa.table({"age": [1, 2, 3, 4], "ill": ["a", "b", "a", "b"]})
    data = sf.read(table).roles(quasi=["age"], sensitive=["ill"])
    for requirement in (KMap(2, population=data), DeltaPresence(0, 0.5, subset=[0, 1])):
        with pytest.raises(sf.Incompatible, match=requirement.model):
            sf.publish(data, method, require=requirement, seed=1)


def test_evidence_is_looked_up_by_the_requirement() -> None:
    one, other = DeltaPresence(0, 0.5, subset=[0]), DeltaPresence(0, 0.9, subset=[0])
    evidence = of_sizes([2], {one: np.array([4]), other: np.array([2])})
    assert one.holds(evidence).holds and not other.holds(evidence).holds
    assert replace(evidence, around={}).around == {}
