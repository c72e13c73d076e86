"""Privacy tests inside Mondrian: sensitive codes are parted first, so that a refused cut moves no row."""

from __future__ import annotations

from typing import Any

from numba import boolean, float64, njit, types, uint8, uint16, uint32, uint64
from numba.extending import intrinsic

from sfumato.kernels.mondrian_rows import FAST

LONG_RUN = 32
TEST = boolean(uint16[::1], float64[::1], float64[::1])
"""What a requirement's compiled test looks like: sorted codes of one group, parameters, table."""


@intrinsic
def _call(typing: Any, address: Any, codes: Any, parameters: Any, table: Any) -> Any:
    """Call the compiled test at an address; a plain number keeps the kernel's own type, and cache, the same."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(types.FunctionType(TEST).ftype)
        return builder.call(builder.inttoptr(args[0], kind), args[1:])

    return types.boolean(address, codes, parameters, table), codegen


@njit(**FAST)
def run_end(codes: Any, start: Any) -> Any:
    """Where the run of equal codes that begins at `start` ends: doubling steps, then bisection."""
    size, step, low = uint64(codes.size), uint64(1), start
    while low + step < size and codes[low + step] == codes[start]:
        low += step
        step += step
    high = min(low + step, size)
    while low + uint64(1) < high:
        middle = (low + high) >> uint64(1)
        if codes[middle] == codes[start]:
            low = middle
        else:
            high = middle
    return high


@njit(**FAST)
def part_runs(x: Any, limit: Any, source: Any, target: Any, n_left: Any) -> None:
    """`part_codes` for long runs: counts and fills a vector at a time."""
    left, right, start = uint64(0), n_left, uint64(0)
    while start < uint64(x.size):
        end, code = run_end(source, start), source[start]
        run = x[start:end]
        stay = uint32(0)
        for i in range(uint64(run.size)):
            stay = uint32(stay + uint32(run[i] <= limit))
        target[left : left + uint64(stay)] = code
        left += uint64(stay)
        goes = end - start - uint64(stay)
        target[right : right + goes] = code
        right += goes
        start = end


@njit(**FAST)
def part_codes(x: Any, limit: Any, source: Any, target: Any, n_left: Any) -> None:
    """Stable partition of sorted codes: both halves of `target` stay sorted."""
    n = uint64(x.size)
    n_codes = uint64(source[n - uint64(1)]) - uint64(source[0]) + uint64(1)
    if n_codes * uint64(LONG_RUN) <= n:
        part_runs(x, limit, source, target, n_left)
        return
    left = uint64(0)
    for i in range(n):
        goes = uint64(x[i] > limit)
        target[left + goes * (n_left + i - left - left)] = source[i]
        left += uint64(1) - goes


@njit(**FAST)
def mark_sides(x: Any, limit: Any, ids: Any, side: Any) -> None:
    """Note for every row by id whether it goes right, for columns that are sorted in another order."""
    for i in range(uint64(x.size)):
        side[uint64(ids[i])] = uint8(x[i] > limit)


@njit(**FAST)
def part_others(side: Any, ids: Any, ids_to: Any, codes: Any, codes_to: Any, n_left: Any) -> None:
    """Stable partition of a further sensitive column, which keeps its own sorted order of row ids."""
    left, right = uint64(0), n_left
    for i in range(uint64(ids.size)):
        stays = uint64(1) - uint64(side[uint64(ids[i])])
        to = left if stays else right
        ids_to[to] = ids[i]
        codes_to[to] = codes[i]
        left += stays
        right += uint64(1) - stays


@njit(**FAST)
def all_pass(codes: Any, tests: Any, span: Any) -> Any:
    """Whether every test accepts both halves span[0]:span[1] and span[1]:span[2] of columns span[3] apart.

    A row of `tests[0]` is address, column, and where its parameters and its table begin and end.
    """
    calls, parameters, tables = tests
    for t in range(uint64(calls.shape[0])):
        base = span[3] * uint64(calls[t, 1])
        own = parameters[uint64(calls[t, 2]) : uint64(calls[t, 3])]
        table = tables[uint64(calls[t, 4]) : uint64(calls[t, 5])]
        if not _call(calls[t, 0], codes[base + span[0] : base + span[1]], own, table):
            return False
        if not _call(calls[t, 0], codes[base + span[1] : base + span[2]], own, table):
            return False
    return True


@njit(**FAST)
def halves_pass(x: Any, limit: Any, node: Any, ids: Any, sensitive: Any, tests: Any) -> Any:
    """Part the sensitive codes into the other buffer and test both halves there; `node` is low, n, buffer, n_left."""
    low, n, now, n_left = node
    codes, others, side = sensitive
    n_rows = uint64(ids.size) >> uint64(1)
    n_columns = uint64(codes.size) // (n_rows + n_rows)
    start = now * n_columns * n_rows + low
    to = (uint64(1) - now) * n_columns * n_rows + low
    part_codes(x, limit, codes[start : start + n], codes[to : to + n], n_left)
    if n_columns > uint64(1):
        mark_sides(x, limit, ids[now * n_rows + low : now * n_rows + low + n], side)
    for c in range(uint64(1), n_columns):
        a = (now * (n_columns - uint64(1)) + c - uint64(1)) * n_rows + low
        b = ((uint64(1) - now) * (n_columns - uint64(1)) + c - uint64(1)) * n_rows + low
        p, q = start + c * n_rows, to + c * n_rows
        part_others(side, others[a : a + n], others[b : b + n], codes[p : p + n], codes[q : q + n], n_left)
    return all_pass(codes, tests, (to, to + n_left, to + n, n_rows))
