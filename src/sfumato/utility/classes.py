"""Rows that look alike on the quasi-identifiers: in a raw table by values, in a release by published cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.data.codec import ROOT, Codes, Domain, encode_into
from sfumato.data.dataset import Dataset
from sfumato.data.evidence import group_evidence
from sfumato.errors import ParameterError
from sfumato.releases.distinct import distinct_rows
from sfumato.releases.read_cells import column_of
from sfumato.releases.regions import codes_of_ends, end_names

if TYPE_CHECKING:
    from sfumato.releases.form import Form

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Classes:
    """Equivalence classes of the published rows; arrays of shape (J,), one entry a class.

    `cells[c]`: dense id of the class's cell in column c; `low[c]`, `high[c]`: the cell's ends on `domains[c]`, and
    `anything[c]`: cells that stand for every value. `rows`: rows; `persons`: distinct units, at least so many when
    not `exact`; `n_persons`: in all, at most so many when not `exact`. `lowest`, `highest`:
    smallest and largest unit, None when every row is a person of its own.
    """

    columns: tuple[str, ...]
    domains: Mapping[str, Domain]
    low: Mapping[str, Codes]
    high: Mapping[str, Codes]
    cells: Mapping[str, Ints]
    anything: Mapping[str, NDArray[np.bool_]]
    rows: Ints
    persons: Ints
    n_persons: int
    lowest: Ints | None = None
    highest: Ints | None = None
    n_suppressed: int = 0
    exact: bool = True
    notes: tuple[str, ...] = ()

    @property
    def records(self) -> Ints:
        """What shares are shares of, (J,): a person's rows that look alike are one record where persons are known."""
        return self.persons if self.exact else self.rows


def classes_of_dataset(dataset: Dataset, columns: Sequence[str]) -> Classes:
    """Classes of equal values, missing as a value; persons are distinct units."""
    codes = {name: dataset.codes[name] for name in columns}
    found = distinct_rows(list(codes.values()), dataset.n_rows)
    cells = {name: column[found.first] for name, column in codes.items()}
    units, n = dataset.units, len(found.n)
    notes: tuple[str, ...] = ()
    lowest = highest = None
    if units is not None:
        lowest, highest = np.full(n, np.iinfo(np.int64).max), np.full(n, -1, dtype=np.int64)
        np.minimum.at(lowest, found.of, units.astype(np.int64))
        np.maximum.at(highest, found.of, units.astype(np.int64))
        notes = (
            f"Persons are counted by {dataset.schema.names('unit')[0]!r}: rows of one person that look alike are one "
            "record, rows that differ are several. Whoever knows which rows are one person's knows more.",
        )
    return Classes(
        columns=tuple(columns),
        domains={name: dataset.domains[name] for name in columns},
        low=cells,
        high=cells,
        cells={name: cell.astype(np.int64) for name, cell in cells.items()},
        anything={name: np.zeros(n, dtype=np.bool_) for name in columns},
        rows=found.n,
        persons=group_evidence(found.of, n, {}, {}, units).sizes,
        n_persons=dataset.n_rows if units is None else len(np.unique(units)),
        lowest=lowest,
        highest=highest,
        notes=notes,
    )


def classes_of_release(release: Form, columns: Sequence[str]) -> Classes:
    """Classes of rows whose published cells are equal; suppressed rows are in none of them."""
    low, high, domains, n = _published_cells(release, columns)
    found = distinct_rows([end[name] for name in columns for end in (low, high)], n)
    low = {name: low[name][found.first] for name in columns}
    high = {name: high[name][found.first] for name in columns}
    exact = release.recipe.unit == "row"
    # What is promised of rows that look alike on all quasi-identifiers says nothing of further columns.
    least = _persons_promised(release) if set(columns) <= set(release.schema.names("quasi")) else 1
    return Classes(
        columns=tuple(columns),
        domains=domains,
        low=low,
        high=high,
        cells={name: distinct_rows([low[name], high[name]], len(found.n)).of for name in columns},
        anything={name: _anything(domains[name], low[name], high[name]) for name in columns},
        rows=found.n,
        persons=found.n if exact else np.minimum(found.n, least),
        n_persons=n,
        n_suppressed=release.n_suppressed,
        exact=exact,
        notes=_release_notes(release, least),
    )


def _published_cells(
    release: Form, columns: Sequence[str]
) -> tuple[dict[str, Codes], dict[str, Codes], dict[str, Domain], int]:
    """Row by row the ends of the cells as they are written, and the domains they are codes of."""
    cut = release.published()
    tables = [table for table in cut.tables().values() if set(columns) <= set(table.column_names)]
    if not tables:
        raise ParameterError(
            f"The release does not publish {', '.join(columns)} beside one another in one table. "
            f"Name some of its quasi-identifiers: {', '.join(cut.schema.names('quasi'))}."
        )
    low, high = {}, {}
    for name in columns:
        domain = cut.domains[name]
        if name in cut.regions:
            ends = {end: column_of(tables[0], end) for end in end_names(name, domain)}
            low[name], high[name] = codes_of_ends(name, domain, ends)
        else:
            low[name] = high[name] = encode_into(domain, column_of(tables[0], name))
    return low, high, {name: cut.domains[name] for name in columns}, tables[0].num_rows


def _anything(domain: Domain, low: Codes, high: Codes) -> NDArray[np.bool_]:
    """Cells written as the root stand for any value, listed or not."""
    whole: NDArray[np.bool_] = (low == 0) & (high == domain.size - 1)
    if domain.size < 2 or domain.range_label(0, domain.size - 1) != ROOT:
        return np.zeros(len(low), dtype=np.bool_)
    return whole


def _persons_promised(release: Form) -> int:
    """Distinct persons that every class has at least, by the release's own promises."""
    alike = [promise for promise in release.recipe.promises if promise.model in ("k-anonymity", "alpha-k")]
    return max([int(promise.achieved.get("k", 1)) for promise in alike], default=1)


def _release_notes(release: Form, least: int) -> tuple[str, ...]:
    notes = []
    if release.recipe.unit != "row":
        notes.append(
            "The release does not say which rows are one person's. It promises that at least "
            f"{least} {'person looks' if least == 1 else 'persons look'} alike, so no risk is above 1/{least}: figures "
            "are upper bounds, and shares are shares of rows."
        )
    if not release.regions:
        notes.append(
            "Quasi-identifiers are published as they are: the risk is that a person's row is found, not that the "
            "sensitive values of its group are told apart."
        )
    return tuple(notes)
