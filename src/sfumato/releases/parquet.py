"""Parquet files that hold their columns and nothing else."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import SchemaError


def to_bytes(table: pa.Table) -> bytes:
    """A file without dictionary pages, statistics, page indexes or metadata: only plain pages of the cells."""
    sink = io.BytesIO()
    pq.write_table(
        table.replace_schema_metadata(None),
        sink,
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
        write_page_index=False,
        store_schema=False,
        data_page_version="1.0",
        row_group_size=1 << 20,
    )
    return sink.getvalue()


def from_source(source: Any, name: str) -> pa.Table:
    """The table in a path or buffer; anything that is not Parquet is a broken package."""
    try:
        return pq.read_table(source, memory_map=True, partitioning=None)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise SchemaError(
            f"{name} is not a readable Parquet file ({type(error).__name__}). Fetch the package anew."
        ) from None
