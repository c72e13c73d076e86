"""Which numbers of a column lie near one another: exact neighbourhoods, and what they leave possible in a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.codec import Domain
from sfumato.data.steps import decimals_of, floats_of, scale_of, steps_of
from sfumato.declared import exact
from sfumato.errors import Incompatible

Ints = NDArray[np.int64]
Numbers = NDArray[Any]
# Integers below this are exact in 64 bits with room for one addition.
_SAFE = 2**62
_KINDS = ("integer", "decimal", "real", "date")


@dataclass(frozen=True)
class Near:
    """The neighbourhood of a number s: [s − below, s + above], or [s(1 − below), s(1 + above)] when relative."""

    below: Fraction
    above: Fraction
    relative: bool = False

    @property
    def widest(self) -> Near:
        """What two numbers need to be near: one lies in the neighbourhood of the other (Lemma 3 of the paper)."""
        return self if self.relative else Near(max(self.below, self.above), Fraction(0))


@dataclass(frozen=True, eq=False)
class Line:
    """The numbers of a domain in rising order: `numbers[rank]` over `denominator`, exactly; `rank[code]` of a code.

    A missing value ranks last, and is near missing values only. Floats are the numbers they are written as.

    >>> line = line_of(Domain("integer", pa.array([1000, 1010, 1020, 16000]), missing=True), "salary")
    >>> [ends.tolist() for ends in line.windows(Near(Fraction(20), Fraction(10000)))]
    [[0, 0, 0, 3, 4], [2, 2, 2, 3, 4]]
    """

    numbers: Numbers
    denominator: int
    rank: Ints

    def windows(self, near: Near) -> tuple[Ints, Ints]:
        """First and last rank in the neighbourhood of every rank, (size,) each: compared as whole numbers."""
        low, high = self._relative(near) if near.relative else self._absolute(near)
        first, last = np.searchsorted(self.numbers, low), np.searchsorted(self.numbers, high, side="right") - 1
        lone = np.arange(len(self.numbers), len(self.rank))
        return np.append(first, lone).astype(np.int64), np.append(last, lone).astype(np.int64)

    def _absolute(self, near: Near) -> tuple[Numbers, Numbers]:
        span = int(self.numbers[-1]) - int(self.numbers[0]) if len(self.numbers) else 0
        below, above = (min(math.floor(e * self.denominator), span) for e in (near.below, near.above))
        numbers = _wide(self.numbers, 1, span)
        return numbers - below, numbers + above

    def _relative(self, near: Near) -> tuple[Numbers, Numbers]:
        lower, upper = 1 - near.below, 1 + near.above
        most = max(lower.numerator, upper.numerator, lower.denominator, upper.denominator)
        numbers = _wide(self.numbers, most, 0)
        low = -((-numbers * lower.numerator) // lower.denominator)
        return low, (numbers * upper.numerator) // upper.denominator

    def by_rank(self, totals: Ints) -> Ints:
        """Counts per code as counts per rank, (size,)."""
        found = np.zeros(len(self.rank), dtype=np.int64)
        found[self.rank] = totals
        return found


def line_of(domain: Domain, column: str, relative: bool = False) -> Line:
    """The numbers of a domain, or `Incompatible` where nearness means nothing."""
    numeric = domain.kind in (_KINDS[:-1] if relative else _KINDS)
    if not numeric or domain.withheld:
        asked = "numbers (dates only for an absolute ε)" if relative else "numbers or dates"
        raise Incompatible(
            f"Proximity reads column {column!r}, whose kind is {domain.kind}; it needs {asked}, published as they are. "
            "Name another column in on=, or give the column another kind."
        )
    numbers, denominator = _exact(domain.values, domain.kind)
    order = np.argsort(numbers, kind="stable")
    rank = np.full(domain.size, domain.n_values, dtype=np.int64)
    rank[order] = np.arange(len(order))
    numbers = numbers[order]
    if relative and len(numbers) and numbers[0] < 0:
        raise Incompatible(
            f"A relative neighbourhood needs numbers that are not negative, and column {column!r} has negative ones. "
            "Use an absolute ε: relative=False."
        )
    return Line(numbers, denominator, rank)


def find_maxsize(line: Line, counts: Ints, near: Near) -> int:
    """The most rows that a covering set of one row has: its neighbourhood cut at its own number.

    `counts` are by rank. With n rows, groups exist in which nobody has more than a share 1/m of the rows near,
    if and only if m ≤ n / maxsize. Linear after the sort. Li, Tao, Xiao 2008, theorem 1 and figure 1.

    >>> salaries = [1000, 1010, 1020, 16000, 24000, 31000, 33000, 50000]
    >>> line = line_of(Domain("integer", pa.array(salaries)), "salary")
    >>> find_maxsize(line, np.ones(8, dtype=np.int64), Near(Fraction(20), Fraction(20)))
    3
    """
    first, _ = line.windows(near.widest)
    until = np.append(0, np.cumsum(counts))
    return int((until[1:] - until[first]).max(initial=0))


def find_e_max(line: Line, counts: Ints, m: int, relative: bool = False) -> Fraction | None:
    """The supremum of ε for which groups exist in which nobody has more than 1/m near; None: every ε will do.

    ε must stay below it, so 0 says that no ε will do. With h = ⌊n/m⌋: min over i of s[i+h] − s[i], relative of
    1 − s[i] / s[i+h]. Linear after the sort. Li, Tao, Xiao 2008, theorem 2 and figure 2.

    >>> salaries = [1000, 1010, 1020, 16000, 24000, 31000, 33000, 50000]
    >>> line = line_of(Domain("integer", pa.array(salaries)), "salary")
    >>> find_e_max(line, np.ones(8, dtype=np.int64), 3)
    Fraction(20, 1)
    """
    n_numbers, h = len(line.numbers), int(counts.sum()) // m
    if int(counts[n_numbers:].sum()) > h:
        return Fraction(0)
    until = np.cumsum(counts[:n_numbers])
    # Of the pairs h apart that end in one number, the last row of that number has the nearest partner.
    start = until - 1 - h
    ends = np.flatnonzero((counts[:n_numbers] > 0) & (start >= 0))
    if not len(ends):
        return None
    low, high = line.numbers[np.searchsorted(until, start[ends], side="right")], line.numbers[ends]
    if not relative:
        wide = _wide(high, 1, int(high[-1]) - int(line.numbers[0]))
        return Fraction(int((wide - _wide(low, 1, int(high[-1]) - int(line.numbers[0]))).min()), line.denominator)
    return 1 - _greatest_share(low, high)


def _greatest_share(low: Numbers, high: Numbers) -> Fraction:
    """max low/high over pairs 0 ≤ low ≤ high; two zeros are as near as can be."""
    if bool((low == high).any()):
        return Fraction(1)
    share = low.astype(np.float64) / high.astype(np.float64)
    close = np.flatnonzero(share >= share.max() * (1 - 1e-12))
    return max(Fraction(int(low[i]), int(high[i])) for i in close)


def _exact(values: pa.Array, kind: str) -> tuple[Numbers, int]:
    """Numbers as integers over one denominator: 64 bits where they fit, else Python's."""
    scale = decimals_of(floats_of(values)) if kind == "real" else scale_of(values.type)
    narrow = not pa.types.is_uint64(values.type) and not (
        pa.types.is_decimal(values.type) and values.type.precision > 18
    )
    if scale is not None and narrow and scale >= 0:
        return steps_of(values, scale)[0], 10**scale
    parts = [exact(value) for value in values.to_pylist()]
    denominator = math.lcm(*(part.denominator for part in parts))
    found = np.empty(len(parts), dtype=object)
    found[:] = [int(part * denominator) for part in parts]
    return found, denominator


def _wide(numbers: Numbers, factor: int, add: int) -> Numbers:
    """The same integers, as Python's where a multiple or a sum would not fit in 64 bits."""
    if numbers.dtype == object or not len(numbers):
        return numbers.astype(object) if len(numbers) else numbers
    most = max(abs(int(numbers.min())), abs(int(numbers.max())))
    return numbers if most * factor + add < _SAFE and factor < _SAFE else numbers.astype(object)
