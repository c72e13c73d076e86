"""Risk that a record is found again: by three attackers, how it is spread, and which columns make it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.dataset import Dataset
from sfumato.data.profile import proposed_quasi
from sfumato.errors import ParameterError
from sfumato.utility.classes import Classes, classes_of_dataset, classes_of_release
from sfumato.utility.population import counted, expected_risk, size_of, words_of
from sfumato.utility.separation import Separation, Tuples, largest_sets, separations

if TYPE_CHECKING:
    from sfumato.releases.form import Form

Floats = NDArray[np.float64]
EDGES = (
    1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0.125, 0.143,
    0.167, 0.2, 0.25, 0.334, 0.5, 1.0,
)  # fmt: skip
"""Upper ends of the intervals of risk, each included in its interval, as ARX draws them."""

ALONE = "Without a population, journalist and marketer are bounded by the prosecutor: nobody else looks alike."
OTHERS = ("journalist", "marketer")
COUNTS = ("records_at_highest", "records_at_lowest", "records_at_risk")
FIGURES = (
    "highest", "average", "lowest", "records_at_highest", "share_at_highest", "records_at_lowest", "share_at_lowest",
    "records_at_risk", "share_at_risk",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Attack:
    """One attacker's chances: `risk` (J,) that a record of the class is found; `matches` (J,) expected right ones.

    `average` is set where it is more than matches ÷ records. `basis`: exact, upper bound or estimate.
    """

    name: str
    basis: str
    risk: Floats
    matches: Floats
    average: float | None = None


@dataclass(frozen=True, eq=False)
class Risks:
    """Everything the risk report says; tables hold counts, shares and column names only."""

    name: str
    quasi: tuple[str, ...]
    threshold: float
    population: int | None
    n_rows: int
    n_records: int
    n_classes: int
    n_suppressed: int
    n_unique: int
    attackers: pa.Table
    distribution: pa.Table
    classes: pa.Table
    columns: pa.Table
    notes: tuple[str, ...]


def risks(
    source: Dataset | Form,
    *,
    quasi: Iterable[str] | None = None,
    population: Dataset | int | None = None,
    threshold: float = 0.2,
    most_combined: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Risks:
    """Risks of a raw table or of a release's published rows; suppressed rows carry none and are counted apart.

    Records are at risk when their risk is above `threshold`, not when it equals it.
    """
    if not 0 <= threshold <= 1:
        raise ParameterError("threshold is a risk between 0 and 1, for example 0.2 for one in five.")
    names, notes = _quasi(source, quasi)
    most, left_out = largest_sets(len(names), most_combined)
    classes = classes_of_dataset(source, names) if isinstance(source, Dataset) else classes_of_release(source, names)
    attacks, n_persons, told = _attacks(classes, population)
    tuples = Tuples(classes.cells, classes.rows, classes.lowest, classes.highest)
    found = separations(tuples, most, progress)
    return Risks(
        name=source.name,
        quasi=names,
        threshold=threshold,
        population=n_persons,
        n_rows=int(classes.rows.sum()) + classes.n_suppressed,
        n_records=int(classes.records.sum()),
        n_classes=len(classes.rows),
        n_suppressed=classes.n_suppressed,
        n_unique=int(classes.records[classes.persons == 1].sum()),
        attackers=_attackers(attacks, classes, threshold),
        distribution=_distribution(attacks[: 1 if n_persons is None else 2], classes),
        classes=_sizes(classes),
        columns=_columns(found),
        notes=(*notes, *classes.notes, *told, *filter(None, [left_out])),
    )


def _quasi(source: Dataset | Form, asked: Iterable[str] | None) -> tuple[tuple[str, ...], list[str]]:
    """Columns somebody may know: as asked, else by role, else as the profile proposes."""
    names = [asked] if isinstance(asked, str) else list(dict.fromkeys(asked or ()))
    for name in names:
        source.schema[name]
    chosen, notes = tuple(names) or source.schema.names("quasi"), []
    if not chosen and isinstance(source, Dataset):
        chosen = proposed_quasi(source)
        notes = [f"No quasi-identifiers were named; taken as the profile proposes: {', '.join(chosen)}."]
    if not chosen:
        raise ParameterError("There is no quasi-identifier. Name the columns somebody may know: quasi=[…].")
    return chosen, notes


def _attacks(classes: Classes, population: Dataset | int | None) -> tuple[list[Attack], int | None, tuple[str, ...]]:
    """Prosecutor, journalist and marketer, the population's size, and what to know about it."""
    records, persons = classes.records, classes.persons
    sure = "exact" if classes.exact else "upper bound"
    prosecutor = Attack("prosecutor", sure, 1.0 / persons, records / persons)
    if population is None:
        others = [
            Attack(name, "upper bound", prosecutor.risk, prosecutor.matches) for name in ("journalist", "marketer")
        ]
        return [prosecutor, *others], None, (ALONE,)
    if isinstance(population, Dataset):
        found = counted(classes, population)
        basis = "exact" if found.exact and classes.exact else "upper bound"
        risk, matches = 1.0 / found.sizes, records / found.sizes
        # Of two averages that are in use the larger, as ARX does: over classes, and over records.
        average = max(len(records) / max(int(found.sizes.sum()), 1), _over(matches, records))
        others = [Attack("journalist", basis, risk, matches, average), Attack("marketer", basis, risk, matches)]
        return [prosecutor, *others], found.n_persons, (*words_of(found.n_persons, True), *found.notes)
    surely = classes.n_persons + classes.n_suppressed if classes.exact else int(persons.max(initial=0))
    n_persons = size_of(population, surely)
    risk = expected_risk(persons, min(classes.n_persons, n_persons), n_persons)
    others = [Attack(name, "estimate", risk, records * risk) for name in OTHERS]
    return [prosecutor, *others], n_persons, tuple(words_of(n_persons, False))


def _over(matches: Floats, records: NDArray[np.int64]) -> float:
    """Expected right matches ÷ records; 0 where nothing is published."""
    return fsum(matches.tolist()) / max(int(records.sum()), 1)


def _attackers(attacks: Sequence[Attack], classes: Classes, threshold: float) -> pa.Table:
    rows = [_attacker(attack, classes.records, threshold) for attack in attacks]
    kinds = {"attacker": pa.string(), "basis": pa.string(), **dict.fromkeys(COUNTS, pa.int64())}
    names = ("attacker", "basis", *FIGURES)
    return pa.Table.from_pylist(rows, pa.schema([(name, kinds.get(name, pa.float64())) for name in names]))


def _attacker(attack: Attack, records: NDArray[np.int64], threshold: float) -> dict[str, Any]:
    """One attacker's line; a marketer wants as many matches as possible and has an average only."""
    line: dict[str, Any] = {"attacker": attack.name, "basis": attack.basis}
    line["average"] = _over(attack.matches, records) if attack.average is None else attack.average
    if attack.name == "marketer":
        return line
    n, highest = max(int(records.sum()), 1), float(attack.risk.max(initial=0.0))
    lowest = float(attack.risk.min()) if len(attack.risk) else 0.0
    counts = (attack.risk == highest, attack.risk == lowest, attack.risk > threshold)
    line |= {"highest": highest, "lowest": lowest}
    for name, here in zip(COUNTS, counts, strict=True):
        line[name] = int(records[here].sum())
        line[name.replace("records", "share")] = line[name] / n
    return line


def _distribution(attacks: Sequence[Attack], classes: Classes) -> pa.Table:
    """Records per interval of risk: above `above`, at most `to`; and up to there."""
    parts, n = [], max(int(classes.records.sum()), 1)
    for attack in attacks:
        at = np.searchsorted(EDGES, attack.risk, side="left")
        records = np.zeros(len(EDGES), dtype=np.int64)
        np.add.at(records, at, classes.records)
        parts.append(
            {
                "attacker": pa.array([attack.name] * len(EDGES)),
                "above": pa.array([0.0, *EDGES[:-1]]),
                "to": pa.array(EDGES),
                "records": pa.array(records),
                "share": pa.array(records / n),
                "cumulative": pa.array(np.cumsum(records) / n),
            }
        )
    return pa.concat_tables([pa.table(part) for part in parts])


def _sizes(classes: Classes) -> pa.Table:
    """Classes by their number of records, smallest first."""
    size, n_classes = np.unique(classes.records, return_counts=True)
    n = max(int(classes.records.sum()), 1)
    return pa.table(
        {
            "size": pa.array(size, pa.int64()),
            "classes": pa.array(n_classes, pa.int64()),
            "records": pa.array(size * n_classes, pa.int64()),
            "share": pa.array(size * n_classes / n, pa.float64()),
        }
    )


def _columns(found: Sequence[Separation]) -> pa.Table:
    return pa.table(
        {
            "size": pa.array([len(one.columns) for one in found], pa.int64()),
            "columns": pa.array([", ".join(one.columns) for one in found], pa.string()),
            "distinct": pa.array([one.distinct for one in found], pa.int64()),
            "distinctness": pa.array([one.distinctness for one in found], pa.float64()),
            "separation": pa.array([one.separation for one in found], pa.float64()),
            "unique_rows": pa.array([one.unique_rows for one in found], pa.int64()),
        }
    )
