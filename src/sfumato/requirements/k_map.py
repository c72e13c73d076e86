"""k-map: every published combination of quasi-identifiers fits at least k persons of a population."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import BeforeValidator, Field, WithJsonSchema

from sfumato.contracts import Requirement, Twin, Verdict
from sfumato.data.dataset import Dataset
from sfumato.declared import Exact, declared, exact, plain
from sfumato.errors import Incompatible
from sfumato.requirements.cell_sizes import Estimate, largest, needed
from sfumato.requirements.judging import Bools, verdict

if TYPE_CHECKING:
    from sfumato.data.evidence import Groups


@dataclass(frozen=True)
class Population:
    """Who the published rows are a sample of: a table, or how many persons (up to 1: which share is published).

    Called with what is published it gives the table, or None.
    """

    table: Dataset | None = None
    size: Fraction = Fraction(1)

    @classmethod
    def of(cls, given: Any) -> Population:
        """From what a user writes; a `ValueError` says what is wrong."""
        if isinstance(given, Population):
            return given
        if isinstance(given, Dataset):
            return cls(given)
        size = exact(given)
        if size <= 0 or (size > 1 and size.denominator != 1):
            raise ValueError("must be a table, a whole number of persons, or the published share of them (up to 1)")
        return cls(None, size)

    def __call__(self, dataset: Dataset) -> Dataset | None:
        return self.table

    def share(self, units: int) -> Fraction:
        """Which part of the population `units` published ones are."""
        if self.size <= 1:
            return self.size
        if units > self.size:
            raise Incompatible(
                f"KMap asks about a population of {self.size} persons, but {units} are published. "
                "Give the size of the population that they are a sample of."
            )
        return units / self.size


_WRITTEN = {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "number", "exclusiveMinimum": 0, "maximum": 1}]}
if TYPE_CHECKING:
    Given = Population
else:
    Given = Annotated[Any, BeforeValidator(Population.of), WithJsonSchema(_WRITTEN)]


@declared
class KMap(Requirement):
    """Every published combination of quasi-identifiers belongs to at least k persons of the population.

    With a table of the population (same quasi-identifiers) they are counted; published ones belong to it. With its
    size, or the published share of it (up to 1), a group needs as many units as an estimate at a significance says; a
    size is judged on whole tables, single groups pass with k units.
    Does not protect against somebody who knows who is in the sample, nor against homogeneous groups.
    Sweeney 2002; El Emam, Dankar 2008 (estimates D3 and D4).

    >>> KMap(5, population=0.01).least, KMap(5, population=0.5).least, KMap(5, population=1).least
    (3, 5, 5)
    """

    k: Annotated[int, Field(ge=1)]
    population: Given = field(kw_only=True)
    estimate: Estimate = field(default="poisson", kw_only=True)
    significance: Annotated[Exact, Field(gt=0, lt=1)] = field(default=Fraction(1, 100), kw_only=True)
    model: ClassVar[str] = "k-map"
    looser_up: ClassVar[tuple[str, ...]] = ("significance",)
    speaks_of_alike: ClassVar[bool] = True
    grows: ClassVar[bool] = True

    @property
    def reads(self) -> str:  # type: ignore[override]
        """Groups, with the population around them where it is a table."""
        return "groups" if self.population.table is None else "population"

    def passes(self, evidence: Groups) -> Bools:
        """Persons of the population around each group ≥ k; by estimate, units ≥ `needed`."""
        if self.population.table is None:
            return evidence.sizes >= self.least
        return (self._around(evidence) >= self.k) & (evidence.sizes > 0)

    def keeps(self, evidence: Groups) -> Bools:
        """Groups that pass; with a population's size, judged by how many units the evidence has in all."""
        return self.passes(evidence) if self.population.table is not None else evidence.sizes >= self._needed(evidence)

    def holds(self, evidence: Groups) -> Verdict:
        """Achieved k: the fewest persons around a group; by estimate, the largest k that the smallest group meets."""
        if evidence.n_groups == 0:
            return Verdict(True, {}, 0)
        if self.population.table is not None:
            fewest = int(self._around(evidence).min()) if evidence.sizes.all() else 0
            return verdict(self.passes(evidence), {"k": fewest})
        share, smallest = self.population.share(int(evidence.sizes.sum())), int(evidence.sizes.min())
        met = largest(smallest, share, self.estimate, self.significance)
        return verdict(evidence.sizes >= self._needed(evidence), {"k": met})

    def _needed(self, evidence: Groups) -> int:
        share = self.population.share(int(evidence.sizes.sum()))
        return needed(self.k, share, self.estimate, self.significance)

    def _around(self, evidence: Groups) -> np.ndarray[Any, np.dtype[np.int64]]:
        if self not in evidence.around:
            raise Incompatible("KMap needs the population counted around every group. Use the method Lattice.")
        return evidence.around[self]

    def parameters(self) -> Mapping[str, Any]:
        """k; and how it was estimated, where the population is not a table."""
        if self.population.table is not None:
            return {"k": self.k, "population": "table"}
        size = plain(self.population.size)
        estimate = {"estimate": self.estimate, "significance": plain(self.significance)}
        return {"k": self.k, "population": size, **estimate}

    @property
    def least(self) -> int:
        """One, where the population is a table; k, where only its size is known; else the estimate's."""
        if self.population.table is not None:
            return 1
        if self.population.size > 1:
            return self.k
        return needed(self.k, self.population.size, self.estimate, self.significance)

    def monotone(self, repeats: bool) -> bool:
        """A region's persons and units stay when it grows; a size of the sample that falls asks for no more."""
        return True

    def instead(self) -> str:
        """Groups of as many units, which is no statement about the population."""
        return f"KAnonymity({self.least})"

    def twin(self) -> Twin | None:
        """The size alone, where it decides."""
        if self.population.table is not None:
            return None
        from sfumato.kernels import twins

        return Twin(twins.size_at_least, (float(self.least),), None)

    def implies(self, other: Requirement) -> bool:
        """A smaller k, a larger significance, with the same population and estimate."""
        if not isinstance(other, KMap) or self.k < other.k or self.significance > other.significance:
            return False
        return self.population == other.population and self.estimate == other.estimate
