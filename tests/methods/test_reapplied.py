"""A published recoding on new rows: every region contains its value, and every promise counted by hand on both."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.dataset import codes_on
from sfumato.methods.tables.placing import holding
from tests.contracts.cases import QUASI, people, rules, tables

laws = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
quasis = st.lists(st.sampled_from(QUASI), min_size=1, max_size=2, unique=True).map(tuple)
needs = st.sampled_from(
    [
        [sf.KAnonymity(2)],
        [sf.KAnonymity(1)],
        [sf.LDiversity(2, on="disease")],
        [sf.KAnonymity(2), sf.TCloseness(0.6, on="disease")],
        [sf.TCloseness(0.5, on="pay", distance="ordered")],
        [sf.AlphaK(0.7, 2, on="disease")],
    ]
)


def within(domain: Any, low: int, high: int, value: Any) -> bool | None:
    """Whether a region holds a value, from its leaves one by one; None when the package does not tell."""
    leaves = domain.with_missing().to_pylist()
    if value in [leaf for code, leaf in enumerate(leaves) if low <= code <= high and code not in domain.withheld]:
        return True
    if value is None or domain.region != "range":
        hidden = any(low <= code <= high for code in domain.withheld)
        return None if hidden and value is not None and value not in leaves else False
    inner = leaves[: domain.n_values]
    return (domain.open_low and low == 0 and value < inner[0]) or (
        domain.open_high and low < domain.n_values <= high + 1 and value > inner[-1]
    )


def by_hand(release: Any, rows: list[dict[str, Any]]) -> list[set[int] | None]:
    """The groups' boxes that hold each row; None when a value that is not listed decides."""
    old = release.published()
    found: list[set[int] | None] = []
    boxes = {tuple((int(old.low[c][g]), int(old.high[c][g])) for c in old.regions) for g in range(old.n_groups)}
    for row in rows:
        said = {
            box: [within(old.domains[c], *ends, row[c]) for c, ends in zip(old.regions, box, strict=True)]
            for box in boxes
        }
        if any(None in one and False not in one for one in said.values()):
            found.append(None)
        else:
            found.append({box for box, one in said.items() if all(one)})
    return found


def classes(tables_of: list[pa.Table], quasi: tuple[str, ...]) -> dict[Any, list[dict[str, Any]]]:
    """Published rows whose labels look alike, over all these tables; ranks differ between packages."""
    found = defaultdict(list)
    for table in tables_of:
        for row in table.to_pylist():
            found[tuple(row[c] for c in quasi)].append(row)
    return found


def anything(labels: Any) -> set[Any]:
    """Labels where "any value" is written in one way, whether or not a cell may also be missing."""
    return {tuple("*" if label == "(.., ..)" else label.removesuffix(" or missing") for label in one) for one in labels}


def holds(need: Any, alike: dict[Any, list[dict[str, Any]]]) -> bool:
    """The promise from its definition; models that read the whole table are left to their own tests."""
    if need.model in ("k-anonymity", "alpha-k") and min(map(len, alike.values())) < need.k:
        return False
    if need.model == "l-diversity":
        return all(len({row["disease"] for row in rows}) >= need.l for rows in alike.values())
    if need.model == "alpha-k":
        most = [max(Counter(row["disease"] for row in rows).values()) / len(rows) for rows in alike.values()]
        return max(most) <= need.alpha
    return True


@laws
@given(old=tables(least=4, most=10), new=tables(least=2, most=12), quasi=quasis, need=needs, flat=st.booleans())
def test_new_rows_lie_in_their_regions_and_promises_hold_on_both(
    old: pa.Table, new: pa.Table, quasi: tuple[str, ...], need: list[Any], flat: bool, tmp_path_factory: Any
) -> None:
    try:
        hierarchies = {} if flat else rules(quasi)
        release = sf.publish(people(old, quasi), sf.Mondrian(), require=need, hierarchies=hierarchies, seed=1)
        made = sf.reapply(release, new, seed=2)
    except (sf.Infeasible, sf.SchemaError):
        assume(False)
        raise
    rows, tally = new.to_pylist(), made.tally
    assert tally is not None and tally.n_rows == made.release.n_rows == new.num_rows
    lost = tally.n_nowhere + tally.n_several + tally.n_failing_alone + tally.n_failing_together
    assert tally.n_published == new.num_rows - lost == made.release.tables()["data"].num_rows
    boxes = by_hand(release.release, rows)
    if None not in boxes:
        assert tally.n_nowhere == sum(not one for one in boxes)
        assert tally.n_several == sum(len(one) > 1 for one in boxes)
        single = Counter(next(iter(one)) for one in boxes if len(one) == 1)
        if need == [sf.KAnonymity(2)]:
            assert tally.n_published == sum(n for n in single.values() if n >= 2)
    worlds = made.worlds()
    assert worlds.contains(codes_on(people(new, quasi), worlds.domains))
    first, second = release.release.tables()["data"], made.release.tables()["data"]
    for one in need:
        assert holds(one, classes([second], quasi)) and holds(one, classes([first, second], quasi))
    assert anything(classes([second], quasi)) <= anything(classes([first], quasi))
    folder = tmp_path_factory.mktemp("reapplied")
    assert made.save(folder / "new", allow_seeded=True).holds
    assert (
        sf.open(folder / "new")
        .worlds()
        .contains(codes_on(people(new, quasi), sf.open(folder / "new").worlds().domains))
    )


@laws
@given(old=tables(least=4, most=10), quasi=quasis, twice=st.booleans())
def test_the_same_rows_again_are_published_as_they_were(old: pa.Table, quasi: tuple[str, ...], twice: bool) -> None:
    """What lies in one box only comes back in it."""
    release = sf.publish(people(old, quasi), sf.Mondrian(), require=sf.KAnonymity(2), hierarchies=rules(quasi), seed=1)
    again = pa.concat_tables([old, old]) if twice else old
    try:
        made = sf.reapply(release, again, several="innermost", hierarchies=rules(quasi))
    except sf.Infeasible:
        assume(False)
        raise
    assert made.tally is not None and made.tally.n_nowhere == 0


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), shape=st.tuples(st.integers(0, 40), st.integers(0, 30), st.integers(1, 3)))
def test_points_in_boxes_are_those_of_every_pair(seed: int, shape: tuple[int, int, int]) -> None:
    n_points, n_boxes, d = shape
    draw = np.random.default_rng(seed)
    points = draw.integers(-1, 6, (n_points, d)).astype(np.int32)
    low = draw.integers(0, 6, (n_boxes, d)).astype(np.int32)
    high = low + draw.integers(0, 4, (n_boxes, d)).astype(np.int32)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sfumato.methods.tables.placing.SMALL", 8)
        point, box = holding(points, low, high)
    wanted = [
        (p, b)
        for p in range(n_points)
        for b in range(n_boxes)
        if all(low[b, j] <= points[p, j] <= high[b, j] for j in range(d))
    ]
    assert list(zip(point.tolist(), box.tolist(), strict=True)) == wanted


OLD = pa.table({"age": [20, 21, 30, 31] * 3, "town": ["Aa", "Bb", "Cc", "Dd"] * 3, "ill": ["x", "y", "z"] * 4})


def published(need: Any = None, **more: Any) -> Any:
    data = sf.read(OLD, name="old").roles(quasi=["age", "town"], sensitive=["ill"])
    return sf.publish(data, sf.Mondrian(), require=need or sf.KAnonymity(3), **more)


def test_the_recipe_says_what_it_follows_and_no_reason_of_suppression() -> None:
    new = pa.table({"age": [20] * 3 + [99], "town": ["Aa"] * 3 + ["Zz"], "ill": ["x", "y", "new", "z"]})
    made = sf.reapply(published(hierarchies={"age": sf.intervals(1, low=20, high=40)}), new)
    assert made.recipe.method == "reapply" and made.recipe.parameters["of"] == "old"
    assert made.tally is not None and made.tally.n_nowhere == 1 and made.tally.n_published == 3
    notes = " ".join(made.recipe.notes)
    assert "12 published rows of 'old'" in notes and "intersect" in notes and "region" not in notes
    answer = made.sql("SELECT count(*) AS n FROM data WHERE age > 40").rows()[0]
    assert (answer["n__lo"], answer["n__hi"]) == (0, 1)


def test_strict_refuses_what_would_be_suppressed() -> None:
    new = pa.table({"age": [20] * 3 + [30], "town": ["Aa"] * 3 + ["Cc"], "ill": ["x", "y", "z", "z"]})
    release = published()
    made = sf.reapply(release, new)
    assert made.tally is not None and made.tally.n_failing_alone == 1
    with pytest.raises(sf.Infeasible, match="1 lie in groups that fail on the new rows alone"):
        sf.reapply(release, new, strict=True)


def test_values_under_a_label_are_placed_by_their_hierarchy(tmp_path: Path) -> None:
    codes = [f"{n}.{i}" for n in (250, 401) for i in range(6)] * 2
    old = sf.read(pa.table({"icd": codes}), name="old").roles(quasi=["icd"])
    rule = {"icd": sf.prefixes(".")}
    sf.publish(old, sf.Mondrian(), require=sf.KAnonymity(5), hierarchies=rule).save(tmp_path / "old")
    new = pa.table({"icd": ["250.77"] * 3 + ["250.78"] * 3 + ["401.1"] * 2 + ["999.9"]})
    with pytest.raises(sf.Infeasible):
        sf.reapply(tmp_path / "old", new)
    made = sf.reapply(tmp_path / "old", new, hierarchies=rule)
    assert made.tally is not None and (made.tally.n_published, made.tally.n_nowhere) == (6, 1)
    assert set(made.release.tables()["data"]["icd"].to_pylist()) == {"250.*"}
    assert made.save(tmp_path / "new").holds


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda t: t.drop_columns(["town"]), sf.SchemaError, "lack town"),
        (lambda t: t.set_column(2, "ill", pa.array([1] * 12)), None, ""),
        (lambda t: t.set_column(0, "age", pa.array(["old"] * 12)), sf.Infeasible, "no published region"),
    ],
)
def test_rows_that_do_not_fit_are_refused_in_words(change: Any, error: Any, words: str) -> None:
    if error is None:
        assert sf.reapply(published(), change(OLD)).release.n_rows == 12
        return
    with pytest.raises(error, match=words) as refused:
        sf.reapply(published(), change(OLD))
    assert "Aa" not in str(refused.value)


def test_what_no_package_can_judge_is_refused() -> None:
    data = sf.read(OLD).roles(quasi=["age"], sensitive=["ill"])
    with pytest.raises(sf.Incompatible, match="no regions"):
        sf.reapply(sf.publish(data, sf.Anatomy(), require=sf.LDiversity(2, on="ill")), OLD)
    persons = sf.read(OLD.append_column("who", pa.array([*range(6)] * 2)))
    counted = persons.roles(quasi=["age"], sensitive=["ill"], unit="who")
    release = sf.publish(counted, sf.Mondrian(), require=sf.KAnonymity(2))
    with pytest.raises(sf.Incompatible, match="Persons with several rows"):
        sf.reapply(release, OLD)
    with pytest.raises(sf.Incompatible, match="Persons with several rows"):
        sf.reapply(published(), persons.roles(unit="who"))
    ordered = published(sf.TCloseness(0.9, on="ill", distance="ordered"), hierarchies={"ill": sf.ordered("zyx")})
    with pytest.raises(sf.ParameterError, match="hierarchies="):
        sf.reapply(ordered, OLD.set_column(2, "ill", pa.array(["w"] * 12)))
    assert sf.reapply(ordered, OLD).release.n_rows == 12
