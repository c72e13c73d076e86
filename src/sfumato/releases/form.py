"""What every release form knows beside the contract: its tables, and the way back from them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.contracts import Recipe, Release
from sfumato.data.codec import Codes, Domain
from sfumato.data.schema import Schema

if TYPE_CHECKING:
    from typing import Self

    import pyarrow as pa

    from sfumato.contracts import Worlds
    from sfumato.worlds.part import Primitive


@dataclass(frozen=True, eq=False)
class Frame:
    """What a package says of a release beside its cells; exact columns get their domains from the cells."""

    name: str
    schema: Schema
    domains: Mapping[str, Domain]
    recipe: Recipe
    n_suppressed: int


class Form(Release):
    """A release form with its tables. `regions` names the columns published as regions, the others are exact."""

    n_suppressed: int

    @property
    @abstractmethod
    def regions(self) -> tuple[str, ...]:
        """Columns whose cells are published as regions."""

    @abstractmethod
    def published(self) -> Self:
        """The same release with every domain cut to what its cells use: what an analyst gets."""

    @abstractmethod
    def sensitive_rows(self) -> tuple[NDArray[np.int64], Mapping[str, Codes]]:
        """Row by row: the group as the published cells show it, and the codes of the sensitive columns."""

    @abstractmethod
    def without(self, column: str) -> Self:
        """The same release without one sensitive column."""

    @abstractmethod
    def tables(self) -> Mapping[str, pa.Table]:
        """The published rows as written, by the name of their file in `data/`."""

    @classmethod
    @abstractmethod
    def from_tables(cls, frame: Frame, tables: Mapping[str, pa.Table]) -> Self:
        """The release behind written tables."""

    @classmethod
    @abstractmethod
    def table_names(cls) -> tuple[str, ...]:
        """Names of the files in `data/`."""

    @classmethod
    @abstractmethod
    def views(cls, frame: Frame) -> str:
        """SQL for DuckDB: views and macros that give hard bounds without this package."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.n_rows} rows; {', '.join(c.name for c in self.schema)}>"

    @property
    def frame(self) -> Frame:
        """What the package says beside the cells."""
        return Frame(self.name, self.schema, self.domains, self.recipe, self.n_suppressed)


def suppressed_block(columns: tuple[str, ...], domains: Mapping[str, Domain], n: int) -> Primitive:
    """Rows known to exist and nothing else: every cell anything, beyond the list where the list came from data."""
    from sfumato.worlds.alternatives import Alternatives

    low: dict[str, Codes] = {c: np.zeros(1, dtype=np.int32) for c in columns}
    high: dict[str, Codes] = {c: np.full(1, max(domains[c].size - 1, 0), dtype=np.int32) for c in columns}
    unknown = frozenset(c for c in columns if not domains[c].complete)
    return Alternatives(columns, domains, low, high, np.array([n], dtype=np.int64), unknown=unknown)


def with_suppressed(parts: Sequence[Primitive], n: int) -> Worlds:
    """The worlds of the published rows, in one part or several, and of n suppressed ones."""
    from sfumato.worlds.blocks import Blocks

    more = (suppressed_block(parts[0].columns, parts[0].domains, n),) if n else ()
    return parts[0] if len(parts) == 1 and not more else Blocks((*parts, *more))
