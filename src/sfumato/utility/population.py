"""How many persons of the population look like a class: counted in a table of it, or estimated from its size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.data.dataset import codes_on
from sfumato.data.evidence import group_evidence
from sfumato.errors import ParameterError
from sfumato.releases.distinct import distinct_rows

if TYPE_CHECKING:
    from sfumato.data.codec import Codes
    from sfumato.data.dataset import Dataset
    from sfumato.utility.classes import Classes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Population:
    """Persons of the population in every class, (J,), whether nobody was overlooked, and what to know about it."""

    sizes: Ints
    exact: bool
    n_persons: int
    notes: tuple[str, ...]


def counted(classes: Classes, table: Dataset) -> Population:
    """Persons of a population table whose values lie in each class's cells; a class's own persons count at least.

    Values that the classes' domains do not list lie in cells for any value only, so that sizes are never too large.
    """
    codes = codes_on(table, {name: classes.domains[name] for name in classes.columns})
    units = table.units
    if all(classes.low[name] is classes.high[name] for name in classes.columns):
        found = _equal(classes, codes, units)
    else:
        found = _inside(classes, codes, units)
    short = int((found < classes.persons).sum())
    notes = []
    if short:
        notes.append(
            f"The population table has fewer persons than the classes themselves in {short:,} of {len(found):,} "
            "classes: not everybody published is in it. These classes are taken for their whole population."
        )
    unlisted = np.zeros(table.n_rows, dtype=np.bool_)
    for name in classes.columns:
        unlisted |= codes[name] < 0
    blurred = bool(unlisted.any()) and any(classes.low[name] is not classes.high[name] for name in classes.columns)
    if blurred:
        notes.append(
            f"{int(unlisted.sum()):,} rows of the population have values the release does not list; they are counted "
            "only in cells for any value, so journalist and marketer risk are upper bounds."
        )
    n_persons = table.n_rows if units is None else len(np.unique(units))
    return Population(np.maximum(found, classes.persons), not short and not blurred, n_persons, tuple(notes))


def _equal(classes: Classes, codes: dict[str, Codes], units: Codes | None) -> Ints:
    """Persons with the very values of each class."""
    known = np.ones(len(next(iter(codes.values()))), dtype=np.bool_)
    for column in codes.values():
        known &= column >= 0
    n, n_known = len(classes.rows), int(known.sum())
    both = [np.concatenate([classes.low[name], codes[name][known]]) for name in classes.columns]
    found = distinct_rows(both, n + n_known)
    mine = None if units is None else units[known]
    sizes = group_evidence(found.of[n:], len(found.n), {}, {}, mine).sizes
    return sizes[found.of[:n]]


def _inside(classes: Classes, codes: dict[str, Codes], units: Codes | None) -> Ints:
    """Persons inside each class's box of cells: rows in the order of the column that cuts best, then filtered."""
    keys = [codes[name] for name in classes.columns] if units is None else [*codes.values(), units]
    found = distinct_rows([key.astype(np.int64) + 1 for key in keys], len(keys[0]))
    first = max(classes.columns, key=lambda name: int(classes.cells[name].max(initial=0)))
    at = found.first[np.argsort(codes[first][found.first], kind="stable")]
    n_of = found.n[found.of[at]]
    columns = {name: codes[name][at] for name in (first, *(name for name in classes.columns if name != first))}
    starts = np.searchsorted(columns[first], classes.low[first], side="left")
    ends = np.searchsorted(columns[first], classes.high[first], side="right")
    starts, ends = np.where(classes.anything[first], 0, starts), np.where(classes.anything[first], len(at), ends)
    others = [name for name in columns if name != first]
    sizes = np.zeros(len(classes.rows), dtype=np.int64)
    for j in range(len(sizes)):
        inside = np.arange(starts[j], ends[j])
        for name in others:
            if not classes.anything[name][j]:
                cell = columns[name][inside]
                inside = inside[(cell >= classes.low[name][j]) & (cell <= classes.high[name][j])]
        sizes[j] = n_of[inside].sum() if units is None else len(np.unique(units[at[inside]]))
    return sizes


SMALL = 60
"""Classes up to so many persons; the function of larger ones is found as an integral."""


def expected_risk(sizes: Sequence[int] | Ints, n_sampled: int, n_persons: int) -> Floats:
    """E[1 ∕ F | f] per class when F, its persons in the population, is f plus a negative binomial number of others.

    (π ∕ f) · ₂F₁(1, 1; f+1; 1−π) with π = n_sampled ∕ n_persons (Benedetti & Franconi 1998; μ-Argus). It supposes
    that everybody is in the sample with chance π, independently: a model, not a bound.

    >>> expected_risk([1, 2], 10, 10).tolist()
    [1.0, 0.5]
    """
    from scipy.special import hyp2f1

    f, share = np.asarray(sizes, dtype=np.float64), n_sampled / n_persons
    small = f <= SMALL
    found = np.empty(len(f))
    found[small] = hyp2f1(1.0, 1.0, f[small] + 1.0, 1.0 - share)
    found[~small] = _integral(f[~small], share)
    return np.minimum(share / f * found, 1.0 / f)


def _integral(f: Floats, share: float) -> Floats:
    """₂F₁(1, 1; f+1; 1−π) = ∫₀^∞ e^{−x} ∕ (π + (1−π) e^{−x∕f}) dx by Gauss and Laguerre, which is smooth for large f,
    where the series of the function itself breaks down.
    """
    x, weights = np.polynomial.laguerre.laggauss(48)
    held = weights / (share + (1.0 - share) * np.exp(-x[None, :] / f[:, None]))
    return np.asarray(held.sum(axis=1), dtype=np.float64)


def size_of(population: object, n_persons: int) -> int:
    """A population size that can be one: a whole number, no smaller than the persons in hand."""
    if isinstance(population, bool) or not isinstance(population, int):
        raise ParameterError(
            f"population is a {type(population).__name__}. Give the number of persons in it, or a table: sf.read(…)."
        )
    if population < n_persons:
        raise ParameterError(
            f"The population of {population:,} is smaller than the {n_persons:,} persons of the table. "
            "Give the number of persons the table was drawn from, those in it counted."
        )
    return population


def words_of(n_persons: int, table: bool) -> Iterable[str]:
    """What a reader should know about the journalist's and the marketer's figures."""
    if table:
        return (f"Journalist and marketer look persons up in a population of {n_persons:,}, counted in its table.",)
    return (
        f"Journalist and marketer are estimated from a population of {n_persons:,} (Benedetti & Franconi 1998): the "
        "model supposes everybody equally likely to be in the table. The prosecutor's figures bound them.",
    )
