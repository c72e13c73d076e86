"""What the baselines share: which requirements they serve, and how they refuse."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from sfumato.contracts import Method, Requirement
from sfumato.errors import Incompatible, Infeasible
from sfumato.methods.feasibility import described, not_found, refuse_infeasible, refuse_unreadable, units_repeat
from sfumato.methods.fulldomain.cuts import Judge, of_single_groups, only_size
from sfumato.methods.fulldomain.ended import Ended
from sfumato.methods.fulldomain.nodes import NEVER, Looked, Nodes
from sfumato.methods.fulldomain.solutions import Solutions
from sfumato.methods.fulldomain.space import Space
from sfumato.methods.metrics.metric import Metric, Setting

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset


def refuse_unserved(
    method: Method, dataset: Dataset, requirements: Sequence[Requirement], reads: Sequence[str]
) -> None:
    """Raise `Incompatible` without quasi-identifiers, or when a requirement reads anything but `reads`."""
    name = type(method).__name__
    if not dataset.schema.names("quasi"):
        raise Incompatible(
            f"{name} generalizes quasi-identifiers, but no column has that role. Name them with roles(quasi=…)."
        )
    refuse_unreadable(dataset, requirements)
    for requirement in requirements:
        if requirement.reads not in reads:
            raise Incompatible(
                f"{name} makes groups, but {requirement.model} reads {requirement.reads}. Use another method."
            )


def refuse_not_monotone(
    method: Method, dataset: Dataset, requirements: Sequence[Requirement], max_suppressed: Fraction
) -> None:
    """Raise `Incompatible` unless every node above an allowed one is allowed.

    So it is where any group of enough units passes; and where nothing is suppressed, when merging keeps what holds.
    """
    repeats, name = units_repeat(dataset), type(method).__name__
    for requirement in requirements:
        if only_size(requirement):
            continue
        if not _kept_above(requirement, repeats):
            raise Incompatible(
                f"{name} is right only where coarser nodes keep what finer ones meet, which is not so for "
                f"{described(requirement)} here. Use Lattice, which looks at every node."
            )
        if int(max_suppressed * dataset.n_rows):
            raise Incompatible(
                f"{name} is right only where coarser nodes keep what finer ones meet. For {described(requirement)} "
                "that is so when no row is suppressed: set max_suppressed = 0, or use Lattice."
            )


def _kept_above(requirement: Requirement, repeats: bool) -> bool:
    """Groups also merge with regions of a population that hold no row: only what grows is sure to stand that, and only
    what grows or is judged group by group is kept by the table as a whole."""
    by_group = requirement.reads == "groups" and of_single_groups(requirement)
    return requirement.monotone(repeats) and (requirement.grows or by_group)


def refuse_hopeless(dataset: Dataset, requirements: Sequence[Requirement]) -> None:
    """Raise `Infeasible` when the whole table as one group fails what merging keeps; populations are counted later."""
    refuse_infeasible(dataset, [r for r in requirements if r.reads == "groups"])


def refusal(method: Method, dataset: Dataset, requirements: Sequence[Requirement]) -> Infeasible:
    """Nothing was found, up to the whole table as one group."""
    if all(r.reads == "groups" for r in requirements):
        return not_found(type(method).__name__, dataset, requirements)
    said = "; ".join(described(r) for r in requirements)
    return Infeasible(
        f"{type(method).__name__} found no groups that meet {said}. Ask for less, or use another method.", {}
    )


def nodes_of(dataset: Dataset, requirements: Sequence[Requirement], share: Fraction, metric: Metric) -> Nodes:
    """The lattice of a prepared dataset, judged and scored."""
    space = Space.of(dataset)
    judge = Judge(dataset, requirements, space, share)
    return Nodes(judge, metric.scorer(Setting.of(space, dataset, {})))


def chosen(dataset: Dataset, requirements: Sequence[Requirement], nodes: Nodes, best: Looked) -> Solutions:
    """A lattice of which one node was chosen; that no other scores lower is not claimed."""
    return Solutions(dataset, tuple(requirements), nodes, Ended(best, -NEVER, False))
