"""What every metric promises: a score of each node of a lattice, and what no coarser node can score below."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.declared import plain
from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset
    from sfumato.methods.fulldomain.cuts import Cut
    from sfumato.methods.fulldomain.space import Space

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Score = float | tuple[float, ...]
"""Smaller is better; a tuple is compared from its first number on."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What a metric is measured on: the lattice, the dataset behind it, the weight of every column, at most 1, and the
    share of rows that may be suppressed."""

    space: Space
    dataset: Dataset = field(repr=False)
    weights: Floats
    share: float = 1.0

    @classmethod
    def of(cls, space: Space, dataset: Dataset, weights: Mapping[str, float], share: float = 1.0) -> Setting:
        """Weights divided by the largest; all are 1 when none is given, and 0.5 is that of a column not named."""
        return cls(space, dataset, weights_of(space.columns, weights), share)

    def per_level(self, figure: Any) -> list[Floats]:
        """A figure of every column and level, `figure(column, level)`, as one array a column."""
        return [
            np.array([figure(j, level) for level in range(height + 1)], dtype=np.float64)
            for j, height in enumerate(self.space.heights)
        ]


class Scorer(ABC):
    """A metric at work on one lattice. `follows`: it needs the way from groups back to tuples."""

    follows: ClassVar[bool] = False

    @abstractmethod
    def score(self, cut: Cut) -> Score:
        """The score of an evaluated node."""

    def fingerprint(self) -> list[NDArray[Any]]:
        """Arrays that decide scores, beside the lattice and its tuples."""
        return []

    def bounds(self, levels: NDArray[Any]) -> Floats | None:
        """What a node and all coarser ones score at least, from its levels alone, (N, d) → (N,); None: not known."""
        return None

    def floor(self, cut: Cut) -> float:
        """What an evaluated node and all coarser ones score at least."""
        return -np.inf


class Metric(ABC):
    """A declared measure of loss: frozen parameters, and a scorer for every lattice it is used on."""

    metric: ClassVar[str]

    @abstractmethod
    def scorer(self, setting: Setting) -> Scorer:
        """The scorer on a lattice."""

    def parameters(self) -> dict[str, Any]:
        """Public parameters, JSON-ready."""
        return {one.name: plain(getattr(self, one.name)) for one in fields(self)}  # type: ignore[arg-type]


def weights_of(columns: Sequence[str], given: Mapping[str, float]) -> Floats:
    """Weights of columns, divided by the largest: 0.5 for a column not named, 1 for all when every weight is 0.

    >>> weights_of(["age", "sex"], {"age": 1.0}).tolist(), weights_of(["age", "sex"], {}).tolist()
    ([1.0, 0.5], [1.0, 1.0])
    """
    unknown = [name for name in given if name not in columns]
    if unknown:
        raise ParameterError(f"weights: {', '.join(unknown)} is no quasi-identifier.")
    found = np.array([float(given.get(name, 0.5)) for name in columns])
    if (found < 0).any() or not np.isfinite(found).all():
        raise ParameterError("weights: every weight must be a number from 0 up.")
    most = found.max(initial=0.0)
    return found / most if most else np.ones(len(found))


def factors(gs_factor: float) -> tuple[float, float]:
    """How much generalization and how much suppression count: 1 each at 0.5; below, suppression less; above,
    generalization less.

    >>> factors(0.5), factors(0.25), factors(1.0)
    ((1.0, 1.0), (1.0, 0.5), (0.0, 1.0))
    """
    suppression = 2.0 * gs_factor if gs_factor < 0.5 else 1.0
    generalization = 1.0 if gs_factor <= 0.5 else 1.0 - 2.0 * (gs_factor - 0.5)
    return generalization, suppression


def dot(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Σ one·other, without the threads that a matrix product would wake for so little."""
    return float(np.einsum("i,i->", one, other))
