"""Risk against score of the nodes of a lattice that were looked at, with the frontier, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.report.lattice_facts import Dot, LatticeFacts
from sfumato.report.lattice_marks import CALLED, TEXT, WIDTH, label, legend, mark, opening, score, words_of
from sfumato.report.measured import width_of
from sfumato.report.risk_words import percent
from sfumato.report.wording import number

HEIGHT, FOOT, RIGHT, CELL = 400.0, 46.0, 24.0, 6.0


@dataclass(frozen=True)
class Axis:
    """A range of numbers laid over pixels, with round ticks."""

    ticks: tuple[float, ...]
    low: float
    high: float
    start: float
    end: float

    @classmethod
    def of(cls, values: Sequence[float], start: float, end: float, low: float | None = None) -> Axis:
        """Round ticks around all values; from `low` on where it is given."""
        least = min(values) if low is None else low
        most = max(max(values), least)
        span = (most - least) or abs(most) or 1.0
        step = _round_step(span / 5)
        first = math.floor(least / step + 1e-9)
        last = max(math.ceil(most / step - 1e-9), first + 1)
        return cls(tuple(i * step for i in range(first, last + 1)), first * step, last * step, start, end)

    def at(self, value: float) -> float:
        """The pixel of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def scatter_picture(facts: LatticeFacts) -> str:
    """Allowed nodes looked at, risk to the right and score upwards: better ones are low and left."""
    kept = thinned(facts)
    on_frontier = {dot.node for dot in facts.frontier}
    keys = [("best", CALLED["best"])]
    others = len(facts.frontier) - (facts.best.node in on_frontier)
    keys += [("frontier", f"{CALLED['frontier']} ({number(others)})")] if others else []
    rest = len(facts.dots) - others - 1
    thin = f", {number(len(kept))} of them drawn" if len(kept) < rest else ""
    keys += [("allowed", f"allowed, looked at ({number(rest)}{thin})")] if rest else []
    found, used = legend(keys, 4)
    top = used + 34
    scores = [dot.score for dot in (*kept, *facts.frontier, facts.best)]
    risks = [dot.risk for dot in (*kept, *facts.frontier, facts.best)]
    y = Axis.of(scores, top + HEIGHT, top)
    left = 16 + max(width_of(score(tick), TEXT) for tick in y.ticks)
    x = Axis.of(risks, left, WIDTH - RIGHT, low=0.0)
    parts = [opening(f"Risk and score of nodes of the lattice of {facts.name}", top + HEIGHT + FOOT), found]
    parts += [_axes(x, y, facts.metric), _front(facts.frontier, x, y)]
    parts += [mark("allowed", x.at(dot.risk), y.at(dot.score), 2.6, words_of(dot, facts)) for dot in kept]
    line = [dot for dot in facts.frontier if dot.node != facts.best.node]
    parts += [mark("frontier", x.at(dot.risk), y.at(dot.score), 5, words_of(dot, facts)) for dot in line]
    parts.append(mark("best", x.at(facts.best.risk), y.at(facts.best.score), 7, words_of(facts.best, facts)))
    return "".join([*parts, "</svg>"])


def thinned(facts: LatticeFacts) -> list[Dot]:
    """At most one node in each small cell of the picture, the best-scored; the frontier is drawn on its own."""
    own = {dot.node for dot in facts.frontier} | {facts.best.node}
    dots = [dot for dot in facts.dots if dot.allowed and dot.node not in own]
    if not dots:
        return []
    x = Axis.of([dot.risk for dot in dots], 0, WIDTH, low=0.0)
    y = Axis.of([dot.score for dot in dots], 0, HEIGHT)
    found: dict[tuple[int, int], Dot] = {}
    for dot in sorted(dots, key=lambda dot: (dot.score, dot.risk, dot.node)):
        found.setdefault((int(x.at(dot.risk) // CELL), int(y.at(dot.score) // CELL)), dot)
    return list(found.values())


def _axes(x: Axis, y: Axis, metric: str) -> str:
    parts = []
    for tick in y.ticks:
        at = y.at(tick)
        parts.append(f'<path class="rule" d="M{x.start:.1f} {at:.1f}H{x.end:.1f}"/>')
        parts.append(label(x.start - 8, at + 4, score(tick), "tick", "end"))
    for tick in x.ticks:
        at = x.at(tick)
        parts.append(f'<path class="axis" d="M{at:.1f} {y.start:.1f}v5"/>')
        parts.append(label(at, y.start + 19, percent(round(tick, 12)), "tick"))
    parts.append(f'<path class="axis" d="M{x.start:.1f} {y.start:.1f}H{x.end:.1f}"/>')
    parts.append(label(8, y.end - 14, f"score ({metric}); less is better", "key", "start"))
    parts.append(label(x.end, y.start + 38, "risk: 1 ÷ rows of the smallest group; less is safer", "key", "end"))
    return "".join(parts)


def _front(frontier: Sequence[Dot], x: Axis, y: Axis) -> str:
    """A line in steps: up to each node's risk nothing scores lower than the node before."""
    dots = sorted(frontier, key=lambda dot: (dot.risk, -dot.score))
    if len(dots) < 2:
        return ""
    steps = [f"M{x.at(dots[0].risk):.1f} {y.at(dots[0].score):.1f}"]
    steps += [f"H{x.at(dot.risk):.1f}V{y.at(dot.score):.1f}" for dot in dots[1:]]
    return f'<path class="front" d="{"".join(steps)}"/>'


def _round_step(span: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(span))
    return next(power * by for by in (1, 2, 5, 10) if power * by >= span * (1 - 1e-9))
