"""Promises of sensitive numbers: kept ones raise no alarm, planted violations are all caught."""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.oracles.tampering import Files, edited, guarantee, put, signed, table, with_column

import sfumato as sf
from sfumato.releases.package_write import files_of
from sfumato.verify import verify
from sfumato.verify.best_case import contradicted
from sfumato.verify.models import Unknown
from sfumato.verify.models_of_numbers import number, of_numbers, possible
from sfumato.verify.promises import Judged

PATH = "data/data.parquet"
KINDS: dict[str, Any] = {
    "integer": lambda rng: [None if v > 990 else int(v) for v in rng.integers(0, 1000, 40)],
    "decimal": lambda rng: [Decimal(int(v)) / 100 for v in rng.integers(-500, 500, 40)],
    "real": lambda rng: [float(v) / 7 for v in rng.integers(0, 999, 40)],
    "date": lambda rng: [datetime.date(1990, 1, 1) + datetime.timedelta(int(v)) for v in rng.permutation(9000)[:40]],
}
ASKED: list[Any] = [sf.KE(2, "0.5", on="pay"), sf.VarianceControl("0.3", on="pay"), sf.MUnique(2, on="job")]


def released(seed: int, kind: str, requirement: Any, unit: bool = False) -> Any:
    rng = np.random.default_rng(seed)
    found = pa.table({"age": rng.integers(20, 60, 40), "job": [f"job {i}" for i in range(40)], "pay": KINDS[kind](rng)})
    if unit:
        found = found.append_column("person", pa.array([i // 2 for i in range(40)]))
    data = sf.read(found, name="people").roles(
        quasi=["age"], sensitive=["job", "pay"], **({"unit": "person"} if unit else {})
    )
    return found, sf.publish(data, sf.Mondrian(), require=requirement & sf.KAnonymity(2), seed=seed).release


def flattened(files: Files, rng: np.random.Generator, column: str) -> Files:
    """One group whose rows all have one of its values."""
    found = table(files, PATH)
    ends = [name for name in found.column_names if name.startswith("age__")]
    keys = list(zip(*(found.column(name).to_pylist() for name in ends), strict=True))
    values = found.column(column).to_pylist()
    chosen = keys[int(rng.integers(len(keys)))]
    rows = [i for i, key in enumerate(keys) if key == chosen]
    value = next((values[i] for i in rows if values[i] is not None), values[rows[0]])
    for i in rows:
        values[i] = value
    return with_column(files, PATH, column, values)


def plants(files: Files, rng: np.random.Generator, requirement: Any) -> dict[str, Files | None]:
    """Spoilt packages by what was done."""
    model, keys = requirement.model, list(requirement.parameters())

    def change(part: str, key: str, value: Any) -> Files | None:
        def apply(one: dict[str, Any]) -> None:
            one[part][key] = value(one["achieved"][key]) if callable(value) else value

        return guarantee(files, model, apply)

    def drop(document: Any) -> None:
        (one,) = [one for one in document["guarantees"] if one["model"] == model]
        del one["achieved"][keys[0]]

    found = {"flattened": flattened(files, rng, requirement.on), "unsaid": edited(files, "guarantees.json", drop)}
    for key in keys:
        found[f"{key} above what holds"] = change("parameters", key, lambda reached: reached + 1)
        found[f"{key} praised"] = change("achieved", key, lambda reached: reached * 1.001 + 1)
        found[f"{key} less than nothing"] = change("parameters", key, -1)
        found[f"{key} no number"] = change("parameters", key, "many")
    found["of another column"] = guarantee(files, model, lambda one: one.update(on="age"))
    found["of no column"] = guarantee(files, model, lambda one: one.update(on=None))
    return found


@pytest.mark.parametrize("requirement", ASKED, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_good_packages_hold_and_spoilt_ones_do_not(kind: str, requirement: Any, tmp_path: Path) -> None:
    planted = 0
    for seed in range(4):
        files = files_of(released(seed, kind, requirement)[1])
        assert verify(put(files, tmp_path / f"good {seed}")).holds
        for name, spoilt in plants(files, np.random.default_rng(seed), requirement).items():
            assert spoilt is not None and spoilt != files, name
            planted += 1
            checks = verify(put(signed(spoilt), tmp_path / f"{seed} {name}"))
            assert any(one.check.startswith(f"promise {requirement.model}") for one in checks.failures), name
    assert planted >= 32


@pytest.mark.parametrize("requirement", ASKED, ids=repr)
def test_persons_are_counted_with_the_original_and_left_open_without(requirement: Any, tmp_path: Path) -> None:
    original, release = released(3, "integer", requirement, unit=True)
    path = put(files_of(release), tmp_path / "people")
    alone = verify(path)
    assert alone.holds and any(requirement.model in one.check for one in alone.undecided)
    assert verify(path, original).holds
    spoilt = flattened(files_of(release), np.random.default_rng(3), requirement.on)
    assert not verify(put(signed(spoilt), tmp_path / "spoilt")).holds


def test_the_best_case_of_persons_never_contradicts_what_holds() -> None:
    """However rows belong to persons: what holds in persons is possible in rows."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(3000):
        n = int(rng.integers(1, 7))
        values, person = rng.integers(0, 4, n).tolist(), rng.integers(0, 4, n).tolist()
        rows = Judged([Counter(values)], [n], Counter(values), [], [], [n])
        group = Counter(value for value, _ in set(zip(values, person, strict=True)))
        for model, parameters in (
            ("ke-anonymity", {"k": int(rng.integers(1, 4)), "e": int(rng.integers(0, 4))}),
            ("variance-control", {"t": Fraction(int(rng.integers(0, 9)), 4)}),
            ("m-uniqueness", {"m": int(rng.integers(1, 4))}),
        ):
            holds, achieved = of_numbers([group], [len(set(person))], {"model": model, "parameters": parameters})
            if holds:
                held += 1
                assert not contradicted(rows, {"model": model, "parameters": parameters, "achieved": achieved})
    assert held > 1000
    asked = {"model": "variance-control", "parameters": {"t": 3}}
    assert not possible([Counter([0, 3])], [2], asked, Fraction(1))


def test_only_numbers_are_numbers() -> None:
    assert number(0.1) == Fraction(1, 10) and number(datetime.date(1, 1, 2)) == 2
    for odd in (True, "1", b"1", None):
        with pytest.raises(Unknown):
            number(odd)
    for parameters in ({"k": 0, "e": 1}, {"k": 1.5, "e": 1}, {"k": 1, "e": -1}):
        with pytest.raises(Unknown):
            of_numbers([Counter([1])], [1], {"model": "ke-anonymity", "parameters": parameters})
