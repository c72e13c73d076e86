"""Parameters are declared once: validation, CLI options, TOML keys and reference pages come from the declaration."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from importlib import import_module
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
            raise ParameterError(_message(cls, error)) from None

    made.__init__ = __init__
    return made  # type: ignore[no-any-return]


def schema_of(cls: type[Any]) -> dict[str, Any]:
    """JSON schema of a declared class's parameters, for `sfumato schema`, forms and reference pages."""
    return TypeAdapter(cls).json_schema()


def load(entry: str) -> Any:
    """What a register's "module:name" stands for."""
    module, _, name = entry.partition(":")
    return getattr(import_module(module), name)


def built(spec: str | Mapping[str, Any], classes: Sequence[type[Any]], key: str) -> Any:
    """An instance from "name:parameter=value,…" or from a table that names it under `key`; `classes` are declared.

    `key` is also the class attribute that holds the name. What is unknown is named, with near names.
    """
    named, parameters = _taken_apart(spec, key)
    class_of = {getattr(one, key): one for one in classes}
    if named not in class_of:
        raise ParameterError(f"There is no {'method' if key == 'name' else key} {named!r}.{near(named, class_of)}")
    known = [one.name for one in fields(class_of[named])]
    for parameter in parameters:
        if parameter not in known:
            raise ParameterError(f"{named} has no parameter {parameter!r}.{near(parameter, known)}")
    return class_of[named](**parameters)


def built_from(register: Sequence[str], spec: str | Mapping[str, Any], key: str) -> Any:
    """The same from a register of "module:name"; a module of the asked name is looked at before all others.

    >>> built_from(("sfumato.requirements.k_anonymity:KAnonymity",), "k-anonymity:k=3", "model").k
    3
    """
    named = _taken_apart(spec, key)[0].replace("-", "_")
    likely = [entry for entry in register if entry.partition(":")[0].endswith(f".{named}")]
    return built(spec, [load(entry) for entry in likely or register], key)


def near(word: str, known: Iterable[str]) -> str:
    """Advice for an unknown word: near names first, else all of them.

    >>> near("k-anonimity", ["k-anonymity", "alpha-k"])
    ' Did you mean k-anonymity?'
    """
    names = list(known)
    close = get_close_matches(word, names, n=2, cutoff=0.6)
    return f" Did you mean {' or '.join(close)}?" if close else f" Known: {', '.join(names) or 'none'}."


def _taken_apart(spec: str | Mapping[str, Any], key: str) -> tuple[str, dict[str, Any]]:
    if not isinstance(spec, str):
        parameters = dict(spec)
        named = parameters.pop(key, None)
        if not isinstance(named, str):
            raise ParameterError(f'A table for a {key} needs {key} = "…"; found the keys {", ".join(spec) or "none"}.')
        return named, parameters
    named, _, rest = spec.partition(":")
    pairs: dict[str, Any] = {}
    for part in filter(None, (one.strip() for one in rest.split(","))):
        parameter, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not parameter or parameter in pairs:
            raise ParameterError(f"In {named!r}, write each parameter once, as parameter=value, with commas between.")
        pairs[parameter] = value
    return named.strip(), pairs


def _message(cls: type[Any], error: ValidationError) -> str:
    name, known, parts = cls.__name__, [one.name for one in fields(cls)], []
    for one in error.errors():
        first, *rest = one["loc"] or ("its parameters",)
        if isinstance(first, int):  # The place of an argument that was given without its name.
            first = known[first] if first < len(known) else f"argument {first + 1}"
        where = ".".join(str(step) for step in (first, *rest))
        text = one["msg"].removeprefix("Value error, ").removeprefix("Input ")
        parts.append(f"{where} {text[0].lower() + text[1:]}" if text else where)
    return f"{name}: {'; '.join(parts)}. See help(sfumato.{name}) for the parameters and their ranges."
