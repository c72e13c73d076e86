"""What every hierarchy promises: given a raw column, the domain its cells are published on and a lookup table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data.codec import Codes, Domain, Level
from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from typing import Self

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Source:
    """A raw column as a hierarchy sees it.

    `below[i]`, `above[i]`: distinct units with a value at or below, at or above the i-th raw value; shape
    (n_values,). `least`: units that must lie at or beyond an automatic end; 0 asks for exact, closed ends.
    """

    name: str
    domain: Domain
    below: Ints
    above: Ints
    least: int


@dataclass(frozen=True, eq=False)
class Placed:
    """A column on its declared domain: `table[raw code]` is the new code, shape (raw size,)."""

    domain: Domain
    table: Codes
    notes: tuple[str, ...] = ()


class Hierarchy(ABC):
    """A declared, frozen way to make the values of one column coarser.

    Every node of every level is a contiguous run of leaves; the missing value is a node of its own on each level.
    """

    keyword: ClassVar[str]
    """Its key in sfumato.toml: `hierarchy = { intervals = [5, 10] }`."""

    @abstractmethod
    def place(self, source: Source) -> Placed:
        """The domain and lookup table for this column, or a typed error that says what does not fit."""

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """The JSON-ready form that `from_spec` reads back."""

    @classmethod
    @abstractmethod
    def of(cls, value: Any, **rest: Any) -> Self:
        """From the value of its keyword in a spec and the keys beside it."""


def with_missing(domain: Domain, table: Codes, raw: Domain) -> tuple[Domain, Codes]:
    """Append the missing value as last code and as a node of its own on every level, when the raw column has it."""
    if not raw.missing:
        return domain, table
    levels = tuple(
        Level(np.append(level.node, np.int32(len(level.labels))), (*level.labels, "missing")) for level in domain.levels
    )
    cell = domain.cell
    if cell is not None:
        cell = np.append(cell, np.int32(cell[-1] + 1 if len(cell) else 0))
    placed = replace(domain, missing=True, levels=levels, cell=cell)
    return placed, np.append(table, np.int32(domain.n_values))


def only(rest: Mapping[str, Any], keyword: str, *known: str) -> dict[str, Any]:
    """The keys beside a spec's keyword, all of them known."""
    unknown = sorted(set(rest) - set(known))
    if unknown:
        allowed = f"beside {keyword!r} it takes {', '.join(known)}" if known else f"{keyword!r} stands alone"
        raise ParameterError(f"A hierarchy has the unknown key {', '.join(map(repr, unknown))}; {allowed}.")
    return dict(rest)
