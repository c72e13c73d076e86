"""Rows that open ends leave undecided: no world of any reading of them lies outside of the bounds.

A row with an undecided condition is in the answer or not; one whose key or values are undecided may count any value
under any key, or nothing. Rows of one enumerated world take their readings independently, so the best world is the
best over enumerated worlds of the sum of each row's best.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
import pytest

from sfumato.worlds.alternatives import Alternatives
from sfumato.worlds.laws import law
from tests.oracles.worlds import PlainMap, Row, World, facts, mean
from tests.worlds.instances import alternatives, anything, row_map

SEEDS = range(450)
INFINITE = math.inf


@dataclass
class Reading:
    """What a row may be under one key: counted with one of `values`, `loose` with any; `free` when it may be out."""

    values: list[float]
    loose: bool
    free: bool


def reading(rows: PlainMap, row: Row, unknown: frozenset[str], key: int, j: int) -> Reading:
    judged = [
        (kept, sure and unknown.isdisjoint(f.columns))
        for f in rows.factors
        for kept, sure in [f.judge({c: row[c] for c in f.columns})]
    ]
    if any(not kept and sure for kept, sure in judged):
        return Reading([], False, True)
    name, values, told = rows.read({c: row[c] for c in rows.core_columns})
    if not told or not unknown.isdisjoint(rows.core_columns):
        return Reading([], True, True)
    value = 1.0 if j < 0 else values[j]
    mine = name is not None and rows.keys[name] == key and not math.isnan(value)
    return Reading([value] if mine else [], False, not mine or not all(sure for _, sure in judged))


def readings(rows: PlainMap, worlds: list[World], unknown: frozenset[str], key: int, j: int) -> list[list[Reading]]:
    """Of every row of every enumerated world."""
    seen: dict[tuple[tuple[str, int], ...], Reading] = {}

    def of(row: Row) -> Reading:
        name = tuple(row.items())
        return seen[name] if name in seen else seen.setdefault(name, reading(rows, row, unknown, key, j))

    return [[of(row) for row in world] for world in worlds]


def best(told: list[Reading], slope: float, shift: float, j: int) -> float:
    """Greatest Σ (slope·v + shift) of one enumerated world."""
    total = 0.0
    for one in told:
        if one.loose:
            total += INFINITE if slope and j >= 0 else max(0.0, slope + shift)
        elif one.values:
            gain = slope * one.values[0] + shift
            total += max(gain, 0.0) if one.free else gain
    return total


def ends(told: list[Reading]) -> tuple[float, float]:
    """Least greatest value of one enumerated world that counts something, and its greatest; NaN where it cannot."""
    values = [v for one in told for v in (one.values or [])]
    forced = [one.values[0] for one in told if one.values and not one.free]
    if any(one.loose for one in told):
        return max(forced, default=-INFINITE), INFINITE
    if not values:
        return math.nan, math.nan
    return max(forced) if forced else min(values), max(values)


def instance(seed: int) -> tuple[Any, PlainMap, list[World], frozenset[str]]:
    """A release with undecided rows; in a third of them some columns hold unlisted values."""
    random = Random(seed)
    if seed % 3:
        made, worlds, sizes = anything(random)
        return made, row_map(random, tuple(sizes), undecided=0.5), worlds, frozenset()
    sizes = {c: random.randint(2, 4) for c in ("a", "b", "c")}
    plain, worlds = alternatives(random, sizes)
    unknown = frozenset(random.sample(list(sizes), random.randint(1, 2)))
    made = replace(plain, unknown=unknown)
    assert isinstance(made, Alternatives)
    return made, row_map(random, tuple(sizes), undecided=random.choice([0.0, 0.5])), worlds, unknown


@pytest.mark.parametrize("block", range(10))
def test_no_reading_of_undecided_rows_lies_outside_of_the_bounds(block: int) -> None:
    for seed in SEEDS[block::10]:
        made, rows, worlds, unknown = instance(seed)
        outcomes = made.outcomes(rows)
        random = Random(seed + 1)
        told = {
            (key, j): readings(rows, worlds, unknown, key, j)
            for key, j in itertools.product(range(rows.n_keys), range(-1, rows.n_values))
        }
        for j, slope, sense in itertools.product(range(-1, rows.n_values), (0.0, 1.0, -1.0), ("max", "min")):
            shift = np.array([random.choice([0.0, 1.0, -1.0, 0.5, -4.0]) for _ in range(rows.n_keys)])
            found, attained = outcomes.extreme(j, slope, shift, sense)
            for key in range(rows.n_keys):
                sign = 1 if sense == "max" else -1
                most = max(best(one, sign * slope, sign * float(shift[key]), j) for one in told[key, j])
                got = sign * float(found.value[key])
                assert got >= most - 1e-12, (seed, j, slope, sense, key)
                # Only rows whose key or value is undecided may make a bound wider than it has to be.
                exact = attained or not any(row.loose for one in told[key, j] for row in one)
                assert not exact or got == pytest.approx(most, abs=1e-12), (seed, j, slope, sense, key)


@pytest.mark.parametrize("block", range(10))
def test_no_least_or_greatest_value_lies_outside_of_the_thresholds(block: int) -> None:
    for seed in SEEDS[block::10]:
        made, rows, worlds, unknown = instance(seed)
        outcomes = made.outcomes(rows)
        for j, sense in itertools.product(range(rows.n_values), ("max", "min")):
            caps = outcomes.caps(j, sense)
            sign = 1 if sense == "max" else -1
            for key in range(rows.n_keys):
                told = readings(rows, worlds, unknown, key, j)
                signed = [[replace(one, values=[sign * v for v in one.values]) for one in world] for world in told]
                near, far = zip(*map(ends, signed), strict=True)
                there = [x for x in near if not math.isnan(x)]
                got = sign * caps.thresholds
                if not there:
                    continue
                most, least = got[caps.possible[key]].max(), got[caps.can_show[key]].min()
                assert least <= min(there) and most >= np.nanmax(far), (seed, j, sense, key)
                assert not caps.attained or (least, most) == (min(there), np.nanmax(far)), (seed, j, sense, key)


@pytest.mark.parametrize("block", range(10))
def test_estimates_are_those_of_listed_leaves(block: int) -> None:
    for seed in SEEDS[block::10]:
        made, rows, worlds, _ = instance(seed)
        outcomes = made.outcomes(rows)
        for key, j in itertools.product(range(rows.n_keys), range(-1, rows.n_values)):
            told = facts(worlds, rows, key, j)
            means = outcomes.moments([(j, False), (j, True)])[0][:, key]
            assert means.tolist() == pytest.approx([mean(told.counts), mean(told.sums)], abs=1e-10), seed
            found = law(outcomes, j, key)
            assert found is not None
            expected = [told.counts.count(found.offset + i) / len(worlds) for i in range(len(found.pmf))]
            np.testing.assert_allclose(found.pmf, expected, atol=1e-10, err_msg=str(seed))
