"""Promises counted in distinct persons of the original: exactly, or by the best and the least each group can have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.contracts import Finding
from sfumato.verify.best_case import contradicted
from sfumato.verify.cells import Cells
from sfumato.verify.containment import Matched
from sfumato.verify.models import Group, Unknown, fraction
from sfumato.verify.models_of_numbers import OF_NUMBERS
from sfumato.verify.promises import (
    Judged,
    check_promises,
    evidence_of_cells,
    judge_one,
    name_of,
    order_and_levels,
    speaks_of_published,
)
from sfumato.verify.raw_table import coded, exact_keys, tuples

Ints = NDArray[np.int64]
MOST_PAIRS = 20_000_000


def check_persons(cells: Cells, guarantees: Any, raw: pa.Table, found: Matched) -> Iterator[Finding]:
    """Every promise in distinct persons: it holds, it fails, or what is known of the groups leaves it open."""
    unit = guarantees["unit"]
    persons = Persons(cells, raw, found, _numbered(raw, unit))
    if persons.settled:
        yield from check_promises(cells, guarantees, persons.exactly, f"persons by {unit}")
        return
    for one in guarantees["guarantees"]:
        check = f"promise {name_of(one)}"
        try:
            yield _judged(persons, one, check)
        except (Unknown, KeyError, TypeError, ValueError, ZeroDivisionError):
            yield Finding(check, False, "guarantees.json states it in a way that is not known.")


def check_unseen(cells: Cells, guarantees: Any) -> Iterator[Finding]:
    """Every promise in persons without the original: it fails where even the best case of the bytes does, else open."""
    look = evidence_of_cells(cells)
    for one in guarantees["guarantees"]:
        check = f"promise {name_of(one)}"
        try:
            yield _unseen(cells, one, look(one["on"]), check)
        except (Unknown, KeyError, TypeError, ValueError, ZeroDivisionError):
            yield Finding(check, False, "guarantees.json states it in a way that is not known.")


def _unseen(cells: Cells, one: Mapping[str, Any], judged: Judged, check: str) -> Finding:
    if not speaks_of_published(cells, one):
        return Finding(check, False, "It speaks of a column that is not published as sensitive.")
    if not judged.groups:
        return Finding(check, True, "No rows are published, so no group can fail.")
    if contradicted(judged, one):
        return Finding(check, False, "It cannot hold, however rows belong to persons.", {"rows": min(judged.sizes)})
    detail = (
        "Not decided: it counts persons by a column that is not published, which cannot be from the bytes alone. "
        "Nothing published contradicts it. Give the original (--raw, raw=) to count again."
    )
    return Finding(check, True, detail, decided=False)


def _judged(persons: Persons, one: Mapping[str, Any], check: str) -> Finding:
    if not speaks_of_published(persons.cells, one):
        return Finding(check, False, "It speaks of a column that is not published as sensitive.")
    rows = evidence_of_cells(persons.cells)(one["on"])
    if not rows.groups:
        return Finding(check, True, "No rows are published, so no group can fail.")
    if contradicted(replace(rows, sizes=persons.most, alike=persons.alike_most), one) or _fails_surely(persons, one):
        return Finding(check, False, "It does not hold, however rows are matched with groups.")
    if _holds_surely(persons, rows, one):
        return Finding(check, True, "It holds, however rows are matched with groups.")
    n_open = int(persons.found.n_free)
    detail = (
        f"Not decided: {n_open} rows could belong to several groups or be suppressed instead of others, and what the "
        "groups surely have neither meets nor fails it. It was counted at publication."
    )
    return Finding(check, True, detail, {"free": n_open}, decided=False)


def _fails_surely(persons: Persons, one: Mapping[str, Any]) -> bool:
    """A group whose rows are all known fails on its own."""
    model = one["model"]
    if model not in ("l-diversity", "alpha-k", "t-closeness", *OF_NUMBERS) or not persons.sure.any():
        return False
    if model == "t-closeness" and persons.cells.n_suppressed:
        return False
    known = persons.surely(one["on"])
    if model == "alpha-k":
        known = replace(known, alike=[int(fraction(one["parameters"]["k"]))])
    return not judge_one(known, one)[0]


def _holds_surely(persons: Persons, rows: Judged, one: Mapping[str, Any]) -> bool:
    """Sizes alone decide, and every group has enough persons in rows that can be nowhere else."""
    model, parameters = one["model"], one["parameters"]
    told = {key: fraction(value) for key, value in one["achieved"].items()}
    if model == "k-anonymity":
        return min(persons.alike_least) >= max(fraction(parameters["k"]), told["k"])
    if model == "group-size":
        return min(persons.least) >= max(fraction(parameters["k"]), told["k"])
    if model == "l-diversity" and parameters.get("kind", "distinct") == "distinct":
        l = max(fraction(parameters["l"]), told["l"])
        return min(len(group) for group in rows.groups) >= l and min(persons.least) >= l
    return False


@dataclass(frozen=True)
class Persons:
    """Who may be in which group. `person[row]` numbers the persons of the original's rows."""

    cells: Cells
    raw: pa.Table
    found: Matched
    person: Ints

    @cached_property
    def pairs(self) -> tuple[Ints, Ints] | None:
        """(row, group) wherever a row could belong; None when there are too many to write down."""
        kinds, groups = self.found.choices
        n_rows = np.bincount(self.found.types, minlength=int(kinds.max(initial=-1)) + 1)
        if int(n_rows[kinds].sum()) > MOST_PAIRS:
            return None
        order = np.argsort(self.found.types, kind="stable")
        start = (np.cumsum(n_rows) - n_rows)[kinds]
        times = n_rows[kinds]
        nth = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
        return order[np.repeat(start, times) + nth], np.repeat(groups, times)

    @cached_property
    def most(self) -> list[int]:
        """At most so many persons in each group."""
        if self.pairs is None:
            return _whole(self.found.sizes)
        return _whole(np.minimum(self._distinct(*self.pairs), self.found.sizes))

    @cached_property
    def least(self) -> list[int]:
        """At least so many: in rows that can be nowhere else, one where there are none."""
        if self.pairs is None:
            return [1] * len(self.found.sizes)
        rows, groups = self.pairs
        alone = self.sure[groups]
        if not self.cells.n_suppressed:
            alone |= np.bincount(rows, minlength=self.raw.num_rows)[rows] == 1
        return _whole(np.maximum(self._distinct(rows[alone], groups[alone]), 1))

    @cached_property
    def sure(self) -> NDArray[np.bool_]:
        """Groups that need every row that could belong to them."""
        if self.pairs is None:
            return np.zeros(len(self.found.sizes), dtype=np.bool_)
        found: NDArray[np.bool_] = np.bincount(self.pairs[1], minlength=len(self.found.sizes)) == self.found.sizes
        return found

    @property
    def settled(self) -> bool:
        """True when every row's group is known."""
        return bool(self.found.contained) and bool(self.sure.all())

    @cached_property
    def _keys(self) -> tuple[Ints, Ints]:
        """Combinations of exact quasi-identifiers as codes, of published rows and of the original's."""
        keys = [exact_keys(self.cells, c, self.raw.column(c.name)) for c in self.cells.columns if c.role == "quasi"]
        n_mine = self.cells.n_published
        both, _ = tuples([np.concatenate(pair) for pair in keys], n_mine + self.raw.num_rows)
        return both[:n_mine], both[n_mine:]

    def _alike(self, rows: Ints) -> tuple[Ints, Ints, Ints]:
        """Per published combination: its rows, those of these rows that have it, and their persons."""
        mine, theirs = self._keys
        width = int(max(mine.max(initial=-1), theirs.max(initial=-1))) + 1
        here = theirs[rows]
        _, first = tuples([here, self.person[rows]], len(rows))
        counts = [np.bincount(codes, minlength=width) for codes in (mine, here, here[first])]
        kept = counts[0] > 0
        return counts[0][kept], counts[1][kept], counts[2][kept]

    @property
    def _all(self) -> Ints:
        return np.arange(self.raw.num_rows)

    @property
    def alike_most(self) -> list[int]:
        """At most so many persons per published combination of quasi-identifiers."""
        if self.cells.form == "generalized":
            return self.most
        mine, _, persons = self._alike(self._all)
        return _whole(np.minimum(mine, persons))

    @property
    def alike_least(self) -> list[int]:
        """At least so many: of n rows m stay out, each with one person less at most."""
        if self.cells.form == "generalized":
            return self.least
        mine, theirs, persons = self._alike(self._all)
        return _whole(np.maximum(persons - (theirs - mine), 1))

    def exactly(self, on: str | None) -> Judged:
        """Evidence in persons when every row's group is known."""
        rows = np.flatnonzero(self.found.group >= 0)
        return self._evidence(on, rows, self.found.group[rows], rows)

    def surely(self, on: str | None) -> Judged:
        """The same for the groups whose rows are known; the whole table is the original's."""
        assert self.pairs is not None
        rows, groups = self.pairs
        known = self.sure[groups]
        return self._evidence(on, rows[known], groups[known], self._all)

    def _distinct(self, rows: Ints, groups: Ints) -> Ints:
        """Distinct persons per group."""
        _, first = tuples([groups, self.person[rows]], len(rows))
        return np.bincount(groups[first], minlength=len(self.found.sizes))

    def _evidence(self, on: str | None, rows: Ints, groups: Ints, whole: Ints) -> Judged:
        said = self.cells.said(on) if on is not None else None
        values: list[Any] = [None] * self.raw.num_rows
        if said is not None:
            column = coded(self.raw.column(said.name), said.kind)
            values = [column.values[code] for code in column.codes.tolist()]
        members: dict[int, set[int]] = defaultdict(set)
        holders: dict[int, dict[Any, set[int]]] = defaultdict(lambda: defaultdict(set))
        everywhere: dict[Any, set[int]] = defaultdict(set)
        for i, group in zip(rows.tolist(), groups.tolist(), strict=True):
            members[group].add(int(self.person[i]))
            holders[group][values[i]].add(int(self.person[i]))
        for i in whole.tolist():
            everywhere[values[i]].add(int(self.person[i]))
        found: list[Group] = [Counter({v: len(p) for v, p in holders[group].items()}) for group in members]
        total: Group = Counter({value: len(persons) for value, persons in everywhere.items()})
        sizes = [len(one) for one in members.values()]
        alike = sizes if self.cells.form == "generalized" else _whole(self._alike(rows)[2])
        return Judged(found, sizes, total, *order_and_levels(self.cells, on), alike)


def _numbered(raw: pa.Table, unit: str) -> Ints:
    """Persons as numbers; a row whose unit is missing is a person of its own."""
    units = coded(raw.column(unit), "text")
    person = units.codes.copy()
    lone = np.array([value is None for value in units.values], dtype=bool)[person] if len(person) else person > 0
    person[lone] = len(units.values) + np.arange(int(lone.sum()))
    return person


def _whole(numbers: Ints) -> list[int]:
    return [int(n) for n in numbers]
