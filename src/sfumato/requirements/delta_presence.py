"""δ-presence: in every published region, between two shares of the population's persons are in the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, WithJsonSchema

from sfumato.contracts import Requirement, Verdict
from sfumato.data.dataset import Dataset
from sfumato.declared import Exact, declared, plain
from sfumato.errors import Incompatible, ParameterError
from sfumato.requirements.judging import Bools, at_most, down, greatest_ratio, up, verdict

if TYPE_CHECKING:
    from sfumato.data.evidence import Groups


@dataclass(frozen=True)
class Subset:
    """Which rows of a population are published: a boolean column, one mark a row, or row numbers from 0."""

    column: str | None = None
    marks: bytes = field(default=b"", repr=False)
    numbers: bytes = field(default=b"", repr=False)

    @classmethod
    def of(cls, given: Any) -> Subset:
        """From what a user writes; a `ValueError` says what is wrong."""
        if isinstance(given, Subset):
            return given
        if isinstance(given, str):
            return cls(given)
        rows = np.asarray(given)
        if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "biu":
            raise ValueError("must be the name of a boolean column, one true or false a row, or row numbers from 0")
        if rows.dtype.kind == "b":
            return cls(marks=rows.tobytes())
        return cls(numbers=np.unique(rows.astype(np.int64)).tobytes())

    def mask(self, dataset: Dataset) -> Bools:
        """Rows of this population that are published, shape (n,)."""
        if self.column is not None:
            return _marked(dataset, self.column)
        if self.marks:
            mask = np.frombuffer(self.marks, dtype=np.bool_)
            if len(mask) != dataset.n_rows:
                raise ParameterError(f"DeltaPresence: subset has {len(mask)} marks, the table {dataset.n_rows} rows.")
            return mask.copy()
        numbers: NDArray[np.int64] = np.frombuffer(self.numbers, dtype=np.int64)
        if numbers[0] < 0 or numbers[-1] >= dataset.n_rows:
            raise ParameterError(f"DeltaPresence: subset needs row numbers from 0 to {dataset.n_rows - 1}.")
        mask = np.zeros(dataset.n_rows, dtype=np.bool_)
        mask[numbers] = True
        return mask


def _marked(dataset: Dataset, column: str) -> Bools:
    if dataset.schema[column].kind != "boolean":
        raise Incompatible(
            f"DeltaPresence reads who is published from column {column!r}, whose kind is "
            f"{dataset.schema[column].kind}. Give a column of true and false, or row numbers."
        )
    values = dataset.domains[column].decode(dataset.codes[column])
    if values.null_count:
        raise Incompatible(
            f"DeltaPresence reads who is published from column {column!r}, which is missing in {values.null_count} "
            "rows. Make them true or false."
        )
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.bool_)


_WRITTEN = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": ["boolean", "integer"]}}]}
if TYPE_CHECKING:
    Given = Subset
else:
    Given = Annotated[Any, BeforeValidator(Subset.of), WithJsonSchema(_WRITTEN)]


@declared
class DeltaPresence(Requirement):
    """low ≤ published units / population's units ≤ high in every published region.

    The table that is read is the population; `subset` says which of its rows are published.
    `low` does not cover regions of the population without a published row: who is in one of those is surely not in the
    published table. Nor does it protect against re-identification of who is known to be in it.
    Nergiz, Atzori, Clifton 2007, definition 3.1; compared as whole numbers.

    >>> DeltaPresence(0, 0.5, subset=[True, False, False]).parameters()
    {'low': 0, 'high': 0.5}
    """

    low: Annotated[Exact, Field(ge=0, le=1)]
    high: Annotated[Exact, Field(gt=0, le=1)]
    subset: Given = field(kw_only=True)
    model: ClassVar[str] = "delta-presence"
    reads: ClassVar[str] = "population"
    looser_up: ClassVar[tuple[str, ...]] = ("high",)
    speaks_of_alike: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ParameterError("DeltaPresence: low is above high. Give the smaller share first.")

    def passes(self, evidence: Groups) -> Bools:
        """low · around ≤ size and size ≤ high · around, as whole numbers."""
        sizes, around = evidence.sizes, self._around(evidence)
        enough = at_most(around, self.low.numerator, sizes, self.low.denominator)
        return enough & at_most(sizes, self.high.denominator, around, self.high.numerator) & (sizes > 0)

    def holds(self, evidence: Groups) -> Verdict:
        """Achieved: the smallest share, rounded down, and the largest, rounded up."""
        passed = self.passes(evidence)
        if not (evidence.n_groups and evidence.sizes.all()):
            return verdict(passed, {"low": 0.0, "high": 1.0})
        sizes, around = evidence.sizes, self._around(evidence)
        low, high = 1 / greatest_ratio(around, sizes), greatest_ratio(sizes, around)
        return verdict(passed, {"low": down(low), "high": up(high)})

    def _around(self, evidence: Groups) -> NDArray[np.int64]:
        if self not in evidence.around:
            raise Incompatible("DeltaPresence needs the population counted around every group. Use the method Lattice.")
        return evidence.around[self]

    def chosen(self, dataset: Dataset) -> Bools:
        """The rows of the subset."""
        return self.subset.mask(dataset)

    def population(self, dataset: Dataset) -> Dataset:
        """The whole table that is read."""
        return dataset

    def parameters(self) -> Mapping[str, Any]:
        """Both shares; who is in the table is no parameter that is published."""
        return {"low": plain(self.low), "high": plain(self.high)}

    @property
    def least(self) -> int:
        """One."""
        return 1

    def instead(self) -> str:
        """Nothing: quasi-identifiers published as they are tell who is in the table."""
        return "nothing of it"

    def implies(self, other: Requirement) -> bool:
        """A wider range of shares of the same subset."""
        if not isinstance(other, DeltaPresence) or self.subset != other.subset:
            return False
        return self.low >= other.low and self.high <= other.high
