"""Interval arithmetic over groups: sound bounds of expressions over aggregates, and their possible truth values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp

from sfumato.queries.intervals import (
    EVERY,
    Span,
    as_number,
    away_from_zero,
    combined,
    compare,
    hull,
    is_float,
    is_nan,
    limits,
    unbounded,
    where,
    wider,
    with_zero,
)
from sfumato.queries.lift import agg_places
from sfumato.queries.literals import ANY, FALSE, OPERATORS, TRUE, Bits
from sfumato.queries.rows import AND, NOT, OR, as_condition, bits_of, is_predicate, numbers_of

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
RISING: dict[type[exp.Expr], Any] = {
    exp.Floor: np.floor,
    exp.Ceil: np.ceil,
    exp.Sqrt: np.sqrt,
    exp.Exp: np.exp,
    exp.Ln: np.log,
}


@dataclass(eq=False)
class Spans:
    """Evaluates lifted expressions on spans: `aggregates(m)` gives agg m, `certain` evaluates expressions of keys."""

    aggregates: Callable[[int], Span]
    certain: Callable[[exp.Expr], pa.Array]
    n: int
    odd: Bools = field(init=False)
    """Where something met so far may be NaN, which SQL orders above every number, or may fail."""

    def __post_init__(self) -> None:
        self.odd = np.zeros(self.n, dtype=bool)

    def number(self, tree: exp.Expr) -> Span:
        """The span of a numeric expression; everything, where no rule is known."""
        if not agg_places(tree):
            return self._fixed(tree)
        if isinstance(tree, exp.Column):
            return self.aggregates(int(tree.name[3:]))
        if isinstance(tree, exp.Paren):
            return self.number(tree.this)
        if is_predicate(tree):
            return as_number(self.truth(tree))
        rule = _RULES.get(type(tree))
        return self.anything() if rule is None else rule(self, tree)

    def anything(self) -> Span:
        """Any number, NaN or NULL."""
        self.odd |= True
        return Span(np.full(self.n, -np.inf), np.full(self.n, np.inf), np.ones(self.n, dtype=bool))

    def truth(self, tree: exp.Expr) -> Bits:
        """Which truth values a condition can have, per group."""
        if not agg_places(tree):
            return bits_of(self.certain(as_condition(tree)))
        if isinstance(tree, exp.Paren):
            return self.truth(tree.this)
        if isinstance(tree, exp.Not):
            return NOT[self.truth(tree.this)]
        if isinstance(tree, exp.And | exp.Or):
            return (AND if isinstance(tree, exp.And) else OR)[self.truth(tree.this), self.truth(tree.expression)]
        if type(tree) in OPERATORS:
            return self._compared(OPERATORS[type(tree)], tree.this, tree.expression)
        if isinstance(tree, exp.Between) and not tree.args.get("symmetric"):
            return AND[
                self._compared(">=", tree.this, tree.args["low"]), self._compared("<=", tree.this, tree.args["high"])
            ]  # fmt: skip
        if isinstance(tree, exp.In) and tree.expressions:
            found = np.full(self.n, FALSE, dtype=np.uint8)
            for one in tree.expressions:
                found = OR[found, self._compared("=", tree.this, one)]
            return found
        if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Null):
            return self._compared("is", tree.this, tree.expression)
        return np.full(self.n, ANY, dtype=np.uint8)

    def _compared(self, operator: str, left: exp.Expr, right: exp.Expr) -> Bits:
        """A comparison; it may be anything where a side may be NaN."""
        before, self.odd = self.odd, np.zeros(self.n, dtype=bool)
        x = self.number(left)
        if operator == "is":
            found = np.where(x.never, TRUE, np.where(x.null, TRUE | FALSE, FALSE))
        else:
            found = compare(operator, x, self.number(right))
        found = np.where(self.odd, ANY, found).astype(np.uint8)
        self.odd |= before
        return found

    def _fixed(self, tree: exp.Expr) -> Span:
        array = self.certain(tree)
        values = numbers_of(array)
        if values is None:
            return self.anything()
        self.odd |= is_nan(array)
        whole = bool((np.isnan(values) | (values == np.round(values))).all())
        inside = is_float(array, values, whole)
        lo, hi = (np.where(inside, values, np.nextafter(values, to)) for to in (-np.inf, np.inf))
        return Span(lo, hi, np.isnan(values), whole and bool(inside.all()))


def _sides(spans: Spans, tree: exp.Expr) -> tuple[Span, Span]:
    """Both operands; infinity on both sides may make NaN."""
    a, b = spans.number(tree.this), spans.number(tree.expression)
    spans.odd |= unbounded(a) & unbounded(b)
    return a, b


def _add(spans: Spans, tree: exp.Expr) -> Span:
    a, b = _sides(spans, tree)
    return combined(a, b, np.add, (("lo", "lo"), ("hi", "hi")), a.whole and b.whole)


def _sub(spans: Spans, tree: exp.Expr) -> Span:
    a, b = _sides(spans, tree)
    return combined(a, b, np.subtract, (("lo", "hi"), ("hi", "lo")), a.whole and b.whole)


def _mul(spans: Spans, tree: exp.Expr) -> Span:
    a, b = _sides(spans, tree)
    spans.odd |= (unbounded(a) & with_zero(b)) | (with_zero(a) & unbounded(b))

    def times(x: Floats, y: Floats) -> Floats:
        return np.where((x == 0) | (y == 0), np.where(np.isnan(x) | np.isnan(y), np.nan, 0.0), x * y)

    return combined(a, b, times, EVERY, a.whole and b.whole)


def _div(spans: Spans, tree: exp.Expr) -> Span:
    """In SQL x / 0 is infinite and 0 / 0 is NaN; the sign of a 0 is known of a count alone."""
    a, b = _sides(spans, tree)
    zero = with_zero(b)
    safe, across = away_from_zero(b)
    found = combined(a, safe, np.divide, EVERY, False)
    found.lo[across & ~found.never], found.hi[across & ~found.never] = -np.inf, np.inf
    if isinstance(tree, exp.IntDiv):
        spans.odd |= zero
        return Span(np.floor(found.lo), np.ceil(found.hi), found.null | zero, a.whole and b.whole)
    either = not (b.whole and isinstance(tree.expression.unnest(), exp.Column))
    up = zero & ((a.hi > 0) | (either & (a.lo < 0)))
    down = zero & ((a.lo < 0) | (either & (a.hi > 0)))
    nan = zero & with_zero(a)
    spans.odd |= nan
    lo = np.fmin(found.lo, np.where(down, -np.inf, np.where(up, np.inf, np.nan)))
    hi = np.fmax(found.hi, np.where(up, np.inf, np.where(down, -np.inf, np.nan)))
    return Span(lo, hi, found.null | nan)


def _neg(spans: Spans, tree: exp.Expr) -> Span:
    a = spans.number(tree.this)
    return Span(-a.hi, -a.lo, a.null, a.whole)


def _abs(spans: Spans, tree: exp.Expr) -> Span:
    a = spans.number(tree.this)
    low = np.where((a.lo <= 0) & (a.hi >= 0), 0.0, np.minimum(np.abs(a.lo), np.abs(a.hi)))
    return Span(np.where(a.never, np.nan, low), np.maximum(np.abs(a.lo), np.abs(a.hi)), a.null, a.whole)


def _rising(spans: Spans, tree: exp.Expr) -> Span:
    a = spans.number(tree.this)
    function = RISING[type(tree)]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        least = np.maximum(a.lo, 0.0) if isinstance(tree, exp.Sqrt | exp.Ln) else a.lo
        lo, hi = function(least), function(a.hi)
    exact = isinstance(tree, exp.Floor | exp.Ceil)
    lo, hi = (lo, hi) if exact else (wider(lo, -np.inf), wider(hi, np.inf))
    fails = (a.lo < 0) | (isinstance(tree, exp.Ln) & (a.lo <= 0)) if least is not a.lo else np.zeros(spans.n, bool)
    spans.odd |= fails
    return Span(lo, hi, a.null | fails, exact)


def _round(spans: Spans, tree: exp.Expr) -> Span:
    a = spans.number(tree.this)
    places = tree.args.get("decimals")
    if places is not None and not (isinstance(places, exp.Literal) and places.this.isdigit()):
        return spans.anything()
    half = 0.5 * 10.0 ** -(int(places.this) if places is not None else 0)
    return Span(wider(a.lo - half, -np.inf), wider(a.hi + half, np.inf), a.null, places is None)


def _cast(spans: Spans, tree: exp.Expr) -> Span:
    """Numbers outside of the type become NULL by TRY_CAST and fail by CAST."""
    a, to = spans.number(tree.this), tree.args["to"]
    if to.is_type("double"):
        return a
    room = limits(to)
    if room is None:
        return spans.anything()
    least, most, step = room
    lo, hi = a.lo, a.hi
    if step == 1.0:
        lo, hi = np.ceil(lo - 0.5), np.floor(hi + 0.5)
    elif not a.whole:
        lo, hi = wider(lo - step, -np.inf), wider(hi + step, np.inf)
    outside = (lo < least) | (hi > most)
    if not isinstance(tree, exp.TryCast):
        spans.odd |= outside
    gone = (hi < least) | (lo > most)
    lo, hi = (np.where(gone, np.nan, np.clip(end, least, most)) for end in (lo, hi))
    return Span(lo, hi, a.null | outside, a.whole or step == 1.0)


def _coalesce(spans: Spans, tree: exp.Expr) -> Span:
    used: list[Span] = []
    open_still = np.ones(spans.n, dtype=bool)
    for one in (tree.this, *tree.expressions):
        part = spans.number(one)
        used.append(where(open_still, part))
        open_still = open_still & part.null
    return hull(used, open_still, spans.n)


def _case(spans: Spans, tree: exp.Expr) -> Span:
    if tree.this is not None:
        return spans.anything()
    used: list[Span] = []
    null, reached = np.zeros(spans.n, dtype=bool), np.ones(spans.n, dtype=bool)
    for branch in tree.args["ifs"]:
        may = spans.truth(branch.this)
        taken = reached & ((may & TRUE) > 0)
        part = spans.number(branch.args["true"])
        used.append(where(taken, part))
        null |= taken & part.null
        reached &= may != TRUE
    default = tree.args.get("default")
    if default is None or isinstance(default, exp.Null):
        return hull(used, null | reached, spans.n)
    part = spans.number(default)
    used.append(where(reached, part))
    return hull(used, null | (reached & part.null), spans.n)


def _most(spans: Spans, tree: exp.Expr) -> Span:
    """GREATEST and LEAST pass over NULLs."""
    parts = [spans.number(one) for one in (tree.this, *tree.expressions)]
    null = np.all([p.null for p in parts], axis=0)
    outer = hull(parts, null, spans.n)
    always = [p for p in parts if not p.null.any()]
    if isinstance(tree, exp.Greatest):
        return Span(np.max([p.lo for p in always], axis=0) if always else outer.lo, outer.hi, null, outer.whole)
    return Span(outer.lo, np.min([p.hi for p in always], axis=0) if always else outer.hi, null, outer.whole)


def _nullif(spans: Spans, tree: exp.Expr) -> Span:
    a = spans.number(tree.this)
    same = compare("=", a, spans.number(tree.expression))
    same = np.where(spans.odd, ANY, same).astype(np.uint8)
    never = same == TRUE
    return Span(np.where(never, np.nan, a.lo), np.where(never, np.nan, a.hi), a.null | ((same & TRUE) > 0), a.whole)


_RULES: dict[type[exp.Expr], Callable[[Spans, exp.Expr], Span]] = {
    exp.Add: _add,
    exp.Sub: _sub,
    exp.Mul: _mul,
    exp.Div: _div,
    exp.IntDiv: _div,
    exp.Neg: _neg,
    exp.Abs: _abs,
    exp.Round: _round,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Coalesce: _coalesce,
    exp.Case: _case,
    exp.Greatest: _most,
    exp.Least: _most,
    exp.Nullif: _nullif,
    **dict.fromkeys(RISING, _rising),
}
