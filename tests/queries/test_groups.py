"""Groups: what is not listed is said, and many groups cost what they are worth or are refused."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.chance import Seeded
from sfumato.data.codec import Domain
from sfumato.errors import Unanswerable
from sfumato.queries.answer import Answer
from sfumato.queries.ask import ask
from sfumato.worlds.alternatives import Alternatives


def asked(worlds: Any, text: str, n_worlds: int = 20) -> Answer:
    return ask(worlds, text, n_worlds=n_worlds, chance=Seeded(1))


def ages(codes: list[int], open_high: bool = True) -> Alternatives:
    """Rows with known ages of 20, 21, and 22 or beyond."""
    domain = Domain("integer", pa.array([20, 21, 22]), open_high=open_high, complete=True)
    at = {"age": np.array(codes, np.int32)}
    return Alternatives(("age",), {"age": domain}, at, at, np.ones(len(codes), dtype=np.int64))


def test_rows_beyond_an_open_end_may_be_in_groups_that_are_not_shown() -> None:
    answer = asked(ages([0, 0, 2, 2, 2]), "SELECT age, count(*) AS n FROM data GROUP BY age")
    first, last = answer.rows()
    assert (first["__row"], last["age"], last["n__lo"], last["n__hi"]) == (1.0, 22, 0, 3)
    assert last["__row"] < 1
    assert "Up to 3 rows may belong to groups that are not shown" in answer.explain()
    for worlds in (ages([0, 1]), ages([0, 2, 2], open_high=False)):
        assert "not shown" not in asked(worlds, "SELECT age, count(*) FROM data GROUP BY age").explain()


def many(n: int) -> Alternatives:
    """Two rows around each of n keys, with a number between 1 and 5."""
    k = np.tile(np.arange(n, dtype=np.int32), 2)
    low = {"k": k, "x": np.zeros(2 * n, np.int32)}
    high = {"k": np.minimum(k + 1, n - 1), "x": np.full(2 * n, 2, np.int32)}
    known = {"k": Domain("integer", pa.array(range(n)), complete=True)}
    known["x"] = Domain("integer", pa.array([1, 2, 5]), complete=True)
    return Alternatives(("k", "x"), known, low, high, np.ones(2 * n, dtype=np.int64))


def seconds(n: int) -> float:
    worlds = many(n)
    start = time.perf_counter()
    asked(worlds, "SELECT k, avg(x) AS m FROM data GROUP BY k")
    return time.perf_counter() - start


def test_the_cost_of_an_average_grows_with_the_number_of_groups() -> None:
    """Eight times the groups would take sixty-four times as long if every group read all cells."""
    seconds(10)
    assert min(seconds(8000) for _ in range(2)) < 24 * min(seconds(1000) for _ in range(2))


def test_more_groups_than_can_be_sampled_are_refused() -> None:
    worlds = many(300_000)
    with pytest.raises(Unanswerable, match="300000 groups in 100 worlds are too many"):
        asked(worlds, "SELECT k, sum(x) * count(*) AS m FROM data GROUP BY k", n_worlds=1000)
