"""Before any work: could the whole table, published as one group, meet every requirement?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.contracts import Requirement
from sfumato.data.dataset import Dataset
from sfumato.data.evidence import Counts, Groups, group_evidence
from sfumato.errors import Incompatible, Infeasible


def refuse_unreadable(dataset: Dataset, requirements: Sequence[Requirement]) -> None:
    """Raise `Incompatible` when a requirement reads a column without the role sensitive, `SchemaError` when unknown."""
    for requirement in requirements:
        for column in requirement.columns:
            if dataset.schema[column].role != "sensitive":
                raise Incompatible(
                    f"{described(requirement)} reads column {column!r}, whose role is "
                    f"{dataset.schema[column].role or 'undecided'}. Give it the role sensitive, or name another column."
                )


def refuse_infeasible(dataset: Dataset, requirements: Sequence[Requirement]) -> None:
    """Raise `Infeasible`, with the nearest feasible parameters, when even the whole table as one group fails.

    For requirements that merging keeps, this is exact: a table that can be cut at all can be left whole.
    """
    whole = whole_table(dataset, requirements)
    failing = [r for r in requirements if r.monotone and not r.holds(whole).holds]
    if not failing:
        return
    nearest: dict[str, float] = {}
    said = []
    for requirement in failing:
        found = requirement.nearest(whole)
        nearest.update(found)
        figures = ", ".join(f"{name} = {value:.6g}" for name, value in found.items())
        said.append(f"{described(requirement)} (the nearest that can be met: {figures or 'none'})")
    counted = "rows" if dataset.units is None else "distinct units"
    raise Infeasible(
        f"Even the whole table as one group of {int(whole.sizes[0])} {counted} does not meet {'; '.join(said)}. "
        "Ask for less, or publish other columns.",
        nearest,
    )


def whole_table(dataset: Dataset, requirements: Sequence[Requirement]) -> Groups:
    """Evidence of the table as one group, on the columns that are read."""
    columns = columns_of(requirements)
    sensitive = {name: dataset.codes[name] for name in columns}
    domains = {name: dataset.domains[name] for name in columns}
    if dataset.units is not None:
        return group_evidence(np.zeros(dataset.n_rows, dtype=np.int64), 1, sensitive, domains, dataset.units)
    totals = {c: np.bincount(codes, minlength=domains[c].size).astype(np.int64) for c, codes in sensitive.items()}
    counts = {name: _as_one_group(found) for name, found in totals.items()}
    return Groups(np.array([dataset.n_rows], dtype=np.int64), counts, totals, domains)


def described(requirement: Requirement) -> str:
    """A requirement in words: model, parameters, column."""
    figures = ", ".join(f"{name}={value}" for name, value in requirement.parameters().items())
    return f"{requirement.model} ({figures})" + "".join(f" on {column!r}" for column in requirement.columns)


def columns_of(requirements: Sequence[Requirement]) -> tuple[str, ...]:
    """Sensitive columns that are read, each once."""
    return tuple(dict.fromkeys(column for r in requirements for column in r.columns))


def _as_one_group(totals: NDArray[np.int64]) -> Counts:
    code = np.flatnonzero(totals)
    starts = np.array([0, len(code)], dtype=np.int64)
    return Counts(np.zeros(len(code), dtype=np.int64), code.astype(np.int32), totals[code], starts)
