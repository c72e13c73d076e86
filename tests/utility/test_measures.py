"""Measures against their definition over all worlds of tiny releases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.chance import Seeded
from sfumato.data.dataset import Dataset
from sfumato.data.schema import Schema
from sfumato.errors import ParameterError, SchemaError
from sfumato.utility import REGISTERED
from sfumato.utility.measures import measure, truth_on
from sfumato.utility.workload import Between, Count, answer_all, random_workload
from sfumato.worlds.tuples import distinct
from tests.utility.enumeration import (
    COLUMNS,
    DOMAINS,
    SCHEMA,
    World,
    anatomized,
    counts,
    divergence,
    expected_share,
    generalized,
    possible_leaves,
    worlds_of,
)

RELEASES = {"generalized": generalized(), "suppressed": generalized(1), "anatomized": anatomized()}


def original(world: World) -> Dataset:
    """One world as the original."""
    columns = {name: np.array([row[i] for row in world], dtype=np.int32) for i, name in enumerate(COLUMNS)}
    return Dataset("people", SCHEMA, DOMAINS, columns, len(world))


def figures(release: Any, truth: Dataset, **options: Any) -> dict[tuple[str, str | None], float]:
    rows = measure(release, truth, seed=1, **options).rows()
    return {(row["metric"], row["column"]): row["value"] for row in rows}


@pytest.fixture(params=RELEASES)
def case(request: pytest.FixtureRequest):
    release = RELEASES[request.param]
    worlds = worlds_of(release)
    return release, worlds, worlds[len(worlds) // 3]


def test_ncp_gcp_and_loss_count_the_leaves_a_cell_may_hold(case) -> None:
    release, worlds, truth = case
    found = figures(release, original(truth), metrics=["ncp", "gcp", "loss"])
    age, town = possible_leaves(worlds, 0), possible_leaves(worlds, 1)
    ncp_age = np.mean([(n - 1) / 3 for n in age])
    ncp_town = np.mean([n / 3 if n > 1 else 0 for n in town])
    assert found["ncp", "age"] == pytest.approx(ncp_age)
    assert found["ncp", "town"] == pytest.approx(ncp_town)
    assert found["gcp", None] == pytest.approx((ncp_age + ncp_town) / 2)
    assert found["loss", None] == pytest.approx((np.mean(age) / 4 + np.mean(town) / 3) / 2)


def test_kl_divergence_is_that_of_expected_shares(case) -> None:
    release, worlds, truth = case
    found = figures(release, original(truth), metrics=["kl_divergence"])
    assert found["kl_divergence", None] == pytest.approx(divergence(truth, worlds))


def test_expected_rows_of_every_possible_row(case) -> None:
    release, worlds, _ = case
    rows = [(a, t, p) for a in range(4) for t in range(3) for p in range(3)]
    asked = {name: np.array([row[i] for row in rows], dtype=np.int32) for i, name in enumerate(COLUMNS)}
    found = release.worlds().expected(asked)
    assert found == pytest.approx([expected_share(worlds, row) * release.n_rows for row in rows])


def test_discernibility_and_group_sizes(case) -> None:
    release, _, truth = case
    found = figures(release, original(truth), metrics=["discernibility", "average_group_size"])
    n_suppressed = release.n_rows - 5
    alike = [2, 2, 3, 3, 3] + [release.n_rows] * n_suppressed
    assert found["discernibility", None] == sum(alike)
    assert found["average_group_size", None] == 2.5
    assert found["c_avg", None] == 1.25


def test_answers_of_the_workload_are_those_over_all_worlds(case) -> None:
    release, worlds, truth = case
    draw = Seeded(5).generator()
    dataset = original(truth)
    queries = random_workload(DOMAINS, dataset.codes, 60, draw)
    work = answer_all(queries, release.worlds(), dataset.codes, Seeded(1))
    for i, query in enumerate(queries):
        ends = {factor.columns[0]: (factor.low, factor.high) for factor in query.factors}

        def keeps(row, ends=ends) -> bool:
            return all(low <= row[COLUMNS.index(c)] <= high for c, (low, high) in ends.items())

        found = counts(worlds, keeps)
        assert work.truth[i] == sum(map(keeps, truth)) > 0
        assert work.estimate[i] == pytest.approx(np.mean(found))
        assert work.lo[i] <= min(found)
        assert work.hi[i] >= max(found)
        if release.n_rows == 5:
            assert (work.lo[i], work.hi[i]) == (min(found), max(found))
        if {"pay"}.isdisjoint(ends) or release.n_rows == 5:
            assert work.q025[i] == np.quantile(found, 0.025, method="inverted_cdf")
            assert work.q975[i] == np.quantile(found, 0.975, method="inverted_cdf")


def test_hard_bounds_always_cover_and_the_figures_are_means(case) -> None:
    release, _, truth = case
    found = figures(release, original(truth), n_queries=40)
    assert found["bounds_coverage", None] == 1
    assert 0 < found["interval95_width", None] <= found["bounds_width", None] <= 1
    assert found["query_error", None] >= 0


def test_a_release_that_tells_everything_has_no_loss() -> None:
    exact = generalized()
    group = np.arange(5)
    cells = {"age": np.array([0, 1, 2, 3, 3], np.int32), "town": np.array([0, 0, 1, 2, 2], np.int32)}
    exact = type(exact)("p", SCHEMA, DOMAINS, cells, cells, group, exact.exact, exact.recipe)
    truth = Dataset("p", SCHEMA, DOMAINS, {**cells, "pay": exact.exact["pay"]}, 5)
    found = figures(exact, truth)
    for metric in ("gcp", "kl_divergence", "query_error", "bounds_width", "interval95_width"):
        assert found[metric, None] == pytest.approx(0, abs=1e-12), metric


def test_every_registered_measure_gives_a_figure() -> None:
    release = generalized()
    truth = original(worlds_of(release)[0])
    for entry in REGISTERED:
        assert len(measure(release, truth, metrics=[entry.rpartition(":")[2]], n_queries=5)) > 0


def test_the_same_seed_gives_the_same_figures() -> None:
    release = anatomized()
    truth = original(worlds_of(release)[0])
    assert figures(release, truth) == figures(release, truth)


def test_another_table_is_refused_without_naming_values() -> None:
    release = generalized()
    truth = original(worlds_of(release)[0][:4])
    with pytest.raises(SchemaError, match="4 rows"):
        measure(release, truth)
    fewer = Dataset("p", Schema(SCHEMA.columns[:2]), DOMAINS, truth.codes, 5)
    with pytest.raises(SchemaError, match="pay"):
        measure(release, fewer)
    with pytest.raises(ParameterError, match="gcp"):
        measure(release, truth, metrics=["accuracy"])


def test_the_original_is_coded_on_the_releases_domains() -> None:
    raw = pa.table({"age": [23, 20, 21, 22, 23], "town": ["c", "a", "b", "a", "c"], "pay": [3, 1, 9, 2, 3]})
    from sfumato.data.dataset import from_arrow

    found = truth_on(generalized().worlds(), from_arrow(raw))
    assert found["age"].tolist() == [3, 0, 1, 2, 3]
    assert found["town"].tolist() == [2, 0, 1, 0, 2]
    assert found["pay"].tolist() == [2, 0, -1, 1, 2]


def test_a_value_the_release_does_not_list_is_never_asked_for() -> None:
    truth = {"pay": np.array([-1, -1, 1], dtype=np.int32)}
    queries = random_workload({"pay": DOMAINS["pay"]}, truth, 50, Seeded(1).generator())
    assert all(factor.low >= 0 for query in queries for factor in query.factors)


def test_equal_rows_share_an_id() -> None:
    draw = Seeded(3).generator()
    columns = {str(i): draw.integers(-1, 3, 200).astype(np.int32) for i in range(3)}
    ids = distinct(list(columns.values()), 200)[1]
    rows = list(zip(*(column.tolist() for column in columns.values()), strict=True))
    assert len(set(ids.tolist())) == len(set(rows))
    assert all((rows[i] == rows[j]) == (ids[i] == ids[j]) for i in range(0, 200, 7) for j in range(200))


def test_kl_is_estimated_on_a_sample_of_large_originals(monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.utility import setting

    monkeypatch.setattr(setting.Setting, "n_rows_sampled", 4)
    release = generalized()
    worlds = worlds_of(release)
    truth = original(worlds[0])
    found = [measure(release, truth, metrics=["kl_divergence"], seed=seed).rows()[0]["value"] for seed in range(400)]
    exact = divergence(worlds[0], worlds)
    assert abs(np.mean(found) - exact) < 5 * np.std(found) / math.sqrt(len(found)) + 1e-9


def test_a_query_counts_what_lies_between_its_ends() -> None:
    truth = {"age": np.array([0, 1, 2, 3]), "town": np.array([0, 1, 1, 2])}
    assert Count([Between("age", 1, 2), Between("town", 1, 1)]).true_count(truth) == 2
