"""Lattice: the full-domain generalization with the least loss, proven where the lattice can be searched whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from sfumato.contracts import Method, Recipe, Requirement
from sfumato.declared import Exact, declared, plain
from sfumato.errors import Incompatible, ParameterError
from sfumato.methods import metrics
from sfumato.methods.feasibility import refuse_unreadable
from sfumato.methods.fulldomain.cuts import Judge
from sfumato.methods.fulldomain.ended import Ended
from sfumato.methods.fulldomain.local import Locally
from sfumato.methods.fulldomain.memory import keep, key_of, recall
from sfumato.methods.fulldomain.minimal import MOST_LISTED
from sfumato.methods.fulldomain.nodes import Nodes
from sfumato.methods.fulldomain.progress import Watch
from sfumato.methods.fulldomain.searching import search
from sfumato.methods.fulldomain.solutions import Solutions
from sfumato.methods.fulldomain.space import Space
from sfumato.methods.metrics.loss import Loss
from sfumato.methods.metrics.metric import Metric, Setting

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.data.dataset import Dataset
    from sfumato.releases.generalized import Generalized

PATIENCE = 30.0
"""Seconds for lattices that are too large to list, when no limit is given."""


@declared
class Lattice(Method):
    """One level of its hierarchy for every column, so that the metric's score is least; rows of groups that fail are
    suppressed, at most a share `max_suppressed` of them. Optimal, and saying so, when every node was looked at or ruled
    out; beyond `time_limit` seconds (30 where there are more than a million nodes) the best node found, with the gap.

    `weights`: how much a column counts in the metric. `recode="local"`: suppressed rows are generalized once more.
    Does not protect against more than the requirements say; that the score is least can tell something (minimality).
    Samarati 2001; LeFevre, DeWitt, Ramakrishnan 2005; Kohlmayer, Prasser, Eckert, Kemper, Kuhn 2012.

    >>> Lattice(max_suppressed=0.02).parameters()["max_suppressed"]
    0.02
    """

    metric: Annotated[Metric, BeforeValidator(metrics.named), WithJsonSchema(metrics.NAMED)] = field(
        default_factory=Loss, kw_only=True
    )
    max_suppressed: Annotated[Exact, Field(ge=0, le=1)] = field(default=Fraction(4, 100), kw_only=True)
    weights: dict[str, float] = field(default_factory=dict, kw_only=True)
    recode: Literal["global", "local"] = field(default="global", kw_only=True)
    time_limit: Annotated[float, Field(gt=0)] | None = field(default=None, kw_only=True)
    name: ClassVar[str] = "lattice"

    def parameters(self) -> Mapping[str, Any]:
        """Metric with its parameters, the share that may be suppressed, weights, recoding."""
        return {
            "metric": self.metric.metric,
            **{key: value for key, value in self.metric.parameters().items() if key != "metric"},
            "max_suppressed": plain(self.max_suppressed),
            "weights": dict(self.weights),
            "recode": self.recode,
        }

    @property
    def suppresses(self) -> bool:
        """Where rows may be left out."""
        return self.max_suppressed > 0

    def accepts(self, dataset: Dataset, requirements: Sequence[Requirement]) -> None:
        """Any requirement on groups, with or without a population; at least one quasi-identifier."""
        if not dataset.schema.names("quasi"):
            raise Incompatible(
                "Lattice generalizes quasi-identifiers, but no column has that role. Name them with roles(quasi=…)."
            )
        refuse_unreadable(dataset, requirements)
        for requirement in requirements:
            if requirement.reads not in ("groups", "population"):
                raise Incompatible(
                    f"Lattice makes groups, but {requirement.model} reads {requirement.reads}. Use another method."
                )
            if requirement.reads == "population" and self.recode == "local":
                raise Incompatible(
                    f'Local recoding does not count populations. Use recode="global" for {requirement.model}.'
                )

    def search(
        self,
        dataset: Dataset,
        requirements: Sequence[Requirement],
        *,
        time_limit: float | None = None,
        tell: Callable[[str], None] | None = None,
        memory: Path | None = None,
    ) -> Solutions:
        """The lattice of a prepared dataset, searched; with `memory`, from where the file left off."""
        space = Space.of(dataset)
        judge = Judge(dataset, requirements, space, self.max_suppressed)
        nodes = Nodes(judge, self.metric.scorer(Setting.of(space, dataset, self.weights, float(self.max_suppressed))))
        if time_limit is not None and not (isinstance(time_limit, int | float) and time_limit > 0):
            raise ParameterError("time_limit must be more than 0 seconds; leave it out for none.")
        limit = time_limit or self.time_limit or (PATIENCE if space.n_nodes > MOST_LISTED else None)
        if memory is None:
            ended = search(nodes, Watch(limit, tell))
        else:
            ended = self._remembered(nodes, requirements, Path(memory), (limit, tell))
        return Solutions(dataset, tuple(requirements), nodes, ended, self._locally(dataset, requirements, limit))

    def _remembered(
        self, nodes: Nodes, requirements: Sequence[Requirement], memory: Path, watched: tuple[Any, Any]
    ) -> Ended:
        key = key_of(nodes, requirements, self.parameters())
        recall(memory, key, nodes)
        try:
            return search(nodes, Watch(*watched, lambda: keep(memory, key, nodes)))
        finally:
            keep(memory, key, nodes)

    def _locally(self, dataset: Dataset, requirements: Sequence[Requirement], limit: float | None) -> Locally | None:
        if self.recode == "global":
            return None
        of_metric = isinstance(self.metric, Loss)
        loss = self.metric if isinstance(self.metric, Loss) else Loss()
        return Locally(dataset, requirements, loss, self.weights, of_metric, limit)

    def publish(self, dataset: Dataset, requirements: Sequence[Requirement], chance: Chance) -> Generalized:
        """The release of the best node."""
        self.accepts(dataset, requirements)
        found = self.search(dataset, requirements)
        if found.ended.best is None:
            raise found.refusal()
        recipe = Recipe(self.name, self.parameters(), reproducible=chance.reproducible)
        return found.made(found.publishable(), recipe, chance)
