"""Do values that were to be removed survive anywhere? Their texts are looked for in all bytes, pages decompressed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sfumato.verify.cells import Cells, Said
from sfumato.verify.promises import as_text
from sfumato.verify.regions import axis_of

SHORTEST = 5
PLAIN_WORD = re.compile(r"[^\W\d_]{1,11}|[\d.,:/-]{1,11}")
DIGEST = re.compile(rb"[0-9a-f]{64}")
BLOCK = 1 << 22


@dataclass(frozen=True)
class Scan:
    """What was looked for and found; counts only."""

    n_values: int
    n_short: int
    n_shared: int
    n_found: int
    columns: tuple[str, ...]
    n_bytes: int


def scan(cells: Cells, files: Mapping[str, bytes], raw: pa.Table, suppressed: pa.Table) -> Scan:
    """Look for the texts of removed cells: of columns that are not published, of text quasi-identifiers that no cell
    names and no declared list holds, and of exact columns where only suppressed rows have the value.

    Texts under 5 characters, and texts that published cells hold rightly, are left out. Short plain words and numbers
    are looked for in cells only: in prose and JSON they may stand by right.
    """
    removed, columns = _removed(cells, raw, suppressed)
    long = {text for text in removed if len(text) >= SHORTEST}
    rightly = b"\n".join(text.encode() for text in _published_texts(cells, raw))
    shared = _found(long, rightly)
    wanted = long - shared
    in_cells = b"\n".join(text.encode() for text in _cell_texts(cells))
    prose = b"\n".join(_prose(name, data) for name, data in sorted(files.items()))
    telling = {text for text in wanted if not PLAIN_WORD.fullmatch(text)}
    found = _found(wanted, in_cells) | _found(telling, prose)
    n_short = len(removed) - len(long)
    return Scan(len(wanted), n_short, len(shared), len(found), tuple(columns), len(in_cells) + len(prose))


def _removed(cells: Cells, raw: pa.Table, suppressed: pa.Table) -> tuple[set[str], list[str]]:
    published = {said.name: said for said in cells.columns}
    removed: set[str] = set()
    columns = []
    for name in raw.column_names:
        said = published.get(name)
        values = _texts(raw.column(name))
        if said is None:
            removed |= values
        elif said.published == "exact":
            removed |= _texts(suppressed.column(name)) - _texts(cells.table_of(said).column(name))
        elif said.kind == "text":
            removed |= values - _named_texts(cells, said)
        else:
            continue
        columns.append(name)
    return removed, columns


def _published_texts(cells: Cells, raw: pa.Table) -> Iterable[str]:
    """Texts that published cells hold by right: the original's own, and listed leaves of text columns."""
    for said in cells.columns:
        if said.published == "exact":
            yield from _texts(cells.table_of(said).column(said.name)) & _texts(raw.column(said.name))
        else:
            yield from _named_texts(cells, said) & _texts(raw.column(said.name))
            yield said.name
    yield from ("missing", "never", "maybe", "always", "values")


def _named_texts(cells: Cells, said: Said) -> set[str]:
    """Listed leaves that the cells name, or that are listed because they were declared."""
    if said.name not in cells.leaves:
        return set()
    axis, table = axis_of(said, cells.leaves), cells.table_of(said)
    ends = table.select(list(said.ends)).group_by(list(said.ends)).aggregate([])
    regions = [axis.region(one) for one in zip(*(ends.column(name).to_pylist() for name in said.ends), strict=True)]
    texts = cells.leaves[said.name].texts
    return {text for code in axis.named(filter(None, regions)) if (text := texts[code]) is not None}


def _cell_texts(cells: Cells) -> Iterable[str]:
    """Every distinct text of every cell, but the labels of ranges, which are checked against their ends, and the steps
    of grids, whose digits may be those of a code elsewhere."""
    for table in cells.tables.values():
        for name in table.column_names:
            said, is_text = cells.said(name), pa.types.is_string(table.column(name).type)
            of_range = said is not None and said.published == "range"
            exact = said is not None and said.published == "exact"
            if exact or (is_text and not of_range):
                yield from _texts(table.column(name))
    for name, leaves in cells.leaves.items():
        said = cells.said(name)
        if said is not None and said.published == "range" and said.kind != "text":
            continue
        yield from (text for text in leaves.texts if text is not None)
        for level in leaves.levels:
            yield from {text for text in level if text is not None}


def _prose(name: str, data: bytes) -> bytes:
    """A file's bytes without digests; of a Parquet file the footer, for its pages are read as cells."""
    if name.endswith(".parquet"):
        return data[-8 - int.from_bytes(data[-8:-4], "little") :]
    return DIGEST.sub(b" ", data)


def _texts(column: pa.ChunkedArray) -> set[str]:
    values = column.unique().to_pylist()
    return {as_text(value) for value in values if value is not None}


def _found(texts: set[str], data: bytes) -> set[str]:
    """Those texts that occur in the bytes: by their first five bytes, all at once, then in full."""
    by_start: dict[int, list[bytes]] = {}
    for text in texts:
        encoded = text.encode()
        by_start.setdefault(int.from_bytes(encoded[:SHORTEST], "big"), []).append(encoded)
    if not by_start or len(data) < SHORTEST:
        return set()
    starts = np.array(sorted(by_start), dtype=np.uint64)
    found: set[bytes] = set()
    for at in range(0, len(data) - SHORTEST + 1, BLOCK):
        found |= _found_in_block(starts, by_start, data, at)
    return {text.decode() for text in found}


def _found_in_block(starts: np.ndarray, by_start: Mapping[int, Sequence[bytes]], data: bytes, at: int) -> set[bytes]:
    block = np.frombuffer(data, dtype=np.uint8, count=min(BLOCK + SHORTEST - 1, len(data) - at), offset=at)
    n = len(block) - SHORTEST + 1
    key = np.zeros(n, dtype=np.uint64)
    for i in range(SHORTEST):
        key = (key << np.uint64(8)) | block[i : i + n].astype(np.uint64)
    place = np.minimum(np.searchsorted(starts, key), len(starts) - 1)
    found: set[bytes] = set()
    for hit in np.flatnonzero(starts[place] == key).tolist():
        known = by_start[int(key[hit])]
        found.update(text for text in known if data.startswith(text, at + hit))
    return found
