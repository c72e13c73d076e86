"""Before publication: every quasi-identifier on its declared domain, everything unpublished gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sfumato.data.codec import Codes, Domain, Level
from sfumato.data.hierarchies.rule import Hierarchy, Placed, with_missing
from sfumato.data.propose import place_proposed
from sfumato.data.schema import Schema
from sfumato.data.source import source_of
from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset


def prepare(dataset: Dataset, hierarchies: Mapping[str, Hierarchy], least: int, *, coarsens: bool = True) -> Dataset:
    """The dataset with quasi-identifiers on their hierarchies' domains; only columns that are published or count units.

    A quasi-identifier without a hierarchy gets a proposed one. Automatic ends have at least `least` units (2 or more)
    at or beyond them. A sensitive column with a hierarchy keeps its values exactly and gains order and levels. For a
    method that publishes quasi-identifiers exactly (`coarsens` false), only declared top and bottom coding applies.
    """
    schema = dataset.schema.with_hierarchies(hierarchies)
    columns, domains, codes = [], {}, {}
    notes: list[str] = []
    for column in schema:
        if column.role in (None, "identifier"):
            continue
        raw, own = dataset.domains[column.name], dataset.codes[column.name]
        placed = Placed(raw, np.arange(raw.size, dtype=np.int32))
        if column.role == "quasi":
            coarse = coarsens or _codes_ends(column.hierarchy)
            placed = placed_column(dataset, column.name, column.hierarchy, max(least, 2)) if coarse else placed
        elif column.role == "sensitive" and column.hierarchy is not None:
            placed = _only_present(column.hierarchy.place(source_of(dataset, column.name, 0)), raw)
        columns.append(replace(column, kind=placed.domain.kind))
        domains[column.name] = placed.domain
        codes[column.name] = placed.table[own]
        notes.extend(placed.notes)
    return replace(dataset, schema=Schema(tuple(columns)), domains=domains, codes=codes, notes=tuple(notes))


def placed_column(dataset: Dataset, name: str, hierarchy: Hierarchy | None, least: int) -> Placed:
    """A quasi-identifier on its hierarchy's domain, or on what is proposed for a column without one."""
    source = source_of(dataset, name, least)
    placed = place_proposed(source) if hierarchy is None else hierarchy.place(source)
    if placed is not None:
        return placed
    raw = source.domain
    if raw.kind == "boolean":
        both = Domain("boolean", pa.array([False, True]), region="set", complete=True)
        return Placed(*with_missing(both, raw.values.cast(pa.int32()).to_numpy(zero_copy_only=False), raw))
    return Placed(replace(raw, taken="values"), np.arange(raw.size, dtype=np.int32))


def _codes_ends(hierarchy: Hierarchy | None) -> bool:
    """Were ends declared, beyond which values are coded together?"""
    return any(getattr(hierarchy, end, None) is not None for end in ("low", "high"))


def _only_present(placed: Placed, raw: Domain) -> Placed:
    """The values present only, in the hierarchy's order and under its nodes; nothing is recoded together."""
    used = np.unique(placed.table)
    domain = placed.domain
    if len(used) < raw.size or domain.open_low or domain.open_high:
        raise ParameterError(
            "A sensitive column is published exactly, but its hierarchy's ends put several values into one. "
            "Leave low= and high= out, or make them wider."
        )
    rank = np.zeros(domain.size, dtype=np.int32)
    rank[used] = np.arange(len(used), dtype=np.int32)
    leaves = used[used < domain.n_values]
    levels = tuple(_restricted(level, used) for level in domain.levels)
    kept = replace(
        domain, values=domain.values.take(pa.array(leaves)), levels=levels, cell=None, complete=False, taken="nothing"
    )
    return Placed(kept, rank[placed.table], placed.notes)


def _restricted(level: Level, used: Codes) -> Level:
    nodes, node = np.unique(level.node[used], return_inverse=True)
    return Level(node.astype(np.int32), tuple(level.labels[int(n)] for n in nodes))
