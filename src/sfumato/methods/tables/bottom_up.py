"""Bottom-up generalization: from the values, siblings become their parent where least is lost for what is gained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sfumato.contracts import Method, Recipe, Requirement
from sfumato.declared import declared
from sfumato.methods.fulldomain.cuts import Cut, Judge
from sfumato.methods.fulldomain.space import Space
from sfumato.methods.tables.baselines import refusal, refuse_hopeless, refuse_unserved
from sfumato.methods.tables.taxonomy import Branch, Recoded, branches_of, refuse_no_class

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.data.dataset import Dataset
    from sfumato.releases.generalized import Generalized


@declared
class BottomUpGeneralization(Method):
    """One cut through its hierarchy for every column, so that nodes of several levels stand side by side; children of
    one node become the node, the best score first, until the requirements hold. Nothing is suppressed.

    Score, the least is best: loss / gain of anonymity, or the loss where nothing is gained. Loss: bits about the class
    `on` per row under the node; without `on` the `Loss` added. Gain: by how much the smallest group grows.
    Does not protect against more than the requirements say; greedy, so other cuts may lose less.
    Wang, Yu, Chakraborty 2004.

    >>> BottomUpGeneralization().parameters()
    {'on': None}
    """

    on: str | None = field(default=None, kw_only=True)
    name: ClassVar[str] = "bottom-up-generalization"

    def parameters(self) -> Mapping[str, Any]:
        """The class column."""
        return {"on": self.on}

    def accepts(self, dataset: Dataset, requirements: Sequence[Requirement]) -> None:
        """Any requirement on groups, with or without a population; at least one quasi-identifier."""
        refuse_unserved(self, dataset, requirements, ("groups", "population"))
        refuse_no_class("BottomUpGeneralization", dataset, self.on)

    def publish(self, dataset: Dataset, requirements: Sequence[Requirement], chance: Chance) -> Generalized:
        """The release of the first cuts on the way up that are allowed."""
        self.accepts(dataset, requirements)
        refuse_hopeless(dataset, requirements)
        space = Space.of(dataset)
        found = generalized(Judge(dataset, requirements, space, Fraction(0)), branches_of(space, dataset, self.on))
        if found is None:
            raise refusal(self, dataset, requirements)
        recipe = Recipe(self.name, self.parameters(), reproducible=chance.reproducible)
        return found[0].release(dataset, found[1], recipe, chance)


def generalized(judge: Judge, branches: list[Branch]) -> tuple[Recoded, Cut] | None:
    """The first allowed cuts and their groups; None when not even everything generalized is allowed."""
    here, done = Recoded.of(judge.space, coarse=False), set[int]()
    while True:
        cut = judge.settled(here.table)
        if judge.allows(cut):
            return here, cut
        ready = [one for one, branch in enumerate(branches) if one not in done and done.issuperset(branch.below)]
        if not ready:
            return None
        smallest = _smallest(judge, here)
        scores = {one: _score(judge, here, branches[one], smallest) for one in ready}
        best = min(ready, key=lambda one: (scores[one], one))
        here = here.turned(branches[best], branches[best].first)
        done.add(best)


def _score(judge: Judge, here: Recoded, branch: Branch, smallest: int) -> float:
    gain = _smallest(judge, here.turned(branch, branch.first)) - smallest
    return branch.cost / gain if gain > 0 else branch.cost


def _smallest(judge: Judge, here: Recoded) -> int:
    """Units of the smallest group with rows."""
    return int(judge.evidence.sizes(here.table)[here.table.n > 0].min())
