"""Pictures of a searched lattice as SVG: node by node, risk against score, and the best node's levels."""

from __future__ import annotations

from collections import defaultdict

from sfumato.report.lattice_facts import Dot, LatticeFacts
from sfumato.report.lattice_marks import (
    CALLED,
    TEXT,
    WIDTH,
    label,
    legend,
    levels_of,
    mark,
    opening,
    rows,
    score,
    words_of,
)
from sfumato.report.measured import fitted, lines_of, safe, width_of
from sfumato.report.wording import number

MOST_EDGES = 150
LEFT, LABEL = 44, 10.5
Place = tuple[float, float]


def lattice_picture(facts: LatticeFacts) -> str:
    """Every node, coarse ones above, edges where there is room; the numbers under a node are its levels."""
    layers: dict[int, list[Dot]] = defaultdict(list)
    for dot in facts.dots:
        layers[sum(dot.node)].append(dot)
    most = max(map(len, layers.values()))
    slot = min((WIDTH - LEFT - 10) / most, 130.0)
    r = min(max(0.28 * slot, 2.2), 8.0)
    named = slot >= 8 + max(width_of(_short(dot), LABEL) for dot in facts.dots)
    step = 62.0 if named else max(2.6 * r, min(46.0, 900 / len(layers)))
    words, used = _heading(facts, named)
    bottom = used + 24 + step * max(layers)
    place = {
        dot.node: (LEFT + (WIDTH - LEFT) / 2 + slot * (i - (len(layer) - 1) / 2), bottom - step * total)
        for total, layer in layers.items()
        for i, dot in enumerate(layer)
    }
    parts = [opening(f"All {facts.n_nodes} nodes of the lattice of {facts.name}", bottom + 34), words]
    parts += [_scale(layers, bottom, step), _edges(facts, place)]
    parts += [mark(dot.kind, *place[dot.node], r, words_of(dot, facts)) for dot in facts.dots]
    if named:
        parts += [label(x, y + r + 13, _short(dot), "name") for dot in facts.dots for x, y in [place[dot.node]]]
    return "".join([*parts, "</svg>"])


def _short(dot: Dot) -> str:
    return " ".join(map(str, dot.node))


def _heading(facts: LatticeFacts, named: bool) -> tuple[str, float]:
    counts = {kind: sum(dot.kind == kind for dot in facts.dots) for kind in ("best", "minimal", "allowed", "refused")}
    keys = [
        (kind, CALLED[kind] if kind == "best" else f"{CALLED[kind]} ({number(n)})") for kind, n in counts.items() if n
    ]
    found, used = legend(keys, 4)
    told = ["best node:", *(levels_of(facts.best, facts).split() or ["no column is coarser"])]
    lines = lines_of(told, TEXT, WIDTH - 16)
    if named:
        order = [f"{name}{',' * (name != facts.columns[-1])}" for name in facts.columns]
        lines += lines_of(["numbers under a node: levels of", *order], TEXT, WIDTH - 16, " ")
    text = "".join(label(8, 4 + used + 12 + 18 * i, line, "key", "start") for i, line in enumerate(lines))
    return found + text, 4 + used + 18 * len(lines) + 24


def _scale(layers: dict[int, list[Dot]], bottom: float, step: float) -> str:
    """The sum of levels beside the layers, thinned so that numbers never touch."""
    every = max(1, -(-16 // int(step)))
    totals = [total for total in sorted(layers) if total % every == 0]
    ticks = [label(LEFT - 14, bottom - step * total + 4, str(total), "tick", "end") for total in totals]
    above = bottom - step * max(layers) - 22
    return "".join([*ticks, label(8, above, "sum of levels", "tick", "start")])


def _edges(facts: LatticeFacts, place: dict[tuple[int, ...], Place]) -> str:
    if facts.n_nodes > MOST_EDGES:
        return ""
    found = []
    for node, (x, y) in place.items():
        for j in range(len(node)):
            above = place.get((*node[:j], node[j] + 1, *node[j + 1 :]))
            if above is not None:
                found.append(f"M{x:.1f} {y:.1f}L{above[0]:.1f} {above[1]:.1f}")
    return f'<path class="edge" d="{"".join(found)}"/>' if found else ""


def levels_picture(facts: LatticeFacts) -> str:
    """A line for each column: its levels with that of the best node filled, and what one level less or more gives."""
    line, top = 30, 30
    strip, finer, coarser = 196, 470, 720
    parts = [opening("Levels of the best node and its neighbours", top + line * len(facts.columns) + 6)]
    heads = ((8, "column"), (strip, "levels, finest first"), (finer, "one level finer"), (coarser, "one level coarser"))
    parts += [label(x, 18, text, "tick", "start") for x, text in heads]
    for j, name in enumerate(facts.columns):
        y = top + line * j
        shown = fitted(name, TEXT, strip - 20)
        parts.append(f'<path class="rule" d="M0 {y}H{WIDTH}"/>')
        parts.append(f"<g><title>{safe(name)}</title>{label(8, y + 19, shown, 'key', 'start')}</g>")
        parts.append(_strip(facts, j, strip, y + 6, finer - strip - 30))
        parts += [_beside(facts, dot, x, y) for dot, x in ((facts.finer[j], finer), (facts.coarser[j], coarser))]
    return "".join([*parts, "</svg>"])


def _strip(facts: LatticeFacts, j: int, x: float, y: float, width: float) -> str:
    height, here = facts.heights[j], facts.best.node[j]
    box = min(width / (height + 1), 34.0)
    gap = 2.0 if box >= 8 else 0.0
    parts = []
    for level in range(height + 1):
        kind = "level here" if level == here else "level"
        at = x + box * level
        parts.append(
            f'<rect class="{kind}" x="{at:.1f}" y="{y}" width="{box - gap:.1f}" height="18">'
            f"<title>level {level} of {height}</title></rect>"
        )
        if box >= 8 + width_of(str(height), 11):
            parts.append(label(at + (box - gap) / 2, y + 13, str(level), "number here" if level == here else "number"))
    if box < 8 + width_of(str(height), 11):
        parts.append(label(x + box * (height + 1) + 4, y + 13, str(here), "tick", "start"))
    return "".join(parts)


def _beside(facts: LatticeFacts, dot: Dot | None, x: float, y: float) -> str:
    if dot is None:
        return label(x + 20, y + 19, "–", "tick", "start")
    gained = dot.score - facts.best.score
    said = f"{score(dot.score)} ({'+' if gained >= 0 else '−'}{score(abs(gained))})"
    if not dot.allowed:
        said = f"suppresses {rows(dot.suppressed, facts.n_rows)}" if dot.suppressed else "a requirement fails"
    said = fitted(said, TEXT, 224)
    return mark(dot.kind, x + 8, y + 15, 5, words_of(dot, facts)) + label(x + 20, y + 19, said, "key", "start")
