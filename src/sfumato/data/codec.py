"""Values as integer codes: a `Domain` lists what a cell may hold, in leaf order, and the nodes above."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.data.steps import floats_of, steps_of

if TYPE_CHECKING:
    from sfumato.data.schema import Kind

Codes = NDArray[np.int32]
Region = Literal["range", "node", "set"]
Taken = Literal["nothing", "nodes", "values"]
ROOT = "*"
ANY = "(.., ..)"
"""Any value, but not a missing one."""
COUNTED_SPAN = 1 << 20
LONGEST_SET = 12
"""Longer sets are written by their first and last value."""


@dataclass(frozen=True, eq=False)
class Level:
    """One level of a hierarchy: `node[code]` is nondecreasing over the codes, `labels[node]` its name."""

    node: Codes = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Domain:
    """What a cell of one column may hold, as codes 0 … size−1 in leaf order.

    `values` are the leaves without the missing value; when `missing`, the last code is the missing value.
    Every node of every level is a contiguous run of codes, and so is every published region. `levels` go from
    fine to coarse, without the leaves and without the root `*`. An open end means "this value or beyond".
    `region` says what may be published for a run of codes: a `range` whose ends lie on the grid (`cell[code]`,
    nondecreasing, is the grid cell of a code; None: every leaf is a cell), the lowest common `node`, or the `set`
    of leaves of the run. `complete`: no cell can hold what is not listed (a declared domain); False when the list
    was taken from the data, so that an unseen row could hold something else. `taken`: what of a listed column's list
    the data decided: its values, its outermost nodes, or nothing. Codes in `withheld` stand for values that are there
    but not published; their leaf is the label of the node they are under. `between`: a grid too wide for a leaf a
    step; a cell of two leaves holds every value between them, coded as the first.
    """

    kind: Kind
    values: pa.Array = field(repr=False)
    missing: bool = False
    levels: tuple[Level, ...] = field(default=(), repr=False)
    region: Region = "range"
    cell: Codes | None = None
    open_low: bool = False
    open_high: bool = False
    complete: bool = False
    taken: Taken = "nothing"
    withheld: tuple[int, ...] = ()
    between: bool = False

    @property
    def n_values(self) -> int:
        """Leaves without the missing value."""
        return len(self.values)

    @property
    def size(self) -> int:
        """Number of codes, the missing value counted."""
        return len(self.values) + int(self.missing)

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """Leaf values as the nearest floats (dates as days since 1970, missing as NaN); None for text."""
        if self.kind == "text":
            return None
        values = self.values
        if pa.types.is_date32(values.type):
            values = values.cast(pa.int32())
        elif pa.types.is_boolean(values.type):
            values = values.cast(pa.int8())
        numbers = floats_of(values)
        return np.append(numbers, np.nan) if self.missing else numbers

    @cached_property
    def known(self) -> pa.Array:
        """Leaf values, null where a code stands for values that are not published."""
        if not self.withheld:
            return self.values
        mask = np.isin(np.arange(self.n_values), self.withheld)
        return self.values.take(pa.array(np.arange(self.n_values), mask=mask))

    @property
    def tells_all(self) -> bool:
        """Every cell holds one of the listed values and no other: no open end, no wide cell, a complete list."""
        return self.complete and not (self.open_low or self.open_high or self.between)

    @cached_property
    def wide(self) -> NDArray[np.bool_]:
        """Codes that stand for every value from theirs to the next, (size,): the first of two leaves of a cell."""
        found = np.zeros(self.size, dtype=np.bool_)
        if self.between and self.cell is not None:
            found[: self.n_values - 1] = np.diff(self.cell[: self.n_values]) == 0
        return found

    def n_withheld(self, low: Codes, high: Codes) -> NDArray[np.int64]:
        """How many codes of the runs low[i] … high[i] stand for values that are not published, (n,)."""
        before = np.zeros(self.size + 1, dtype=np.int64)
        before[1:] = np.cumsum(np.isin(np.arange(self.size), self.withheld))
        return np.asarray(before[high.astype(np.int64) + 1] - before[low], dtype=np.int64)

    def decode(self, codes: Codes) -> pa.Array:
        """The values behind codes; the missing value becomes null."""
        indices = pa.array(codes, mask=(codes == self.n_values) if self.missing else None)
        return self.values.take(indices)

    def with_missing(self) -> pa.Array:
        """All leaves in code order, null last when the missing value is one of them."""
        return pa.concat_arrays([self.values, pa.nulls(1, self.values.type)]) if self.missing else self.values

    def node_of(self, low: int, high: int) -> tuple[int, int, str]:
        """The lowest node that covers codes low … high, as its own (low, high, label)."""
        if low == high:
            return low, high, self.leaf_label(low)
        for level in self.levels:
            node = int(level.node[low])
            if node == level.node[high]:
                first = int(np.searchsorted(level.node, node, side="left"))
                last = int(np.searchsorted(level.node, node, side="right")) - 1
                return first, last, level.labels[node]
        return 0, self.size - 1, ROOT

    def cover(self, low: Codes, high: Codes) -> tuple[Codes, Codes]:
        """The smallest publishable regions that contain the runs low[i] … high[i]; shapes (n,).

        >>> d = Domain("integer", pa.array(range(10)), cell=np.repeat(np.arange(2, dtype=np.int32), 5))
        >>> [ends.tolist() for ends in d.cover(np.array([1, 3], np.int32), np.array([2, 7], np.int32))]
        [[0, 0], [4, 9]]
        """
        if self.region == "node":
            return self._cover_by_nodes(low, high)
        if self.region == "set" or self.cell is None:
            return low, high
        first = np.searchsorted(self.cell, self.cell[low], side="left")
        last = np.searchsorted(self.cell, self.cell[high], side="right") - 1
        return first.astype(np.int32), last.astype(np.int32)

    def _cover_by_nodes(self, low: Codes, high: Codes) -> tuple[Codes, Codes]:
        first = np.zeros(len(low), dtype=np.int32)
        last = np.full(len(low), self.size - 1, dtype=np.int32)
        for level in reversed(self.levels):
            same = level.node[low] == level.node[high]
            first[same] = np.searchsorted(level.node, level.node[low[same]], side="left")
            last[same] = np.searchsorted(level.node, level.node[low[same]], side="right") - 1
        leaf = low == high
        first[leaf], last[leaf] = low[leaf], high[leaf]
        return first, last

    def leaf_label(self, code: int) -> str:
        """How one leaf is written; open ends say so."""
        if self.missing and code == self.n_values:
            return "missing"
        text = text_of(self.values[code])
        if self.open_low and self.open_high and self.n_values == 1:
            return ANY if self.missing else ROOT
        if self.open_low and code == 0:
            return f"<= {text}"
        return f">= {text}" if self.open_high and code == self.n_values - 1 else text

    def range_label(self, low: int, high: int) -> str:
        """How a run of codes is written: a leaf, a node when the run is one, a range, or a set.

        >>> d = Domain("integer", pa.array([20, 21, 22]), missing=True)
        >>> d.range_label(0, 1), d.range_label(1, 3), d.range_label(2, 2)
        ('[20, 21]', '[21, 22] or missing', '22')
        """
        if low == high:
            return self.leaf_label(low)
        if self.region == "node":
            first, last, label = self.node_of(low, high)
            if (first, last) == (low, high):
                return label
        named = self.region == "set" and self.taken != "nothing" and not self.withheld
        if low == 0 and high == self.size - 1 and not named:
            return ROOT
        rest = " or missing" if self.missing and high == self.n_values else ""
        top = high - 1 if rest else high
        if self.region != "range":
            if any(low <= code <= high for code in self.withheld):
                return f"{{{self.leaf_label(low)}, …, {self.leaf_label(high)}}}"
            if high - low >= LONGEST_SET:
                return f"{{{self.leaf_label(low)}, …, {self.leaf_label(high)}}} ({high - low + 1} values)"
            return "{" + ", ".join(self.leaf_label(c) for c in range(low, high + 1)) + "}"
        if low == top:
            return self.leaf_label(low) + rest
        ends = [text_of(self.values[low]), text_of(self.values[top])]
        left = "(.." if self.open_low and low == 0 else f"[{ends[0]}"
        right = "..)" if self.open_high and top == self.n_values - 1 else f"{ends[1]}]"
        return f"{left}, {right}{rest}"


def text_of(value: pa.Scalar) -> str:
    """A value as it is written in labels and lists: one text per value, which casts back to it."""
    found = value.as_py()
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, Decimal):
        return f"{found:f}"
    return repr(found) if isinstance(found, float) else str(found)


def encode(array: pa.Array, kind: Kind) -> tuple[Domain, Codes]:
    """Dictionary-encode one column: distinct values in sorted order, missing last.

    >>> d, c = encode(pa.array(["b", None, "a"]), "text")
    >>> d.values.to_pylist(), d.missing, c.tolist()
    (['a', 'b'], True, [1, 2, 0])
    """
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    region: Region = "set" if kind == "text" else "range"
    if pa.types.is_integer(array.type) or pa.types.is_date32(array.type) or pa.types.is_floating(array.type):
        values, codes = _ranked(array)
    else:
        values, codes = _sorted(*_distinct(array))
    return Domain(
        kind, values, missing=array.null_count > 0 or bool((codes == len(values)).any()), region=region
    ), codes


def _ranked(array: pa.Array) -> tuple[pa.Array, Codes]:
    """Distinct numbers in order and each one's rank, the missing value as one beyond the last."""
    plain = array.cast(pa.int32()) if pa.types.is_date32(array.type) else array
    valid = None if not array.null_count else array.is_valid().to_numpy(zero_copy_only=False)
    numbers = (plain if valid is None else plain.drop_null()).to_numpy(zero_copy_only=False)
    distinct, ranks = _ranks(numbers)
    codes = ranks if valid is None else np.full(len(array), len(distinct), dtype=np.int32)
    if valid is not None:
        codes[valid] = ranks
    return pa.array(distinct, plain.type).cast(array.type), codes


def _ranks(numbers: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """Distinct values in order and each one's rank; by counting where the span allows it, else by sorting."""
    if len(numbers) and numbers.dtype.kind == "i":
        low, span = int(numbers.min()), int(numbers.max()) - int(numbers.min()) + 1
        if span <= max(COUNTED_SPAN, 4 * len(numbers)):
            at = numbers - numbers.dtype.type(low)
            there = np.zeros(span, dtype=bool)
            there[at] = True
            rank = np.cumsum(there, dtype=np.int32) - 1
            return (np.flatnonzero(there) + low).astype(numbers.dtype), rank.astype(np.int32)[at]
    distinct, ranks = np.unique(numbers, return_inverse=True)
    return distinct, ranks.astype(np.int32)


def _sorted(indices: NDArray[np.int64], dictionary: pa.Array) -> tuple[pa.Array, Codes]:
    """Values that occur, in order, and the codes of rows; the missing value is one beyond the last."""
    used = np.bincount(indices, minlength=len(dictionary) + 1)
    order = pc.array_sort_indices(dictionary).to_numpy(zero_copy_only=False)
    order = order[used[order] > 0]
    rank = np.full(len(dictionary) + 1, len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return dictionary.take(pa.array(order)), rank[indices]


def _distinct(array: pa.Array | pa.ChunkedArray) -> tuple[NDArray[np.int64], pa.Array]:
    """Indices into distinct values without null, the missing value as one beyond the last."""
    encoded = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    made_elsewhere = pa.types.is_dictionary(encoded.type)
    if not made_elsewhere:
        encoded = encoded.dictionary_encode()
    dictionary = encoded.dictionary
    indices = encoded.indices.fill_null(len(dictionary)).to_numpy(zero_copy_only=False)
    if not made_elsewhere:
        return indices, dictionary
    # Dictionaries made elsewhere may repeat a value or hold null.
    again = dictionary.dictionary_encode()
    if len(again.dictionary) == len(dictionary) and not dictionary.null_count:
        return indices, dictionary
    table = np.append(again.indices.fill_null(len(again.dictionary)).to_numpy(), len(again.dictionary))
    return table[indices], again.dictionary


def encode_into(domain: Domain, array: pa.Array) -> Codes:
    """Values as codes of an existing domain, −1 where it has no such value; shape (n,).

    Values beyond an open end are the end leaf. Numbers are compared as exact numbers, whatever their type.

    >>> d = Domain("integer", pa.array([20, 21, 22]), open_high=True)
    >>> encode_into(d, pa.array([19, 21, 99, None])).tolist()
    [-1, 1, 2, -1]
    """
    indices, dictionary = _distinct(array)
    table: Codes = np.append(_find(domain, dictionary), np.int32(domain.n_values if domain.missing else -1))
    return table[indices]


def _find(domain: Domain, values: pa.Array) -> Codes:
    """Codes of distinct values."""
    if domain.kind in ("text", "boolean"):
        found = pc.index_in(_as_type(values, domain.values.type), value_set=domain.known)
        if len(domain.values) == 0:
            return np.full(len(values), -1, dtype=np.int32)
        return np.array(found.fill_null(-1).cast(pa.int32()).to_numpy(zero_copy_only=False))
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        values = _as_type(values, domain.values.type)
    leaves: NDArray[Any]
    steps: NDArray[Any]
    if domain.kind == "real":
        leaves, steps = floats_of(domain.values), floats_of(values)
        known = ~np.isnan(steps)
    else:
        scale = domain.values.type.scale if domain.kind == "decimal" else 0
        leaves = steps_of(domain.values, scale)[0]
        steps, known = steps_of(values, scale)
    if len(leaves) == 0:
        return np.full(len(values), -1, dtype=np.int32)
    at = np.clip(np.searchsorted(leaves, steps), 0, len(leaves) - 1).astype(np.int32)
    here = leaves[at] == steps
    if domain.between and domain.cell is not None:
        below = np.maximum(at - 1, 0)
        inside = ~here & (leaves[below] < steps) & (steps < leaves[at]) & (domain.cell[below] == domain.cell[at])
        at, here = np.where(inside, below, at).astype(np.int32), here | inside
    if domain.open_low:
        here |= steps < leaves[0]
    if domain.open_high:
        here |= steps > leaves[-1]
    return np.where(here & known, at, np.int32(-1)).astype(np.int32)


def _as_type(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Values in another type; null where one cannot be."""
    try:
        return values.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.concat_arrays([_cast_one(value, wanted) for value in values])


def _cast_one(value: pa.Scalar, wanted: pa.DataType) -> pa.Array:
    try:
        return pa.array([value.cast(wanted).as_py()], wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(1, wanted)


def recode(codes: Mapping[str, Codes], tables: Mapping[str, Codes]) -> dict[str, Codes]:
    """Replace codes column by column through lookup tables (old code → new code)."""
    return {name: tables[name][column] if name in tables else column for name, column in codes.items()}
