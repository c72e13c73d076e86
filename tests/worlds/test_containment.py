"""`contains` says yes exactly to the tables that enumeration lists."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from sfumato.chance import Seeded
from sfumato.worlds.alternatives import Alternatives
from sfumato.worlds.bijection import Bijection
from sfumato.worlds.blocks import Blocks
from sfumato.worlds.placing import Boxes
from tests.oracles.worlds import World, same_table
from tests.worlds.instances import anything, codes, domains


def as_codes(columns: tuple[str, ...], rows: World) -> dict[str, Any]:
    return {c: codes([row[c] for row in rows]) for c in columns}


def altered(random: Random, world: World, sizes: dict[str, int]) -> World:
    """A world with one cell changed, or two cells of one column swapped, or a row lost."""
    rows = [dict(row) for row in world]
    how, c = random.randrange(4), random.choice(list(sizes))
    one, two = random.randrange(len(rows)), random.randrange(len(rows))
    if how == 0:
        rows[one][c] = random.randrange(sizes[c])
    elif how < 3:
        rows[one][c], rows[two][c] = rows[two][c], rows[one][c]
    else:
        rows.pop()
    return rows


@pytest.mark.parametrize("block", range(4))
def test_equals_enumeration(block: int) -> None:
    answers = {True: 0, False: 0}
    for seed in range(block, 480, 4):
        random = Random(seed)
        made, worlds, sizes = anything(random)
        table = altered(random, random.choice(worlds), sizes)
        if not table:
            continue
        expected = any(same_table(made.columns, table, world) for world in worlds)
        assert made.contains(as_codes(made.columns, table)) == expected, seed
        answers[expected] += 1
    assert min(answers.values()) > 20


def test_slots_that_occur_in_several_groups_need_a_search() -> None:
    """Every slot tuple and value occurs in every group: no choice is forced at first."""
    n_groups = 40
    random = Random(1)
    slots = {"a": codes([random.randrange(3) for _ in range(4 * n_groups)])}
    values = {"b": codes([random.randrange(3) for _ in range(4 * n_groups)])}
    group = np.repeat(np.arange(n_groups), 4)
    made = Bijection(("a", "b"), domains({"a": 3, "b": 3}), slots, group, values, group)
    chance = Seeded(1)
    assert made.contains(made.sample(chance))
    wrong = {name: column.copy() for name, column in made.sample(chance).items()}
    wrong["b"] = np.sort(wrong["b"])
    wrong["a"] = np.sort(wrong["a"])
    # All equal slots meet all equal values: too few crossings for any world.
    crossings = {tuple(pair) for pair in np.stack([wrong["a"], wrong["b"]]).T.tolist()}
    assert len(crossings) < 9
    assert not made.contains(wrong)


def test_values_outside_the_list_fit_where_they_may() -> None:
    low, high = {"a": codes([0, 1])}, {"a": codes([2, 1])}
    weight = np.array([2, 1])
    closed = Alternatives(("a",), domains({"a": 3}), low, high, weight)
    open_ = Alternatives(("a",), domains({"a": 3}), low, high, weight, unknown=frozenset("a"))
    assert closed.contains({"a": codes([2, 0, 1])})
    assert not closed.contains({"a": codes([2, -1, 1])})
    assert open_.contains({"a": codes([-1, -1, -1])})
    assert not open_.contains({"a": codes([2, 2, 2])})
    assert not open_.contains({"a": codes([2, 2])})


def test_suppressed_rows_take_what_groups_leave() -> None:
    group = np.array([0, 0])
    columns = {"a": 2, "b": 2}
    part = Bijection(("a", "b"), domains(columns), {"a": codes([0, 1])}, group, {"b": codes([0, 1])}, group)
    rest = Alternatives(
        ("a", "b"),
        domains(columns),
        {"a": codes([0]), "b": codes([0])},
        {"a": codes([1]), "b": codes([1])},
        np.array([1]),
        unknown=frozenset("b"),
    )
    made = Blocks((part, rest))
    assert made.contains({"a": codes([0, 1, 0]), "b": codes([1, 0, -1])})
    assert made.contains({"a": codes([0, 1, 1]), "b": codes([1, 1, 0])})
    assert not made.contains({"a": codes([0, 0, 0]), "b": codes([1, 0, -1])})


def test_a_table_as_large_as_a_release() -> None:
    """10,000 rows in 1,000 overlapping boxes."""
    random = np.random.default_rng(2)
    sizes = {"a": 90, "b": 500, "c": 3}
    low = {c: random.integers(0, n, 1000).astype(np.int32) for c, n in sizes.items()}
    high = {c: np.minimum(low[c] + random.integers(0, n // 3, 1000), n - 1).astype(np.int32) for c, n in sizes.items()}
    made = Alternatives(tuple(sizes), domains(sizes), low, high, np.full(1000, 10))
    drawn = dict(made.sample(Seeded(1)))
    assert made.contains(drawn)
    far = {c: column.copy() for c, column in drawn.items()}
    for c in sizes:
        far[c][0] = 0 if low[c].min() > 0 else sizes[c] - 1
    inside = np.ones(1000, dtype=bool)
    for c in sizes:
        inside &= (low[c] <= far[c][0]) & (far[c][0] <= high[c])
    if not inside.any():
        assert not made.contains(far)


def test_points_in_boxes_equal_the_plain_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.worlds.placing.FEW_PAIRS", 16)
    random = np.random.default_rng(3)
    points = [random.integers(-1, 8, 200) for _ in range(3)]
    low = [random.integers(0, 6, 50) for _ in range(3)]
    high = [start + random.integers(0, 3, 50) for start in low]
    unknown = [False, True, False]
    point, box = Boxes(points, low, high, unknown).pairs()
    expected = {
        (p, b)
        for p in range(200)
        for b in range(50)
        if all(low[c][b] <= points[c][p] <= high[c][b] or (unknown[c] and points[c][p] < 0) for c in range(3))
    }
    assert set(zip(point.tolist(), box.tolist(), strict=True)) == expected
    assert len(point) == len(expected)
