"""Independent blocks of rows over the same columns: additive facts add, probabilities of nothing multiply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.data.codec import Codes, Domain
from sfumato.outcomes import Extreme, RowMap, Sampled, Sense
from sfumato.worlds.caps import Steps, joined
from sfumato.worlds.containment import Demand, contains
from sfumato.worlds.part import Part, Primitive
from sfumato.worlds.sums import outward_total

if TYPE_CHECKING:
    from sfumato.chance import Chance

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Blocks:
    """Every world is one world of each part, put together; rows may belong to any part."""

    parts: tuple[Primitive, ...]

    @property
    def basis(self) -> str:
        """The basis of the parts."""
        return self.parts[0].basis

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns all parts have."""
        return self.parts[0].columns

    @property
    def domains(self) -> Mapping[str, Domain]:
        """The domains all parts share."""
        return self.parts[0].domains

    @property
    def n_types(self) -> int:
        """Row types and groups of all parts."""
        return sum(part.n_types for part in self.parts)

    @property
    def n_rows(self) -> int:
        """Rows of every world."""
        return sum(part.n_rows for part in self.parts)

    def certain(self, column: str) -> bool:
        """True when it is certain in every part."""
        return all(part.certain(column) for part in self.parts)

    def outcomes(self, rows: RowMap) -> BlocksOutcomes:
        """Answerable facts of a row map over all parts."""
        found = [part.outcomes(rows) for part in self.parts]
        return BlocksOutcomes(rows.n_keys, tuple(one.widened(rows.n_keys) for one in found))

    def sample(self, chance: Chance) -> Mapping[str, Codes]:
        """One world; rows in random order."""
        worlds = [part.sample(chance) for part in self.parts]
        order = chance.generator().permutation(self.n_rows)
        return {name: np.concatenate([world[name] for world in worlds])[order] for name in self.columns}

    def leaves(self, column: str) -> tuple[Ints, Ints]:
        """Kinds of rows of all parts."""
        found = [part.leaves(column) for part in self.parts]
        return np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found])

    def expected(self, rows: Mapping[str, Codes]) -> Floats:
        """Rows of all parts add."""
        total: Floats = np.sum([part.expected(rows) for part in self.parts], axis=0)
        return total

    def contains(self, codes: Mapping[str, Codes]) -> bool:
        """Can the rows be dealt out to the parts?"""
        return contains(self.demands(), self.columns, codes)

    def demands(self) -> tuple[Demand, ...]:
        """What the parts ask of the rows of a world."""
        return tuple(demand for part in self.parts for demand in part.demands())


@dataclass(frozen=True, eq=False)
class BlocksOutcomes(Part):
    """Facts of independent parts put together."""

    n_keys: int
    parts: tuple[Part, ...]

    def widened(self, n_keys: int) -> BlocksOutcomes:
        """The same over more keys."""
        return replace(self, n_keys=n_keys, parts=tuple(part.widened(n_keys) for part in self.parts))

    def moments(self, weights: Sequence[tuple[int, bool]]) -> tuple[Floats, Floats]:
        """Means and covariances add."""
        found = [part.moments(weights) for part in self.parts]
        mean: Floats = np.sum([one[0] for one in found], axis=0)
        covariance: Floats = np.sum([one[1] for one in found], axis=0)
        return mean, covariance

    def cross(self, weight: tuple[int, bool]) -> Floats:
        """Covariances add."""
        found: Floats = np.sum([part.cross(weight) for part in self.parts], axis=0)
        return found

    def extreme(self, j: int, slope: float, shift: Floats, sense: Sense) -> tuple[Extreme, bool]:
        """Optima add: each part reaches its own."""
        found = [part.extreme(j, slope, shift, sense) for part in self.parts]
        value = outward_total([one.value for one, _ in found], sense)
        count: Floats = np.sum([one.count for one, _ in found], axis=0)
        total: Floats = np.sum([one.sum for one, _ in found], axis=0)
        return Extreme(value, count, total), all(attained for _, attained in found)

    def log_cf(self, j: int, key: int, omega: Floats) -> tuple[Floats, Floats] | None:
        """Characteristic functions multiply."""
        log, angle = np.zeros(len(omega)), np.zeros(len(omega))
        for part in self.parts:
            found = part.log_cf(j, key, omega)
            if found is None:
                return None
            log, angle = log + found[0], angle + found[1]
        return log, angle

    def spread(self, j: int, key: int) -> float:
        """Variances of independent 0/1 terms add."""
        return sum(part.spread(j, key) for part in self.parts)

    def lone(self, j: int) -> bool:
        """When it is so in every part: the others count nothing."""
        return all(part.lone(j) for part in self.parts)

    def generating(self, j: int, key: int, t: Floats) -> tuple[Floats, Floats] | None:
        """Generating functions multiply, so their logarithmic pieces add."""
        log, ratio = np.zeros(len(t)), np.zeros(len(t))
        for part in self.parts:
            found = part.generating(j, key, t)
            if found is None:
                return None
            log, ratio = log + found[0], ratio + found[1]
        return log, ratio

    def log_absent(self, j: int) -> Floats | None:
        """Probabilities of nothing multiply."""
        total = np.zeros(self.n_keys)
        for part in self.parts:
            found = part.log_absent(j)
            if found is None:
                return None
            total = total + found
        return total

    def steps(self, j: int, sense: Sense) -> Steps:
        """Pieces side by side."""
        return joined([part.steps(j, sense) for part in self.parts])

    def sample(self, n_worlds: int, chance: Chance) -> Sampled:
        """Sums add; least and most are the least and most of the parts."""
        found = [part.sample(n_worlds, chance) for part in self.parts]
        total = found[0]
        for one in found[1:]:
            total = Sampled(
                rows=total.rows + one.rows,
                count=total.count + one.count,
                sum=total.sum + one.sum,
                minimum=np.fmin(total.minimum, one.minimum),
                maximum=np.fmax(total.maximum, one.maximum),
            )
        return total
