"""Requirements' tests for kernels: one group's sensitive codes in sorted order → does the group pass?

Every test is a Numba `cfunc` of one signature, `test(codes, parameters, table)`, so that a kernel compiles once for all
models. Rational thresholds arrive as numerator and denominator (whole numbers below 2⁵³) and are compared in 128 bits;
entropy accepts only beyond its rounding error or when it is met exactly. Slow twins: `Requirement.holds`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cfunc, njit

SIGNATURE = "boolean(uint16[::1], float64[::1], float64[::1])"
_HALF = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
# Groups below this size are first judged by how many different codes they have.
_SHORT = np.uint64(128)
# Two primes below 2³¹: squares fit in 64 bits.
_PRIMES = (np.uint64(2147483647), np.uint64(2147483629))


@njit("uint64(uint64, uint64)", cache=True)
def _high(a: Any, b: Any) -> Any:
    """Upper 64 bits of a·b."""
    a0, a1, b0, b1 = a & _HALF, a >> _SHIFT, b & _HALF, b >> _SHIFT
    middle = a1 * b0 + ((a0 * b0) >> _SHIFT)
    other = a0 * b1 + (middle & _HALF)
    return a1 * b1 + (middle >> _SHIFT) + (other >> _SHIFT)


@njit("boolean(uint64, uint64, uint64, uint64)", cache=True)
def _at_most(a: Any, p: Any, b: Any, q: Any) -> Any:
    """a·p ≤ b·q, exactly."""
    left, right = _high(a, p), _high(b, q)
    if left != right:
        return left < right
    return a * p <= b * q


@njit("uint64(uint16[::1], uint64)", cache=True)
def _run_end(codes: Any, start: Any) -> Any:
    """Where the run of equal codes that begins at `start` ends: doubling steps, then bisection."""
    size, one = np.uint64(codes.size), np.uint64(1)
    code, low, step = codes[start], start, one
    while low + step < size and codes[low + step] == code:
        low += step
        step += step
    high = min(low + step, size)
    while low + one < high:
        middle = (low + high) >> one
        if codes[middle] == code:
            low = middle
        else:
            high = middle
    return low + one


@njit("uint64(uint16[::1])", cache=True)
def _largest(codes: Any) -> Any:
    """How often the most frequent code occurs."""
    start, most, size = np.uint64(0), np.uint64(0), np.uint64(codes.size)
    while start < size:
        end = _run_end(codes, start)
        most, start = max(most, end - start), end
    return most


@cfunc(SIGNATURE, cache=True)
def size_at_least(codes: Any, parameters: Any, table: Any) -> Any:
    """k-anonymity: at least parameters[0] rows."""
    return codes.size >= parameters[0]


@cfunc(SIGNATURE, cache=True)
def distinct_values(codes: Any, parameters: Any, table: Any) -> Any:
    """Distinct l-diversity: at least parameters[0] different codes."""
    wanted, size = parameters[0], np.uint64(codes.size)
    start, n_codes = np.uint64(0), 0
    while start < size and n_codes < wanted:
        n_codes += 1
        if n_codes < wanted:
            start = _run_end(codes, start)
    return n_codes >= wanted


@cfunc(SIGNATURE, cache=True)
def largest_share(codes: Any, parameters: Any, table: Any) -> Any:
    """(α,k) and frequency l-diversity: every share ≤ parameters[0] / parameters[1], size ≥ parameters[2]."""
    if codes.size == 0 or codes.size < parameters[2]:
        return False
    return _at_most(_largest(codes), np.uint64(parameters[1]), np.uint64(codes.size), np.uint64(parameters[0]))


@cfunc(SIGNATURE, cache=True)
def recursive_tail(codes: Any, parameters: Any, table: Any) -> Any:
    """Recursive (c,l): r₁ < c(r_l + … + r_m), c = parameters[0] / parameters[1], l = parameters[2]."""
    n_top = max(int(parameters[2]) - 1, 1)
    top = np.zeros(n_top, dtype=np.uint64)
    start, size = np.uint64(0), np.uint64(codes.size)
    while start < size:
        end = _run_end(codes, start)
        count = end - start
        start = end
        for place in range(n_top):
            if count > top[place]:
                top[place], count = count, top[place]
    before = np.uint64(0)
    for place in range(int(parameters[2]) - 1):
        before += top[place]
    return not _at_most(size - before, np.uint64(parameters[0]), top[0], np.uint64(parameters[1]))


@njit("uint64(uint64, uint64, uint64)", cache=True)
def _power(number: Any, exponent: Any, prime: Any) -> Any:
    """number ^ exponent modulo a prime."""
    one = np.uint64(1)
    result, factor = one, number % prime
    while exponent > 0:
        if exponent & one:
            result = result * factor % prime
        factor = factor * factor % prime
        exponent = exponent >> one
    return result


@njit("boolean(uint16[::1], uint64, uint64)", cache=True)
def _met_exactly(codes: Any, numerator: Any, denominator: Any) -> Any:
    """n^n · denominator^n = numerator^n · Π c^c modulo two primes: entropy = log l (called only next to it)."""
    size = np.uint64(codes.size)
    for prime in _PRIMES:
        left = _power((size % prime) * (denominator % prime), size, prime)
        right = _power(numerator, size, prime)
        start = np.uint64(0)
        while start < size:
            end = _run_end(codes, start)
            right = right * _power(end - start, end - start, prime) % prime
            start = end
        if left != right:
            return False
    return True


@njit("boolean(uint16[::1], float64, float64[::1])", cache=True)
def _surely_diverse(codes: Any, log_l: Any, table: Any) -> Any:
    """So many different codes that even the most uneven counts, all but one of them 1, have entropy > log l."""
    size, one = np.uint64(codes.size), np.uint64(1)
    n_codes = one
    for i in range(one, size):
        n_codes += np.uint64(codes[i] != codes[i - one])
    return table[size] - table[size - n_codes + one] - codes.size * log_l > 1e-9 * codes.size


@cfunc(SIGNATURE, cache=True)
def entropy(codes: Any, parameters: Any, table: Any) -> Any:
    """Entropy ≥ log l: n·log n − Σ c·log c ≥ n·log l, l = parameters[0] / parameters[1]; table[c] = c·log c."""
    if codes.size == 0:
        return False
    size, known = np.uint64(codes.size), np.uint64(table.size)
    if size < min(known, _SHORT) and _surely_diverse(codes, parameters[2], table):
        return True
    start, n_codes, total = np.uint64(0), 0, 0.0
    while start < size:
        end = _run_end(codes, start)
        count = end - start
        total += table[count] if count < known else count * math.log(count)
        start, n_codes = end, n_codes + 1
    whole = codes.size * math.log(codes.size)
    surplus = whole - total - codes.size * parameters[2]
    slack = 4e-16 * (n_codes + 12) * (whole + codes.size * parameters[2] + 1.0)
    if surplus > slack or surplus < -slack:
        return surplus > 0
    return _met_exactly(codes, np.uint64(parameters[0]), np.uint64(parameters[1]))


@cfunc(SIGNATURE, cache=True)
def equal_distance(codes: Any, parameters: Any, table: Any) -> Any:
    """t-closeness, equal distance: Σ max(0, c_v·N − T_v·n) ≤ t·n·N; table = [N, T_0, T_1, …]."""
    size, whole = np.uint64(codes.size), np.uint64(table[0])
    start, excess = np.uint64(0), np.uint64(0)
    while start < size:
        end = _run_end(codes, start)
        here, there = (end - start) * whole, np.uint64(table[np.uint64(codes[start]) + np.uint64(1)]) * size
        if here > there:
            excess += here - there
        start = end
    allowed = _at_most(excess, np.uint64(parameters[1]), size * whole, np.uint64(parameters[0]))
    return codes.size > 0 and allowed


@njit("uint64(float64[::1], uint64, uint64, uint64, uint64)", cache=True)
def _first_above(table: Any, low: Any, high: Any, here: Any, size: Any) -> Any:
    """First value i in low … high−1 with S_i·n > here, S_i = table[2 + i]; `high` when there is none."""
    two, one = np.uint64(2), np.uint64(1)
    while low < high:
        middle = (low + high) >> one
        if np.uint64(table[two + middle]) * size <= here:
            low = middle + one
        else:
            high = middle
    return low


@cfunc(SIGNATURE, cache=True)
def ordered_distance(codes: Any, parameters: Any, table: Any) -> Any:
    """t-closeness, ordered distance: Σ_{i<m−1} |C_i·N − S_i·n| ≤ t·(m−1)·n·N with running sums C (group), S (table).

    table = [m, N, S_0 … S_{m−1}, P_0 … P_m], P_i = S_0 + … + S_{i−1}: between two codes of the group C is constant,
    so the sum splits where S·n passes C·N. Beyond 2⁶² the sum is taken in floats, rounded against us.
    """
    n_values, size, whole = np.uint64(table[0]), np.uint64(codes.size), np.uint64(table[1])
    if codes.size == 0 or n_values < 2:
        return codes.size > 0
    steps, prefix = n_values - np.uint64(1), n_values + np.uint64(2)
    exact = float(n_values) * float(size) * float(whole) < 2.0**62
    start, low, moved, rough = np.uint64(0), np.uint64(0), np.uint64(0), 0.0
    while low < steps:
        here = start * whole
        high = min(np.uint64(codes[start]), steps) if start < size else steps
        split = _first_above(table, low, high, here, size)
        below = np.uint64(table[prefix + split] - table[prefix + low])
        above = np.uint64(table[prefix + high] - table[prefix + split])
        if exact:
            moved += (split - low) * here - size * below + size * above - (high - split) * here
        else:
            rough += (float(split - low) * here - float(size) * below) + (
                float(size) * above - float(high - split) * here
            )
        low = high
        if start < size:
            start = _run_end(codes, start)
    if exact:
        return _at_most(moved, np.uint64(parameters[1]), size * whole * steps, np.uint64(parameters[0]))
    slack = 1e-12 * float(n_values) * float(size) * float(whole)
    return (rough + slack) * parameters[1] <= parameters[0] * float(size) * float(whole) * float(steps)
