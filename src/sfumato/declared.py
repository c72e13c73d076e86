"""Parameters are declared once: validation, CLI options, TOML keys and reference pages come from the declaration."""

from __future__ import annotations

import functools
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, dataclass_transform

from pydantic import BeforeValidator, ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as _dataclass

from sfumato.errors import ParameterError

T = TypeVar("T")


def exact(value: object) -> Fraction:
    """A number as it was written: 0.2 is one fifth, not its nearest float.

    >>> exact(0.2), exact("1/3"), exact(5)
    (Fraction(1, 5), Fraction(1, 3), Fraction(5, 1))
    """
    if isinstance(value, bool):
        raise ValueError("must be a number")
    if isinstance(value, float):
        return Fraction(Decimal(repr(value)))
    if isinstance(value, int | str | Decimal | Fraction):
        return Fraction(value)
    if hasattr(value, "item"):
        return exact(value.item())
    raise ValueError("must be a number")


def plain(value: object) -> Any:
    """A parameter as JSON: fractions as the number they are when finite in decimals, else as "p/q".

    >>> plain(Fraction(1, 5)), plain(Fraction(1, 3)), plain(Fraction(5))
    (0.2, '1/3', 5)
    """
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return int(value)
        return float(value) if exact(float(value)) == value else f"{value.numerator}/{value.denominator}"
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


if TYPE_CHECKING:
    Exact = Fraction
else:
    Exact = Annotated[Fraction, BeforeValidator(exact)]


@dataclass_transform(frozen_default=True)
def declared(cls: type[T]) -> type[T]:
    """A frozen class whose fields are parameters: checked at construction, `ParameterError` says which is wrong."""
    made: Any = _dataclass(frozen=True, config=ConfigDict(extra="forbid", arbitrary_types_allowed=True))(cls)
    checked: Callable[..., None] = made.__init__

    @functools.wraps(checked)
    def __init__(self: object, *args: Any, **kwargs: Any) -> None:
        try:
            checked(self, *args, **kwargs)
        except ValidationError as error:
            raise ParameterError(_message(cls.__name__, error)) from None

    made.__init__ = __init__
    return made  # type: ignore[no-any-return]


def schema_of(cls: type[Any]) -> dict[str, Any]:
    """JSON schema of a declared class's parameters, for `sfumato schema`, forms and reference pages."""
    return TypeAdapter(cls).json_schema()


def _message(name: str, error: ValidationError) -> str:
    parts = []
    for one in error.errors():
        where = ".".join(str(step) for step in one["loc"]) or "its parameters"
        text = one["msg"].removeprefix("Value error, ").removeprefix("Input ")
        parts.append(f"{where} {text[0].lower() + text[1:]}" if text else where)
    return f"{name}: {'; '.join(parts)}. See help(sfumato.{name}) for the parameters and their ranges."
