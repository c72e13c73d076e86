"""Interval arithmetic over groups: sound bounds of expressions over aggregates, and their possible truth values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp

from sfumato.queries.lift import agg_places
from sfumato.queries.literals import ANY, FALSE, NULL, OPERATORS, TRUE, TURNED, Bits
from sfumato.queries.rows import AND, NOT, OR, as_condition, bits_of, is_predicate, numbers_of

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
EXACT = 2.0**53
RISING: dict[type[exp.Expr], Any] = {
    exp.Floor: np.floor,
    exp.Ceil: np.ceil,
    exp.Sqrt: np.sqrt,
    exp.Exp: np.exp,
    exp.Ln: np.log,
}
FLOATS = ("double", "float", "decimal", "real")


@dataclass(eq=False)
class Span:
    """What a number may be, per group: in [lo, hi] when not NULL; `null`: may be NULL; `whole`: only whole numbers."""

    lo: Floats
    hi: Floats
    null: Bools
    whole: bool = False

    @property
    def never(self) -> Bools:
        """NULL in every world."""
        return np.isnan(self.lo)


@dataclass(eq=False)
class Spans:
    """Evaluates lifted expressions on spans: `aggregates(m)` gives agg m, `certain` evaluates expressions of keys."""

    aggregates: Callable[[int], Span]
    certain: Callable[[exp.Expr], pa.Array]
    n: int

    def number(self, tree: exp.Expr) -> Span:
        """The span of a numeric expression; everything, where no rule is known."""
        if not agg_places(tree):
            return self._fixed(tree)
        if isinstance(tree, exp.Column):
            return self.aggregates(int(tree.name[3:]))
        if isinstance(tree, exp.Paren):
            return self.number(tree.this)
        if is_predicate(tree):
            return _as_number(self.truth(tree))
        rule = _RULES.get(type(tree))
        return self.anything() if rule is None else rule(self, tree)

    def anything(self) -> Span:
        """Any number, or NULL."""
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
            return _compare(OPERATORS[type(tree)], self.number(tree.this), self.number(tree.expression))
        if isinstance(tree, exp.Between) and not tree.args.get("symmetric"):
            x = self.number(tree.this)
            low, high = self.number(tree.args["low"]), self.number(tree.args["high"])
            return AND[_compare(">=", x, low), _compare("<=", x, high)]
        if isinstance(tree, exp.In) and tree.expressions:
            found = np.full(self.n, FALSE, dtype=np.uint8)
            for one in tree.expressions:
                found = OR[found, _compare("=", self.number(tree.this), self.number(one))]
            return found
        if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Null):
            x = self.number(tree.this)
            return np.where(x.never, TRUE, np.where(x.null, TRUE | FALSE, FALSE)).astype(np.uint8)
        return np.full(self.n, ANY, dtype=np.uint8)

    def _fixed(self, tree: exp.Expr) -> Span:
        values = numbers_of(self.certain(tree))
        if values is None:
            return self.anything()
        whole = bool((np.isnan(values) | (values == np.round(values))).all())
        return Span(values, values.copy(), np.isnan(values), whole)


def _outward(lo: Floats, hi: Floats, whole: bool) -> tuple[Floats, Floats]:
    """Sums and products of whole numbers below 2⁵³ are exact; others may be half a unit in the last place off."""
    if whole and max(np.nanmax(np.abs(lo), initial=0), np.nanmax(np.abs(hi), initial=0)) < EXACT:
        return lo, hi
    return np.nextafter(lo, -np.inf), np.nextafter(hi, np.inf)


def _combined(
    a: Span, b: Span, rule: Callable[[Floats, Floats], Floats], pairs: Sequence[tuple[str, str]], whole: bool
) -> Span:
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        ends = [rule(getattr(a, x), getattr(b, y)) for x, y in pairs]
    unknown = ~(a.never | b.never)
    low = np.min([np.where(np.isnan(e), -np.inf, e) for e in ends], axis=0)
    high = np.max([np.where(np.isnan(e), np.inf, e) for e in ends], axis=0)
    low, high = _outward(low, high, whole)
    return Span(np.where(unknown, low, np.nan), np.where(unknown, high, np.nan), a.null | b.null, whole)


EVERY = (("lo", "lo"), ("lo", "hi"), ("hi", "lo"), ("hi", "hi"))


def _add(spans: Spans, tree: exp.Expr) -> Span:
    a, b = spans.number(tree.this), spans.number(tree.expression)
    return _combined(a, b, np.add, (("lo", "lo"), ("hi", "hi")), a.whole and b.whole)


def _sub(spans: Spans, tree: exp.Expr) -> Span:
    a, b = spans.number(tree.this), spans.number(tree.expression)
    return _combined(a, b, np.subtract, (("lo", "hi"), ("hi", "lo")), a.whole and b.whole)


def _mul(spans: Spans, tree: exp.Expr) -> Span:
    a, b = spans.number(tree.this), spans.number(tree.expression)

    def times(x: Floats, y: Floats) -> Floats:
        return np.where((x == 0) | (y == 0), np.where(np.isnan(x) | np.isnan(y), np.nan, 0.0), x * y)

    return _combined(a, b, times, EVERY, a.whole and b.whole)


def _div(spans: Spans, tree: exp.Expr) -> Span:
    """Division by 0 counts as NULL; a whole number that is not 0 is at least 1 away from it."""
    a, b = spans.number(tree.this), spans.number(tree.expression)
    zero = (b.lo <= 0) & (b.hi >= 0)
    low, high = b.lo.copy(), b.hi.copy()
    if b.whole:
        low[zero & (b.lo == 0)] = 1.0
        high[zero & (b.hi == 0)] = -1.0
    only = (b.lo == 0) & (b.hi == 0)
    across = zero & ~only & (low <= 0) & (high >= 0)
    safe = Span(np.where(only, np.nan, low), np.where(only, np.nan, high), b.null | zero)
    found = _combined(a, safe, np.divide, EVERY, False)
    found.lo[across & ~found.never], found.hi[across & ~found.never] = -np.inf, np.inf
    if isinstance(tree, exp.IntDiv):
        found.lo, found.hi = np.floor(found.lo), np.ceil(found.hi)
        found.whole = a.whole and b.whole
    return found


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
    lo, hi = (lo, hi) if exact else (_wider(lo, -np.inf), _wider(hi, np.inf))
    return Span(lo, hi, a.null if exact else a.null | (a.lo < 0), exact)


def _wider(end: Floats, to: float) -> Floats:
    return np.nextafter(np.nextafter(end, to), to)


def _round(spans: Spans, tree: exp.Expr) -> Span:
    a = spans.number(tree.this)
    places = tree.args.get("decimals")
    if places is not None and not (isinstance(places, exp.Literal) and places.this.isdigit()):
        return spans.anything()
    half = 0.5 * 10.0 ** -(int(places.this) if places is not None else 0)
    return Span(_wider(a.lo - half, -np.inf), _wider(a.hi + half, np.inf), a.null, places is None)


def _cast(spans: Spans, tree: exp.Expr) -> Span:
    a = spans.number(tree.this)
    name = tree.args["to"].sql(dialect="duckdb").lower()
    if name.startswith(("double", "float", "real")):
        return Span(np.nextafter(a.lo, -np.inf), np.nextafter(a.hi, np.inf), a.null, a.whole) if name != "double" else a
    if "int" in name:
        return Span(np.floor(a.lo), np.ceil(a.hi), a.null, True)
    return spans.anything()


def _where(there: Bools, part: Span) -> Span:
    """The part where it can be reached, nothing elsewhere."""
    return Span(np.where(there, part.lo, np.nan), np.where(there, part.hi, np.nan), part.null, part.whole)


def _hull(parts: Sequence[Span], null: Bools, n: int) -> Span:
    """Any of these."""
    if not parts:
        return Span(np.full(n, np.nan), np.full(n, np.nan), np.ones(n, dtype=bool))
    lo = np.fmin.reduce([p.lo for p in parts])
    hi = np.fmax.reduce([p.hi for p in parts])
    return Span(lo, hi, null, all(p.whole for p in parts))


def _coalesce(spans: Spans, tree: exp.Expr) -> Span:
    used: list[Span] = []
    open_still = np.ones(spans.n, dtype=bool)
    for one in (tree.this, *tree.expressions):
        part = spans.number(one)
        used.append(_where(open_still, part))
        open_still = open_still & part.null
    return _hull(used, open_still, spans.n)


def _case(spans: Spans, tree: exp.Expr) -> Span:
    if tree.this is not None:
        return spans.anything()
    used: list[Span] = []
    null, reached = np.zeros(spans.n, dtype=bool), np.ones(spans.n, dtype=bool)
    for branch in tree.args["ifs"]:
        may = spans.truth(branch.this)
        taken = reached & ((may & TRUE) > 0)
        part = spans.number(branch.args["true"])
        used.append(_where(taken, part))
        null |= taken & part.null
        reached &= may != TRUE
    default = tree.args.get("default")
    if default is None or isinstance(default, exp.Null):
        return _hull(used, null | reached, spans.n)
    part = spans.number(default)
    used.append(_where(reached, part))
    return _hull(used, null | (reached & part.null), spans.n)


def _most(spans: Spans, tree: exp.Expr) -> Span:
    """GREATEST and LEAST pass over NULLs."""
    parts = [spans.number(one) for one in (tree.this, *tree.expressions)]
    null = np.all([p.null for p in parts], axis=0)
    outer = _hull(parts, null, spans.n)
    always = [p for p in parts if not p.null.any()]
    if isinstance(tree, exp.Greatest):
        return Span(np.max([p.lo for p in always], axis=0) if always else outer.lo, outer.hi, null, outer.whole)
    return Span(outer.lo, np.min([p.hi for p in always], axis=0) if always else outer.hi, null, outer.whole)


def _nullif(spans: Spans, tree: exp.Expr) -> Span:
    a = spans.number(tree.this)
    same = _compare("=", a, spans.number(tree.expression))
    never = same == TRUE
    return Span(np.where(never, np.nan, a.lo), np.where(never, np.nan, a.hi), a.null | ((same & TRUE) > 0), a.whole)


def _compare(operator: str, a: Span, b: Span) -> Bits:
    if operator in ("<", "<="):
        return _compare(TURNED[operator], b, a)
    with np.errstate(invalid="ignore"):
        if operator == "=":
            can = (a.lo <= b.hi) & (b.lo <= a.hi)
            must = (a.lo == a.hi) & (b.lo == b.hi) & (a.lo == b.lo)
        elif operator == "<>":
            return NOT[_compare("=", a, b)]
        else:
            can = a.hi > b.lo if operator == ">" else a.hi >= b.lo
            must = a.lo > b.hi if operator == ">" else a.lo >= b.hi
    never = a.never | b.never
    found = np.where(can, TRUE, 0) | np.where(must, 0, FALSE)
    found = np.where(never, NULL, found | np.where(a.null | b.null, NULL, 0))
    return found.astype(np.uint8)


def _as_number(truth: Bits) -> Span:
    some = (truth & (TRUE | FALSE)) > 0
    lo = np.where(truth & FALSE, 0.0, 1.0)
    hi = np.where(truth & TRUE, 1.0, 0.0)
    return Span(np.where(some, lo, np.nan), np.where(some, hi, np.nan), (truth & NULL) > 0, True)


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
