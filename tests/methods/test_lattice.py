"""The search of a lattice against every node tried by hand: scores, suppression, the best, minimal nodes, frontier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import sfumato as sf
from tests.oracles import lattice as slow
from tests.oracles import requirements as oracle

laws = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
TREES: dict[str, Any] = {
    "town": {"north": ["Aa", "Bb"], "south": ["Cc", "Dd", "Ee"]},
    "job": {
        "hand": {"wood": ["joiner", "turner"], "iron": ["smith"]},
        "head": {"word": ["clerk"], "law": ["judge", "notary"]},
    },
    "flag": ["yes", "no"],
}
HIERARCHIES = {
    "town": sf.groups(TREES["town"]),
    "job": sf.groups(TREES["job"]),
    "flag": sf.ordered(TREES["flag"]),
}
SICK = ("cold", "flu", "hiv")
Row = dict[str, str]


def paths(tree: Any, above: list[str]) -> dict[str, list[str]]:
    """Leaf → labels from the leaf to the root."""
    if isinstance(tree, list):
        return {leaf: [leaf, *above, "*"] for leaf in tree}
    found: dict[str, list[str]] = {}
    for label, inner in tree.items():
        found |= paths(inner, [label, *above])
    return found


def slow_table(rows: list[dict[str, Any]]) -> slow.Table:
    """The oracle's table; a missing value is a leaf of its own on every level."""
    hierarchies = {}
    for column, tree in TREES.items():
        found = paths(tree, [])
        if any(row[column] is None for row in rows):
            depth = len(next(iter(found.values())))
            found["missing"] = ["missing"] * (depth - 1) + ["*"]
        hierarchies[column] = found
    return slow.Table([{c: "missing" if v is None else str(v) for c, v in row.items()} for row in rows], hierarchies)


def people(rows: list[dict[str, Any]]) -> Any:
    table = pa.table({c: pa.array([row[c] for row in rows], pa.string()) for c in (*TREES, "sick")})
    return sf.read(table, name="people").roles(quasi=list(TREES), sensitive=["sick"])


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    n = draw(st.integers(2, 9))
    leaves = {c: [*paths(tree, []), None] for c, tree in TREES.items()}
    sick = draw(st.sampled_from([SICK, SICK[:2]]))
    return [
        {
            **{c: draw(st.sampled_from(leaves[c][: draw(st.integers(1, 7))])) for c in TREES},
            "sick": draw(st.sampled_from(sick)),
        }
        for _ in range(n)
    ]


def shares_of(rows: list[Row]) -> list[Fraction]:
    return oracle.shares(Counter(SICK.index(row["sick"]) for row in rows), len(SICK))


def as_rows(rows: list[Row]) -> list[oracle.Row]:
    return [("g", SICK.index(row["sick"]), i) for i, row in enumerate(rows)]


def ranks(rows: list[Row], whole: list[Row]) -> tuple[list[Fraction], list[Fraction]]:
    """Shares over the values that occur, in their order."""
    there = [i for i, value in enumerate(SICK) if any(row["sick"] == value for row in whole)]
    return [shares_of(rows)[i] for i in there], [shares_of(whole)[i] for i in there]


Keeps = Callable[[list[Row], list[Row]], bool]
REQUIREMENTS: list[tuple[Any, Keeps]] = [
    (sf.KAnonymity(2), lambda g, all_: len(g) >= 2),
    (sf.KAnonymity(3), lambda g, all_: len(g) >= 3),
    (sf.LDiversity(2, on="sick"), lambda g, all_: oracle.distinct_diverse(as_rows(g), 2)),
    (sf.LDiversity(2, on="sick", kind="entropy"), lambda g, all_: oracle.entropy_diverse(as_rows(g), Fraction(2))),
    (
        sf.LDiversity(2, on="sick", kind="recursive", c=2),
        lambda g, all_: oracle.recursively_diverse(as_rows(g), 2, Fraction(2)),
    ),
    (
        sf.LDiversity("3/2", on="sick", kind="frequency"),
        lambda g, all_: oracle.frequency_diverse(as_rows(g), Fraction(3, 2)) and len(g) >= 2,
    ),
    (
        sf.TCloseness("1/3", on="sick"),
        lambda g, all_: oracle.equal_distance(shares_of(g), shares_of(all_)) <= Fraction(1, 3),
    ),
    (
        sf.TCloseness("1/4", on="sick", distance="ordered"),
        lambda g, all_: oracle.ordered_distance(*ranks(g, all_)) <= Fraction(1, 4),
    ),
    (sf.AlphaK("2/3", 2, on="sick"), lambda g, all_: oracle.alpha_k_anonymous(as_rows(g), Fraction(2, 3), 2)),
    (
        sf.DeltaDisclosure("3/2", on="sick"),
        lambda g, all_: ratios_inside(g, all_, lambda r, q: Fraction(1, 8) < r**2 < 8),
    ),
    (sf.BetaLikeness("1/2", on="sick"), lambda g, all_: ratios_inside(g, all_, lambda r, q: r <= Fraction(3, 2))),
]


def ratios_inside(group: list[Row], all_: list[Row], met: Callable[[Fraction, Fraction], bool]) -> bool:
    p, q = shares_of(group), shares_of(all_)
    return all(met(a / b, b) for a, b in zip(p, q, strict=True) if a)


METRICS: list[tuple[Any, slow.Score]] = [
    *(
        (sf.Loss(aggregate=a, gs_factor=g), slow.loss(g, a))
        for a in ("arithmetic_mean", "sum", "max", "geometric_mean", "rank")
        for g in (0.5, 0.2, 0.8)
    ),
    (sf.NonUniformEntropy(), slow.entropy()),
    (sf.NonUniformEntropy(monotonic=True), slow.entropy(monotonic=True)),
    (
        sf.NonUniformEntropy(normalized=True, aggregate="arithmetic_mean"),
        slow.entropy(normalized=True, aggregate="arithmetic_mean"),
    ),
    (sf.NonUniformEntropy(gs_factor=0.3, aggregate="max"), slow.entropy(gs_factor=0.3, aggregate="max")),
    (sf.Precision(), slow.precision()),
    (sf.Precision(monotonic=True, gs_factor=0.7), slow.precision(monotonic=True, gs_factor=0.7)),
    (sf.Precision(aggregate="rank"), slow.precision(aggregate="rank")),
    (sf.Height(), slow.height()),
    (sf.Discernibility(), slow.discernibility()),
    (sf.Discernibility(monotonic=True), slow.discernibility(monotonic=True)),
    (sf.AverageClassSize(), slow.average_class_size()),
    (sf.AverageClassSize(gs_factor=0.3), slow.average_class_size(0.3)),
    (sf.AverageClassSize(gs_factor=0.8), slow.average_class_size(0.8)),
    (sf.AmbiguityMetric(), slow.ambiguity()),
    (sf.ClassificationMetric(on="sick"), slow.classification("sick")),
    (sf.ClassificationMetric(on="sick", gs_factor=0.7), slow.classification("sick", 0.7)),
    (sf.KLDivergence(), slow.kl_divergence()),
]
LIMITS = [0, Fraction(1, 4), Fraction(1, 2), 1]


def same(one: Any, other: Any) -> bool:
    return slow.near(one, other) or one == pytest.approx(other, rel=1e-9, abs=1e-9)


def rounded(score: slow.Score) -> slow.Score:
    """Ranks are compared without the noise of floats."""

    def of(table: slow.Table, outcome: slow.Outcome) -> slow.Value:
        found = score(table, outcome)
        return tuple(round(v, 10) for v in found) if isinstance(found, tuple) else found

    return of


def found_by(rows: list[dict[str, Any]], requirement: Any, metric: Any, limit: Any) -> Any:
    method = sf.Lattice(metric=metric, max_suppressed=limit)
    return sf.search(people(rows), [method], require=requirement, hierarchies=HIERARCHIES)


def compare(
    rows: list[dict[str, Any]], requirement: Any, keeps: Keeps, metric: Any, score: slow.Score, limit: Any
) -> None:
    table = slow_table(rows)
    truth = slow.exhaustive(table, lambda group: keeps(group, list(table.rows)), float(limit), rounded(score))
    usable = {node for node in truth.valid if truth.outcomes[node].n_suppressed < len(rows)}
    if not usable:
        with pytest.raises(sf.Infeasible):
            found_by(rows, requirement, metric, limit)
        return
    found = found_by(rows, requirement, metric, limit)
    best = min(truth.scores[node] for node in usable)
    assert found.best.optimal
    assert same(found.best.score, best)
    for node, outcome in truth.outcomes.items():
        one = found.node(dict(zip(TREES, node, strict=True)))
        assert (one.suppressed, one.groups) == (outcome.n_suppressed, len(outcome.groups) - len(outcome.suppressed))
        assert same(one.score, truth.scores[node]), (node, one.score, truth.scores[node])
        assert one.allowed is (node in usable)
    minimal = {n for n in usable if not any(m != n and all(a <= b for a, b in zip(m, n, strict=True)) for m in usable)}
    assert {tuple(one.levels.values()) for one in found.minimal} == minimal
    check_frontier(found, truth, usable)


def check_frontier(found: Any, truth: slow.Lattice, usable: set[Any]) -> None:
    """No node beats another one of the frontier, and every node is beaten or matched by one of it."""
    front = [(one.score, one.risk) for one in found.frontier]
    for node in usable:
        sizes = [
            len(r) for labels, r in truth.outcomes[node].groups.items() if labels not in truth.outcomes[node].suppressed
        ]
        risk, score = 1 / min(sizes), truth.scores[node]
        assert any((s <= score or same(s, score)) and r <= risk for s, r in front)
    assert len(set(front)) == len(front)


@pytest.mark.parametrize(("requirement", "keeps"), REQUIREMENTS, ids=lambda x: repr(x) if not callable(x) else "")
@laws
@given(rows=tables(), metric=st.sampled_from(METRICS), limit=st.sampled_from(LIMITS))
def test_every_node_agrees(rows: Any, requirement: Any, keeps: Keeps, metric: Any, limit: Any) -> None:
    compare(rows, requirement, keeps, *metric, limit)


@pytest.mark.parametrize(("metric", "score"), METRICS, ids=lambda x: repr(x) if not callable(x) else "")
@settings(laws, max_examples=12)
@given(rows=tables(), requirement=st.sampled_from(REQUIREMENTS[:7]), limit=st.sampled_from(LIMITS))
def test_every_metric_agrees(rows: Any, requirement: Any, metric: Any, score: Any, limit: Any) -> None:
    compare(rows, *requirement, metric, score, limit)


WEIGHTS = [{"town": 1.0}, {"town": 0.2, "job": 0.8, "flag": 0.4}, {"town": 0, "job": 0, "flag": 0}, {"flag": 3.0}]


@laws
@given(
    rows=tables(),
    weights=st.sampled_from(WEIGHTS),
    aggregate=st.sampled_from(["arithmetic_mean", "sum", "max", "geometric_mean", "rank"]),
)
def test_weights_agree(rows: Any, weights: dict[str, float], aggregate: Any) -> None:
    table = slow_table(rows)
    score = slow.loss(0.5, aggregate, weights)
    truth = slow.exhaustive(table, lambda group: len(group) >= 2, 0.5, rounded(score))
    method = sf.Lattice(metric=sf.Loss(aggregate=aggregate), max_suppressed=0.5, weights=weights)
    found = sf.search(people(rows), [method], require=sf.KAnonymity(2), hierarchies=HIERARCHIES)
    assert same(found.best.score, truth.best)


TABLE_WIDE = [
    (sf.AverageRisk("1/2"), lambda sizes: Fraction(len(sizes), sum(sizes)) <= Fraction(1, 2)),
    (sf.AverageRisk("1/3"), lambda sizes: Fraction(len(sizes), sum(sizes)) <= Fraction(1, 3)),
    (sf.SampleUniqueness("1/4"), lambda sizes: Fraction(sizes.count(1), sum(sizes)) <= Fraction(1, 4)),
    (sf.SampleUniqueness(0), lambda sizes: 1 not in sizes),
]


@pytest.mark.parametrize(("requirement", "holds"), TABLE_WIDE, ids=lambda x: repr(x) if not callable(x) else "")
@laws
@given(rows=tables())
def test_models_of_the_whole_table_suppress_as_little_as_they_can(rows: Any, requirement: Any, holds: Any) -> None:
    table = slow_table(rows)
    try:
        found = found_by(rows, requirement, sf.Loss(), 1)
    except sf.Infeasible:
        assume(False)
    for node in table.nodes():
        sizes = [len(r) for r in slow.generalize(table, node, lambda group: True).groups.values()]
        subsets = [s for n in range(1, len(sizes) + 1) for s in combinations(sizes, n) if holds(list(s))]
        fewest = min((len(rows) - sum(s) for s in subsets), default=len(rows))
        one = found.node(dict(zip(TREES, node, strict=True)))
        assert one.suppressed == fewest, (node, sizes)


@laws
@given(rows=tables(), more=tables(), k=st.integers(1, 4))
def test_a_population_is_counted_around_every_group(rows: Any, more: Any, k: int) -> None:
    """k-map: groups stay whose region holds k persons of the population."""
    for row in more:
        for column in TREES:
            if row[column] is None and all(r[column] is not None for r in rows):
                row[column] = next(r[column] for r in rows)
    table, everyone = slow_table(rows), slow_table(rows + more)
    population = people(rows + more)

    def keeps_at(node: Any) -> Any:
        around = Counter(everyone.labels(row, node) for row in everyone.rows)
        return lambda group: around[table.labels(group[0], node)] >= k

    try:
        found = sf.search(
            people(rows),
            [sf.Lattice(max_suppressed=1)],
            require=sf.KMap(k, population=population),
            hierarchies=HIERARCHIES,
        )
    except sf.Infeasible:
        assert len(rows) + len(more) < k
        return
    for node in table.nodes():
        truth = slow.generalize(table, node, keeps_at(node))
        one = found.node(dict(zip(TREES, node, strict=True)))
        assert (one.suppressed, one.groups) == (truth.n_suppressed, len(truth.groups) - len(truth.suppressed))


@laws
@given(rows=tables(), flags=st.lists(st.booleans(), min_size=9, max_size=9))
def test_presence_is_the_share_of_the_subset(rows: Any, flags: list[bool]) -> None:
    subset = flags[: len(rows)]
    assume(any(subset))
    table = slow_table(rows)
    for row, inside in zip(table.rows, subset, strict=True):
        row["in"] = str(inside)  # type: ignore[index]
    need = sf.DeltaPresence(0, "2/3", subset=subset)
    try:
        found = sf.search(people(rows), [sf.Lattice(max_suppressed=1)], require=need, hierarchies=HIERARCHIES)
    except sf.Infeasible:
        return
    for node in table.nodes():
        groups = slow.generalize(table, node, lambda group: True).groups.values()
        shares = [(sum(subset[r] for r in group), len(group)) for group in groups]
        one = found.node(dict(zip(TREES, node, strict=True)))
        stay = [(n, m) for n, m in shares if n and Fraction(n, m) <= Fraction(2, 3)]
        assert (one.suppressed, one.groups) == (sum(subset) - sum(n for n, _ in stay), len(stay))


@laws
@given(
    rows=tables(),
    metric=st.sampled_from(METRICS),
    requirement=st.sampled_from(REQUIREMENTS),
    limit=st.sampled_from(LIMITS),
)
def test_boxes_find_the_same_best(rows: Any, metric: Any, requirement: Any, limit: Any) -> None:
    """The way through lattices that are too large to list, on small ones."""
    from sfumato.methods.fulldomain import searching

    known, searching.MOST_LISTED = searching.MOST_LISTED, 1
    try:
        found = found_by(rows, requirement[0], metric[0], limit)
    except sf.Infeasible:
        found = None
    finally:
        searching.MOST_LISTED = known
    try:
        truth = found_by(rows, requirement[0], metric[0], limit)
    except sf.Infeasible:
        assert found is None
        return
    assert found is not None and found.best.optimal
    assert same(found.best.score, truth.best.score)


@laws
@given(rows=tables(), requirement=st.sampled_from(REQUIREMENTS), limit=st.sampled_from(LIMITS))
def test_local_recoding_loses_no_more_and_leaves_nothing_that_could_stay(
    rows: Any, requirement: Any, limit: Any
) -> None:
    need = requirement[0]
    try:
        best = found_by(rows, need, sf.Loss(), limit).best
        found = sf.search(
            people(rows),
            [sf.Lattice(recode="local", max_suppressed=limit)],
            require=need,
            hierarchies=HIERARCHIES,
            seed=1,
        )
        release = found.publish().release
    except sf.Infeasible:
        return
    assert found.best.suppressed == release.n_suppressed
    assert need.holds(release.evidence()).holds
    if need.grows:
        assert found.best.suppressed <= best.suppressed
        assert found.best.score <= best.score + 1e-9
        assert release.n_suppressed < need.least


@laws
@given(rows=tables(), requirement=st.sampled_from(REQUIREMENTS), limit=st.sampled_from(LIMITS))
def test_a_published_node_keeps_what_was_asked(rows: Any, requirement: Any, limit: Any) -> None:
    need, _ = requirement
    method = sf.Lattice(max_suppressed=limit)
    try:
        release = sf.publish(people(rows), method, require=need, hierarchies=HIERARCHIES, seed=1).release
    except sf.Infeasible:
        return
    evidence = release.evidence()
    assert evidence is not None and evidence.n_groups and need.holds(evidence).holds
    assert release.n_suppressed <= limit * len(rows)
    assert release.worlds().n_rows == len(rows)


def test_a_search_is_taken_up_again(tmp_path: Any) -> None:
    rows = [
        {"town": t, "job": j, "flag": "yes", "sick": "flu"} for t in ("Aa", "Bb", "Cc") for j in ("joiner", "smith")
    ]
    memory = tmp_path / "search.json"
    first = sf.search(people(rows), sf.Lattice(), require=sf.KAnonymity(2), hierarchies=HIERARCHIES, memory=memory)
    assert memory.exists() and "Aa" not in memory.read_text() and "flu" not in memory.read_text()
    again = sf.search(people(rows), sf.Lattice(), require=sf.KAnonymity(2), hierarchies=HIERARCHIES, memory=memory)
    assert again.best.score == first.best.score and again.lattice.nodes.n_looked == first.lattice.nodes.n_looked
    other = sf.search(people(rows[:-1]), sf.Lattice(), require=sf.KAnonymity(2), hierarchies=HIERARCHIES, memory=memory)
    fresh = sf.search(people(rows[:-1]), sf.Lattice(), require=sf.KAnonymity(2), hierarchies=HIERARCHIES)
    assert other.best.score == fresh.best.score


EXTREME = [
    *((sf.Loss(aggregate=a, gs_factor=g), None) for a in ("arithmetic_mean", "geometric_mean", "max") for g in (0, 1)),
    *((sf.NonUniformEntropy(gs_factor=g), None) for g in (0, 1)),
    *((sf.Precision(gs_factor=g), None) for g in (0, 1)),
    *((sf.AverageClassSize(gs_factor=g), None) for g in (0, 0.1, 1)),
    *((sf.ClassificationMetric(on="sick", gs_factor=g), None) for g in (0, 1)),
]


@pytest.mark.parametrize("metric", [metric for metric, _ in (*METRICS, *EXTREME)], ids=repr)
@settings(laws, max_examples=10)
@given(rows=tables(), requirement=st.sampled_from(REQUIREMENTS))
def test_no_coarser_node_scores_below_a_bound(rows: Any, metric: Any, requirement: Any) -> None:
    """What search rules out by: bounds from levels alone, and floors of nodes looked at."""
    import numpy as np

    from sfumato.methods.fulldomain.walking import in_order
    from sfumato.methods.preparation import prepared_for

    method = sf.Lattice(metric=metric, max_suppressed=1)
    prepared = prepared_for(people(rows), method, [requirement[0]], HIERARCHIES)
    nodes = method.search(prepared, [requirement[0]]).nodes
    listed = [nodes.scored(node) for node in in_order(nodes.space)]
    bounds = nodes.scorer.bounds(np.array([one.node for one in listed]))
    for i, one in enumerate(listed):
        coarser = [o.score for o in listed if o.n_groups and all(a <= b for a, b in zip(one.node, o.node, strict=True))]
        if isinstance(one.score, tuple) or not coarser:
            continue
        least = min(coarser) + 1e-9 * max(1.0, abs(min(coarser)))
        assert one.floor <= least
        assert bounds is None or bounds[i] <= least


@laws
@given(rows=tables(), requirement=st.sampled_from(REQUIREMENTS), limit=st.sampled_from(LIMITS))
def test_what_is_ruled_out_would_not_be_allowed(rows: Any, requirement: Any, limit: Any) -> None:
    """A node that says it is hopeless has no allowed node below."""
    from sfumato.methods.fulldomain.walking import in_order
    from sfumato.methods.preparation import prepared_for

    method = sf.Lattice(max_suppressed=limit)
    try:
        prepared = prepared_for(people(rows), method, [requirement[0]], HIERARCHIES)
    except sf.Infeasible:
        return
    nodes = method.search(prepared, [requirement[0]]).nodes
    listed = [nodes.scored(node) for node in in_order(nodes.space)]
    for one in listed:
        below = [o for o in listed if all(a <= b for a, b in zip(o.node, one.node, strict=True))]
        assert not (one.hopeless and any(o.allowed for o in below))


@pytest.mark.slow
@settings(laws, max_examples=3_000)
@given(
    rows=tables(),
    requirement=st.sampled_from(REQUIREMENTS),
    metric=st.sampled_from(METRICS),
    limit=st.sampled_from([0, Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), 1]),
)
def test_every_node_agrees_at_length(rows: Any, requirement: Any, metric: Any, limit: Any) -> None:
    compare(rows, *requirement, *metric, limit)
