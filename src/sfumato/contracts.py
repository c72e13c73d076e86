"""The promises every variant keeps. Read this first.

A release is what we publish, together with the set of original tables it could have come from. A `Method` makes a
`Release` from a `Dataset`; a `Requirement` is a bound on a fact over the release's `Worlds`, judged on evidence; a
query is a `RowMap` handed to `Worlds.outcomes`, which gives estimates, hard bounds, laws and samples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from sfumato.outcomes import Bounds, Caps, Extreme, Factor, Law, Measure, Outcome, Outcomes, RowMap, Sampled, Sense

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from sfumato.chance import Chance
    from sfumato.data.codec import Codes, Domain
    from sfumato.data.dataset import Dataset
    from sfumato.data.evidence import Groups
    from sfumato.data.schema import Schema

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

__all__ = [
    "Both", "Bounds", "Caps", "Extreme", "Factor", "Finding", "Law", "Measure", "Method", "Outcome", "Outcomes",
    "Promise", "Recipe", "Release", "Requirement", "RowMap", "Sampled", "Sense", "Twin", "Verdict", "Worlds",
]  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """Whether evidence suffices, what was achieved (same keys as the parameters), and how many groups fail."""

    holds: bool
    achieved: Mapping[str, float]
    n_failing: int = 0


@dataclass(frozen=True)
class Twin:
    """A requirement's test for kernels: `test(codes, parameters, table) -> bool` on one group's sorted codes.

    `test` is a Numba `cfunc` of signature `boolean(uint16[::1], float64[::1], float64[::1])`; `column` names the
    sensitive column whose sorted codes it reads (None: any column, only the size matters).
    """

    test: Any
    parameters: tuple[float, ...]
    column: str | None
    table: Callable[[Ints], Floats] | None = None
    """Makes the lookup table from the column's value counts over the whole table (t-closeness); None: empty."""


class Requirement(ABC):
    """A privacy model with its parameters: a frozen value that says which evidence suffices.

    `least`: no smaller group can pass. `looser_up`: parameters of which a larger value asks for less.
    `speaks_of_alike`: the model says that rows look alike on the quasi-identifiers; `of_groups` is the name of what
    remains of it where only groups are published whose rows do not ("" = nothing: see `instead`). `grows`: a group
    that passes still does with any more rows. `reads`: "groups", or "population" for groups with `Groups.around`.
    """

    model: ClassVar[str]
    reads: ClassVar[str] = "groups"
    looser_up: ClassVar[tuple[str, ...]] = ()
    speaks_of_alike: ClassVar[bool] = False
    of_groups: ClassVar[str] = ""
    grows: ClassVar[bool] = False

    @abstractmethod
    def holds(self, evidence: Groups) -> Verdict:
        """Judge the evidence; accepting comparisons are rounded against us."""

    @abstractmethod
    def passes(self, evidence: Groups) -> Bools:
        """Which groups meet it each on its own, shape (G,): when all do, it holds."""

    def keeps(self, evidence: Groups) -> Bools:
        """Which groups may stay so that they together meet it, (G,): of the whole table as many rows as can."""
        return self.passes(evidence)

    def chosen(self, dataset: Dataset) -> Bools | None:
        """Rows that are published, when the dataset is the population they come from, shape (n,); None: all."""
        return None

    def population(self, dataset: Dataset) -> Dataset | None:
        """The table whose units are counted around every group (`Groups.around[self]`); None: not needed."""
        return None

    @abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """Public parameters, JSON-ready, as written into guarantees.json (without `on`)."""

    @property
    @abstractmethod
    def least(self) -> int:
        """Smallest number of units in a group that could pass."""

    def least_in(self, totals: Mapping[str, Ints], domains: Mapping[str, Domain]) -> int:
        """The same in a table with these units per value: at least `least`."""
        return self.least

    @property
    def columns(self) -> tuple[str, ...]:
        """Sensitive columns it reads."""
        on = getattr(self, "on", None)
        return () if on is None else (on,)

    def monotone(self, repeats: bool) -> bool:
        """Does merging two groups that pass give one that passes? `repeats`: a unit may have rows in both, and counts
        once in the merged one, so that shares of units can rise."""
        return not repeats

    def instead(self) -> str:
        """What to ask of groups whose rows do not look alike, when nothing of this model remains for them."""
        return ""

    def twin(self) -> Twin | None:
        """The compiled test, when there is one."""
        return None

    def nearest(self, table: Groups) -> Mapping[str, float]:
        """Closest feasible parameters when even the whole table as one group (`table`) fails; empty if none."""
        return dict(self.holds(table).achieved)

    def implies(self, other: Requirement) -> bool:
        """True only if every group that passes `self` must pass `other` (same model, looser parameters)."""
        return self == other

    def __and__(self, other: Requirement | Both) -> Both:
        return Both((self,)) & other


@dataclass(frozen=True)
class Both:
    """Several requirements that must all hold: `KAnonymity(5) & LDiversity(2, on="diagnosis")`."""

    parts: tuple[Requirement, ...]

    def __and__(self, other: Requirement | Both) -> Both:
        return Both(self.parts + (other.parts if isinstance(other, Both) else (other,)))


class Method(ABC):
    """An algorithm with its parameters. `coarsens`: it publishes regions of quasi-identifiers, not their values."""

    name: ClassVar[str]
    coarsens: ClassVar[bool] = True

    @property
    def suppresses(self) -> bool:
        """May it leave rows out? Then a whole table that fails is no proof that nothing can be published."""
        return False

    @abstractmethod
    def accepts(self, dataset: Dataset, requirements: Sequence[Requirement]) -> None:
        """Raise `Incompatible` now, not after an hour, when this method cannot serve them."""

    @abstractmethod
    def publish(self, dataset: Dataset, requirements: Sequence[Requirement], chance: Chance) -> Release:
        """Make a release that meets every requirement, or raise `Infeasible` with the nearest feasible."""

    @abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """Public parameters, JSON-ready, as written into provenance.json."""


@dataclass(frozen=True)
class Promise:
    """One guarantee of a release: the model, its parameters, the sensitive column, what was achieved."""

    model: str
    parameters: Mapping[str, Any]
    on: str | None
    achieved: Mapping[str, float]


@dataclass(frozen=True)
class Recipe:
    """How a release was made, with nothing that depends on hidden randomness or the raw file."""

    method: str
    parameters: Mapping[str, Any]
    promises: tuple[Promise, ...] = ()
    unit: str = "row"
    reproducible: bool = False
    notes: tuple[str, ...] = ()
    title: str | None = None
    license: str | None = None


class Release(ABC):
    """Published parts + recipe + `worlds()`; readable without the original.

    `schema` and `domains` speak of published columns only. Two forms with equal parts publish equal bytes.
    """

    form: ClassVar[str]
    name: str
    schema: Schema
    domains: Mapping[str, Domain]
    recipe: Recipe

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Rows of every original this release allows, suppressed ones counted."""

    @abstractmethod
    def worlds(self) -> Worlds:
        """The originals it allows."""

    @abstractmethod
    def evidence(self) -> Groups | None:
        """Evidence as the published cells show it; None when rows are not persons (a `unit` column was used)."""

    @abstractmethod
    def with_recipe(self, recipe: Recipe) -> Release:
        """The same parts under another recipe."""

    @abstractmethod
    def groups(self) -> pa.Table:
        """The published groups: id, size, label and ends of every uncertain column."""


class Worlds(Protocol):
    """The originals a release allows, as independent blocks of primitives."""

    @property
    def basis(self) -> str:
        """possible | uniform prior | learned prior | noise."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of every world, in order."""
        ...

    @property
    def domains(self) -> Mapping[str, Domain]:
        """What the cells of each column may hold."""
        ...

    @property
    def n_rows(self) -> int:
        """Rows of every world."""
        ...

    @property
    def n_types(self) -> int:
        """How many kinds of rows, or groups of rows, facts are computed on."""
        ...

    def certain(self, column: str) -> bool:
        """True when the column has one possible value in every row and no bijection moves it."""
        ...

    def outcomes(self, rows: RowMap) -> Outcomes:
        """Answerable facts of a row map."""
        ...

    def leaves(self, column: str) -> tuple[Ints, Ints]:
        """Kinds of rows as (leaves the cell of `column` may hold, number of such rows); shapes (T,)."""
        ...

    def expected(self, rows: Mapping[str, Codes]) -> Floats:
        """Expected number of rows equal to rows[i], by the listed leaves; shape (N,)."""
        ...

    def sample(self, chance: Chance) -> Mapping[str, Codes]:
        """One world: codes of every column, rows in no meaningful order."""
        ...

    def contains(self, codes: Mapping[str, Codes]) -> bool:
        """Is this table, as a multiset of rows over `columns`, one of the worlds?"""
        ...


@dataclass(frozen=True)
class Finding:
    """One thing the verifier looked at: what was asked, whether it holds, figures without cell values.

    Not `decided`: what was given neither shows nor refutes it; then `holds` only says that nothing contradicts it.
    """

    check: str
    holds: bool
    detail: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    decided: bool = True
