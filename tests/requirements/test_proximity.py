"""Proximity decides as its definition; maxsize and the largest ε are what trying everything finds."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.codec import encode
from sfumato.data.evidence import Groups, group_evidence
from sfumato.data.nearness import Line, Near, find_e_max, find_maxsize, line_of
from sfumato.requirements.proximity import Proximity
from tests.oracles.proximity import Value, achievable, anonymous, covers, partitions, size

TABLE_1 = [1000, 1010, 1020, 50000, 16000, 24000, 33000, 31000]
GROUP_OF = [1, 1, 1, 1, 2, 2, 3, 3]
KINDS: dict[str, Any] = {"integer": pa.int64(), "decimal": pa.decimal128(12, 2), "real": pa.float64()}


def evidence_of(values: list[Any], group: list[int], kind: Any = "integer", type_: Any = None) -> Groups:
    domain, codes = encode(pa.array(values, type_ or KINDS[kind]), kind)
    ids = np.unique(np.array(group), return_inverse=True)[1].astype(np.int64)
    return group_evidence(ids, int(ids.max()) + 1, {"s": codes}, {"s": domain}, None)


def counted(values: list[Any], relative: bool = False) -> tuple[Line, Any]:
    domain, codes = encode(pa.array(values, pa.int64()), "integer")
    line = line_of(domain, "s", relative)
    return line, line.by_rank(np.bincount(codes, minlength=domain.size).astype(np.int64))


def fractions(values: list[Any]) -> list[Value]:
    return [None if v is None else Fraction(str(v)) for v in values]


def reach(near: Near) -> tuple[Fraction, Fraction, bool]:
    return near.below, near.above, near.relative


def test_table_1_of_the_paper() -> None:
    """Andy's neighbourhood [900, 1100] holds three of four salaries of his group."""
    table = evidence_of(TABLE_1, GROUP_OF)
    assert Proximity(100, 2, on="s").passes(table).tolist() == [False, True, True]
    assert Proximity(100, 2, on="s").holds(table).achieved == {"m": 1}
    assert not Proximity(0, 5, on="s").holds(table).holds and Proximity(0, 2, on="s").holds(table).holds
    whole = evidence_of(TABLE_1, [0] * 8)
    wide = Proximity(m=3, e1=20, e2=10000, on="s")
    assert not wide.holds(whole).holds and wide.nearest(whole) == {"m": 2}
    fifteen = [
        evidence_of(values, group) for values, group in (([40, 60, 50, 80], [0, 0, 1, 1]), ([40, 60, 50, 80], [0] * 4))
    ]
    assert [Proximity(15, 2, on="s").holds(one).holds for one in fifteen] == [True, False]  # Lemma 4


cells = st.sampled_from(["0", "0.01", "0.1", "0.2", "0.3", "0.6", "1", "1.2", "1.5", "2", "3.3", None])
lengths = st.sampled_from(["0", "0.01", "0.1", "0.2", "1/3", "0.5", "1", "2"]).map(Fraction)


@settings(max_examples=400, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 2), cells), min_size=1, max_size=14),
    m=st.integers(1, 4), e=st.tuples(lengths, lengths), how=st.sampled_from(["absolute", "relative", "two"]),
    kind=st.sampled_from(["decimal", "real"]),
)  # fmt: skip
def test_it_decides_as_the_definition(rows: Any, m: int, e: Any, how: str, kind: str) -> None:
    if how == "two":
        asked = Proximity(m=m, e1=e[0], e2=e[1], on="s")
    else:
        asked = Proximity(min(e[0], Fraction(1)), m, on="s", relative=how == "relative")
    made = [None if v is None else (Decimal(v) if kind == "decimal" else float(v)) for _, v in rows]
    evidence = evidence_of(made, [g for g, _ in rows], kind)
    groups = {g: fractions([v for h, v in rows if h == g]) for g, _ in rows}
    expected = [anonymous(groups[g], reach(asked.near), m) for g in sorted(groups)]
    assert asked.passes(evidence).tolist() == expected
    found = asked.holds(evidence)
    assert found.holds == all(expected) and found.n_failing == expected.count(False)
    reached = int(found.achieved["m"])
    assert all(anonymous(one, reach(asked.near), reached) for one in groups.values())
    assert not all(anonymous(one, reach(asked.near), reached + 1) for one in groups.values())


def test_ends_of_relative_neighbourhoods_count_exactly() -> None:
    """0.1 · (1 + 0.2) is 0.12 and not a float beside it, also where numbers leave 64 bits."""
    tiny = Fraction(1, 10**25)
    for low, high, kind in ((0.8, 1.0, "real"), (0.24, 0.3, "real"), (4 * 10**17, 5 * 10**17, "integer")):
        pair = evidence_of([low, high], [0, 0], kind)
        assert not Proximity("1/5", 2, on="s", relative=True).holds(pair).holds  # type: ignore[arg-type]
        assert Proximity(Fraction(1, 5) - tiny, 2, on="s", relative=True).holds(pair).holds
    up = evidence_of([0.1, 0.12], [0, 0], "real")
    assert not Proximity(Fraction(1, 6), 2, on="s", relative=True).holds(up).holds
    assert Proximity(Fraction(1, 6) - tiny, 2, on="s", relative=True).holds(up).holds
    for low, high in ((0.1, 0.3), (1e-300, 1.2e-300)):
        pair = evidence_of([low, high], [0, 0], "real")
        gap = Fraction(str(high)) - Fraction(str(low))
        assert not Proximity(gap, 2, on="s").holds(pair).holds
        assert Proximity(gap * (1 - tiny), 2, on="s").holds(pair).holds
    far = evidence_of([-(2**62), 2**62], [0, 0])
    assert not Proximity(2**63, 2, on="s").holds(far).holds and Proximity(2**63 - 1, 2, on="s").holds(far).holds
    big = evidence_of([0, 2**64 - 1], [0, 0], "integer", pa.uint64())
    assert Proximity(2**64 - 2, 2, on="s").holds(big).holds and not Proximity(2**64 - 1, 2, on="s").holds(big).holds
    long = evidence_of([Decimal(0), Decimal(10**30 + 1)], [0, 0], "decimal", pa.decimal128(38, 0))
    assert Proximity(10**30, 2, on="s").holds(long).holds and not Proximity(10**30 + 1, 2, on="s").holds(long).holds


def test_edges() -> None:
    zeros = evidence_of([0, 0, 5, 9], [0] * 4)
    assert Proximity(0.4, 2, on="s", relative=True).holds(zeros).achieved == {"m": 2}  # only zeros are near zero
    assert Proximity(1, 1, on="s", relative=True).holds(zeros).holds  # [0, 2s] holds every smaller value
    assert Proximity(1, 2, on="s", relative=True).nearest(zeros) == {"m": 1}
    equal = evidence_of([7] * 4, [0] * 4)
    assert Proximity(0, 2, on="s").nearest(equal) == {"m": 1} and Proximity(0, 1, on="s").holds(equal).holds
    assert not Proximity(0, 9, on="s").holds(evidence_of([1, 2], [0, 0])).holds
    missing = evidence_of([None, None, 1, 90], [0] * 4)
    assert Proximity(99, 2, on="s").holds(missing).achieved == {"m": 2}
    days = [datetime.date(2020, 2, 28), datetime.date(2020, 3, 1)]
    dates = evidence_of(days, [0, 0], "date", pa.date32())
    assert Proximity(1, 2, on="s").holds(dates).holds and not Proximity(2, 2, on="s").holds(dates).holds


@pytest.mark.parametrize(
    ("values", "kind", "relative", "word"),
    [(["a", "b"], "text", False, "text"), ([True, False], "boolean", False, "boolean"),
     ([datetime.date(2020, 1, 1)] * 2, "date", True, "absolute"), ([-5, 3], "integer", True, "negative")],
)  # fmt: skip
def test_what_has_no_distances_is_refused(values: list[Any], kind: Any, relative: bool, word: str) -> None:
    evidence = evidence_of(values, [0, 0], kind, pa.array(values).type)
    with pytest.raises(sf.Incompatible, match=word) as refusal:
        Proximity(0.5, 2, on="s", relative=relative).holds(evidence)
    assert "-5" not in str(refusal.value)


@pytest.mark.parametrize("wrong", [{}, {"epsilon": 1, "e1": 1, "e2": 1}, {"e1": 1}, {"epsilon": 2, "relative": True},
                                   {"epsilon": -1}, {"epsilon": 1, "m": 0}])  # fmt: skip
def test_parameters_outside_their_ranges(wrong: dict[str, Any]) -> None:
    with pytest.raises(sf.ParameterError, match="Proximity"):
        Proximity(on="s", **wrong)


@cache
def advised(table: tuple[int, ...], e: int | None, m: int) -> Any:
    """maxsize for e, or the largest e for m; random tables of a small domain come again and again."""
    numbers, counts = np.unique(table, return_counts=True)
    line = Line(numbers, 1, np.arange(len(numbers)))
    return find_e_max(line, counts, m) if e is None else find_maxsize(line, counts, Near(Fraction(e), Fraction(0)))


def test_maxsize_and_the_largest_e_by_brute_force() -> None:
    """100,000 random tables with ties: every pair of rows is compared, as arrays."""
    rng = np.random.default_rng(4)
    n_tables = 0
    for n in (1, 2, 3, 5, 8):
        tables = np.sort(rng.choice([0, 1, 3, 4, 9], (20_000, n)), axis=1)
        e, m = rng.integers(0, 10, 20_000), rng.integers(1, 6, 20_000)
        gaps = tables[:, :, None] - tables[:, None, :]
        expected = ((gaps >= 0) & (gaps <= e[:, None, None])).sum(axis=2).max(axis=1).tolist()
        for table, near, parts, fullest in zip(tables.tolist(), e.tolist(), m.tolist(), expected, strict=True):
            h = n // parts
            gap = min((high - low for low, high in zip(table, table[h:], strict=False)), default=None)
            assert advised(tuple(table), near, 0) == fullest
            assert advised(tuple(table), None, parts) == gap
            n_tables += 1
    assert n_tables == 100_000


@settings(max_examples=600, deadline=None)
@given(
    values=st.lists(st.sampled_from([0, 0, 1, 2, 3, 5, 6, 12, None]), min_size=1, max_size=9),
    m=st.integers(1, 5), e=st.tuples(lengths, lengths), relative=st.booleans(),
)  # fmt: skip
def test_covering_sets_and_suprema_with_zeros_and_missing_values(values: Any, m: int, e: Any, relative: bool) -> None:
    epsilon = min(e[0], Fraction(1))
    near = Near(epsilon, epsilon, True) if relative else Near(*e)
    line, counts = counted(values, relative)
    exact = fractions(values)
    maxsize = find_maxsize(line, counts, near)
    assert maxsize == size(exact, reach(near))
    supremum = find_e_max(line, counts, m, relative)
    asked = near.below if relative else max(e)
    assert (m <= len(values) // maxsize) == (supremum is None or asked < supremum)


def test_theorems_1_and_2_over_all_partitions() -> None:
    """Every table of up to 5 rows of a small domain, and random ones of up to 7: achievable as the theorems say."""
    tables = [list(one) for n in range(1, 6) for one in combinations_with_replacement([0, 1, 3, 4], n)]
    rng = np.random.default_rng(7)
    tables += [rng.integers(0, 8, n).tolist() for n in (6, 7) for _ in range(6)]
    tables += [[None, None, 1, 2, 8], [None, 3, 3, 9, 9, 12]]
    for values in tables:
        exact = fractions(values)
        for near in (
            Near(Fraction(1), Fraction(1)),
            Near(Fraction(0), Fraction(2)),
            Near(Fraction(1, 2), Fraction(1, 2), True),
        ):
            line, counts = counted(values, near.relative)
            largest = len(values) // find_maxsize(line, counts, near)
            for m in {largest, largest + 1}:
                assert achievable(exact, reach(near), m) == (m <= largest), (values, near, m)
                supremum = find_e_max(line, counts, m, near.relative)
                longest = near.below if near.relative else max(near.below, near.above)
                assert (supremum is None or longest < supremum) == (m <= largest)


def test_merging_can_break_it_and_no_partition_is_skipped() -> None:
    near = (Fraction(15), Fraction(15), False)
    apart = [[Fraction(40), Fraction(60)], [Fraction(50), Fraction(80)]]
    assert all(anonymous(one, near, 2) for one in apart) and not anonymous([*apart[0], *apart[1]], near, 2)
    assert not Proximity(15, 2, on="s").monotone(repeats=False)
    assert sum(1 for _ in partitions(fractions([1, 2, 3, 4, 5]))) == 52
    assert covers(None, None, near) and not covers(None, Fraction(0), near)
