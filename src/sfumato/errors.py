"""Five things that can go wrong, each saying what was asked, what was found and what to do.

Messages carry column names, counts and parameters, never cell values.
"""

from __future__ import annotations

from collections.abc import Mapping


class SfumatoError(Exception):
    """Parent of every error this package raises on purpose."""


class SchemaError(SfumatoError):
    """The data, the schema or the project file are not what they must be (exit code 5)."""


class ParameterError(SfumatoError):
    """A parameter is outside its range or unknown (exit code 2)."""


class Incompatible(SfumatoError):
    """A method cannot serve these requirements or this data, known before any work (exit code 2)."""


class Infeasible(SfumatoError):
    """No release can meet the requirement; `nearest` names the closest parameters that can (exit code 4)."""

    def __init__(self, message: str, nearest: Mapping[str, float] | None = None) -> None:
        super().__init__(message)
        self.nearest = dict(nearest or {})


class Unanswerable(SfumatoError):
    """A question the release cannot answer yet; says which clause and the nearest form that can (exit code 2)."""
