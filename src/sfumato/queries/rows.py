"""Row expressions compiled once: three-valued predicates over code tuples, and what open ends leave undecided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp

from sfumato.data.codec import Codes, Domain
from sfumato.data.steps import floats_of
from sfumato.errors import ParameterError
from sfumato.queries.connection import evaluate
from sfumato.queries.literals import (
    ANY,
    FALSE,
    MICROSECONDS,
    NULL,
    OPERATORS,
    TRUE,
    TURNED,
    Bits,
    Bools,
    comparable,
    compare,
    contained,
    is_missing,
    is_true,
    literal,
)


def _table(both: Callable[[int, int], int]) -> Bits:
    table = np.zeros((8, 8), dtype=np.uint8)
    for a, b in product(range(8), repeat=2):
        for x, y in product((TRUE, FALSE, NULL), repeat=2):
            if a & x and b & y:
                table[a, b] |= both(x, y)
    return table


def _and(x: int, y: int) -> int:
    return FALSE if FALSE in (x, y) else NULL if NULL in (x, y) else TRUE


def _or(x: int, y: int) -> int:
    return TRUE if TRUE in (x, y) else NULL if NULL in (x, y) else FALSE


AND, OR = _table(_and), _table(_or)
NOT = np.array([(s & NULL) | (TRUE if s & FALSE else 0) | (FALSE if s & TRUE else 0) for s in range(8)], dtype=np.uint8)


@dataclass(eq=False)
class Cells:
    """N code tuples, with the SQL results that the compiled expressions asked for (`found[i]` of `Rows.asked[i]`)."""

    codes: Mapping[str, Codes]
    n: int
    found: Sequence[pa.Array] = ()

    def at_open_end(self, domains: Mapping[str, Domain], names: Sequence[str]) -> Bools:
        """Which tuples have a cell of these columns that stands for more values than its own."""
        found = np.zeros(self.n, dtype=bool)
        for name in names:
            domain = domains[name]
            if domain.open_low:
                found |= self.codes[name] == 0
            if domain.open_high:
                found |= self.codes[name] == domain.n_values - 1
            if domain.between:
                found |= domain.wide[self.codes[name]]
        return found


Truth = tuple[Bits, Bits]
Predicate = Callable[[Cells], Truth]
Sure = Callable[[Cells], Bools]


@dataclass(eq=False)
class Rows:
    """Compiles row expressions over some domains and evaluates what needs SQL in one go."""

    domains: Mapping[str, Domain]
    asked: list[str] = field(default_factory=list)
    reads: set[str] = field(default_factory=set)

    def cells(self, codes: Mapping[str, Codes]) -> Cells:
        """Code tuples with the SQL results on their decoded values."""
        n = len(next(iter(codes.values()))) if codes else 1
        if not self.asked:
            return Cells(codes, n)
        columns = {name: narrow(self.domains[name].decode(codes[name])) for name in sorted(self.reads)}
        return Cells(codes, n, evaluate(columns, self.asked, n))

    def ask(self, tree: exp.Expr) -> int:
        """Have this expression evaluated by SQL; gives its place in `Cells.found`."""
        text = tree.sql(dialect="duckdb")
        if text not in self.asked:
            self.asked.append(text)
        self.reads |= set(columns_of(tree))
        return self.asked.index(text)

    def predicate(self, tree: exp.Expr) -> Predicate:
        """Truth on every tuple, and the truth values possible given open ends."""
        if isinstance(tree, exp.Paren):
            return self.predicate(tree.this)
        if isinstance(tree, exp.Not):
            inner = self.predicate(tree.this)
            return lambda cells: _each(NOT, inner(cells))
        if isinstance(tree, exp.And | exp.Or):
            left, right = self.predicate(tree.this), self.predicate(tree.expression)
            table = AND if isinstance(tree, exp.And) else OR
            return lambda cells: _both(table, left(cells), right(cells))
        looked_up = self._on_domain(tree)
        return looked_up if looked_up is not None else self._by_sql(tree)

    def _by_sql(self, tree: exp.Expr) -> Predicate:
        place = self.ask(as_condition(tree))
        names = columns_of(tree)

        def truth(cells: Cells) -> Truth:
            at = bits_of(cells.found[place])
            opened = cells.at_open_end(self.domains, names)
            return at, np.where(opened, np.uint8(ANY), at) if opened.any() else at

        return truth

    def _on_domain(self, tree: exp.Expr) -> Predicate | None:
        """One column against literals, looked up per code; None when SQL has to decide."""
        name = _only_column(tree)
        if name is None or not comparable(self.domains[name]):
            return None
        tables = _lookup(tree, self.domains[name])
        if tables is None:
            return None
        at, may = tables
        same = at is may or bool((at == may).all())

        def truth(cells: Cells) -> Truth:
            codes = cells.codes[name]
            here = at[codes]
            return here, here if same else may[codes]

        return truth

    def sure(self, tree: exp.Expr) -> Sure | None:
        """Where codes that stand for several values leave an expression decided; None: everywhere."""
        known = [self.domains[name] for name in columns_of(tree)]
        if not any(domain.open_low or domain.open_high or domain.between for domain in known):
            return None
        if isinstance(tree, exp.Column):
            names = (tree.name,)
            return lambda cells: ~cells.at_open_end(self.domains, names)
        if is_predicate(tree):
            return self._sure_truth(tree, ())
        if isinstance(tree, exp.Case) and tree.this is None:
            conditions = [self._sure_truth(branch.this, (TRUE,)) for branch in tree.args["ifs"]]
            values = [branch.args["true"] for branch in tree.args["ifs"]]
            parts = [
                *conditions,
                *map(self.sure, [*values, *([tree.args["default"]] if tree.args.get("default") else [])]),
            ]
        else:
            parts = [self.sure(child) for child in tree.iter_expressions()]
        return _all([part for part in parts if part is not None])

    def sure_sum(self, tree: exp.Expr) -> Sure | None:
        """`sure` for what SUM, AVG, MIN and MAX make of an expression: both ends of a bare column's cell are leaves, so
        whatever lies between them moves no bound."""
        if not isinstance(tree, exp.Column) or not self.domains[tree.name].between:
            return self.sure(tree)
        domain, name = self.domains[tree.name], tree.name
        ends = {name: replace(domain, between=False)}
        return (lambda cells: ~cells.at_open_end(ends, (name,))) if domain.open_low or domain.open_high else None

    def _sure_truth(self, tree: exp.Expr, only: tuple[int, ...]) -> Sure:
        """Decided truth value; with `only`, decided whether it is one of these."""
        predicate = self.predicate(tree)

        def sure(cells: Cells) -> Bools:
            may = predicate(cells)[1]
            single: Bools = (may == TRUE) | (may == FALSE) | (may == NULL)
            return single | ((may & TRUE) == 0) if only else single

        return sure


def _each(table: Bits, truth: Truth) -> Truth:
    at = table[truth[0]]
    return at, at if truth[1] is truth[0] else table[truth[1]]


def _both(table: Bits, left: Truth, right: Truth) -> Truth:
    at = table[left[0], right[0]]
    same = left[1] is left[0] and right[1] is right[0]
    return at, at if same else table[left[1], right[1]]


def _all(parts: Sequence[Sure]) -> Sure:
    def sure(cells: Cells) -> Bools:
        found = np.ones(cells.n, dtype=bool)
        for part in parts:
            found &= part(cells)
        return found

    return sure


def columns_of(tree: exp.Expr) -> tuple[str, ...]:
    """Released columns an expression reads, each once."""
    found: dict[str, None] = {}
    left: list[exp.Expr] = [tree]
    while left:
        node = left.pop()
        if isinstance(node, exp.Column):
            found[node.name] = None
            continue
        for held in node.args.values():
            if isinstance(held, list):
                left.extend(one for one in held if isinstance(one, exp.Expr))
            elif isinstance(held, exp.Expr):
                left.append(held)
    return tuple(found)


def is_predicate(tree: exp.Expr) -> bool:
    """Is it true, false or NULL by its form?"""
    return isinstance(tree, exp.And | exp.Or | exp.Not | exp.Is | exp.In | exp.Between | exp.Like | exp.ILike) or (
        type(tree) in OPERATORS
    )


def as_condition(tree: exp.Expr) -> exp.Expr:
    """The expression as SQL takes it in WHERE: cast to true or false."""
    return tree if is_predicate(tree) else exp.cast(tree.copy(), "boolean")


def bits_of(array: pa.Array) -> Bits:
    """SQL booleans as truth bits."""
    if pa.types.is_null(array.type):
        return np.full(len(array), NULL, dtype=np.uint8)
    if not pa.types.is_boolean(array.type):
        raise ParameterError("A condition is neither true nor false. Compare it with a value.")
    holds = array.fill_null(False).to_numpy(zero_copy_only=False)
    truth = np.where(holds, np.uint8(TRUE), np.uint8(FALSE))
    if array.null_count:
        truth[array.is_null().to_numpy(zero_copy_only=False)] = NULL
    return truth


def numbers_of(array: pa.Array) -> NDArray[np.float64] | None:
    """SQL numbers, booleans, dates and times (days since 1970) as the nearest floats, NULL as NaN; None for text."""
    kind = array.type
    if pa.types.is_null(kind):
        return np.full(len(array), np.nan)
    if pa.types.is_date32(kind):
        array = array.cast(pa.int32())
    elif pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    elif pa.types.is_timestamp(kind):
        return floats_of(array.cast(pa.timestamp("us")).cast(pa.int64())) / MICROSECONDS
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    return floats_of(array)


def narrow(array: pa.Array) -> pa.Array:
    """Decimals in 18 digits where they fit, so that arithmetic on them has room in SQL."""
    if pa.types.is_decimal(array.type) and array.type.precision > 18:
        try:
            return array.cast(pa.decimal128(18, array.type.scale))
        except pa.ArrowInvalid:
            return array
    return array


def _only_column(tree: exp.Expr) -> str | None:
    names = columns_of(tree)
    return names[0] if len(names) == 1 else None


def _lookup(tree: exp.Expr, domain: Domain) -> Truth | None:
    if isinstance(tree, exp.Column):
        return is_true(domain) if domain.kind == "boolean" else None
    if isinstance(tree, exp.Is):
        plain = isinstance(tree.this, exp.Column) and isinstance(tree.expression, exp.Null)
        return is_missing(domain) if plain else None
    if type(tree) in OPERATORS:
        return _comparison(tree, domain)
    if isinstance(tree, exp.Between) and isinstance(tree.this, exp.Column) and not tree.args.get("symmetric"):
        low, high = literal(tree.args["low"], domain), literal(tree.args["high"], domain)
        if low is None or high is None:
            return None
        return _both(AND, compare(domain, ">=", low), compare(domain, "<=", high))
    if isinstance(tree, exp.In) and isinstance(tree.this, exp.Column) and tree.expressions:
        rest = [one for one in tree.expressions if not isinstance(one, exp.Null)]
        values = [literal(one, domain) for one in rest]
        known = [value for value in values if value is not None]
        return contained(domain, known, len(rest) < len(tree.expressions)) if len(known) == len(values) else None
    return None


def _comparison(tree: exp.Expr, domain: Domain) -> Truth | None:
    operator, left, right = OPERATORS[type(tree)], tree.this, tree.expression
    if isinstance(right, exp.Column):
        left, right, operator = right, left, TURNED[operator]
    if not isinstance(left, exp.Column):
        return None
    value = literal(right, domain)
    return None if value is None else compare(domain, operator, value)
