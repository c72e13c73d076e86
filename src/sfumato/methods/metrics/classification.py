"""Classification metric: rows whose group does not give away the right class."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from sfumato.declared import declared
from sfumato.errors import Incompatible
from sfumato.methods.metrics.metric import Metric, Scorer, Setting, factors

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.cuts import Cut
    from sfumato.methods.metrics.metric import Floats, Ints


@declared
class ClassificationMetric(Metric):
    """Penalties / N: g for a row outside its group's majority class, s for each row of a group whose two largest
    classes are equal, f for a suppressed row, over the largest of the three. g = min(2 − 2f, 1), s = min(2f, 1).

    `on` names a column that is published as it is (sensitive or plain).
    Does not see whether groups of one class lie together.
    Iyengar 2002, §3.2; as ARX computes it.

    >>> ClassificationMetric(on="salary").parameters()
    {'on': 'salary', 'gs_factor': 0.5}
    """

    on: str = field(kw_only=True)
    gs_factor: Annotated[float, Field(ge=0, le=1)] = field(default=0.5, kw_only=True)
    metric: ClassVar[str] = "classification"

    def scorer(self, setting: Setting) -> _Majorities:
        """Counts of classes by tuple, added up over groups."""
        schema = setting.dataset.schema
        if self.on not in schema or schema[self.on].role not in ("sensitive", "plain"):
            raise Incompatible(
                f"The classification metric reads column {self.on!r}, which must be published as it is. "
                "Give it the role sensitive or plain."
            )
        return _Majorities(self, setting)


class _Majorities(Scorer):
    follows = True

    def __init__(self, metric: ClassificationMetric, setting: Setting) -> None:
        space, codes = setting.space, setting.dataset.codes[metric.on]
        self._minority, self._tied = factors(metric.gs_factor)
        self._lost = metric.gs_factor
        self._most = max(self._lost, self._minority, self._tied) * space.n_rows
        self._size = setting.dataset.domains[metric.on].size
        key = space.of_row.astype(np.int64) * self._size + codes
        cell, n = np.unique(key, return_counts=True)
        self._tuple, self._code, self._n = cell // self._size, cell % self._size, n

    def fingerprint(self) -> list[Ints]:
        """Classes by tuple."""
        return [self._tuple, self._code, self._n]

    def score(self, cut: Cut) -> float:
        """Penalties over the largest there could be."""
        first, second = self._two_largest(cut)
        n = cut.n.astype(np.float64)
        penalty = np.where(first != second, self._minority * (n - first), self._tied * n)
        penalty = np.where(cut.kept, penalty, self._lost * n)
        return float(penalty.sum()) / self._most

    def _two_largest(self, cut: Cut) -> tuple[Floats, Floats]:
        """Rows of the two most frequent classes of every group; −1 where there is no second."""
        assert cut.of_base is not None
        cell, at = np.unique(cut.of_base[self._tuple].astype(np.int64) * self._size + self._code, return_inverse=True)
        held = np.bincount(at, weights=self._n)
        group = cell // self._size
        order = np.lexsort((-held, group))
        group, held = group[order], held[order]
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        first, second = np.zeros(len(cut.n)), np.full(len(cut.n), -1.0)
        first[group[starts]] = held[starts]
        more = np.diff(np.append(starts, len(group))) > 1
        second[group[starts[more]]] = held[starts[more] + 1]
        return first, second
