"""Small datasets for tests of methods, from plain lists of codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from sfumato.data.codec import Domain
from sfumato.data.dataset import Dataset
from sfumato.data.schema import Column, Role, Schema


def dataset(
    sensitive: Mapping[str, Sequence[int]], units: Sequence[int] | None = None, quasi: Sequence[int] | None = None
) -> Dataset:
    """A prepared table: quasi-identifier `row` (by default the row's own number), sensitive columns, unit `person`.

    As in every prepared table, domains of sensitive columns hold the values that are there.
    """
    n = len(next(iter(sensitive.values())))
    columns: dict[str, tuple[Sequence[int], Role]] = {"row": (range(n) if quasi is None else quasi, "quasi")}
    columns.update({name: (codes, "sensitive") for name, codes in sensitive.items()})
    if units is not None:
        columns["person"] = (units, "unit")
    codes = {name: np.array(found, dtype=np.int32) for name, (found, _) in columns.items()}
    codes.update({name: np.unique(codes[name], return_inverse=True)[1].astype(np.int32) for name in sensitive})
    domains = {name: Domain("integer", pa.array(range(int(found.max()) + 1))) for name, found in codes.items()}
    schema = Schema(tuple(Column(name, "integer", role) for name, (_, role) in columns.items()))
    return Dataset("people", schema, domains, codes, n)
