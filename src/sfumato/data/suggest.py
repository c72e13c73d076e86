"""Hierarchies suggested for columns, with the reason and how full their nodes are; nothing is grouped by frequency.

Suggestions are rules, not lists of what is common or rare in the data: such a list would publish facts about it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.dataset import Dataset
from sfumato.data.hierarchies.masking import masking
from sfumato.data.hierarchies.prefixes import prefixes
from sfumato.data.hierarchies.rule import Hierarchy, Placed, Source
from sfumato.data.hierarchies.suppression import suppression
from sfumato.data.occupancy import Occupied, occupied
from sfumato.data.prepare import placed_column
from sfumato.data.propose import propose_for
from sfumato.data.source import source_of
from sfumato.data.tabular import Tabular
from sfumato.errors import SchemaError

SEPARATORS = ".-/_: "
CODE = "^[A-Za-z0-9]*[0-9][A-Za-z0-9]*$"
LONGEST_CODE = 12
ENOUGH = 0.5
"""Share of different values that must have their beginning in common with another one."""
RANGE = "Declare low and high if you know what is possible, so that no end stays open."


@dataclass(frozen=True)
class Suggestion:
    """What is suggested for one column: the hierarchy (None: leave it to the automatic grid), why, and its levels."""

    column: str
    hierarchy: Hierarchy | None
    reason: str
    levels: tuple[Occupied, ...]


class Suggestions(Tabular, Mapping[str, Hierarchy]):
    """Suggested hierarchies by column, as `publish(hierarchies=…)` takes them, and as a table with the reasons.

    The table has a row per column; its lists speak of the levels from the values up: nodes that hold anything, units
    of the smallest and of the middle one.
    """

    def __init__(self, found: Sequence[Suggestion]) -> None:
        self.details = {one.column: one for one in found}
        self._hierarchies = {one.column: one.hierarchy for one in found if one.hierarchy is not None}
        super().__init__(_table(found))

    def __getitem__(self, column: str) -> Hierarchy:
        return self._hierarchies[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._hierarchies)

    def __len__(self) -> int:
        return len(self._hierarchies)


def suggest(dataset: Dataset, k: int) -> Suggestions:
    """A hierarchy for every quasi-identifier, or for every column when none has a role; k units make a node full."""
    names = dataset.schema.names("quasi") or tuple(c.name for c in dataset.schema if c.role is None)
    return Suggestions([suggest_one(dataset, name, k) for name in names])


def suggest_one(dataset: Dataset, column: str, k: int) -> Suggestion:
    """The hierarchy suggested for one column."""
    source = source_of(dataset, column, max(k, 2))
    try:
        hierarchy, reason = _chosen(source)
        placed = hierarchy.place(source)
    except SchemaError as error:
        return Suggestion(column, None, f"No grid fits: {error}", ())
    return Suggestion(column, hierarchy, reason, occupied(dataset, column, placed))


def levels_under(dataset: Dataset, column: str, hierarchy: Hierarchy | None, k: int) -> tuple[Occupied, ...]:
    """The levels of a column under a hierarchy, or under what publishing does without one; errors as in publishing."""
    placed: Placed = placed_column(dataset, column, hierarchy, max(k, 2))
    return occupied(dataset, column, placed)


def _chosen(source: Source) -> tuple[Hierarchy, str]:
    """A hierarchy that places this column, and the reason."""
    kind = source.domain.kind
    found = propose_for(source)
    if kind == "date" and found is not None:
        return found, f"Dates: calendar units. {RANGE}"
    if kind in ("integer", "decimal", "real") and found is not None:
        return found, f"Numbers: bands of round widths that nest. {RANGE}"
    if found is not None:
        return found, "Codes of digits of one length: the last ones are masked first, as in postal codes."
    if kind == "boolean":
        return suppression(), "Two values: one of them or nothing."
    return _of_texts(source.domain.values)


def _of_texts(values: pa.Array) -> tuple[Hierarchy, str]:
    """Codes by their beginnings where many share one; else the value or nothing."""
    texts = values.to_pylist()
    share, separator = max(((prefixes(one).shared(texts), one) for one in SEPARATORS), key=lambda found: found[0])
    if share >= ENOUGH:
        said = f"{share:.0%} of its values have what stands before {separator!r} in common with another"
        return prefixes(separator), f"Parts: {said}. Check that this says what they are, not only how they are spelt."
    if _are_codes(values):
        return masking(), "Codes with digits, of one length, that share their beginnings: masked from the right."
    return suppression(), (
        "Names without shared parts: the value or nothing. If you know an order or groups, ordered, groups or a file "
        "keep more; without any hierarchy Mondrian publishes sets of values."
    )


def _are_codes(values: pa.Array) -> bool:
    """Letters and digits, of one length, with at least one digit; half of them share the first half with another."""
    if len(values) < 2 or not pc.all(pc.match_substring_regex(values, CODE)).as_py():
        return False
    ends = pc.min_max(pc.utf8_length(values)).as_py()
    if ends["min"] != ends["max"] or not 2 <= ends["min"] <= LONGEST_CODE:
        return False
    counts = pc.value_counts(pc.utf8_slice_codeunits(values, 0, (ends["min"] + 1) // 2)).field("counts")
    shared = pc.sum(counts.filter(pc.greater(counts, 1))).as_py() or 0
    return bool(shared / len(values) >= ENOUGH)


def _table(found: Sequence[Suggestion]) -> pa.Table:
    """One row a column."""
    specs = [None if one.hierarchy is None else written(one.hierarchy) for one in found]
    return pa.table(
        {
            "column": pa.array([one.column for one in found], pa.string()),
            "hierarchy": pa.array(specs, pa.string()),
            "nodes": pa.array([[level.n_nodes for level in one.levels] for one in found], pa.list_(pa.int64())),
            "smallest": pa.array([[level.smallest for level in one.levels] for one in found], pa.list_(pa.int64())),
            "median": pa.array([[level.median for level in one.levels] for one in found], pa.list_(pa.float64())),
            "reason": pa.array([one.reason for one in found], pa.string()),
        }
    )


def written(hierarchy: Hierarchy) -> str:
    """A hierarchy's spec in one line.

    >>> written(masking())
    '{"masking": "right"}'
    """
    return json.dumps(hierarchy.spec(), ensure_ascii=False)
