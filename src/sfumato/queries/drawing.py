"""Answers as pictures: a range bar in every uncertain cell, or a chart."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from sfumato.queries.formats import _cell

if TYPE_CHECKING:
    from sfumato.queries.answer import Answer, Shown

MOST_ROWS = 200
WIDTH, HEIGHT = 110, 10


def html(answer: Answer) -> str:
    """A table for notebooks: estimate, and a bar from the lower to the upper bound on the column's common scale."""
    rows = answer.arrow().slice(0, MOST_ROWS).to_pylist()
    head = "".join(f"<th>{escape(one.name)}</th>" for one in answer.shown) + "<th>in the answer</th><th>how</th>"
    scales = {one.name: _scale(one, rows) for one in answer.shown if one.companions}
    body = []
    for row in rows:
        cells = "".join(f"<td>{_cell_html(one, row, scales)}</td>" for one in answer.shown)
        share, how = row["__row"], escape(row["__how"])
        body.append(f"<tr>{cells}<td>{100 * share:.4g}&nbsp;%</td><td>{how}</td></tr>")
    rest = len(answer) - len(rows)
    more = f"<p>… {rest} more rows</p>" if rest > 0 else ""
    rows_html = "".join(body)
    return (
        f'<table style="font-variant-numeric:tabular-nums"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows_html}</tbody></table>{more}"
    )


def _cell_html(one: Shown, row: dict[str, Any], scales: dict[str, tuple[float, float]]) -> str:
    value = escape(_cell(row[one.name]))
    if not one.companions:
        return value
    lo, hi = row[one.companions[0]], row[one.companions[1]]
    said = escape(f"[{'−∞' if lo is None else _cell(lo)}, {'∞' if hi is None else _cell(hi)}]")
    return f'{value} <small style="opacity:.7">{said}</small><br>{_bar(row[one.name], lo, hi, scales[one.name])}'


def _bar(value: Any, lo: Any, hi: Any, scale: tuple[float, float]) -> str:
    """An inline SVG: the range, open to the side where there is no bound, and a tick at the estimate."""
    if value is None:
        return ""
    least, most = scale
    room = (most - least) or 1.0

    def x(number: float) -> float:
        return round(1 + (WIDTH - 2) * (number - least) / room, 1)

    left = 0.0 if lo is None else x(_number(lo))
    right = float(WIDTH) if hi is None else x(_number(hi))
    tick, wide = x(_number(value)), max(right - left, 1)
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-hidden="true">'
        f'<rect x="{left}" y="3" width="{wide:.1f}" height="4" rx="2" fill="currentColor" opacity=".25"/>'
        f'<rect x="{tick - 1:.1f}" y="0" width="2" height="{HEIGHT}" fill="currentColor"/></svg>'
    )


def _scale(one: Shown, rows: list[dict[str, Any]]) -> tuple[float, float]:
    """Least and largest number of a column with its bounds."""
    names = (one.name, *one.companions[:2])
    found = [_number(row[name]) for row in rows for name in names if row[name] is not None]
    found = [number for number in found if math.isfinite(number)]
    return (min(found), max(found)) if found else (0.0, 1.0)


def _number(value: Any) -> float:
    if hasattr(value, "toordinal"):
        seconds = getattr(value, "hour", 0) * 3600 + getattr(value, "minute", 0) * 60 + getattr(value, "second", 0)
        return float(value.toordinal()) + seconds / 86400
    return float(value)


def chart(answer: Answer, altair: Any) -> Any:
    """Estimates as points on their bounds, one panel for each uncertain column."""
    keys = [one.name for one in answer.shown if not one.companions]
    panels = []
    for one in answer.shown:
        if not one.companions:
            continue
        rows = [
            {
                "row": ", ".join(_cell(row[key]) for key in keys) or one.name,
                "estimate": row[one.name], "lo": row[one.companions[0]], "hi": row[one.companions[1]],
            }
            for row in answer.rows()
        ]  # fmt: skip
        base = altair.Chart(altair.Data(values=rows)).encode(y=altair.Y("row:N", sort=None, title=None))
        bar = base.mark_rule(strokeWidth=4, opacity=0.4).encode(x=altair.X("lo:Q", title=one.name), x2="hi:Q")
        panels.append(bar + base.mark_point(filled=True).encode(x="estimate:Q"))
    return altair.vconcat(*panels)
