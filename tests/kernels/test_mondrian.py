"""The Mondrian kernels, one oracle: same groups, same hulls, any width, any number of threads."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sfumato.kernels import mondrian_cuts, mondrian_grow, mondrian_rows, mondrian_tests, twins
from sfumato.kernels.mondrian import Compiled, Lanes, Parted, Rules, part
from sfumato.kernels.mondrian_levels import part_by_levels
from tests.oracles import mondrian as oracle

Passes = Callable[[NDArray[Any]], bool]
MODES = [Rules(1), Rules(1, median=True), Rules(1, relaxed=True)]


def table(seed: int, n: int, d: int, width: int) -> Lanes:
    """Random ranks with ties, on cells with gaps."""
    rng = np.random.default_rng(seed)
    widths = rng.integers(1, width + 1, d)
    codes = [rng.integers(0, w, n).astype(np.uint16) for w in widths]
    cells = [np.sort(rng.choice(3 * w, w, replace=False)).astype(np.int32) for w in widths]
    return Lanes(codes, cells, [3 * int(w) for w in widths])


def as_sets(parted: Parted) -> set[frozenset[int]]:
    ends = zip(parted.starts[:-1], parted.starts[1:], strict=True)
    return {frozenset(parted.rows[a:b].tolist()) for a, b in ends}


def expected(lanes: Lanes, rules: Rules, order: NDArray[Any], passes: Passes) -> set[frozenset[int]]:
    plain = oracle.Table([x.tolist() for x in lanes.codes], [c.tolist() for c in lanes.cells], lanes.n_cells)
    asked = oracle.Rules(
        rules.least,
        lambda group: passes(np.array(group)),
        "relaxed" if rules.relaxed else "strict",
        "median" if rules.median else "nearest",
    )
    return {frozenset(group) for group in oracle.partition(plain, asked, order.tolist())}


def in_groups(passes: Passes) -> Callable[[NDArray[Any], NDArray[np.int64]], NDArray[np.bool_]]:
    return lambda rows, starts: np.array([passes(rows[a:b]) for a, b in itertools.pairwise(starts)], dtype=np.bool_)


tables = st.tuples(st.integers(0, 2**32), st.integers(1, 250), st.integers(1, 6), st.sampled_from([1, 2, 3, 9, 60]))


@settings(max_examples=120, deadline=None)
@given(tables, st.integers(1, 7), st.sampled_from(MODES))
def test_sizes_only(shape: tuple[int, int, int, int], least: int, mode: Rules) -> None:
    lanes, rules = table(*shape), replace(mode, least=least)
    order = np.lexsort(lanes.codes)
    wanted = expected(lanes, rules, order, lambda group: True)
    for threads in (1, 2):
        parted = part(lanes, rules, order=order, threads=threads)
        assert as_sets(parted) == wanted
        assert_hulls(lanes, parted)
    level_wise = part_by_levels(lanes, rules, None, order)
    assert as_sets(level_wise) == wanted
    assert_hulls(lanes, level_wise)


def assert_hulls(lanes: Lanes, parted: Parted) -> None:
    for g, (a, b) in enumerate(zip(parted.starts[:-1], parted.starts[1:], strict=True)):
        for j, codes in enumerate(lanes.codes):
            of_group = codes[parted.rows[a:b]]
            assert (parted.low[g, j], parted.high[g, j]) == (of_group.min(), of_group.max())


@settings(max_examples=80, deadline=None)
@given(tables, st.integers(1, 4), st.sampled_from(MODES), st.integers(1, 4), st.integers(1, 3))
def test_tests_on_several_columns(
    shape: tuple[int, int, int, int], least: int, mode: Rules, first: int, second: int
) -> None:
    lanes, rules = table(*shape), replace(mode, least=least)
    rng = np.random.default_rng(shape[0] + 1)
    columns = [rng.integers(0, high, lanes.n_rows).astype(np.uint16) for high in (5, 4)]
    order = np.lexsort([*lanes.codes, columns[1], columns[0]])
    none = np.zeros(0)
    distinct, share = twins.distinct_values.address, twins.largest_share.address
    calls = [(distinct, 0, (float(first),), none), (distinct, 1, (float(second),), none)]
    calls.append((share, 1, (9.0, 10.0, 1.0), none))

    def passes(group: NDArray[Any]) -> bool:
        found = [np.unique(column[group], return_counts=True)[1] for column in columns]
        few = len(found[0]) < first or len(found[1]) < second
        return not few and bool(10 * found[1].max() <= 9 * len(group))

    wanted = expected(lanes, rules, order, passes)
    for threads in (1, 2):
        parted = part(lanes, rules, Compiled(columns, calls), order, threads)
        assert as_sets(parted) == wanted
    assert as_sets(part_by_levels(lanes, rules, in_groups(passes), order)) == wanted


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("width", [4, 8, 12, 16, 20])
def test_every_width(width: int, mode: Rules) -> None:
    for d in (width - 3, width):
        lanes, rules = table(d, 900, d, 7), replace(mode, least=4)
        order = np.arange(lanes.n_rows)
        parted = part(lanes, rules, order=order)
        assert as_sets(parted) == as_sets(part_by_levels(lanes, rules, None, order))
        assert_hulls(lanes, parted)
        assert len(parted.starts) > 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("width", [2, 50, 5000, 60_000])
def test_long_nodes_are_cut_by_histogram(width: int, mode: Rules) -> None:
    rng = np.random.default_rng(width)
    n = 70_000
    codes = [np.floor(width * rng.random(n) ** 2).astype(np.uint16), rng.integers(0, 300, n).astype(np.uint16)]
    codes.append((65_535 - rng.integers(0, 3, n)).astype(np.uint16))
    lanes = Lanes(codes, [np.arange(65_536, dtype=np.int32)] * 3, [65_536] * 3)
    rules = replace(mode, least=20)
    sensitive = rng.integers(0, 4, n).astype(np.uint16)
    tests = Compiled([sensitive], [(twins.distinct_values.address, 0, (4.0,), np.zeros(0))])
    order = np.argsort(sensitive, kind="stable")

    def passes(rows: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[np.bool_]:
        group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        seen = np.zeros((len(starts) - 1, 4), dtype=np.bool_)
        seen[group, sensitive[rows]] = True
        return seen.all(axis=1)

    wanted = as_sets(part_by_levels(lanes, rules, passes, order))
    assert as_sets(part(lanes, rules, tests, order, threads=2)) == wanted
    assert len(wanted) > 100


@settings(max_examples=60, deadline=None)
@given(tables, st.integers(1, 6))
def test_relaxed_halves_until_nothing_varies(shape: tuple[int, int, int, int], least: int) -> None:
    lanes = table(*shape)
    parted = part_by_levels(lanes, Rules(least, relaxed=True))
    sizes = np.diff(parted.starts)
    assert ((sizes < 2 * least) | (parted.low == parted.high).all(axis=1)).all()
    assert lanes.n_rows < least or sizes.min() >= least


def test_relaxed_splits_heavy_values() -> None:
    heavy = np.repeat([0, 1, 2], [5, 90, 5]).astype(np.uint16)
    lanes = Lanes([heavy], [np.arange(3, dtype=np.int32)], [3])
    assert len(part_by_levels(lanes, Rules(10)).starts) - 1 == 1
    assert len(part_by_levels(lanes, Rules(10, relaxed=True)).starts) - 1 >= 2


def test_no_stale_compiled_code_is_loaded() -> None:
    """Numba looks only at the file of the function that it keeps."""
    inlined = [mondrian_rows, mondrian_cuts, mondrian_tests]
    stamp = sha256(b"".join(Path(module.__file__).read_bytes() for module in inlined)).hexdigest()[:12]
    assert stamp == mondrian_grow.INLINED, f'set INLINED = "{stamp}" in mondrian_grow.py'
