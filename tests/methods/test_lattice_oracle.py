"""The slow twin of the full-domain search, by hand: five rows, two columns, six nodes; then against ARX on Adult."""

from __future__ import annotations

import doctest
from math import inf, log2, sqrt
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.methods.arx_figures import NODES, OPTIMA, Figure
from tests.oracles import lattice
from tests.oracles.lattice import Outcome, Table, exhaustive, generalize

AGES = {"1": ["1", "low", "*"], "2": ["2", "low", "*"], "3": ["3", "high", "*"], "4": ["4", "high", "*"]}
SEXES = {"m": ["m", "*"], "f": ["f", "*"]}
ROWS = [("1", "m", "y"), ("1", "m", "y"), ("2", "f", "n"), ("3", "m", "y"), ("4", "m", "n")]
TABLE = Table([dict(zip(("age", "sex", "ill"), row, strict=True)) for row in ROWS], {"age": AGES, "sex": SEXES})
FINE, HALF, TOP = (0, 0), (1, 0), (2, 1)


def pairs(rows: list[Any]) -> bool:
    return len(rows) >= 2


def outcome(node: tuple[int, ...]) -> Outcome:
    return generalize(TABLE, node, pairs)


def test_doctests() -> None:
    assert doctest.testmod(lattice).failed == 0


def test_groups() -> None:
    half = outcome(HALF)
    assert half.groups == {("low", "m"): [0, 1], ("low", "f"): [2], ("high", "m"): [3, 4]}
    assert (half.suppressed, half.n_suppressed) == ({("low", "f")}, 1)
    assert (outcome(FINE).n_suppressed, outcome(TOP).n_suppressed) == (3, 0)


@pytest.mark.parametrize(
    ("expected", "asked"),
    [
        (sqrt(22 / 15 * 1.2) - 1, {}),
        (1 / 3, {"aggregate": "arithmetic_mean"}),
        (2 / 3, {"aggregate": "sum"}),
        (7 / 15, {"aggregate": "max"}),
        ((7 / 15, 0.2), {"aggregate": "rank"}),
        (7 / 15 + 0.1, {"aggregate": "sum", "weights": {"age": 1}}),
        ((0.4, 0.1), {"aggregate": "rank", "gs_factor": 0.25}),
        ((11 / 35, 0.2), {"aggregate": "rank", "gs_factor": 0.75}),
        ((1 / 3, 0.0), {"aggregate": "rank", "gs_factor": 0.0}),
        ((0.2, 0.2), {"aggregate": "rank", "gs_factor": 1.0}),
    ],
)
def test_loss(expected: Any, asked: dict[str, Any]) -> None:
    assert lattice.loss(**asked)(TABLE, outcome(HALF)) == pytest.approx(expected)


def test_loss_runs_from_leaves_to_root() -> None:
    everything = generalize(TABLE, FINE, lambda rows: True)
    assert lattice.loss()(TABLE, everything) == pytest.approx(0)
    assert lattice.loss()(TABLE, outcome(TOP)) == pytest.approx(1)
    assert lattice.loss()(TABLE, generalize(TABLE, FINE, lambda rows: False)) == pytest.approx(1)
    single = Table([{"sex": "m"}], {"sex": {"m": ["m", "*"]}})
    assert lattice.loss()(single, generalize(single, (1,), lambda rows: True)) == 0


AGE_BITS, SEX_BITS = 5 * log2(5) - 2, 5 * log2(5) - 8


@pytest.mark.parametrize(
    ("expected", "node", "asked"),
    [
        (3 * log2(3), HALF, {}),
        (6 * log2(3) - 2, FINE, {}),
        (0, FINE, {"monotonic": True}),
        (3 * log2(3), HALF, {"monotonic": True}),
        (3 * log2(3), FINE, {"aggregate": "max"}),
        ((6 * log2(3) - 2) / 2, FINE, {"gs_factor": 0.25}),
        (1.5 * log2(3), HALF, {"gs_factor": 0.75}),
        (3 * log2(3) / AGE_BITS + (3 * log2(3) - 2) / SEX_BITS, FINE, {"normalized": True}),
        (2, TOP, {"normalized": True}),
        (AGE_BITS + SEX_BITS, TOP, {}),
        (AGE_BITS + SEX_BITS / 4, TOP, {"weights": {"age": 2}}),
    ],
)
def test_entropy(expected: float, node: tuple[int, ...], asked: dict[str, Any]) -> None:
    assert lattice.entropy(**asked)(TABLE, outcome(node)) == pytest.approx(expected)


def test_a_constant_column_loses_no_entropy() -> None:
    constant = Table([{"sex": "m"}] * 2, {"sex": SEXES})
    assert lattice.entropy(normalized=True)(constant, generalize(constant, (1,), pairs)) == 0


@pytest.mark.parametrize(
    ("expected", "score"),
    [
        (0.4, lattice.precision()),
        (0.25, lattice.precision(monotonic=True)),
        (0.3, lattice.precision(gs_factor=0.25)),
        (((4 * 0.25 + 1) / 5 + 0.2) / 2, lattice.precision(gs_factor=0.75)),
        ((0.6, 0.2), lattice.precision(aggregate="rank")),
        (1, lattice.height()),
        (0.5, lattice.height("arithmetic_mean")),
        (0.25, lattice.height("arithmetic_mean", {"sex": 1})),
        (13, lattice.discernibility()),
        (9, lattice.discernibility(monotonic=True)),
        (5 / 3, lattice.average_class_size()),
        (2, lattice.average_class_size(0.75)),
        (2.5, lattice.average_class_size(0.25)),
        (5, lattice.average_class_size(0)),
        (16, lattice.ambiguity()),
        (0.5, lattice.classification("ill")),
        (0.55, lattice.classification("ill", 0.75)),
        (0.25, lattice.classification("ill", 0.25)),
        (1.4, lattice.kl_divergence()),
    ],
)
def test_the_other_scores(expected: Any, score: lattice.Score) -> None:
    assert score(TABLE, outcome(HALF)) == pytest.approx(expected)


def test_scores_without_suppression() -> None:
    top = outcome(TOP)
    assert lattice.average_class_size()(TABLE, top) == 5
    assert lattice.discernibility()(TABLE, top) == lattice.discernibility(monotonic=True)(TABLE, top) == 25
    assert lattice.ambiguity()(TABLE, top) == 40
    assert lattice.classification("ill")(TABLE, top) == pytest.approx(2 / 5)
    assert lattice.kl_divergence()(TABLE, top) == pytest.approx(0.8 * log2(3.2) + 0.6 * log2(1.6))
    assert lattice.average_class_size(0)(TABLE, top) == inf


@pytest.mark.parametrize(
    ("limit", "valid", "minimal", "best"),
    [
        (0.0, {(1, 1), (2, 1)}, {(1, 1)}, 0.75),
        (0.2, {(1, 0), (2, 0), (1, 1), (2, 1)}, {(1, 0)}, 0.4),
        (0.59, {(1, 0), (2, 0), (1, 1), (2, 1)}, {(1, 0)}, 0.4),
        (0.6, {(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)}, {(0, 0)}, 0.4),
    ],
)
def test_exhaustive(limit: float, valid: set[Any], minimal: set[Any], best: float) -> None:
    found = exhaustive(TABLE, pairs, limit, lattice.precision())
    assert (found.valid, found.minimal, found.best) == (valid, minimal, pytest.approx(best))
    assert found.best_nodes == {(1, 1) if limit == 0 else (1, 0)}
    assert len(found.outcomes) == len(found.scores) == 6


def test_nothing_is_valid() -> None:
    found = exhaustive(TABLE, lambda rows: len(rows) > 5, 0.5, lattice.height())
    assert (found.valid, found.best, found.best_nodes) == (set(), None, set())


ADULT = Path(__file__).parents[3] / "shared" / "data" / "adult"
BY_SIZE = [
    f for f in [*OPTIMA, *NODES] if f.data == "adult" and [name for name, *_ in f.requirements] == ["KAnonymity"]
]
SCORES = {
    "Loss": lattice.loss,
    "NonUniformEntropy": lattice.entropy,
    "Precision": lattice.precision,
    "Discernibility": lattice.discernibility,
    "AverageClassSize": lattice.average_class_size,
}


@pytest.fixture(scope="module")
def adult() -> Table:
    if not ADULT.exists():
        pytest.skip("the Adult table is not on this machine")
    rows = pq.read_table(ADULT / "adult_arx_30162.parquet").to_pylist()
    hierarchies = {}
    for column in rows[0]:
        lines = (ADULT / "hierarchies_arx" / f"adult_hierarchy_{column}.csv").read_text("utf-8").splitlines()
        hierarchies[column] = {line.split(";")[0]: line.split(";") for line in lines}
    return Table([{column: str(value) for column, value in row.items()} for row in rows], hierarchies)


@pytest.mark.parametrize("figure", BY_SIZE, ids=lambda f: f"{f.source}-{f.metric[0]}-{f.limit}")
def test_arx_scores_the_same(adult: Table, figure: Figure) -> None:
    assert figure.levels is not None
    table = Table(adult.rows, {column: adult.hierarchies[column] for column in figure.levels})
    (_, size), (name, asked) = figure.requirements[0], figure.metric
    found = generalize(table, tuple(figure.levels.values()), lambda rows: len(rows) >= size)
    assert SCORES[name](**asked)(table, found) == pytest.approx(figure.score, rel=1e-9)
    assert figure in NODES or found.n_suppressed <= lattice.most_suppressed(figure.limit, len(table.rows))


def test_the_mean_loss_of_adult_under_five_anonymity(adult: Table) -> None:
    found = generalize(adult, (0, 3, 0, 1, 1, 1, 1, 2, 0), lambda rows: len(rows) >= 5)
    assert (len(found.groups) - len(found.suppressed), found.n_suppressed) == (370, 1178)
    assert lattice.loss(aggregate="arithmetic_mean")(adult, found) == pytest.approx(0.292816, abs=1e-6)
