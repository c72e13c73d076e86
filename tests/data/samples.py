"""Columns of every kind with a hierarchy each, for the laws of the data room."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from sfumato.data.dataset import Dataset, from_arrow
from sfumato.data.hierarchies.rule import Hierarchy
from sfumato.data.hierarchy import cuts, dates, groups, intervals, masking, ordered, prefixes, suppression

TOWNS = ["Aa", "Bb", "Cc", "Dd", "Ee"]
GRADES = ["low", "middle", "high", "top"]

integers = st.integers(-60, 140)
decimals = st.integers(-500, 500).map(lambda n: Decimal(n).scaleb(-1))
reals = st.integers(-400, 400).map(lambda n: n / 4)
days = st.dates(datetime.date(1979, 1, 1), datetime.date(1984, 12, 31))
zips = st.integers(53_600, 53_799).map(str)
codes = st.text("AB1", min_size=1, max_size=4)
parts = st.text("A1.-", min_size=1, max_size=5)

# name → (type, values, hierarchy or None for the proposed one)
KINDS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any], Hierarchy | None]] = {
    "integer proposed": (pa.int64(), integers, None),
    "integer intervals": (pa.int64(), integers, intervals(5, 10, 20)),
    "integer declared": (pa.int64(), integers, intervals(5, 10, 20, low=-60, high=140)),
    "integer half declared": (pa.int64(), integers, intervals(3, 6, low=0)),
    "integer clipped": (pa.int64(), integers, intervals(4, 8, low=0, high=50)),
    "integer cuts": (pa.int64(), integers, cuts([0, 18, 40, 65], [18, 65])),
    "integer masked": (pa.int64(), st.integers(100, 999), masking()),
    "integer masked left": (pa.int64(), st.integers(100, 999), masking("left")),
    "integer suppressed": (pa.int64(), integers, suppression()),
    "decimal proposed": (pa.decimal128(10, 1), decimals, None),
    "decimal intervals": (pa.decimal128(10, 1), decimals, intervals(0.5, 5)),
    "real proposed": (pa.float64(), reals, None),
    "real cuts": (pa.float64(), reals, cuts(-10, 0, 12.5, low=-100, high=100)),
    "date proposed": (pa.date32(), days, None),
    "date months": (pa.date32(), days, dates("month", "quarter", "year", "decade")),
    "date days": (pa.date32(), days, dates("day", "year")),
    "date declared": (pa.date32(), days, dates("month", "decade", low="1979-05-05", high="1984-01-01")),
    "text flat": (pa.string(), codes, None),
    "text zip": (pa.string(), zips, masking()),
    "text zip left": (pa.string(), zips, masking("left")),
    "text zip proposed": (pa.string(), zips, None),
    "text masked": (pa.string(), codes, masking()),
    "text masked left": (pa.string(), codes, masking("left")),
    "text groups": (
        pa.string(),
        st.sampled_from(TOWNS),
        groups({"n": {"n1": TOWNS[:2], "n2": TOWNS[2:3]}, "s": {"s1": TOWNS[3:]}}),
    ),
    "text prefixes": (pa.string(), parts, prefixes(".-")),
    "text ordered": (pa.string(), st.sampled_from(GRADES), ordered(GRADES)),
    "text ordered sizes": (pa.string(), st.sampled_from(GRADES), ordered([*GRADES, "best"], sizes=(2, 4))),
    "text suppressed": (pa.string(), codes, suppression()),
    "boolean": (pa.bool_(), st.booleans(), None),
    "boolean suppressed": (pa.bool_(), st.booleans(), suppression()),
    "integer groups": (pa.int64(), st.integers(0, 5), groups({"even": [0, 2, 4], "odd": [1, 3, 5]})),
    "integer groups in order": (pa.int64(), st.integers(0, 5), groups({"low": [0, 1, 2], "high": [5, 4, 3]})),
}


@st.composite
def columns(draw: st.DrawFn, kind: str, least: int = 1, most: int = 25) -> pa.Array:
    """Cells of one kind, some missing."""
    arrow, values, _ = KINDS[kind]
    cells = draw(st.lists(st.one_of(values, values, values, st.none()), min_size=least, max_size=most))
    return pa.array(cells, arrow)


def people(column: pa.Array, **more: pa.Array) -> Dataset:
    """A dataset with the column `x` as its quasi-identifier."""
    return from_arrow(pa.table({"x": column, **more})).roles(quasi=["x"])
