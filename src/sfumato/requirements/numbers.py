"""Sensitive values as exact numbers: whole steps of one grid, and per group how many units have each."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.codec import Domain
from sfumato.data.evidence import Counts, Groups
from sfumato.data.steps import decimals_of, floats_of, steps_of
from sfumato.declared import exact
from sfumato.errors import Incompatible
from sfumato.requirements.judging import Ints, counts_on, down, per_group

NUMERIC = ("integer", "decimal", "real", "date")
# Differences of two steps up to here fit in 64 bits.
_SAFE = 2**61
_DIGITS = 18
_MOST = Fraction(sys.float_info.max)
# Methods ask group by group; a domain is turned into numbers once, and forgotten with it.
_KNOWN: WeakKeyDictionary[Domain, tuple[NDArray[Any], int]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Numbers:
    """Entries of a column's counts whose value is a number: `counts`, and `steps` (E,) of which `scale` make a unit.

    Dates are days, and a float is the number it is written as. Entries of missing values are left out, so a group may
    have none. `steps` are 64-bit integers, or Python integers where those are too short.
    """

    counts: Counts
    steps: NDArray[Any]
    scale: int

    def spans(self) -> NDArray[Any]:
        """max − min per group in steps, (G,); 0 for groups without a number."""
        found: NDArray[Any] = self._of_groups(np.maximum) - self._of_groups(np.minimum)
        return found

    def above_least(self) -> NDArray[Any]:
        """What every entry is above the least number of its group, in steps, (E,)."""
        found: NDArray[Any] = self.steps - self._of_groups(np.minimum)[self.counts.group]
        return found

    def _of_groups(self, ufunc: np.ufunc) -> NDArray[Any]:
        return per_group(self.steps, self.counts, ufunc)


def numbers_on(evidence: Groups, column: str) -> Numbers:
    """The numbers of one sensitive column, or `Incompatible` when its values are none."""
    counts, domain = counts_on(evidence, column), evidence.domains[column]
    if domain.kind not in NUMERIC:
        raise Incompatible(
            f"A requirement compares values of {column!r} as numbers, but its kind is {domain.kind}. "
            f"Name a column of kind {', '.join(NUMERIC)} in on=, or ask for l-diversity."
        )
    if domain not in _KNOWN:
        _KNOWN[domain] = steps_and_scale(domain)
    steps, scale = _KNOWN[domain]
    there = counts.code < domain.n_values
    before = np.concatenate([[0], np.cumsum(there)]).astype(np.int64)
    starts: Ints = before[counts.starts]
    known = Counts(counts.group[there], counts.code[there], counts.n[there], starts)
    return Numbers(known, steps[known.code], scale)


def steps_and_scale(domain: Domain) -> tuple[NDArray[Any], int]:
    """Leaf values without the missing one in whole steps, (n_values,), and how many steps are one.

    >>> steps_and_scale(Domain("real", pa.array([0.5, 2.0])))
    (array([ 5, 20]), 10)
    """
    decimals = _decimals(domain)
    if decimals is not None:
        steps, on_grid = steps_of(domain.values, decimals)
        if bool(on_grid.all()) and bool(((steps > -_SAFE) & (steps < _SAFE)).all()):
            return steps, 10**decimals
    numbers = [exact(value) for value in domain.values.to_pylist()]
    scale = math.lcm(1, *(number.denominator for number in numbers))
    found = np.empty(len(numbers), dtype=object)
    found[:] = [int(number * scale) for number in numbers]
    return found, scale


def _decimals(domain: Domain) -> int | None:
    """Decimals that write every value, where 64 bits hold them."""
    kind = domain.values.type
    if domain.kind == "real":
        return decimals_of(floats_of(domain.values))
    if pa.types.is_decimal(kind):
        return int(kind.scale) if kind.scale >= 0 and kind.precision <= _DIGITS else None
    return None if pa.types.is_uint64(kind) else 0


def figure(value: Fraction) -> float:
    """What was achieved, as the greatest float that is not above it."""
    return down(min(value, _MOST))


def least_ratio(top: NDArray[Any], bottom: NDArray[Any]) -> Fraction:
    """min top/bottom over groups, exactly; bottom > 0, at least one group."""
    return min(Fraction(a, b) for a, b in set(zip(top.tolist(), bottom.tolist(), strict=True)))
