"""The compiled roll-up against its twin by sorting and against dictionaries of tuples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels.histogram import histogram
from sfumato.kernels.rollup import distinct_by_hashing, field_sums, rolled
from sfumato.kernels.rollup_sorting import Raise, distinct_by_sorting, rolled_by_sorting
from sfumato.methods.fulldomain.space import Layout

laws = settings(max_examples=60, deadline=None)


@st.composite
def tasks(draw: st.DrawFn) -> tuple[list[int], np.ndarray[Any, Any], np.ndarray[Any, Any], dict[int, list[int]]]:
    """Sizes of fields, tuples, weights, and columns to raise with the node above each node."""
    d = draw(st.sampled_from([1, 2, 3, 20]))
    sizes = [draw(st.sampled_from([1, 2, 5, 300, 40_000])) for _ in range(d)]
    n = draw(st.integers(0, 40))
    chance = np.random.Generator(np.random.Philox(key=draw(st.integers(0, 2**32))))
    codes = np.stack([chance.integers(0, min(size, 4), n) for size in sizes], axis=1).astype(np.int32)
    weights = chance.integers(0, 9, n)
    up = {j: sorted(chance.integers(0, min(sizes[j], 3), sizes[j]).tolist()) for j in range(d) if chance.random() < 0.5}
    return sizes, codes, weights, up


def raised(layout: Layout, up: dict[int, list[int]]) -> Raise:
    at = np.array(sorted(up), dtype=np.int64)
    starts = np.cumsum([0, *(len(up[j]) for j in at)])[:-1].astype(np.uint64)
    table = np.array([node for j in at for node in up[j]], dtype=np.uint64)
    return Raise(layout.word[at], layout.shift[at], layout.mask[at], starts, table)


@laws
@given(task=tasks())
def test_both_ways_group_what_is_alike(task: Any) -> None:
    sizes, codes, weights, up = task
    layout = Layout.of(sizes)
    keys = layout.keys(list(codes.T), len(codes))
    step = raised(layout, up)
    fast, slow = rolled(keys, weights, step), rolled_by_sorting(keys, weights, step)
    for one, other in zip(fast, slow, strict=True):
        assert np.array_equal(one, other)
    known: dict[tuple[int, ...], list[int]] = {}
    for row, weight in zip(codes.tolist(), weights.tolist(), strict=True):
        tuple_ = tuple(up[j][code] if j in up else code for j, code in enumerate(row))
        known.setdefault(tuple_, []).append(weight)
    assert fast[1].tolist() == [sum(held) for held in known.values()]
    found = [layout.nodes(fast[0], j) for j in range(len(sizes))]
    assert list(map(tuple, np.stack(found, axis=1).tolist())) == list(known) or not known


@laws
@given(task=tasks())
def test_distinct_rows_both_ways(task: Any) -> None:
    sizes, codes, weights, _ = task
    keys = Layout.of(sizes).keys(list(codes.T), len(codes))
    for one, other in zip(distinct_by_hashing(keys, weights), distinct_by_sorting(keys, weights), strict=True):
        assert np.array_equal(one, other)


def test_the_table_of_groups_grows() -> None:
    keys = np.arange(200_000, dtype=np.uint64).reshape(-1, 1) % np.uint64(150_000)
    found, n, into = distinct_by_hashing(keys, np.ones(len(keys), dtype=np.int64))
    assert len(found) == 150_000 and n.sum() == 200_000 and n.max() == 2
    assert np.array_equal(found[into], keys)


def test_wide_keys_leave_no_field_across_two_words() -> None:
    layout = Layout.of([2**20] * 7)
    assert layout.n_words == 3 and layout.word.tolist() == [0, 0, 0, 1, 1, 1, 2]


@laws
@given(task=tasks(), seed=st.integers(0, 99))
def test_figures_of_nodes_are_added_up(task: Any, seed: int) -> None:
    sizes, codes, weights, _ = task
    layout = Layout.of(sizes)
    chance = np.random.Generator(np.random.Philox(key=seed))
    tables = [chance.random(size) for size in sizes]
    some = chance.random(len(codes)) < 0.5
    start = np.cumsum([0, *sizes])[:-1].astype(np.uint64)
    keys = layout.keys(list(codes.T), len(codes))
    found = field_sums(keys, weights, some, layout.word, layout.shift, layout.mask, start, np.concatenate(tables))
    wanted = [(weights[some] * table[codes[some, j]]).sum() for j, table in enumerate(tables)]
    assert found == pytest.approx(wanted)


def test_a_histogram_adds_entries_to_their_group() -> None:
    group, row = np.array([1, 0, 1], dtype=np.int32), np.array([0, 1, 2, 2], dtype=np.int32)
    found = histogram(group, row, np.array([0, 1, 0, 1], dtype=np.int32), np.array([5, 1, 2, 3]), 2, 2)
    assert found.tolist() == [[0, 1], [7, 3]]
