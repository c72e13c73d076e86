"""Sampled worlds of independent rows, without rows: how many of each region are kept, then what they turn out to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.outcomes import Sampled
from sfumato.worlds.aggregates import Fold
from sfumato.worlds.laws import Window, windowed
from sfumato.worlds.sums import totals
from sfumato.worlds.tuples import starts_of

if TYPE_CHECKING:
    from sfumato.worlds.alternatives_outcomes import AlternativesOutcomes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

CELLS_AT_ONCE = 2_000_000
MANY = 48
"""Regions whose rows are kept with more distinct probabilities than this draw the number kept from its exact law."""


@dataclass(frozen=True, eq=False)
class Kept:
    """Distinct (region, part kept, rows), sorted by region, with the first of each region."""

    region: Ints
    part: Floats
    rows: Ints
    starts: Ints


def sampled(facts: AlternativesOutcomes, n_worlds: int, generator: np.random.Generator) -> Sampled:
    """Aggregates in worlds drawn from the prior."""
    region, part, rows = facts.classes.distinct
    kept = Kept(region, part, rows, starts_of(region, len(facts.volume)))
    fold = Fold.over(facts.atoms.table, n_worlds, facts.n_keys)
    size = max(len(facts.atoms.region), len(region), len(facts.atoms.table), 1)
    at_once = max(1, CELLS_AT_ONCE // size)
    for begin in range(0, n_worlds, at_once):
        n = min(at_once, n_worlds - begin)
        fold.add(begin, _outcomes(facts, _kept_rows(kept, n, generator), generator))
    return fold.into


def _kept_rows(kept: Kept, n_worlds: int, generator: np.random.Generator) -> Ints:
    """Rows kept in each region, (W, S)."""
    counts = np.diff(kept.starts)
    found = np.zeros((n_worlds, len(counts)), dtype=np.int64)
    few = np.repeat(counts <= MANY, counts)
    certain = kept.part >= 1
    drawn = np.flatnonzero(few & ~certain)
    if len(drawn):
        rows = generator.binomial(kept.rows[drawn], kept.part[drawn], size=(n_worlds, len(drawn)))
        owner = kept.region[drawn]
        first = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
        found[:, owner[first]] = np.add.reduceat(rows, first, axis=1)
    fixed = few & certain
    found += totals(kept.region[fixed], kept.rows[fixed], len(counts)).astype(np.int64)
    for region in np.flatnonzero(counts > MANY).tolist():
        mine = slice(kept.starts[region], kept.starts[region + 1])
        found[:, region] = _count(kept.part[mine], kept.rows[mine], n_worlds, generator)
    return found


def _count(part: Floats, rows: Ints, n_worlds: int, generator: np.random.Generator) -> Ints:
    """Draws of Σ Binomial(rows, part) from its exact law."""
    mean, spread = float(rows @ part), float(rows @ (part * (1 - part)))
    least, most = float(rows[part >= 1].sum()), float(rows.sum())

    def log_cf(omega: Floats) -> tuple[Floats, Floats]:
        log, angle = np.empty(len(omega)), np.empty(len(omega))
        with np.errstate(divide="ignore"):
            for i, w in enumerate(omega.tolist()):
                shrink = np.maximum(-4 * part * (1 - part) * np.sin(w / 2) ** 2, -1.0)
                log[i] = rows @ (0.5 * np.log1p(shrink))
                angle[i] = rows @ np.arctan2(part * np.sin(w), 1 - part + part * np.cos(w))
        return log, angle

    law = windowed(log_cf, Window(mean, spread, least, most, spread))
    assert law is not None
    below = np.cumsum(law.pmf)
    return law.offset + np.minimum(np.searchsorted(below, generator.random(n_worlds)), len(below) - 1)


def _outcomes(facts: AlternativesOutcomes, kept: Ints, generator: np.random.Generator) -> Floats:
    """Rows with each outcome, (W, O): a multinomial over the atoms of every region, atom after atom."""
    from scipy.sparse import csr_array

    atoms = facts.atoms
    starts = starts_of(atoms.region, len(facts.volume))
    n_atoms = np.diff(starts)
    left, tuples = kept.astype(np.int64), facts.volume.copy()
    drawn = np.zeros((len(kept), len(atoms.region)), dtype=np.int64)
    for rank in range(int(n_atoms.max(initial=0))):
        active = np.flatnonzero(n_atoms > rank)
        atom = starts[active] + rank
        part = np.minimum(atoms.n[atom] / tuples[active], 1.0)
        now = np.where(part >= 1, left[:, active], generator.binomial(left[:, active], part))
        drawn[:, atom] = now
        left[:, active] -= now
        tuples[active] -= atoms.n[atom]
    shape = (len(atoms.region), len(atoms.table))
    chosen = csr_array((np.ones(shape[0]), (np.arange(shape[0]), atoms.outcome)), shape=shape)
    found: Floats = np.asarray(drawn.astype(np.float64) @ chosen)
    return found
