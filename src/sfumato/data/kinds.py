"""Which kind of column an Arrow type makes, and the one Arrow type each kind is kept in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import SchemaError

if TYPE_CHECKING:
    from sfumato.data.schema import Kind

types = pa.types
TESTS: tuple[tuple[Any, Kind], ...] = (
    (types.is_boolean, "boolean"),
    (types.is_integer, "integer"),
    (types.is_floating, "real"),
    (types.is_decimal, "decimal"),
    (types.is_date, "date"),
    (types.is_timestamp, "date"),
    (types.is_string, "text"),
    (types.is_large_string, "text"),
    (types.is_string_view, "text"),
    (types.is_null, "text"),
)


def kind_of(arrow: Any) -> Kind:
    """The kind of column an Arrow type makes.

    >>> kind_of(pa.int16()), kind_of(pa.dictionary(pa.int8(), pa.string()))
    ('integer', 'text')
    """
    if types.is_dictionary(arrow):
        return kind_of(arrow.value_type)
    for test, kind in TESTS:
        if test(arrow):
            return kind
    raise SchemaError(f"A column of type {arrow} is not supported; cast it to text, a number or a date.")


def kind_of_column(arrow: Any, name: str) -> Kind:
    """The kind of a named column, or `SchemaError` that names it."""
    try:
        return kind_of(arrow)
    except SchemaError:
        raise SchemaError(
            f"Column {name!r} has type {_family(arrow)}, which is not supported; "
            "cast it to text, a number or a date, or leave it out."
        ) from None


def canonical(array: pa.Array, name: str) -> pa.Array:
    """The same values in the type their kind is kept in; dictionaries stay dictionaries with such values.

    Timestamps become dates when all are midnight; a time of day is refused, as are nested values.
    """
    if types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, canonical(array.dictionary, name))
    return _CANONICAL[kind_of_column(array.type, name)](array, name)


def _family(arrow: Any) -> str:
    """The type without field names: nested field names may be data."""
    for test, word in ((types.is_struct, "struct"), (types.is_map, "map"), (types.is_union, "union")):
        if test(arrow):
            return word
    return "list" if types.is_nested(arrow) else str(arrow)


def _integer(array: pa.Array, name: str) -> pa.Array:
    try:
        return array.cast(pa.int64())
    except pa.ArrowInvalid:
        raise SchemaError(
            f"Column {name!r} holds whole numbers beyond 64 bits; read it as text, or divide it."
        ) from None


def _decimal(array: pa.Array, name: str) -> pa.Array:
    try:
        return array.cast(pa.decimal128(38, array.type.scale))
    except pa.ArrowInvalid:
        raise SchemaError(f"Column {name!r} has more than 38 digits; round it or read it as text.") from None


def _date(array: pa.Array, name: str) -> pa.Array:
    if types.is_date32(array.type):
        return array
    if types.is_timestamp(array.type) and array.type.tz is not None:
        raise SchemaError(f"Column {name!r} has time zones; cast it to a date in the zone that is meant.")
    days = array.cast(pa.date32(), safe=False)
    n_lost = pc.sum(pc.not_equal(days.cast(array.type), array)).as_py() or 0
    if n_lost:
        raise SchemaError(
            f"Column {name!r} has a time of day in {n_lost} rows; cast it to a date, or split it into date and text."
        )
    return days


def _text(array: pa.Array, name: str) -> pa.Array:
    return array.cast(pa.string())


_CANONICAL: dict[str, Any] = {
    "integer": _integer,
    "decimal": _decimal,
    # Adding 0.0 makes −0.0 the same value as 0.0.
    "real": lambda array, name: pc.add(array.cast(pa.float64()), 0.0),
    "date": _date,
    "boolean": lambda array, name: array,
    "text": _text,
}
