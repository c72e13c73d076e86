"""Answers as text: data only, nothing but the table."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.data.tabular import Tabular

MOST_ROWS = 40


def duckbox(answer: Tabular) -> str:
    """A box like DuckDB's, long answers cut in the middle."""
    table = answer.arrow()
    rows = [[cell(value, name) for value, name in zip(row, table.column_names, strict=True)] for row in _rows(answer)]
    left_out = max(0, len(rows) - MOST_ROWS)
    if left_out:
        rows = [*rows[: MOST_ROWS // 2], ["·"] * table.num_columns, *rows[-MOST_ROWS // 2 :]]
    kinds = [_kind(field.type) for field in table.schema]
    numeric = [kind in ("int64", "double") for kind in kinds]
    head = [list(table.column_names), kinds]
    widths = [max((len(line[i]) for line in head + rows), default=0) for i in range(table.num_columns)]

    def line(cells: list[str], center: bool = False) -> str:
        put = [
            c.center(w) if center else c.rjust(w) if n else c.ljust(w)
            for c, w, n in zip(cells, widths, numeric, strict=True)
        ]
        return "│ " + " │ ".join(put) + " │"

    def rule(left: str, middle: str, right: str) -> str:
        return left + middle.join("─" * (w + 2) for w in widths) + right

    lines = [rule("┌", "┬", "┐"), line(head[0], True), line(head[1], True), rule("├", "┼", "┤")]
    lines += [line(row) for row in rows] + [rule("└", "┴", "┘")]
    if left_out:
        lines.append(f"{table.num_rows} rows ({left_out} not shown)")
    return "\n".join(lines)


def as_json(answer: Tabular) -> str:
    """A list of objects."""
    return json.dumps([_plain(row) for row in answer.rows()], ensure_ascii=False, indent=2)


def as_jsonl(answer: Tabular) -> str:
    """One object a line."""
    return "\n".join(json.dumps(_plain(row), ensure_ascii=False) for row in answer.rows())


def as_csv(answer: Tabular) -> str:
    """Comma-separated with a header; NULL is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(answer.arrow().column_names)
    for row in _rows(answer):
        writer.writerow(
            ["" if value is None else repr(value) if isinstance(value, float) else _text(value) for value in row]
        )
    return out.getvalue().removesuffix("\n")


def as_markdown(answer: Tabular) -> str:
    """A table in Markdown."""
    table = answer.arrow()
    right = [_kind(field.type) in ("int64", "double") for field in table.schema]
    lines = ["| " + " | ".join(_escaped(name) for name in table.column_names) + " |"]
    lines.append("|" + "|".join("---:" if one else "---" for one in right) + "|")
    for row in _rows(answer):
        cells = [cell(value, name) for value, name in zip(row, table.column_names, strict=True)]
        lines.append("| " + " | ".join(map(_escaped, cells)) + " |")
    return "\n".join(lines)


FORMATS: dict[str, Callable[[Tabular], str]] = {
    "duckbox": duckbox,
    "json": as_json,
    "jsonl": as_jsonl,
    "csv": as_csv,
    "markdown": as_markdown,
}


def _rows(answer: Tabular) -> list[tuple[Any, ...]]:
    table = answer.arrow()
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True)) if table.num_columns else []


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value if _in_json(value) else str(value) for key, value in row.items()}


def _in_json(value: object) -> bool:
    """JSON has no word for infinity."""
    return math.isfinite(value) if isinstance(value, float) else value is None or isinstance(value, bool | int | str)


def cell(value: object, column: str = "") -> str:
    """A value for reading, numbers in six digits; a bound is rounded away from the inside.

    >>> cell(2 / 3), cell(2 / 3, "n__lo"), cell(1 / 3, "n__hi"), cell(None), cell(True)
    ('0.666667', '0.666666', '0.333334', 'NULL', 'true')
    """
    if value is None:
        return "NULL"
    if isinstance(value, float):
        whole = value == round(value) and abs(value) < 1e15 if math.isfinite(value) else False
        text = f"{value:.1f}" if whole else f"{_rounded(value, column):.6g}"
        return "<1" if column == "__row" and text == "1" else text
    return _text(value).replace("\n", "\\n").replace("\r", "\\r")


def _rounded(value: float, column: str) -> float:
    """Six digits, downwards for a lower and upwards for an upper bound."""
    way = ROUND_FLOOR if column.endswith("__lo") else ROUND_CEILING if column.endswith("__hi") else None
    if way is None or not math.isfinite(value):
        return value
    return float(Context(prec=6, rounding=way).create_decimal_from_float(value))


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _kind(arrow: object) -> str:
    return {"string": "varchar", "date32[day]": "date", "bool": "boolean"}.get(str(arrow), str(arrow))


def _escaped(text: str) -> str:
    for sign in "\\|*`":
        text = text.replace(sign, "\\" + sign)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\n", " ")
