"""Text to a question: exactly one SELECT over one released table, its names resolved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from sfumato.errors import ParameterError, SchemaError
from sfumato.queries.allowed import AGGREGATES, check_clauses, check_nodes, refusal

DUCKDB = Dialect.get_or_raise("duckdb")
LONGEST = 50_000
DEEPEST = 200
MOST_WORDS = 2_000
"""Words that aliases may stand for: each may hold others, so that a short query could be huge."""
REMEMBERED = 64
"""Queries whose reading is kept; more would be a burden to the garbage collector."""
GROUPINGS: dict[type[exp.Expr], str] = {
    exp.Cube: "CUBE",
    exp.Rollup: "ROLLUP",
    exp.GroupingSets: "GROUPING SETS",
}
OPERATORS = (exp.Binary, exp.Not, exp.Neg, exp.BitwiseNot, exp.Between, exp.In, exp.Interval)
SETS = (exp.Union, exp.Intersect, exp.Except)


@dataclass(frozen=True)
class Output:
    """One expression of the SELECT list; `name` None when the query gives none."""

    name: str | None
    expression: exp.Expr


@dataclass(frozen=True)
class Sort:
    """One ORDER BY item."""

    expression: exp.Expr
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Question:
    """A query with ordinals and aliases put in; column nodes carry the released column's own name, quoted."""

    outputs: tuple[Output, ...]
    where: exp.Expr | None
    keys: tuple[exp.Expr, ...]
    grouped: bool
    having: exp.Expr | None
    order: tuple[Sort, ...]
    limit: int | None
    offset: int


@lru_cache(maxsize=REMEMBERED)
def parse(text: str, names: tuple[str, ...], columns: tuple[str, ...]) -> Question:
    """Parse one query over a table called one of `names` with these columns.

    >>> q = parse("SELECT AGE // 10 AS decade, count(*) FROM data GROUP BY 1", ("data",), ("age",))
    >>> q.outputs[0].name, q.keys[0].sql(dialect="duckdb")
    ('decade', '"age" // 10')
    """
    select = _one_select(text)
    check_clauses(select)
    table = _table(select, names)
    for part in _parts(select):
        check_nodes(part)
    try:
        return _Resolver(columns, table, len(text) > DEEPEST).question(select)
    except RecursionError:
        raise ParameterError("The query is nested too deeply; simplify it.") from None


def _one_select(text: str) -> exp.Select:
    if len(text) > LONGEST:
        raise ParameterError(f"The query has {len(text)} characters; at most {LONGEST} are read.")
    try:
        tokens = DUCKDB.tokenize(text)
        _check_tokens(tokens)
        found = [one for one in DUCKDB.parser().parse(tokens, text) if one is not None]
    except ParseError as error:
        where = error.errors[0] if error.errors else {}
        place = f"line {where.get('line')}, column {where.get('col')}: " if where else ""
        what = str(where.get("description") or "cannot be read").rstrip(".")
        raise ParameterError(f"SQL syntax error at {place}{what}. Correct the query.") from None
    except TokenError as error:
        raise ParameterError(f"SQL syntax error: {str(error).splitlines()[0]}. Correct the query.") from None
    except RecursionError:
        raise ParameterError("The query is nested too deeply; simplify it.") from None
    if len(found) != 1:
        raise refusal(f"{len(found)} statements", "Write exactly one SELECT.")
    if isinstance(found[0], SETS):
        raise refusal(type(found[0]).__name__.upper(), "Ask each SELECT by itself.")
    if not isinstance(found[0], exp.Select):
        kind = found[0].name if isinstance(found[0], exp.Command) else type(found[0]).__name__
        kind = "UNPIVOT" if found[0].args.get("unpivot") else kind
        raise refusal(f"the statement {str(kind).upper()}", "Write one SELECT … FROM the release.")
    return found[0]


def _check_tokens(tokens: Sequence[Token]) -> None:
    """Refuse what sqlglot and DuckDB read differently: `0x1F` and the operator `~`."""
    for one, after in pairwise(tokens):
        if one.token_type == TokenType.NUMBER and after.start == one.end + 1 and after.token_type == TokenType.VAR:
            raise ParameterError(
                f"SQL syntax error at line {one.line}, column {one.col}: a number runs into a name. "
                "Write numbers in decimal digits and a space before a name."
            )
    if any(one.text in ("~", "!~", "~*", "!~*") for one in tokens):
        raise refusal("the operator ~", "Use regexp_matches(text, pattern) or regexp_full_match(text, pattern).")


def _table(select: exp.Select, names: Sequence[str]) -> str:
    """The name that may qualify columns: the table's alias, else its own."""
    source = select.args.get("from_")
    table = None if source is None else source.this
    known = " or ".join(dict.fromkeys(names))
    if isinstance(table, exp.Subquery | exp.Values):
        raise refusal("a subquery in FROM", f"Write FROM {known}.")
    if table is None or not isinstance(table, exp.Table):
        raise refusal("no released table in FROM", f"Write FROM {known}.")
    if not isinstance(table.this, exp.Identifier):
        raise refusal("a table function in FROM", f"Write FROM {known}.")
    if any(value for key, value in table.args.items() if key not in ("this", "alias")):
        extra = next(key for key, value in table.args.items() if value and key not in ("this", "alias"))
        check_clauses(exp.Select(**{extra: True}) if extra in ("joins", "sample", "pivots") else exp.Select())
        raise refusal("a qualified or decorated table in FROM", f"Write FROM {known}.")
    if table.name.lower() not in {name.lower() for name in names}:
        raise SchemaError(f"There is no table {table.name!r} here; the release is called {known}.")
    alias = table.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise refusal("column aliases on the table", "Use AS in the SELECT list.")
    return str(table.alias or table.name)


def _parts(select: exp.Select) -> list[exp.Expr]:
    """Every expression of the query whose nodes must be allowed."""
    parts: list[exp.Expr] = [one.unalias() for one in select.expressions]
    for clause in ("where", "having"):
        if select.args.get(clause) is not None:
            parts.append(select.args[clause].this)
    group = select.args.get("group")
    if group is not None:
        for name in ("cube", "rollup", "grouping_sets"):
            if group.args.get(name):
                raise refusal(f"GROUP BY {name.upper().replace('_', ' ')}", "Ask one query for each grouping.")
        for one in group.expressions:
            if type(one) in GROUPINGS:
                raise refusal(f"GROUP BY {GROUPINGS[type(one)]}", "Ask one query for each grouping.")
        parts.extend(group.expressions)
    if select.args.get("order") is not None:
        parts.extend(one.this for one in select.args["order"].expressions)
    return parts


class _Resolver:
    """Puts column names, aliases and ordinals in place."""

    def __init__(self, columns: Sequence[str], table: str, is_long: bool) -> None:
        self.columns = columns
        self.is_long = is_long
        self.table = table
        self.aliases: dict[str, exp.Expr] = {}
        self.outputs: list[Output] = []
        self.n_put = 0

    def question(self, select: exp.Select) -> Question:
        """The whole query; a column hides an alias of the same name, but for a bare ORDER BY item."""
        for one in select.expressions:
            self._output(one)
        where = select.args.get("where")
        condition = None if where is None else self.resolve(where.this)
        if condition is not None and is_aggregated(condition):
            raise refusal("an aggregate in WHERE", "Use HAVING, or FILTER (WHERE …) on the aggregate.")
        group = select.args.get("group")
        keys = () if group is None else self._keys(group)
        having = select.args.get("having")
        order = select.args.get("order")
        if group is None and having is None and not any(is_aggregated(out.expression) for out in self.outputs):
            self._refuse_rows(order)
        return Question(
            tuple(self.outputs),
            condition,
            keys,
            group is not None,
            None if having is None else self.resolve(having.this),
            () if order is None else tuple(self._sort(one) for one in order.expressions),
            _whole(select.args.get("limit"), "LIMIT"),
            _whole(select.args.get("offset"), "OFFSET") or 0,
        )

    def _refuse_rows(self, order: exp.Expr | None) -> None:
        """A SELECT list of constants has one row for every row of the table."""
        columns = [node for out in self.outputs for node in out.expression.find_all(exp.Column)]
        if not columns and not (order is not None and is_aggregated(order)):
            raise refusal("constants alone in the SELECT list", f"Count rows: SELECT count(*) FROM {self.table}.")

    def resolve(self, tree: exp.Expr) -> exp.Expr:
        """The expression with every column node by its released name."""
        made = tree.transform(self._node, copy=False)
        if (self.is_long or self.n_put) and depth_of(made) > DEEPEST:
            raise ParameterError(f"The query is nested more than {DEEPEST} deep; simplify it.")
        return made

    def _node(self, node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        if isinstance(node.this, exp.Star):
            raise refusal("SELECT *", self._grouping_form())
        if (node.table and node.table.lower() != self.table.lower()) or node.args.get("db"):
            raise SchemaError(f"There is no table {node.sql(dialect='duckdb').rpartition('.')[0]} in this query.")
        name = self._column(node.name)
        if name is not None:
            return exp.Column(this=exp.Identifier(this=name, quoted=True))
        alias = None if node.table else self.aliases.get(node.name.lower())
        if alias is None:
            raise self._unknown(node.name)
        self.n_put += sum(1 for _ in alias.walk())
        if self.n_put > MOST_WORDS:
            raise ParameterError(
                f"The aliases of the query stand for more than {MOST_WORDS} words in all; ask for fewer columns."
            )
        return alias.copy() if isinstance(alias, exp.Column | exp.Func | exp.Literal) else exp.paren(alias)

    def _column(self, asked: str) -> str | None:
        if asked in self.columns:
            return asked
        return next((name for name in self.columns if name.lower() == asked.lower()), None)

    def _unknown(self, asked: str) -> SchemaError:
        lower = {name.lower(): name for name in self.columns}
        near = [lower[name] for name in get_close_matches(asked.lower(), list(lower), n=3)]
        hint = f"Did you mean {' or '.join(near)}? " if near else ""
        return SchemaError(f"There is no column {asked!r}. {hint}The columns are {', '.join(self.columns)}.")

    def _grouping_form(self) -> str:
        first = ", ".join(self.columns[:2])
        return f"Name columns and group by them: SELECT {first}, count(*) FROM {self.table} GROUP BY {first}."

    def _output(self, one: exp.Expr) -> None:
        if isinstance(one, exp.Star):
            raise refusal("SELECT *", self._grouping_form())
        expression = self.resolve(one.unalias())
        name = one.alias or None
        if name is None and isinstance(expression, exp.Column):
            name = expression.name
        elif name is not None:
            self.aliases.setdefault(name.lower(), expression)
        self.outputs.append(Output(name, expression))

    def _keys(self, group: exp.Group) -> tuple[exp.Expr, ...]:
        if group.args.get("all"):
            keys = [out.expression for out in self.outputs if not is_aggregated(out.expression)]
        else:
            keys = [self._ordinal(one, "GROUP BY") or self.resolve(one) for one in group.expressions]
        if any(is_aggregated(key) for key in keys):
            raise refusal("an aggregate in GROUP BY", "Group by columns and expressions of them.")
        return tuple(dict.fromkeys(bare(key) for key in keys))

    def _ordinal(self, one: exp.Expr, clause: str) -> exp.Expr | None:
        if not isinstance(one, exp.Literal) or one.is_string or not one.this.isdigit():
            return None
        place = int(one.this)
        if not 1 <= place <= len(self.outputs):
            raise ParameterError(f"{clause} {place}: the SELECT list has {len(self.outputs)} items. Correct it.")
        return self.outputs[place - 1].expression

    def _sort(self, one: exp.Expr) -> Sort:
        tree = one.this
        if isinstance(tree, exp.Var):
            raise refusal(f"ORDER BY {tree.name.upper()}", "Name the columns to order by: ORDER BY 1, 2.")
        found = self._ordinal(tree, "ORDER BY")
        if found is None and isinstance(tree, exp.Column) and not tree.table:
            found = self.aliases.get(tree.name.lower())
        descending = bool(one.args.get("desc"))
        return Sort(found or self.resolve(tree), descending, bool(one.args.get("nulls_first")))


def bare(tree: exp.Expr) -> exp.Expr:
    """The same tree with parentheses around nested operators and nowhere else: equal trees mean and read the same.

    >>> from sqlglot import parse_one
    >>> [bare(parse_one(text)).sql() for text in ("(((a + b)) * (2))", "a + b * 2", "((a))")]
    ['(a + b) * 2', 'a + (b * 2)', 'a']
    """
    if not any(isinstance(node, exp.Paren) or _is_nested(node) for node in tree.walk()):
        return tree
    root = exp.Paren(this=tree.copy())
    for paren in reversed([node for node in root.find_all(exp.Paren) if node is not root]):
        paren.replace(paren.this)
    made: exp.Expr = root.this.pop()
    for node in reversed([node for node in made.walk() if _is_nested(node)]):
        around = exp.Paren()
        node.replace(around)
        around.set("this", node)
    return made


def _is_nested(node: exp.Expr) -> bool:
    return isinstance(node, OPERATORS) and isinstance(node.parent, OPERATORS)


def depth_of(tree: exp.Expr) -> int:
    """How deep its parts are nested; a chain of AND or OR is one."""
    deepest, left = 0, [(tree, 1)]
    while left:
        node, depth = left.pop()
        deepest = max(deepest, depth)
        chained = type(node) if isinstance(node, exp.And | exp.Or) else None
        left += [(child, depth + (type(child) is not chained)) for child in node.iter_expressions()]
    return deepest


def is_aggregated(tree: exp.Expr) -> bool:
    """Does it contain an aggregate?"""
    return any(type(node) in AGGREGATES for node in tree.walk())


def _whole(clause: exp.Expr | None, name: str) -> int | None:
    if clause is None:
        return None
    options = clause.args.get("limit_options")
    if isinstance(clause, exp.Fetch) or options is not None:
        said = f"{name} with a percentage or ties" if isinstance(clause, exp.Limit) else "FETCH"
        raise refusal(said, "Write LIMIT with one whole number.")
    number = clause.args.get("expression")
    if isinstance(number, exp.Literal) and not number.is_string and number.this.isdigit():
        return int(number.this)
    if clause.args.get("expressions"):
        raise refusal(f"{name} … BY", f"Write {name} with one whole number.")
    raise refusal(f"{name} that is not a whole number", f"Write {name} with digits.")
