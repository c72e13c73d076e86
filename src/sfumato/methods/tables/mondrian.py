"""Mondrian: recursive cuts of the quasi-identifier space, as fine as the requirements allow."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.contracts import Method, Recipe, Requirement, Twin
from sfumato.data.evidence import Groups
from sfumato.data.schema import Schema
from sfumato.declared import declared
from sfumato.errors import Incompatible
from sfumato.kernels.mondrian import Compiled, Lanes, Rules, part
from sfumato.kernels.mondrian_levels import part_by_levels
from sfumato.methods.feasibility import not_found, refuse_infeasible, refuse_unreadable, units_repeat, whole_table
from sfumato.methods.tables.regions import Ranked, Regions, judged, mended
from sfumato.releases.generalized import Generalized

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.data.dataset import Dataset

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

MOST_RANKS = 1 << 16
# Below these many rows NumPy is done before compiled code is loaded, or called once it is.
WORTH_LOADING, WORTH_CALLING = 300_000, 3_000


@declared
class Mondrian(Method):
    """Groups by recursive cuts along the column that spans the largest share of its domain; a cut stands when both
    halves meet every requirement, else the next column is tried. Categories are cut in leaf order.

    `strict`: equal rows stay together, regions do not overlap on codes; `relaxed`: rows at the split value are dealt
    to both sides, in even halves. `cut` (strict): the boundary `nearest` the middle, or the paper's `median`.
    Does not protect against more than the requirements say; the cuts depend on the data.
    LeFevre, DeWitt, Ramakrishnan 2006, figure 4.

    >>> Mondrian(cut="median").parameters()
    {'recoding': 'strict', 'cut': 'median'}
    """

    recoding: Literal["strict", "relaxed"] = field(default="strict", kw_only=True)
    cut: Literal["nearest", "median"] = field(default="nearest", kw_only=True)
    name: ClassVar[str] = "mondrian"

    def parameters(self) -> Mapping[str, Any]:
        """Recoding and cut."""
        return {"recoding": self.recoding, "cut": self.cut}

    def accepts(self, dataset: Dataset, requirements: Sequence[Requirement]) -> None:
        """Any requirement on group counts of sensitive columns; at least one quasi-identifier."""
        if not dataset.schema.names("quasi"):
            raise Incompatible(
                "Mondrian generalizes quasi-identifiers, but no column has that role. Name them with roles(quasi=…)."
            )
        refuse_unreadable(dataset, requirements)
        for requirement in requirements:
            if requirement.reads != "groups":
                raise Incompatible(
                    f"Mondrian makes groups, but {requirement.model} reads {requirement.reads}. Use another method."
                )

    def publish(self, dataset: Dataset, requirements: Sequence[Requirement], chance: Chance) -> Generalized:
        """Groups that meet every requirement, with their regions; rows and group ids in random order."""
        self.accepts(dataset, requirements)
        refuse_infeasible(dataset, requirements)
        task = _Task(dataset, tuple(requirements), whole_table(dataset, requirements))
        rules = Rules(task.least, median=self.cut == "median", relaxed=self.recoding == "relaxed")
        regions = task.regions(rules, _canonical(task, chance) if rules.relaxed else None)
        recipe = Recipe(self.name, self.parameters(), unit=task.unit, reproducible=chance.reproducible)
        return _release(dataset, regions, recipe, chance)


@dataclass(frozen=True, eq=False)
class _Task:
    """What is to be published under which requirements, with the whole table as one group."""

    dataset: Dataset
    requirements: tuple[Requirement, ...]
    whole: Groups

    @property
    def least(self) -> int:
        """Fewer rows than this never suffice."""
        return max((r.least for r in self.requirements), default=1)

    @property
    def unit(self) -> str:
        """What is counted: rows, or the values of the unit column."""
        return next(iter(self.dataset.schema.names("unit")), "row")

    def regions(self, rules: Rules, order: Ints | None) -> Regions:
        """Groups that pass, those that look alike counted as one.

        Requirements that merging keeps need one search. For the others what fails is merged, then fewer cuts are
        tried, then cuts that nothing holds back.
        """
        if all(r.monotone(units_repeat(self.dataset)) for r in self.requirements):
            return self.part(rules, order)
        domains = [self.dataset.domains[name] for name in self.dataset.schema.names("quasi")]
        for task in (self, replace(self, requirements=())):
            least, n_groups = task.least, 2
            while n_groups > 1:
                cut = task.part(replace(rules, least=least), order)
                found = mended(cut, domains, self._passes)
                if found is not None:
                    return found
                least, n_groups = 2 * least, cut.n_groups
        raise not_found("Mondrian", self.dataset, self.requirements)

    def part(self, rules: Rules, order: Ints | None) -> Regions:
        """Groups of rows: by the kernel when every requirement has a compiled test and the table is worth it."""
        ranked = [
            Ranked.of(self.dataset.codes[name], self.dataset.domains[name])
            for name in self.dataset.schema.names("quasi")
        ]
        lanes = Lanes([one.codes for one in ranked], [one.cells for one in ranked], [one.n_cells for one in ranked])
        tests = self._tests() if self.dataset.units is None and _worth_compiling(self.dataset.n_rows) else None
        if tests is not None:
            parted = part(lanes, rules, tests, order)
        else:
            only_size = self.dataset.units is None and all(self._only_size(r) for r in self.requirements)
            parted = part_by_levels(lanes, rules, None if only_size else self._passes, order)
        return Regions.of(parted, ranked)

    def _only_size(self, requirement: Requirement) -> bool:
        """Reads no column, and the smallest group allowed passes: then so does every larger one."""
        sizes = np.array([requirement.least], dtype=np.int64)
        return not requirement.columns and bool(requirement.passes(replace(self.whole, sizes=sizes)).all())

    def _tests(self) -> Compiled | None:
        """Compiled tests of all requirements; None when one has none."""
        twins = [requirement.twin() for requirement in self.requirements if not self._only_size(requirement)]
        known = [twin for twin in twins if twin is not None and twin.column is not None]
        columns = list(dict.fromkeys(twin.column for twin in known if twin.column is not None))
        if len(known) < len(twins) or any(self.dataset.domains[c].size > MOST_RANKS for c in columns):
            return None
        calls = [self._call(twin, columns) for twin in known]
        return Compiled([self.dataset.codes[c].astype(np.uint16) for c in columns], calls)

    def _call(self, twin: Twin, columns: list[str]) -> tuple[int, int, Sequence[float], NDArray[np.float64]]:
        assert twin.column is not None
        table = np.zeros(0) if twin.table is None else twin.table(self.whole.totals[twin.column])
        return twin.test.address, columns.index(twin.column), twin.parameters, table

    def _passes(self, rows: NDArray[Any], starts: Ints) -> Bools:
        """Judge groups of rows on evidence in distinct units, against the totals of the whole table."""
        return judged(self.dataset, self.requirements, self.whole)(rows, starts)


def _worth_compiling(n_rows: int) -> bool:
    """Whether the kernel pays for itself; the groups are the same."""
    return n_rows >= (WORTH_CALLING if "sfumato.kernels.mondrian_grow" in sys.modules else WORTH_LOADING)


def _canonical(task: _Task, chance: Chance) -> Ints:
    """Rows by sensitive, then quasi-identifying codes: input order decides nothing; equal rows in random order."""
    codes, schema = task.dataset.codes, task.dataset.schema
    random = chance.permutation(task.dataset.n_rows)
    keys = list(dict.fromkeys([*task.whole.counts, *schema.names("sensitive"), *schema.names("quasi")]))
    return random[np.lexsort([codes[name][random] for name in reversed(keys)])]


def _release(dataset: Dataset, regions: Regions, recipe: Recipe, chance: Chance) -> Generalized:
    """The smallest publishable region around every group; rows and group ids in random order."""
    n_groups = len(regions.starts) - 1
    ids = chance.permutation(n_groups).astype(np.int32)
    group_of = np.empty(dataset.n_rows, dtype=np.int32)
    group_of[regions.rows] = np.repeat(ids, np.diff(regions.starts))
    low, high = {}, {}
    for name, least, most in zip(dataset.schema.names("quasi"), regions.low, regions.high, strict=True):
        first, last = dataset.domains[name].cover(least, most)
        low[name], high[name] = np.empty_like(first), np.empty_like(last)
        low[name][ids], high[name][ids] = first, last
    order = chance.permutation(dataset.n_rows)
    exact = {name: dataset.codes[name][order] for name in dataset.schema.names("sensitive", "plain")}
    published = dataset.schema.names("quasi", "sensitive", "plain")
    schema = Schema(tuple(column for column in dataset.schema if column.name in published))
    domains = {name: dataset.domains[name] for name in published}
    group = group_of[order].astype(np.int64)
    return Generalized(dataset.name, schema, domains, low, high, group, exact, recipe)
