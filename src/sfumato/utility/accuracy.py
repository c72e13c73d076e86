"""What the workload's answers are worth: error of the estimate, width and coverage of bounds and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.utility.workload import relative_errors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.utility.setting import Figure, Setting


def query_error(setting: Setting) -> list[Figure]:
    """Relative error |estimate − truth| / truth over the random COUNT workload (LeFevre et al. 2006, §5.4)."""
    from sfumato.utility.setting import Figure

    if not setting.workload.queries:
        return []
    errors = relative_errors(setting.workload)
    meaning = f"relative error of {len(errors)} random COUNT queries on 1 to 3 columns"
    return [
        Figure("query_error", float(np.mean(errors)), "ratio", f"mean {meaning}"),
        Figure("query_error_median", float(np.median(errors)), "ratio", f"median {meaning}"),
    ]


def bounds(setting: Setting) -> list[Figure]:
    """Width of the hard bounds and how often they hold the truth; anything below 1 would be a defect."""
    work = setting.workload
    return _width_and_coverage("bounds", "hard bounds", work.lo, work.hi, setting)


def intervals(setting: Setting) -> list[Figure]:
    """Width and coverage of central 95 % intervals under the uniform prior.

    Over originals drawn from that prior they cover at least 95 %, where the law of the count is known; where it is not
    (large groups under conditions on both sides) quantiles come from sampled worlds, as in answers, and they cover 95 %
    up to sampling. How much less they cover here tells how far the original is from a uniformly spread one.
    """
    work = setting.workload
    return _width_and_coverage("interval95", "95 % intervals", work.q025, work.q975, setting)


def _width_and_coverage(
    name: str, words: str, lo: NDArray[np.float64], hi: NDArray[np.float64], setting: Setting
) -> list[Figure]:
    from sfumato.utility.setting import Figure

    work = setting.workload
    if not work.queries:
        return []
    width = float(np.mean((hi - lo) / work.n_rows))
    held = float(np.mean((lo <= work.truth) & (work.truth <= hi)))
    return [
        Figure(f"{name}_width", width, "share of rows", f"mean width of the {words} of the workload's counts"),
        Figure(f"{name}_coverage", held, "share of queries", f"how often the {words} contain the truth"),
    ]
