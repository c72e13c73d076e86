"""Marks, legends and words of the pictures of a lattice: every kind of node has its own shape besides its colour."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.report.lattice_facts import Dot, LatticeFacts
from sfumato.report.measured import safe, width_of
from sfumato.report.risk_words import percent
from sfumato.report.wording import number

WIDTH, TEXT = 960, 12
STAR = ((0, -1), (0.26, -0.32), (0.95, -0.31), (0.42, 0.12), (0.59, 0.81), (0, 0.42), (-0.59, 0.81), (-0.42, 0.12),
        (-0.95, -0.31), (-0.26, -0.32))  # fmt: skip
DIAMOND = ((0, -1.1), (1.1, 0), (0, 1.1), (-1.1, 0))
CALLED = {
    "best": "best node",
    "minimal": "allowed, no finer node is",
    "frontier": "on the frontier: nothing beats it in both",
    "allowed": "allowed",
    "refused": "not allowed",
}


def mark(kind: str, x: float, y: float, r: float, words: str = "") -> str:
    """A star, a diamond, a disc, or an empty ring with a stroke through it; `words` for the pointer."""
    told = f"<title>{safe(words)}</title>" if words else ""
    if kind == "best":
        return f'<polygon class="best" points="{_points(STAR, x, y, 1.5 * r)}">{told}</polygon>'
    if kind in ("minimal", "frontier"):
        return f'<polygon class="minimal" points="{_points(DIAMOND, x, y, r)}">{told}</polygon>'
    if kind == "allowed":
        return f'<circle class="allowed" cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}">{told}</circle>'
    a = 0.7 * r
    stroke = f"M{x - a:.1f} {y + a:.1f}L{x + a:.1f} {y - a:.1f}"
    ring = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}"/><path d="{stroke}"/>'
    return f'<g class="refused">{ring}{told}</g>'


def label(x: float, y: float, text: str, kind: str = "tick", anchor: str = "middle") -> str:
    """A line of text."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{safe(text)}</text>'


def legend(counts: Sequence[tuple[str, str]], top: float) -> tuple[str, float]:
    """Marks with their words, wrapped to the picture's width, and the height they take."""
    parts, x, y = [], 8.0, top + 10
    for kind, words in counts:
        taken = 20 + width_of(words, TEXT) + 22
        if x > 8 and x + taken > WIDTH:
            x, y = 8.0, y + 20
        parts += [mark(kind, x + 6, y - 4, 5), label(x + 20, y, words, "key", "start")]
        x += taken
    return "".join(parts), y + 12 - top


def opening(title: str, height: float) -> str:
    """The start of a picture, with what a screen reader says."""
    size = f'width="{WIDTH}" height="{height:.0f}" viewBox="0 0 {WIDTH} {height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="lattice" {size} role="img" aria-label="{safe(title)}">'
        f'<rect class="paper" width="{WIDTH}" height="{height:.0f}"/>'
    )


def words_of(dot: Dot, facts: LatticeFacts) -> str:
    """What a pointer over a node says."""
    kind = {"best": "best node", "minimal": "allowed, no finer node is", "allowed": "allowed", "refused": "not allowed"}
    lines = [
        levels_of(dot, facts) or "no column is coarser",
        f"{kind[dot.kind]}; score {score(dot.score)}; suppressed {rows(dot.suppressed, facts.n_rows)}",
        f"{number(dot.groups)} groups, risk {percent(dot.risk)}" if dot.groups else "no group stays",
    ]
    return "\n".join(lines)


def levels_of(dot: Dot, facts: LatticeFacts) -> str:
    """Columns that are raised, with their levels: `age:2 zip:1`."""
    return " ".join(f"{name}:{level}" for name, level in zip(facts.columns, dot.node, strict=True) if level)


def score(value: float) -> str:
    """A score with four digits, or all those before the point.

    >>> score(0.123456), score(329412.5)
    ('0.1235', '329,412')
    """
    return f"{value:,.0f}" if abs(value) >= 10_000 else number(float(value))


def rows(n: int, of: int) -> str:
    """Rows and their share: `1,178 rows (3.91 %)`."""
    return f"{number(n)} row{'s' * (n != 1)} ({percent(n / of if of else 0.0)})"


def _points(shape: Sequence[tuple[float, float]], x: float, y: float, r: float) -> str:
    return " ".join(f"{x + r * dx:.1f},{y + r * dy:.1f}" for dx, dy in shape)
