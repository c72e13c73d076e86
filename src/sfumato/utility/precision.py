"""Measures that read how wide the published cells are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.data.codec import Domain
    from sfumato.utility.setting import Figure, Setting


def penalty(leaves: NDArray[np.int64], domain: Domain) -> NDArray[np.float64]:
    """Normalised certainty penalty of cells that may hold `leaves` leaves of a domain of N (Xu et al. 2006, Eq. 1–3).

    Ranges: (leaves − 1) / (N − 1), which on a regular grid is (high − low) / (max − min).
    Categories: 0 for one leaf, else leaves / N. The missing value counts as one leaf. More than N: anything, hence 1.
    """
    if domain.size <= 1:
        return (leaves > domain.size).astype(np.float64)
    if domain.region == "range":
        return np.minimum((leaves - 1) / (domain.size - 1), 1.0)
    return np.where(leaves > 1, np.minimum(leaves / domain.size, 1.0), 0.0)


def ncp_of(setting: Setting, column: str) -> float:
    """Mean penalty of one column over all rows, suppressed ones counted (they may hold anything)."""
    width, weight = setting.worlds.leaves(column)
    return float(np.average(penalty(width, setting.worlds.domains[column]), weights=weight))


def ncp(setting: Setting) -> list[Figure]:
    """The certainty penalty of every quasi-identifier."""
    from sfumato.utility.setting import Figure

    meaning = "mean width of its cells: 0 exact, 1 anything"
    return [Figure("ncp", ncp_of(setting, name), "share", meaning, name) for name in setting.quasi]


def gcp(setting: Setting) -> list[Figure]:
    """Global certainty penalty Σ_rows Σ_columns NCP / (n · d) (Ghinita et al. 2007, Eq. 2)."""
    from sfumato.utility.setting import Figure

    if not setting.quasi:
        return []
    value = float(np.mean([ncp_of(setting, name) for name in setting.quasi]))
    return [Figure("gcp", value, "share", "mean certainty penalty over all quasi-identifiers")]


def loss(setting: Setting) -> list[Figure]:
    """Mean share of a column's leaves that a cell may hold, leaves / N (ARX's Loss before normalisation)."""
    from sfumato.utility.setting import Figure

    shares = []
    for name in setting.quasi:
        width, weight = setting.worlds.leaves(name)
        shares.append(float(np.average(np.minimum(width / setting.worlds.domains[name].size, 1), weights=weight)))
    if not shares:
        return []
    return [Figure("loss", float(np.mean(shares)), "share", "mean share of a column's leaves that a cell may hold")]
