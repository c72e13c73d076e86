"""Slow twins of the baselines, in plain Python: Datafly, cuts through taxonomies, MDAV."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import median

from tests.oracles.lattice import Node, Outcome, Table, generalize

Run = tuple[int, int]
Cuts = dict[str, list[Run]]
Row = Mapping[str, int]


def datafly(table: Table, keeps: Callable[[list[Mapping[str, str]]], bool], most: int) -> Outcome:
    """Up one level in the column with the most distinct labels, the first of several, until few enough rows go."""
    node: Node = (0,) * len(table.columns)
    while True:
        found = generalize(table, node, keeps)
        if found.n_suppressed <= most and len(found.suppressed) < len(found.groups):
            return found
        labels = [table.labels(row, node) for row in table.rows]
        distinct = [len({one[j] for one in labels}) if level < table.heights[j] else -1 for j, level in enumerate(node)]
        j = distinct.index(max(distinct))
        node = (*node[:j], node[j] + 1, *node[j + 1 :])


class Taxonomies:
    """Rows as codes, and per column the runs of codes on every level, fine to coarse."""

    def __init__(self, rows: Sequence[Row], levels: Mapping[str, Sequence[Sequence[Run]]]) -> None:
        self.rows, self.levels = rows, levels

    def children(self, column: str, run: Run) -> list[Run]:
        """The runs right below, those of the coarsest level that cuts it."""
        for level in reversed(self.levels[column]):
            parts = [part for part in level if run[0] <= part[0] and part[1] <= run[1]]
            if len(parts) > 1:
                return parts
        return []

    def rank(self, column: str, run: Run) -> tuple[int, int, int]:
        """Columns in order, fine runs first."""
        level = next(i for i, runs in enumerate(self.levels[column]) if run in runs)
        return list(self.levels).index(column), level, run[0]

    def under(self, column: str, run: Run) -> int:
        return sum(run[0] <= row[column] <= run[1] for row in self.rows)

    def cost(self, column: str, run: Run) -> float:
        parts = self.children(column, run)
        more = self.under(column, run) * (run[1] - run[0] + 1)
        more -= sum(self.under(column, part) * (part[1] - part[0] + 1) for part in parts)
        size = self.levels[column][-1][0][1] + 1
        return more / (len(self.rows) * max(size - 1, 1))

    def groups(self, cuts: Cuts) -> Counter[tuple[Run, ...]]:
        return Counter(
            tuple(next(run for run in runs if run[0] <= row[c] <= run[1]) for c, runs in cuts.items())
            for row in self.rows
        )

    def allowed(self, cuts: Cuts, k: int, most: int) -> bool:
        sizes = self.groups(cuts).values()
        return sum(n for n in sizes if n < k) <= most and max(sizes) >= k

    def smallest(self, cuts: Cuts, k: int) -> int:
        return min((n for n in self.groups(cuts).values() if n >= k), default=0)


def specialized(taxonomies: Taxonomies, k: int, most: int) -> Cuts:
    """From one run a column: the best run that may be cut is cut, until none may."""
    cuts: Cuts = {column: list(levels[-1]) for column, levels in taxonomies.levels.items()}
    while True:
        tried = []
        for column, runs in cuts.items():
            for run in runs:
                parts = taxonomies.children(column, run)
                if not parts or not taxonomies.under(column, run):
                    continue
                finer = {**cuts, column: sorted([*(one for one in runs if one != run), *parts])}
                lost = max(taxonomies.smallest(cuts, k) - taxonomies.smallest(finer, k), 0)
                score = taxonomies.cost(column, run) / (lost + 1)
                if taxonomies.allowed(finer, k, most):
                    tried.append(((-score, taxonomies.rank(column, run)), finer))
        if not tried:
            return cuts
        cuts = min(tried, key=lambda one: one[0])[1]


def generalized(taxonomies: Taxonomies, k: int) -> Cuts:
    """From the finest runs: the best siblings become their parent, until every group has k rows."""
    cuts: Cuts = {column: list(levels[0]) for column, levels in taxonomies.levels.items()}
    while not taxonomies.allowed(cuts, k, 0):
        tried = []
        for column, levels in taxonomies.levels.items():
            for run in sorted({run for level in levels[1:] for run in level} - set(cuts[column])):
                parts = [part for part in taxonomies.children(column, run) if taxonomies.under(column, part)]
                if not parts or not set(parts) <= set(cuts[column]):
                    continue
                outside = [one for one in cuts[column] if one[1] < run[0] or run[1] < one[0]]
                coarser = {**cuts, column: sorted([*outside, run])}
                gain = taxonomies.smallest(coarser, 1) - taxonomies.smallest(cuts, 1)
                cost = taxonomies.cost(column, run)
                tried.append(((cost / gain if gain > 0 else cost, taxonomies.rank(column, run)), coarser))
        cuts = min(tried, key=lambda one: one[0])[1]
    return cuts


def mdav(points: list[tuple[float | str, ...]], k: int, aggregate: str) -> list[list[int]]:
    """Groups of point numbers: numbers are places on a scale, text is equal or not; the first of equals is taken."""

    def centre(some: list[int], j: int) -> float | str:
        values = [points[i][j] for i in some]
        if isinstance(values[0], str) or aggregate == "mode":
            most = max(Counter(values).values())
            return min(value for value, n in Counter(values).items() if n == most)  # type: ignore[type-var]
        return median(values) if aggregate == "median" else sum(values) / len(values)  # type: ignore[type-var,arg-type]

    def away(i: int, other: Sequence[float | str]) -> float:
        total = 0.0
        for a, b in zip(points[i], other, strict=True):
            total += float(a != b) if isinstance(a, str) or isinstance(b, str) else (a - b) ** 2
        return total

    def farthest(some: list[int], other: Sequence[float | str]) -> int:
        return max(some, key=lambda i: (away(i, other), -some.index(i)))

    def cluster(some: list[int], one: int) -> list[int]:
        return sorted(some, key=lambda i: (away(i, points[one]), some.index(i)))[:k]

    left, found = list(range(len(points))), []
    while len(left) >= 3 * k:
        far = farthest(left, [centre(left, j) for j in range(len(points[0]))])
        found.append(cluster(left, far))
        left = [i for i in left if i not in found[-1]]
        found.append(cluster(left, farthest(left, points[far])))
        left = [i for i in left if i not in found[-1]]
    if len(left) >= 2 * k:
        found.append(cluster(left, farthest(left, [centre(left, j) for j in range(len(points[0]))])))
        left = [i for i in left if i not in found[-1]]
    return [*found, left]
