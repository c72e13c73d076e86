"""The tutorial's census table of six people, and its published forms made by hand: release and raw pieces alike."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.contracts import Recipe
from sfumato.data.codec import Domain, Level
from sfumato.data.schema import Column, Schema
from sfumato.desk import PublishedRelease
from sfumato.releases.anatomized import Anatomized
from sfumato.releases.generalized import Generalized
from tests.oracles.queries import Cells, Matching, Row, Tiny

JANUARY, FEBRUARY, APRIL = datetime.date(1976, 1, 21), datetime.date(1976, 2, 28), datetime.date(1986, 4, 13)
PEOPLE: list[Row] = [
    (JANUARY, "M", "53715", 50_000),
    (APRIL, "F", "53715", 55_000),
    (FEBRUARY, "M", "53703", 60_000),
    (JANUARY, "M", "53703", 65_000),
    (APRIL, "F", "53706", 70_000),
    (FEBRUARY, "F", "53706", 75_000),
]
HOMOGENEOUS: list[Row] = [(*row[:3], pay) for row, pay in zip(PEOPLE, [50_000, 55_000, 60_000] * 2, strict=True)]
TYPES = {"born": pa.date32(), "sex": pa.string(), "zip": pa.string(), "salary": pa.int64()}
SCHEMA = Schema(
    (
        Column("born", "date", "quasi"),
        Column("sex", "text", "quasi"),
        Column("zip", "text", "quasi"),
        Column("salary", "integer", "sensitive"),
    )
)
ANY_SEX = ("F", "M")
ANY_BIRTH = (JANUARY, FEBRUARY, APRIL)
ANY_ZIP = ("53703", "53706", "53710", "53715")
DOMAINS = {
    "born": Domain("date", pa.array(ANY_BIRTH), complete=True),
    "sex": Domain("text", pa.array(ANY_SEX), region="node", complete=True),
    "zip": Domain(
        "text",
        pa.array(ANY_ZIP),
        levels=(
            Level(np.array([0, 0, 1, 1], np.int32), ("5370*", "5371*")),
            Level(np.zeros(4, np.int32), ("537**",)),
        ),
        region="node",
        complete=True,
    ),
}
RECIPE = Recipe("by hand", {})


def salaries(rows: Sequence[Row]) -> Domain:
    """The salaries that occur."""
    return Domain("integer", pa.array(sorted({row[3] for row in rows})))


def region_of(domain: Domain, values: Sequence[Any]) -> tuple[int, int]:
    """A run of leaves as codes of its ends."""
    leaves = domain.values.to_pylist()
    codes = [leaves.index(value) for value in values]
    assert codes == list(range(codes[0], codes[-1] + 1))
    return codes[0], codes[-1]


def generalized(
    regions: Sequence[tuple[Sequence[Any], Sequence[Any], Sequence[Any]]],
    rows: Sequence[Row] = PEOPLE,
    suppressed: int = 0,
    domains: dict[str, Domain] | None = None,
) -> PublishedRelease:
    """Rows whose births, sexes and ZIPs lie in these regions, row by row; the salaries are as they are."""
    known = {**DOMAINS, "salary": salaries(rows), **(domains or {})}
    distinct = list(dict.fromkeys(tuple(map(tuple, region)) for region in regions))
    group = np.array([distinct.index(tuple(map(tuple, region))) for region in regions], dtype=np.int64)
    ends = [[region_of(known[c], part) for c, part in zip(DOMAINS, r, strict=True)] for r in distinct]
    low = {c: np.array([end[i][0] for end in ends], np.int32) for i, c in enumerate(DOMAINS)}
    high = {c: np.array([end[i][1] for end in ends], np.int32) for i, c in enumerate(DOMAINS)}
    pay = [known["salary"].values.to_pylist().index(row[3]) for row in rows]
    exact = {"salary": np.array(pay, np.int32)}
    return PublishedRelease(Generalized("census", SCHEMA, known, low, high, group, exact, RECIPE, suppressed))


def permuted(groups: Sequence[Sequence[int]], rows: Sequence[Row] = PEOPLE) -> PublishedRelease:
    """People in groups (numbers of rows, from 0) that share their salaries in an unknown order."""
    known = {**DOMAINS, "salary": salaries(rows)}
    order = [i for group in groups for i in group]
    owner = np.array([g for g, group in enumerate(groups) for _ in group], dtype=np.int64)
    codes = {
        c: np.array([known[c].values.to_pylist().index(rows[i][k]) for i in order], np.int32)
        for k, c in enumerate(known)
    }
    pay = codes.pop("salary")
    return PublishedRelease(Anatomized("census", SCHEMA, known, codes, owner, {"salary": pay}, owner.copy(), RECIPE))


def cells(regions: Sequence[Any], rows: Sequence[Row] = PEOPLE) -> Tiny:
    """The same generalized table for enumeration."""
    pieces = [(*map(tuple, region), (row[3],)) for region, row in zip(regions, rows, strict=True)]
    return Tiny(TYPES, [Cells(pieces)])


def matching(groups: Sequence[Sequence[int]], rows: Sequence[Row] = PEOPLE) -> Tiny:
    """The same permuted table for enumeration."""
    return Tiny(TYPES, [Matching([([rows[i][:3] for i in g], [rows[i][3:] for i in g]) for g in groups])])
