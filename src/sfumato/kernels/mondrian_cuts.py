"""Where Mondrian cuts one lane of one node, and calls of the privacy tests: shared by the kernels of every width."""

from __future__ import annotations

from typing import Any

from numba import boolean, float64, int32, int64, njit, types, uint8, uint16, uint32, uint64
from numba.extending import intrinsic

TEST = boolean(uint16[::1], float64[::1], float64[::1])
"""What a requirement's compiled test looks like: sorted codes of one group, parameters, table."""
BLOCK = 64
MOST_SCANNED = 1 << 15
MOST_SPLIT_COUNTERS = 1 << 12
LIMIT = types.UniTuple(uint64, 3)


@intrinsic  # type: ignore[untyped-decorator]
def _call(context: Any, address: Any, codes: Any, parameters: Any, table: Any) -> Any:
    """Call the compiled test at an address; a plain number keeps the kernel's own type, and cache, the same."""

    def codegen(target: Any, builder: Any, _: Any, args: Any) -> Any:
        kind = target.get_value_type(types.FunctionType(TEST).ftype)
        return builder.call(builder.inttoptr(args[0], kind), args[1:])

    return types.boolean(address, codes, parameters, table), codegen


@njit(LIMIT(uint16[::1], uint64, uint64, uint64, uint64), cache=True, nogil=True, error_model="numpy")
def scan_limit(x: Any, n: Any, low: Any, high: Any, target: Any) -> Any:
    """The smallest value v with at least `target` of x[:n] up to v: (v, how many are below v, how many up to v).

    Bisects over low … high, counting 64 values at a time; x is overwritten by 65535 from n to the next block's end.
    """
    end = (n + uint64(BLOCK - 1)) // uint64(BLOCK) * uint64(BLOCK)
    for i in range(n, end):
        x[uint64(i)] = uint16(65535)
    below, upto = uint64(0), n
    while low < high:
        middle = (low + high) >> uint64(1)
        limit = uint16(middle)
        count = uint64(0)
        for start in range(uint64(0), end, uint64(BLOCK)):
            block = x[start : start + uint64(BLOCK)]
            part = uint16(0)
            for j in range(BLOCK):
                part = uint16(part + uint16(block[j] <= limit))
            count += uint64(part)
        enough = count >= target
        high = middle if enough else high
        upto = count if enough else upto
        low = low if enough else middle + uint64(1)
        below = below if enough else count
    return low, below, upto


@njit(LIMIT(uint16[::1], uint32[::1], uint64, uint64, uint64), cache=True, nogil=True, error_model="numpy")
def count_limit(x: Any, counters: Any, low: Any, high: Any, target: Any) -> Any:
    """The same from a histogram, for long x. Narrow lanes use four counters a value, so that runs do not wait."""
    width = high - low + uint64(1)
    stride = width if width <= uint64(MOST_SPLIT_COUNTERS) else uint64(0)
    counters[: width + uint64(3) * stride] = uint32(0)
    for i in range(uint64(x.size)):
        at = (uint64(i) & uint64(3)) * stride + uint64(x[i]) - low
        counters[at] += uint32(1)
    below, upto = uint64(0), uint64(0)
    value = uint64(0)
    for v in range(width):
        here = uint64(counters[v])
        if stride:
            here += uint64(counters[stride + v]) + uint64(counters[stride + stride + v])
            here += uint64(counters[stride + stride + stride + v])
        upto = below + here
        value = uint64(v)
        if upto >= target:
            break
        below = upto
    return value + low, below, upto


@njit(types.void(uint16[::1], uint16, uint64, uint64), cache=True, nogil=True, error_model="numpy")
def deal_ties(x: Any, value: Any, wanted: Any, ties: Any) -> None:
    """Relaxed recoding: x becomes 0 (left) or 1 (right); of the `ties` equal to value, `wanted` go left, evenly."""
    dealt = uint64(0)
    for i in range(uint64(x.size)):
        if x[i] == value:
            dealt += wanted
            x[i] = uint16(0 if dealt >= ties else 1)
            dealt -= ties if dealt >= ties else uint64(0)
        else:
            x[i] = uint16(x[i] > value)


@njit(types.UniTuple(uint64, 2)(uint64, LIMIT, uint64[::1]), cache=True, nogil=True, error_model="numpy")
def choose_boundary(n: Any, limit: Any, rules: Any) -> Any:
    """Strict recoding: (last value on the left, rows on the left); no rows on the left when no cut is allowed.

    `rules` is least, median?, relaxed?, once?. Counts grow with the boundary, so the one nearest n/2 is next to the
    lower median, and if it lies too near an end then so do all beyond it.
    """
    value, below, upto = limit
    least = rules[0]
    lower = below >= least and rules[1] == uint64(0)
    upper = n - upto >= least
    if lower and not (upper and upto + upto - n < n - below - below):
        return value - uint64(1), below
    return value, upto if upper else uint64(0)


@njit(
    types.UniTuple(uint64, 2)(uint16[::1], uint64, uint32[::1], uint64, uint64, uint64[::1]),
    cache=True,
    nogil=True,
    error_model="numpy",
)
def cut_lane(x: Any, n: Any, counters: Any, low: Any, high: Any, rules: Any) -> Any:
    """Cut the n values of x, all within low … high: (last value on the left, rows on the left, 0 when refused)."""
    relaxed = rules[2] != uint64(0)
    target = (n if relaxed else n + uint64(1)) >> uint64(1)
    if n <= uint64(MOST_SCANNED):
        limit = scan_limit(x, n, low, high, target)
    else:
        limit = count_limit(x, counters, low, high, target)
    if not relaxed:
        return choose_boundary(n, limit, rules)
    deal_ties(x[:n], uint16(limit[0]), target - limit[1], limit[2] - limit[1])
    return uint64(0), target


@njit(
    types.void(uint16[::1], uint16, uint16[::1], uint16[::1], uint64),
    cache=True,
    nogil=True,
    error_model="numpy",
)
def part_codes(x: Any, limit: Any, source: Any, target: Any, n_left: Any) -> None:
    """Stable partition of sorted codes: both halves of `target` stay sorted."""
    left, right = uint64(0), n_left
    for i in range(uint64(x.size)):
        stays = uint64(x[i] <= limit)
        target[left if stays else right] = source[i]
        left += stays
        right += uint64(1) - stays


@njit(
    types.void(uint16[::1], uint16, uint32[::1], uint8[::1]),
    cache=True,
    nogil=True,
    error_model="numpy",
)
def mark_sides(x: Any, limit: Any, ids: Any, side: Any) -> None:
    """Note for every row by id whether it goes right, for columns that are sorted in another order."""
    for i in range(uint64(x.size)):
        side[uint64(ids[i])] = uint8(x[i] > limit)


@njit(
    types.void(uint8[::1], uint32[::1], uint32[::1], uint16[::1], uint16[::1], uint64),
    cache=True,
    nogil=True,
    error_model="numpy",
)
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


@njit(
    types.void(uint16[::1], int32[::1], uint64[::1], float64[::1], float64[::1]),
    cache=True,
    nogil=True,
    error_model="numpy",
)
def spread(ends: Any, cells: Any, offsets: Any, scale: Any, share: Any) -> None:
    """Share of its domain that each lane still spans, −1 for a lane that no longer varies."""
    d = uint64(share.size)
    for j in range(d):
        low, high = uint64(ends[j]), uint64(ends[d + j])
        span = cells[offsets[j] + high] - cells[offsets[j] + low]
        share[j] = float64(span) / scale[j] if low < high else -1.0


@njit(
    boolean(uint16[::1], int64[:, ::1], float64[::1], float64[::1], uint64[::1]),
    cache=True,
    nogil=True,
    error_model="numpy",
)
def all_pass(codes: Any, tests: Any, parameters: Any, tables: Any, span: Any) -> Any:
    """Whether every test accepts both halves span[0]:span[1] and span[1]:span[2] of the columns laid out by span[3].

    A row of `tests` is address, column, and where its parameters and its table begin and end.
    """
    for t in range(uint64(tests.shape[0])):
        base = span[3] * uint64(tests[t, 1])
        own = parameters[uint64(tests[t, 2]) : uint64(tests[t, 3])]
        table = tables[uint64(tests[t, 4]) : uint64(tests[t, 5])]
        if not _call(tests[t, 0], codes[base + span[0] : base + span[1]], own, table):
            return False
        if not _call(tests[t, 0], codes[base + span[1] : base + span[2]], own, table):
            return False
    return True
