"""Evidence speaks of published cells: what only suppressed rows hold is no value of the published table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.methods.people import dataset

import sfumato as sf
from sfumato.chance import Chance, Secret
from sfumato.contracts import Method, Recipe, Release, Requirement
from sfumato.data.codec import Domain
from sfumato.data.dataset import Dataset
from sfumato.data.schema import Column, Schema
from sfumato.methods.publication import make_release
from sfumato.releases.anatomized import Anatomized
from sfumato.releases.form import Form
from sfumato.releases.generalized import Generalized

SCHEMA = Schema((Column("row", "integer", "quasi"), Column("pay", "integer", "sensitive")))
# The largest of four amounts is in suppressed rows only.
DOMAINS = {"row": Domain("integer", pa.array(range(2))), "pay": Domain("integer", pa.array([10, 20, 30, 40]))}
PAY = np.array([0, 1, 1, 2], dtype=np.int32)
GROUP = np.array([0, 0, 1, 1])
CODES = np.array([0, 1], dtype=np.int32)
RECIPE = Recipe("by hand", {})


def generalized() -> Form:
    ends = {"row": CODES}
    return Generalized("p", SCHEMA, DOMAINS, ends, ends, GROUP, {"pay": PAY}, RECIPE, 2)


def anatomized() -> Form:
    slots = {"row": GROUP.astype(np.int32)}
    return Anatomized("p", SCHEMA, DOMAINS, slots, GROUP, {"pay": PAY}, GROUP, RECIPE, 2)


@pytest.mark.parametrize("made", [generalized, anatomized], ids=lambda f: f.__name__)
def test_ordered_distances_are_over_published_values(made: Any) -> None:
    """Shares 1/2, 1/2, 0 against 1/4, 1/2, 1/4: |1/2 − 1/4| + |1 − 3/4| over m − 1 = 2 steps."""
    release = made()
    evidence = release.evidence()
    assert evidence is not None
    assert evidence.domains["pay"].size == 3
    found = sf.TCloseness(Fraction(1, 4), on="pay", distance="ordered").holds(evidence)
    assert (found.holds, found.achieved["t"]) == (True, 0.25)
    assert not sf.TCloseness(0.24, on="pay", distance="ordered").holds(evidence).holds
    again = type(release).from_tables(release.published().frame, release.tables()).evidence()
    assert again is not None
    assert again.totals["pay"].tolist() == evidence.totals["pay"].tolist() == [1, 2, 1]


class Suppressing(Method):
    """Publishes the first rows in twos and suppresses the rest."""

    name = "suppressing"

    def accepts(self, dataset: Dataset, requirements: Sequence[Requirement]) -> None:
        """Anything."""

    def parameters(self) -> Mapping[str, Any]:
        return {}

    def publish(self, dataset: Dataset, requirements: Sequence[Requirement], chance: Chance) -> Release:
        names = dataset.schema.names("sensitive")
        schema = replace(dataset.schema, columns=tuple(c for c in dataset.schema if c.role != "unit"))
        slots, values = {"row": GROUP.astype(np.int32)}, {c: dataset.codes[c][:4] for c in names}
        domains = {c: dataset.domains[c] for c in ("row", *names)}
        return Anatomized("p", schema, domains, slots, GROUP, values, GROUP, RECIPE, dataset.n_rows - 4)


@pytest.mark.parametrize("units", [None, [0, 1, 2, 3, 4, 4]], ids=["rows", "units"])
def test_promises_are_judged_on_published_values(units: list[int] | None) -> None:
    data = dataset({"pay": [0, 1, 1, 2, 3, 3]}, units=units, quasi=[0, 0, 1, 1, 0, 1])
    need = sf.TCloseness(0.3, on="pay", distance="ordered")
    (promise,) = make_release(data, Suppressing(), require=need, chance=Secret()).recipe.promises
    assert promise.achieved == {"t": 0.25}
