"""Text to kinds, on distinct values: a column becomes numbers, dates or truth values only if nothing is lost."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.steps import MOST_DECIMALS, Bools, decimals_of, steps_of, values_of

if TYPE_CHECKING:
    from sfumato.data.schema import Kind

INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"
DECIMAL = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"
# An exponent counts only after a point: 12E3 is more often a code than a number.
REAL = r"^-?(0|[1-9][0-9]*)(\.[0-9]+([eE][+-]?[0-9]{1,3})?)?$"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
TRUTHS = ({"true", "false"}, {"True", "False"}, {"TRUE", "FALSE"})
MOST_DIGITS = 18
SAFE_DIGITS, MOST_DOUBLE_DIGITS = 15, 17
"""Digits a double always keeps, and digits it needs to be told apart."""
LOOKED_AT_FIRST = 1000


def infer(values: pa.Array) -> Kind:
    """The kind that distinct texts are written in: every one must be the usual way to write its value.

    >>> [infer(pa.array(v)) for v in (["1", "20"], ["0012", "13"], ["1.5", "2"], ["2020-02-30"], ["true"])]
    ['integer', 'text', 'decimal', 'text', 'boolean']
    """
    if len(values) == 0:
        return "text"
    if len(values) <= 2 and any(set(values.to_pylist()) <= truths for truths in TRUTHS):
        return "boolean"
    kinds: tuple[Kind, ...] = ("integer", "decimal", "date", "real")
    for kind in kinds:
        if _looks(values, kind) and not cast(values, kind)[1].any():
            return kind
    return "text"


def n_numbers(values: pa.Array) -> int:
    """How many distinct texts are numbers in the usual way of writing."""
    return int(pc.sum(pc.match_substring_regex(values, DECIMAL)).as_py() or 0)


def cast(values: pa.Array, kind: Kind) -> tuple[pa.Array, Bools]:
    """Distinct values in another kind, and which of them would be lost; lost ones are null. Shapes (n,)."""
    if kind == "text":
        return values.cast(pa.string()), np.zeros(len(values), dtype=bool)
    if pa.types.is_string(values.type):
        values, read = _from_text(values, kind)
    else:
        read = values.is_valid().to_numpy(zero_copy_only=False)
    found, kept = _numbers(values, kind) if kind in ("integer", "decimal", "real") else _others(values, kind)
    kept = kept & read
    return pc.if_else(pa.array(kept), found, pa.scalar(None, found.type)), ~kept


def _looks(values: pa.Array, kind: Kind) -> bool:
    pattern = {"integer": INTEGER, "decimal": DECIMAL, "date": DATE, "real": REAL}[kind]
    parts = (values.slice(0, LOOKED_AT_FIRST), values.slice(LOOKED_AT_FIRST))
    return all(pc.all(pc.match_substring_regex(part, pattern)).as_py() is not False for part in parts)


def _from_text(values: pa.Array, kind: Kind) -> tuple[pa.Array, Bools]:
    """Texts as numbers, dates or truth values of a wide type; not read where the writing does not fit."""
    pattern = {"integer": INTEGER, "decimal": DECIMAL, "date": DATE, "real": REAL, "boolean": "^(?i:true|false|0|1)$"}
    fits = pc.match_substring_regex(values, pattern[kind])
    kept = pc.if_else(fits, values, pa.scalar(None, pa.string()))
    wanted = {"integer": pa.int64(), "real": pa.float64(), "boolean": pa.bool_()}
    if kind == "decimal":
        found = _decimals(kept)
    elif kind == "date":
        found = _dates(kept)
    else:
        found = kept.cast(wanted[kind])
    read = found.is_valid().to_numpy(zero_copy_only=False)
    if kind == "real":
        read &= np.isfinite(found.fill_null(0.0).to_numpy(zero_copy_only=False)) & _kept_by_doubles(kept, found)
    return found, read


def _decimals(texts: pa.Array) -> pa.Array:
    """Decimals with as many digits as the longest fraction, null where there are too many digits."""
    length = pc.utf8_length(texts)
    point = pc.find_substring(texts, ".")
    whole = pc.if_else(pc.less(point, 0), length, point)
    fraction = pc.subtract(length, pc.add(whole, pc.if_else(pc.less(point, 0), 0, 1)))
    scale = pc.max(fraction).as_py() or 0
    # The sign may take one place of the whole part: rather one digit too few.
    if scale > MOST_DECIMALS or (pc.max(whole).as_py() or 0) + scale > MOST_DIGITS:
        short = pc.and_(pc.less_equal(fraction, MOST_DECIMALS), pc.less_equal(whole, MOST_DIGITS - MOST_DECIMALS))
        texts = pc.if_else(short, texts, pa.scalar(None, pa.string()))
        scale = min(scale, MOST_DECIMALS)
    return texts.cast(pa.decimal128(38, scale))


def _dates(texts: pa.Array) -> pa.Array:
    try:
        return texts.cast(pa.date32())
    except pa.ArrowInvalid:
        days = pc.strptime(texts, format="%Y-%m-%d", unit="s", error_is_null=True).cast(pa.date32())
        return pc.if_else(pc.equal(days.cast(pa.string()), texts), days, pa.scalar(None, pa.date32()))


def _kept_by_doubles(texts: pa.Array, numbers: pa.Array) -> Bools:
    """Texts whose double, written with as many digits as they have, is the same number again."""
    as_written = pc.or_(pc.less_equal(pc.utf8_length(texts), SAFE_DIGITS), pc.equal(numbers.cast(pa.string()), texts))
    kept = np.array(as_written.fill_null(False).to_numpy(zero_copy_only=False))
    unsure = np.flatnonzero(~kept & texts.is_valid().to_numpy(zero_copy_only=False))
    for i, text in zip(unsure, texts.take(pa.array(unsure)).to_pylist(), strict=True):
        exact = Decimal(text).normalize()
        n_digits = len(exact.as_tuple().digits)
        kept[i] = n_digits <= MOST_DOUBLE_DIGITS and Decimal(f"{float(text):.{n_digits}g}") == exact
    return kept


def _numbers(values: pa.Array, kind: Kind) -> tuple[pa.Array, Bools]:
    """Numbers of one kind as another, kept where exact."""
    if pa.types.is_boolean(values.type) or pa.types.is_date(values.type):
        return pa.nulls(len(values), pa.int64()), np.zeros(len(values), dtype=bool)
    if kind == "real":
        found = values.cast(pa.float64(), safe=False)
        if pa.types.is_decimal(values.type):
            return found, _kept_by_doubles(values.cast(pa.string()), found)
        back = found.fill_null(0.0).to_numpy(zero_copy_only=False)
        return found, np.abs(back) < 2.0**53 if pa.types.is_integer(values.type) else np.ones(len(back), dtype=bool)
    scale = 0 if kind == "integer" else _scale_of(values)
    steps, kept = steps_of(values, scale)
    return values_of(steps, kind, scale), kept


def _scale_of(values: pa.Array) -> int:
    if pa.types.is_decimal(values.type):
        return int(values.type.scale)
    if pa.types.is_floating(values.type):
        found = decimals_of(values.drop_null().to_numpy(zero_copy_only=False))
        return MOST_DECIMALS if found is None else found
    return 0


def _others(values: pa.Array, kind: Kind) -> tuple[pa.Array, Bools]:
    """Dates and truth values: only from themselves, or truth from 0 and 1."""
    wanted = pa.date32() if kind == "date" else pa.bool_()
    if values.type == wanted:
        return values, values.is_valid().to_numpy(zero_copy_only=False)
    if kind == "boolean" and pa.types.is_integer(values.type):
        return values.cast(pa.bool_()), pc.is_in(values, pa.array([0, 1])).to_numpy(zero_copy_only=False)
    return pa.nulls(len(values), wanted), np.zeros(len(values), dtype=bool)
