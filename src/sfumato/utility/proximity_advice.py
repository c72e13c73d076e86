"""What (ε, m)-anonymity a column allows, before anything is published."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.data.nearness import Near, find_e_max, find_maxsize, line_of
from sfumato.data.tabular import Tabular
from sfumato.declared import exact
from sfumato.errors import Incompatible, Infeasible, ParameterError
from sfumato.requirements.judging import Ints, down
from sfumato.requirements.proximity import Proximity

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset
    from sfumato.data.nearness import Line

# Every m up to here stands in the frontier, then ever fewer.
_ONE_BY_ONE, _STEPS = 20, 60


@dataclass(frozen=True, eq=False)
class ProximityAdvice:
    """What some grouping of the whole table can meet; `None` where ε or m was not given.

    `achievable`: the asked pair. `largest_m` for the asked ε, with `maxsize`, the most rows that lie near one row on
    one side. `epsilon_supremum` for the asked m: ε must stay below it (inf: every ε will do; 0: none will); of e1 and
    e2 the larger one must. `frontier`: the same for each m, with the risk 1/m. Rows are counted, not persons, and
    quasi-identifiers are left aside: what is achievable may cost all their detail.
    Li, Tao, Xiao 2008, theorems 1 and 2.
    """

    column: str
    n_rows: int
    relative: bool
    achievable: bool | None
    largest_m: int | None
    maxsize: int | None
    epsilon_supremum: float | None
    frontier: Tabular = field(repr=False)

    def refuse_unachievable(self) -> None:
        """Raise `Infeasible` when the asked pair is not achievable, with what is for its ε and for its m."""
        if self.achievable is False:
            raise Infeasible(
                f"No grouping of {self.n_rows} rows gives the proximity asked on {self.column!r}. The largest m for "
                f"this ε is {self.largest_m}; for this m, ε must be below {self.epsilon_supremum:g}.",
                {"m": float(self.largest_m or 1)},
            )

    def json(self) -> dict[str, Any]:
        """Everything as plain lists and numbers."""
        names = ("column", "n_rows", "relative", "achievable", "largest_m", "maxsize", "epsilon_supremum")
        return {**{name: getattr(self, name) for name in names}, "frontier": self.frontier.rows()}


def advise(
    dataset: Dataset, on: str, *, epsilon: Any = None, m: int | None = None, relative: bool = False, **ends: Any
) -> ProximityAdvice:
    """The advice for one column; `ends` are `e1` and `e2`."""
    near = _asked(on, epsilon, m, relative, ends)
    if dataset.units is not None and bool((np.bincount(dataset.units) > 1).any()):
        raise Incompatible("The advice counts rows, but persons have several rows here. Read the table without unit=.")
    domain, codes = dataset.domains[dataset.schema[on].name], dataset.codes[on]
    line = line_of(domain, on, relative)
    counts = line.by_rank(np.bincount(codes, minlength=domain.size).astype(np.int64))
    maxsize = find_maxsize(line, counts, near) if near else None
    largest = dataset.n_rows // maxsize if maxsize else None
    supremum = _supremum(line, counts, m, relative) if m is not None else None
    achievable = m <= largest if m is not None and largest is not None else None
    frontier = _frontier(line, counts, relative)
    return ProximityAdvice(on, dataset.n_rows, relative, achievable, largest, maxsize, supremum, frontier)


def _asked(on: str, epsilon: Any, m: int | None, relative: bool, ends: dict[str, Any]) -> Near | None:
    """The neighbourhood, checked as the requirement checks it; None when none was given."""
    wrong = sorted(set(ends) - {"e1", "e2"})
    if wrong:
        raise ParameterError(f"advise_proximity has no option {', '.join(wrong)}. Known: epsilon, m, relative, e1, e2.")
    given = {name: exact(value) for name, value in {"epsilon": epsilon, **ends}.items() if value is not None}
    checked: dict[str, Any] = given or {"epsilon": 0}
    asked = Proximity(**checked, m=2 if m is None else m, on=on, relative=relative)
    return asked.near if given else None


def _supremum(line: Line, counts: Ints, m: int, relative: bool) -> float:
    """As a float that is not above it."""
    found = find_e_max(line, counts, m, relative)
    return math.inf if found is None else down(found)


def _frontier(line: Line, counts: Ints, relative: bool) -> Tabular:
    """The supremum of ε for m = 2, 3, … up to the largest m for which some ε will do."""
    nothing = Near(Fraction(0), Fraction(0), relative)
    most = int(counts.sum()) // max(1, find_maxsize(line, counts, nothing))
    beyond = np.geomspace(_ONE_BY_ONE, max(most, _ONE_BY_ONE), _STEPS).astype(int).tolist()
    wanted = [m for m in sorted({*range(2, _ONE_BY_ONE + 1), *beyond}) if m <= most]
    suprema = [_supremum(line, counts, m, relative) for m in wanted]
    risks = [1 / m for m in wanted]
    return Tabular(
        pa.table(
            {
                "m": pa.array(wanted, pa.int64()),
                "epsilon_supremum": pa.array(suprema, pa.float64()),
                "risk": pa.array(risks, pa.float64()),
            }
        )
    )
