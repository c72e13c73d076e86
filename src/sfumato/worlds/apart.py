"""Each argument's facts from a row map of its own, so that what one leaves undecided does not widen the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sfumato.outcomes import Extreme, Sampled, Sense
from sfumato.worlds.caps import Steps
from sfumato.worlds.part import Floats, Part

if TYPE_CHECKING:
    from sfumato.chance import Chance


@dataclass(frozen=True, eq=False)
class Apart(Part):
    """Outcomes of one row map, `whole`, and of the same rows with one argument each: `alone[j]` knows it as argument 0.

    A row's outcome is undecided as soon as one of its arguments is; with an argument for itself only that one counts.
    Facts of several arguments at once, and sampled worlds, come from `whole`.
    """

    n_keys: int
    whole: Part
    alone: Mapping[int, Part]

    def _of(self, j: int) -> tuple[Part, int]:
        return (self.alone[j], min(j, 0)) if j in self.alone else (self.whole, j)

    def widened(self, n_keys: int) -> Apart:
        """The same over more keys."""
        alone = {j: part.widened(n_keys) for j, part in self.alone.items()}
        return replace(self, n_keys=n_keys, whole=self.whole.widened(n_keys), alone=alone)

    def moments(self, weights: Sequence[tuple[int, bool]]) -> tuple[Floats, Floats]:
        """Of one argument from its own row map, of several from the whole."""
        arguments = {j for j, _ in weights}
        if len(arguments) > 1:
            return self.whole.moments(weights)
        part, place = self._of(arguments.pop())
        return part.moments([(place, summed) for _, summed in weights])

    def cross(self, weight: tuple[int, bool]) -> Floats:
        """Covariance across keys."""
        part, place = self._of(weight[0])
        return part.cross((place, weight[1]))

    def extreme(self, j: int, slope: float, shift: Floats, sense: Sense) -> tuple[Extreme, bool]:
        """Optimum over worlds."""
        part, place = self._of(j)
        return part.extreme(place, slope, shift, sense)

    def log_cf(self, j: int, key: int, omega: Floats) -> tuple[Floats, Floats] | None:
        """Characteristic function of a count."""
        part, place = self._of(j)
        return part.log_cf(place, key, omega)

    def lone(self, j: int) -> bool:
        """Of the argument's own row map."""
        part, place = self._of(j)
        return part.lone(place)

    def spread(self, j: int, key: int) -> float:
        """Variance of the independent part of a count."""
        part, place = self._of(j)
        return part.spread(place, key)

    def generating(self, j: int, key: int, t: Floats) -> tuple[Floats, Floats] | None:
        """Generating function of count and sum."""
        part, place = self._of(j)
        return part.generating(place, key, t)

    def log_absent(self, j: int) -> Floats | None:
        """log P(nothing is counted)."""
        part, place = self._of(j)
        return part.log_absent(place)

    def steps(self, j: int, sense: Sense) -> Steps:
        """Pieces of `caps`."""
        part, place = self._of(j)
        return part.steps(place, sense)

    def sample(self, n_worlds: int, chance: Chance) -> Sampled:
        """All aggregates in the same sampled worlds."""
        return self.whole.sample(n_worlds, chance)
