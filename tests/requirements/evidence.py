"""Evidence for tests, from plain lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sfumato.data.codec import Domain, Level
from sfumato.data.evidence import Groups, group_evidence
from tests.oracles.requirements import Row


def domain_of(m: int, levels: Sequence[Sequence[int]] = ()) -> Domain:
    """Values 0 … m−1 under a tree."""
    made = tuple(
        Level(np.array(level, dtype=np.int32), tuple(f"node {i}" for i in range(max(level) + 1))) for level in levels
    )
    return Domain("integer", pa.array(range(m)), levels=made)


def groups_of(rows: Sequence[Row], m: int, levels: Sequence[Sequence[int]] = (), units: bool = False) -> Groups:
    """Evidence of rows (group, value, unit) on the column `x`."""
    names = sorted({group for group, _, _ in rows}, key=repr)
    persons = sorted({unit for _, _, unit in rows}, key=repr)
    group = np.array([names.index(row[0]) for row in rows], dtype=np.int64)
    codes = np.array([row[1] for row in rows], dtype=np.int32)
    unit = np.array([persons.index(row[2]) for row in rows], dtype=np.int32) if units else None
    return group_evidence(group, len(names), {"x": codes}, {"x": domain_of(m, levels)}, unit)


def counted(*histograms: Sequence[int]) -> Groups:
    """Evidence of groups given by how often each value occurs."""
    m = max(len(h) for h in histograms)
    rows: list[Row] = []
    for g, h in enumerate(histograms):
        rows += [(g, v, len(rows) + i) for v, n in enumerate(h) for i in range(n)]
    return groups_of(rows, m)
