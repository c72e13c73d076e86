"""An answer: the query's columns, hard bounds and quantiles beside each uncertain one, and how it was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.data.tabular import Tabular
from sfumato.errors import ParameterError, SfumatoError
from sfumato.queries.literals import MICROSECONDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class Shown:
    """One output column of an answer; `companions` are the names of its bounds and quantiles, none when certain."""

    name: str
    companions: tuple[str, ...]
    route: str
    null: float
    """Largest P(NULL) over the rows."""


class Answer(Tabular):
    """A table: own columns, `x__lo` and `x__hi` (hard bounds), quantiles on request, `__row`, `__how`.

    Hard bounds assume nothing beyond the release. Estimates and quantiles hold under the basis that `.explain()`
    names. A missing group has COUNT 0; SUM, AVG, MIN and MAX are conditional on not NULL. A NULL bound is unbounded.
    """

    def __init__(
        self,
        table: pa.Table,
        shown: Sequence[Shown],
        notes: Sequence[str],
        again: Callable[[tuple[float, ...]], Answer],
        joint: Callable[[int], Floats],
    ) -> None:
        super().__init__(table)
        self.shown = tuple(shown)
        self._notes = tuple(notes)
        self._again = again
        self._joint = joint

    def show(self, quantiles: Sequence[float] = ()) -> None:
        """Print it as a box, with these quantiles."""
        print(self.text(quantiles))

    def text(self, quantiles: Sequence[float] = ()) -> str:
        """The box that `show` prints."""
        from sfumato.queries.formats import duckbox

        return duckbox(self._again(tuple(quantiles)) if quantiles else self)

    def render(self, form: str) -> str:
        """As `duckbox`, `json`, `jsonl`, `csv` or `markdown`."""
        from sfumato.queries.formats import FORMATS

        if form not in FORMATS:
            raise ParameterError(f"There is no format {form!r}; the formats are {', '.join(FORMATS)}.")
        return FORMATS[form](self)

    def explain(self) -> str:
        """How every column was found, what its bounds are worth, and what was sampled."""
        return "\n".join(self._notes)

    def covariance(self, column: str) -> Floats:
        """Exact covariance matrix of one COUNT or SUM column across the rows, variances on the diagonal.

        It holds under the basis; a group that is not there counts 0, an empty sum is 0.
        """
        names = [one.name for one in self.shown]
        if column not in names:
            raise ParameterError(f"There is no column {column!r}; the columns are {', '.join(names)}.")
        return self._joint(names.index(column))

    def unbounded(self) -> list[str]:
        """Names of bounds that are NULL in some row although the value itself is known: no bound on that side."""
        rows = self.rows()
        pairs = [(one.name, bound) for one in self.shown for bound in one.companions[:2]]
        return [bound for name, bound in pairs if any(row[name] is not None and row[bound] is None for row in rows)]

    def plot(self) -> Any:
        """An Altair chart of estimates and bounds of every uncertain column."""
        try:
            import altair
        except ImportError:
            raise SfumatoError("Plots need the extra 'plots': pip install 'sfumato[plots]'.") from None
        from sfumato.queries.drawing import chart

        return chart(self, altair)

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from sfumato.queries.drawing import html

        return html(self)


def quantile_name(name: str, q: float) -> str:
    """The column of a quantile.

    >>> quantile_name("n", 0.05), quantile_name("n", 0.975)
    ('n__q05', 'n__q97_5')
    """
    percent = f"{100 * q:.10g}"
    whole, _, rest = percent.partition(".")
    return f"{name}__q{whole.zfill(2)}" + (f"_{rest}" if rest else "")


def typed(values: Floats, kind: str) -> pa.Array:
    """Numbers as a column: days as dates or times, whole numbers as integers, infinite and NaN as NULL."""
    null = ~np.isfinite(values)
    filled = np.where(null, 0.0, values)
    if kind == "date" and bool((filled == np.round(filled)).all()):
        return pa.array(filled.astype(np.int32), mask=null).cast(pa.date32())
    if kind in ("date", "time"):
        return pa.array(np.round(filled * MICROSECONDS).astype(np.int64), mask=null).cast(pa.timestamp("us"))
    whole = bool((filled == np.round(filled)).all()) and float(np.abs(filled).max(initial=0)) < EXACT
    if kind == "integer" and whole:
        return pa.array(filled.astype(np.int64), mask=null)
    return pa.array(filled, mask=null)
