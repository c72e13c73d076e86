"""Persons with several rows: shares of persons do not survive merging, so search, mending and refusals take care."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.chance import Seeded
from sfumato.contracts import Requirement
from sfumato.data.codec import Domain
from sfumato.data.evidence import group_evidence
from sfumato.methods.feasibility import loosest, whole_table
from sfumato.methods.publication import make_release
from sfumato.methods.tables.anatomy import Anatomy
from sfumato.methods.tables.mondrian import Mondrian
from sfumato.methods.tables.regions import Regions, mended
from tests.methods.people import dataset

AGES = {"age": sf.intervals(4, low=20, high=27)}
# Cuts whose halves pass, but whose groups, once those with the same published region are one, do not.
EIGHT = {
    "age": [26, 23, 22, 23, 22, 27, 22, 21],
    "ill": list("cbcababc"),
    "person": [3, 0, 2, 2, 0, 2, 3, 2],
}
SIXTEEN = {
    "age": [24, 21, 23, 23, 20, 21, 25, 25, 24, 24, 24, 24, 20, 23, 24, 27],
    "ill": list("caaaabacabbabbbb"),
    "person": [3, 1, 5, 4, 4, 2, 3, 1, 7, 2, 6, 1, 6, 0, 6, 5],
}


def shares(on: str) -> list[Requirement]:
    return [
        sf.LDiversity(2, on=on, kind="frequency"),
        sf.LDiversity(2, on=on, kind="entropy"),
        sf.LDiversity(2, on=on, kind="recursive", c=Fraction(3, 2)),
        sf.AlphaK(Fraction(1, 2), 2, on=on),
    ]


@pytest.mark.parametrize(("columns", "seed"), [(EIGHT, 455), (SIXTEEN, 825)], ids=["eight", "sixteen"])
@pytest.mark.parametrize("kind", ["entropy", "frequency"])
def test_groups_that_look_alike_and_fail_together_are_mended(columns: Any, seed: int, kind: Any) -> None:
    data = sf.read(pa.table(columns), name="p").roles(quasi=["age"], sensitive=["ill"], unit="person")
    need = sf.LDiversity(2, on="ill", kind=kind)
    release = make_release(data, Mondrian(recoding="relaxed"), require=need, hierarchies=AGES, chance=Seeded(seed))
    assert release.recipe.promises[0].achieved["l"] >= 2
    assert release.n_rows == len(columns["age"])


@pytest.mark.parametrize("requirement", shares("x"), ids=repr)
@pytest.mark.parametrize("recoding", ["strict", "relaxed"])
def test_a_table_that_fails_as_a_whole_is_published_in_parts(requirement: Requirement, recoding: Any) -> None:
    """Persons 3 and 4 are in both halves: as one group value 0 belongs to four of six persons."""
    data = dataset({"x": [0, 0, 1, 1, 0, 0, 1, 1]}, units=[1, 2, 3, 4, 5, 6, 3, 4])
    assert not requirement.holds(whole_table(data, [requirement])).holds
    release = Mondrian(recoding=recoding).publish(data, [requirement], Seeded(1))
    assert release.n_groups > 1


def test_parts_are_found_where_no_first_cut_stands() -> None:
    """Value 0 of the middle rows needs its neighbours on both sides: three groups, no two of them halves."""
    values, units = [0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0], [1, 2, 3, 4, 5, 2, 3, 6, 7, 2, 3, 8]
    data = dataset({"x": values}, units=units)
    need = sf.LDiversity(2, on="x", kind="frequency")
    release = Mondrian().publish(data, [need, sf.KAnonymity(4)], Seeded(1))
    assert release.n_groups == 3


def test_a_refusal_without_proof_says_so_and_names_what_can_be_met() -> None:
    data = dataset({"x": [0, 0, 0, 0, 1, 1]}, units=[1, 2, 3, 4, 5, 5])
    need = sf.LDiversity(2, on="x", kind="frequency")
    for method in (Mondrian(), sf.Anatomy()):
        with pytest.raises(sf.Infeasible, match="other groups may still meet it") as refused:
            make_release(data, method, require=[need, sf.KAnonymity(2)])
        assert refused.value.nearest == {"l": 1}
        looser = sf.LDiversity(refused.value.nearest["l"], on="x", kind="frequency")
        assert make_release(data, method, require=[looser, sf.KAnonymity(2)]).n_rows == 6


@pytest.mark.parametrize("method", [Mondrian(), sf.Anatomy()], ids=repr)
def test_the_nearest_can_be_met_by_all_at_once(method: Any) -> None:
    data = dataset({"x": [i % 3 for i in range(30)], "y": [i % 5 for i in range(30)]})
    for need in ([sf.LDiversity(9, on=c) for c in "xy"], [sf.LDiversity(9, on=c) for c in "yx"]):
        with pytest.raises(sf.Infeasible) as refused:
            make_release(data, method, require=need)
        assert refused.value.nearest == {"l": 3}
        met = [sf.LDiversity(refused.value.nearest["l"], on=c) for c in "xy"]
        assert make_release(data, method, require=met).n_rows == 30


def test_the_loosest_of_what_falls_is_the_largest() -> None:
    data = dataset({"x": [0, 0, 0, 1, 2], "y": [0, 0, 0, 0, 1]})
    for asked in ("xy", "yx"):
        need = [sf.AlphaK(0.5, 9, on=c) for c in asked]
        nearest = loosest(need, whole_table(data, need))
        assert nearest == {"alpha": 0.8, "k": 5}
        met = [sf.AlphaK(nearest["alpha"], nearest["k"], on=c) for c in asked]
        assert all(one.holds(whole_table(data, need)).holds for one in met)


def test_only_persons_with_several_rows_are_noted() -> None:
    for units, noted in [([0, 1, 2, 3], False), ([0, 1, 2, 2], True)]:
        release = make_release(dataset({"x": [0, 1, 0, 1]}, units=units), Mondrian(), require=sf.KAnonymity(2))
        assert any("combine their groups" in note for note in release.recipe.notes) is noted


def line(n: int) -> Regions:
    """One row a group, on one line."""
    ends = np.arange(n, dtype=np.int32)
    return Regions(np.arange(n), np.arange(n + 1), [ends], [ends.copy()])


@pytest.mark.parametrize("n", [1, 2, 3, 50, 1000])
@pytest.mark.parametrize("least", [1, 2, 3, 7, 60])
def test_mending_merges_neighbours_until_all_pass_or_one_is_left(n: int, least: int) -> None:
    domain = Domain("integer", pa.array(range(n)))
    found = mended(line(n), [domain], lambda rows, starts: np.diff(starts) >= least)
    if n < least:
        assert found is None
        return
    assert found is not None
    assert sorted(found.rows.tolist()) == list(range(n))
    assert (np.diff(found.starts) >= least).all()
    if least <= 7:
        assert (np.diff(found.starts) <= 3 * least).all()
    for g in range(found.n_groups):
        rows = found.rows[found.starts[g] : found.starts[g + 1]]
        assert (found.low[0][g], found.high[0][g]) == (rows.min(), rows.max())


def bucket_of_row(release: Any) -> np.ndarray:
    """Bucket of every row of the original."""
    bucket = np.empty(len(release.slots["row"]), dtype=np.int64)
    bucket[release.slots["row"]] = release.slot_group
    return bucket


def n_found_out(release: Any, units: Sequence[int], n_persons: int) -> int:
    """Persons of whom one value is left for somebody who knows their rows, and that all of these have one value.

    Their value is in each of their buckets, as often as they have rows there.
    """
    held: dict[int, Counter[int]] = defaultdict(Counter)
    for group, value in zip(release.value_group.tolist(), release.values["x"].tolist(), strict=True):
        held[group][value] += 1
    places: dict[int, Counter[int]] = defaultdict(Counter)
    for unit, group in zip(units, bucket_of_row(release).tolist(), strict=True):
        places[unit][group] += 1
    n_left = [
        len(set.intersection(*({v for v, n in held[g].items() if n >= often} for g, often in places[unit].items())))
        for unit in range(n_persons)
    ]
    assert min(n_left) >= 1
    return n_left.count(1)


@pytest.mark.parametrize("n_values", [5, 30, 200])
@pytest.mark.parametrize("kind", ["distinct", "frequency"])
def test_rows_of_one_person_do_not_tell_the_value(n_values: int, kind: Any) -> None:
    """600 persons with one to three rows and one value each; with their rows apart about one of twenty is found."""
    rng = np.random.default_rng(n_values)
    units, values = np.repeat(np.arange(600), rng.integers(1, 4, 600)), rng.integers(0, n_values, 600)
    order = rng.permutation(len(units))
    data = dataset({"x": values[units[order]].tolist()}, units=units[order].tolist())
    release = Anatomy().publish(data, [sf.LDiversity(2, on="x", kind=kind)], Seeded(1))
    assert n_found_out(release, units[order].tolist(), 600) == 0
    assert release.n_groups >= 290


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=24),
    need=st.sampled_from([sf.KAnonymity(2), sf.LDiversity(2, on="x"), sf.TCloseness(0.4, on="x")]),
)
def test_equal_rows_of_one_unit_stay_together(rows: list[tuple[int, int, int]], need: Requirement) -> None:
    """Whenever the whole table as one bucket would do."""
    units = [unit for unit, _, _ in rows]
    data = dataset({"x": [x for _, x, _ in rows], "y": [y for _, _, y in rows]}, units=units)
    if not need.holds(whole_table(data, [need])).holds:
        return
    release = Anatomy().publish(data, [need], Seeded(1))
    bucket = bucket_of_row(release)
    together: dict[tuple[int, int, int], set[int]] = defaultdict(set)
    for row, group in zip(rows, bucket.tolist(), strict=True):
        together[row].add(group)
    assert len(set(units)) == len(units) or all(len(groups) == 1 for groups in together.values())
    sensitive = {c: data.codes[c] for c in ("x", "y")}
    evidence = group_evidence(bucket, release.n_groups, sensitive, data.domains, data.units)
    assert need.holds(evidence).holds
