"""Answers as pictures: a range bar in every uncertain cell, or a chart."""

from __future__ import annotations

import datetime
import math
from html import escape
from typing import TYPE_CHECKING, Any

from sfumato.errors import ParameterError
from sfumato.queries.formats import cell

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
    value = escape(cell(row[one.name]))
    if not one.companions:
        return value
    lo, hi, *quantiles = (row[name] for name in one.companions)
    low, high = one.companions[:2]
    said = escape(f"[{'−∞' if lo is None else cell(lo, low)}, {'∞' if hi is None else cell(hi, high)}]")
    bar = _bar(row[one.name], (lo, hi), [q for q in quantiles if q is not None], scales[one.name])
    return f'{value} <small style="opacity:.7">{said}</small><br>{bar}'


def _bar(value: Any, bounds: tuple[Any, Any], quantiles: list[Any], scale: tuple[float, float]) -> str:
    """An inline SVG: the hard range, open to the side where there is no bound, from the lowest to the highest quantile
    in a darker shade, and a tick at the estimate."""
    if value is None:
        return ""
    least, most = scale
    room = (most - least) or 1.0

    def x(number: Any) -> float:
        return round(1 + (WIDTH - 2) * (_number(number) - least) / room, 1)

    def band(left: float, right: float, opacity: str) -> str:
        wide = max(right - left, 1)
        shape = f'x="{left}" y="3" width="{wide:.1f}" height="4" rx="2"'
        return f'<rect {shape} fill="currentColor" opacity="{opacity}"/>'

    lo, hi = bounds
    drawn = band(0.0 if lo is None else x(lo), float(WIDTH) if hi is None else x(hi), ".25")
    if len(quantiles) > 1:
        drawn += band(min(map(x, quantiles)), max(map(x, quantiles)), ".45")
    drawn += f'<rect x="{x(value) - 1:.1f}" y="0" width="2" height="{HEIGHT}" fill="currentColor"/>'
    return f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-hidden="true">{drawn}</svg>'


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
    """Hard bounds as bars, quantiles as a darker band and estimates as points, a panel for each uncertain column."""
    keys = [one.name for one in answer.shown if not one.companions]
    uncertain = [one for one in answer.shown if one.companions]
    if not uncertain:
        raise ParameterError("Every column of this answer is certain: there is no range to draw. Plot .df() instead.")
    rows = answer.arrow().slice(0, MOST_ROWS).to_pylist()
    names = [", ".join(cell(row[key]) for key in keys) for row in rows]
    return altair.vconcat(*(_panel(one, rows, names, altair) for one in uncertain))


def _panel(one: Shown, rows: list[dict[str, Any]], names: list[str], altair: Any) -> Any:
    """One uncertain column; where there is no bound the bar runs to the end of the scale."""
    least, most = _scale(one, rows)
    dated = any(hasattr(row[one.name], "toordinal") for row in rows)
    kind = "T" if dated else "Q"
    lo, hi, *quantiles = one.companions

    def put(value: Any, instead: float | None = None) -> Any:
        if value is not None:
            return value.isoformat() if dated else value
        return None if instead is None else _day(instead) if dated else instead

    values = []
    for row, name in zip(rows, names, strict=True):
        band = [row[q] for q in quantiles if row[q] is not None]
        values.append(
            {
                "row": name or one.name, "estimate": put(row[one.name]),
                "lo": put(row[lo], least), "hi": put(row[hi], most),
                "from": put(min(band, default=None)), "to": put(max(band, default=None)),
            }
        )  # fmt: skip
    base = altair.Chart(altair.Data(values=values)).encode(y=altair.Y("row:N", sort=None, title=None))
    scale = altair.Scale(zero=not dated and least >= 0 and least < 0.3 * most)
    tips = [altair.Tooltip(f"{field}:{kind}") for field in ("estimate", "lo", "hi")]
    axis = altair.X(f"lo:{kind}", title=one.name, scale=scale)
    drawn = base.mark_rule(strokeWidth=5, opacity=0.3).encode(x=axis, x2="hi", tooltip=tips)
    if len(quantiles) > 1:
        drawn += base.mark_rule(strokeWidth=5, opacity=0.6).encode(x=f"from:{kind}", x2="to")
    return drawn + base.mark_point(filled=True, size=40).encode(x=f"estimate:{kind}", tooltip=tips)


def _day(number: float) -> str:
    return datetime.date.fromordinal(round(number)).isoformat()
