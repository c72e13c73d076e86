"""Candidates side by side: every method's release, or its search of a lattice, with risk and utility."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sfumato.chance import chance_of
from sfumato.data.tabular import Tabular
from sfumato.errors import Incompatible, Infeasible, ParameterError, SfumatoError
from sfumato.methods.fulldomain.solutions import gap_of
from sfumato.methods.preparation import chosen_rows, prepared_for
from sfumato.methods.publication import finished
from sfumato.report.spelling import spec_of

if TYPE_CHECKING:
    from sfumato.contracts import Method, Release, Requirement
    from sfumato.data.dataset import Dataset
    from sfumato.data.hierarchy import Hierarchy
    from sfumato.desk import PublishedRelease
    from sfumato.methods.fulldomain.solutions import Candidate, Solutions
    from sfumato.methods.metrics.metric import Score
    from sfumato.report.lattice_page import LatticePlot

Refused = SfumatoError | TimeoutError
"""Why a method has no candidate: it cannot serve, nothing meets the requirements, or the time was up."""
MOST_SHOWN = 5
"""Nodes of one lattice among the candidates."""
COMPARED = ("loss", "query_error")
"""Measures by which candidates of any method can be compared."""
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
        return gap_of(self.score, self.bound, optimal=self.optimal)

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

        table = measure(self.release, self.job.truth, metrics=COMPARED, seed=0).rows()
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

    def __init__(self, job: Job, searched: Sequence[tuple[Method, Solutions | Solution | Refused]]) -> None:
        self.job = job
        self._searched = list(searched)
        self.refused = {spec_of(method): one for method, one in searched if isinstance(one, Exception)}
        if all(isinstance(one, Exception) for _, one in searched):
            raise _worst(self.refused)

    @property
    def best(self) -> Best:
        """`found.best.score`, `.levels`, `.suppressed`, `.groups`; `found.best("query_error")` gives a release."""
        return Best(self)

    @cached_property
    def candidates(self) -> tuple[Solution, ...]:
        """By rank; of a single lattice the best node and the frontier's next ones."""
        return self._with_frontier(self._ranked)

    @cached_property
    def _ranked(self) -> tuple[Solution, ...]:
        return tuple(sorted(self.unranked, key=_error)) if len(self.unranked) > 1 else self.unranked

    @cached_property
    def unranked(self) -> tuple[Solution, ...]:
        """One candidate for each method, in their order: no release is made to compare them."""
        given = [(method, one) for method, one in self._searched if not isinstance(one, Exception)]
        return tuple(
            one if isinstance(one, Solution) else _solution(self.job, method, one, one.best) for method, one in given
        )

    def listed(self, *, errors: bool = True) -> tuple[Solution, ...]:
        """The candidates as they are numbered: ranked by the error of queries, or in the order of the methods."""
        return self.candidates if errors else self._with_frontier(self.unranked)

    def _with_frontier(self, found: tuple[Solution, ...]) -> tuple[Solution, ...]:
        from sfumato.report.lattice_facts import short_frontier

        if len(found) != 1 or found[0].levels is None:
            return found
        method, lattice = self._lattice
        more = [one for one in short_frontier(lattice) if one.levels != found[0].levels][: MOST_SHOWN - 1]
        return (*found, *(_solution(self.job, method, lattice, lattice.shown(one)) for one in more))

    @property
    def first(self) -> Solution:
        """The candidate of rank 1."""
        return self._ranked[0]

    @property
    def lattices(self) -> list[tuple[str, Solutions]]:
        """All searched lattices that have a solution, each with its method as it is written."""
        return [(spec_of(method), one) for method, one in self._searched if not isinstance(one, Solution | Exception)]

    @property
    def lattice(self) -> Solutions:
        """The searched lattice of the first method that has one."""
        return self._lattice[1]

    @cached_property
    def _lattice(self) -> tuple[Method, Solutions]:
        for method, one in self._searched:
            if not isinstance(one, Solution | Exception):
                return method, one
        raise ParameterError("No lattice was searched to a solution. Name sf.Lattice() among the methods.")

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
        return self.job.hand_out(_made(self.job, *self._lattice, levels))

    def plot(self) -> LatticePlot:
        """The lattice to look at, of any size: in a notebook, or saved as a page or picture."""
        from sfumato.report.lattice_page import LatticePlot

        return LatticePlot(self.lattice, self._lattice[0].parameters().get("metric", "score"))

    def to_html(self, path: str | Path, *, force: bool = False) -> None:
        """Write the lattice as a page, or as a picture where the path ends in `.svg`."""
        self.plot().save(path, force=force)

    def json(self, *, errors: bool = True) -> dict[str, Any]:
        """Candidates, what was refused and how far the lattice was searched, as plain lists and numbers."""
        from sfumato.report.found import found_json

        return found_json(self, errors=errors)

    def table(self, *, errors: bool = True) -> Tabular:
        """One row a candidate; `errors` ranks by the error of 200 random COUNT queries, for which each is published."""
        import pyarrow as pa

        rows = [
            {
                "rank": rank,
                "method": spec_of(one.method),
                "score": one.score if isinstance(one.score, float) else None,
                "optimal": one.optimal,
                "suppressed": one.suppressed,
                "groups": one.groups,
                "risk": one.risk,
                **({name: one.figures[name] for name in COMPARED} if errors else {}),
                "levels": None if one.levels is None else "  ".join(f"{c} {v}" for c, v in one.levels.items()),
            }
            for rank, one in enumerate(self.listed(errors=errors), 1)
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
    found: list[tuple[Method, Solutions | Solution | Refused]] = []
    kept = memories(memory)
    for method in methods:
        if tell:
            tell(f"searching with {method.name}")
        options = {"time_limit": time_limit, "tell": tell}
        try:
            found.append((method, _looked(job, method, options, kept)))
        except (Incompatible, Infeasible, TimeoutError) as refused:
            found.append((method, refused))
    return Found(job, found)


def memories(memory: str | Path | None) -> Iterator[Path | None]:
    """A file for each searched lattice in turn: the one named, then the same with -2, -3, … in its name."""
    first = None if memory is None else Path(memory)
    yield first
    yield from (first and first.with_stem(f"{first.stem}-{i}") for i in count(2))


def _looked(job: Job, method: Method, options: Mapping[str, Any], kept: Iterator[Path | None]) -> Solutions | Solution:
    prepared = prepared_for(job.dataset, method, job.requirements, job.hierarchies)
    if not isinstance(method, Searching):
        return _single(job, method, prepared)
    found = method.search(prepared, job.requirements, **options, memory=next(kept))
    if found.ended.best is not None:
        return found
    if found.ended.optimal:
        raise found.refusal()
    raise TimeoutError(
        f"{method.name} found no solution in the time it had, among {found.nodes.n_looked:,} nodes. That is no proof "
        "that there is none: give it more time (time_limit), or ask for less."
    )


def _worst(refused: Mapping[str, Refused]) -> Refused:
    """Of all refusals the one that leaves most hope: time, then what was asked, then what methods can do."""
    found = min(refused.values(), key=lambda one: [not isinstance(one, k) for k in (TimeoutError, Infeasible)])
    for spec, one in refused.items():
        if one is not found and str(one) != str(found):
            found.add_note(f"{spec}: {one}")
    return found


def _error(one: Solution) -> float:
    return float(one.figure("query_error"))


def _single(job: Job, method: Method, prepared: Dataset) -> Solution:
    """A method that gives one release."""
    chance = chance_of(job.seed)
    release = finished(
        job.dataset, prepared, method, job.requirements, lambda some: method.publish(some, job.requirements, chance)
    )
    sizes = release.groups().column(1).to_numpy()
    suppressed = release.n_rows - int(sizes.sum())
    return Solution(job, method, None, suppressed, len(sizes), _highest_risk(release), made=lambda: release)


def _highest_risk(release: Release) -> float:
    """1 over the smallest set of rows that look alike as published, which where values are exact is no group."""
    from sfumato.utility.classes import classes_of_release

    alike = classes_of_release(release, release.schema.names("quasi")).rows  # type: ignore[arg-type]
    return 1.0 / int(alike.min()) if len(alike) else 0.0


def _solution(job: Job, method: Method, found: Solutions, one: Candidate) -> Solution:
    levels = None if one == found.best else one.levels
    return Solution(
        job, method, one.score, one.suppressed, one.groups, one.risk, one.levels, one.optimal, one.bound,
        lambda: _made(job, method, found, levels),
    )  # fmt: skip


def _made(job: Job, method: Method, found: Solutions, levels: Mapping[str, int] | None) -> Release:
    """The release of a node; without levels of the best one that can be published."""
    from sfumato.contracts import Recipe

    chance = chance_of(job.seed)
    recipe = Recipe(method.name, method.parameters(), reproducible=chance.reproducible)
    node = found.publishable() if levels is None else found.nodes.space.node(levels)
    return finished(
        job.dataset, found.dataset, method, job.requirements, lambda some: found.made(node, recipe, chance, some)
    )
