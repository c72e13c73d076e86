"""What a query may be made of: an allow-list of expression nodes, and what to say about everything else."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from sfumato.errors import Unanswerable

AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.CountIf: "sum",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
STRUCTURE = (
    "Column Identifier Literal Null Boolean Paren And Or Not Is In Between EQ NEQ GT GTE LT LTE NullSafeEQ NullSafeNEQ "
    "Like ILike SimilarTo Glob Escape Add Sub Mul Div IntDiv Mod Neg Pow BitwiseAnd BitwiseOr BitwiseXor BitwiseNot "
    "BitwiseLeftShift BitwiseRightShift DPipe Case If Cast TryCast DataType DataTypeParam Interval Var Extract Filter "
    "Where Star"
)
FUNCTIONS = (
    "Abs Ceil Floor Round Sqrt Ln Log Exp Sign Greatest Least Coalesce Nullif Trunc Degrees Radians Pi Sin Cos Tan Cot "
    "Asin Acos Atan Atan2 Cbrt IsNan IsInf Lower Upper Length Substring Left Right Trim Replace StartsWith EndsWith "
    "Contains StrPosition Concat ConcatWs RegexpLike RegexpFullMatch RegexpExtract RegexpReplace Reverse Ascii Unicode "
    "Translate Levenshtein Year Month Day DayOfMonth Quarter DayOfWeek DayOfWeekIso Week WeekOfYear DayOfYear LastDay "
    "Monthname Dayname TimestampTrunc DateTrunc DateDiff DateAdd DateSub DateFromParts TimeToStr TimeToUnix"
)
OTHERS = (
    "prefix suffix weekday date_part datepart date_sub decade century bit_count even gcd lcm round_even julian "
    "damerau_levenshtein jaccard ord isodd"
)
NAMED = frozenset(OTHERS.split())
NODES: frozenset[type[exp.Expr]] = frozenset(
    found for name in (STRUCTURE + " " + FUNCTIONS).split() if (found := getattr(exp, name, None)) is not None
) | frozenset(AGGREGATES)

CLAUSES = {
    "with_": ("a CTE (WITH)", "Write its expression where it is used, or ask two queries."),
    "joins": ("JOIN, or a second table in FROM,", "Ask each release by itself."),
    "laterals": ("LATERAL", "Write the expression in the SELECT list."),
    "distinct": ("SELECT DISTINCT", "Use GROUP BY on the same columns: SELECT a FROM t GROUP BY a."),
    "qualify": ("QUALIFY", "Use HAVING with an aggregate."),
    "windows": ("WINDOW", "Use GROUP BY."),
    "sample": ("USING SAMPLE", "Leave it out: sampled worlds are taken where they are needed."),
    "pivots": ("PIVOT or UNPIVOT", "Use GROUP BY on the pivoted column, or ask of each column by itself."),
    "into": ("INTO", "Leave it out; keep the answer with .arrow()."),
    "locks": ("a locking clause", "Leave it out."),
}
SERVED = {"expressions", "from_", "where", "group", "having", "order", "limit", "offset"}
NEAREST: tuple[tuple[Any, str, str], ...] = (
    (exp.Window, "a window function (OVER)", "Use GROUP BY, or ORDER BY with LIMIT."),
    ((exp.Subquery, exp.Select, exp.Exists), "a subquery", "Ask it first and write its number in this query."),
    (exp.Distinct, "DISTINCT inside an aggregate", "Use GROUP BY on that column and count the rows of the answer."),
    (exp.Order, "ORDER BY inside an aggregate", "Leave it out: COUNT, SUM, AVG, MIN and MAX do not depend on order."),
    ((exp.LogicalOr, exp.LogicalAnd), "BOOL_OR or BOOL_AND", "Use MAX or MIN of CASE WHEN … THEN 1 ELSE 0 END."),
    (
        (exp.IgnoreNulls, exp.RespectNulls),
        "ANY_VALUE, or IGNORE NULLS",
        "COUNT, SUM, AVG, MIN and MAX can be answered, and pass over NULLs.",
    ),
    (exp.AggFunc, "this aggregate", "COUNT, SUM, AVG, MIN and MAX can be answered, and arithmetic over them."),
    ((exp.Rand, exp.Randn), "a volatile function", "Leave it out: an answer may not depend on chance in the query."),
    (
        (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime),
        "a function of the present time",
        "Write the date as a literal: DATE '2026-01-31'.",
    ),
    ((exp.Placeholder, exp.Parameter), "a parameter placeholder", "Write the value in the query."),
)


def check_clauses(select: exp.Select) -> None:
    """Refuse every clause of a SELECT that is not served, by name."""
    for key, value in select.args.items():
        if not value or key in SERVED:
            continue
        name, instead = CLAUSES.get(key, (key.strip("_").replace("_", " ").upper(), "Leave it out."))
        raise refusal(name, instead)


def check_nodes(tree: exp.Expr) -> None:
    """Refuse the first node that is not on the allow-list."""
    for node in tree.walk():
        if type(node) in NODES or (isinstance(node, exp.Anonymous) and node.name.lower() in NAMED):
            continue
        for kinds, name, instead in NEAREST:
            if isinstance(node, kinds):
                raise refusal(f"{name}: {_said(node)}" if kinds is exp.AggFunc else name, instead)
        raise refusal(
            f"{_said(node)}",
            "Row expressions may use comparisons, LIKE, IN, BETWEEN, CASE, CAST, arithmetic, and the usual number, "
            "text and date functions.",
        )


def refusal(what: str, instead: str) -> Unanswerable:
    """Which clause cannot be answered, and the nearest form that can."""
    return Unanswerable(f"A query with {what} cannot be answered. {instead}")


def _said(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return f"the function {node.name}"
    if isinstance(node, exp.Func):
        return f"the function {node.sql_name().lower()}"
    return f"the construct {type(node).__name__}"
