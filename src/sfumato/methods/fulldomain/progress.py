"""When a search ends early, and what it says meanwhile."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.nodes import Nodes

EVERY = 0.5
"""Seconds between two messages."""
KEEP_EVERY = 15.0
"""Seconds between two times that what is known is kept."""


class Watch:
    """A limit of seconds (None: none) from now on, a listener for counts and scores, and what keeps the search."""

    def __init__(
        self, limit: float | None, tell: Callable[[str], None] | None, keep: Callable[[], None] | None = None
    ) -> None:
        self._start = self._told = self._kept = time.monotonic()
        self._limit = limit
        self._tell = tell
        self._keep = keep

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self._start

    @property
    def left(self) -> float:
        """Seconds that are left; infinite without a limit."""
        return math.inf if self._limit is None else max(self._limit - self.seconds, 0.0)

    def over(self, share: float = 1.0) -> bool:
        """Whether this share of the time is used up."""
        return self._limit is not None and self.seconds > self._limit * share

    def say(self, nodes: Nodes, best: object) -> None:
        """Now and then: nodes looked at, and the best score; what is known is kept."""
        now = time.monotonic()
        if self._keep is not None and now - self._kept >= KEEP_EVERY:
            self._keep()
            self._kept = time.monotonic()
        if self._tell is not None and now - self._told >= EVERY:
            self._told = now
            score = "no solution yet" if best is None else f"best score {best:.6g}" if isinstance(best, float) else ""
            self._tell(f"searching: {nodes.n_looked} nodes looked at; {score}")
