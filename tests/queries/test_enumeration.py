"""Answers equal enumeration: every world of tiny releases, the original SQL run by DuckDB on each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.oracles.queries import Oracle, Row, Shape, Truth, oracles
from tests.queries.agreement import mismatches, wrong_quantiles
from tests.queries.tiny import SHAPES, release, shape


def chance_of(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=seed))


def test_there_are_enough_shapes() -> None:
    assert len({one.sql() for one in SHAPES}) >= 60


def compared(seeds: range, room: int, asked: Sequence[Shape]) -> tuple[int, list[str]]:
    """Comparisons made and mismatches found on some releases; each query runs once on all of their worlds."""
    made = [release(chance_of(seed), room) for seed in seeds]
    known = oracles([tiny for _, tiny in made])
    n, found = 0, []
    for one in asked:
        for seed, (worlds, _), oracle in zip(seeds, made, known, strict=True):
            found += [f"seed {seed}: {text}" for text in mismatches(worlds, oracle, one)]
            n += 1
    return n, found


@pytest.mark.parametrize("block", range(20))
def test_answers_equal_enumeration(block: int) -> None:
    """Fifty releases a block, ten for five shapes; over all blocks every shape meets at least fifty releases."""
    for part in range(5):
        first = 5 * (5 * block + part)
        asked = [SHAPES[i % len(SHAPES)] for i in range(first, first + 5)]
        seeds = range(50 * block + 10 * part, 50 * block + 10 * part + 10)
        assert compared(seeds, 40, asked) == (50, [])


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
        answer = mismatches(worlds, _Fixed(oracle, truth), shape("count(*)", where=asked))
        wrong += bool(answer)
    assert wrong >= 2


class _Fixed(Oracle):
    """An oracle that always says the same of rows and values."""

    def __init__(self, other: Oracle, truth: dict[Row, Truth]) -> None:
        super().__init__(other.tiny, other.stack, other.place)
        self.truth = truth

    def truths(self, _: Shape) -> dict[Row, Truth]:
        return self.truth


@pytest.mark.slow
@pytest.mark.parametrize("block", range(40))
def test_thousands_of_releases_equal_enumeration(block: int, capsys: pytest.CaptureFixture[str]) -> None:
    """1,000 larger releases on all shapes."""
    seeds = range(100_000 + 25 * block, 100_025 + 25 * block)
    n, found = compared(seeds, 250, SHAPES)
    with capsys.disabled():
        print(f"\n{len(seeds)} releases, {n} comparisons, {len(found)} mismatches", end="")
    assert found == []
