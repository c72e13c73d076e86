"""Short queries that would be huge, or deep, are refused at once; long flat ones are answered."""

from __future__ import annotations

import time

import pytest

from sfumato.errors import ParameterError, Unanswerable
from sfumato.queries.binding import lifted


def read(text: str) -> None:
    lifted(text, ("data",), ("age", "sex"))


def doubled(n: int) -> str:
    return "SELECT count(*) AS a0, " + ", ".join(f"a{i} + a{i} AS a{i + 1}" for i in range(n)) + " FROM data"


def test_aliases_that_double_are_refused_at_once() -> None:
    read(doubled(6))
    start = time.perf_counter()
    for n in (12, 40, 400):
        with pytest.raises(ParameterError, match="aliases of the query stand for more than 2000"):
            read(doubled(n))
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("part", ["count(*) + ", "abs(", "- "])
def test_deep_nesting_is_refused_at_once(part: str) -> None:
    start = time.perf_counter()
    with pytest.raises(ParameterError, match="nested"):
        read(f"SELECT {part * 400}count(*){')' * 400 if part.endswith('(') else ''} FROM data")
    assert time.perf_counter() - start < 5


def test_long_flat_queries_are_read_quickly() -> None:
    start = time.perf_counter()
    read(f"SELECT count(*) FROM data WHERE {' OR '.join(f'age = {i}' for i in range(500))}")
    read(f"SELECT {' + '.join(['count(*)'] * 150)} FROM data")
    read(f"SELECT count(*) FROM data WHERE age IN ({', '.join(map(str, range(5000)))})")
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("text", ["SELECT 1 AS one FROM data", "SELECT 1 + 1, 'a' FROM data WHERE age > 3 LIMIT 1"])
def test_constants_alone_have_one_row_for_every_row(text: str) -> None:
    with pytest.raises(Unanswerable, match="constants alone"):
        read(text)
