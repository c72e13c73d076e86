"""Ordered categories: a declared order, with runs of neighbours as nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from sfumato.data.codec import Region
from sfumato.data.hierarchies.rule import Hierarchy, Placed, Source, only
from sfumato.data.hierarchies.tree import Tree, checked, place_tree
from sfumato.declared import declared
from sfumato.errors import ParameterError, SchemaError


@declared
class Ordered(Hierarchy):
    """Values in this order; `sizes` make nodes of so many neighbours, each level a multiple of the one below.

    Without sizes a region is the set of neighbours from one value to another.
    """

    values: tuple[str, ...]
    sizes: tuple[int, ...] = ()
    keyword: ClassVar[str] = "ordered"

    def __post_init__(self) -> None:
        if not self.values:
            raise ParameterError("ordered: list at least one value.")
        for fine, coarse in zip((1, *self.sizes), self.sizes, strict=False):
            if coarse <= fine or coarse % fine:
                raise ParameterError("ordered: each of sizes= must be a larger multiple of the one before, from 2 up.")
        try:
            checked(Tree(self.values), "ordered")
        except SchemaError as error:
            raise ParameterError(str(error)) from None

    def place(self, source: Source) -> Placed:
        """Leaves in the declared order."""
        levels = tuple(self._labels(size) for size in self.sizes if size < len(self.values))
        region: Region = "node" if levels else "set"
        return place_tree(Tree(self.values, levels, region=region), source, "ordered", keep_order=True)

    def _labels(self, size: int) -> tuple[str, ...]:
        runs = [self.values[i : i + size] for i in range(0, len(self.values), size)]
        return tuple(run[0] if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs for _ in run)

    def spec(self) -> dict[str, Any]:
        """{"ordered": ["low", "high"], "sizes": [2]}."""
        return {"ordered": list(self.values)} | ({"sizes": list(self.sizes)} if self.sizes else {})

    @classmethod
    def of(cls, value: Any, **rest: Any) -> Ordered:
        """From {ordered = ["low", "middle", "high"], sizes = [2]}."""
        return ordered(value, **only(rest, "ordered", "sizes"))


def ordered(values: Iterable[Any], *, sizes: Iterable[int] = ()) -> Ordered:
    """Categories in this order; `sizes=(2, 4)` makes nodes of 2 and of 4 neighbours.

    >>> ordered(["low", "middle", "high"], sizes=[2]).spec()
    {'ordered': ['low', 'middle', 'high'], 'sizes': [2]}
    """
    return Ordered(values=tuple(map(str, values)), sizes=tuple(sizes))
