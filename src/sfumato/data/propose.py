"""Hierarchies for columns that have none: from the kind of the column and the robust spread of its values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.hierarchies.dates import Unit, cells_of, dates, levels_of
from sfumato.data.hierarchies.grid import (
    Bands,
    Cells,
    Ends,
    Levels,
    Scale,
    find_ends,
    place_on_grid,
    quantile_steps,
    scale_of,
)
from sfumato.data.hierarchies.intervals import Intervals
from sfumato.data.hierarchies.masking import masking
from sfumato.data.hierarchies.rule import Hierarchy, Ints, Placed, Source
from sfumato.data.source import source_of
from sfumato.declared import exact

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset

MOST_FINE_STEPS = 120
MOST_CELLS = 100
FEWEST_CELLS = 4
MOST_LEVELS = 5
MOST_WIDE = 20_000
"""Cells between the ends; a few values far away make bands wider rather than more."""
DAYS: tuple[tuple[Unit, float], ...] = (
    ("day", 1),
    ("month", 30.4),
    ("quarter", 91.3),
    ("year", 365.25),
    ("decade", 3652.5),
)


def propose(dataset: Dataset, column: str, least: int = 2) -> Hierarchy | None:
    """A hierarchy for this column of the dataset; None: its values as they are, as one flat set."""
    return propose_for(source_of(dataset, column, least))


def propose_for(source: Source) -> Hierarchy | None:
    """Numbers: bands of a round width; dates: calendar units; digit codes of one length: masking; else none."""
    kind = source.domain.kind
    if kind == "date":
        return _dates(source)
    if kind in ("integer", "decimal", "real"):
        return _bands(source)
    return masking() if kind == "text" and _is_code(source.domain.values) else None


def place_proposed(source: Source) -> Placed | None:
    """The column on its proposed hierarchy. Numbers and dates too wide for a leaf a step have two leaves a cell."""
    if source.domain.kind in ("integer", "decimal", "real"):
        choice = _chosen_bands(source)
        levels: Levels = [(Bands(width), None) for width in _multiples(choice.width, choice.span)]
    elif source.domain.kind == "date":
        choice = _chosen_unit(source)
        levels = levels_of([unit for unit in _coarser_units(choice.width, choice.span) if unit != "day"])
    else:
        hierarchy = propose_for(source)
        return None if hierarchy is None else hierarchy.place(source)
    placed = place_on_grid(source, choice.scale, levels, choice.ends, choice.cells)
    by_day = source.domain.kind == "date" and choice.width == 0
    return replace(placed, domain=replace(placed.domain, cell=None)) if by_day else placed


@dataclass(frozen=True, eq=False)
class Choice:
    """A grid for a column: its width in steps (for dates the place of its unit) and its ends."""

    scale: Scale
    span: int
    width: int
    cells: Cells
    ends: Ends


def _robust_span(source: Source, steps: Ints) -> int:
    """Steps between the 1 % ends, never decided by fewer than `least` units."""
    if len(steps) == 0:
        return 0
    units = int(source.above[0])
    low, high = quantile_steps(source, steps, max(source.least, -(-units // 100), 1))
    return max(high - low, 0)


def _chosen_bands(source: Source) -> Choice:
    """The finest round width from span / 100 on, or from 1, whose cells hold enough units; at most span / 4, unless
    that makes too many cells.
    """
    scale = scale_of(source, "intervals")
    span = _robust_span(source, scale.steps)
    least = 1 if span <= MOST_FINE_STEPS else -(-span // MOST_CELLS)
    for width in (width for width in _round_widths() if width >= least):
        cells, last = Bands(width), width > 1 and width * FEWEST_CELLS >= span
        ends = filled_ends(source, scale.steps, cells)
        found = ends or find_ends(source, scale, cells, None, None)
        if (ends or last) and (found.high - found.low) // width <= MOST_WIDE:
            break
    return Choice(scale, span, width, cells, found)


def _chosen_unit(source: Source) -> Choice:
    scale = scale_of(source, "dates", kinds=("date",))
    span = _robust_span(source, scale.steps)
    first = next((n for n, (_, days) in enumerate(DAYS) if span / days <= MOST_FINE_STEPS), len(DAYS) - 1)
    last = next((n for n, (_, days) in enumerate(DAYS) if n and days * FEWEST_CELLS >= span), len(DAYS) - 1)
    for place in range(first, max(first, last) + 1):
        cells = cells_of(DAYS[place][0])
        ends = filled_ends(source, scale.steps, cells)
        if ends:
            break
    return Choice(scale, span, place, cells, ends or find_ends(source, scale, cells, None, None))


def filled_ends(source: Source, steps: Ints, cells: Cells) -> Ends | None:
    """Open ends with `least` units at or beyond them, between which every occupied cell holds at least `least`; None
    when there are none. Up to 1 % of the units may be put beyond each end for that. A cell of one step that is an end
    must hold `least` itself. Moving the largest value farther out changes nothing.
    """
    least = max(source.least, 2)
    if len(steps) == 0 or int(source.above[0]) < 2 * least:
        return None
    first = cells.first(steps)
    starts = np.flatnonzero(np.diff(first, prepend=first[0] - 1))
    below, above = source.below[np.append(starts[1:], len(steps)) - 1], source.above[starts]
    a, b = int(np.searchsorted(below, least)), len(starts) - 1 - int(np.searchsorted(above[::-1], least))
    if a >= b:
        return None
    held = np.diff(below, prepend=0)
    # Beyond an end fewer than `least` units are left out: what remains is surely in its cell.
    held[a], held[b] = below[a] - least + 1, above[b] - least + 1
    wide = bool((cells.last(first[:1]) > first[:1]).all())
    sparse = np.arange(a + wide, b + 1 - wide)
    sparse = sparse[held[sparse] < least]
    most = int(source.above[0]) // 100
    a = max(a, int(sparse[below[sparse] <= most].max(initial=-1)) + 1)
    b = min(b, int(sparse[above[sparse] <= most].min(initial=len(starts))) - 1)
    if a >= b or ((sparse >= a) & (sparse <= b)).any():
        return None
    low, high = cells.last(first[starts[[a]]]), first[starts[[b]]]
    return Ends(int(low[0]), int(high[0]), True, True)


def _multiples(width: int, span: int) -> list[int]:
    widths = [width]
    while len(widths) < MOST_LEVELS and widths[-1] * 2 < span:
        widths.append(widths[-1] * (2 if str(widths[-1])[0] == "5" else 5))
    return widths


def _bands(source: Source) -> Intervals:
    choice = _chosen_bands(source)
    return Intervals(tuple(exact(w) / 10**choice.scale.decimals for w in _multiples(choice.width, choice.span)))


def _round_widths() -> list[int]:
    return [digit * 10**power for power in range(19) for digit in (1, 2, 5)]


def _dates(source: Source) -> Hierarchy:
    choice = _chosen_unit(source)
    return dates(*_coarser_units(choice.width, choice.span))


def _coarser_units(first: int, span: int) -> list[Unit]:
    return [unit for n, (unit, days) in enumerate(DAYS) if n == first or (n > first and days * 2 < span)]


def _is_code(values: pa.Array) -> bool:
    """Digits of one length from 3 to 6."""
    if len(values) < 2 or not pc.all(pc.match_substring_regex(values, "^[0-9]{3,6}$")).as_py():
        return False
    return bool(pc.count_distinct(pc.utf8_length(values)).as_py() == 1)
