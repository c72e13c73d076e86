"""Sums that bound: rounded outwards unless every term is a whole number small enough to be exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sfumato.outcomes import Sense

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

EXACT = 2.0**53
UNIT = 2.0**-53


def totals(owner: Ints, terms: NDArray[np.generic], n: int) -> Floats:
    """Σ of terms per owner 0 … n−1; shape (n,)."""
    return np.asarray(np.bincount(owner, weights=terms, minlength=n), dtype=np.float64)


def outward_sums(owner: Ints, terms: Floats, sizes: Floats, n: int, sense: Sense, whole: bool) -> Floats:
    """Σ of terms per owner, rounded up ("max") or down ("min"); shape (n,).

    `sizes` ≥ |term| bounds the magnitude of what each term was computed from; `whole` says that it was
    computed from whole numbers if it is one. m terms summed in any order are off by at most (m − 1)·u·Σ|term|
    (Higham 2002, eq. 4.4); the margin also covers the few roundings inside a term.
    """
    total = totals(owner, terms, n)
    size = totals(owner, sizes, n)
    exact = (totals(owner, terms != np.rint(terms), n) == 0) & whole & (size < EXACT)
    m = np.bincount(owner, minlength=n)
    margin = np.where(exact, 0.0, (m + 8.0) * 2 * UNIT * size)
    moved = np.nextafter(total + margin, np.inf) if sense == "max" else np.nextafter(total - margin, -np.inf)
    return np.where(margin > 0, moved, total)


def outward_total(parts: Sequence[Floats], sense: Sense) -> Floats:
    """Sum of bounds of independent blocks, rounded outwards where it is not exact."""
    total: Floats = np.sum(parts, axis=0)
    size = np.sum(np.abs(parts), axis=0)
    whole = np.all([part == np.rint(part) for part in parts], axis=0) & (size < EXACT)
    with np.errstate(invalid="ignore"):
        margin = np.where(whole | np.isinf(total), 0.0, (len(parts) + 1) * UNIT * size)
        moved = total + margin if sense == "max" else total - margin
        return np.asarray(np.where(margin > 0, moved, total))
