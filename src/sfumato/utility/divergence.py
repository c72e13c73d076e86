"""How far the release's own picture of the joint distribution is from the original's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sfumato.utility.setting import Figure, Setting


def kl_divergence(setting: Setting) -> list[Figure]:
    """KL(p‖q) = Σ_x p(x) ln(p(x) / q(x)) over whole rows x, in nats.

    p is the original's empirical distribution, q(x) the expected share of rows equal to x over the release's worlds
    (regions and matchings spread uniformly). Above `n_rows_sampled` rows it is the mean of ln(p/q) over that many
    sampled original rows, an unbiased estimate. Kifer & Gehrke 2006, §3.
    """
    from sfumato.utility.setting import Figure
    from sfumato.worlds.tuples import distinct

    columns = setting.worlds.columns
    truth = {name: setting.truth[name] for name in columns}
    n = len(next(iter(truth.values())))
    ids = distinct(list(truth.values()), n)[1]
    n_equal = np.bincount(ids)[ids]
    drawn = np.arange(n)
    if n > setting.n_rows_sampled:
        drawn = setting.chance.generator().integers(0, n, setting.n_rows_sampled)
    expected = setting.worlds.expected({name: codes[drawn] for name, codes in truth.items()})
    with np.errstate(divide="ignore"):
        value = float(np.mean(np.log(n_equal[drawn] / n) - np.log(expected / setting.worlds.n_rows)))
    return [Figure("kl_divergence", value, "nats", "distance of the release's expected rows from the original's")]
