"""Earth mover's distances between each group's values and the whole table's, as exact integers.

Every function returns (moved, scale), moved of shape (G,): the distance of group g is moved[g] / (n_g · N · scale),
n_g and N being the units in the group and in the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.codec import Domain
from sfumato.data.evidence import Counts
from sfumato.requirements.judging import Ints, masses, per_group, whole_numbers

Floats = NDArray[np.float64]
Moved = tuple[NDArray[Any], int]


def equal(counts: Counts, totals: Ints, domain: Domain) -> Moved:
    """Every move costs 1: Σ_v max(0, c_v·N − T_v·n), the total variation."""
    return _surplus(counts, counts.code, counts.n, totals), 1


def ordered(counts: Counts, totals: Ints, domain: Domain) -> Moved:
    """Moving i ranks costs i/(m−1): Σ_{i<m−1} |C_i·N − S_i·n| with running sums C of the group and S of the table.

    Between two values of a group C is constant and S does not fall, so the sum splits where S·n passes C·N.
    """
    steps, whole, sizes = len(totals) - 1, int(totals.sum()), masses(counts)
    if steps < 1:
        return np.zeros(len(sizes), dtype=np.int64), 1
    most = (steps + 1) * max(whole, 1) * int(sizes.max(initial=1))
    running = np.cumsum(totals)
    prefix = np.concatenate([[0], np.cumsum(running)])
    low, high, here, group = _stretches(counts, steps)
    size = sizes[group]
    split = np.clip(np.searchsorted(running, here * whole // np.maximum(size, 1), side="right"), low, high)
    behind = whole_numbers(here, most) * whole * (2 * split - low - high)
    ahead = whole_numbers(size, most) * (prefix[low] + prefix[high] - 2 * prefix[split])
    moved = np.zeros(len(sizes), dtype=behind.dtype)
    np.add.at(moved, group, behind + ahead)
    return moved, steps


def hierarchical(counts: Counts, totals: Ints, domain: Domain) -> Moved:
    """Moving under a node costs its height over the tree's height H: the mean over levels of the total variation.

    Every level has the same height, so a move under a node of height h crosses 2h of 2H edges, and the optimum on a
    tree is Σ_edges |surplus below| / 2H (Li et al. 2007, §4.3, in closed form). Without levels the tree is flat and
    the distance is the equal one, which is never smaller.
    """
    moved = _surplus(counts, counts.code, counts.n, totals)
    for level in domain.levels:
        above = np.bincount(level.node, weights=totals, minlength=len(level.labels)).astype(np.int64)
        moved = moved + _surplus(counts, level.node[counts.code], counts.n, above)
    return moved, len(domain.levels) + 1


DISTANCES: dict[str, Callable[[Counts, Ints, Domain], Moved]] = {
    "equal": equal,
    "ordered": ordered,
    "hierarchical": hierarchical,
}


def equal_table(totals: Ints) -> Floats:
    """Lookup table of the equal distance's twin: [N, T_0, T_1, …]."""
    return np.concatenate([[totals.sum()], totals]).astype(np.float64)


def ordered_table(totals: Ints) -> Floats:
    """Lookup table of the ordered distance's twin: [m, N, S_0 … S_{m−1}, P_0 … P_m]."""
    running = np.cumsum(totals)
    prefix = np.concatenate([[0], np.cumsum(running)])
    return np.concatenate([[len(totals), totals.sum()], running, prefix]).astype(np.float64)


def _surplus(counts: Counts, node: NDArray[Any], n: Ints, totals: Ints) -> NDArray[Any]:
    """Σ over nodes of max(0, units here·N − units of the table·n); entries of one node are adjacent in a group."""
    sizes, whole = masses(counts), int(totals.sum())
    if len(n) == 0:
        return np.zeros(len(sizes), dtype=np.int64)
    first = np.flatnonzero(np.concatenate([[True], (node[1:] != node[:-1]) | (counts.group[1:] != counts.group[:-1])]))
    group, here = counts.group[first], np.add.reduceat(n, first)
    most = int(sizes.max()) * whole
    over = whole_numbers(here, most) * whole - whole_numbers(sizes[group], most) * totals[node[first]]
    starts = np.searchsorted(group, np.arange(len(sizes) + 1)).astype(np.int64)
    return per_group(np.maximum(over, 0), Counts(group, counts.code[first], here, starts))


def _stretches(counts: Counts, steps: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Ranks low … high−1 over which a group's running sum is constant, that sum, and the group."""
    groups = np.arange(len(counts.starts) - 1)
    code = np.minimum(counts.code.astype(np.int64), steps)
    before = np.concatenate([[0], np.cumsum(counts.n)])
    here = before[1:] - before[counts.starts[counts.group]]
    last = np.ones(len(code), dtype=np.bool_)
    last[:-1] = counts.group[1:] != counts.group[:-1]
    high = np.where(last, steps, np.append(code[1:], steps)) if len(code) else code
    full = counts.starts[1:] > counts.starts[:-1]
    head = code[counts.starts[:-1][full]]
    nothing = np.zeros(len(head), dtype=np.int64)
    return (
        np.concatenate([nothing, code]),
        np.concatenate([head, high]),
        np.concatenate([nothing, here]),
        np.concatenate([groups[full], counts.group]),
    )
