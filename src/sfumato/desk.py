"""The desk where publisher and analyst work: read, publish, save, open, ask, verify, measure.

Every verb is a short line of calls into the rooms; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sfumato.chance import chance_of
from sfumato.errors import ParameterError, SchemaError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.contracts import Both, Method, Recipe, Release, Requirement, Worlds
    from sfumato.data.dataset import Dataset
    from sfumato.data.hierarchy import Hierarchy
    from sfumato.data.suggest import Suggestions
    from sfumato.data.tabular import Tabular
    from sfumato.methods.tables.placing import Several
    from sfumato.methods.tables.reapplied import Tally
    from sfumato.queries.answer import Answer
    from sfumato.releases.form import Form
    from sfumato.report.risk import RiskReport
    from sfumato.searching import Found
    from sfumato.utility.proximity_advice import ProximityAdvice
    from sfumato.verify import Verification

Progress = Callable[[str], None]


def read(source: Any, *, name: str | None = None, **options: Any) -> Dataset:
    """A dataset from a CSV or Parquet path, or any pandas, Polars, Arrow or DuckDB table."""
    from sfumato.data import files

    return files.read(source, name=name, **options)


def suggest_hierarchies(table: Any, *, k: int = 5) -> Suggestions:
    """A hierarchy for every quasi-identifier of a dataset (or for every column of an unread table), with the reason.

    The result goes straight to `publish(hierarchies=…)`; `k` is how many units every node of a release will need.
    """
    from sfumato.data.dataset import Dataset
    from sfumato.data.suggest import suggest

    if k < 1:
        raise ParameterError("k= says how many units a node needs: 1 or more.")
    return suggest(table if isinstance(table, Dataset) else read(table), k)


def publish(
    dataset: Dataset,
    method: Method,
    *,
    require: Requirement | Both | Sequence[Requirement],
    hierarchies: Mapping[str, Hierarchy] | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> PublishedRelease:
    """A release of the dataset that meets every requirement, or `Infeasible` with the nearest that can be met.

    `seed` is for science only: the release is then marked and `save` refuses it.
    """
    from sfumato.contracts import Method as AnyMethod
    from sfumato.methods.publication import make_release

    _refuse_unread(dataset)
    if not isinstance(method, AnyMethod):
        raise ParameterError("The method must be made first, with its parameters: publish(people, sf.Mondrian(), …).")
    if progress:
        progress(f"publishing {dataset.n_rows} rows with {method.name}")
    release = make_release(dataset, method, require=require, hierarchies=hierarchies or {}, chance=chance_of(seed))
    return PublishedRelease(release, original=dataset)


def search(
    dataset: Dataset,
    methods: Method | Sequence[Method],
    *,
    require: Requirement | Both | Sequence[Requirement],
    hierarchies: Mapping[str, Hierarchy] | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Found:
    """Candidates that meet every requirement, the best first; `Infeasible` or `Incompatible` when there is none.

    Options: `time_limit` in seconds bounds the search of a lattice; `memory` names a file in which it is kept and from
    which it is taken up again; `seed` is for science only.
    """
    from sfumato.contracts import Method as AnyMethod
    from sfumato.methods.publication import every
    from sfumato.searching import Job
    from sfumato.searching import search as look

    _refuse_unread(dataset)
    listed = [methods] if isinstance(methods, AnyMethod) else list(methods)
    if not listed or not all(isinstance(method, AnyMethod) for method in listed):
        raise ParameterError("Name at least one method, made with its parameters: search(people, [sf.Lattice()], …).")
    wrong = sorted(set(options) - {"time_limit", "memory", "seed"})
    if wrong:
        raise ParameterError(f"search has no option {', '.join(wrong)}. Known: time_limit, memory, seed.")

    def hand_out(release: Release) -> PublishedRelease:
        return PublishedRelease(release, original=dataset)

    job = Job(dataset, every(require), hierarchies or {}, hand_out, options.pop("seed", None))
    return look(job, listed, tell=progress, **options)


def reapply(
    release: PublishedRelease | str | Path,
    new_rows: Any,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    several: Several = "suppress",
    strict: bool = False,
    seed: int | None = None,
) -> PublishedRelease:
    """New rows in the regions of a published release, its promises judged on them alone and with the old rows.

    Rows in no region are suppressed, and rows in several (or put into the "innermost"). Groups that fail a promise are
    suppressed, or with `strict` everything is refused. `hierarchies` place values that the package does not list.
    """
    from sfumato import requirements
    from sfumato.data.dataset import Dataset
    from sfumato.methods.tables.reapplied import Wishes, refuse_populations
    from sfumato.methods.tables.reapplied import reapply as apply

    old = release if isinstance(release, PublishedRelease) else open(release)
    rows = new_rows if isinstance(new_rows, Dataset) else read(new_rows)
    said = [{"model": one.model, **one.parameters, **({"on": one.on} if one.on else {})} for one in old.recipe.promises]
    refuse_populations(said)
    need = [requirements.parse(one) for one in said]
    made, tally = apply(old.release, rows, need, hierarchies or {}, Wishes(several, strict), chance_of(seed))
    return PublishedRelease(made, tally=tally)


def open(path: str | Path) -> PublishedRelease:
    """A saved release, from its directory or zip; the original is not needed."""
    from sfumato.releases.package import read as read_package

    return PublishedRelease(read_package(Path(path)))


def verify(path: str | Path, raw: Any = None, **reading: Any) -> Verification:
    """Re-read the written bytes with independent code and judge every promise; `raw` adds the original's checks.

    `null_values`, `encoding` and `normalize` say how the original is written, as for `read`.
    """
    from sfumato.verify import verify as judge

    return judge(Path(path), raw=raw, **reading)


def measure(release: PublishedRelease, truth: Dataset, **options: Any) -> Tabular:
    """Losses, workload error, width and coverage of the answers, against the original."""
    from sfumato.utility.measures import measure as judge

    _refuse_unread(truth)
    return judge(release.release, truth, **options)


def risk(table: Dataset | PublishedRelease | str | Path, **options: Any) -> RiskReport:
    """How likely records are found, before anonymization or in a release (or the path of its package).

    `quasi`: columns somebody may know; `population`: persons it was drawn from, as a number or a dataset; records
    above `threshold` are at risk; `most_combined` columns are ranked together; `progress` is told what goes on.
    """
    from sfumato.report.risk import RiskReport
    from sfumato.utility.risk import risks

    subject = open(table) if isinstance(table, str | Path) else table
    if isinstance(subject, PublishedRelease):
        return RiskReport(risks(cast("Form", subject.release), **options))
    _refuse_unread(subject)
    return RiskReport(risks(subject, **options))


def advise_proximity(table: Dataset, on: str, **asked: Any) -> ProximityAdvice:
    """Which ε and m `Proximity` can have on a numeric column: `.achievable`, `.largest_m`, `.epsilon_supremum`.

    `epsilon` (or `e1` and `e2`) and `m` may be given or left out; `relative` reads ε as a share of each number.
    """
    from sfumato.utility.proximity_advice import advise

    _refuse_unread(table)
    return advise(table, on, **asked)


def _refuse_unread(table: Any) -> None:
    from sfumato.data.dataset import Dataset

    if not isinstance(table, Dataset):
        raise SchemaError(f"A dataset is needed, not a {type(table).__name__}. Read the table first: sf.read(table).")


class PublishedRelease:
    """A release in hand: ask it SQL, look at its groups, draw worlds, save it.

    Made by `publish` (then it still knows its original, in memory only), by `reapply` (then `tally` counts what became
    of the new rows, in memory only) or by `open`.
    """

    def __init__(self, release: Release, original: Dataset | None = None, tally: Tally | None = None) -> None:
        self.release = release
        self.tally = tally
        self._original = original
        self._worlds: Worlds | None = None

    @property
    def name(self) -> str:
        """Its name as an SQL table; `data` works too."""
        return self.release.name

    @property
    def recipe(self) -> Recipe:
        """How it was made and what it promises."""
        return self.release.recipe

    def worlds(self) -> Worlds:
        """The originals it allows."""
        if self._worlds is None:
            self._worlds = self.release.worlds()
        return self._worlds

    def sql(
        self, text: str, *, quantiles: Sequence[float] = (), n_worlds: int = 1000, seed: int | None = None
    ) -> Answer:
        """Answer one SELECT over this release: estimate, hard bounds and, on request, quantiles.

        `n_worlds` sampled worlds serve what has no closed form; `seed` makes them repeatable.
        """
        from sfumato.queries.ask import ask

        return ask(
            self.worlds(),
            text,
            names=("data", self.name),
            quantiles=tuple(quantiles),
            n_worlds=n_worlds,
            chance=chance_of(seed),
        )

    def groups(self) -> Tabular:
        """The published groups: id, size, label and ends of every uncertain column."""
        from sfumato.data.tabular import Tabular

        return Tabular(self.release.groups())

    def sample(self, n: int = 1, *, seed: int | None = None) -> list[pa.Table]:
        """`n` worlds drawn from the stated basis, each a table like the original; rows in no meaningful order."""
        import pyarrow

        worlds, chance = self.worlds(), chance_of(seed)
        drawn = (worlds.sample(chance) for _ in range(n))
        return [pyarrow.table({c: worlds.domains[c].decode(codes[c]) for c in worlds.columns}) for codes in drawn]

    def save(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        license: str | None = None,
        force: bool = False,
        allow_seeded: bool = False,
    ) -> Verification:
        """Write a package, verify the written bytes, then rename it into place; on any failure nothing is there.

        A path that ends in `.zip` makes one stored zip instead of a directory.
        """
        from sfumato.saving import save_package

        if self.recipe.reproducible and not allow_seeded:
            raise ParameterError(
                "This release was made with a seed: whoever learns the seed can undo its shuffles, so it is not for "
                "publication. Publish without seed=, or pass allow_seeded=True for a scientific exercise."
            )
        recipe = replace(self.recipe, title=title or self.recipe.title, license=license or self.recipe.license)
        return save_package(self.release.with_recipe(recipe), Path(path), original=self._original, force=force)

    def __repr__(self) -> str:
        promises = ", ".join(
            promise.model + (f" on {promise.on}" if promise.on else "") for promise in self.recipe.promises
        )
        return f"<Release {self.name}: {self.release.n_rows} rows, {self.release.form}, {promises or 'no promise'}>"
