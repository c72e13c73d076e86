"""Hard bounds of SUM, AVG, MIN and MAX given that something is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sfumato.outcomes import Caps, Sense
    from sfumato.queries.figures import Figures

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
MOST_STEPS = 60
EXACT = 2.0**53


def outward(bound: Floats, sense: Sense) -> Floats:
    """Moved away from the inside by a few units in the last place."""
    room = np.abs(bound) * 2.0**-50
    return bound + room if sense == "max" else bound - room


def sum_bound(figures: Figures, j: int, sense: Sense) -> tuple[Floats, Bools]:
    """Largest or least sum over worlds that count something, and where some world has it.

    Without that condition the optimum may be 0 by counting nothing. Then every sum is on the other side of 0, so the
    value nearest to 0 bounds it, and is attained where one row can be counted alone.
    """
    n = figures.n_keys
    found, attained = figures.outcomes.extreme(j, 1.0, np.zeros(n), sense)
    least = figures.count_extreme(j, "min")[0]
    empty = (least <= 0) & (found.value == 0) & (found.count <= 0)
    met = np.full(n, attained)
    if not empty.any():
        return found.value, met
    caps = figures.outcomes.caps(j, sense)
    nearest = _furthest(caps, sense)
    away = nearest < 0 if sense == "max" else nearest > 0
    bound = np.where(empty & away, nearest, found.value)
    lone = bool(getattr(figures.outcomes, "lone", False))
    met &= ~empty | (lone & (away | (nearest == 0)))
    return bound, met


def average_bound(figures: Figures, j: int, sense: Sense) -> tuple[Floats, Bools]:
    """Largest or least average over worlds that count something, by Dinkelbach's iteration.

    λ ← the average in a world that attains max Σ(v − λ), until that maximum is not positive. Any λ where a sound bound
    of the maximum is not positive is a sound bound of the average.
    """
    n = figures.n_keys
    count, total, attained = figures.count_extreme(j, "max")
    open_ended = ~np.isfinite(total)
    worst = np.inf if sense == "max" else -np.inf
    level = np.where(count > 0, np.where(open_ended, 0.0, total) / np.maximum(count, 1), 0.0)
    live, whole = count > 0, np.ones(n, dtype=bool)
    met = np.full(n, attained)
    for _ in range(MOST_STEPS):
        found, known = figures.outcomes.extreme(j, 1.0, -level, sense)
        met &= known
        unbounded = live & ~np.isfinite(found.value)
        level[unbounded], live = worst, live & ~unbounded
        with np.errstate(invalid="ignore", divide="ignore"):
            better = found.sum / found.count
        gain = live & (found.count > 0) & ((better > level) if sense == "max" else (better < level))
        if not gain.any():
            break
        level = np.where(gain, better, level)
        whole[gain] = (found.sum[gain] == np.round(found.sum[gain])) & (np.abs(found.sum[gain]) < EXACT)
    else:
        caps = figures.outcomes.caps(j, sense)
        level, met = np.where(live, _furthest(caps, sense), level), met & ~live
    return np.where(whole | ~np.isfinite(level), level, outward(level, sense)), met


def extremum_bounds(caps: Caps, sense: Sense, shows: Bools) -> tuple[Floats, Floats]:
    """Bounds of MAX (or MIN): the furthest value that may be counted, the nearest that a world can keep to."""
    far = _furthest(caps, sense)
    signed = caps.thresholds if sense == "max" else -caps.thresholds
    kept = np.where(caps.can_show, signed[None, :], np.inf).min(axis=1, initial=np.inf)
    near = kept if sense == "max" else -kept
    far, near = np.where(shows, far, np.nan), np.where(shows, near, np.nan)
    return (near, far) if sense == "max" else (far, near)


def _furthest(caps: Caps, sense: Sense) -> Floats:
    """The largest (least) value that some world counts."""
    signed = caps.thresholds if sense == "max" else -caps.thresholds
    far = np.where(caps.possible, signed[None, :], -np.inf).max(axis=1, initial=-np.inf)
    found: Floats = far if sense == "max" else -far
    return found
