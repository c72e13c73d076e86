"""Hierarchies for columns that have none: from the kind of the column and the robust spread of its values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.hierarchies.dates import dates
from sfumato.data.hierarchies.grid import quantile_steps, scale_of
from sfumato.data.hierarchies.intervals import Intervals
from sfumato.data.hierarchies.masking import masking
from sfumato.data.hierarchies.rule import Hierarchy, Ints, Source
from sfumato.data.source import source_of
from sfumato.declared import exact

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset

MOST_FINE_STEPS = 120
MOST_CELLS = 100
MOST_LEVELS = 5
DAYS = (("day", 1), ("month", 30.4), ("quarter", 91.3), ("year", 365.25), ("decade", 3652.5))


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


def _robust_span(source: Source, steps: Ints) -> int:
    """Steps between the 1 % ends, never decided by fewer than `least` units."""
    if len(steps) == 0:
        return 0
    units = int(source.above[0])
    low, high = quantile_steps(source, steps, max(source.least, -(-units // 100), 1))
    return max(high - low, 0)


def _bands(source: Source) -> Intervals:
    scale = scale_of(source, "intervals")
    span = _robust_span(source, scale.steps)
    width = 1
    if span > MOST_FINE_STEPS:
        width = next(w for w in _round_widths() if w * MOST_CELLS >= span)
    widths = [width]
    while len(widths) < MOST_LEVELS and widths[-1] * 2 < span:
        widths.append(widths[-1] * (2 if str(widths[-1])[0] == "5" else 5))
    return Intervals(tuple(exact(w) / 10**scale.decimals for w in widths))


def _round_widths() -> Iterator[int]:
    return (digit * 10**power for power in range(19) for digit in (1, 2, 5))


def _dates(source: Source) -> Hierarchy:
    scale = scale_of(source, "dates", kinds=("date",))
    span = _robust_span(source, scale.steps)
    first = next((n for n, (_, days) in enumerate(DAYS) if span / days <= MOST_FINE_STEPS), len(DAYS) - 1)
    return dates(*[unit for n, (unit, days) in enumerate(DAYS) if n == first or (n > first and days * 2 < span)])


def _is_code(values: pa.Array) -> bool:
    """Digits of one length from 3 to 6."""
    if len(values) < 2 or not pc.all(pc.match_substring_regex(values, "^[0-9]{3,6}$")).as_py():
        return False
    return bool(pc.count_distinct(pc.utf8_length(values)).as_py() == 1)
