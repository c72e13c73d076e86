"""Generalized rows: every group publishes one region per quasi-identifier, the other columns row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.contracts import Recipe, Release
from sfumato.data.codec import Codes, Domain
from sfumato.data.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.contracts import Worlds
    from sfumato.data.evidence import Groups


@dataclass(frozen=True, eq=False)
class Generalized(Release):
    """Cells known up to a region; all originals whose cells lie in the regions are possible.

    `low[c]`, `high[c]`: (G,) ends of group g's region in codes of quasi-identifier c. `group`: (n,) group of each
    published row. `exact[c]`: (n,) codes of the sensitive and plain columns. `n_suppressed` rows are known to exist
    and nothing else: each of their cells may be anything.
    """

    form: ClassVar[str] = "generalized"
    name: str
    schema: Schema
    domains: Mapping[str, Domain]
    low: Mapping[str, Codes]
    high: Mapping[str, Codes]
    group: NDArray[np.int64]
    exact: Mapping[str, Codes]
    recipe: Recipe
    n_suppressed: int = 0

    @property
    def n_rows(self) -> int:
        """Published and suppressed rows."""
        return len(self.group) + self.n_suppressed
