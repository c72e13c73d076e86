"""Anatomy: two tables that share a group id; which row has which sensitive values is permuted inside a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.contracts import Recipe, Release
from sfumato.data.codec import Codes, Domain
from sfumato.data.schema import Schema


@dataclass(frozen=True, eq=False)
class Anatomized(Release):
    """Quasi-identifier table and sensitive table; inside a group every matching of the two is possible.

    `slots[c]`: (n,) codes of quasi and plain columns, `slot_group` (n,) their group. `values[c]`: (n,) codes of
    the sensitive columns (a tuple of them moves together), `value_group` (n,). Both group columns hold every group
    equally often. `n_suppressed` rows are known to exist and nothing else.
    """

    form: ClassVar[str] = "anatomized"
    name: str
    schema: Schema
    domains: Mapping[str, Domain]
    slots: Mapping[str, Codes]
    slot_group: NDArray[np.int64]
    values: Mapping[str, Codes]
    value_group: NDArray[np.int64]
    recipe: Recipe
    n_suppressed: int = 0

    @property
    def n_rows(self) -> int:
        """Published and suppressed rows."""
        return len(self.slot_group) + self.n_suppressed
