"""The baselines against plain twins on tiny tables: Datafly, Samarati, Incognito, both specializations, MDAV."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.chance import Seeded
from sfumato.data.dataset import Dataset
from sfumato.data.levels import Levels
from sfumato.errors import Incompatible, Infeasible
from sfumato.methods.metrics.height import Height
from sfumato.methods.preparation import prepared_for
from sfumato.methods.tables.baselines import nodes_of
from sfumato.methods.tables.bottom_up import BottomUpGeneralization
from sfumato.methods.tables.datafly import Datafly
from sfumato.methods.tables.incognito import Incognito, minimal
from sfumato.methods.tables.mdav import MDAV, microaggregated
from sfumato.methods.tables.samarati import Samarati, lowest
from sfumato.methods.tables.standardized import Column, Points
from sfumato.methods.tables.top_down import TopDownSpecialization
from tests.contracts.cases import QUASI, people, rules, tables
from tests.oracles import baselines as twins
from tests.oracles.lattice import Outcome, Table, exhaustive, precision

FULL = [Datafly(), Samarati(), Incognito()]
CUTS = [TopDownSpecialization(), BottomUpGeneralization()]
tried = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
quasis = st.lists(st.sampled_from(QUASI), min_size=1, max_size=3, unique=True).map(tuple)
shares = st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1, 2)])


def prepared(table: pa.Table, quasi: tuple[str, ...], need: Any) -> Dataset:
    try:
        return prepared_for(people(table, quasi), sf.Mondrian(), [need], rules(quasi))
    except Infeasible:
        assume(False)
        raise


def as_table(data: Dataset) -> Table:
    """Codes and node numbers as labels, with the sensitive disease beside."""
    quasi = data.schema.names("quasi")
    paths = {}
    for name in quasi:
        levels = Levels.of(data.domains[name])
        paths[name] = {str(code): [str(node[code]) for node in levels.node] for code in range(data.domains[name].size)}
    columns = {name: data.codes[name].tolist() for name in (*quasi, "disease")}
    rows = [{name: str(column[i]) for name, column in columns.items()} for i in range(data.n_rows)]
    return Table(rows, paths)


def runs_of(levels: Levels, level: int) -> list[tuple[int, int]]:
    first, last = levels.runs(level)
    return list(zip(first.tolist(), last.tolist(), strict=True))


def taxonomies(data: Dataset) -> twins.Taxonomies:
    quasi = data.schema.names("quasi")
    all_levels = {name: Levels.of(data.domains[name]) for name in quasi}
    levels = {name: [runs_of(one, level) for level in range(one.height + 1)] for name, one in all_levels.items()}
    rows = [{name: int(data.codes[name][i]) for name in quasi} for i in range(data.n_rows)]
    return twins.Taxonomies(rows, levels)


def published(release: Any) -> Counter[Any]:
    """Published rows by their regions."""
    ends = [(release.low[name][g], release.high[name][g]) for g in release.group for name in release.regions]
    n = len(release.regions)
    return Counter(tuple((int(a), int(b)) for a, b in ends[i : i + n]) for i in range(0, len(ends), n))


def expected(data: Dataset, outcome: Outcome) -> Counter[Any]:
    """Rows that stay at a node, by the runs of its labels."""
    quasi, found = data.schema.names("quasi"), Counter[Any]()
    runs = [runs_of(Levels.of(data.domains[n]), level) for n, level in zip(quasi, outcome.node, strict=True)]
    for labels, rows in outcome.groups.items():
        if labels not in outcome.suppressed:
            found[tuple(runs[j][int(label)] for j, label in enumerate(labels))] += len(rows)
    return found


def needs(draw_share: Fraction, diverse: bool) -> tuple[Any, Any]:
    """A requirement with its plain test: diversity only where nothing is suppressed."""
    if diverse and not draw_share:
        return sf.LDiversity(2, on="disease"), lambda rows: len({row["disease"] for row in rows}) >= 2
    return sf.KAnonymity(2), lambda rows: len(rows) >= 2


@tried
@given(table=tables(most=8), quasi=quasis, share=shares, diverse=st.booleans())
def test_full_domain_baselines_find_what_looking_at_every_node_finds(
    table: pa.Table, quasi: tuple[str, ...], share: Fraction, diverse: bool
) -> None:
    need, keeps = needs(share, diverse)
    data = prepared(table, quasi, need)
    oracle = exhaustive(as_table(data), keeps, float(share), precision())
    valid = {node for node in oracle.valid if len(oracle.outcomes[node].groups) > len(oracle.outcomes[node].suppressed)}
    least = {node for node in valid if not any(twins_below(other, node) for other in valid)}
    nodes = nodes_of(data, [need], share, Height())
    assert set(minimal(nodes)) == least
    height = min(map(sum, valid))
    assert {one.node for one in lowest(nodes)} == {node for node in valid if sum(node) == height}
    best = min((n for n in valid if sum(n) == height), key=lambda n: (oracle.outcomes[n].n_suppressed, n))
    made = Samarati(max_suppressed=share).publish(data, [need], Seeded(1))
    assert published(made) == expected(data, oracle.outcomes[best])
    assert made.n_suppressed == oracle.outcomes[best].n_suppressed
    lattice = sf.Lattice(max_suppressed=share).search(data, [need])
    assert {tuple(one.levels.values()) for one in lattice.minimal} == least
    scored = {node: nodes_of(data, [need], share, sf.Loss()).at(node) for node in least}
    chosen = min(scored.values(), key=lambda one: (one.score, one.n_suppressed, one.node)).node
    made = Incognito(max_suppressed=share).publish(data, [need], Seeded(1))
    assert published(made) == expected(data, oracle.outcomes[chosen])


def twins_below(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


@tried
@given(table=tables(most=8), quasi=quasis, share=shares, diverse=st.booleans())
def test_datafly_climbs_step_by_step(table: pa.Table, quasi: tuple[str, ...], share: Fraction, diverse: bool) -> None:
    need, keeps = needs(share, diverse)
    data = prepared(table, quasi, need)
    outcome = twins.datafly(as_table(data), keeps, int(share * data.n_rows))
    made = Datafly(max_suppressed=share).publish(data, [need], Seeded(1))
    assert published(made) == expected(data, outcome)


def groups_that_stay(data: Dataset, cuts: twins.Cuts, k: int) -> Counter[Any]:
    return Counter({runs: n for runs, n in taxonomies(data).groups(cuts).items() if n >= k})


@tried
@given(table=tables(most=8), quasi=quasis, share=shares)
def test_specialization_takes_the_steps_of_its_twin(table: pa.Table, quasi: tuple[str, ...], share: Fraction) -> None:
    data = prepared(table, quasi, sf.KAnonymity(2))
    cuts = twins.specialized(taxonomies(data), 2, int(share * data.n_rows))
    made = TopDownSpecialization(max_suppressed=share).publish(data, [sf.KAnonymity(2)], Seeded(1))
    assert published(made) == groups_that_stay(data, cuts, 2)


@tried
@given(table=tables(most=8), quasi=quasis)
def test_generalization_takes_the_steps_of_its_twin(table: pa.Table, quasi: tuple[str, ...]) -> None:
    data = prepared(table, quasi, sf.KAnonymity(2))
    cuts = twins.generalized(taxonomies(data), 2)
    made = BottomUpGeneralization().publish(data, [sf.KAnonymity(2)], Seeded(1))
    assert published(made) == groups_that_stay(data, cuts, 2)


TOWNS = sf.groups({"north": ["Aa", "Bb"], "south": ["Cc", "Dd"]})
CLASSED = pa.table(
    {
        "town": pa.array(["Aa"] * 4 + ["Bb"] * 4 + ["Cc"] * 4 + ["Dd"] * 4),
        "sex": pa.array(["f", "m"] * 8),
        "rich": pa.array(["n"] * 4 + ["y"] * 4 + ["n", "y"] * 4),
    }
)


@pytest.mark.parametrize("method", [TopDownSpecialization(on="rich"), BottomUpGeneralization(on="rich")], ids=repr)
def test_cuts_follow_the_class(method: Any) -> None:
    """Town tells the class in the north, sex in the south. From the top sex tells most (0.19 bits a row), then no town
    can be told; from the bottom the towns of the south cost nothing, then sex costs least for what it gains."""
    data = sf.read(CLASSED, name="p").roles(quasi=["town", "sex"], sensitive=["rich"])
    hierarchies = {"town": TOWNS, "sex": sf.suppression()}
    rows = sf.publish(data, method, require=sf.KAnonymity(4), hierarchies=hierarchies, seed=1).release.table()
    found = Counter(zip(rows["town"].to_pylist(), rows["sex"].to_pylist(), strict=True))
    if isinstance(method, BottomUpGeneralization):
        assert found == {("Aa", "*"): 4, ("Bb", "*"): 4, ("south", "*"): 8}
    else:
        assert found == dict.fromkeys([("north", "f"), ("north", "m"), ("south", "f"), ("south", "m")], 4)


def test_a_class_that_is_not_published_is_refused() -> None:
    data = sf.read(CLASSED, name="p").roles(quasi=["town", "sex"])
    for method in (TopDownSpecialization(on="rich"), BottomUpGeneralization(on="sex")):
        with pytest.raises(Incompatible, match="published as it is"):
            sf.publish(data, method, require=sf.KAnonymity(2))


@pytest.mark.parametrize("method", [Samarati, Incognito])
def test_what_is_not_kept_on_the_way_up_is_refused(method: Any) -> None:
    data = people(pa.table({"age": [20] * 40, "town": ["Aa"] * 40, "disease": ["a", "b"] * 20, "pay": [1, 2] * 20}))
    hierarchies = rules(("age", "town"))
    with pytest.raises(Incompatible, match="max_suppressed = 0"):
        sf.publish(data, method(), require=sf.LDiversity(2, on="disease"), hierarchies=hierarchies)
    for need in (sf.DeltaDisclosure(2, on="disease"), sf.DeltaPresence(0.1, 1, subset=[0, 1])):
        with pytest.raises(Incompatible, match="Use Lattice"):
            sf.publish(data, method(max_suppressed=0), require=need, hierarchies=hierarchies)
    found = sf.publish(
        data, method(max_suppressed=0), require=sf.LDiversity(2, on="disease"), hierarchies=hierarchies, seed=1
    )
    assert found.release.n_rows == 40


@pytest.mark.parametrize("method", [*FULL, *CUTS], ids=repr)
def test_a_population_is_counted(method: Any) -> None:
    """Six persons of whom nine more are known: groups of five in the population, smaller ones in the table."""
    everybody = sf.read(pa.table({"age": [20, 20, 20, 21, 21, 30, 31, 31, 30, 30], "town": ["Aa"] * 10}), name="all")
    table = pa.table({"age": [20, 21, 21, 30, 31, 30], "town": ["Aa"] * 6, "disease": ["a"] * 6, "pay": [1] * 6})
    need = sf.KMap(5, population=everybody)
    found = sf.publish(people(table), method, require=need, hierarchies=rules(("age", "town")), seed=1).release
    assert found.recipe.promises[0].achieved["k"] >= 5
    assert found.n_rows == 6


AGES = {"age": sf.intervals(1, 8, low=0, high=8), "town": sf.groups({"all": ["Aa", "Bb", "Cc"]})}


@tried
@given(
    rows=st.lists(st.tuples(st.integers(0, 8), st.sampled_from(["Aa", "Bb", "Cc"])), min_size=2, max_size=30),
    k=st.integers(1, 4),
    aggregate=st.sampled_from(["mean", "median", "mode"]),
)
def test_mdav_makes_the_groups_of_its_twin(rows: list[tuple[int, str]], k: int, aggregate: Any) -> None:
    assume(len(rows) >= k)
    rows = sorted(rows)
    table = pa.table({"age": [age for age, _ in rows], "town": [town for _, town in rows]})
    data = sf.read(table, name="p").roles(quasi=["age", "town"])
    data = prepared_for(data, MDAV(), [sf.KAnonymity(k)], AGES)
    points = Points(tuple(Column.of(data, name) for name in ("age", "town")))
    found = microaggregated(points, np.arange(len(rows)), k, aggregate)
    twin = twins.mdav([(age / 8, town) for age, town in rows], k, aggregate)
    assert [sorted(group.tolist()) for group in found] == [sorted(group) for group in twin]
    assert all(k <= len(group) < 2 * k for group in found) or len(rows) < k
    release = MDAV(k=k, aggregate=aggregate).publish(data, [sf.KAnonymity(k)], Seeded(1))
    assert np.bincount(release.group).min() >= k


def test_missing_values_and_declared_orders_have_distances() -> None:
    table = pa.table({"age": [0, 4, 8, None], "size": ["s", "m", "l", "m"]})
    data = sf.read(table, name="p").roles(quasi=["age", "size"])
    hierarchies = {"age": AGES["age"], "size": sf.ordered(["s", "m", "l"])}
    data = prepared_for(data, MDAV(), [sf.KAnonymity(2)], hierarchies)
    age, size = (Column.of(data, name) for name in ("age", "size"))
    everyone = np.arange(4)
    assert Points((age,)).from_row(everyone, 0).tolist() == [0, 0.25, 1, 1]
    assert Points((age,)).from_row(everyone, 3).tolist() == [1, 1, 1, 0]
    assert Points((size,)).from_row(everyone, 0).tolist() == [0, 0.25, 1, 0.25]
    assert age.centre(everyone, "mean") == 0.5


def test_mdav_merges_groups_that_fail() -> None:
    ages = [0, 0, 0, 4, 4, 4, 8, 8, 8]
    table = pa.table({"age": ages, "ill": ["a"] * 3 + ["a", "b", "a"] + ["b"] * 3})
    data = sf.read(table, name="p").roles(quasi=["age"], sensitive=["ill"])
    need = [sf.KAnonymity(3), sf.LDiversity(2, on="ill")]
    release = sf.publish(data, MDAV(), require=need, hierarchies={"age": AGES["age"]}, seed=1).release
    assert release.recipe.promises[0].achieved["k"] >= 3 and release.recipe.promises[1].achieved["l"] >= 2
    assert release.n_rows == 9
