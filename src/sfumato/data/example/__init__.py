"""A table to try things on: 5,000 persons of the UCI Adult census extract, with ARX's hierarchies (see README.md)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset
    from sfumato.data.hierarchies.rule import Hierarchy

HERE = Path(__file__).parent
TREES = ("education", "marital_status", "native_country", "occupation", "race", "salary_class", "sex", "workclass")


def example() -> Dataset:
    """5,000 random rows of Adult (1994): sex, age, race, marital_status, education, native_country, workclass, …

    >>> example()
    <Dataset adult: 5000 rows; sex: text, age: integer, race: text, marital_status: text, education: text, \
native_country: text, workclass: text, occupation: text, salary_class: text>
    """
    from sfumato.data.files import read

    return read(HERE / "adult.parquet", name="adult")


def example_hierarchies() -> dict[str, Hierarchy]:
    """A hierarchy for every column: ARX's files for categories, bands of 5, 10 and 20 years from 15 to 94 for age.

    >>> example_hierarchies()["age"].spec()
    {'intervals': [5, 10, 20], 'low': 15, 'high': 94}
    """
    from sfumato.data.hierarchies.arx_file import hierarchy_file
    from sfumato.data.hierarchies.intervals import intervals

    trees: dict[str, Hierarchy] = {name: hierarchy_file(HERE / "hierarchies" / f"{name}.csv") for name in TREES}
    return {"age": intervals(5, 10, 20, low=15, high=94), **trees}
