"""Every fact of every primitive equals full enumeration on thousands of tiny instances."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

from sfumato.outcomes import Sense
from sfumato.worlds.laws import law
from tests.oracles.worlds import Facts, PlainMap, covariance, facts, mean
from tests.worlds.instances import anything, row_map

SEEDS = range(1200)
NEAR = {"rtol": 1e-10, "atol": 1e-10}


def instance(seed: int) -> tuple[Any, PlainMap, dict[tuple[int, int], Facts]]:
    random = Random(seed)
    made, worlds, sizes = anything(random)
    rows = row_map(random, tuple(sizes))
    outcomes = made.outcomes(rows)
    told = {(key, j): facts(worlds, rows, key, j) for key in range(rows.n_keys) for j in range(-1, rows.n_values)}
    assert outcomes.n_keys == rows.n_keys
    return outcomes, rows, told


CASES: dict[int, tuple[Any, PlainMap, dict[tuple[int, int], Facts]]] = {}


def case(seed: int) -> tuple[Any, PlainMap, dict[tuple[int, int], Facts]]:
    if seed not in CASES:
        CASES[seed] = instance(seed)
    return CASES[seed]


def numbers(told: Facts, summed: bool) -> list[float]:
    return told.sums if summed else [float(n) for n in told.counts]


@pytest.mark.parametrize("block", range(10))
def test_moments(block: int) -> None:
    for seed in SEEDS[block::10]:
        outcomes, rows, told = case(seed)
        weights = [(j, s) for j in range(-1, rows.n_values) for s in ((False,) if j < 0 else (False, True))]
        means, covariances = outcomes.moments(weights)
        for key in range(rows.n_keys):
            lists = [numbers(told[key, j], s) for j, s in weights]
            np.testing.assert_allclose(means[:, key], [mean(x) for x in lists], **NEAR, err_msg=str(seed))
            expected = [[covariance(x, y) for y in lists] for x in lists]
            np.testing.assert_allclose(covariances[:, :, key], expected, **NEAR, err_msg=str(seed))


@pytest.mark.parametrize("block", range(10))
def test_covariance_across_keys(block: int) -> None:
    for seed in SEEDS[block::10]:
        outcomes, rows, told = case(seed)
        for j, summed in [(-1, False)] + [(j, s) for j in range(rows.n_values) for s in (False, True)]:
            lists = [numbers(told[key, j], summed) for key in range(rows.n_keys)]
            expected = np.array([[covariance(x, y) for y in lists] for x in lists]).reshape(rows.n_keys, rows.n_keys)
            np.testing.assert_allclose(outcomes.cross((j, summed)), expected, **NEAR, err_msg=str(seed))


@pytest.mark.parametrize("block", range(10))
def test_extremes(block: int) -> None:
    for seed in SEEDS[block::10]:
        outcomes, rows, told = case(seed)
        random = Random(seed + 1)
        for j, slope, sense in itertools.product(range(-1, rows.n_values), (0.0, 1.0, -1.0, 0.3), ("max", "min")):
            shift = np.array([random.choice([0.0, 1.0, -1.0, -2.0, 0.25]) for _ in range(rows.n_keys)])
            found, attained = outcomes.extreme(j, slope, shift, sense)
            assert attained
            for key in range(rows.n_keys):
                check_extreme(
                    told[key, j], slope, float(shift[key]), sense, tuple(x[key] for x in vars(found).values())
                )


def check_extreme(told: Facts, slope: float, shift: float, sense: Sense, found: tuple[float, ...]) -> None:
    pairs = list(zip(told.counts, told.sums, strict=True))
    totals = [slope * s + shift * n for n, s in pairs]
    best = max(totals) if sense == "max" else min(totals)
    assert found[0] == pytest.approx(best, rel=1e-12, abs=1e-12)
    if all(float(x).is_integer() for x in (slope, shift, *told.sums, *(t or 0 for t in told.tops + told.bottoms))):
        assert abs(found[0] - best) < 1e-12
    else:
        # Outwards: what the exact optimum is, in exact arithmetic, never lies beyond.
        assert found[0] >= best - 1e-15 if sense == "max" else found[0] <= best + 1e-15
    witness = [(n, s) for n, s in pairs if n == found[1] and abs(s - found[2]) < 1e-12]
    assert witness
    assert slope * found[2] + shift * found[1] == pytest.approx(best, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("block", range(10))
def test_laws_of_counts(block: int) -> None:
    for seed in SEEDS[block::10]:
        outcomes, rows, told = case(seed)
        for j in range(-1, rows.n_values):
            absent = outcomes.absent(j)
            for key in range(rows.n_keys):
                seen = Counter(told[key, j].counts)
                n = sum(seen.values())
                assert absent[key] == pytest.approx(seen[0] / n, abs=1e-10), seed
                found = law(outcomes, j, key)
                assert found is not None
                assert found.pmf.sum() == pytest.approx(1)
                got = {found.offset + i: p for i, p in enumerate(found.pmf.tolist())}
                for count in set(got) | set(seen):
                    assert got.get(count, 0.0) == pytest.approx(seen[count] / n, abs=1e-10), seed


@pytest.mark.parametrize("block", range(10))
def test_averages(block: int) -> None:
    for seed in SEEDS[block::10]:
        outcomes, rows, told = case(seed)
        for j in range(rows.n_values):
            found = outcomes.average(j)
            for key in range(rows.n_keys):
                pairs = zip(told[key, j].counts, told[key, j].sums, strict=True)
                ratios = [s / n for n, s in pairs if n]
                if ratios:
                    assert found[key] == pytest.approx(mean(ratios), rel=1e-10, abs=1e-10), seed
                else:
                    assert math.isnan(found[key])


@pytest.mark.parametrize("block", range(10))
def test_caps(block: int) -> None:
    for seed in SEEDS[block::10]:
        outcomes, rows, told = case(seed)
        for j, sense in itertools.product(range(rows.n_values), ("max", "min")):
            caps = outcomes.caps(j, sense)
            sign = 1 if sense == "max" else -1
            assert (np.diff(sign * caps.thresholds) > 0).all()
            for key in range(rows.n_keys):
                ends = told[key, j].tops if sense == "max" else told[key, j].bottoms
                check_caps(caps, key, sign, ends, seed)


def check_caps(caps: Any, key: int, sign: int, ends: list[float | None], seed: int) -> None:
    within = [[e is None or sign * e <= sign * t for e in ends] for t in caps.thresholds]
    share = [sum(w) / len(w) for w in within]
    np.testing.assert_allclose(np.exp(caps.log_within[key]), share, atol=1e-10, err_msg=str(seed))
    assert caps.attained
    show = [any(x and e is not None for x, e in zip(w, ends, strict=True)) for w in within]
    assert caps.can_show[key].tolist() == show, seed
    met = {e for e in ends if e is not None}
    # Ends are values some world counts; every possible value below the greatest end is not an end itself.
    assert met <= {t for t, p in zip(caps.thresholds.tolist(), caps.possible[key].tolist(), strict=True) if p}, seed
