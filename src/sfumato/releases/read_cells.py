"""From written cells back to codes: group ids and exact columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.data.codec import Codes, Domain, encode
from sfumato.errors import SchemaError
from sfumato.releases.form import Frame

Ints = NDArray[np.int64]


def column_of(table: pa.Table, name: str) -> pa.Array:
    """One column in one piece; its absence is a broken package."""
    if name not in table.column_names:
        raise SchemaError(f"The package has no column {name!r} where its datapackage.json says so. Verify the package.")
    found = table.column(name).combine_chunks()
    return found if isinstance(found, pa.Array) else pa.concat_arrays(found.chunks)


def group_ids(table: pa.Table) -> tuple[Ints, Ints]:
    """Group of every row and a first row of every group; ids must be 0 … G−1 without gaps."""
    column = column_of(table, "group_id")
    if not pa.types.is_integer(column.type) or column.null_count:
        raise SchemaError("Column 'group_id' must hold whole numbers and no NULL. Verify the package.")
    group = column.to_numpy(zero_copy_only=False).astype(np.int64)
    ids, first = np.unique(group, return_index=True)
    if not np.array_equal(ids, np.arange(len(ids))):
        raise SchemaError(f"Group ids must run from 0 to {len(ids) - 1} without gaps. Verify the package.")
    return group, first.astype(np.int64)


def exact_column(frame: Frame, table: pa.Table, name: str) -> tuple[Domain, Codes]:
    """Domain and codes of a column published as it is; a listed domain keeps its order and levels."""
    column, said = column_of(table, name), frame.domains[name]
    if not said.n_values:
        domain, codes = encode(column, said.kind)
        flags = {"open_low": said.open_low, "open_high": said.open_high, "complete": said.complete}
        return replace(domain, **flags), codes  # type: ignore[arg-type]
    codes = pc.index_in(column, said.values).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    gone = column.is_null().to_numpy(zero_copy_only=False)
    if (codes[~gone] < 0).any() or (gone.any() and not said.missing):
        raise SchemaError(f"Column {name!r} holds values that model/domains.parquet does not list. Verify the package.")
    return said, np.where(gone, np.int32(said.n_values), codes)
