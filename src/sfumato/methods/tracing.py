"""Distinct units per published group, when rows are not persons: a column that travels with the rows and is taken out.

A release never says which rows are one unit's. To judge its own groups, the unit rides through the method as one more
sensitive column; the evidence is counted from the release with it, and the release is then made without it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from sfumato.contracts import Release
from sfumato.data.codec import Domain
from sfumato.data.dataset import Dataset
from sfumato.data.evidence import Groups, group_evidence
from sfumato.data.schema import Column, Schema
from sfumato.errors import Incompatible
from sfumato.releases.form import Form


def with_units(dataset: Dataset) -> tuple[Dataset, str]:
    """The dataset with one more sensitive column, the unit of each row, and that column's name."""
    units = dataset.units
    assert units is not None
    name = "unit"
    while name in dataset.schema:
        name += "_"
    domain = Domain("integer", pa.array(np.arange(int(units.max()) + 1)))
    schema = Schema((*dataset.schema, Column(name, "integer", "sensitive")))
    domains, codes = {**dataset.domains, name: domain}, {**dataset.codes, name: units}
    return replace(dataset, schema=schema, domains=domains, codes=codes), name


def without_units(release: Release, column: str) -> tuple[Release, Groups]:
    """The release without that column, and evidence of its groups in distinct units."""
    if not isinstance(release, Form):
        raise Incompatible(
            f"A release of the form {release.form!r} cannot be judged in distinct units. Remove the role unit, "
            "or use another method."
        )
    published = release.published()
    group, values = published.sensitive_rows()
    kept = {name: codes for name, codes in values.items() if name != column}
    n_groups = int(group.max(initial=-1)) + 1
    return release.without(column), group_evidence(group, n_groups, kept, published.domains, values[column])
