"""The way through a lattice that suits its size and the metric."""

from __future__ import annotations

import numpy as np

from sfumato.methods.fulldomain.branching import branch
from sfumato.methods.fulldomain.ended import Ended
from sfumato.methods.fulldomain.minimal import MOST_LISTED
from sfumato.methods.fulldomain.nodes import Nodes
from sfumato.methods.fulldomain.optimum import sweep, walk
from sfumato.methods.fulldomain.progress import Watch


def search(nodes: Nodes, watch: Watch) -> Ended:
    """The best node by the way that suits the lattice: whole, or as far as the time goes."""
    if nodes.space.n_nodes > MOST_LISTED:
        return branch(nodes, watch)
    bounded = nodes.scorer.bounds(np.array([nodes.space.bottom])) is not None
    return sweep(nodes, watch) if bounded else walk(nodes, watch)
