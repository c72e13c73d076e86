"""How regions are written: a label for people, and physical ends that any tool can compare.

Ranges have their ends as numbers or dates, NULL where nothing bounds them, and `__null` (never, maybe, always) when
the column has missing cells. Nodes and sets have ranks into `model/domains.parquet`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.data.codec import Codes, Domain
from sfumato.data.schema import Schema
from sfumato.errors import SchemaError
from sfumato.releases.distinct import distinct_rows

NULL_STATES = ("never", "maybe", "always")


def labels(domain: Domain, low: Codes, high: Codes) -> pa.Array:
    """The label of every region; each distinct region is written once."""
    found = distinct_rows([low, high], len(low))
    texts = [domain.range_label(int(a), int(b)) for a, b in zip(low[found.first], high[found.first], strict=True)]
    return pa.array(texts, pa.string()).take(pa.array(found.of))


def ends(name: str, domain: Domain, low: Codes, high: Codes) -> dict[str, pa.Array]:
    """The end columns of one quasi-identifier.

    >>> d = Domain("integer", pa.array([20, 21, 22]), missing=True, open_high=True)
    >>> {k: v.to_pylist() for k, v in ends("age", d, np.array([0, 2], np.int32), np.array([1, 3], np.int32)).items()}
    {'age__lo': [20, 22], 'age__hi': [21, None], 'age__null': ['never', 'maybe']}
    """
    if domain.region != "range":
        return {f"{name}__lo": pa.array(low, pa.int32()), f"{name}__hi": pa.array(high, pa.int32())}
    top = domain.n_values - 1
    gone = low > top
    last = np.minimum(high, top)
    no_lo = gone | (low == 0) if domain.open_low else gone
    no_hi = gone | (last == top) if domain.open_high else gone
    columns = {
        f"{name}__lo": domain.values.take(pa.array(low, mask=no_lo)),
        f"{name}__hi": domain.values.take(pa.array(last, mask=no_hi)),
    }
    if domain.missing:
        state = (high > top).astype(np.int8) + gone.astype(np.int8)
        columns[f"{name}__null"] = pa.array(NULL_STATES).take(pa.array(state))
    return columns


def end_names(name: str, domain: Domain) -> tuple[str, ...]:
    """Names of the end columns, in order."""
    null = (f"{name}__null",) if domain.region == "range" and domain.missing else ()
    return (f"{name}__lo", f"{name}__hi", *null)


def codes_of_ends(name: str, domain: Domain, columns: Mapping[str, pa.Array]) -> tuple[Codes, Codes]:
    """The regions behind end columns: the way back from `ends`; ends that are no leaf are refused."""
    lo, hi = columns[f"{name}__lo"], columns[f"{name}__hi"]
    if domain.region != "range":
        low, high = _whole(lo, 0), _whole(hi, -1)
    else:
        low, high = _codes(domain, lo, 0), _codes(domain, hi, domain.n_values - 1)
        low = low if domain.open_low else np.where(_gone(lo), -1, low)
        high = high if domain.open_high else np.where(_gone(hi), -1, high)
        if domain.missing:
            state = pc.index_in(columns[f"{name}__null"], pa.array(NULL_STATES)).fill_null(-1).to_numpy()
            # The missing value comes after the last leaf, so a run that holds it holds that leaf too.
            high = np.where((state == 2) | ((state == 1) & (high == domain.n_values - 1)), domain.n_values, high)
            high = np.where((state == 1) & (high != domain.n_values), -1, high)
            low = np.where(state == 2, domain.n_values, low)
    if len(low) and (low.min() < 0 or (high < low).any() or high.max() >= domain.size):
        raise SchemaError(f"Column {name!r}: the ends of some regions are not on its domain. Verify the package.")
    return low.astype(np.int32), high.astype(np.int32)


def _whole(ranks: pa.Array, instead: int) -> Codes:
    codes: Codes = ranks.cast(pa.int32()).fill_null(instead).to_numpy(zero_copy_only=False)
    return codes


def _codes(domain: Domain, ends: pa.Array, at_null: int) -> Codes:
    found = pc.index_in(ends, domain.values).fill_null(-1)
    codes = found.to_numpy(zero_copy_only=False)
    return np.where(_gone(ends), at_null, codes).astype(np.int32)


def _gone(ends: pa.Array) -> NDArray[np.bool_]:
    gone: NDArray[np.bool_] = ends.is_null().to_numpy(zero_copy_only=False)
    return gone


def group_columns(sizes: NDArray[np.int64], schema: Schema) -> dict[str, pa.Array]:
    """Id and number of rows of every group; the number has a longer name where the release has a column `size`."""
    taken, counted = {column.name.lower() for column in schema}, "size"
    while counted in taken:
        counted = f"group_{counted}"
    return {"group_id": pa.array(np.arange(len(sizes))), counted: pa.array(sizes)}
