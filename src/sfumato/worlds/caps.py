"""What MIN and MAX need: how probable it is that nothing counted lies beyond a threshold, and what is possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import Unanswerable
from sfumato.outcomes import Caps
from sfumato.worlds.sums import totals

if TYPE_CHECKING:
    from sfumato.outcomes import Sense

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MOST_CELLS = 50_000_000


@dataclass(frozen=True, eq=False)
class Steps:
    """Independent pieces of one block, values signed so that "beyond" is above.

    log P(nothing of key κ beyond t) = `floor[κ]` + Σ `rise` over steps of κ with `value` ≤ t, −inf while `wall[κ]` plus
    the `fall` of those steps is positive. `stay[κ]`: least t that some world keeps to; `show[κ]`: least value that a
    world keeping to `stay` can count. `seen_key`, `seen_value`: values that some world counts. `exact`: False when the
    probabilities are not known; `loose`: some row may hold any value under any key; `attained`: False where undecided
    rows make what worlds can do an outer bound.
    """

    key: Ints
    value: Floats
    rise: Floats
    fall: Floats
    floor: Floats
    wall: Floats
    stay: Floats = field(default_factory=lambda: np.zeros(0))
    show: Floats = field(default_factory=lambda: np.zeros(0))
    seen_key: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    seen_value: Floats = field(default_factory=lambda: np.zeros(0))
    exact: bool = True
    loose: bool = False
    attained: bool = True


def joined(parts: Sequence[Steps]) -> Steps:
    """The steps of independent blocks together."""
    return Steps(
        key=np.concatenate([p.key for p in parts]),
        value=np.concatenate([p.value for p in parts]),
        rise=np.concatenate([p.rise for p in parts]),
        fall=np.concatenate([p.fall for p in parts]),
        floor=np.sum([p.floor for p in parts], axis=0),
        wall=np.sum([p.wall for p in parts], axis=0),
        stay=np.max([p.stay for p in parts], axis=0),
        show=np.min([p.show for p in parts], axis=0),
        seen_key=np.concatenate([p.seen_key for p in parts]),
        seen_value=np.concatenate([p.seen_value for p in parts]),
        exact=all(p.exact for p in parts),
        loose=any(p.loose for p in parts),
        attained=all(p.attained for p in parts),
    )


def assembled(steps: Steps, n_keys: int, sense: Sense) -> Caps:
    """Caps over the union of thresholds."""
    moves = (steps.rise != 0) | (steps.fall != 0)
    thresholds = np.unique(np.concatenate([steps.seen_value, steps.value[moves]]))
    if steps.loose:
        thresholds = np.concatenate([[-np.inf], thresholds, [np.inf]])
    n = len(thresholds)
    if n_keys * n > MOST_CELLS:
        raise Unanswerable(
            f"MIN or MAX over {n_keys} groups with {n} distinct values is too large; round the argument or the keys."
        )
    stay = thresholds >= steps.stay[:, None]
    possible = np.full((n_keys, n), steps.loose)
    possible[steps.seen_key, np.searchsorted(thresholds, steps.seen_value)] = True
    show = np.full(n_keys, -np.inf) if steps.loose else steps.show
    return Caps(
        thresholds=thresholds if sense == "max" else -thresholds,
        log_within=_log_within(steps, moves, thresholds, n_keys) if steps.exact else None,
        can_show=stay & (thresholds >= show[:, None]),
        possible=possible,
        attained=steps.attained,
    )


def _log_within(steps: Steps, moves: Bools, thresholds: Floats, n_keys: int) -> Floats:
    n = len(thresholds)
    cell = steps.key[moves] * n + np.searchsorted(thresholds, steps.value[moves])
    rise = totals(cell, steps.rise[moves], n_keys * n).reshape(n_keys, n)
    fall = totals(cell, steps.fall[moves], n_keys * n).reshape(n_keys, n)
    log = np.minimum(steps.floor[:, None] + np.cumsum(rise, axis=1), 0.0)
    walls = steps.wall[:, None] + np.cumsum(fall, axis=1)
    return np.where(walls > 0.5, -np.inf, log)
