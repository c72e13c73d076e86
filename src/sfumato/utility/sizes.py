"""Measures that read group sizes alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.utility.setting import Figure, Setting


def discernibility_of(sizes: NDArray[np.int64], n_suppressed: int = 0) -> int:
    """Σ_g |g|² + suppressed · n: how many rows each row cannot be told from (Bayardo & Agrawal 2005, Eq. 1).

    >>> discernibility_of(np.array([2, 3]), n_suppressed=1)
    19
    """
    n = int(sizes.sum()) + n_suppressed
    return int((sizes.astype(np.int64) ** 2).sum()) + n_suppressed * n


def discernibility(setting: Setting) -> list[Figure]:
    """The discernibility of the published groups."""
    from sfumato.utility.setting import Figure

    value = discernibility_of(setting.sizes, setting.release.n_rows - int(setting.sizes.sum()))
    meaning = "sum over rows of how many rows look like it; smaller tells more"
    return [Figure("discernibility", float(value), "row pairs", meaning)]


def average_group_size(setting: Setting) -> list[Figure]:
    """C_avg = (n / G) / k: published rows per group over the k promised (LeFevre et al. 2006); 1 is the best."""
    from sfumato.utility.setting import Figure

    if not len(setting.sizes):
        return []
    mean = float(setting.sizes.mean())
    found = [Figure("average_group_size", mean, "rows", "published rows per group")]
    promised = [promise.parameters.get("k") for promise in setting.release.recipe.promises]
    least = max((int(k) for k in promised if k is not None), default=0)
    if least:
        found.append(Figure("c_avg", mean / least, "ratio", "average group size over the k promised; 1 is the best"))
    return found
