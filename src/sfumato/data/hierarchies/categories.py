"""Categories in named groups, possibly groups of groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sfumato.data.hierarchies.rule import Hierarchy, Placed, Source, only
from sfumato.data.hierarchies.tree import Tree, checked, place_tree
from sfumato.declared import declared
from sfumato.errors import ParameterError, SchemaError


@declared
class Categories(Hierarchy):
    """Named groups of values; the domain is every value listed, whether it occurs or not."""

    tree: dict[str, Any]
    keyword: ClassVar[str] = "groups"

    def __post_init__(self) -> None:
        rows = self._rows()
        if not rows:
            raise ParameterError("groups: name at least one group with at least one value.")
        depths = {len(row) for row in rows}
        if len(depths) > 1:
            n_short = sum(len(row) < max(depths) for row in rows)
            raise ParameterError(
                f"groups: {n_short} values lie less deep than the others ({max(depths) - 1} levels). "
                "Nest every group equally deep."
            )
        self._tree()

    def _rows(self) -> list[list[str]]:
        return [row for name, members in self.tree.items() for row in _paths(members, [str(name)])]

    def _tree(self) -> Tree:
        rows = self._rows()
        leaves, *levels = zip(*rows, strict=True)
        try:
            return checked(Tree(leaves, tuple(levels)), "groups")
        except SchemaError as error:
            raise ParameterError(str(error)) from None

    def place(self, source: Source) -> Placed:
        """Leaves in the order in which they are listed; numbers ascending when the groups allow it."""
        return place_tree(self._tree(), source, "groups", keep_order=True)

    def spec(self) -> dict[str, Any]:
        """{"groups": {"north": ["a", "b"], …}}."""
        return {"groups": _jsonable(self.tree)}

    @classmethod
    def of(cls, value: Any, **rest: Any) -> Categories:
        """From {groups = {north = ["a", "b"], …}}."""
        only(rest, "groups")
        return groups(value)


def groups(tree: Mapping[str, Any]) -> Categories:
    """Values in named groups: {"north": ["a", "b"], "south": ["c"]}, nested for more levels.

    >>> groups({"north": ["a", "b"], "south": ["c"]}).spec()
    {'groups': {'north': ['a', 'b'], 'south': ['c']}}
    """
    if not isinstance(tree, Mapping):
        raise ParameterError("groups: give a mapping from group to its values, as in groups({'north': ['a', 'b']}).")
    return Categories(tree={str(name): members for name, members in tree.items()})


def _paths(members: Any, above: list[str]) -> list[list[str]]:
    if isinstance(members, Mapping):
        return [row for name, inner in members.items() for row in _paths(inner, [str(name), *above])]
    if isinstance(members, str) or not hasattr(members, "__iter__"):
        members = [members]
    return [[str(value), *above] for value in members]


def _jsonable(members: Any) -> Any:
    if isinstance(members, Mapping):
        return {str(name): _jsonable(inner) for name, inner in members.items()}
    if isinstance(members, str | int | float | bool):
        return members
    return [value if isinstance(value, str | int | float | bool) else str(value) for value in members]
