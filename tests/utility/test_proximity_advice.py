"""What the advice calls achievable is what the theorems say of the paper's running example, and what it names works."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf

TABLE_1 = sf.read(pa.table({"age": [17, 19, 20, 24, 29, 34, 39, 45],
                            "salary": [1000, 1010, 1020, 50000, 16000, 24000, 33000, 31000]}), name="pay")  # fmt: skip


def test_the_running_example() -> None:
    found = sf.advise_proximity(TABLE_1, on="salary", e1=20, e2=20, m=3)
    assert (found.maxsize, found.largest_m, found.epsilon_supremum, found.achievable) == (3, 2, 20.0, False)
    assert sf.advise_proximity(TABLE_1, on="salary", epsilon=19, m=3).achievable
    with pytest.raises(sf.Infeasible, match="largest m for this ε is 2; for this m, ε must be below 20"):
        sf.advise_proximity(TABLE_1, on="salary", epsilon=20, m=3).refuse_unachievable()
    wide = sf.advise_proximity(TABLE_1, on="salary", e1=20, e2=10000)
    assert (wide.achievable, wide.epsilon_supremum) == (None, None)
    assert (wide.maxsize, wide.largest_m) == (3, 2)


def test_the_frontier_falls_and_its_points_are_sharp() -> None:
    for relative in (False, True):
        rows = sf.advise_proximity(TABLE_1, on="salary", relative=relative).frontier.rows()
        suprema = [row["epsilon_supremum"] for row in rows]
        assert [row["m"] for row in rows] == [2, 3, 4, 5, 6, 7, 8] and suprema == sorted(suprema, reverse=True)
        for row in rows:
            below = math.nextafter(row["epsilon_supremum"], 0)
            asked: Any = {"on": "salary", "m": row["m"], "relative": relative}
            assert sf.advise_proximity(TABLE_1, epsilon=below, **asked).achievable
            above = math.nextafter(row["epsilon_supremum"], math.inf)
            assert not sf.advise_proximity(TABLE_1, epsilon=above, **asked).achievable


def test_edges() -> None:
    equal = sf.read(pa.table({"s": [5] * 4}), name="equal")
    assert sf.advise_proximity(equal, on="s", epsilon=0, m=1).achievable
    assert sf.advise_proximity(equal, on="s", m=2).epsilon_supremum == 0
    assert sf.advise_proximity(equal, on="s", m=1).epsilon_supremum == math.inf
    assert sf.advise_proximity(TABLE_1, on="salary", epsilon=0, m=9).achievable is False
    assert len(sf.advise_proximity(equal, on="s").frontier) == 0
    with pytest.raises(sf.ParameterError):
        sf.advise_proximity(TABLE_1, on="salary", epsilon=1, e1=2)
    with pytest.raises(sf.SchemaError):
        sf.advise_proximity(TABLE_1, on="pay")


def test_many_rows_have_a_short_frontier() -> None:
    many = sf.read(pa.table({"s": np.arange(100_000) * 7}), name="many")
    found = sf.advise_proximity(many, on="s", epsilon=7, m=50_000)
    assert found.achievable and found.maxsize == 2
    assert 20 < len(found.frontier) < 100 and found.frontier.rows()[-1]["m"] == 100_000
