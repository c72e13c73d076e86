"""Vector steps on packed rows: LLVM turns each into a few instructions of whatever machine it runs on.

A row is `len(shape)` 16-bit lanes, a constant at compile time; `shape` is a tuple of that many zeros.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

BLOCK = 64
# Kernels allocate nothing, so they need no reference counts, which are atomic and shared between threads.
FAST = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}
_LANE = ir.IntType(16)


def _at(context: Any, builder: Any, kind: Any, array: Any, index: Any, width: int) -> Any:
    """Pointer to `width` lanes that begin at element `index` of a one-dimensional array.

    The index counts lanes: a vector whose width is no power of two would be stepped over with padding.
    """
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), ir.VectorType(_LANE, width).as_pointer())


@intrinsic
def copy_row(typing: Any, rows: Any, source: Any, to: Any, shape: Any) -> Any:
    """Copy row `source` to row `to`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        width = ir.Constant(ir.IntType(64), len(shape))
        begin, end = (builder.mul(one, width) for one in args[1:3])
        row = builder.load(_at(context, builder, rows, args[0], begin, len(shape)), align=2)
        builder.store(row, _at(context, builder, rows, args[0], end, len(shape)), align=2)
        return context.get_dummy_value()

    return types.void(rows, types.uint64, types.uint64, shape), codegen


@intrinsic
def hull_of_rows(typing: Any, rows: Any, first: Any, n: Any, ends: Any, shape: Any) -> Any:
    """Smallest code of every lane of rows first … first + n − 1 into `ends`, the largest behind them; n ≥ 1."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        width, word = len(shape), ir.IntType(64)
        start = builder.mul(args[1], ir.Constant(word, width))
        row = builder.load(_at(context, builder, rows, args[0], start, width), align=2)
        least, most = (cgutils.alloca_once_value(builder, row) for _ in range(2))
        with cgutils.for_range(builder, args[2]) as loop:
            index = builder.add(start, builder.mul(loop.index, ir.Constant(word, width)))
            found = builder.load(_at(context, builder, rows, args[0], index, width), align=2)
            for best, below in ((least, "<"), (most, ">")):
                known = builder.load(best)
                better = builder.icmp_unsigned(below, found, known)
                builder.store(builder.select(better, found, known), best)
        for best, place in ((least, 0), (most, width)):
            end = _at(context, builder, ends, args[3], ir.Constant(word, place), width)
            builder.store(builder.load(best), end, align=2)
        return context.get_dummy_value()

    return types.void(rows, types.uint64, types.uint64, ends, shape), codegen


@intrinsic
def count_upto(typing: Any, x: Any, n_blocks: Any, limit: Any) -> Any:
    """How many of the first 64·n_blocks values of x are at most `limit`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector, word = ir.VectorType(_LANE, BLOCK), ir.IntType(64)
        nothing = ir.Constant(word, 0)
        one = builder.insert_element(ir.Constant(vector, ir.Undefined), args[2], ir.Constant(ir.IntType(32), 0))
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), [0] * BLOCK)
        limits = builder.shuffle_vector(one, one, lanes)
        block = _at(context, builder, x, args[0], nothing, BLOCK)
        count = cgutils.alloca_once_value(builder, nothing)
        with cgutils.for_range(builder, args[1]) as loop:
            values = builder.load(builder.gep(block, [loop.index]), align=2)
            within = builder.bitcast(builder.icmp_unsigned("<=", values, limits), word)
            builder.store(builder.add(builder.load(count), builder.ctpop(within)), count)
        return builder.load(count)

    return types.uint64(x, types.uint64, types.uint16), codegen
