"""Hierarchies by their public names, and `prepare`, which puts a dataset on them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from sfumato.data.hierarchies import REGISTERED
from sfumato.data.hierarchies.arx_file import hierarchy_file
from sfumato.data.hierarchies.categories import groups
from sfumato.data.hierarchies.cuts import cuts
from sfumato.data.hierarchies.dates import dates
from sfumato.data.hierarchies.intervals import intervals
from sfumato.data.hierarchies.masking import masking
from sfumato.data.hierarchies.ordered import ordered
from sfumato.data.hierarchies.prefixes import prefixes
from sfumato.data.hierarchies.rule import Hierarchy
from sfumato.data.hierarchies.suppression import suppression
from sfumato.data.prepare import prepare
from sfumato.data.propose import propose
from sfumato.errors import ParameterError

__all__ = [
    "Hierarchy",
    "cuts",
    "dates",
    "from_spec",
    "groups",
    "hierarchy_file",
    "intervals",
    "masking",
    "ordered",
    "prefixes",
    "prepare",
    "propose",
    "registered",
    "suppression",
]


def registered() -> dict[str, type[Hierarchy]]:
    """Keyword in sfumato.toml → hierarchy class."""
    places = [entry.partition(":") for entry in REGISTERED]
    kinds: list[type[Hierarchy]] = [getattr(import_module(module), name) for module, _, name in places]
    return {kind.keyword: kind for kind in kinds}


def from_spec(spec: Mapping[str, Any], base: Path | None = None) -> Hierarchy:
    """A hierarchy from its declared form, as in sfumato.toml; relative file paths count from `base`.

    >>> from_spec({"intervals": [5, 10], "low": 0}).spec()
    {'intervals': [5, 10], 'low': 0}
    """
    kinds = registered()
    found = [key for key in spec if key in kinds]
    if len(found) != 1:
        raise ParameterError(
            f"A hierarchy names exactly one of {', '.join(kinds)}; found {', '.join(map(repr, spec)) or 'nothing'}."
        )
    rest = {key: value for key, value in spec.items() if key != found[0]}
    if found[0] == "file" and base is not None:
        rest["base"] = base
    return kinds[found[0]].of(spec[found[0]], **rest)
