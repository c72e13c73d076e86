"""How a search ended, and which of two nodes is better."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.methods.fulldomain.nodes import Looked, Nodes

ROUNDING = 1e-12
"""Bounds and scores are sums in another order: a bound must be lower by more than this share to count as lower."""


@dataclass(frozen=True)
class Ended:
    """How a search ended: the best node (None: there is none), what no node scores below, and whether that is proven.

    `optimal`: no allowed node has a lower score; without a best node, that no node is allowed.
    """

    best: Looked | None
    bound: float
    optimal: bool


def better(one: Looked, best: Looked | None) -> bool:
    """Whether an allowed node is to be preferred: by its score, then by fewer suppressed rows, then by its levels."""
    if not one.allowed:
        return False
    return best is None or (one.score, one.n_suppressed, one.node) < (best.score, best.n_suppressed, best.node)


def can_beat(bound: float, best: Looked | None) -> bool:
    """Whether a bound leaves room for a lower score than the best, by more than the noise of floats."""
    if best is None or not isinstance(best.score, float):
        return True
    return bound < best.score - ROUNDING * abs(best.score)


def best_known(nodes: Nodes, best: Looked | None) -> Looked | None:
    """The best of the nodes looked at, those of an earlier search counted."""
    for one in nodes.known.values():
        best = one if better(one, best) else best
    return best


def number_of(one: Looked) -> float:
    """A score with bounds is one number."""
    assert isinstance(one.score, float)
    return one.score
