"""What every measure sees: a release, its worlds, the original on its codes, and a workload answered once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.utility.workload import Workload, answer_all, random_workload

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.contracts import Release, Worlds
    from sfumato.data.codec import Codes

Measure = Callable[["Setting"], list["Figure"]]


@dataclass(frozen=True)
class Figure:
    """One measured number: `column` None means the whole release."""

    metric: str
    value: float
    unit: str
    meaning: str
    column: str | None = None


@dataclass(frozen=True, eq=False)
class Setting:
    """A release beside its original; `truth` holds the original's codes on the worlds' domains."""

    release: Release
    worlds: Worlds
    truth: Mapping[str, Codes]
    chance: Chance
    n_queries: int = 200
    n_rows_sampled: int = 2000

    @cached_property
    def quasi(self) -> tuple[str, ...]:
        """Published quasi-identifiers."""
        return self.release.schema.names("quasi")

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Rows of each published group."""
        return np.asarray(self.release.groups().column(1).to_numpy(), dtype=np.int64)

    @cached_property
    def workload(self) -> Workload:
        """Random COUNT queries with their answers and the truth, computed once for all measures that read them."""
        queries = random_workload(self.worlds.domains, self.truth, self.n_queries, self.chance.generator())
        return answer_all(queries, self.worlds, self.truth, self.chance)
