"""Proposed roles: one unit at most, taken from how values repeat; the profile shows every column."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from sfumato.data.files import read
from sfumato.data.profile import Profile
from sfumato.errors import SchemaError


@pytest.fixture(scope="module")
def visits() -> Profile:
    n = 4000
    frame = pd.DataFrame(
        {
            "visit_id": range(n),
            "patient_id": [i // 3 for i in range(n)],
            "household_id": [i // 12 for i in range(n)],
            "discharge_id": [i % 10 for i in range(n)],
            "diag_1": [f"d{i % 50}" for i in range(n)],
            **{f"measure_{i}": [(i * j) % 7 for j in range(n)] for i in range(1, 45)},
        }
    )
    return read(frame).profile()


def test_at_most_one_column_is_proposed_as_unit(visits: Profile) -> None:
    role = {row["name"]: row["role"] for row in visits.rows()}
    assert role["visit_id"] == "identifier"
    assert role["patient_id"] == "unit"
    assert role["household_id"] is None
    assert role["discharge_id"] == "quasi", "a code with hundreds of rows a value names nobody"
    assert role["diag_1"] == "sensitive"


def test_the_text_shows_every_column_in_lines_one_can_read(visits: Profile) -> None:
    text = repr(visits)
    assert "measure_44" in text
    assert "more rows" not in text.split("Rows that a combination")[0]
    assert max(map(len, text.splitlines())) < 250


@pytest.mark.parametrize("name", ["table.xlsx", "table.sav", "table.dta"])
def test_files_of_other_programs_are_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"anything")
    with pytest.raises(SchemaError, match="Save it as CSV or Parquet"):
        read(tmp_path / name)
