"""A method as it is written on the command line."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from sfumato.declared import plain

if TYPE_CHECKING:
    from sfumato.contracts import Method


def spec_of(method: Method) -> str:
    """Name and parameters that are not at their default, as `--method` takes them.

    >>> from sfumato import methods
    >>> spec_of(methods.parse("lattice:max_suppressed=0.02,metric=precision:gs_factor=0.3"))
    'lattice:metric=precision:gs_factor=0.3,max_suppressed=0.02'
    >>> spec_of(methods.parse("mondrian"))
    'mondrian'
    """
    return _joined(method.name, _set(method))


def _set(declared: Any) -> list[str]:
    """`parameter=value` for each one that is set."""
    found = []
    for one in fields(declared):
        value = getattr(declared, one.name)
        default = one.default_factory() if one.default_factory is not MISSING else one.default
        if value != default:
            found.append(f"{one.name}={_text(value)}")
    return found


def _text(value: Any) -> str:
    if hasattr(value, "metric"):
        return _joined(value.metric, _set(value))
    if isinstance(value, dict):
        return "{" + " ".join(f"{key}={plain(inner)}" for key, inner in value.items()) + "}"
    return str(plain(value))


def _joined(name: str, parameters: list[str]) -> str:
    return f"{name}:{','.join(parameters)}" if parameters else name
