"""The verifier's neighbourhoods agree with the requirement, which shares no code with it; what is planted is caught."""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.codec import encode
from sfumato.data.evidence import group_evidence
from sfumato.requirements.proximity import Proximity
from sfumato.verify.models import Unknown
from sfumato.verify.models_of_proximity import of_proximity

AMOUNTS = [Decimal(text) for text in ("0", "0.10", "0.12", "0.30", "1.00", "1.20", "2.50")]
DAYS = [datetime.date(2024, 2, day) for day in (1, 2, 5, 28)]
lengths = st.sampled_from(["0", "0.02", "0.1", "1/6", "0.2", "1", "3"]).map(Fraction)


def agree(table: list[list[Any]], asked: Proximity, kind: Any) -> None:
    domain, codes = encode(pa.array([value for one in table for value in one]), kind)
    group = np.repeat(np.arange(len(table)), [len(one) for one in table])
    evidence = group_evidence(group, len(table), {"s": codes}, {"s": domain}, None)
    found = asked.holds(evidence)
    holds, reached = of_proximity([Counter(one) for one in table], [len(one) for one in table], asked.parameters())
    assert holds == found.holds and reached == found.achieved


@settings(max_examples=250, deadline=None)
@given(
    table=st.lists(st.lists(st.sampled_from([*AMOUNTS, None]), min_size=1, max_size=7), min_size=1, max_size=4),
    m=st.integers(1, 4), e=st.tuples(lengths, lengths), kind=st.sampled_from(["decimal", "real"]),
)  # fmt: skip
def test_amounts_agree(table: list[list[Any]], m: int, e: Any, kind: str) -> None:
    if not any(value is not None for one in table for value in one):
        return
    if kind == "real":
        table = [[None if value is None else float(value) for value in one] for one in table]
    agree(table, Proximity(e[0], m, on="s"), kind)
    agree(table, Proximity(m=m, e1=e[0], e2=e[1], on="s"), kind)
    agree(table, Proximity(min(e[0], Fraction(1)), m, on="s", relative=True), kind)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.sampled_from(DAYS), min_size=1, max_size=5), min_size=1, max_size=3), st.integers(0, 30))
def test_days_agree(table: list[list[Any]], days: int) -> None:
    agree(table, Proximity(days, 2, on="s"), "date")


def test_a_thousand_planted_violations_are_caught() -> None:
    """Groups that just meet (ε, m): one value moved into the fullest neighbourhood breaks it."""
    rng = np.random.default_rng(3)
    planted = 0
    while planted < 1000:
        m, epsilon = int(rng.integers(2, 5)), int(rng.integers(1, 50))
        group = np.cumsum(epsilon + rng.integers(1, 9, m)).tolist()
        told = {"epsilon": epsilon, "m": m, "relative": False}
        assert of_proximity([Counter(group), Counter(group)], [m, m], told) == (True, {"m": m})
        to, moved = rng.choice(m, 2, replace=False)
        spoilt = list(group)
        spoilt[moved] = group[to] + int(rng.integers(-epsilon, epsilon + 1))
        assert not of_proximity([Counter(group), Counter(spoilt)], [m, m], told)[0]
        planted += 1


@pytest.mark.parametrize(
    ("values", "told"),
    [([1, 2], {"m": 2}), ([1, 2], {"m": 2, "epsilon": 1, "e1": 1, "e2": 1}), ([1, 2], {"m": 0, "epsilon": 1}),
     ([1, 2], {"m": 2, "e1": 1}), ([1, 2], {"m": 1.5, "epsilon": 1}), ([1, 2], {"m": 2, "epsilon": -1}),
     ([1, 2], {"m": 2, "epsilon": 2, "relative": True}), ([1, 2], {"m": 2, "epsilon": 1, "relative": "yes"}),
     (["a"], {"m": 1, "epsilon": 1}), ([True], {"m": 1, "epsilon": 1}),
     ([-1], {"m": 1, "epsilon": 1, "relative": True}),
     ([DAYS[0]], {"m": 1, "epsilon": 1, "relative": True})],
)  # fmt: skip
def test_what_means_nothing_is_not_known(values: list[Any], told: dict[str, Any]) -> None:
    with pytest.raises(Unknown):
        of_proximity([Counter(values)], [len(values)], told)
