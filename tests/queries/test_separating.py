"""An open end that one aggregate reads leaves the others as sharp as if they were asked alone."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.dataset import Dataset

QUERIES = [
    ("count(*)", "sum(pay)", "max(age)"),
    ("sum(age)", "avg(pay)", "min(pay)", "count(pay)"),
    ("count(*) FILTER (WHERE age > 70)", "sum(pay)", "avg(age)"),
]


def people(n: int = 60) -> Dataset:
    chance = np.random.Generator(np.random.Philox(key=8))
    table = pa.table(
        {
            "age": chance.integers(20, 95, n),
            "sex": chance.choice(["F", "M"], n),
            "pay": chance.integers(1, 90, n),
        }
    )
    return sf.read(table).roles(quasi=["age", "sex"], sensitive=["pay"])


@pytest.fixture(scope="module")
def release() -> sf.PublishedRelease:
    rules = {"age": sf.intervals(5, 10, low=25, high=70), "sex": sf.suppression()}
    return sf.publish(people(), sf.Mondrian(), require=sf.KAnonymity(6), hierarchies=rules, seed=1)


@pytest.mark.parametrize("outputs", QUERIES)
@pytest.mark.parametrize("keys", ["", "sex", "age // 20"])
def test_together_equals_alone(release: sf.PublishedRelease, outputs: tuple[str, ...], keys: str) -> None:
    named = [f"{text} AS o{i}" for i, text in enumerate(outputs)]
    tail = f" FROM data WHERE pay > 5{f' GROUP BY {keys}' if keys else ''}"
    head = f"({keys}) AS k, " if keys else ""
    together = release.sql(f"SELECT {head}{', '.join(named)}{tail}", seed=3)
    for i, text in enumerate(named):
        alone = release.sql(f"SELECT {head}{text}{tail}", seed=3)
        wanted = {row.get("k"): row for row in alone.rows()}
        assert len(together) == len(alone)
        for row in together.rows():
            one = wanted[row.get("k")]
            shown = {name: value for name, value in row.items() if name.startswith(f"o{i}__") or name == "__row"}
            for name, value in shown.items():
                expected = one.get(name, one[f"o{i}"])
                assert value == (None if expected is None else pytest.approx(expected, rel=1e-12)), name


def test_only_what_reads_the_open_column_is_unbounded(release: sf.PublishedRelease) -> None:
    row = release.sql("SELECT count(*) AS n, sum(pay) AS pay, max(age) AS top FROM data").rows()[0]
    assert row["top__hi"] is None
    assert "n__lo" not in row
    assert "pay__lo" not in row


def test_bounds_that_are_none_are_named(release: sf.PublishedRelease) -> None:
    assert release.sql("SELECT count(*) AS n, max(age) AS top FROM data").unbounded() == ["top__hi"]
