"""What a table gives away about its people: how its columns tell rows apart, alone and together. Never a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sfumato.data.combinations import Combination, keys_of, uniques
from sfumato.data.dependencies import Dependency, dependencies
from sfumato.data.suggested import Facts, one_unit, suggest_role
from sfumato.data.tabular import Tabular

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset

SHOWN = 8
NAMED = 4


class Profile(Tabular):
    """The table of columns, with two more: `.uniques` (combinations) and `.dependencies` (between columns).

    `distinctness`: distinct values ÷ rows; `separation`: share of pairs of rows that the column tells apart;
    `unique_rows`: rows whose value, or combination of values, only one person has.
    """

    def __init__(self, columns: pa.Table, uniques: pa.Table, dependencies: pa.Table, notes: Sequence[str]) -> None:
        super().__init__(columns)
        self.columns = Tabular(columns)
        self.uniques = Tabular(uniques)
        self.dependencies = Tabular(dependencies)
        self.notes = tuple(notes)

    def json(self) -> dict[str, Any]:
        """All three tables and the notes as plain lists and numbers."""
        return {
            "columns": self.columns.rows(),
            "uniques": self.uniques.rows(),
            "dependencies": self.dependencies.rows(),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        shown = _most_telling(self.uniques.arrow())
        parts = [
            self.columns.listing(len(self.columns)),
            f"Rows that a combination makes unique:\n{shown!r}",
            f"One column decides another:\n{self.dependencies!r}" if len(self.dependencies) else "",
            *self.notes,
        ]
        return "\n\n".join(part for part in parts if part)


def profile(dataset: Dataset, *, most_combined: int = 3) -> Profile:
    """Every column, combinations of quasi-identifiers (as given, else as proposed), dependencies, proposed roles."""
    facts, proposed = _proposed(dataset)
    quasi = dataset.schema.names("quasi") or tuple(name for name, (role, _) in proposed.items() if role == "quasi")
    combined, notes = uniques(dataset, quasi, most_combined) if quasi else ([], [])
    compared = [one.name for one in facts if proposed[one.name][0] != "identifier"]
    return Profile(
        _columns_table(facts, proposed),
        _uniques_table(combined),
        _dependencies_table(dependencies(dataset, compared)),
        [*dataset.notes, *notes],
    )


def proposed_quasi(dataset: Dataset) -> tuple[str, ...]:
    """Columns that the profile would call quasi-identifiers."""
    return tuple(name for name, (role, _) in _proposed(dataset)[1].items() if role == "quasi")


def _proposed(dataset: Dataset) -> tuple[list[Facts], dict[str, tuple[Any, str]]]:
    """What is counted about every column, and the role that suits it with the reason."""
    facts = [_facts(dataset, name) for name in dataset.schema.names()]
    return facts, one_unit(facts, {one.name: suggest_role(one, dataset.n_rows) for one in facts})


def _facts(dataset: Dataset, name: str) -> Facts:
    domain, n = dataset.domains[name], dataset.n_rows
    keys = keys_of(dataset, name)
    counts = keys.counts()
    missing = int((dataset.codes[name] == domain.n_values).sum()) if domain.missing else 0
    pairs = n * (n - 1)
    separation = 1.0 if pairs == 0 else 1.0 - float((counts * (counts - 1)).sum()) / pairs
    return Facts(name, domain.kind, domain.n_values, missing, keys.unique_rows(), len(counts) / n, separation)


def _columns_table(facts: Sequence[Facts], proposed: dict[str, tuple[Any, str]]) -> pa.Table:
    rows = [
        {
            "name": one.name,
            "kind": one.kind,
            "distinct": one.distinct,
            "missing": one.missing,
            "unique_rows": one.unique_rows,
            "distinctness": one.distinctness,
            "separation": one.separation,
            "role": proposed[one.name][0],
            "reason": proposed[one.name][1],
        }
        for one in facts
    ]
    types = {"distinct": pa.int64(), "missing": pa.int64(), "unique_rows": pa.int64()}
    floats = {"distinctness": pa.float64(), "separation": pa.float64()}
    names = ("name", "kind", *types, *floats, "role", "reason")
    return pa.Table.from_pylist(rows, pa.schema([(n, (types | floats).get(n, pa.string())) for n in names]))


def _uniques_table(found: Sequence[Combination]) -> pa.Table:
    return pa.table(
        {
            "size": pa.array([len(one.columns) for one in found], pa.int64()),
            "columns": pa.array([", ".join(one.columns) for one in found], pa.string()),
            "distinct": pa.array([one.distinct for one in found], pa.int64()),
            "unique_rows": pa.array([one.unique_rows for one in found], pa.int64()),
            "unique_share": pa.array([one.unique_share for one in found], pa.float64()),
        }
    )


def _dependencies_table(found: Sequence[Dependency]) -> pa.Table:
    return pa.table(
        {
            "determinant": pa.array([one.determinant for one in found], pa.string()),
            "dependent": pa.array([one.dependent for one in found], pa.string()),
            "share": pa.array([one.share for one in found], pa.float64()),
            "exact": pa.array([one.exact for one in found], pa.bool_()),
        }
    )


def _most_telling(table: pa.Table) -> Tabular:
    """The few most identifying combinations of each size."""
    kept: list[int] = []
    seen: dict[int, int] = {}
    for i, size in enumerate(table.column("size").to_pylist()):
        seen[size] = seen.get(size, 0) + 1
        if seen[size] <= (SHOWN if size == 1 else SHOWN // 2):
            kept.append(i)
    shown = table.take(pa.array(kept, pa.int64()))
    named = pa.array([_shortened(text) for text in shown.column("columns").to_pylist()], pa.string())
    return Tabular(shown.set_column(shown.column_names.index("columns"), "columns", named))


def _shortened(columns: str) -> str:
    """Few names in full; of many the first ones and how many more."""
    names = columns.split(", ")
    rest = len(names) - NAMED
    return columns if rest <= 1 else f"{', '.join(names[:NAMED])} and {rest} more"
