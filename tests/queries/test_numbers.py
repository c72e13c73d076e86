"""Numbers are exact: decimals, integers beyond 2⁵³, and bounds that hold to the last place."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.chance import Seeded
from sfumato.data.codec import Domain
from sfumato.data.schema import Kind
from sfumato.data.steps import floats_of
from sfumato.errors import ParameterError, Unanswerable
from sfumato.queries.answer import Answer
from sfumato.queries.ask import ask
from sfumato.worlds.alternatives import Alternatives

BIG = 2**60 + 1


def table(**columns: tuple[Kind, pa.Array, list[tuple[int, int]]]) -> Any:
    """Rows of cells anywhere between two codes of each column's values."""
    domains = {name: Domain(kind, values, complete=True) for name, (kind, values, _) in columns.items()}
    low = {name: np.array([cell[0] for cell in cells], np.int32) for name, (_, _, cells) in columns.items()}
    high = {name: np.array([cell[1] for cell in cells], np.int32) for name, (_, _, cells) in columns.items()}
    n = len(next(iter(low.values())))
    return Alternatives(tuple(columns), domains, low, high, np.ones(n, dtype=np.int64))


def asked(worlds: Any, text: str) -> Answer:
    return ask(worlds, text, n_worlds=50, chance=Seeded(1))


def only(worlds: Any, text: str) -> dict[str, Any]:
    return asked(worlds, text).rows()[0]


def prices() -> Any:
    values = pa.array([Decimal(text) for text in ("1.10", "3.05", "4.35")], pa.decimal128(38, 2))
    return table(price=("decimal", values, [(1, 1), (0, 2)]), sex=("text", pa.array(["F", "M"]), [(0, 0), (1, 1)]))


def test_every_price_is_the_nearest_float() -> None:
    texts = [f"{cents // 100}.{cents % 100:02d}" for cents in range(1, 10_000)]
    found = floats_of(pa.array(texts).cast(pa.decimal128(38, 2)))
    assert found.tolist() == [float(text) for text in texts]
    long = [Decimal("12345678901234567.89"), Decimal("-0.1234567890123456789"), None]
    assert floats_of(pa.array(long[:2], pa.decimal128(38, 19))).tolist() == [float(long[0]), float(long[1])]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("count(*) FILTER (WHERE price = 3.05 AND sex = 'F')", 1),
        ("count(*) FILTER (WHERE price <= 3.05 AND sex = 'F')", 1),
        ("count(*) FILTER (WHERE price IN (3.05, 7) AND sex = 'F')", 1),
        ("count(*) FILTER (WHERE price + 0 = 3.05 AND sex = 'F')", 1),
        ("max(price) FILTER (WHERE sex = 'F')", 3.05),
        ("avg(price) FILTER (WHERE sex = 'F')", 3.05),
        ("min(price * 2) FILTER (WHERE sex = 'F')", 6.1),
    ],
)
def test_decimals_are_exact(text: str, truth: float) -> None:
    found = only(prices(), f"SELECT {text} AS n FROM data")
    assert found["n"] == truth and found["__how"] == "exact"


def accounts() -> Any:
    values = pa.array([5, 2**53 + 1, BIG], pa.int64())
    return table(acct=("integer", values, [(0, 1), (2, 2), (1, 1)]))


def test_large_integers_are_counted_exactly_and_never_merged() -> None:
    worlds = accounts()
    row = only(worlds, "SELECT count(*) AS n FROM data WHERE acct = 5")
    assert (row["n__lo"], row["n__hi"]) == (0, 1)
    for value, n in ((2**53, None), (BIG, 1), (BIG - 1, 0), (BIG + 1, 0)):
        row = only(worlds, f"SELECT count(*) AS n FROM data WHERE acct = {value}")
        assert n is None or (row["n"], "n__lo" in row) == (n, False)
    assert len(asked(worlds, "SELECT acct, count(*) FROM data GROUP BY acct")) == 3


@pytest.mark.parametrize("text", ["max(acct)", "sum(acct)", "avg(acct)", "min(acct * 2)"])
def test_what_floats_would_merge_is_refused(text: str) -> None:
    with pytest.raises(Unanswerable, match="more than 15 digits") as refusal:
        asked(accounts(), f"SELECT {text} FROM data")
    assert str(BIG) not in str(refusal.value)
    assert only(accounts(), "SELECT max(CAST(acct AS DOUBLE)) AS m FROM data")["m"] == float(BIG)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) FROM data WHERE lower(sex)",
        "SELECT count(*) FROM data WHERE sex",
        "SELECT count(*) FILTER (WHERE sex) FROM data",
        "SELECT sex, count(*) FROM data GROUP BY sex HAVING sex",
        "SELECT sex, count(*) FROM data GROUP BY sex HAVING lower(sex) OR count(*) > 1",
    ],
)
def test_text_as_a_condition_is_refused_without_a_cell(text: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        asked(prices(), text)
    assert not {"F", "M", "'f'", "'m'"} & set(str(refusal.value).replace(".", " ").split())


def test_numbers_as_conditions_are_cast_as_sql_does() -> None:
    worlds = prices()
    assert only(worlds, "SELECT count(*) AS n FROM data WHERE price - 3.05 AND sex = 'F'")["n"] == 0
    assert only(worlds, "SELECT count(*) AS n FROM data WHERE price * 0.1 AND sex = 'F'")["n"] == 1


def halves(n: int) -> Any:
    """`n` rows that are in either group: each group is surely there but for a chance of 2⁻ⁿ."""
    return table(x=("integer", pa.array([1, 2]), [(0, 1)] * n), k=("text", pa.array(["a", "b"]), [(0, 1)] * n))


@pytest.mark.parametrize("rest", ["", " ORDER BY k LIMIT 1", " HAVING count(*) > 0"])
def test_a_chance_that_rounds_to_one_is_no_certainty(rest: str) -> None:
    row = only(halves(2000), f"SELECT k, count(*) AS n FROM data GROUP BY k{rest}")
    assert row["n__lo"] == 0 and 0.99 < row["__row"] < 1


def test_a_second_group_may_be_first_when_the_first_is_not_there() -> None:
    rows = asked(halves(2000), "SELECT k, count(*) AS n FROM data GROUP BY k ORDER BY k LIMIT 2").rows()
    assert [row["__row"] < 1 for row in rows] == [True, True]


@pytest.mark.filterwarnings("error")
def test_a_key_of_nulls_is_one_key() -> None:
    rows = asked(prices(), "SELECT NULL AS k, count(*) AS n FROM data GROUP BY NULL").rows()
    assert [(row["k"], row["n"], row["__row"]) for row in rows] == [(None, 2, 1.0)]
    with pytest.raises(Unanswerable, match="Cast them"):
        asked(prices(), "SELECT count(*) FROM data GROUP BY INTERVAL 1 DAY")


def test_numbers_that_are_the_same_in_all_worlds_have_no_companions() -> None:
    worlds = table(x=("integer", pa.array([1, 2, 4]), [(0, 0), (1, 1), (2, 2)] * 50))
    share = "100.0 * count(*) FILTER (WHERE x > 1) / count(*)"
    row = only(worlds, f"SELECT avg(x), sum(x) * 0.1, {share}, avg(x) / 3, sum(x) / 7 FROM data")
    assert [value for name, value in row.items() if not name.startswith("__")] == pytest.approx(
        [7 / 3, 35.0, 200 / 3, 7 / 9, 50.0], rel=1e-15
    ) and row["__how"] == "exact" and len(row) == 7  # fmt: skip


@pytest.mark.parametrize("n", [3, 7, 49, 997])
def test_averages_of_reals_hold_in_every_order_of_adding(n: int) -> None:
    numbers = np.random.Generator(np.random.Philox(key=n)).normal(size=n) * 10.0 ** np.arange(n).clip(max=6)
    worlds = table(x=("real", pa.array(np.sort(numbers)), [(i, i) for i in range(n)]))
    row = only(worlds, "SELECT avg(x) AS a, sum(x) AS s FROM data")
    for order in (numbers, numbers[::-1], np.sort(numbers)):
        total = 0.0
        for one in order:
            total += float(one)
        assert row["s__lo"] <= total <= row["s__hi"] and row["a__lo"] <= total / n <= row["a__hi"]
