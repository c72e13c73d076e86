"""New rows in published regions: the code of every new value on a package's domains, and the boxes that hold a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.codec import ROOT, Codes, Domain, encode_into
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.source import source_of
from sfumato.releases.distinct import distinct_rows

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset
    from sfumato.releases.generalized import Generalized

    Ints = NDArray[np.int64]

Several = Literal["suppress", "innermost"]
SMALL = 1 << 16


@dataclass(frozen=True, eq=False)
class Boxes:
    """The different boxes of a release: `low[b]`, `high[b]` (B, d) on its domains; `of[g]`: the box of group g."""

    low: Codes
    high: Codes
    of: Ints

    @classmethod
    def published(cls, release: Generalized) -> Boxes:
        """Groups that look alike are one box."""
        ends = [end[name] for name in release.regions for end in (release.low, release.high)]
        kinds = distinct_rows(ends, release.n_groups)
        low, high = (
            np.stack([end[name][kinds.first] for name in release.regions], axis=1)
            for end in (release.low, release.high)
        )
        return cls(low, high, kinds.of)

    def inside(self, one: int, others: Ints) -> bool:
        """Whether a box lies in all these boxes."""
        return bool((self.low[one] >= self.low[others]).all() and (self.high[one] <= self.high[others]).all())


@dataclass(frozen=True, eq=False)
class Placed:
    """The box of every new row, (n,), −1 where it has none; how many rows no box holds, and how many several do."""

    box: Ints
    n_nowhere: int
    n_several: int


def placed_rows(
    release: Generalized, boxes: Boxes, rows: Dataset, hierarchies: Mapping[str, Hierarchy], several: Several
) -> Placed:
    """The box that holds each row. Rows in several are not placed, or in the one that lies inside all the others."""
    codes = [codes_of_values(release, rows, name, hierarchies.get(name)) for name in release.regions]
    kinds = distinct_rows([column.astype(np.int64) + 1 for column in codes], rows.n_rows)
    points = np.stack([column[kinds.first] for column in codes], axis=1)
    point, box = holding(points, boxes.low, boxes.high)
    n_boxes = np.bincount(point, minlength=len(points))
    found = np.full(len(points), -1, dtype=np.int64)
    single = n_boxes[point] == 1
    found[point[single]] = box[single]
    if several == "innermost":
        _innermost(boxes, point[~single], box[~single], found)
    left = found < 0
    return Placed(found[kinds.of], int(kinds.n[left & (n_boxes == 0)].sum()), int(kinds.n[left & (n_boxes > 0)].sum()))


def _innermost(boxes: Boxes, point: Ints, box: Ints, found: Ints) -> None:
    """Fill in the box inside all others that hold a point, where there is one. Expects pairs sorted by point."""
    if not len(point):
        return
    width = (boxes.high.astype(np.int64) - boxes.low).sum(axis=1)
    starts = np.flatnonzero(np.diff(point, prepend=-1))
    for start, some in zip(starts, np.split(box, starts[1:]), strict=True):
        least = int(some[np.argmin(width[some])])
        if boxes.inside(least, some):
            found[point[start]] = least


def codes_of_values(release: Generalized, rows: Dataset, name: str, hierarchy: Hierarchy | None) -> Codes:
    """Codes of a column on the release's domain, −1 where no published region is known to hold the value, (n,).

    Values that a package does not list are known only by the label of the node they are under: by the hierarchy when
    it is given, else where everything not listed is in the one region `*`.
    """
    domain, raw = release.domains[name], rows.domains[name]
    table = encode_into(domain, raw.with_missing())
    labels = _unlisted(domain, release.low[name], release.high[name])
    unknown = np.flatnonzero(table[: raw.n_values] < 0)
    if labels and len(unknown):
        over = None if hierarchy is None else hierarchy.place(source_of(rows, name, 2))
        for value in unknown.tolist():
            path = _path(over.domain, int(over.table[value])) if over is not None else [ROOT] * (set(labels) == {ROOT})
            table[value] = next((labels[label] for label in path if label in labels), -1)
    return table[rows.codes[name]]


def _path(domain: Domain, code: int) -> list[str]:
    """Labels above a leaf, fine to coarse."""
    return [*(level.labels[int(level.node[code])] for level in domain.levels), ROOT]


def _unlisted(domain: Domain, low: Codes, high: Codes) -> dict[str, int]:
    """Label of a published region → the code in it that stands for values that are not listed."""
    runs = sorted({(int(b) - int(a), int(a), int(b)) for a, b in zip(low, high, strict=True)})
    found: dict[str, int] = {}
    for code in domain.withheld:
        _, first, last = next(run for run in runs if run[1] <= code <= run[2])
        found.setdefault(domain.range_label(first, last), code)
    return found


def holding(points: Codes, low: Codes, high: Codes) -> tuple[Ints, Ints]:
    """All pairs of a point and a box that holds it, sorted by point. Shapes: points (P, d), low and high (B, d).

    >>> [found.tolist() for found in holding(np.array([[1], [5]]), np.array([[0], [1]]), np.array([[3], [9]]))]
    [[0, 0, 1], [0, 1, 1]]
    """
    found: list[tuple[Ints, Ints]] = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))]
    todo = [(np.arange(len(points)), np.arange(len(low)))]
    while todo:
        some, boxes = todo.pop()
        if len(some) * len(boxes) == 0:
            continue
        parts = _parted(points[some], low[boxes], high[boxes]) if len(some) * len(boxes) > SMALL else []
        todo += [(some[mine], boxes[theirs]) for mine, theirs in parts]
        if not parts:
            found += [_tested(points, low, high, (few, boxes)) for few in np.array_split(some, len(boxes) // SMALL + 1)]
    point, box = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((box, point))
    return point[order], box[order]


def _tested(points: Codes, low: Codes, high: Codes, pair: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Every point against every box."""
    some, boxes = pair
    here = points[some][:, None, :]
    row, column = np.nonzero(((low[boxes] <= here) & (here <= high[boxes])).all(axis=2))
    return some[row], boxes[column]


def _parted(points: Codes, low: Codes, high: Codes) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Masks of two smaller problems on both sides of a column's middle; none when no column makes the work less."""
    least, best = len(points) * len(low) * 0.9, []
    for column in range(points.shape[1]):
        values = points[:, column]
        middle = np.sort(values)[(len(values) - 1) // 2]
        below, reach, beyond = values <= middle, low[:, column] <= middle, high[:, column] > middle
        work = int(below.sum()) * int(reach.sum()) + int((~below).sum()) * int(beyond.sum())
        if work < least:
            least, best = work, [(below, reach), (~below, beyond)]
    return best
