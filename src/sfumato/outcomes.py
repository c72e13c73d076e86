"""Questions as worlds see them: a row map says what one row adds, outcomes say what that makes over all worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sfumato.chance import Chance
    from sfumato.data.codec import Codes

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

Sense = Literal["max", "min"]
Measure = Literal["count", "sum", "avg", "min", "max"]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a row map makes of N rows: `key` (N,) −1 = the row is not in the answer, else the index of its GROUP BY
    key; `values` (N, J) the argument of each aggregate, NaN = not counted by it (SQL NULL or filtered out);
    `sure` (N,) False where an open end of a domain leaves key or values undecided (None: all decided).
    """

    key: Ints
    values: Floats
    sure: Bools | None = None


class RowMap(Protocol):
    """A query's view of one row: reads some columns, gives a key and J numbers.

    `factors` splits a WHERE conjunction: each factor reads its own columns and says for code tuples which rows it
    keeps (0/1, with a sureness mask or None). `core_columns` are the columns that keys, arguments and mixed predicates
    read; `core` maps their code tuples to an `Outcome`. A row's outcome is `core`, with key −1 unless
    all factors keep it. Factors read disjoint sets of columns, disjoint from `core_columns`.
    """

    n_values: int
    core_columns: tuple[str, ...]
    factors: Sequence[Factor]

    @property
    def n_keys(self) -> int:
        """Number of keys met so far; grows as `core` meets new ones."""
        ...

    def core(self, codes: Mapping[str, Codes]) -> Outcome:
        """Outcomes of N code tuples over `core_columns` (with no core columns: one outcome, N = 1)."""
        ...


class Factor(Protocol):
    """One conjunct group of a WHERE clause over its own columns."""

    columns: tuple[str, ...]

    def keeps(self, codes: Mapping[str, Codes]) -> tuple[Bools, Bools | None]:
        """For N code tuples: kept or not, and whether that is decided (None: all decided)."""
        ...


@dataclass(frozen=True, eq=False)
class Bounds:
    """Hard bounds per key, shape (K,): NaN = no row in any world; ±inf = unbounded; `tight` when both are attained."""

    lo: Floats
    hi: Floats
    tight: bool


@dataclass(frozen=True, eq=False)
class Law:
    """The law of a count: P(count = offset + i) = pmf[i]."""

    offset: int
    pmf: Floats


@dataclass(frozen=True, eq=False)
class Extreme:
    """Optimum over worlds of Σ weight per key, shape (K,), and the count and sum of one world that attains it."""

    value: Floats
    count: Floats
    sum: Floats


@dataclass(frozen=True, eq=False)
class Sampled:
    """Aggregates in W sampled worlds: arrays (W, K, J). `minimum`/`maximum` are NaN where nothing is counted;
    `rows` (W, K) counts rows with that key, NULL arguments included."""

    rows: Floats
    count: Floats
    sum: Floats
    minimum: Floats
    maximum: Floats


class Outcomes(Protocol):
    """What a row map becomes in independent blocks of one primitive (or several: `worlds.blocks`).

    "count j of key κ" = number of rows with key κ and a value j that is not NaN; j = −1 counts rows with key κ.
    Every array is over all keys, shape (K,); K = n_keys. Facts are exact unless the return type allows None.
    """

    @property
    def n_keys(self) -> int:
        """K, the number of keys."""
        ...

    def widened(self, n_keys: int) -> Outcomes:
        """The same facts over more keys, which no decided row has."""
        ...

    def moments(self, weights: Sequence[tuple[int, bool]]) -> tuple[Floats, Floats]:
        """Mean (M, K) and, within each key, covariance (M, M, K) of M additive facts (j, summed?).

        j = −1 means rows."""
        ...

    def cross(self, weight: tuple[int, bool]) -> Floats:
        """Covariance (K, K) of one additive fact across keys: the cells of a GROUP BY."""
        ...

    def extreme(self, j: int, slope: float, shift: Floats, sense: Sense) -> tuple[Extreme, bool]:
        """Optimum of Σ over counted rows of key κ of (slope·v_j + shift_κ), each key by itself, over all worlds;
        the flag says whether it is attained (False: a sound outer bound)."""
        ...

    def count_facts(self, j: int) -> tuple[Floats, Floats, Floats, Floats]:
        """Mean, variance, least and most of count j, each (K,)."""
        ...

    def lone(self, j: int) -> bool:
        """Where no row need be counted: is there a world that counts any one value of j by itself?"""
        ...

    def spread(self, j: int, key: int) -> float:
        """Variance of a part of count j that is a sum of independent 0/1 terms: |φ(ω)| ≤ exp(−2·spread·sin²(ω/2))."""
        ...

    def log_cf(self, j: int, key: int, omega: Floats) -> tuple[Floats, Floats] | None:
        """log|φ| and arg φ of count j of one key at angles omega; None when not computable exactly."""
        ...

    def caps(self, j: int, sense: Sense) -> Caps:
        """What is needed for MIN and MAX."""
        ...

    def absent(self, j: int) -> Floats | None:
        """P(count j of κ = 0) per key; None when not computable exactly."""
        ...

    def average(self, j: int) -> Floats | None:
        """E[AVG_j | count ≥ 1] per key where exact, NaN where nothing is counted; None when not computable."""
        ...

    def sample(self, n_worlds: int, chance: Chance) -> Sampled:
        """The aggregates in sampled worlds."""
        ...


@dataclass(frozen=True, eq=False)
class Caps:
    """For thresholds t_0 < t_1 < … (sense "max"; reversed for "min"), per key κ, shape (K, T):

    `log_within[κ, i]` = log P(no counted value beyond t_i), None if not computable; `can_show`: some world counts a
    value and none beyond t_i; `possible`: some world counts a value equal to t_i. Undecided rows may hold any value:
    they add the thresholds ∓inf, which carry no mass, and what can be is an outer bound then (`attained` False).
    """

    thresholds: Floats
    log_within: Floats | None
    can_show: Bools
    possible: Bools
    attained: bool = True
