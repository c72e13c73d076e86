"""Suppression only: a value as it is, or nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import pyarrow as pa

from sfumato.data.codec import Domain
from sfumato.data.hierarchies.grid import Bands, find_ends, place_on_grid, scale_of
from sfumato.data.hierarchies.rule import Hierarchy, Placed, Source, only, with_missing
from sfumato.data.hierarchies.tree import Tree, place_tree
from sfumato.declared import declared
from sfumato.errors import ParameterError


@declared
class Suppression(Hierarchy):
    """One step: the value or `*`. Text and truth values stay on the values present, numbers get a grid of steps."""

    keyword: ClassVar[str] = "suppression"

    def place(self, source: Source) -> Placed:
        """No levels; the lowest common node of two values is everything."""
        raw = source.domain
        if raw.kind == "boolean":
            both = Domain("boolean", pa.array([False, True]), region="node", complete=True)
            return Placed(*with_missing(both, raw.values.cast(pa.int32()).to_numpy(zero_copy_only=False), raw))
        if raw.kind == "text":
            placed = place_tree(
                Tree(tuple(raw.values.to_pylist()), whole=False), source, "suppression", keep_order=True
            )
        else:
            scale = scale_of(source, "suppression", kinds=("integer", "decimal", "real", "date"))
            placed = place_on_grid(source, scale, [], find_ends(source, scale, Bands(1), None, None))
        return replace(placed, domain=replace(placed.domain, region="node"))

    def spec(self) -> dict[str, Any]:
        """{"suppression": True}."""
        return {"suppression": True}

    @classmethod
    def of(cls, value: Any, **rest: Any) -> Suppression:
        """From {suppression = true}."""
        only(rest, "suppression")
        if value is not True:
            raise ParameterError("A hierarchy with suppression= must say suppression = true.")
        return cls()


def suppression() -> Suppression:
    """The value or nothing.

    >>> suppression().spec()
    {'suppression': True}
    """
    return Suppression()
