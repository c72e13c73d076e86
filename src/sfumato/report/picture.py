"""Small pictures as inline SVG, coloured by the page's style sheet; every number in them is also in the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from sfumato.report.wording import number

WIDTH, HEIGHT, FOOT, TOP, WIDEST = 640, 190, 26, 22, 80


@dataclass(frozen=True)
class Bar:
    """One bar: a label, its height, what a pointer over it says, and what stands above it (None: its height)."""

    label: str
    value: int
    words: str
    shown: str | None = None


def size_bars(sizes: NDArray[np.int64], most: int = 16) -> list[Bar]:
    """Groups per size; with more than `most` different sizes, equal ranges and one bar for the largest 2 %.

    >>> [(b.label, b.value) for b in size_bars(np.array([5, 5, 6, 9]))]
    [('5', 2), ('6', 1), ('7', 0), ('8', 0), ('9', 1)]
    """
    if not len(sizes):
        return []
    low, high = int(sizes.min()), int(sizes.max())
    usual = high if high - low < most else int(np.quantile(sizes, 0.98, method="higher"))
    step = -(-(usual - low + 1) // (most - 1 if usual < high else most))
    n_bars = (usual - low) // step + 1
    counts = np.bincount(np.minimum((sizes - low) // step, n_bars), minlength=n_bars)
    bars = []
    for i, count in enumerate(counts.tolist()):
        first, last = low + i * step, low + (i + 1) * step - 1
        label = str(first) if step == 1 else f"{first}–{last}"
        label = f"{first}+" if i == n_bars else label
        bars.append(Bar(label, count, f"{number(count)} groups of {label} rows"))
    return bars


def bar_chart(bars: Sequence[Bar], title: str, line: Sequence[float] = ()) -> str:
    """A bar chart; labels are thinned so that they never touch.

    `line`: shares of the whole up to each bar; line and bars are then drawn on one scale.
    """
    if not bars:
        return ""
    most = (sum if line else max)(bar.value for bar in bars) or 1
    slot = min(WIDTH / len(bars), WIDEST)
    every = max(1, -(-max(len(bar.label) for bar in bars) * 8 // int(slot)))
    parts, texts = [_opening(title)], []
    for i, bar in enumerate(bars):
        height = (HEIGHT - FOOT - TOP) * bar.value / most
        x, y = i * slot, HEIGHT - FOOT - height
        parts.append(
            f'<rect class="bar" x="{x + slot * 0.1:.1f}" y="{y:.1f}" width="{slot * 0.8:.1f}" '
            f'height="{height:.1f}" rx="1.5"><title>{escape(bar.words)}</title></rect>'
        )
        if bar.value and slot >= 30:
            texts.append(_text(x + slot / 2, y - 5, number(bar.value) if bar.shown is None else bar.shown, "count"))
        if i % every == 0:
            half = len(bar.label) * 3.6
            middle = min(max(x + slot / 2, half), WIDTH - half)
            texts.append(_text(middle, HEIGHT - 8, bar.label, "tick"))
    parts.append(_line(line, slot))
    parts.append(f'<line class="axis" x1="0" y1="{HEIGHT - FOOT}" x2="{WIDTH}" y2="{HEIGHT - FOOT}"/>')
    return "".join([*parts, *texts, "</svg>"])


def _line(shares: Sequence[float], slot: float) -> str:
    """Shares as a line through the middles of the bars."""
    if not shares:
        return ""
    full = HEIGHT - FOOT - TOP
    points = " ".join(f"{(i + 0.5) * slot:.1f},{HEIGHT - FOOT - full * share:.1f}" for i, share in enumerate(shares))
    return f'<polyline class="line" points="{points}"/>'


def share_bar(share: float, words: str) -> str:
    """A thin bar filled to a share between 0 and 1."""
    filled = 120 * min(1.0, max(0.0, share))
    return (
        f'<svg class="share" viewBox="0 0 120 10" role="img" aria-label="{escape(words, quote=True)}">'
        f'<rect class="track" width="120" height="10" rx="3"/>'
        f'<rect class="bar" width="{filled:.1f}" height="10" rx="3"/></svg>'
    )


def _opening(title: str) -> str:
    words = escape(title, quote=True)
    return f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{words}">'


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(text)}</text>'
