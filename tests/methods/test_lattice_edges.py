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
