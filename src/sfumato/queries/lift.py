"""What a query asks of groups: its aggregates and keys are named, everything over them becomes arithmetic on names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from sfumato.errors import Unanswerable
from sfumato.outcomes import Measure
from sfumato.queries.allowed import AGGREGATES, refusal
from sfumato.queries.parse import Question, Sort, bare


@dataclass(frozen=True)
class Argument:
    """What one aggregate counts or adds: rows where `condition` is true and `tree` is not NULL.

    `tree` None stands for the row itself; `counting`: the value itself is not needed.
    """

    tree: exp.Expr | None
    condition: exp.Expr | None
    counting: bool


@dataclass(frozen=True)
class Aggregate:
    """A measure of value column `j` (−1: of rows)."""

    measure: Measure
    j: int


@dataclass(frozen=True)
class Lifted:
    """A question whose outputs, HAVING and ORDER BY read `agg0, agg1, …` and `key0, key1, …` only."""

    question: Question
    outputs: tuple[exp.Expr, ...]
    having: exp.Expr | None
    order: tuple[Sort, ...]
    aggregates: tuple[Aggregate, ...]
    arguments: tuple[Argument, ...]
    calls: tuple[exp.Expr, ...]
    """The aggregate calls as written, one for each of `aggregates`."""


def lift(question: Question) -> Lifted:
    """Name the aggregates and keys of a question."""
    lifter = _Lifter([bare(key) for key in question.keys])
    outputs = tuple(lifter.tree(out.expression) for out in question.outputs)
    having = None if question.having is None else lifter.tree(question.having)
    order = tuple(Sort(lifter.tree(s.expression), s.descending, s.nulls_first) for s in question.order)
    aggregates, arguments = lifter.shared()
    return Lifted(question, outputs, having, order, aggregates, arguments, tuple(lifter.calls))


def references(tree: exp.Expr) -> Iterator[tuple[str, int]]:
    """The names in a lifted expression: ("agg" | "key", number)."""
    for node in tree.walk():
        if isinstance(node, exp.Column):
            yield node.name[:3], int(node.name[3:])


def agg_places(tree: exp.Expr) -> list[int]:
    """Numbers of the aggregates it reads, each once."""
    return list(dict.fromkeys(place for kind, place in references(tree) if kind == "agg"))


@dataclass(eq=False)
class _Lifter:
    keys: list[exp.Expr]
    calls: list[exp.Expr] = field(default_factory=list)
    found: list[tuple[Measure, Argument | None]] = field(default_factory=list)

    def tree(self, tree: exp.Expr) -> exp.Expr:
        """The expression on names."""
        return self._named(tree.copy())

    def _named(self, tree: exp.Expr) -> exp.Expr:
        """The same, in place."""
        if any(type(key) is type(tree.unnest()) for key in self.keys) and (plain := bare(tree)) in self.keys:
            return exp.column(f"key{self.keys.index(plain)}")
        if isinstance(tree, exp.Filter) or type(tree) in AGGREGATES:
            return exp.column(f"agg{self._call(tree)}")
        if isinstance(tree, exp.Column):
            raise Unanswerable(_ungrouped(tree.name, bool(self.keys)))
        for child in list(tree.iter_expressions()):
            named = self._named(child)
            if named is not child:
                child.replace(named)
        return tree

    def _call(self, tree: exp.Expr) -> int:
        plain = bare(tree)
        if plain in self.calls:
            return self.calls.index(plain)
        self.calls.append(plain)
        self.found.append(_read(tree))
        return len(self.calls) - 1

    def shared(self) -> tuple[tuple[Aggregate, ...], tuple[Argument, ...]]:
        """Aggregates of one argument share its value column; a COUNT uses the one whose values are needed."""
        wanted = dict.fromkeys(argument for _, argument in self.found if argument is not None)
        arguments = [one for one in wanted if not one.counting]
        arguments += [one for one in wanted if one.counting and replace(one, counting=False) not in wanted]

        def place(argument: Argument | None) -> int:
            if argument is None:
                return -1
            valued = replace(argument, counting=False)
            return arguments.index(valued if valued in arguments else argument)

        return tuple(Aggregate(measure, place(argument)) for measure, argument in self.found), tuple(arguments)


def _read(tree: exp.Expr) -> tuple[Measure, Argument | None]:
    """Measure and argument of one aggregate call."""
    condition = None
    if isinstance(tree, exp.Filter):
        condition, tree = tree.expression.this, tree.this
        if type(tree) not in AGGREGATES:
            raise refusal("FILTER on something else than an aggregate", "Put FILTER right after COUNT, SUM, AVG, …")
    measure: Measure = AGGREGATES[type(tree)]  # type: ignore[assignment]
    argument: Any = tree.args.get("this")
    if isinstance(tree, exp.CountIf):
        return "sum", Argument(bare(_as_bit(argument)), None if condition is None else bare(condition), False)
    if tree.args.get("expressions") or tree.args.get("count"):
        name = type(tree).__name__.upper()
        raise refusal(f"{name} of several arguments", f"Write {name} with one argument.")
    for node in (condition, argument):
        if node is not None and any(type(inner) in AGGREGATES for inner in node.walk()):
            raise refusal("an aggregate inside an aggregate", "Ask the inner one first, with GROUP BY.")
    counts_rows = argument is None or isinstance(argument, exp.Star)
    if counts_rows and measure != "count":
        raise refusal(f"{measure.upper()}(*)", f"Name what to take: {measure.upper()}(column).")
    if counts_rows and condition is None:
        return "count", None
    tidy = None if counts_rows else bare(argument)
    return measure, Argument(tidy, None if condition is None else bare(condition), measure == "count")


def _as_bit(truth: exp.Expr) -> exp.Expr:
    """DuckDB's COUNT_IF adds truth values, so over no rows it is NULL."""
    one, zero = exp.Literal.number(1), exp.Literal.number(0)
    ifs = [exp.If(this=truth.copy(), true=one), exp.If(this=exp.Not(this=exp.paren(truth)), true=zero)]
    return exp.Case(ifs=ifs)


def _ungrouped(name: str, grouped: bool) -> str:
    if grouped:
        return (
            f"Column {name!r} stands outside of aggregates and is not in GROUP BY. "
            f"Add it to GROUP BY, or take its MIN, MAX, AVG, SUM or COUNT."
        )
    return (
        f"A query for single rows (column {name!r} outside of aggregates) cannot be answered: rows of the original are "
        f"not known. Group by it: SELECT {name}, count(*) … GROUP BY {name}."
    )
