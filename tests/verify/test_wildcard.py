"""A missing value is a value of its own; the reading of it as a wildcard is reported beside and never smaller."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.oracles.packages import anatomized, generalized
from tests.oracles.tampering import put, table

import sfumato as sf
from sfumato.releases.package_write import files_of
from sfumato.verify import verify
from sfumato.verify.cells import read_cells
from sfumato.verify.hygiene import as_json
from sfumato.verify.wildcard import k_wildcard


def by_pairs(files: dict[str, bytes]) -> int:
    """Every row against every row."""
    document = as_json(files["datapackage.json"])["sfumato"]
    rows = table(files, "data/data.parquet" if document["form"] == "generalized" else "data/quasi.parquet").to_pylist()
    quasi = [c for c in document["columns"] if c["role"] == "quasi"]

    def cell(row, c):  # type: ignore[no-untyped-def]
        if c["published"] == "exact":
            return row[c["name"]]
        return (
            None if row[c["name"]] == "missing" else (row[f"{c['name']}__lo"], row[f"{c['name']}__hi"], row[c["name"]])
        )

    cells = [[cell(row, c) for c in quasi] for row in rows]
    return min(
        sum(all(x is None or y is None or x == y for x, y in zip(a, b, strict=True)) for b in cells) for a in cells
    )


@pytest.mark.parametrize("make", [generalized, anatomized])
def test_our_k_is_at_most_the_wildcard_k(make: object) -> None:
    for seed in range(40):
        files = files_of(make(np.random.default_rng(seed), seed % 3))  # type: ignore[operator]
        cells = read_cells(files, as_json(files["datapackage.json"]))
        assert min(cells.alike()) <= (k_wildcard(cells) or 0) == by_pairs(files)


def test_the_finding_of_k_says_both(tmp_path: Path) -> None:
    files = files_of(generalized(np.random.default_rng(3)))
    found = next(
        one for one in verify(put(files, tmp_path / "p")).findings if one.check.startswith("promise k-anonymity")
    )
    assert found.figures["k"] <= found.figures["k_wildcard"]


def test_a_column_of_missing_values_alone_and_a_table_of_them(tmp_path: Path) -> None:
    ages = [20, 21, 22, 23, 24, 25] * 2
    for i, age in enumerate((ages, [None] * 12)):
        data = pa.table(
            {"age": pa.array(age, pa.int64()), "zip": pa.array([None] * 12, pa.string()), "s": ["a", "b"] * 6}
        )
        people = sf.read(data).roles(quasi=["age", "zip"], sensitive=["s"])
        rules = {"age": sf.intervals(2, low=20, high=29)} if i == 0 else {}
        found = sf.publish(people, sf.Mondrian(), require=sf.KAnonymity(2), hierarchies=rules).save(tmp_path / str(i))
        one = next(one for one in found.findings if one.check.startswith("promise k-anonymity"))
        assert found.holds and 2 <= one.figures["k"] <= one.figures["k_wildcard"] <= 12
