"""Answers equal enumeration: every world of tiny releases, the original SQL run by DuckDB on each."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles.queries import Oracle
from tests.queries.agreement import mismatches, wrong_quantiles
from tests.queries.tiny import SHAPES, release, shape


def chance_of(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=seed))


def test_there_are_enough_shapes() -> None:
    assert len({one.sql() for one in SHAPES}) >= 60


@pytest.mark.parametrize("seed", range(24))
def test_answers_equal_enumeration(seed: int) -> None:
    """Three shapes out of four a release would take minutes; each release takes its own share."""
    chance = chance_of(seed)
    worlds, tiny = release(chance, 60)
    oracle = Oracle(tiny)
    asked = chance.permutation(len(SHAPES))[:12]
    assert [one for i in asked for one in mismatches(worlds, oracle, SHAPES[i])] == []


@pytest.mark.parametrize("seed", range(100, 102))
def test_quantiles_of_counts_and_extremes_come_from_the_exact_law(seed: int) -> None:
    chance = chance_of(seed)
    worlds, tiny = release(chance, 60)
    oracle = Oracle(tiny)
    for one in SHAPES:
        first = one.outputs[0].split("(")[0]
        if len(one.outputs) == 1 and first in ("count", "min", "max", "2 * count") and not one.limit:
            if " - " in one.outputs[0] or "/ count" in one.outputs[0] or one.having:
                continue
            assert wrong_quantiles(worlds, oracle, one) == []


def test_one_table_of_all_worlds_says_the_same_as_a_loop_over_worlds() -> None:
    """The oracle's shortcut against the plain loop."""
    chance = chance_of(3)
    _, tiny = release(chance, 12)
    oracle = Oracle(tiny)
    for one in SHAPES[1::9]:
        if one.limit:
            continue
        for plain in (True, False):
            fast = oracle.in_each_world(one, plain=plain)
            slow = oracle.in_each_world(one, plain=plain, stacked=False)
            assert [sorted(map(repr, rows)) for rows in fast] == [sorted(map(repr, rows)) for rows in slow], one.sql()


def test_the_comparison_notices_what_is_wrong() -> None:
    """The same release under a query that differs a little is a mismatch."""
    chance = chance_of(5)
    worlds, tiny = release(chance, 60)
    oracle = Oracle(tiny)
    wrong = 0
    for asked, meant in (("age > 20", "age >= 20"), ("sex = 'M'", "sex <> 'M'"), ("pay > 0", "pay > 10")):
        truth = oracle.truths(shape("count(*)", where=meant))
        answer = mismatches(worlds, _Fixed(truth), shape("count(*)", where=asked))  # type: ignore[arg-type]
        wrong += bool(answer)
    assert wrong >= 2


class _Fixed:
    """An oracle that always says the same."""

    def __init__(self, truth: object) -> None:
        self.truth = truth

    def truths(self, _: object) -> object:
        return self.truth


@pytest.mark.slow
@pytest.mark.parametrize("block", range(40))
def test_thousands_of_releases_equal_enumeration(block: int) -> None:
    for seed in range(1000 + 25 * block, 1025 + 25 * block):
        chance = chance_of(seed)
        worlds, tiny = release(chance, 250)
        oracle = Oracle(tiny)
        found = [one for asked in SHAPES for one in mismatches(worlds, oracle, asked)]
        assert found == [], f"seed {seed}"
