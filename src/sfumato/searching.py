"""Candidates side by side: every method's release, or its search of a lattice, with risk and utility."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sfumato.chance import chance_of
from sfumato.data.tabular import Tabular
from sfumato.errors import Incompatible, Infeasible, ParameterError, SfumatoError
from sfumato.methods.preparation import chosen_rows, prepared_for
from sfumato.methods.publication import finished

if TYPE_CHECKING:
    from sfumato.contracts import Method, Release, Requirement
    from sfumato.data.dataset import Dataset
    from sfumato.data.hierarchy import Hierarchy
    from sfumato.desk import PublishedRelease
    from sfumato.methods.fulldomain.solutions import Candidate, Solutions
    from sfumato.methods.metrics.metric import Score

MOST_SHOWN = 5
"""Nodes of one lattice among the candidates."""
SMALLER_FIRST = ("score", "suppressed", "risk", "query_error", "loss", "gcp", "discernibility", "kl_divergence")


@runtime_checkable
class Searching(Protocol):
    """A method that looks at many solutions and remembers them."""

    def search(
        self,
        dataset: Dataset,
        requirements: Sequence[Requirement],
        *,
        time_limit: float | None = None,
        tell: Callable[[str], None] | None = None,
        memory: Path | None = None,
    ) -> Solutions:
        """All it found on a prepared dataset."""
        ...


@dataclass(frozen=True, eq=False)
class Job:
    """What is searched: the original, requirements and hierarchies, and how a release is handed out."""

    dataset: Dataset
    requirements: tuple[Requirement, ...]
    hierarchies: Mapping[str, Hierarchy]
    hand_out: Callable[[Release], PublishedRelease]
    seed: int | None

    @cached_property
    def truth(self) -> Dataset:
        """The rows of the original that are published."""
        chosen = chosen_rows(self.dataset, self.requirements)
        return self.dataset if chosen is None else self.dataset.only(chosen)


@dataclass(frozen=True, eq=False)
class Solution:
    """One candidate: a method with its figures, publishable. `score` is the method's own (None: it has none)."""

    job: Job = field(repr=False)
    method: Method
    score: Score | None
    suppressed: int
    groups: int
    risk: float
    levels: Mapping[str, int] | None = None
    optimal: bool = False
    bound: float | None = None
    made: Callable[[], Release] = field(repr=False, default=lambda: _nothing())

    @property
    def gap(self) -> float | None:
        """By how much another node could score lower at most; None when nothing is known."""
        if self.optimal:
            return 0.0
        if self.bound is None or not isinstance(self.score, float):
            return None
        return max(self.score - self.bound, 0.0)

    @cached_property
    def release(self) -> Release:
        """Its release, judged."""
        return self.made()

    def publish(self) -> PublishedRelease:
        """Its release in hand."""
        return self.job.hand_out(self.release)

    @cached_property
    def figures(self) -> Mapping[str, float]:
        """Its losses and the error of 200 random COUNT queries, against the original."""
        from sfumato.utility.measures import measure

        metrics = ("loss", "query_error")
        table = measure(self.release, self.job.truth, metrics=metrics, seed=0).rows()
        return {row["metric"]: row["value"] for row in table if row["column"] is None}

    def figure(self, name: str) -> Any:
        """One figure by name: score, suppressed, risk, or a measure of `measure`."""
        if name in ("score", "suppressed", "groups", "risk"):
            return getattr(self, name)
        if name in self.figures:
            return self.figures[name]
        from sfumato.utility.measures import measure

        rows = measure(self.release, self.job.truth, metrics=[name], seed=0).rows()
        return next(row["value"] for row in rows if row["column"] is None)


def _nothing() -> Release:
    raise SfumatoError("This candidate cannot be published.")


class Best:
    """The best candidate; called with the name of a measure, the release that is best by it."""

    def __init__(self, found: Found) -> None:
        self._found = found

    def __call__(self, by: str = "score") -> PublishedRelease:
        """The release with the least `by`: score, risk, suppressed, query_error or another measure."""
        usable = [one for one in self._found.candidates if one.figure(by) is not None]
        if not usable:
            raise ParameterError(f"No candidate has the figure {by!r}. Known: {', '.join(SMALLER_FIRST)}.")
        return min(usable, key=lambda one: one.figure(by)).publish()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._found.first, name)

    def __repr__(self) -> str:
        return repr(self._found.first)


class Found:
    """Everything a search found: candidates by rank, and the lattice behind them.

    One method: ranked by its score; several: by the error of random COUNT queries.
    """

    def __init__(self, job: Job, searched: Sequence[tuple[Method, Solutions | Solution | SfumatoError]]) -> None:
        self.job = job
        self._searched = list(searched)
        self.refused = {method.name: one for method, one in self._searched if isinstance(one, SfumatoError)}
        if len(self.refused) == len(self._searched):
            raise next(iter(self.refused.values()))

    @property
    def best(self) -> Best:
        """`found.best.score`, `.levels`, `.suppressed`, `.groups`; `found.best("query_error")` gives a release."""
        return Best(self)

    @cached_property
    def candidates(self) -> tuple[Solution, ...]:
        """By rank; of a single lattice the best node and the frontier's next ones."""
        first = self.first
        if len(self._searched) > 1 or isinstance(self._searched[0][1], Solution):
            return (first, *(one for one in self._each if one is not first))
        best = self.lattice.best
        more = [one for one in self.frontier if one.levels != best.levels][: MOST_SHOWN - 1]
        return (first, *(_solution(self.job, self._searched[0][0], self.lattice, one) for one in more))

    @cached_property
    def first(self) -> Solution:
        """The candidate of rank 1."""
        return self._each[0]

    @cached_property
    def _each(self) -> tuple[Solution, ...]:
        """One candidate a method, best first."""
        found: list[Solution] = []
        for method, one in self._searched:
            if isinstance(one, Solution):
                found.append(one)
            elif not isinstance(one, SfumatoError):
                found.append(_solution(self.job, method, one, one.best))
        return tuple(sorted(found, key=lambda one: one.figure("query_error")) if len(found) > 1 else found)

    @cached_property
    def lattice(self) -> Solutions:
        """The searched lattice of the first method that has one."""
        for _, one in self._searched:
            if not isinstance(one, Solution | SfumatoError):
                return one
        raise ParameterError("No lattice was searched. Name sf.Lattice() among the methods.")

    @property
    def minimal(self) -> tuple[Candidate, ...]:
        """All minimal nodes of the lattice: no finer node is allowed."""
        return self.lattice.minimal

    @property
    def frontier(self) -> tuple[Candidate, ...]:
        """Nodes of the lattice that no other beats in both risk and score."""
        return self.lattice.frontier

    def node(self, levels: Mapping[str, int]) -> Candidate:
        """Any node of the lattice, scored; columns that are not named stay on level 0."""
        return self.lattice.node(levels)

    def publish(self, node: Mapping[str, int] | Candidate | Solution | None = None) -> PublishedRelease:
        """The release of a candidate or of a node (column → level); of the best when none is named."""
        if node is None:
            return self.first.publish()
        if isinstance(node, Solution):
            return node.publish()
        levels = node if isinstance(node, Mapping) else node.levels
        method = next(m for m, one in self._searched if one is self.lattice)
        return self.job.hand_out(_made(self.job, method, self.lattice, levels))

    def table(self, *, errors: bool = True) -> Tabular:
        """One row a candidate; `errors` adds the error of 200 random COUNT queries, for which each is published."""
        import pyarrow as pa

        rows = [
            {
                "rank": rank,
                "method": one.method.name,
                "score": one.score if isinstance(one.score, float) else None,
                "optimal": one.optimal,
                "suppressed": one.suppressed,
                "groups": one.groups,
                "risk": one.risk,
                **({"query_error": one.figure("query_error")} if errors else {}),
                "levels": None if one.levels is None else "  ".join(f"{c} {v}" for c, v in one.levels.items()),
            }
            for rank, one in enumerate(self.candidates, 1)
        ]
        return Tabular(pa.Table.from_pylist(rows))

    def arrow(self) -> Any:
        """As an Arrow table."""
        return self.table().arrow()

    def df(self) -> Any:
        """As a pandas frame."""
        return self.table().df()

    def pl(self) -> Any:
        """As a Polars frame."""
        return self.table().pl()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def __repr__(self) -> str:
        return self.table(errors=False).listing()


def search(
    job: Job,
    methods: Sequence[Method],
    *,
    time_limit: float | None = None,
    tell: Callable[[str], None] | None = None,
    memory: str | Path | None = None,
) -> Found:
    """Every method on the same job; what a method cannot do stands in `refused`."""
    found: list[tuple[Method, Solutions | Solution | SfumatoError]] = []
    options = {"time_limit": time_limit, "tell": tell, "memory": None if memory is None else Path(memory)}
    for method in methods:
        if tell:
            tell(f"searching with {method.name}")
        try:
            found.append((method, _looked(job, method, options)))
        except (Incompatible, Infeasible) as refused:
            found.append((method, refused))
    return Found(job, found)


def _looked(job: Job, method: Method, options: Mapping[str, Any]) -> Solutions | Solution:
    prepared = prepared_for(job.dataset, method, job.requirements, job.hierarchies)
    if not isinstance(method, Searching):
        return _single(job, method, prepared)
    found = method.search(prepared, job.requirements, **options)
    if found.ended.best is None:
        raise found.refusal()
    return found


def _single(job: Job, method: Method, prepared: Dataset) -> Solution:
    """A method that gives one release."""
    chance = chance_of(job.seed)
    release = finished(
        job.dataset, prepared, method, job.requirements, lambda some: method.publish(some, job.requirements, chance)
    )
    sizes = release.groups().column(1).to_numpy()
    suppressed = release.n_rows - int(sizes.sum())
    risk = 1.0 / int(sizes.min()) if len(sizes) else 0.0
    return Solution(job, method, None, suppressed, len(sizes), risk, made=lambda: release)


def _solution(job: Job, method: Method, found: Solutions, one: Candidate) -> Solution:
    return Solution(
        job, method, one.score, one.suppressed, one.groups, one.risk, one.levels, one.optimal, one.bound,
        lambda: _made(job, method, found, one.levels),
    )  # fmt: skip


def _made(job: Job, method: Method, found: Solutions, levels: Mapping[str, int]) -> Release:
    from sfumato.contracts import Recipe

    chance = chance_of(job.seed)
    recipe = Recipe(method.name, method.parameters(), reproducible=chance.reproducible)
    node = found.nodes.space.node(levels)
    return finished(
        job.dataset, found.dataset, method, job.requirements, lambda some: found.made(node, recipe, chance, some)
    )
