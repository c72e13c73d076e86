"""Expressions over one aggregate that keep its exactness: a·x + b, and functions that rise or fall with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp


@dataclass(frozen=True)
class Linear:
    """constant + Σ factor[m] · agg m."""

    constant: float
    factors: dict[int, float]

    def scaled(self, by: float) -> Linear:
        """Every term times a number."""
        return Linear(self.constant * by, {place: factor * by for place, factor in self.factors.items()})

    def at(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Its value where the one aggregate it reads has these."""
        (factor,) = self.factors.values()
        return factor * values + self.constant

    def plus(self, other: Linear) -> Linear:
        """Term by term."""
        factors = dict(self.factors)
        for place, factor in other.factors.items():
            factors[place] = factors.get(place, 0.0) + factor
        return Linear(self.constant + other.constant, factors)


def linear(tree: exp.Expr) -> Linear | None:
    """The expression as a linear combination of aggregates; None when it is not one.

    >>> linear(exp.maybe_parse("100 * agg0 - agg1 / 2 + 1"))
    Linear(constant=1.0, factors={0: 100.0, 1: -0.5})
    """
    if isinstance(tree, exp.Column):
        return Linear(0.0, {int(tree.name[3:]): 1.0}) if tree.name.startswith("agg") else None
    if isinstance(tree, exp.Literal):
        return None if tree.is_string else Linear(float(tree.this), {})
    if isinstance(tree, exp.Paren):
        return linear(tree.this)
    if isinstance(tree, exp.Neg):
        inner = linear(tree.this)
        return None if inner is None else inner.scaled(-1.0)
    if isinstance(tree, exp.Cast) and tree.args["to"].is_type("double"):
        return linear(tree.this)
    if not isinstance(tree, exp.Add | exp.Sub | exp.Mul | exp.Div):
        return None
    left, right = linear(tree.this), linear(tree.expression)
    return None if left is None or right is None else _joined(tree, left, right)


def _joined(tree: exp.Expr, left: Linear, right: Linear) -> Linear | None:
    if isinstance(tree, exp.Add):
        return left.plus(right)
    if isinstance(tree, exp.Sub):
        return left.plus(right.scaled(-1.0))
    if isinstance(tree, exp.Mul) and (not left.factors or not right.factors):
        return right.scaled(left.constant) if not left.factors else left.scaled(right.constant)
    if isinstance(tree, exp.Div) and not right.factors and right.constant != 0:
        return Linear(left.constant / right.constant, {p: f / right.constant for p, f in left.factors.items()})
    return None


def direction(tree: exp.Expr) -> int:
    """1 where an expression of one aggregate, read once, never falls as it grows, −1 where it never rises, else 0.

    >>> [direction(exp.maybe_parse(text)) for text in ("floor(1 - agg0 / 2)", "agg0 - agg0", "1 / agg0")]
    [-1, 0, 0]
    """
    if isinstance(tree, exp.Column):
        return int(tree.name.startswith("agg"))
    if isinstance(tree, exp.Paren | exp.Floor | exp.Ceil):
        return direction(tree.this)
    if isinstance(tree, exp.Neg):
        return -direction(tree.this)
    if isinstance(tree, exp.Round):
        return direction(tree.this) if tree.args.get("decimals") is None or _is_number(tree.args["decimals"]) else 0
    if type(tree) is exp.Cast:
        return direction(tree.this) if tree.to.is_type("double", *exp.DataType.INTEGER_TYPES) else 0
    if not isinstance(tree, exp.Add | exp.Sub | exp.Mul | exp.Div) or isinstance(tree, exp.IntDiv):
        return 0
    return _of_two(tree)


def _of_two(tree: exp.Expr) -> int:
    """One side is a number, the other reads the aggregate."""
    for inner, other in ((tree.this, tree.expression), (tree.expression, tree.this)):
        number = linear(other)
        if number is None or number.factors:
            continue
        first = inner is tree.this
        if isinstance(tree, exp.Add):
            return direction(inner)
        if isinstance(tree, exp.Sub):
            return direction(inner) if first else -direction(inner)
        if isinstance(tree, exp.Mul) or first:
            return direction(inner) * ((number.constant > 0) - (number.constant < 0))
    return 0


def _is_number(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Literal) and not tree.is_string


def as_share(tree: exp.Expr) -> exp.Expr:
    """Quotients of counts and sums over one group of rows as averages, which have exact bounds and means.

    SUM(x) / COUNT(x) is the average of x, COUNT(x) / COUNT(*) of "x is not NULL", and
    SUM(CASE … ELSE number END) / COUNT(*) of its CASE. A factor goes inside, so that the quotient is rounded once.
    """
    return tree if tree.find(exp.Div) is None else tree.transform(_share)


def _share(node: exp.Expr) -> exp.Expr:
    if not isinstance(node, exp.Div):
        return node
    top, factor = _scaled(node.this)
    average = _average(top, node.expression.unnest())
    if average is None or factor is None:
        return node if average is None else average
    held = average.this if isinstance(average, exp.Filter) else average
    held.set("this", exp.Mul(this=factor.copy(), expression=exp.paren(held.this)))
    return average


def _scaled(tree: exp.Expr) -> tuple[exp.Expr, exp.Expr | None]:
    """The aggregate in `number * aggregate`, and the number."""
    tree = tree.unnest()
    if isinstance(tree, exp.Mul):
        for number, rest in ((tree.this, tree.expression), (tree.expression, tree.this)):
            if isinstance(number, exp.Literal) and not number.is_string:
                return rest.unnest(), number
    if isinstance(tree, exp.Cast) and tree.args["to"].is_type("double"):
        return tree.this.unnest(), None
    return tree, None


def _average(top: exp.Expr, below: exp.Expr) -> exp.Expr | None:
    """The average that a quotient of two aggregates is."""
    if _counts_rows(below):
        indicator = _indicator(top)
        return None if indicator is None else exp.Avg(this=indicator)
    added, counted = (one.this if isinstance(one, exp.Filter) else one for one in (top, below))
    if not isinstance(added, exp.Sum) or not isinstance(counted, exp.Count) or added.this != counted.this:
        return None
    if isinstance(added.this, exp.Distinct) or (top.args.get("expression") != below.args.get("expression")):
        return None
    average = exp.Avg(this=added.this.copy())
    return exp.Filter(this=average, expression=top.expression.copy()) if isinstance(top, exp.Filter) else average


def _counts_rows(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Count) and (tree.this is None or isinstance(tree.this, exp.Star))


def _indicator(tree: exp.Expr) -> exp.Expr | None:
    conditions: list[exp.Expr] = []
    if isinstance(tree, exp.Filter):
        conditions.append(tree.expression.this)
        tree = tree.this
    if isinstance(tree, exp.Count) and not tree.expressions and not isinstance(tree.this, exp.Distinct):
        if tree.this is not None and not isinstance(tree.this, exp.Star):
            conditions.append(exp.Not(this=exp.Is(this=exp.paren(tree.this), expression=exp.Null())))
    elif isinstance(tree, exp.Sum) and not conditions:
        return tree.this.copy() if _numeric_case(tree.this) else None
    else:
        return None
    if not conditions:
        return None
    both = exp.and_(*[exp.paren(one.copy()) for one in conditions])
    return exp.Case(ifs=[exp.If(this=both, true=exp.Literal.number("1.0"))], default=exp.Literal.number("0.0"))


def _numeric_case(tree: exp.Expr) -> bool:
    """A CASE that is a number on every row."""
    if not isinstance(tree, exp.Case) or tree.args.get("default") is None:
        return False
    values = [branch.args["true"] for branch in tree.args["ifs"]] + [tree.args["default"]]
    return all(isinstance(one, exp.Literal) and not one.is_string for one in values)
