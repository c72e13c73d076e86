"""Slow twin of the full-domain search: every node of the lattice, every score, straight from the definitions.

A node is one level per column, in the order of `Table.hierarchies`; a score is a number, or a tuple compared
lexicographically, and smaller is better. Scores are those of ARX 3.9, not rounded: ARX cuts each column of
`loss` and `entropy` down to ten digits after the point.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

Row = Mapping[str, str]
Hierarchy = Mapping[str, Sequence[str]]
Node = tuple[int, ...]
Labels = tuple[str, ...]
Keeps = Callable[[list[Row]], bool]
Weights = Mapping[str, float] | None


@dataclass(frozen=True)
class Table:
    """Rows, and per quasi-identifier the labels of every leaf of its domain, from the leaf itself to the root.

    >>> ages = {"1": ["1", "odd", "*"], "2": ["2", "even", "*"], "3": ["3", "odd", "*"]}
    >>> table = Table([{"age": "1"}, {"age": "2"}], {"age": ages})
    >>> table.heights, len(list(table.nodes())), table.n_leaves("age", "odd", 1)
    ((2,), 3, 2)
    """

    rows: Sequence[Row]
    hierarchies: Mapping[str, Hierarchy]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.hierarchies)

    @property
    def heights(self) -> Node:
        return tuple(len(next(iter(leaves.values()))) - 1 for leaves in self.hierarchies.values())

    def nodes(self) -> list[Node]:
        return list(product(*(range(height + 1) for height in self.heights)))

    def labels(self, row: Row, node: Node) -> Labels:
        return tuple(
            self.hierarchies[column][row[column]][level] for column, level in zip(self.columns, node, strict=True)
        )

    def n_leaves(self, column: str, label: str, level: int) -> int:
        return sum(1 for path in self.hierarchies[column].values() if path[level] == label)

    def domain_size(self, column: str) -> int:
        return len(self.hierarchies[column])


@dataclass(frozen=True)
class Outcome:
    """What one node makes of the table: row numbers per generalized tuple, and which tuples are suppressed."""

    node: Node
    groups: dict[Labels, list[int]]
    suppressed: frozenset[Labels]

    @property
    def n_suppressed(self) -> int:
        return sum(len(self.groups[labels]) for labels in self.suppressed)


Value = float | tuple[float, ...]
Score = Callable[[Table, Outcome], Value]


def generalize(table: Table, node: Node, keeps: Keeps) -> Outcome:
    """Rows by their generalized tuple; a group goes when `keeps` says no to its rows."""
    groups: dict[Labels, list[int]] = {}
    for r, row in enumerate(table.rows):
        groups.setdefault(table.labels(row, node), []).append(r)
    gone = [labels for labels, rows in groups.items() if not keeps([table.rows[r] for r in rows])]
    return Outcome(node, groups, frozenset(gone))


def factors(gs_factor: float) -> tuple[float, float]:
    """What a generalized and what a suppressed cell weigh; both 1 at one half.

    >>> factors(0.5), factors(0.75), factors(0.25)
    ((1.0, 1.0), (0.5, 1.0), (1.0, 0.5))
    """
    return min(1.0, 2.0 - 2.0 * gs_factor), min(1.0, 2.0 * gs_factor)


def weights_of(columns: Sequence[str], given: Weights) -> list[float]:
    """Divided by the largest; a column without a weight has one half; all 1 if none is positive.

    >>> weights_of("ab", None), weights_of("ab", {"a": 2}), weights_of("ab", {"a": 0, "b": 0})
    ([1.0, 1.0], [1.0, 0.25], [1.0, 1.0])
    """
    raw = [float((given or {}).get(column, 0.5)) for column in columns]
    return [weight / max(raw) if max(raw) > 0 else 1.0 for weight in raw]


def aggregated(values: Sequence[float], weights: Sequence[float], how: str) -> Value:
    """One score of one value per column.

    >>> [aggregated([0.5, 1], [1, 0.5], how) for how in ("arithmetic_mean", "sum", "max", "rank")]
    [0.5, 1.0, 0.5, (0.5, 0.5)]
    >>> aggregated([0, 3], [1, 1], "geometric_mean"), aggregated([0, 3], [0.25, 1], "geometric_mean")
    (1.0, 0.0)
    """
    weighted = [value * weight for value, weight in zip(values, weights, strict=True)]
    d = len(weighted)
    if how == "arithmetic_mean":
        return sum(weighted) / d
    if how == "sum":
        return sum(weighted)
    if how == "max":
        return max(weighted)
    if how == "rank":
        return tuple(sorted(weighted, reverse=True))
    if how == "geometric_mean":
        return math.prod((value + 1) * weight for value, weight in zip(values, weights, strict=True)) ** (1 / d) - 1
    raise ValueError(how)


def shares(table: Table, outcome: Outcome, labels: Labels) -> list[Fraction]:
    """Per column, the part of the domain's leaves that lie under the label."""
    return [
        Fraction(table.n_leaves(column, label, level), table.domain_size(column))
        for column, label, level in zip(table.columns, labels, outcome.node, strict=True)
    ]


def loss(gs_factor: float = 0.5, aggregate: str = "geometric_mean", weights: Weights = None) -> Score:
    """Per column the mean share of the domain, scaled so that leaves are 0 and roots are 1."""
    g, s = factors(gs_factor)

    def score(table: Table, outcome: Outcome) -> Value:
        totals = [0.0] * len(table.columns)
        for labels, rows in outcome.groups.items():
            for j, share in enumerate(shares(table, outcome, labels)):
                cell = float(share) + s * (1 - float(share)) if labels in outcome.suppressed else g * float(share)
                totals[j] += len(rows) * cell
        n = len(table.rows)
        values = []
        for total, column in zip(totals, table.columns, strict=True):
            least = g * n / table.domain_size(column)
            values.append(max(0.0, (total - least) / (n - least)) if n > least else 0.0)
        return aggregated(values, weights_of(table.columns, weights), aggregate)

    return score


def bits(parts: Counter[str], whole: Counter[str], whole_of_part: Mapping[str, str]) -> float:
    """Bits it takes to name each row's part once its whole is known."""
    return -sum(count * math.log2(count / whole[whole_of_part[part]]) for part, count in parts.items())


def entropy(
    monotonic: bool = False,
    normalized: bool = False,
    gs_factor: float = 0.5,
    aggregate: str = "sum",
    weights: Weights = None,
) -> Score:
    """Bits lost per column: leaf to label over all rows, then label to `*` among the suppressed rows.

    Monotonic leaves the second part out; normalized divides by the bits of the column itself, and a column of
    one value loses nothing.
    """
    g, s = factors(gs_factor)

    def one(table: Table, outcome: Outcome, j: int) -> float:
        column, level = table.columns[j], outcome.node[j]
        leaves = Counter(row[column] for row in table.rows)
        label_of_leaf = {leaf: table.hierarchies[column][leaf][level] for leaf in leaves}
        labels = Counter(label_of_leaf[row[column]] for row in table.rows)
        value = g * bits(leaves, labels, label_of_leaf)
        if not monotonic:
            gone = Counter(t[j] for t in outcome.suppressed for _ in outcome.groups[t])
            value += s * bits(gone, Counter({"*": outcome.n_suppressed}), dict.fromkeys(gone, "*"))
        if normalized:
            most = g * bits(leaves, Counter({"*": len(table.rows)}), dict.fromkeys(leaves, "*"))
            value = value / most if most > 0 else 0.0
        return value

    def score(table: Table, outcome: Outcome) -> Value:
        values = [one(table, outcome, j) for j in range(len(table.columns))]
        return aggregated(values, weights_of(table.columns, weights), aggregate)

    return score


def precision(
    monotonic: bool = False, gs_factor: float = 0.5, aggregate: str = "arithmetic_mean", weights: Weights = None
) -> Score:
    """Per column the level over the height, and 1 for a suppressed row; monotonic counts no row as suppressed."""
    g, s = factors(gs_factor)

    def score(table: Table, outcome: Outcome) -> Value:
        n = len(table.rows)
        gone = 0 if monotonic else outcome.n_suppressed
        risen = [level / height if height else 0.0 for level, height in zip(outcome.node, table.heights, strict=True)]
        values = [((n - gone) * g * part + gone * s) / n for part in risen]
        return aggregated(values, weights_of(table.columns, weights), aggregate)

    return score


def height(aggregate: str = "sum", weights: Weights = None) -> Score:
    """The levels themselves."""

    def score(table: Table, outcome: Outcome) -> Value:
        return aggregated(outcome.node, weights_of(table.columns, weights), aggregate)

    return score


def discernibility(monotonic: bool = False) -> Score:
    """Each row counts its group, a suppressed row counts the table; monotonic sees no suppression."""

    def score(table: Table, outcome: Outcome) -> Value:
        gone = frozenset() if monotonic else outcome.suppressed
        return float(
            sum(len(rows) * (len(table.rows) if t in gone else len(rows)) for t, rows in outcome.groups.items())
        )

    return score


def average_class_size(gs_factor: float = 0.5) -> Score:
    """Rows per group; all suppressed rows are one further group. The two factors change places, as in ARX."""
    g, s = factors(gs_factor)

    def score(table: Table, outcome: Outcome) -> Value:
        kept = len(outcome.groups) - len(outcome.suppressed)
        size = kept * s + (g if outcome.suppressed else 0.0)
        return len(table.rows) / size if size else math.inf

    return score


def cells(table: Table, outcome: Outcome, labels: Labels) -> int:
    """Leaf tuples a group's rows may have been; all of the domain's for a suppressed group."""
    if labels in outcome.suppressed:
        return math.prod(table.domain_size(column) for column in table.columns)
    return math.prod(
        table.n_leaves(column, label, level)
        for column, label, level in zip(table.columns, labels, outcome.node, strict=True)
    )


def ambiguity() -> Score:
    """Leaf tuples each row may have been, summed."""

    def score(table: Table, outcome: Outcome) -> Value:
        return float(sum(len(rows) * cells(table, outcome, labels) for labels, rows in outcome.groups.items()))

    return score


def classification(on: str, gs_factor: float = 0.5) -> Score:
    """Penalties of the response column, over the largest penalty of the whole table.

    A suppressed row costs `gs_factor`, a row off its group's majority g, a row of a group without majority s.
    """
    g, s = factors(gs_factor)

    def penalty(responses: Counter[str]) -> float:
        first, second = [count for _, count in [*responses.most_common(2), ("", 0)]][:2]
        return (responses.total() - first) * g if first > second else responses.total() * s

    def score(table: Table, outcome: Outcome) -> Value:
        total = sum(
            len(rows) * gs_factor if labels in outcome.suppressed else penalty(Counter(table.rows[r][on] for r in rows))
            for labels, rows in outcome.groups.items()
        )
        return total / (max(gs_factor, g, s) * len(table.rows))

    return score


def kl_divergence() -> Score:
    """Bits from the leaf tuples to their groups, each spread evenly over its cells.

    Summed over rows, not over distinct tuples, as in ARX: a tuple that occurs twice counts twice.
    """

    def score(table: Table, outcome: Outcome) -> Value:
        n = len(table.rows)
        bottom = (0,) * len(table.columns)
        times = Counter(table.labels(row, bottom) for row in table.rows)
        total = 0.0
        for labels, rows in outcome.groups.items():
            mass = outcome.n_suppressed if labels in outcome.suppressed else len(rows)
            q = mass / n / cells(table, outcome, labels)
            for r in rows:
                p = times[table.labels(table.rows[r], bottom)] / n
                total += p * math.log2(p / q)
        return total

    return score


@dataclass(frozen=True)
class Lattice:
    """All of it: outcomes, the valid nodes, the minimal ones among them, the best score and who has it."""

    outcomes: dict[Node, Outcome]
    scores: dict[Node, Value]
    valid: set[Node]
    minimal: set[Node]
    best: Value | None
    best_nodes: set[Node]


def most_suppressed(limit: float, n_rows: int) -> int:
    """Rows that may go: the product in floats, rounded down, as in ARX.

    >>> most_suppressed(0.04, 30162), most_suppressed(0.29, 100)
    (1206, 28)
    """
    return math.floor(limit * n_rows)


def below(node: Node) -> list[Node]:
    """Nodes with one column one level lower."""
    return [(*node[:j], level - 1, *node[j + 1 :]) for j, level in enumerate(node) if level]


def exhaustive(table: Table, keeps: Keeps, limit: float, score: Score) -> Lattice:
    """Every node: valid if at most the limit's rows go, minimal if valid and no node right below it is."""
    outcomes = {node: generalize(table, node, keeps) for node in table.nodes()}
    allowed = most_suppressed(limit, len(table.rows))
    valid = {node for node, outcome in outcomes.items() if outcome.n_suppressed <= allowed}
    minimal = {node for node in valid if not any(lower in valid for lower in below(node))}
    scores = {node: score(table, outcome) for node, outcome in outcomes.items()}
    best = min((scores[node] for node in valid), default=None)
    return Lattice(outcomes, scores, valid, minimal, best, {node for node in valid if near(scores[node], best)})


def near(a: Value, b: Value | None) -> bool:
    """The same score up to the noise of floats."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return all(near(x, y) for x, y in zip(a, b, strict=True))
    return (
        isinstance(a, float | int) and isinstance(b, float | int) and math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)
    )
