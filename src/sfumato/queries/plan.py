"""A query's view of one row: which columns decide what, and what a code tuple adds to which group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp

from sfumato.data.codec import Codes, Domain
from sfumato.errors import ParameterError, Unanswerable
from sfumato.outcomes import Factor, Outcome
from sfumato.queries.keys import KeyBook, Part, part_of_codes, part_of_values
from sfumato.queries.lift import Argument, Lifted
from sfumato.queries.literals import DISTINCT, FALSE, TRUE, Bools
from sfumato.queries.rows import Cells, Predicate, Rows, Sure, columns_of, numbers_of

Floats = NDArray[np.float64]
EXACT = 2.0**53


@dataclass(eq=False)
class Conjuncts:
    """Some conjuncts of WHERE over columns that nothing else reads: a factor of the row map."""

    columns: tuple[str, ...]
    rows: Rows
    predicates: Sequence[Predicate]

    def keeps(self, codes: Mapping[str, Codes]) -> tuple[Bools, Bools | None]:
        """For N code tuples: kept or not, and whether that is decided (None: all decided)."""
        return _kept(self.predicates, self.rows.cells(codes))


@dataclass(eq=False)
class Value:
    """One value column: numbers of the counted rows, NaN for the others, and where that is decided."""

    numbers: Callable[[Cells], Floats]
    condition: Predicate | None
    sure: Sure | None
    whole: bool = True
    """Were all numbers met so far whole?"""

    def evaluate(self, cells: Cells) -> tuple[Floats, Bools | None]:
        """Values (N,) and sureness (None: all)."""
        found = self.numbers(cells)
        self.whole = self.whole and not (np.rint(found) != found)[~np.isnan(found)].any()
        decided = None if self.sure is None else self.sure(cells)
        if self.condition is None:
            return found, decided
        at, may = self.condition(cells)
        values = np.where(at == TRUE, found, np.nan)
        if at is may and decided is None:
            return values, None
        out = (may & TRUE) == 0
        sure: Bools = out | ((may == TRUE) if decided is None else (may == TRUE) & decided)
        return values, sure


@dataclass(eq=False)
class Plan:
    """The row map of one query."""

    core_columns: tuple[str, ...]
    factors: Sequence[Factor]
    keys: KeyBook
    mixed: tuple[Rows, Sequence[Predicate]]
    rows: Rows
    parts: Sequence[Callable[[Cells], Part]]
    key_sure: Sequence[Sure]
    values: Sequence[Value]
    asks_sql: bool
    """Does any expression need SQL on decoded values?"""
    key_columns: tuple[str, ...] = ()
    """Columns that keys read and that have values which are not published."""

    n_values: int = field(init=False)
    """Number of value columns."""

    def __post_init__(self) -> None:
        self.n_values = len(self.values)

    @property
    def n_keys(self) -> int:
        """Number of keys met so far; grows as `core` meets new ones."""
        return len(self.keys)

    def core(self, codes: Mapping[str, Codes]) -> Outcome:
        """Outcomes of N code tuples over `core_columns` (with no core columns: one outcome, N = 1)."""
        n = len(next(iter(codes.values()))) if codes else 1
        kept, decided = self._keeps(codes, n)
        live = kept if decided is None else kept | ~decided
        if live.all():
            return self._outcome(codes, kept, decided)
        found = self._outcome(
            {name: column[live] for name, column in codes.items()},
            kept[live],
            None if decided is None else decided[live],
        )
        key = np.full(n, -1, dtype=np.int64)
        values = np.full((n, self.n_values), np.nan)
        key[live], values[live] = found.key, found.values
        if found.sure is None:
            return Outcome(key, values)
        sure = np.ones(n, dtype=bool)
        sure[live] = found.sure
        return Outcome(key, values, sure)

    def _keeps(self, codes: Mapping[str, Codes], n: int) -> tuple[Bools, Bools | None]:
        rows, predicates = self.mixed
        return _kept(predicates, rows.cells(codes)) if predicates else (np.ones(n, dtype=bool), None)

    def _outcome(self, codes: Mapping[str, Codes], kept: Bools, decided: Bools | None) -> Outcome:
        """Keys and values of tuples that WHERE keeps or may keep."""
        if len(kept) == 0:
            return Outcome(np.zeros(0, np.int64), np.zeros((0, self.n_values)))
        cells = self.rows.cells(codes)
        key = self.keys.index([part(cells) for part in self.parts], kept & ~self._masked(codes))
        values = np.full((len(kept), self.n_values), np.nan)
        sure = decided
        for j, value in enumerate(self.values):
            values[:, j], known = value.evaluate(cells)
            sure = _meet(sure, known)
        for known_key in self.key_sure:
            sure = _meet(sure, known_key(cells))
        return Outcome(key, values, None if sure is None or sure.all() else sure)

    def _masked(self, codes: Mapping[str, Codes]) -> Bools:
        """Tuples whose key reads a value that is not published: a mask is the name of no group."""
        found = np.zeros(len(next(iter(codes.values()))) if codes else 1, dtype=bool)
        for name in self.key_columns:
            found |= np.isin(codes[name], self.rows.domains[name].withheld)
        return found


def _meet(a: Bools | None, b: Bools | None) -> Bools | None:
    return b if a is None else a if b is None else a & b


def _kept(predicates: Sequence[Predicate], cells: Cells) -> tuple[Bools, Bools | None]:
    """Kept where all are TRUE; decided where the possible truth values agree on that."""
    kept = np.ones(cells.n, dtype=bool)
    sure_in, sure_out, open_ended = kept.copy(), np.zeros(cells.n, dtype=bool), False
    for predicate in predicates:
        at, may = predicate(cells)
        kept &= at == TRUE
        open_ended |= at is not may
        sure_in &= may == TRUE
        sure_out |= (may & TRUE) == 0
    return kept, (sure_in | sure_out) if open_ended else None


def make_plan(lifted: Lifted, domains: Mapping[str, Domain], keys: KeyBook | None = None) -> Plan:
    """Split WHERE, compile keys and arguments; `keys`: the book to write keys in, when another plan has begun one."""
    question = lifted.question
    rows = Rows(domains)
    parts = [_part(rows, key) for key in question.keys]
    values = [_value(rows, argument) for argument in lifted.arguments]
    key_sure = [sure for key in question.keys if (sure := rows.sure(key)) is not None]
    read = [tree for key in question.keys for tree in (key,)]
    read += [tree for a in lifted.arguments for tree in (a.tree, a.condition) if tree is not None]
    core, mixed, rest = _split(_conjuncts(question.where), read)
    factors = [_factor(domains, names, trees) for names, trees in rest]
    mixed_rows = Rows(domains)
    predicates = [mixed_rows.predicate(tree) for tree in mixed]
    book = KeyBook(question.grouped and bool(question.keys)) if keys is None else keys
    asks_sql = any(one.asked for one in (rows, mixed_rows, *(factor.rows for factor in factors)))
    masked = tuple(name for key in question.keys for name in columns_of(key) if domains[name].withheld)
    return Plan(core, factors, book, (mixed_rows, predicates), rows, parts, key_sure, values, asks_sql, masked)


def _conjuncts(where: exp.Expr | None) -> list[exp.Expr]:
    """The parts of a conjunction, in order."""
    found, left = [], [where] if where is not None else []
    while left:
        tree = left.pop()
        if isinstance(tree, exp.Paren):
            left.append(tree.this)
        elif isinstance(tree, exp.And):
            left += [tree.expression, tree.this]
        else:
            found.append(tree)
    return found


def _split(
    conjuncts: Sequence[exp.Expr], read: Sequence[exp.Expr]
) -> tuple[tuple[str, ...], list[exp.Expr], list[tuple[tuple[str, ...], list[exp.Expr]]]]:
    """Core columns, the conjuncts that touch them (or read nothing), and the others by connected columns."""
    core = list(dict.fromkeys(name for tree in read for name in columns_of(tree)))
    mixed: list[exp.Expr] = []
    parts: list[tuple[list[str], list[exp.Expr]]] = []
    for tree in conjuncts:
        names, trees = list(columns_of(tree)), [tree]
        if not names:
            mixed.append(tree)
            continue
        touched = [part for part in parts if set(part[0]) & set(names)]
        parts = [part for part in parts if not set(part[0]) & set(names)]
        for columns, others in touched:
            names, trees = list(dict.fromkeys(columns + names)), others + trees
        parts.append((names, trees))
    for names, trees in parts:
        if set(names) & set(core):
            core = list(dict.fromkeys(core + names))
            mixed += trees
    rest = [(tuple(names), trees) for names, trees in parts if not set(names) & set(core)]
    return tuple(core), mixed, rest


def _factor(domains: Mapping[str, Domain], names: tuple[str, ...], trees: Sequence[exp.Expr]) -> Conjuncts:
    rows = Rows(domains)
    return Conjuncts(names, rows, [rows.predicate(tree) for tree in trees])


def _part(rows: Rows, key: exp.Expr) -> Callable[[Cells], Part]:
    if isinstance(key, exp.Column):
        name, domain = key.name, rows.domains[key.name]
        return lambda cells: part_of_codes(cells.codes[name], domain)
    place = rows.ask(key)
    return lambda cells: part_of_values(cells.found[place])


def _value(rows: Rows, argument: Argument) -> Value:
    condition = None if argument.condition is None else rows.predicate(argument.condition)
    if argument.tree is None:
        return Value(lambda cells: np.ones(cells.n), condition, None)
    numbers = _counted(rows, argument.tree) if argument.counting else _numbers(rows, argument.tree)
    return Value(numbers, condition, _sure_of(rows, argument))


def _sure_of(rows: Rows, argument: Argument) -> Sure | None:
    assert argument.tree is not None
    return rows.sure(_nullness(argument.tree)) if argument.counting else rows.sure_sum(argument.tree)


def _nullness(tree: exp.Expr) -> exp.Expr:
    """A bare column is counted by being there, which an open end does not change."""
    return exp.Is(this=tree.copy(), expression=exp.Null()) if isinstance(tree, exp.Column) else tree


def _counted(rows: Rows, tree: exp.Expr) -> Callable[[Cells], Floats]:
    predicate = rows.predicate(exp.Is(this=tree.copy(), expression=exp.Null()))
    return lambda cells: np.where(predicate(cells)[0] == FALSE, 1.0, np.nan)


def _numbers(rows: Rows, tree: exp.Expr) -> Callable[[Cells], Floats]:
    if isinstance(tree, exp.Column):
        name, found = tree.name, rows.domains[tree.name].numbers
        if found is None:
            raise Unanswerable(_not_a_number(f"column {name!r}"))
        numbers: Floats = found
        _check_digits(rows.domains[name].values, numbers)
        return lambda cells: numbers[cells.codes[name]]
    place = rows.ask(tree)

    def evaluated(cells: Cells) -> Floats:
        values = numbers_of(cells.found[place])
        if values is None:
            raise Unanswerable(_not_a_number("an expression"))
        _check_digits(cells.found[place], values)
        if np.isinf(values).any():
            raise ParameterError(
                "An aggregated expression is infinite on some values cells may have. Guard it with CASE."
            )
        return values

    return evaluated


def _check_digits(array: pa.Array, numbers: Floats) -> None:
    """Refuse exact numbers that floats would merge."""
    if pa.types.is_floating(array.type) or not len(numbers):
        return
    scale = array.type.scale if pa.types.is_decimal(array.type) else 0
    if float(np.abs(np.nan_to_num(numbers)).max()) * 10.0**scale >= (DISTINCT if scale else EXACT):
        raise Unanswerable(
            "SUM, AVG, MIN and MAX of exact numbers of more than 15 digits cannot be answered: bounds are 64-bit "
            "floats. Cast them, as max(CAST(x AS DOUBLE)), or count them."
        )


def _not_a_number(what: str) -> str:
    return (
        f"SUM, AVG, MIN and MAX of {what} that is text cannot be answered: they need numbers, dates or booleans. "
        "Use COUNT, GROUP BY it, or cast it to a number."
    )
