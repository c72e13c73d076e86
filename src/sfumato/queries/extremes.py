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
    return np.nextafter(bound + room, np.inf) if sense == "max" else np.nextafter(bound - room, -np.inf)


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
    met &= ~empty | (figures.outcomes.lone(j) & (away | (nearest == 0)))
    return bound, met


def average_bound(figures: Figures, j: int, sense: Sense) -> tuple[Floats, Bools]:
    """Largest or least average over worlds that count something, and where some world has it.

    Where the count is certain it is the best sum over that count.
    """
    least, most = (figures.count_extreme(j, one)[0] for one in ("min", "max"))
    best, attained = figures.outcomes.extreme(j, 1.0, np.zeros(figures.n_keys), sense)
    fixed, met = least == most, np.full(figures.n_keys, attained)
    bound = quotient(best.value, most, sense, figures.whole(j))
    if fixed.all():
        return bound, met
    ratio, known = _best_ratio(figures, j, sense)
    return np.where(fixed, bound, ratio), np.where(fixed, met, known)


def quotient(total: Floats, count: Floats, sense: Sense, whole: bool) -> Floats:
    """A bound of sum / count. Of whole numbers SQL takes it once in 64 or in 80 bits, and rounds that to 64."""
    with np.errstate(invalid="ignore", divide="ignore"):
        short = total / count
        long = (total.astype(np.longdouble) / count.astype(np.longdouble)).astype(np.float64)
    exact = whole & (np.abs(total) < EXACT)
    best = np.maximum(short, long) if sense == "max" else np.minimum(short, long)
    return np.where(exact | ~np.isfinite(short), best, outward(short, sense))


def _best_ratio(figures: Figures, j: int, sense: Sense) -> tuple[Floats, Bools]:
    """The best average by Dinkelbach's iteration, rounded outward where it is not known to the last place.

    λ ← the average in a world that attains max Σ(v − λ), until none is better. With m a sound bound of that maximum, no
    average is beyond λ + m / n, n the least count. Averages S/N of whole numbers differ by 1/(N·N') or not at all: when
    m·N is small, nothing is beyond λ = S/N itself.
    """
    (least, _, _), (most, total, attained) = (figures.count_extreme(j, one) for one in ("min", "max"))
    worst = np.inf if sense == "max" else -np.inf
    total, count = np.where(np.isfinite(total), total, 0.0), np.maximum(most, 1.0)
    level, live, met = total / count, most > 0, np.full(figures.n_keys, attained)
    room = np.full(figures.n_keys, np.inf)
    for _ in range(MOST_STEPS):
        found, known = figures.outcomes.extreme(j, 1.0, -level, sense)
        met &= known
        unbounded = live & ~np.isfinite(found.value)
        level[unbounded], live = worst, live & ~unbounded
        room = np.maximum(found.value if sense == "max" else -found.value, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            better = found.sum / found.count
        gain = live & (found.count > 0) & ((better > level) if sense == "max" else (better < level))
        if not gain.any():
            break
        level = np.where(gain, better, level)
        total, count = np.where(gain, found.sum, total), np.where(gain, found.count, count)
    else:
        caps = figures.outcomes.caps(j, sense)
        level, met = np.where(live, _furthest(caps, sense), level), met & ~live
        return level, met
    exact = figures.whole(j) & (np.abs(total) < EXACT) & ((room + most * np.spacing(np.abs(level))) * count < 0.5)
    with np.errstate(invalid="ignore"):
        beyond = room / np.maximum(least, 1.0)
        wider = outward(level + beyond if sense == "max" else level - beyond, sense)
    bound = np.where(exact, quotient(total, count, sense, True), wider)
    return np.where(live, bound, level), met


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
