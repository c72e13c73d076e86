"""Anatomy keeps every row, meets what it was asked, makes as many buckets as there can be, and tells no order."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.chance import Secret, Seeded
from sfumato.contracts import Requirement
from sfumato.data.dataset import Dataset
from sfumato.data.evidence import group_evidence
from sfumato.errors import Incompatible, Infeasible
from sfumato.kernels.anatomy import dealt, hands, sorted_by_frequency
from sfumato.methods.tables.anatomy import Anatomy
from sfumato.methods.tables.buckets import most_buckets
from sfumato.releases.anatomized import Anatomized
from sfumato.requirements.alpha_k import AlphaK
from sfumato.requirements.k_anonymity import KAnonymity
from sfumato.requirements.l_diversity import LDiversity
from sfumato.requirements.t_closeness import TCloseness
from tests.methods.people import dataset
from tests.oracles import anatomy as oracle
from tests.oracles import requirements as definitions

REQUIREMENTS: list[Requirement] = [
    KAnonymity(2),
    KAnonymity(3),
    LDiversity(2, on="x"),
    LDiversity(3, on="x"),
    LDiversity(2, on="x", kind="frequency"),
    LDiversity(3, on="x", kind="frequency"),
    LDiversity(Fraction(5, 2), on="x", kind="frequency"),
    LDiversity(2, on="x", kind="entropy"),
    LDiversity(Fraction(5, 2), on="x", kind="entropy"),
    LDiversity(2, on="x", kind="recursive", c=1),
    LDiversity(2, on="x", kind="recursive", c=3),
    TCloseness(0.4, on="x"),
    TCloseness(0.25, on="x", distance="ordered"),
]


def meets(requirements: list[Requirement], data: Dataset, bucket: Any) -> bool:
    columns = data.schema.names("sensitive")
    codes = {c: data.codes[c] for c in columns}
    group = np.asarray(bucket, dtype=np.int64)
    evidence = group_evidence(group, int(group.max()) + 1, codes, data.domains, data.units)
    return all(r.holds(evidence).holds for r in requirements)


def check_rows(release: Anatomized, data: Dataset) -> None:
    """Every row is there, and every bucket holds the values of its own rows."""
    value_of = {int(row): i for i, row in enumerate(data.codes["row"])}
    names = data.schema.names("sensitive")
    assert sorted(release.slots["row"].tolist()) == sorted(data.codes["row"].tolist())
    wanted: dict[int, Counter[Any]] = {}
    for row, group in zip(release.slots["row"], release.slot_group, strict=True):
        wanted.setdefault(int(group), Counter())[tuple(int(data.codes[c][value_of[int(row)]]) for c in names)] += 1
    found: dict[int, Counter[Any]] = {}
    for group, *values in zip(release.value_group, *(release.values[c] for c in names), strict=True):
        found.setdefault(int(group), Counter())[tuple(int(v) for v in values)] += 1
    assert found == wanted
    assert set(wanted) == set(range(len(wanted)))


@settings(max_examples=120, deadline=None)
@given(values=st.lists(st.integers(0, 3), min_size=1, max_size=7), chosen=st.sampled_from(REQUIREMENTS))
def test_feasible_exactly_when_some_partition_is(values: list[int], chosen: Requirement) -> None:
    data = dataset({"x": values})
    best = oracle.most_buckets(len(values), lambda found: meets([chosen], data, found))
    if best == 0:
        with pytest.raises(Infeasible) as refused:
            Anatomy().publish(data, [chosen], Seeded(1))
        assert refused.value.nearest
        return
    release = Anatomy().publish(data, [chosen], Seeded(1))
    check_rows(release, data)
    evidence = release.evidence()
    assert evidence is not None
    assert chosen.holds(evidence).holds
    assert 1 <= release.n_groups <= best
    kind = getattr(chosen, "kind", "distinct")
    if isinstance(chosen, KAnonymity) or (isinstance(chosen, LDiversity) and kind in ("distinct", "frequency")):
        whole = getattr(chosen, "l", Fraction(1)).denominator == 1
        assert not whole or release.n_groups == best, (release.n_groups, best)


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=7),
    one=st.sampled_from(REQUIREMENTS),
    other=st.sampled_from([LDiversity(2, on="y"), LDiversity(2, on="y", kind="frequency"), KAnonymity(3)]),
)
def test_two_sensitive_columns(values: list[tuple[int, int]], one: Requirement, other: Requirement) -> None:
    data = dataset({"x": [x for x, _ in values], "y": [y for _, y in values]})
    best = oracle.most_buckets(len(values), lambda found: meets([one, other], data, found))
    if best == 0:
        with pytest.raises(Infeasible):
            Anatomy().publish(data, [one, other], Seeded(1))
        return
    release = Anatomy().publish(data, [one, other], Seeded(1))
    check_rows(release, data)
    evidence = release.evidence()
    assert evidence is not None
    assert one.holds(evidence).holds and other.holds(evidence).holds


@settings(max_examples=200, deadline=None)
@given(
    l=st.integers(2, 6),
    quotient=st.integers(1, 12),
    rest=st.integers(0, 5),
    weights=st.lists(st.integers(1, 9), min_size=2, max_size=12),
    seed=st.integers(0, 99),
)
def test_no_value_is_over_represented_for_every_rest(
    l: int, quotient: int, rest: int, weights: list[int], seed: int
) -> None:
    n = quotient * l + rest % l
    generator = np.random.Generator(np.random.Philox(key=seed))
    share = np.array(weights) / sum(weights)
    values = generator.choice(len(weights), size=n, p=share)
    data = dataset({"x": values.tolist()})
    requirement = LDiversity(l, on="x", kind="frequency")
    most = int(np.bincount(values).max())
    if most > n // l:
        with pytest.raises(Infeasible) as refused:
            Anatomy().publish(data, [requirement], Seeded(seed))
        assert refused.value.nearest == {"l": n // most}
        largest = LDiversity(n // most, on="x", kind="frequency")
        assert Anatomy().publish(data, [largest], Seeded(seed)).n_suppressed == 0
        return
    release = Anatomy().publish(data, [requirement], Seeded(seed))
    check_rows(release, data)
    assert release.n_groups == n // l
    for group in range(release.n_groups):
        held = Counter(release.values["x"][release.value_group == group].tolist())
        assert max(held.values()) == 1
        assert l <= sum(held.values()) <= l + -(-(n % l) // (n // l))


@settings(max_examples=200, deadline=None)
@given(counts=st.lists(st.integers(1, 20), min_size=1, max_size=8), n_buckets=st.integers(1, 25))
def test_hands_say_what_dealing_gives(counts: list[int], n_buckets: int) -> None:
    codes = np.repeat(np.arange(len(counts)), counts)
    n_buckets = min(n_buckets, len(codes))
    order = np.arange(len(codes))[::-1].copy()
    bucket = dealt(sorted_by_frequency(codes, np.array(counts), order), n_buckets)
    found = {tuple(np.bincount(codes[bucket == b], minlength=len(counts)).tolist()) for b in range(n_buckets)}
    sizes, held = hands(np.array(counts), n_buckets, 1000)
    assert {tuple(row) for row in held.tolist()} == found
    assert sizes.tolist() == held.sum(axis=1).tolist()


def test_entropy_and_recursive_need_no_more_rows_than_derived() -> None:
    """With distinct values once each, buckets of `least` rows suffice and fewer never do."""
    for requirement in REQUIREMENTS:
        if isinstance(requirement, TCloseness):
            continue
        n = 12 * requirement.least
        release = Anatomy().publish(dataset({"x": list(range(n))}), [requirement], Seeded(3))
        assert release.n_groups == 12


def test_a_frequent_value_makes_larger_buckets_instead_of_a_refusal() -> None:
    values = [0] * 60 + list(range(1, 41))
    requirement = LDiversity(2, on="x", kind="recursive", c=2)
    release = Anatomy().publish(dataset({"x": values}), [requirement], Seeded(1))
    evidence = release.evidence()
    assert evidence is not None and requirement.holds(evidence).holds
    assert release.n_groups == 20


def test_most_buckets_finds_thresholds_of_any_size() -> None:
    for threshold in (1, 2, 3, 100, 511, 513, 700, 12_345, 10**6):
        for most in (threshold, threshold + 1, 2 * threshold + 600, 10**7):
            assert most_buckets(most, lambda n, t=threshold: n <= t) == threshold  # type: ignore[misc]


@settings(max_examples=80, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=16),
    requirement=st.sampled_from(REQUIREMENTS),
)
def test_units_are_counted_once(rows: list[tuple[int, int]], requirement: Requirement) -> None:
    units, values = [unit for unit, _ in rows], [value for _, value in rows]
    data = dataset({"x": values}, units=units)
    try:
        release = Anatomy().publish(data, [requirement], Seeded(1))
    except Infeasible as refused:
        assert not meets([requirement], data, [0] * len(rows)), "one bucket for all was not tried"
        proof = requirement.monotone(repeats=len(set(units)) < len(units))
        assert ("other groups may still meet it" in str(refused)) is not proof
        return
    check_rows(release, data)
    bucket = np.empty(len(rows), dtype=np.int64)
    bucket[release.slots["row"]] = release.slot_group
    assert meets([requirement], data, bucket)
    if isinstance(requirement, KAnonymity):
        assert definitions.k_anonymous([(int(b), v, u) for b, v, u in zip(bucket, values, units, strict=True)], 2)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=6),
    requirement=st.sampled_from(REQUIREMENTS),
)
def test_a_refusal_that_claims_proof_has_it(rows: list[tuple[int, int]], requirement: Requirement) -> None:
    """No partition at all meets what is refused without a search."""
    data = dataset({"x": [value for _, value in rows]}, units=[unit for unit, _ in rows])
    try:
        Anatomy().publish(data, [requirement], Seeded(1))
    except Infeasible as refused:
        if "other groups may still meet it" not in str(refused):
            assert oracle.most_buckets(len(rows), lambda found: meets([requirement], data, found)) == 0


# Two persons of four have a second row: as one group, value 0 belongs to 4 of 6 persons; as two, to 2 of 4 in each.
HALVES = dataset({"x": [0, 0, 1, 1, 0, 0, 1, 1]}, units=[1, 2, 3, 4, 5, 6, 3, 4])
SHARES = [
    LDiversity(2, on="x", kind="frequency"),
    LDiversity(2, on="x", kind="entropy"),
    LDiversity(2, on="x", kind="recursive", c=Fraction(3, 2)),
]


@pytest.mark.parametrize("requirement", SHARES, ids=repr)
def test_what_holds_in_parts_only_is_published_in_parts(requirement: Requirement) -> None:
    assert not meets([requirement], HALVES, [0] * 8)
    assert meets([requirement], HALVES, [0, 0, 0, 0, 1, 1, 1, 1])
    release = Anatomy().publish(HALVES, [requirement], Seeded(1))
    bucket = np.empty(8, dtype=np.int64)
    bucket[release.slots["row"]] = release.slot_group
    assert meets([requirement], HALVES, bucket)


def test_rows_of_one_unit_do_not_fill_a_bucket() -> None:
    values, units = [0, 1, 2, 3] * 30, [i // 4 for i in range(120)]
    data = dataset({"x": values}, units=units)
    need = [KAnonymity(4), LDiversity(4, on="x")]
    release = Anatomy().publish(data, need, Seeded(2))
    person = np.empty(120, dtype=np.int64)
    person[release.slots["row"]] = np.arange(120)
    for group in range(release.n_groups):
        rows = release.slots["row"][release.slot_group == group]
        assert len({units[row] for row in rows}) >= 4
    assert release.n_groups >= 10
    assert release.recipe.unit == "person"


def test_order_and_ids_tell_nothing() -> None:
    """Rank correlation of raw position with release position and with group id, over many secret runs."""
    n, runs = 60, 200
    data = dataset({"x": [i % 12 for i in range(n)]})
    position, group, together = [], [], []
    for _ in range(runs):
        release = Anatomy().publish(data, [LDiversity(3, on="x")], Secret())
        place = np.argsort(release.slots["row"])
        position.append(np.corrcoef(np.arange(n), place)[0, 1])
        group.append(np.corrcoef(np.arange(n), release.slot_group[place])[0, 1])
        together.append(np.corrcoef(release.slot_group, release.value_group)[0, 1])
    for found in (position, group, together):
        assert abs(float(np.mean(found))) < 5 / np.sqrt(n * runs)


def test_which_row_of_a_value_joins_a_bucket_is_random() -> None:
    data = dataset({"x": [0, 0, 0, 1, 1, 1]})
    met: Counter[tuple[int, int]] = Counter()
    for _ in range(600):
        release = Anatomy().publish(data, [LDiversity(2, on="x")], Secret())
        bucket = np.empty(6, dtype=np.int64)
        bucket[release.slots["row"]] = release.slot_group
        met.update((i, j) for i in range(3) for j in range(3, 6) if bucket[i] == bucket[j])
    assert len(met) == 9
    assert all(130 < n < 270 for n in met.values())


def test_the_same_seed_gives_the_same_release() -> None:
    data = dataset({"x": [i % 7 for i in range(50)], "y": [i % 4 for i in range(50)]})
    need = [LDiversity(3, on="x"), LDiversity(3, on="y", kind="frequency")]
    one, other = (Anatomy().publish(data, need, Seeded(4)) for _ in range(2))
    assert one.slot_group.tolist() == other.slot_group.tolist()
    assert one.values["y"].tolist() == other.values["y"].tolist()
    assert one.recipe.reproducible and not Anatomy().publish(data, need, Secret()).recipe.reproducible


def test_all_sensitive_columns_travel_together() -> None:
    data = dataset({"x": [0, 1, 2, 3] * 5, "y": [0, 1, 2, 3] * 5})
    release = Anatomy().publish(data, [LDiversity(2, on="x")], Seeded(1))
    assert release.values["x"].tolist() == release.values["y"].tolist()


def test_what_speaks_of_alike_rows_is_refused_with_what_groups_can_meet() -> None:
    data = dataset({"x": [0, 1, 2, 3] * 5})
    for alpha, instead in [(0.5, "LDiversity(2, "), (Fraction(2, 5), "LDiversity(2.5, "), (0.3, "LDiversity('10/3', ")]:
        with pytest.raises(Incompatible, match="look alike") as refused:
            Anatomy().accepts(data, [AlphaK(alpha, 3, on="x")])
        said = str(refused.value)
        assert f"{instead}on='x', kind=\"frequency\") & KAnonymity(3)" in said
        code = said[said.index("LDiversity(") : said.index("; or use")]
        nearest = eval(code, {"LDiversity": LDiversity, "KAnonymity": KAnonymity})
        for held in ([0] * 20, [row // 4 for row in range(20)], [row % 2 for row in range(20)], list(range(20))):
            assert meets(list(nearest.parts), data, held) == meets([AlphaK(alpha, 3, on="x")], data, held)


class NotMonotone(KAnonymity):
    """Stands for a model whose groups may not be merged."""

    def monotone(self, repeats: bool) -> bool:
        return False


def test_what_buckets_cannot_promise_is_refused_before_any_work() -> None:
    data = dataset({"x": [0, 1, 0, 1]})
    with pytest.raises(Incompatible, match="merged"):
        Anatomy().accepts(data, [NotMonotone(2)])
    with pytest.raises(Incompatible, match="'row'"):
        Anatomy().accepts(data, [LDiversity(2, on="row")])
    with pytest.raises(Incompatible, match="sensitive"):
        Anatomy().accepts(data.roles(quasi=["row", "x"]), [KAnonymity(2)])


def test_many_values_and_many_rows() -> None:
    generator = np.random.Generator(np.random.Philox(key=5))
    values = (generator.random(60_000) ** 2 * 9000).astype(int).tolist()
    data = dataset({"x": values, "y": [v % 11 for v in values]})
    need = [LDiversity(4, on="x", kind="frequency"), LDiversity(3, on="y", kind="entropy"), KAnonymity(5)]
    release = Anatomy().publish(data, need, Seeded(1))
    evidence = release.evidence()
    assert evidence is not None and all(r.holds(evidence).holds for r in need)
    assert release.n_groups > 11_900
