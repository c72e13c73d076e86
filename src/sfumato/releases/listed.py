"""model/domains.parquet: the leaves and nodes that published cells use, one row per leaf."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.codec import Codes, Domain, Level, text_of
from sfumato.errors import SchemaError

LEVEL = "level_"


def is_sorted(domain: Domain) -> bool:
    """True when the leaves are in the order that coding the cells anew would give."""
    order = np.asarray(pc.array_sort_indices(domain.values))
    return bool((order == np.arange(len(order))).all())


def listed_table(domains: Mapping[str, Domain]) -> pa.Table:
    """Columns `column`, `rank`, `value` (as text, NULL is the missing value), `level_1` … (NULL: the leaf itself)."""
    n_levels = max((len(domain.levels) for domain in domains.values()), default=0)
    parts = [_rows(name, domain, n_levels) for name, domain in domains.items()]
    empty = pa.schema(
        [("column", pa.string()), ("rank", pa.int32()), ("value", pa.string())]
        + [(f"{LEVEL}{i + 1}", pa.string()) for i in range(n_levels)]
    ).empty_table()
    return pa.concat_tables([empty, *parts]).combine_chunks()


def _rows(name: str, domain: Domain, n_levels: int) -> pa.Table:
    columns = {
        "column": pa.array([name] * domain.size, pa.string()),
        "rank": pa.array(np.arange(domain.size, dtype=np.int32)),
        "value": pa.array([text_of(value) for value in domain.values] + [None] * domain.missing, pa.string()),
    }
    for i in range(n_levels):
        labels = _labels(domain, domain.levels[i]) if i < len(domain.levels) else [None] * domain.size
        columns[f"{LEVEL}{i + 1}"] = pa.array(labels, pa.string())
    return pa.table(columns)


def _labels(domain: Domain, level: Level) -> list[str | None]:
    width = np.bincount(level.node)
    texts: list[str | None] = []
    for code, node in enumerate(level.node.tolist()):
        label = level.labels[node]
        texts.append(None if width[node] == 1 and label == domain.leaf_label(code) else label)
    return texts


def listed_domain(table: pa.Table, name: str, said: Domain, kind: pa.DataType, n_levels: int) -> Domain:
    """One column's domain from the table; `said` holds its flags."""
    rows = table.filter(pc.equal(table.column("column"), name)).combine_chunks()
    ranks = rows.column("rank").to_numpy()
    texts = rows.column("value").combine_chunks()
    n_missing = texts.null_count
    in_order = bool((ranks == np.arange(len(ranks))).all()) and n_missing == int(said.missing)
    if not in_order or (n_missing and texts[-1].is_valid):
        raise SchemaError(f"model/domains.parquet does not list column {name!r} in order. Verify the package.")
    try:
        values = texts.slice(0, len(texts) - n_missing).cast(kind)
    except pa.ArrowInvalid:
        message = f"model/domains.parquet: values of column {name!r} are not of type {kind}. Verify the package."
        raise SchemaError(message) from None
    bare = replace(said, values=values)
    levels = tuple(_level(bare, rows.column(f"{LEVEL}{i + 1}").to_pylist()) for i in range(n_levels))
    return replace(bare, levels=levels)


def _level(domain: Domain, texts: list[str | None]) -> Level:
    node: Codes = np.zeros(len(texts), dtype=np.int32)
    labels: list[str] = []
    for code, text in enumerate(texts):
        if code == 0 or text is None or text != texts[code - 1]:
            labels.append(domain.leaf_label(code) if text is None else text)
        node[code] = len(labels) - 1
    return Level(node, tuple(labels))
