"""Numbers and dates as whole steps of a grid: integers, decimals at a scale, days since 1970."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sfumato.data.schema import Kind

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
MOST_DECIMALS = 9
EXACT_POWERS = 22
"""Powers of ten up to this are exact floats, so that a quotient by one is rounded once."""
BIGGEST = np.iinfo(np.int64).max


def steps_of(values: pa.Array, scale: int = 0) -> tuple[Ints, Bools]:
    """Values in whole steps of 10^−scale, and which of them lie on that grid; shapes (n,).

    Numbers too large for 64 bits saturate. Missing values and text are not on the grid.

    >>> [part.tolist() for part in steps_of(pa.array([1.25, 0.333, None]), 2)]
    [[125, 33, 0], [True, False, False]]
    """
    found = values.is_valid().to_numpy(zero_copy_only=False)
    kind = values.type
    if pa.types.is_floating(kind):
        return _float_steps(values, scale, found)
    if pa.types.is_decimal(kind):
        return _decimal_steps(values, scale, found)
    if pa.types.is_date(kind):
        values = values.cast(pa.date32()).cast(pa.int32())
    elif not (pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        return np.zeros(len(values), dtype=np.int64), np.zeros(len(values), dtype=bool)
    if pa.types.is_uint64(kind):
        values = pc.if_else(pc.greater(values, pa.scalar(BIGGEST, pa.uint64())), BIGGEST, values)
    whole = values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return _times(whole, 10**scale), found


def floats_of(values: pa.Array) -> NDArray[np.float64]:
    """Numbers as the nearest 64-bit floats, ties to even, missing as NaN; shape (n,). Arrow's own cast is not nearest.

    >>> floats_of(pa.array(["3.05", None]).cast(pa.decimal128(5, 2))).tolist()
    [3.05, nan]
    """
    if not pa.types.is_decimal(values.type):
        return np.array(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
    scale = values.type.scale
    if values.type.bit_width <= 128 and 0 <= scale <= EXACT_POWERS:
        steps, there = steps_of(values, scale)
        if bool((np.abs(steps) < 2**53).all()):
            return np.where(there, steps / 10.0**scale, np.nan)
    return np.array([np.nan if one is None else float(one) for one in values.to_pylist()], dtype=np.float64)


def scale_of(kind: pa.DataType) -> int:
    """Decimals of an Arrow type.

    >>> scale_of(pa.decimal128(10, 2)), scale_of(pa.int64())
    (2, 0)
    """
    return int(kind.scale) if pa.types.is_decimal(kind) else 0


def values_of(steps: Ints, kind: Kind, scale: int = 0) -> pa.Array:
    """The inverse of `steps_of` for integer, decimal and date columns.

    >>> values_of(np.array([125, -5]), "decimal", 2).to_pylist()
    [Decimal('1.25'), Decimal('-0.05')]
    """
    steps = np.ascontiguousarray(steps, dtype=np.int64)
    if kind == "date":
        return pa.array(steps.astype(np.int32)).cast(pa.date32())
    if kind == "integer":
        return pa.array(steps)
    words = np.empty((len(steps), 2), dtype=np.int64)
    words[:, 0], words[:, 1] = steps, steps >> 63
    return pa.Array.from_buffers(pa.decimal128(18, scale), len(steps), [None, pa.py_buffer(words)])


def decimals_of(numbers: NDArray[np.float64]) -> int | None:
    """The fewest decimals that write every number exactly as its shortest text, None if more than nine.

    >>> decimals_of(np.array([0.5, 12.25])), decimals_of(np.array([1 / 3])), decimals_of(np.array([7.0]))
    (2, None, 0)
    """
    if not np.isfinite(numbers).all() or (len(numbers) and np.abs(numbers).max() >= 2.0**52):
        return None
    for scale in range(MOST_DECIMALS + 1):
        scaled = numbers * 10.0**scale
        if len(scaled) and np.abs(scaled).max() >= 2.0**52:
            return None
        if bool((np.rint(scaled) / 10.0**scale == numbers).all()):
            return scale
    return None


def _float_steps(values: pa.Array, scale: int, found: Bools) -> tuple[Ints, Bools]:
    numbers = values.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
    scaled = np.rint(np.where(np.isnan(numbers), 0.0, numbers) * 10.0**scale)
    whole = np.clip(scaled, -(2.0**62), 2.0**62).astype(np.int64)
    # Beyond 2^53 the grid is finer than floats; such numbers only ever fall beyond an open end.
    on_grid = (scaled / 10.0**scale == numbers) | np.isinf(scaled)
    return whole, found & on_grid & ~np.isnan(numbers)


def _decimal_steps(values: pa.Array, scale: int, found: Bools) -> tuple[Ints, Bools]:
    own = values.type.scale
    values = values.cast(pa.decimal128(38, own)) if values.type != pa.decimal128(38, own) else values
    values = pa.concat_arrays([values.fill_null(0)])
    words = np.frombuffer(values.buffers()[1], dtype=np.int64)[2 * values.offset :].reshape(-1, 2)[: len(values)]
    whole = words[:, 0].copy()
    wide = words[:, 1] != (whole >> 63)
    whole[wide] = np.where(words[wide, 1] < 0, -BIGGEST, BIGGEST)
    if own <= scale:
        return _times(whole, 10 ** (scale - own)), found
    factor = 10 ** (own - scale)
    return whole // factor, found & ((whole % factor == 0) | wide)


def _times(whole: Ints, factor: int) -> Ints:
    if factor == 1:
        return whole
    limit = BIGGEST // factor
    return np.clip(whole, -limit, limit) * factor
