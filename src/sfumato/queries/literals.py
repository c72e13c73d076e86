"""Comparisons of one column with literals, decided on the domain itself without an SQL engine."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sqlglot import exp

from sfumato.data.codec import Domain

Bools = NDArray[np.bool_]
Bits = NDArray[np.uint8]
TRUE, FALSE, NULL = 1, 2, 4
"""A set of truth values is their sum."""
ANY = TRUE | FALSE | NULL
DISTINCT = 1e15
"""Decimals of at most fifteen digits are different floats when they differ."""
MICROSECONDS = 86_400_000_000
"""In a day."""
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
OPERATORS: dict[type[exp.Expr], str] = {
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.EQ: "=",
    exp.NEQ: "<>",
}
TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "=": "=", "<>": "<>"}


def comparable(domain: Domain) -> bool:
    """May its values be compared as 64-bit floats (or as text) with the same result as in SQL?"""
    if domain.kind in ("text", "boolean", "date", "real"):
        return True
    numbers = domain.numbers
    if numbers is None or not domain.n_values:
        return False
    largest = float(np.nanmax(np.abs(numbers)))
    scale = domain.values.type.scale if pa.types.is_decimal(domain.values.type) else 0
    return bool(largest * 10.0**scale < DISTINCT)


def literal(node: exp.Expr, domain: Domain) -> float | str | bool | None:
    """The literal in the terms of the domain (dates as days); None when it needs SQL's casts."""
    node = node.unnest() if isinstance(node, exp.Paren) else node
    if domain.kind == "boolean":
        return bool(node.this) if isinstance(node, exp.Boolean) else None
    if domain.kind == "text":
        return str(node.this) if isinstance(node, exp.Literal) and node.is_string else None
    if domain.kind == "date":
        return _day(node)
    sign = 1.0
    if isinstance(node, exp.Neg):
        node, sign = node.this, -1.0
    if not isinstance(node, exp.Literal) or node.is_string:
        return None
    digits = sum(c.isdigit() for c in node.this)
    return sign * float(node.this) if digits <= 15 else None


def _day(node: exp.Expr) -> float | None:
    if isinstance(node, exp.Cast) and node.to.is_type("date"):
        node = node.this
    if not isinstance(node, exp.Literal) or not node.is_string or not DAY.fullmatch(node.this):
        return None
    try:
        return float((datetime.date.fromisoformat(node.this) - datetime.date(1970, 1, 1)).days)
    except ValueError:
        return None


def compare(domain: Domain, operator: str, value: float | str | bool) -> tuple[Bits, Bits]:
    """Truth of `leaf operator value` for every code, and the truth values possible where an end is open."""
    if isinstance(value, str):
        function = {
            ">": pc.greater, ">=": pc.greater_equal, "<": pc.less, "<=": pc.less_equal,
            "=": pc.equal, "<>": pc.not_equal,
        }[operator]  # fmt: skip
        found = function(domain.values, pa.scalar(value, domain.values.type)).to_numpy(zero_copy_only=False)
        holds = np.append(found, False) if domain.missing else found
    else:
        assert domain.numbers is not None
        holds = _numeric(domain.numbers, operator, float(value))
    truth = _truth(domain, holds)
    may = _beyond(domain, truth, lambda end, up: _possible(operator, end, up, value))
    return truth, _inside(domain, truth, may, lambda low, high: _crossing(operator, low, high, value))


def contained(domain: Domain, values: list[float | str | bool], has_null: bool) -> tuple[Bits, Bits]:
    """Truth of `leaf IN (values)` for every code, and the truth values possible where an end is open."""
    if domain.kind == "text":
        found = pc.is_in(domain.values, pa.array(values, domain.values.type)).to_numpy(zero_copy_only=False)
        holds = np.append(found, False) if domain.missing else found
    else:
        assert domain.numbers is not None
        holds = np.isin(domain.numbers, np.array(values, dtype=np.float64))
    truth = _truth(domain, holds)
    otherwise = NULL if has_null else FALSE
    if has_null:
        truth[truth == FALSE] = NULL

    def possible(end: float, up: bool) -> int:
        reachable = any((float(v) >= end) if up else (float(v) <= end) for v in values)
        return TRUE | otherwise if reachable else otherwise

    def crossing(low: float, high: float) -> int:
        return TRUE | otherwise if any(low < float(v) < high for v in values) else otherwise

    return truth, _inside(domain, truth, _beyond(domain, truth, possible), crossing)


def is_missing(domain: Domain) -> tuple[Bits, Bits]:
    """Truth of `leaf IS NULL`: never undecided."""
    truth = np.full(domain.size, FALSE, dtype=np.uint8)
    if domain.missing:
        truth[-1] = TRUE
    return truth, truth


def is_true(domain: Domain) -> tuple[Bits, Bits]:
    """Truth of a boolean column itself."""
    assert domain.numbers is not None
    truth = _truth(domain, domain.numbers == 1)
    return truth, truth


def _numeric(numbers: NDArray[np.float64], operator: str, value: float) -> Bools:
    if operator == ">":
        return numbers > value
    if operator == ">=":
        return numbers >= value
    if operator == "<":
        return numbers < value
    if operator == "<=":
        return numbers <= value
    found: Bools = numbers == value if operator == "=" else numbers != value
    return found


def _truth(domain: Domain, holds: Bools) -> Bits:
    truth = np.where(holds, np.uint8(TRUE), np.uint8(FALSE))
    if domain.missing:
        truth[-1] = NULL
    return truth


def _beyond(domain: Domain, truth: Bits, possible: object) -> Bits:
    """The truth values with open ends: `possible(end value, upward?)` where an end is open."""
    if not (domain.open_low or domain.open_high):
        return truth
    assert callable(possible)
    may = truth.copy()
    numbers = domain.numbers
    for is_open, code, up in ((domain.open_low, 0, False), (domain.open_high, domain.n_values - 1, True)):
        if is_open:
            may[code] |= ANY if numbers is None else possible(float(numbers[code]), up)
    return may


def _inside(domain: Domain, truth: Bits, may: Bits, crossing: Callable[[float, float], int]) -> Bits:
    """With the truth values possible strictly between the two leaves of a cell, for codes that stand for all of it."""
    wide = np.flatnonzero(domain.wide)
    if not len(wide):
        return may
    may = may.copy() if may is truth else may
    numbers = domain.numbers
    assert numbers is not None
    may[wide] |= np.array([crossing(float(numbers[i]), float(numbers[i + 1])) for i in wide], dtype=np.uint8)
    return may


def _crossing(operator: str, low: float, high: float, value: float | str | bool) -> int:
    """Truth values of `x operator value` over low < x < high."""
    limit = float(value)
    if operator in ("=", "<>"):
        there = low < limit < high
        return TRUE | FALSE if there else FALSE if operator == "=" else TRUE
    if low < limit < high:
        return TRUE | FALSE
    return TRUE if (low >= limit) == (operator in (">", ">=")) else FALSE


def _possible(operator: str, end: float, up: bool, value: float | str | bool) -> int:
    """Truth values of `x operator value` over all x from `end` on, upward or downward."""
    if isinstance(value, str):
        return ANY
    if not up:
        end, value = -end, -float(value)
        operator = TURNED[operator]
    limit = float(value)
    always = {">": end > limit, ">=": end >= limit, "<": False, "<=": False, "=": False, "<>": end > limit}
    never = {">": False, ">=": False, "<": end >= limit, "<=": end > limit, "=": end > limit, "<>": False}
    return TRUE if always[operator] else FALSE if never[operator] else TRUE | FALSE
