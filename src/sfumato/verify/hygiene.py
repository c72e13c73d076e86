"""Parquet files with nothing but plain pages of their cells, and documents that execute nothing."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.contracts import Finding
from sfumato.verify.prose import check_prose

MAGIC = b"PAR1"
MOST_JSON = 1 << 25
PLAIN = {"PLAIN", "RLE"}
PROVENANCE = {"format", "tool", "version", "method", "reproducible", "steps", "notes"}
PACKAGE = {"$schema", "name", "title", "licenses", "resources", "sfumato"}
OURS = {"format", "form", "table", "n_published", "n_suppressed", "columns"}
COLUMN = {
    "name", "kind", "role", "type", "published", "missing", "open_low", "open_high", "complete", "domain",
}  # fmt: skip
LISTED = {"listed", "levels", "cells", "taken", "withheld", "between"}
GRID = {"low", "high", "step", "cells"}
GUARANTEE = {"model", "parameters", "on", "achieved", "verified_by", "unit", "assumptions"}


def check_parquet(files: Mapping[str, bytes]) -> list[Finding]:
    """No dictionary pages, statistics, indexes, bloom filters, key-value metadata, or bytes between the pages."""
    findings = []
    for name in sorted(one for one in files if one.endswith(".parquet")):
        wrong = _traces(files[name])
        detail = f"{name} has {', '.join(wrong)}." if wrong else f"{name} has plain pages only."
        findings.append(Finding("no traces in files", not wrong, detail))
    return findings


def _traces(data: bytes) -> list[str]:
    try:
        meta = pq.read_metadata(io.BytesIO(data))
    except (pa.ArrowException, OSError):
        return ["no readable footer"]
    wrong = set()
    if meta.metadata:
        wrong.add("key-value metadata")
    if any(field.metadata for field in meta.schema.to_arrow_schema()) or meta.schema.to_arrow_schema().metadata:
        wrong.add("field metadata")
    pages = 0
    for row_group in range(meta.num_row_groups):
        for column in range(meta.num_columns):
            chunk = meta.row_group(row_group).column(column)
            pages += chunk.total_compressed_size
            wrong |= _traces_of_chunk(chunk)
    footer = int.from_bytes(data[-8:-4], "little")
    if len(MAGIC) + pages + footer + 8 != len(data) or data[:4] != MAGIC or data[-4:] != MAGIC:
        wrong.add("bytes that belong to no page")
    return sorted(wrong)


def _traces_of_chunk(chunk: Any) -> set[str]:
    wrong = set()
    if chunk.dictionary_page_offset is not None or not set(chunk.encodings) <= PLAIN:
        wrong.add("dictionary pages")
    if chunk.is_stats_set:
        wrong.add("statistics")
    if chunk.has_column_index or chunk.has_offset_index:
        wrong.add("page indexes")
    if getattr(chunk, "metadata", None):
        wrong.add("key-value metadata")
    return wrong


def check_documents(files: Mapping[str, bytes], documents: Mapping[str, Any]) -> list[Finding]:
    """Only the facts of the format in the JSON files; nothing that a viewer would execute in the others."""
    told = [
        _unknown(documents.get("datapackage.json"), PACKAGE),
        _unknown(_part(documents.get("datapackage.json"), "sfumato"), OURS),
        _unknown(documents.get("provenance.json"), PROVENANCE),
        _unknown(_part(documents.get("provenance.json"), "method"), {"name", "parameters"}),
        _unknown(documents.get("guarantees.json"), {"format", "unit", "guarantees"}),
        *(_unknown(one, COLUMN) for one in _list(_part(documents.get("datapackage.json"), "sfumato"), "columns")),
        *(
            _unknown_of_domain(_part(one, "domain"))
            for one in _list(_part(documents.get("datapackage.json"), "sfumato"), "columns")
        ),
        *(_unknown(one, GUARANTEE) for one in _list(documents.get("guarantees.json"), "guarantees")),
    ]
    n_unknown = sum(told)
    return [
        Finding(
            "nothing but the format's facts",
            not n_unknown,
            f"{n_unknown} entries of the JSON files are not part of the format." if n_unknown else "No other entries.",
        ),
        check_prose(files),
    ]


def check_derived(documents: Mapping[str, Any], digests: Mapping[str, str]) -> Finding:
    """croissant.json names the tables by the digests they have."""
    said = documents.get("croissant.json") or {}
    found = {str(one.get("contentUrl")): one.get("sha256") for one in said.get("distribution", [])}
    wrong = {name for name in digests if name.startswith("data/")} ^ set(found)
    wrong |= {name for name in found if found[name] != digests.get(name)}
    return Finding("croissant", not wrong, f"{len(wrong)} of its files differ." if wrong else "It names these tables.")


def _part(document: Any, key: str) -> Any:
    return document.get(key) if isinstance(document, dict) else None


def _list(document: Any, key: str) -> list[Any]:
    found = _part(document, key)
    return found if isinstance(found, list) else []


def _unknown(document: Any, known: set[str]) -> int:
    return len(set(document) - known) if isinstance(document, dict) else 1


def _unknown_of_domain(domain: Any) -> int:
    """A domain is a grid or a list."""
    if not domain:
        return 0
    return _unknown(domain["grid"], GRID) + len(domain) - 1 if "grid" in domain else _unknown(domain, LISTED)


def as_json(data: bytes) -> Any:
    """A JSON document, or None; one that is too large or too deep to be a description is none."""
    if len(data) > MOST_JSON:
        return None
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
