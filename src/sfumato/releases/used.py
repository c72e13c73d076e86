"""Domains cut to what published cells use, so that nothing else of the original shows.

A declared grid stays whole: its ends and widths are policy, not data. A listed domain keeps the leaves of published
regions and the names of published nodes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.codec import Codes, Domain, Level
from sfumato.data.steps import scale_of, steps_of
from sfumato.releases.withheld import dense, levels_over, published_nodes, withhold

Flags = NDArray[np.bool_]


def is_grid(domain: Domain) -> bool:
    """True when ranges are published and the leaves are equal steps: ends and step then describe all leaves."""
    if domain.region != "range" or domain.kind not in ("integer", "decimal", "date") or not domain.n_values:
        return False
    if domain.between:
        return False
    steps = np.diff(steps_of(domain.values, scale_of(domain.values.type))[0])
    return bool((steps == steps[0]).all() and steps[0] > 0) if len(steps) else True


def used_by_regions(domain: Domain, low: Codes, high: Codes) -> tuple[Domain, Codes, Codes]:
    """The domain cut to published regions low[g] … high[g], and the regions in its codes."""
    keep = np.zeros(domain.size + 1, dtype=np.int64)
    np.add.at(keep, low, 1)
    np.add.at(keep, high.astype(np.int64) + 1, -1)
    used = np.cumsum(keep)[:-1] > 0
    if is_grid(domain):
        cut = _cut_grid(domain, used)
    else:
        cut = _cut(domain, used, _levels_of_nodes(domain, low, high) if domain.region == "node" else ())
        # Whether other values were declared shows only where a cell stands for all of them.
        told = domain.kind == "boolean" or bool(((low == 0) & (high == domain.size - 1)).any())
        cut = cut if told else replace(cut, complete=False)
    rank = np.cumsum(used if not is_grid(domain) else np.ones(domain.size, dtype=bool)) - 1
    return withhold(cut, rank[low].astype(np.int32), rank[high].astype(np.int32))


def used_by_values(domain: Domain, codes: Codes, levels: bool) -> tuple[Domain, Codes]:
    """The domain cut to values that occur, and the codes in it; `levels` keeps the hierarchy above them."""
    used = np.bincount(codes, minlength=domain.size) > 0
    plain = replace(domain, region="set" if domain.kind == "text" else "range", cell=None)
    cut = _cut(plain, used, plain.levels if levels else ())
    rank = np.cumsum(used) - 1
    return cut, rank[codes].astype(np.int32)


def _cut_grid(domain: Domain, used: Flags) -> Domain:
    missing = domain.missing and bool(used[-1])
    size = domain.n_values + int(missing)
    cell = None if domain.cell is None else dense(domain.cell[:size])
    if cell is not None and int(cell[-1]) == size - 1:
        cell = None
    return replace(
        domain, missing=missing, levels=(), cell=cell, complete=domain.complete and missing == domain.missing
    )


def _cut(domain: Domain, used: Flags, levels: tuple[Level, ...]) -> Domain:
    leaves = used[: domain.n_values]
    listed = np.flatnonzero(leaves)
    rank = np.cumsum(used) - 1
    return replace(
        domain,
        values=domain.values if leaves.all() else domain.values.take(pa.array(listed)),
        missing=domain.missing and bool(used[-1]),
        levels=tuple(_cut_level(level, used) for level in levels),
        cell=None if domain.cell is None else dense(domain.cell[used]),
        open_low=domain.open_low and bool(leaves[:1].all()),
        open_high=domain.open_high and bool(leaves[-1:].all()),
        complete=domain.complete and bool(used.all()),
        withheld=tuple(int(rank[code]) for code in domain.withheld if used[code]),
    )


def _cut_level(level: Level, used: Flags) -> Level:
    node = level.node[used]
    starts = np.flatnonzero(np.diff(node, prepend=-1))
    return Level(dense(node), tuple(level.labels[int(node[at])] for at in starts))


def _levels_of_nodes(domain: Domain, low: Codes, high: Codes) -> tuple[Level, ...]:
    """Levels that name the published nodes only; below and beside them every leaf stands for itself."""
    wanted = published_nodes(domain, low, high)
    return levels_over([domain.leaf_label(code) for code in range(domain.size)] if wanted else [], wanted)
