"""Names and SQL types of a query's outputs and aggregates, as DuckDB gives them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import pyarrow as pa
from sqlglot import exp

from sfumato.data.codec import Domain
from sfumato.queries.affine import as_share
from sfumato.queries.allowed import AGGREGATES
from sfumato.queries.connection import describe
from sfumato.queries.lift import Lifted, lift
from sfumato.queries.parse import REMEMBERED, Output, Question, Sort, is_aggregated, parse
from sfumato.queries.rows import narrow

PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")
INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
Types = tuple[tuple[str, pa.DataType], ...]


@dataclass(frozen=True)
class Bound:
    """What the SELECT list is called, the SQL type of each output, and of each aggregate call."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    calls: tuple[str, ...]


@lru_cache(maxsize=REMEMBERED)
def lifted(text: str, names: tuple[str, ...], columns: tuple[str, ...]) -> Lifted:
    """Parse a query and name its aggregates and keys; the same text is read once."""
    question = parse(text, names, columns)
    return lift(
        replace(
            question,
            outputs=tuple(Output(out.name, as_share(out.expression)) for out in question.outputs),
            having=as_share(question.having) if question.having is not None and question.grouped else question.having,
            order=tuple(Sort(as_share(s.expression), s.descending, s.nulls_first) for s in question.order),
        )
    )


@lru_cache(maxsize=REMEMBERED)
def bound(text: str, names: tuple[str, ...], types: Types) -> Bound:
    """Bind the query on a table without rows: DuckDB checks types and gives names."""
    columns = tuple(name for name, _ in types)
    question, calls = parse(text, names, columns), lifted(text, names, columns).calls
    chosen = [out.expression.sql(dialect="duckdb") for out in question.outputs]
    asked = [call.sql(dialect="duckdb") for call in calls]
    found = describe(dict(types), chosen + asked, _tail(question))
    named = tuple(
        out.name if out.name is not None else name for out, (name, _) in zip(question.outputs, found, strict=False)
    )
    kinds = tuple(kind for _, kind in found)
    return Bound(named, kinds[: len(chosen)], kinds[len(chosen) :])


def _tail(question: Question) -> str:
    parts = []
    if question.where is not None:
        parts.append("WHERE " + question.where.sql(dialect="duckdb"))
    if question.keys:
        parts.append("GROUP BY " + ", ".join(exp.paren(key).sql(dialect="duckdb") for key in question.keys))
    if question.having is not None:
        parts.append("HAVING " + question.having.sql(dialect="duckdb"))
    if question.order:
        parts.append("ORDER BY " + ", ".join(exp.paren(s.expression).sql(dialect="duckdb") for s in question.order))
    return " ".join(parts)


def types_of(domains: Mapping[str, Domain], columns: tuple[str, ...]) -> Types:
    """Arrow types of the released columns as row expressions see them."""
    return tuple((name, narrow(domains[name].values).type) for name in columns)


def by_form(question: Question, domains: Mapping[str, Domain]) -> Bound | None:
    """Names and types of a query of plain aggregates over plain columns, without asking DuckDB."""
    if question.having is not None or any(is_aggregated(sort.expression) for sort in question.order):
        return None
    names, types = [], []
    for out in question.outputs:
        found = _plain(out.expression, domains)
        if found is None:
            return None
        names.append(out.name if out.name is not None else found[0])
        types.append(found[1])
    return Bound(tuple(names), tuple(types), ())


def _plain(tree: exp.Expr, domains: Mapping[str, Domain]) -> tuple[str, str] | None:
    """Default name and type of a bare column or an aggregate of one."""
    if isinstance(tree, exp.Column):
        return tree.name, "KEY"
    if isinstance(tree, exp.Count) and isinstance(tree.this, exp.Star):
        return "count_star()", "BIGINT"
    if type(tree) not in AGGREGATES or isinstance(tree, exp.CountIf) or not isinstance(tree.this, exp.Column):
        return None
    if tree.args.get("expressions") or tree.args.get("count"):
        return None
    measure, name = AGGREGATES[type(tree)], tree.this.name
    kind = domains[name].kind
    written = name if PLAIN_NAME.fullmatch(name) else f'"{name}"'
    if measure == "count":
        return f"count({written})", "BIGINT"
    if kind not in ("integer", "real", "decimal"):
        return None
    whole = kind == "integer" and measure != "avg"
    return f"{measure}({written})", "HUGEINT" if whole else "DOUBLE"
