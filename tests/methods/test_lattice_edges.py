"""The edges of searching a lattice: many columns, one level, one value, nothing left, persons, refusals that help."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf


def table(n: int, **columns: Any) -> Any:
    """n rows; a column is a function of the row number."""
    return pa.table({name: pa.array([make(i) for i in range(n)]) for name, make in columns.items()})


def test_seventy_columns_find_a_solution_in_the_time_given() -> None:
    columns = {f"c{j}": (lambda i, j=j: f"v{(i * (2 * j + 1) // 7) % 2}") for j in range(70)}
    people = sf.read(table(200, **columns)).roles(quasi=list(columns))
    found = sf.search(people, sf.Lattice(time_limit=2), require=sf.KAnonymity(3))
    assert found.lattice.nodes.space.n_nodes == 2**70
    best = found.best
    assert best.groups >= 1 and best.suppressed <= 8
    assert best.optimal or (best.gap is not None and 0 <= best.gap <= best.score)
    sizes = found.publish().groups().df()["size"]
    assert sizes.min() >= 3


def test_a_column_of_one_level_is_published_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "city.csv").write_text("Aa\nBb\nCc\n", encoding="utf8")
    people = sf.read(table(9, city=lambda i: ("Aa", "Bb", "Cc")[i % 3], age=lambda i: 20 + i)).roles(
        quasi=["city", "age"]
    )
    rules = {"city": sf.hierarchy_file(tmp_path / "city.csv"), "age": sf.intervals(3, low=20, high=28)}
    found = sf.search(people, sf.Lattice(max_suppressed=0), require=sf.KAnonymity(3), hierarchies=rules)
    assert found.lattice.nodes.space.heights == (1, 1)
    assert found.best.levels == {"city": 0, "age": 1}


def test_a_column_of_one_value_costs_nothing() -> None:
    people = sf.read(table(6, land=lambda i: "XY", age=lambda i: i // 3)).roles(quasi=["land", "age"])
    rules = {"land": sf.suppression(), "age": sf.intervals(1, low=0, high=1)}
    for metric in (
        sf.Loss(),
        sf.Loss(aggregate="geometric_mean"),
        sf.NonUniformEntropy(normalized=True),
        sf.KLDivergence(),
    ):
        found = sf.search(people, sf.Lattice(metric=metric), require=sf.KAnonymity(3), hierarchies=rules)
        assert found.best.optimal and found.best.levels["age"] == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Aa;north;*\nBb;;*\n", "holes"),
        ("Aa;north;land\nBb;north;sea\n", "more than one parent"),
        ("Aa;north;*\nBb;north\n", "fields of the first line"),
    ],
)
def test_files_that_are_no_hierarchy_are_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "city.csv").write_text(text, encoding="utf8")
    people = sf.read(table(4, city=lambda i: ("Aa", "Bb")[i % 2])).roles(quasi=["city"])
    rules = {"city": sf.hierarchy_file(tmp_path / "city.csv")}
    with pytest.raises(sf.SchemaError, match=said) as refused:
        sf.search(people, sf.Lattice(), require=sf.KAnonymity(2), hierarchies=rules)
    assert "Aa" not in str(refused.value)


def test_when_every_row_would_be_suppressed_nothing_is_published() -> None:
    people = sf.read(table(4, age=lambda i: i, sick=lambda i: "flu")).roles(quasi=["age"], sensitive=["sick"])
    for share in (0, 0.5, 1):
        with pytest.raises(sf.Infeasible) as refused:
            sf.publish(people, sf.Lattice(max_suppressed=share), require=sf.LDiversity(2, on="sick"))
        assert refused.value.nearest["l"] == 1
    with pytest.raises(sf.Infeasible) as refused:
        sf.search(people, sf.Lattice(max_suppressed=1), require=sf.KAnonymity(9))
    assert refused.value.nearest["k"] == 4


def test_a_refusal_names_the_suppression_that_would_do() -> None:
    """One row of five has the only other value: entropy fails at the top, and holds once its group is left out."""
    people = sf.read(
        table(7, town=lambda i: "Aa" if i < 4 else "Bb", sick=lambda i: ("flu", "cold")[i % 2] if i < 4 else "flu")
    ).roles(quasi=["town"], sensitive=["sick"])
    need, rules = sf.LDiversity(2, on="sick", kind="entropy"), {"town": sf.groups({"x": ["Aa"], "y": ["Bb"]})}
    with pytest.raises(sf.Infeasible) as refused:
        sf.search(people, sf.Lattice(max_suppressed=0.1), require=need, hierarchies=rules)
    share = refused.value.nearest["max_suppressed"]
    assert sf.search(people, sf.Lattice(max_suppressed=share), require=need, hierarchies=rules).best.suppressed == 3


def test_persons_are_counted_not_their_rows() -> None:
    people = sf.read(
        table(12, person=lambda i: i // 3, age=lambda i: 20 + i // 6, sick=lambda i: ("flu", "cold")[i % 2])
    ).roles(quasi=["age"], sensitive=["sick"], unit="person")
    rules = {"age": sf.intervals(1, low=20, high=21)}
    found = sf.search(people, sf.Lattice(max_suppressed=0), require=sf.KAnonymity(3), hierarchies=rules)
    assert found.best.levels == {"age": 1}
    found = sf.search(people, sf.Lattice(max_suppressed=0), require=sf.KAnonymity(2), hierarchies=rules)
    assert found.best.levels == {"age": 0} and found.publish().recipe.promises[0].achieved == {"k": 2}


def test_a_missing_value_is_a_value_and_protects_nobody() -> None:
    """Three rows without a town do not join the two of Aa, nor hide among all others."""
    people = sf.read(table(5, town=lambda i: "Aa" if i < 2 else None)).roles(quasi=["town"])
    rules = {"town": sf.groups({"x": ["Aa", "Bb"]})}
    found = sf.search(people, sf.Lattice(max_suppressed=0.5), require=sf.KAnonymity(3), hierarchies=rules)
    assert (found.best.levels["town"], found.best.suppressed, found.best.groups) == (0, 2, 1)


def test_hierarchical_distance_of_large_tables_does_not_overflow() -> None:
    """Products of group, table and scale beyond 2³¹ and 2⁶²."""
    from fractions import Fraction

    import numpy as np

    from sfumato.data.codec import Domain, Level
    from sfumato.data.evidence import Counts, Groups

    domain = Domain(
        "text", pa.array(list("abcd")), levels=(Level(np.array([0, 0, 1, 1], np.int32), ("x", "y")),), region="node"
    )
    n = np.array([3_000_000_000, 1_000_000_000, 2_000_000_000, 1_000_000_000, 5_000_000_000])
    group, code = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 3, 2, 3], dtype=np.int32)
    counts = Counts(group, code, n, np.array([0, 3, 5]))
    totals = np.bincount(code, weights=n, minlength=4).astype(np.int64)
    evidence = Groups(np.array([6_000_000_000, 6_000_000_000]), {"s": counts}, {"s": totals}, {"s": domain})
    shares = [Fraction(int(t), int(totals.sum())) for t in totals]
    worst = Fraction(0)
    for g in (0, 1):
        own = [Fraction(int(n[(group == g) & (code == v)].sum()), 6_000_000_000) for v in range(4)]
        leaves = sum(abs(a - b) for a, b in zip(own, shares, strict=True)) / 2
        upper = abs(sum(own[:2]) - sum(shares[:2]))
        worst = max(worst, (leaves + upper) / 2)
    need = sf.TCloseness(worst, on="s", distance="hierarchical")
    assert need.holds(evidence).holds
    assert not sf.TCloseness(worst - Fraction(1, 10**12), on="s", distance="hierarchical").holds(evidence).holds


def test_published_groups_are_those_of_the_node() -> None:
    people = sf.read(table(40, age=lambda i: 20 + i % 10, town=lambda i: "AB"[i % 2])).roles(quasi=["age", "town"])
    rules = {"age": sf.intervals(2, 4, low=20, high=31), "town": sf.suppression()}
    found = sf.search(people, sf.Lattice(max_suppressed=0.2), require=sf.KAnonymity(5), hierarchies=rules)
    for levels in ({"age": 1, "town": 1}, {"age": 0, "town": 1}, {"age": 1, "town": 0}):
        one = found.node(levels)
        if not one.allowed:
            continue
        groups = found.publish(levels).groups().df()
        assert len(groups) == one.groups and groups["size"].sum() == 40 - one.suppressed
    wanted: Any = defaultdict(int)
    for i in range(40):
        wanted[(20 + i % 10 - (20 + i % 10) % 4)] += 1
    groups = found.publish({"age": 1, "town": 1}).groups().df()
    assert Counter(groups["size"].tolist()) == Counter(wanted.values())


def test_a_population_has_one_row_a_person() -> None:
    people = sf.read(table(2, id=lambda i: i, a=lambda i: i + 1)).roles(quasi=["a"], unit="id")
    population = sf.read(pa.table({"id": ["A", "A", "A", "B"], "a": [1, 1, 1, 2]})).roles(quasi=["a"], unit="id")
    for need in (sf.KMap(3, population=population),):
        with pytest.raises(sf.Incompatible, match="several rows"):
            sf.search(people, sf.Lattice(), require=need, hierarchies={"a": sf.intervals(1, low=1, high=2)})


def memories(tmp_path: Path, sick: list[str], tree: Any, metric: Any) -> Any:
    people = sf.read(pa.table({"a": ["x", "x", "y", "y"], "sick": sick})).roles(quasi=["a"], sensitive=["sick"])
    rules = {"a": sf.groups({"all": ["x"], "other": ["y"]}), "sick": sf.groups(tree)}
    need = sf.TCloseness(0.3, on="sick", distance="hierarchical")
    method = sf.Lattice(metric=metric, max_suppressed=0)
    return sf.search(people, method, require=need, hierarchies=rules, memory=tmp_path / "kept.json").best


def test_a_search_of_something_else_is_not_taken_up(tmp_path: Path) -> None:
    """Another tree of the sensitive values, other classes, a file that is none."""
    near, far = {"u": ["p", "q"], "v": ["r", "s"]}, {"u": ["p"], "v": ["q"], "w": ["r"], "x": ["s"]}
    first = memories(tmp_path, ["p", "r", "q", "s"], near, sf.Loss())
    assert memories(tmp_path, ["p", "r", "q", "s"], far, sf.Loss()).levels != first.levels
    same = memories(tmp_path, ["p", "q", "p", "q"], near, sf.ClassificationMetric(on="sick"))
    assert memories(tmp_path, ["p", "q", "q", "q"], near, sf.ClassificationMetric(on="sick")).score != same.score
    for text in ("", "{}", '{"key": 1, "nodes": 2}', "[1]"):
        (tmp_path / "kept.json").write_text(text, encoding="utf8")
        assert memories(tmp_path, ["p", "r", "q", "s"], near, sf.Loss()).levels == first.levels


def test_weights_that_make_scores_negative_are_searched_to_the_end() -> None:
    people = sf.read(table(30, age=lambda i: 20 + i % 10, town=lambda i: "AB"[i % 2])).roles(quasi=["age", "town"])
    rules = {"age": sf.intervals(2, 4, low=20, high=31), "town": sf.suppression()}
    method = sf.Lattice(metric=sf.Loss(aggregate="geometric_mean"), weights={"age": 0.1, "town": 1.0})
    assert sf.search(people, method, require=sf.KAnonymity(4), hierarchies=rules).best.optimal


@pytest.mark.parametrize("seconds", [0, -1])
def test_no_time_is_no_limit_to_search_in(seconds: float) -> None:
    people = sf.read(table(4, age=lambda i: i % 2)).roles(quasi=["age"])
    with pytest.raises(sf.ParameterError, match="more than 0"):
        sf.search(people, sf.Lattice(), require=sf.KAnonymity(2), time_limit=seconds)


def test_what_json_has_no_word_for_is_null() -> None:
    import json

    people = sf.read(table(4, age=lambda i: i % 2)).roles(quasi=["age"])
    rules = {"age": sf.intervals(1, low=0, high=1)}
    for metric in (sf.AverageClassSize(gs_factor=0), sf.Loss(aggregate="rank")):
        found = sf.search(people, sf.Lattice(metric=metric), require=sf.KAnonymity(2), hierarchies=rules)
        json.dumps(found.json(errors=False), allow_nan=False)


def test_where_the_best_node_fails_among_its_own_rows_another_is_published() -> None:
    """Distances against all rows and against the published ones differ; what is published holds on its own."""
    import numpy as np

    n_published = 0
    for seed in range(40):
        chance = np.random.Generator(np.random.Philox(key=seed))
        n = int(chance.integers(20, 60))
        columns = {"a": chance.integers(0, 8, n), "b": chance.integers(0, 4, n)}
        sick = np.array(["p", "q", "r"])[chance.integers(0, 3, n)]
        people = sf.read(pa.table({**columns, "sick": sick})).roles(quasi=["a", "b"], sensitive=["sick"])
        rules = {"a": sf.intervals(1, 2, 4, low=0, high=7), "b": sf.intervals(1, 2, low=0, high=3)}
        need = sf.TCloseness(0.2, on="sick")
        try:
            found = sf.search(people, sf.Lattice(max_suppressed=0.2), require=need, hierarchies=rules)
        except sf.Infeasible:
            continue
        released = found.publish().release
        assert need.holds(released.evidence()).holds and released.n_suppressed <= 0.2 * n
        n_published += 1
    assert n_published > 20


def test_what_an_automatic_grid_cannot_tell_is_lost() -> None:
    """Six values, every ten rows; asked for more rows than two of the values have, nothing of the column is told."""
    people = sf.read(table(60, value=lambda i: 1 + i // 10, town=lambda i: "A")).roles(quasi=["value", "town"])
    scores = [sf.search(people, sf.Lattice(max_suppressed=0), require=sf.KAnonymity(k)).best.score for k in (5, 31)]
    assert scores[0] < scores[1] == 0.5


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda found: found.node({"age": "x"}), "whole numbers"),
        (lambda found: found.node({"age": 9}), "levels 0 to"),
        (lambda found: found.node({"shoe": 1}), "no quasi-identifier"),
        (lambda found: found.to_html("lattice.png"), "neither a page nor a picture"),
    ],
)
def test_wrong_calls_say_what_to_do(call: Any, said: str) -> None:
    people = sf.read(table(8, age=lambda i: i % 2)).roles(quasi=["age"])
    found = sf.search(
        people, sf.Lattice(), require=sf.KAnonymity(2), hierarchies={"age": sf.intervals(1, low=0, high=1)}
    )
    with pytest.raises(sf.ParameterError, match=said):
        call(found)


def test_a_hierarchy_is_made_not_named() -> None:
    people = sf.read(table(8, age=lambda i: i % 2)).roles(quasi=["age"])
    with pytest.raises(sf.ParameterError, match="Make it with"):
        sf.search(people, sf.Lattice(), require=sf.KAnonymity(2), hierarchies={"age": "intervals"})  # type: ignore[dict-item]


def test_the_nearest_can_be_asked_for() -> None:
    """Refused figures, typed back as they are printed, are met."""
    import re

    people = sf.read(table(7, age=lambda i: i, sick=lambda i: "pq"[i % 7 // 5])).roles(
        quasi=["age"], sensitive=["sick"]
    )
    for make in (lambda a: sf.AlphaK(a, 2, on="sick"), lambda a: sf.AlphaK(a, 3, on="sick")):
        with pytest.raises(sf.Infeasible) as refused:
            sf.publish(people, sf.Lattice(max_suppressed=0), require=make(0.5))
        alpha = re.search(r"alpha = ([0-9.]+[0-9])", str(refused.value))
        assert alpha is not None
        sf.publish(people, sf.Lattice(max_suppressed=0), require=make(alpha[1]))


@pytest.mark.parametrize("kind", ["distinct", "entropy", "frequency"])
def test_the_nearest_is_the_most_that_the_allowed_suppression_meets(kind: Any) -> None:
    """By trying: the largest whole l under the same limit."""
    import numpy as np

    n_named = 0
    for seed in range(25):
        chance = np.random.Generator(np.random.Philox(key=seed))
        weights = [0.75, 0.1, 0.1, 0.05]
        sick = np.array(["p", "q", "r", "s"])[chance.choice(4, 30, p=weights)]
        raw = pa.table({"a": chance.integers(0, 6, 30), "sick": sick})
        people = sf.read(raw).roles(quasi=["a"], sensitive=["sick"])
        rules, method = {"a": sf.intervals(1, 2, 4, low=0, high=7)}, sf.Lattice(max_suppressed=0.7)
        asked = 4
        try:
            sf.search(people, method, require=sf.LDiversity(asked, on="sick", kind=kind), hierarchies=rules)
            continue
        except sf.Infeasible as error:
            refused = error
        l = refused.nearest["l"]
        assert sf.search(people, method, require=sf.LDiversity(l, on="sick", kind=kind), hierarchies=rules).best.groups
        more = l + 1  # A whole l was asked for.
        n_named += "there is one as well" in str(refused)
        if more < asked:
            with pytest.raises(sf.Infeasible):
                sf.search(people, method, require=sf.LDiversity(more, on="sick", kind=kind), hierarchies=rules)
    assert n_named > 2 or kind == "distinct"


def test_incognito_does_not_trust_what_coarser_nodes_can_lose() -> None:
    people = sf.read(table(20, a=lambda i: i, b=lambda i: i % 2)).roles(quasi=["a", "b"])
    need = sf.PopulationUniqueness(0.02, estimate="zayatz", population_size=0.2)
    with pytest.raises(sf.Incompatible, match="coarser nodes keep"):
        sf.publish(people, sf.Incognito(max_suppressed=0.05), require=need)


def test_what_is_chosen_decides_what_can_be_met() -> None:
    """The whole population is uneven, the rows that are published are not."""
    people = sf.read(table(300, a=lambda i: 0, sick=lambda i: "x" if i < 280 else "y"))
    people = people.roles(quasi=["a"], sensitive=["sick"])
    need = [
        sf.DeltaPresence(0, 1, subset=list(range(260, 300))),
        sf.LDiversity(1.8, on="sick", kind="entropy"),
    ]
    release = sf.publish(
        people, sf.Lattice(max_suppressed=0), require=need, hierarchies={"a": sf.intervals(1, low=0, high=1)}
    )
    assert release.release.n_rows == 40
