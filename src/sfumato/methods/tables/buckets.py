"""How many buckets, and which row goes where, so that every bucket meets every requirement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.contracts import Requirement
from sfumato.data.evidence import Counts, Groups, group_evidence
from sfumato.kernels.anatomy import dealt, dealt_again, hands, sorted_by_frequency
from sfumato.methods.feasibility import columns_of, whole_table

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.data.dataset import Dataset

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

# Cells of the table "kinds of bucket × values" that is looked at for one number of buckets.
_MOST_CELLS = 4_000_000
# Up to here every number of buckets is tried.
_TRY_ALL = 512
# Dealing again stops after so many turns, or so many in a row that mend nothing.
_TURNS, _IN_VAIN = 60, 8


@dataclass(frozen=True, eq=False)
class Deal:
    """Rows dealt into buckets.

    One column leads: buckets mirror its distribution. With s rows a bucket and no value more often than there are
    buckets, a bucket holds s different values once each; distinct, entropy and frequency l-diversity then need s ≥ l,
    recursive (c,l) needs 1 < c(s − l + 1), that is s ≥ l − 1 + ⌊1/c⌋ + 1, (α,k) needs s ≥ max(k, 1/α): all are the
    requirements' `least`. More frequent values need fewer, larger buckets, found by looking at what dealing would give.
    Other required columns and units are mended by dealing again inside the leading values, then by merging buckets.
    Merging keeps what holds and the whole table meets everything, unless shares of repeating units are asked for.
    """

    dataset: Dataset
    requirements: tuple[Requirement, ...]
    chance: Chance
    totals: Mapping[str, Ints] | None = None
    """Units per value in the whole table, when these rows are a part of it."""

    def buckets(self) -> Ints | None:
        """Bucket of every row, 0 … G−1, each meeting every requirement; None when none are found.

        Fewer are tried where merging ends in vain.
        """
        n_buckets = most_buckets(self.dataset.n_rows // self._least, self._hands_pass)
        while n_buckets > 0:
            bucket = dealt(self._sorted_rows(), n_buckets)
            if self._is_settled:
                return bucket
            passing = self._passing(bucket, n_buckets)
            bucket, passing = self._dealt_again_where_failing(bucket, passing)
            bucket, passing = self._merged_where_failing(bucket, passing)
            if passing.all():
                return bucket
            n_buckets //= 2
        return None

    @property
    def _least(self) -> int:
        return max((r.least for r in self.requirements), default=1)

    @cached_property
    def _totals(self) -> Mapping[str, Ints]:
        return whole_table(self.dataset, self.requirements).totals if self.totals is None else self.totals

    @cached_property
    def _lead(self) -> str:
        """The required column whose most frequent value is the most frequent; any sensitive one if none is required."""
        columns = columns_of(self.requirements) or self.dataset.schema.names("sensitive")[:1]
        return max(columns, key=lambda c: int(np.bincount(self.dataset.codes[c]).max()))

    @cached_property
    def _lead_counts(self) -> Ints:
        size = self.dataset.domains[self._lead].size
        return np.bincount(self.dataset.codes[self._lead], minlength=size).astype(np.int64)

    @property
    def _is_settled(self) -> bool:
        """Whether what dealing would give was looked at in full: one column, no units, every kind of bucket."""
        present = int((self._lead_counts > 0).sum())
        others = set(columns_of(self.requirements)) - {self._lead}
        return self.dataset.units is None and not others and (present + 2) * present <= _MOST_CELLS

    def _sorted_rows(self) -> Ints:
        """Rows by leading value, in random order inside a value, there with the rows of a unit side by side."""
        order = self.chance.permutation(self.dataset.n_rows)
        units = self.dataset.units
        if units is not None:
            rank = self.chance.permutation(int(units.max()) + 1)[units]
            order = order[np.argsort(rank[order], kind="stable")]
        return sorted_by_frequency(self.dataset.codes[self._lead], self._lead_counts, order)

    def _hands_pass(self, n_buckets: int) -> bool:
        """Whether buckets of these many meet what is asked of their size and of the leading column."""
        present = np.flatnonzero(self._lead_counts)
        sizes, held = hands(self._lead_counts[present], n_buckets, max(16, _MOST_CELLS // len(present)))
        kind, value = np.nonzero(held)
        starts = np.searchsorted(kind, np.arange(len(sizes) + 1)).astype(np.int64)
        counts = Counts(kind.astype(np.int64), present[value].astype(np.int32), held[kind, value], starts)
        domains = {self._lead: self.dataset.domains[self._lead]}
        evidence = Groups(sizes, {self._lead: counts}, {self._lead: self._lead_counts}, domains)
        asked = (r for r in self.requirements if set(r.columns) <= {self._lead})
        return all(bool(r.passes(evidence).all()) for r in asked)

    def _passing(self, bucket: Ints, n_buckets: int, rows: Ints | None = None) -> Bools:
        """Which buckets meet every requirement; `bucket` and `rows` (default: all) have the same shape."""
        columns, units = columns_of(self.requirements), self.dataset.units
        codes = {c: self.dataset.codes[c] if rows is None else self.dataset.codes[c][rows] for c in columns}
        units = units if units is None or rows is None else units[rows]
        domains = {c: self.dataset.domains[c] for c in columns}
        evidence = replace(group_evidence(bucket, n_buckets, codes, domains, units), totals=self._totals)
        passing = np.ones(n_buckets, dtype=np.bool_)
        for requirement in self.requirements:
            passing &= requirement.passes(evidence)
        return passing

    def _dealt_again_where_failing(self, bucket: Ints, passing: Bools) -> tuple[Ints, Bools]:
        """Exchange rows of equal leading value between failing buckets (and some others) while that mends any."""
        codes, in_vain = self.dataset.codes[self._lead], 0
        for _ in range(_TURNS):
            n_failing = int((~passing).sum())
            if n_failing == 0 or in_vain == _IN_VAIN:
                break
            pool = ~passing
            wanted = min(max(n_failing // 4, 32), len(passing) - n_failing)
            pool[self._some(np.flatnonzero(passing), wanted)] = True
            rows = np.flatnonzero(pool[bucket])
            number = np.cumsum(pool) - 1
            again = dealt_again(bucket[rows], codes[rows], self.chance.permutation(len(rows)))
            found = self._passing(number[again], int(pool.sum()), rows)
            if int((~found).sum()) >= n_failing:
                in_vain += 1
                continue
            in_vain = 0
            bucket[rows] = again
            passing[pool] = found
        return bucket, passing

    def _merged_where_failing(self, bucket: Ints, passing: Bools) -> tuple[Ints, Bools]:
        """Merge failing buckets by twos (an odd one with another bucket) until none fails or one is left."""
        while not passing.all() and len(passing) > 1:
            failing = np.flatnonzero(~passing)
            failing = failing[self.chance.permutation(len(failing))]
            if len(failing) % 2:
                failing = np.append(failing, self._some(np.flatnonzero(passing), 1) if passing.any() else failing[:0])
            pairs = len(failing) // 2
            into = np.arange(len(passing))
            into[failing[pairs : 2 * pairs]] = failing[:pairs]
            kept = into == np.arange(len(passing))
            bucket = (np.cumsum(kept) - 1)[into[bucket]]
            mended = np.zeros(len(passing), dtype=np.bool_)
            mended[failing[:pairs]] = True
            passing, mended = passing[kept], mended[kept]
            rows = np.flatnonzero(mended[bucket])
            number = np.cumsum(mended) - 1
            passing[mended] = self._passing(number[bucket[rows]], int(mended.sum()), rows)
        return bucket, passing

    def _some(self, choices: Ints, n: int) -> Ints:
        """`n` of the choices at random."""
        return choices[self.chance.permutation(len(choices))[:n]]


def most_buckets(most: int, suffices: Callable[[int], bool]) -> int:
    """The largest number of buckets up to `most` that suffices; one always does.

    Small numbers are tried one by one. For large ones bucket sizes grow by a tenth until one suffices, and the gap is
    bisected: rounding makes sufficiency not quite monotone, so there the answer is good, not always the largest.
    """
    failed = most + 1
    for tried in _falling(most):
        if tried <= 1 or suffices(tried):
            break
        failed = tried
    else:
        return 1
    found = max(tried, 1)
    while failed - found > 1:
        middle = (found + failed) // 2
        if suffices(middle):
            found = middle
        else:
            failed = middle
    return found


def _falling(most: int) -> Iterator[int]:
    """Numbers of buckets to try, from the most down to one."""
    tried = most
    while tried > 0:
        yield tried
        tried = min(tried - 1, tried if tried <= _TRY_ALL else int(tried / 1.1))
