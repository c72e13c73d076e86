"""Values to codes and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.codec import Domain, encode, encode_into, recode
from sfumato.data.kinds import kind_of
from tests.data.samples import KINDS, columns


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_decoding_codes_gives_the_cells_back(kind: str, data: st.DataObject) -> None:
    column = data.draw(columns(kind))
    domain, codes = encode(column, kind_of(column.type))
    assert domain.decode(codes).to_pylist() == column.to_pylist()
    values = domain.values.to_pylist()
    assert values == sorted(set(column.to_pylist()) - {None})
    assert domain.missing == (None in column.to_pylist())
    assert codes.dtype == np.int32
    # A domain holds all its own values, and nothing the column did not have.
    assert encode_into(domain, column).tolist() == codes.tolist()
    assert encode_into(domain, domain.with_missing()).tolist() == list(range(domain.size))


@given(st.lists(st.sampled_from(["b", "a", "c", None]), min_size=1), st.permutations(["a", "b", "c", "b", None, "z"]))
def test_dictionaries_made_elsewhere_may_repeat_hold_null_and_list_unused_values(
    cells: list[str | None], dictionary: list[str | None]
) -> None:
    indices = pa.array([dictionary.index(cell) for cell in cells], pa.int8())
    column = pa.DictionaryArray.from_arrays(indices, pa.array(dictionary))
    domain, codes = encode(column, "text")
    plain, own = encode(pa.array(cells, pa.string()), "text")
    assert domain.values.to_pylist() == plain.values.to_pylist()
    assert codes.tolist() == own.tolist()
    assert domain.missing == plain.missing
    assert encode_into(domain, column).tolist() == codes.tolist()


@given(
    leaves=st.lists(st.integers(-20, 20), min_size=1, unique=True).map(sorted),
    asked=st.lists(st.one_of(st.none(), st.integers(-40, 40)), min_size=1),
    ends=st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_values_on_an_existing_domain(leaves: list[int], asked: list[Any], ends: tuple[bool, bool, bool]) -> None:
    missing, low, high = ends
    domain = Domain("integer", pa.array(leaves, pa.int64()), missing=missing, open_low=low, open_high=high)

    def expected(value: int | None) -> int:
        if value is None:
            return len(leaves) if missing else -1
        if low and value < leaves[0]:
            return 0
        if high and value > leaves[-1]:
            return len(leaves) - 1
        return leaves.index(value) if value in leaves else -1

    wanted = [expected(value) for value in asked]
    for arrow in (pa.int64(), pa.int8(), pa.float64(), pa.decimal128(30, 2), pa.string()):
        texts = pa.array(asked, pa.int64()).cast(pa.string())
        column = texts if arrow == pa.string() else pa.array(asked, pa.int64()).cast(arrow)
        assert encode_into(domain, column).tolist() == wanted, arrow


def test_numbers_between_the_steps_are_not_in_a_domain() -> None:
    domain, _ = encode(pa.array([1, 2, 3]), "integer")
    assert encode_into(domain, pa.array([1.5, 2.0, float("nan")])).tolist() == [-1, 1, -1]
    assert encode_into(domain, pa.array(["2", "x", "1.5", None])).tolist() == [1, -1, -1, -1]


def test_an_empty_domain_has_nothing() -> None:
    for array, kind in ((pa.array([None, None], pa.string()), "text"), (pa.array([None], pa.int64()), "integer")):
        domain, codes = encode(array, kind)  # type: ignore[arg-type]
        assert (domain.n_values, domain.size, set(codes.tolist())) == (0, 1, {0})
        assert encode_into(domain, pa.array(["7", None])).tolist() == [-1, 0]


def test_recoding_replaces_only_the_named_columns() -> None:
    found = recode(
        {"a": np.array([0, 1], np.int32), "b": np.array([1, 1], np.int32)}, {"a": np.array([5, 6], np.int32)}
    )
    assert {name: codes.tolist() for name, codes in found.items()} == {"a": [5, 6], "b": [1, 1]}
