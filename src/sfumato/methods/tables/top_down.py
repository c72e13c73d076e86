"""Top-down specialization: from everything generalized, the best node of a taxonomy is replaced by its children."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from sfumato.contracts import Method, Recipe, Requirement
from sfumato.declared import Exact, declared, plain
from sfumato.methods.fulldomain.cuts import Cut, Judge
from sfumato.methods.fulldomain.space import Space
from sfumato.methods.tables.baselines import refusal, refuse_hopeless, refuse_unserved
from sfumato.methods.tables.taxonomy import Branch, Recoded, branches_of, refuse_no_class

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.data.dataset import Dataset
    from sfumato.releases.generalized import Generalized


@declared
class TopDownSpecialization(Method):
    """One cut through its hierarchy for every column, so that nodes of several levels stand side by side; the node with
    the best score that leaves the requirements met becomes its children, until none does.

    Score: gain / (loss of anonymity + 1). Gain: bits learnt about the class `on` per row under the node; without `on`
    the `Loss` that is saved. Loss of anonymity: by how much the smallest group shrinks. Rows under a node that share
    one class are not told apart further. At most a share `max_suppressed` of the rows is in groups that fail.
    Does not protect against more than the requirements say; greedy, so other cuts may lose less.
    Fung, Wang, Yu 2005; the 1 in the score is that of their 2007 paper.

    >>> TopDownSpecialization(on="salary").parameters()
    {'on': 'salary', 'max_suppressed': 0}
    """

    on: str | None = field(default=None, kw_only=True)
    max_suppressed: Annotated[Exact, Field(ge=0, le=1)] = field(default=Fraction(0), kw_only=True)
    name: ClassVar[str] = "top-down-specialization"

    def parameters(self) -> Mapping[str, Any]:
        """The class column, and the share of rows that may be suppressed."""
        return {"on": self.on, "max_suppressed": plain(self.max_suppressed)}

    def accepts(self, dataset: Dataset, requirements: Sequence[Requirement]) -> None:
        """Any requirement on groups, with or without a population; at least one quasi-identifier."""
        refuse_unserved(self, dataset, requirements, ("groups", "population"))
        refuse_no_class("TopDownSpecialization", dataset, self.on)

    def publish(self, dataset: Dataset, requirements: Sequence[Requirement], chance: Chance) -> Generalized:
        """The release of the last cuts that are allowed."""
        self.accepts(dataset, requirements)
        refuse_hopeless(dataset, requirements)
        space = Space.of(dataset)
        judge = Judge(dataset, requirements, space, self.max_suppressed)
        found = specialized(judge, branches_of(space, dataset, self.on))
        if found is None:
            raise refusal(self, dataset, requirements)
        recipe = Recipe(self.name, self.parameters(), reproducible=chance.reproducible)
        return found[0].release(dataset, found[1], recipe, chance)


def specialized(judge: Judge, branches: list[Branch]) -> tuple[Recoded, Cut] | None:
    """The last cuts and their groups; None when not even everything generalized is allowed.

    Where coarser groups keep what finer ones meet, a branch that fails once is not tried again.
    """
    here = Recoded.of(judge.space, coarse=True)
    cut = judge.settled(here.table)
    if not judge.allows(cut):
        return None
    for_good = judge.only_sizes or (judge.merging and judge.most == 0)
    under = {one for branch in branches for one in branch.below}
    waiting = {one for one in range(len(branches)) if one not in under}
    taken: int | None = -1
    while taken is not None:
        taken = None
        for one in _by_score(judge, here, branches, waiting):
            finer = here.turned(branches[one], branches[one].heads)
            judged = judge.settled(finer.table)
            if judge.allows(judged):
                here, cut, taken = finer, judged, one
                break
            waiting -= {one} if for_good else set()
        if taken is not None:
            waiting = (waiting - {taken}) | set(branches[taken].below)
    return here, cut


def _by_score(judge: Judge, here: Recoded, branches: list[Branch], waiting: set[int]) -> list[int]:
    """Branches worth specializing, the best first, the first of equal ones; those that never can be leave `waiting`."""
    smallest, scores = here.smallest(judge), {}
    for one in sorted(waiting):
        branch = branches[one]
        finer = here.turned(branch, branch.heads) if branch.several else None
        if finer is None or judge.by_size(finer.table).n_suppressed > judge.most:
            waiting.discard(one)
            continue
        scores[one] = branch.cost / (max(smallest - finer.smallest(judge), 0) + 1)
    return sorted(scores, key=lambda one: (-scores[one], one))
