"""A published recoding applied to new rows: each in the published box that holds it, every promise judged anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.contracts import Promise, Recipe, Release, Requirement
from sfumato.data.codec import Codes, Domain, encode_into
from sfumato.data.dataset import from_arrow
from sfumato.data.evidence import Groups, group_evidence
from sfumato.data.hierarchy import Hierarchy, prepare
from sfumato.declared import exact
from sfumato.errors import Incompatible, Infeasible, ParameterError, SchemaError
from sfumato.methods.feasibility import described, units_repeat
from sfumato.methods.tables.placing import Boxes, Several, placed_rows
from sfumato.releases.generalized import Generalized
from sfumato.releases.listed import is_sorted

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.data.dataset import Dataset

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

AFTER = (
    "What is promised was judged on these rows alone, and on them together with the {n} published rows of {name!r}, "
    "every row being another person. Nothing is promised about a person who has rows in both: whoever knows that can "
    "intersect what the two tell."
)


@dataclass(frozen=True)
class Wishes:
    """What is done with rows in several boxes, and whether groups that fail are refused instead of suppressed."""

    several: Several = "suppress"
    strict: bool = False


@dataclass(frozen=True)
class Tally:
    """What became of the new rows: for the custodian only, as it tells why rows are suppressed."""

    n_rows: int
    n_published: int
    n_nowhere: int
    n_several: int
    n_failing_alone: int
    n_failing_together: int


@dataclass(frozen=True, eq=False)
class Joined:
    """The exact columns of old and new rows on common domains."""

    domains: Mapping[str, Domain]
    old: Mapping[str, Codes]
    new: Mapping[str, Codes]


@dataclass(frozen=True, eq=False)
class Task:
    """Old rows in boxes, new rows to put into them, and what must hold."""

    old: Generalized
    boxes: Boxes
    joined: Joined
    requirements: Sequence[Requirement]

    def evidence(self, box: Ints, rows: Ints, together: bool) -> tuple[Ints, Groups]:
        """The boxes that hold anything, and evidence of new rows (and of the old ones, when together) in them."""
        group, sensitive = box[rows], {c: self.joined.new[c][rows] for c in self._sensitive}
        if together:
            group = np.concatenate([group, self.boxes.of[self.old.group]])
            sensitive = {c: np.concatenate([codes, self.joined.old[c]]) for c, codes in sensitive.items()}
        held, dense = np.unique(group, return_inverse=True)
        found = group_evidence(dense.astype(np.int64), len(held), sensitive, self.joined.domains, None)
        return held, found

    @property
    def _sensitive(self) -> tuple[str, ...]:
        return self.old.schema.names("sensitive")


def reapply(
    release: Release,
    rows: Dataset,
    requirements: Sequence[Requirement],
    hierarchies: Mapping[str, Hierarchy],
    wishes: Wishes,
    chance: Chance,
) -> tuple[Generalized, Tally]:
    """The new rows in the regions of a generalized release, with its promises judged anew.

    A row is published in the box that holds it; rows in none, in several, or in groups that fail a promise, alone or
    together with the old rows, are suppressed. Of promises on single groups most rows stay; a promise that reads the
    whole table (t-closeness) is met step by step. Does not protect persons who have rows in both releases.
    """
    old = _usable(release, rows, requirements).published()
    boxes = Boxes.published(old)
    placed = placed_rows(old, boxes, rows, hierarchies, wishes.several)
    task = Task(old, boxes, _joined(old, rows, hierarchies), requirements)
    kept, n_alone, n_together = _passing(task, placed.box)
    tally = Tally(rows.n_rows, len(kept), placed.n_nowhere, placed.n_several, n_alone, n_together)
    if wishes.strict and n_alone + n_together:
        raise Infeasible(
            f"Not every promise of {old.name!r} holds for the new rows: {n_alone} lie in groups that fail on the new "
            f"rows alone, {n_together} in groups that fail together with the old ones. Without strict they are "
            "suppressed."
        )
    if not len(kept):
        raise Infeasible(
            f"None of the {tally.n_rows} new rows can be published: {tally.n_nowhere} lie in no published region, "
            f"{tally.n_several} in several, {n_alone + n_together} in groups that fail a promise. Publish them anew."
        )
    made = _release(task, rows, placed.box, kept, chance)
    return made.with_recipe(_recipe(task, made, wishes, chance)), tally


def refuse_populations(promises: Sequence[Mapping[str, Any]]) -> None:
    """Raise `Incompatible` for promises about a population that a package does not hold, or of which the new rows are
    another share."""
    for one in promises:
        size = one.get("population", one.get("population_size"))
        if one["model"] == "delta-presence" or size == "table" or (size is not None and exact(size) <= 1):
            raise Incompatible(
                f"The release promises {one['model']} of a population that the package does not hold, or of which its "
                "rows are a stated share. New rows are another share of it: publish them anew."
            )


def _usable(release: Release, rows: Dataset, requirements: Sequence[Requirement]) -> Generalized:
    """The release, when its recoding can be applied to these rows and its promises judged on both."""
    if not isinstance(release, Generalized):
        raise Incompatible(
            f"A release of the form {release.form!r} has no regions to put new rows into. Publish the new rows anew."
        )
    if release.recipe.unit != "row" or units_repeat(rows):
        raise Incompatible(
            "Persons with several rows cannot be counted over two releases, as a package does not say whose row is "
            "whose. Publish old and new rows together."
        )
    for requirement in requirements:
        if requirement.reads != "groups":
            raise Incompatible(
                f"{described(requirement)} reads more than groups, which a package does not hold. Publish anew."
            )
    missing = [column.name for column in release.schema if column.name not in rows.schema]
    if missing:
        raise SchemaError(f"The new rows lack {', '.join(missing)}, which the release has. Give the same columns.")
    return release


def _joined(old: Generalized, rows: Dataset, hierarchies: Mapping[str, Hierarchy]) -> Joined:
    """Sensitive and plain columns of both on common domains, in the order that the old ones have."""
    names = old.schema.names("sensitive", "plain")
    values = {name: _values(old.domains[name], rows, name) for name in names}
    domains, before, after = {}, {}, {}
    for name in names:
        domain = old.domains[name]
        if domain.levels or not is_sorted(domain):
            codes = encode_into(domain, values[name])
            if not (codes < 0).any():
                domains[name], before[name], after[name] = domain, old.exact[name], codes
                continue
            if name not in hierarchies:
                raise ParameterError(
                    f"Column {name!r} was published in the order of a hierarchy, and the new rows hold values that it "
                    f"does not list. Give that hierarchy: hierarchies={{{name!r}: …}}, or a project file that has it."
                )
        both = pa.chunked_array([domain.decode(old.exact[name]), values[name]])
        rule = {name: hierarchies[name]} if name in hierarchies and old.schema[name].role == "sensitive" else {}
        found = prepare(from_arrow(pa.table({name: both})).roles(sensitive=[name]), rule, 2)
        domains[name] = found.domains[name]
        before[name], after[name] = np.split(found.codes[name], [len(old.group)])
    return Joined(domains, before, after)


def _values(domain: Domain, rows: Dataset, name: str) -> pa.Array:
    """The new rows' cells in the type that the release has."""
    raw = rows.domains[name]
    try:
        return raw.with_missing().cast(domain.values.type).take(pa.array(rows.codes[name]))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise SchemaError(
            f"Column {name!r} is of kind {raw.kind} in the new rows, {domain.kind} in the release, and some values do "
            "not fit. Read it as that kind, or correct them."
        ) from None


def _passing(task: Task, box: Ints) -> tuple[Ints, int, int]:
    """New rows whose groups meet every promise alone and together with the old rows; how many failed either."""
    rows = np.flatnonzero(box >= 0)
    failed = [0, 0]
    while len(rows):
        for together in (False, True):
            held, evidence = task.evidence(box, rows, together)
            failing = held[~_kept(task.requirements, evidence, together)]
            out = np.isin(box[rows], failing)
            if out.any():
                break
        else:
            if all(one.holds(evidence).holds for one in task.requirements):
                return rows, failed[0], failed[1]
            # Groups without a new row fail, as the new rows changed what they are compared with.
            out = np.ones(len(rows), dtype=np.bool_)
        failed[int(together)] += int(out.sum())
        rows = rows[~out]
    return rows, failed[0], failed[1]


def _kept(requirements: Sequence[Requirement], evidence: Groups, together: bool) -> Bools:
    """Which groups may stay; old rows cannot go, so together only groups that fail on their own are told."""
    kept = np.ones(evidence.n_groups, dtype=np.bool_)
    for requirement in requirements:
        if not requirement.holds(evidence).holds:
            kept &= requirement.passes(evidence) if together else requirement.keeps(evidence)
    return kept


def _release(task: Task, rows: Dataset, box: Ints, kept: Ints, chance: Chance) -> Generalized:
    """The kept rows in their boxes; rows and group ids in random order."""
    old, n_suppressed = task.old, rows.n_rows - len(kept)
    kept = kept[chance.permutation(len(kept))]
    held, dense = np.unique(box[kept], return_inverse=True)
    ids = chance.permutation(len(held))
    place = np.argsort(ids)
    both = (task.boxes.low[held[place]], task.boxes.high[held[place]])
    low, high = ({c: ends[:, j].copy() for j, c in enumerate(old.regions)} for ends in both)
    domains = {**old.domains, **task.joined.domains}
    if n_suppressed:
        # A suppressed row may hold what the old rows' domains do not know.
        domains |= {c: replace(old.domains[c], complete=False) for c in old.regions}
    exact = {c: codes[kept] for c, codes in task.joined.new.items()}
    group = ids[dense].astype(np.int64)
    return Generalized(rows.name, old.schema, domains, low, high, group, exact, old.recipe, n_suppressed)


def _recipe(task: Task, made: Generalized, wishes: Wishes, chance: Chance) -> Recipe:
    """How it was made and what was judged on the finished release."""
    evidence = made.evidence()
    assert evidence is not None
    promises = []
    for requirement in task.requirements:
        verdict = requirement.holds(evidence)
        if not verdict.holds:
            raise Infeasible(f"{described(requirement)} does not hold on the new rows. Publish them anew.")
        on = next(iter(requirement.columns), None)
        promises.append(Promise(requirement.model, requirement.parameters(), on, verdict.achieved))
    old = task.old
    roles = ", ".join(f"{c.name}: {'quasi-identifier' if c.role == 'quasi' else c.role}" for c in old.schema)
    notes = [f"Roles: {roles}.", f"The recoding of {old.name!r}, made by {old.recipe.method}, was applied to new rows."]
    notes.append(AFTER.format(n=len(old.group), name=old.name))
    if made.n_suppressed:
        notes.append(f"{made.n_suppressed} of {made.n_rows} rows are suppressed: known to exist, every cell unknown.")
    opened = [c for c in old.regions if old.domains[c].open_low or old.domains[c].open_high]
    if opened:
        notes.append(f"The outermost values are published as that value or beyond in: {', '.join(opened)}.")
    parameters = {"of": old.name, "several": wishes.several}
    return Recipe("reapply", parameters, tuple(promises), "row", chance.reproducible, tuple(notes))
