"""Algorithms that turn a dataset into a release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.contracts import Method


def all_methods() -> tuple[type[Method], ...]:
    """Every registered method, shape by shape, in the order of the registers."""
    from sfumato.declared import load
    from sfumato.methods import tables

    return tuple(load(entry) for entry in tables.REGISTERED)


def parse(spec: str | Mapping[str, Any]) -> Method:
    """A method from the text of the command line (`mondrian:cut=median`), or from a table with its `name`.

    >>> parse({"name": "anatomy"}).name
    'anatomy'
    """
    from sfumato.declared import built_from
    from sfumato.methods import tables

    found: Method = built_from(tables.REGISTERED, spec, "name")
    return found
