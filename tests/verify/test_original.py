"""With the original at hand: containment against enumeration, persons counted anew, canaries in every removed cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.oracles.packages import anatomized, generalized, original_of, promises
from tests.oracles.tampering import edited, put, signed, table, with_table

from sfumato.contracts import Promise, Recipe
from sfumato.data.codec import Domain
from sfumato.data.schema import Column, Schema
from sfumato.errors import SchemaError
from sfumato.releases.anatomized import Anatomized
from sfumato.releases.generalized import Generalized
from sfumato.releases.package import write
from sfumato.releases.package_write import files_of
from sfumato.verify import verify
from sfumato.verify.cells import read_cells
from sfumato.verify.containment import match
from sfumato.verify.hygiene import as_json


def small(domain: str) -> Domain:
    """Four numbers or four letters."""
    if domain == "text":
        return Domain("text", pa.array(list("abcd")), region="set")
    return Domain("integer", pa.array([0, 1, 2, 3]), complete=True)


def tiny_generalized(rng: np.random.Generator, n_suppressed: int) -> Generalized:
    """At most five rows in overlapping regions."""
    domains = {"q": small("integer"), "z": small("text"), "s": small("text")}
    n_groups = int(rng.integers(1, 4))
    group = rng.permutation(np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, 5 - n_groups)]))
    low = {c: rng.integers(0, 3, n_groups).astype(np.int32) for c in ("q", "z")}
    high = {c: np.minimum(low[c] + rng.integers(0, 3, n_groups), 3).astype(np.int32) for c in low}
    schema = Schema((Column("q", "integer", "quasi"), Column("z", "text", "quasi"), Column("s", "text", "sensitive")))
    exact = {"s": rng.integers(0, 2, 5).astype(np.int32)}
    return Generalized("t", schema, domains, low, high, group, exact, Recipe("by hand", {}), n_suppressed)


def tiny_anatomized(rng: np.random.Generator, n_suppressed: int) -> Anatomized:
    """Five rows in two groups with repeated slots and values."""
    domains = {"q": small("integer"), "s": small("text")}
    group = np.array([0, 0, 0, 1, 1])
    schema = Schema((Column("q", "integer", "quasi"), Column("s", "text", "sensitive")))
    slots = {"q": rng.integers(0, 2, 5).astype(np.int32)}
    values = {"s": rng.integers(0, 3, 5).astype(np.int32)}
    return Anatomized("t", schema, domains, slots, group, values, group, Recipe("by hand", {}), n_suppressed)


def fits(release: Any, rows: list[tuple[Any, ...]]) -> bool:
    """Enumeration: some order of the rows (the last ones suppressed) fits the published rows."""
    if isinstance(release, Generalized):
        return any(all(map(in_region, [release] * 5, range(5), order)) for order in permutations(rows, 5))
    worlds = set(worlds_of(release))
    return any(tuple(sorted(order)) in worlds for order in permutations(rows, 5))


def in_region(release: Generalized, row: int, cells: tuple[Any, ...]) -> bool:
    """One original row in one published row."""
    g = release.group[row]
    for c, value in zip(("q", "z"), cells, strict=False):
        leaves = release.domains[c].values.to_pylist()
        if value not in leaves or not release.low[c][g] <= leaves.index(value) <= release.high[c][g]:
            return False
    return release.domains["s"].values[int(release.exact["s"][row])].as_py() == cells[-1]


def worlds_of(release: Anatomized) -> Iterator[tuple[tuple[Any, ...], ...]]:
    """Every matching inside both groups."""
    q = release.domains["q"].decode(release.slots["q"]).to_pylist()
    s = release.domains["s"].decode(release.values["s"]).to_pylist()
    for one, two in product(permutations(s[:3]), permutations(s[3:])):
        yield tuple(sorted(zip(q, [*one, *two], strict=True)))


@pytest.mark.parametrize("make", [tiny_generalized, tiny_anatomized])
@pytest.mark.parametrize("n_suppressed", [0, 1])
def test_containment_is_what_enumeration_says(make: Any, n_suppressed: int) -> None:
    answers: Counter[bool] = Counter()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        release = make(rng, n_suppressed)
        files = files_of(release)
        cells = read_cells(files, as_json(files["datapackage.json"]))
        raw = original_of(release, rng).select([c.name for c in release.schema])
        if rng.random() < 0.6:
            name = raw.column_names[int(rng.integers(raw.num_columns))]
            values = raw.column(name).to_pylist()
            values[0] = rng.permutation(release.domains[name].values.to_pylist())[0]
            raw = raw.set_column(raw.column_names.index(name), name, pa.array(values, raw.column(name).type))
        rows = [tuple(row.values()) for row in raw.to_pylist()]
        found = match(cells, raw).contained
        assert found is not None
        answers[fits(release, rows)] += 1
        assert found == fits(release, rows), seed
    assert min(answers[True], answers[False]) >= 5


@pytest.mark.parametrize("make", [generalized, anatomized])
def test_originals_are_contained_and_worlds_agree(make: Any, tmp_path: Path) -> None:
    from sfumato.data.codec import encode_into

    for seed in range(25):
        rng = np.random.default_rng(seed)
        release = make(rng, seed % 3)
        raw = original_of(release, rng)
        found = verify(put(files_of(release), tmp_path / str(seed)), raw)
        assert found.holds, (seed, [(one.check, one.detail) for one in found.failures])
        worlds = release.worlds()
        codes = {c: encode_into(worlds.domains[c], raw.column(c).combine_chunks()) for c in worlds.columns}
        assert worlds.contains(codes), seed


def test_paths_of_the_original(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    release = generalized(rng)
    raw = original_of(release, rng)
    write(release, tmp_path / "package")
    pa.csv.write_csv(raw, tmp_path / "raw.csv")
    pq.write_table(raw, tmp_path / "raw.parquet")
    for source in (tmp_path / "raw.csv", tmp_path / "raw.parquet", str(tmp_path / "raw.csv"), raw, raw.to_pandas()):
        if hasattr(source, "to_dict") and "born" in raw.column_names:
            continue
        assert verify(tmp_path / "package", source).holds
    with pytest.raises(SchemaError, match="no file"):
        verify(tmp_path / "package", tmp_path / "absent.csv")
    assert not verify(tmp_path / "package", raw.slice(1)).holds
    assert not verify(tmp_path / "package", raw.drop_columns(["disease"])).holds


def with_units(copies: int, k: int) -> tuple[Generalized, pa.Table]:
    """Two regions of six persons, one of whom has `copies` rows; k is promised for distinct persons."""
    domains = {"q": small("integer"), "disease": Domain("text", pa.array(["flu", "gout", "polio"]), region="set")}
    persons = [*range(12), *[0] * (copies - 1)]
    where = np.array([p % 2 for p in persons])
    codes = np.array([(p // 2) % 3 for p in persons], np.int32)
    order = np.random.default_rng(copies).permutation(len(persons))
    schema = Schema((Column("q", "integer", "quasi"), Column("disease", "text", "sensitive")))
    ends = {"q": np.array([0, 2], np.int32)}, {"q": np.array([1, 3], np.int32)}
    made = (
        Promise("k-anonymity", {"k": k}, None, {"k": k}),
        Promise("l-diversity", {"l": 3, "kind": "frequency"}, "disease", {"l": 3.0}),
    )
    recipe = Recipe("by hand", {}, made, unit="person")
    release = Generalized("u", schema, domains, *ends, where[order], {"disease": codes[order]}, recipe)
    raw = pa.table(
        {
            "q": [int(2 * w) for w in where],
            "disease": domains["disease"].decode(codes),
            "person": [f"p{p}" for p in persons],
        }
    )
    return release, raw


@pytest.mark.parametrize("copies", [1, 2, 10, 100])
def test_promises_count_distinct_persons(copies: int, tmp_path: Path) -> None:
    release, raw = with_units(copies, 6)
    write(release, tmp_path / "good")
    alone, found = verify(tmp_path / "good"), verify(tmp_path / "good", raw)
    assert found.holds, [(one.check, one.detail) for one in found.failures]
    assert alone.holds and any("cannot be from the bytes alone" in one.detail for one in alone.findings)
    release, raw = with_units(copies, 7)
    write(release, tmp_path / "bad")
    assert [one.check for one in verify(tmp_path / "bad").failures] == ["promise k-anonymity(k=7)"], (
        "more persons than rows"
    )
    assert [one.check for one in verify(tmp_path / "bad", raw).failures] == ["promise k-anonymity(k=7)"]
    assert not verify(tmp_path / "bad", raw.drop_columns(["person"])).holds


def canary_release() -> tuple[Generalized, pa.Table, list[str]]:
    """Every cell that is not published holds a canary; the release's domains know them all."""
    n = 12
    canaries = {c: [f"{c}-canary-{i:04d}" for i in range(n + 2)] for c in ("name", "town", "disease", "forgotten")}
    town = Domain("text", pa.array(sorted(canaries["town"])), region="set")
    sick = pa.array(["flu", "gout", *canaries["disease"]])
    domains = {
        "town": town,
        "disease": Domain("text", sick, region="set"),
        "age": Domain("integer", pa.array(range(90))),
    }
    group = np.random.default_rng(2).permutation(np.repeat([0, 1, 2], 4))
    low = {"town": np.array([0, 4, 8], np.int32), "age": np.array([0, 30, 60], np.int32)}
    high = {"town": np.array([3, 7, 11], np.int32), "age": np.array([29, 59, 89], np.int32)}
    exact = {"disease": np.arange(n, dtype=np.int32) % 2}
    schema = Schema(
        (Column("age", "integer", "quasi"), Column("town", "text", "quasi"), Column("disease", "text", "sensitive"))
    )
    values = ["flu" if code == 0 else "gout" for code in exact["disease"]]
    made = promises([[v for v, g in zip(values, group, strict=True) if g == one] for one in range(3)])
    release = Generalized("c", schema, domains, low, high, group, exact, Recipe("by hand", {}, made), n_suppressed=2)
    towns = [sorted(canaries["town"])[4 * g] for g in group]
    raw = pa.table(
        {
            "name": canaries["name"],
            "age": [int(30 * g) for g in group] + [88, 89],
            "town": towns + sorted(canaries["town"])[12:],
            "disease": values + canaries["disease"][:2],
            "forgotten": canaries["forgotten"],
        }
    )
    gone = canaries["name"] + canaries["forgotten"] + canaries["disease"] + sorted(canaries["town"])[12:]
    return release, raw, gone


def all_bytes(files: dict[str, bytes]) -> bytes:
    """Every byte of a package, pages decompressed."""
    cells = [
        str(value).encode()
        for name in files
        if name.endswith(".parquet")
        for column in table(files, name).columns
        for value in column.to_pylist()
    ]
    return b"\n".join([*files.values(), *cells])


def test_removed_values_survive_nowhere(tmp_path: Path) -> None:
    release, raw, gone = canary_release()
    files = files_of(release, report=b"<html></html>")
    data = all_bytes(files)
    assert not [canary for canary in gone if canary.encode() in data]
    found = verify(put(files, tmp_path / "one"), raw)
    assert found.holds, [(one.check, one.detail) for one in found.failures]


def test_surviving_values_are_found(tmp_path: Path) -> None:
    release, raw, gone = canary_release()
    titled = files_of(release.with_recipe(replace(release.recipe, title=f"About {gone[3]}")))
    noted = files_of(release.with_recipe(replace(release.recipe, notes=(f"left out: {gone[-1]}",))))
    files = files_of(release)
    readme = signed({**files, "README.md": files["README.md"] + gone[20].encode()})
    listed = table(files, "model/domains.parquet")
    rows = listed.to_pydict()
    rows["value"][0] = gone[0]
    leaf = signed(with_table(files, "model/domains.parquet", pa.table(rows, schema=listed.schema)))
    member = edited(files, "guarantees.json", lambda d: d["guarantees"][0]["assumptions"].append(gone[5]))
    assert member is not None
    for i, spoilt in enumerate([titled, noted, readme, leaf, signed(member)]):
        failed = [one.check for one in verify(put(spoilt, tmp_path / str(i)), raw).failures]
        assert "removed values are gone" in failed, i


def test_words_in_prose_are_no_traces(tmp_path: Path) -> None:
    release, raw, _ = canary_release()
    surnames = ["Person", "Every", "values", "group", "Bound", "public", "hi there"] * 2
    raw = raw.set_column(0, "name", pa.array(surnames))
    assert verify(put(files_of(release), tmp_path / "one"), raw).holds


def test_an_original_is_read_as_it_is_written(tmp_path: Path) -> None:
    import sfumato as sf

    words = ["Zürich ", "Genf", "?", "Zürich"] * 4
    lines = ["age,town,disease", *(f"{20 + i % 4},{town},{'flu' if i % 2 else 'gout'}" for i, town in enumerate(words))]
    (tmp_path / "raw.csv").write_bytes("\n".join(lines).encode("latin-1"))
    told = {"null_values": "?", "encoding": "latin-1", "normalize": True}
    people = sf.read(tmp_path / "raw.csv", **told).roles(quasi=["age", "town"], sensitive=["disease"])
    sf.publish(people, sf.Anatomy(), require=sf.LDiversity(2, on="disease")).save(tmp_path / "p")
    assert sf.verify(tmp_path / "p", raw=tmp_path / "raw.csv", **told).holds
    assert not sf.verify(tmp_path / "p", raw=tmp_path / "raw.csv", encoding="latin-1").holds
