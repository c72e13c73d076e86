"""Population uniqueness: an estimate of how many persons of a population are unique there is small."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AliasChoices, Field

from sfumato.contracts import Requirement, Verdict
from sfumato.declared import Exact, declared, exact, plain
from sfumato.errors import Incompatible, ParameterError
from sfumato.requirements.judging import Bools
from sfumato.requirements.smallest_first import fewest, without_first
from sfumato.requirements.uniques import ESTIMATORS, Histogram

if TYPE_CHECKING:
    from sfumato.data.evidence import Groups
    from sfumato.requirements.judging import Ints

# Beyond the error of the estimators, whose equations are solved in floats.
_SLACK = 1 + 1e-9


@declared
class PopulationUniqueness(Requirement):
    """The estimated share of a population that is unique in it is at most the threshold.

    `population_size` up to 1 is the share of the population that is published, above 1 its number of persons. Without
    unique units the estimate is 0; an estimate without a solution is not met. Figures are of published units.
    Does not protect where the sample is not drawn evenly from that population, nor units in small groups (add
    k-anonymity), nor against groups that share a sensitive value.
    `model=` is another word for `estimate=`; the estimators are in `sfumato.requirements.uniques`.
    Dankar, El Emam, Neisa, Roffey 2012.

    >>> PopulationUniqueness(0.01, population_size=0.1).parameters()
    {'threshold': 0.01, 'estimate': 'dankar', 'population_size': 0.1}
    """

    threshold: Annotated[Exact, Field(ge=0, le=1)]
    estimate: Annotated[
        Literal["dankar", "pitman", "zayatz", "snb"], Field(validation_alias=AliasChoices("estimate", "model"))
    ] = field(default="dankar", kw_only=True)
    population_size: Annotated[Exact, Field(gt=0)] = field(kw_only=True)
    model: ClassVar[str] = "population-uniqueness"
    looser_up: ClassVar[tuple[str, ...]] = ("threshold",)
    speaks_of_alike: ClassVar[bool] = True
    grows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.population_size > 1 and self.population_size.denominator != 1:
            raise ParameterError(
                "PopulationUniqueness: population_size above 1 is a number of persons, which is whole; up to 1 it is "
                "the share of the population that is published."
            )

    def passes(self, evidence: Groups) -> Bools:
        """|g| ≥ 2: without unique units the estimate is 0."""
        return evidence.sizes >= self.least

    def holds(self, evidence: Groups) -> Verdict:
        """Achieved: the estimate, rounded up."""
        if evidence.n_groups == 0:
            return Verdict(True, {}, 0)
        found = self._share(evidence.sizes) if evidence.sizes.all() else 1.0
        holds = bool(evidence.sizes.all()) and exact(found) <= self.threshold
        return Verdict(holds, {"threshold": found}, 0 if holds else int((~self.keeps(evidence)).sum()))

    def keeps(self, evidence: Groups) -> Bools:
        """All but as many unique units as must go, those in groups with lower numbers first.

        Found by bisection, as the estimate falls with every unique unit that goes but for few units.
        """
        sizes = evidence.sizes
        ordered, n_none, n_unique = np.sort(sizes), int((sizes == 0).sum()), int((sizes == 1).sum())

        def met(n: int) -> bool:
            return exact(self._share(ordered[n_none + n :])) <= self.threshold

        return without_first(sizes, n_none + fewest(n_unique, met))

    def _share(self, sizes: Ints) -> float:
        """The estimate against us; 1 where there is none."""
        if not (sizes == 1).any():
            return 0.0
        sample = Histogram.of(sizes)
        share = float(ESTIMATORS[self.estimate](sample, self._population(sample.n_units)))
        return min(share * _SLACK, 1.0) if share > 0 else 1.0

    def _population(self, units: int) -> int:
        if self.population_size <= 1:
            return math.floor(units / self.population_size + Fraction(1, 2))
        if units > self.population_size:
            raise Incompatible(
                f"PopulationUniqueness asks about a population of {self.population_size} persons, but {units} are "
                "published. Give the size of the population that they are a sample of."
            )
        return int(self.population_size)

    def parameters(self) -> Mapping[str, Any]:
        """The threshold, the estimator, the population."""
        return {
            "threshold": plain(self.threshold),
            "estimate": self.estimate,
            "population_size": plain(self.population_size),
        }

    @property
    def least(self) -> int:
        """Two, for a group on its own; one where all may be unique."""
        return 2 if self.threshold < 1 else 1

    def monotone(self, repeats: bool) -> bool:
        """No: groups of more than one unit that merge can raise the estimate."""
        return False

    def instead(self) -> str:
        """Groups of two, which imply it where rows look alike."""
        return "KAnonymity(2)"

    def implies(self, other: Requirement) -> bool:
        """A larger threshold with the same estimator and population."""
        if not isinstance(other, PopulationUniqueness) or self.threshold > other.threshold:
            return False
        return self.estimate == other.estimate and self.population_size == other.population_size
