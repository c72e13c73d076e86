"""Promises in persons: what bytes and the original show is judged, the rest is called undecided, never held."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.oracles.packages import anatomized, generalized, original_of
from tests.oracles.tampering import put
from tests.verify.test_original import small, with_units

from sfumato.contracts import Promise, Recipe
from sfumato.data.codec import Domain
from sfumato.data.schema import Column, Schema
from sfumato.releases.anatomized import Anatomized
from sfumato.releases.generalized import Generalized
from sfumato.releases.package import write
from sfumato.releases.package_write import files_of
from sfumato.verify import verify

SICK = Domain("text", pa.array(["flu", "gout", "polio"]), region="set")


def state(path: Path, check: str, raw: pa.Table | None = None) -> bool | None:
    """A check's outcome; None: not decided."""
    one = next(one for one in verify(path, raw).findings if one.check.startswith(check))
    return one.holds if one.decided else None


def test_bytes_alone_leave_persons_open(tmp_path: Path) -> None:
    release, raw = with_units(10, 6)
    write(release, tmp_path / "p")
    alone = verify(tmp_path / "p")
    assert alone.holds and len(alone.undecided) == 2
    assert "--raw" in alone.undecided[0].detail and "2 not decided" in repr(alone)
    assert not verify(tmp_path / "p", raw).undecided


def overlapping(k: int, lone: int) -> tuple[Generalized, pa.Table]:
    """Two overlapping regions of four rows; the original has 4 rows in both, 4 in the first alone; persons repeat."""
    group = np.random.default_rng(1).permutation(np.repeat([0, 1], 4))
    schema = Schema((Column("q", "integer", "quasi"), Column("disease", "text", "sensitive")))
    recipe = Recipe("by hand", {}, (Promise("k-anonymity", {"k": k}, None, {"k": k}),), unit="person")
    ends = {"q": np.array([0, 1], np.int32)}, {"q": np.array([1, 3], np.int32)}
    codes = {"disease": np.zeros(8, np.int32)}
    release = Generalized("u", schema, {"q": small("integer"), "disease": SICK}, *ends, group, codes, recipe)
    persons = [f"a{i % lone}" for i in range(4)] + [f"b{i}" for i in range(4)]
    raw = pa.table({"q": [0, 0, 0, 1, 1, 1, 2, 2], "disease": ["flu"] * 8, "person": persons})
    return release, raw


@pytest.mark.parametrize(("k", "lone", "expected"), [(4, 4, None), (5, 4, False), (4, 1, False), (2, 4, True)])
def test_overlapping_regions_are_judged_by_their_best_case(
    k: int, lone: int, expected: bool | None, tmp_path: Path
) -> None:
    release, raw = overlapping(k, lone)
    write(release, tmp_path / "p")
    found = verify(tmp_path / "p", raw)
    assert state(tmp_path / "p", "promise", raw) is expected, [(one.check, one.detail) for one in found.findings]


def equal_slots(copies: int) -> tuple[Anatomized, pa.Table]:
    """Groups with equal slots and values whose rows belong to few persons."""
    group = np.repeat([0, 1], 4)
    schema = Schema((Column("q", "integer", "quasi"), Column("s", "text", "sensitive")))
    made = (
        Promise("group-size", {"k": 4}, None, {"k": 4}),
        Promise("k-anonymity", {"k": 8}, None, {"k": 8}),
        Promise("l-diversity", {"l": 2, "kind": "distinct"}, "s", {"l": 2}),
    )
    recipe = Recipe("by hand", {}, made, unit="person")
    slots, values = {"q": np.zeros(8, np.int32)}, {"s": np.tile([0, 1], 4).astype(np.int32)}
    order = np.random.default_rng(3).permutation(8)
    domains = {"q": Domain("integer", pa.array([4]), complete=True), "s": SICK}
    release = Anatomized("t", schema, domains, slots, group[order], {"s": values["s"][order]}, group[order], recipe)
    raw = pa.table({"q": [4] * 8, "s": ["flu", "gout"] * 4, "person": [f"p{i // copies}" for i in range(8)]})
    return release, raw


def test_groups_of_equal_rows_are_judged_by_their_best_case(tmp_path: Path) -> None:
    for copies in (1, 2, 4):
        release, raw = equal_slots(copies)
        write(release, tmp_path / str(copies))
        assert state(tmp_path / str(copies), "promise k", raw) is (copies == 1)
        assert state(tmp_path / str(copies), "promise group-size", raw) is (None if copies < 4 else False)


def test_a_truthful_count_of_persons_never_fails(tmp_path: Path) -> None:
    """Every row its own person, or persons in several rows: promises counted in the true groups never fail."""
    for seed, make in product(range(12), (generalized, anatomized)):
        rng = np.random.default_rng(seed)
        release = make(rng, seed % 3)
        raw = original_of(release, rng)
        release = release.with_recipe(replace(release.recipe, unit="person"))
        path = put(files_of(release), tmp_path / f"{seed}{make.__name__}")
        for given in (None, raw):
            found = verify(path, given)
            assert found.holds, (seed, given is None, [(one.check, one.detail) for one in found.failures])
