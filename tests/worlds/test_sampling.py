"""Sampled worlds: within the bounds, and with the right moments; sampled tables are worlds."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from sfumato.chance import Seeded
from tests.oracles.worlds import PlainMap, same_table
from tests.worlds.instances import anything, bigger, row_map

N = 400


def check_sampled(outcomes: Any, rows: PlainMap, seed: int, n_worlds: int = N) -> list[float]:
    """Bounds hold in every world; returns the z-scores of the means."""
    found = outcomes.sample(n_worlds, Seeded(seed))
    scores = []
    assert found.rows.shape == (n_worlds, rows.n_keys)
    for j in range(-1, rows.n_values):
        count = found.rows if j < 0 else found.count[:, :, j]
        total = count if j < 0 else found.sum[:, :, j]
        for slope, series in ((0.0, count), (1.0, total)):
            shift = np.full(rows.n_keys, 1.0 - slope)
            most, least = (outcomes.extreme(j, slope, shift, sense)[0].value for sense in ("max", "min"))
            assert (series <= most + 1e-9).all() and (series >= least - 1e-9).all()
            mean, covariance = outcomes.moments([(j, slope == 1.0)])
            deviation = np.sqrt(covariance[0, 0] / n_worlds)
            away = series.mean(axis=0) - mean[0]
            assert (np.abs(away)[deviation < 1e-9] < 1e-6).all()
            scores += (away[deviation >= 1e-9] / deviation[deviation >= 1e-9]).tolist()
        if j >= 0:
            check_ends(outcomes, found, j)
    return scores


def check_ends(outcomes: Any, found: Any, j: int) -> None:
    none = found.count[:, :, j] == 0
    for ends, sense in ((found.maximum, "max"), (found.minimum, "min")):
        assert (np.isnan(ends[:, :, j]) == none).all()
        caps = outcomes.caps(j, sense)
        for key in range(found.rows.shape[1]):
            seen = np.unique(ends[~none[:, key], key, j])
            assert np.isin(seen, caps.thresholds[caps.possible[key]]).all()
            if len(seen) and caps.can_show[key].any():
                weakest = caps.thresholds[caps.can_show[key]][0]
                assert (seen >= weakest).all() if sense == "max" else (seen <= weakest).all()


def test_sampled_aggregates_of_tiny_releases() -> None:
    ones = []
    for seed in range(300):
        random = Random(seed)
        made, _, sizes = anything(random)
        rows = row_map(random, tuple(sizes))
        scores = check_sampled(made.outcomes(rows), rows, seed)
        assert np.abs(scores).max(initial=0) < 5.5, seed
        ones += scores[:1]
    # Scores of one release hang together: one of each must look standard normal.
    assert len(ones) > 100
    assert abs(np.mean(ones)) < 0.3
    assert 0.7 < np.var(ones) < 1.35


def test_sampled_aggregates_of_larger_groups() -> None:
    scores = []
    for seed in range(30):
        random = Random(seed)
        sizes = {"a": 3, "b": 2, "c": 4, "d": 3}
        rows = row_map(random, tuple(sizes))
        scores += check_sampled(bigger(random, sizes).outcomes(rows), rows, seed, 200)
    assert np.abs(np.array(scores)).max() < 5


def test_sampled_variances() -> None:
    """The spread of sampled counts is the spread of the law: 30 % off would fail."""
    ratios = []
    for seed in range(120):
        random = Random(seed)
        made, _, sizes = anything(random)
        rows = row_map(random, tuple(sizes))
        outcomes = made.outcomes(rows)
        expected = outcomes.moments([(-1, False)])[1][0, 0]
        drawn = outcomes.sample(2000, Seeded(seed)).rows.var(axis=0)
        ratios += (drawn[expected > 0.05] / expected[expected > 0.05]).tolist()
    assert len(ratios) > 30
    assert 0.97 < np.mean(ratios) < 1.03
    assert np.min(ratios) > 0.75 and np.max(ratios) < 1.3


def test_sampled_tables_are_worlds() -> None:
    chance = Seeded(3)
    for seed in range(80):
        made, worlds, _ = anything(Random(seed))
        for _ in range(3):
            drawn = made.sample(chance)
            rows = [dict(zip(drawn, map(int, cells), strict=True)) for cells in zip(*drawn.values(), strict=True)]
            assert any(same_table(made.columns, rows, world) for world in worlds)
            assert made.contains(drawn)
