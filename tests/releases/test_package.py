"""Packages: the same bytes for the same release, everything back from them, nothing else in them."""

from __future__ import annotations

import json
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.packages import age, anatomized, born, city, generalized, pay
from tests.oracles.tampering import edited, put, table

from sfumato.contracts import Recipe
from sfumato.data.codec import Domain, Level
from sfumato.data.schema import Column, Schema
from sfumato.errors import ParameterError, SchemaError
from sfumato.releases.generalized import Generalized
from sfumato.releases.grids import cells_of_runs, grid_of, values_of_grid
from sfumato.releases.package import read, write, write_zip
from sfumato.releases.package_write import files_of
from sfumato.verify import verify

FORMS = [generalized, anatomized]


@pytest.mark.parametrize("make", FORMS)
def test_a_release_comes_back_byte_for_byte(make: Any, tmp_path: Path) -> None:
    for seed in range(40):
        release = make(np.random.default_rng(seed), seed % 3)
        write(release, tmp_path / str(seed))
        back = read(tmp_path / str(seed))
        assert files_of(back) == files_of(release), seed
        assert back.recipe == release.recipe
        assert back.n_rows == release.n_rows and back.name == release.name and back.form == release.form
        assert back.groups().equals(release.groups())
        assert dict(back.tables()) == dict(release.tables())


@pytest.mark.parametrize("make", FORMS)
def test_worlds_are_the_same_after_reading(make: Any, tmp_path: Path) -> None:
    for seed in range(20):
        release = make(np.random.default_rng(seed), seed % 3)
        write(release, tmp_path / str(seed))
        back = read(tmp_path / str(seed)).worlds()
        worlds = release.worlds()
        assert back.columns == worlds.columns and back.n_rows == worlds.n_rows
        for name in worlds.columns:
            one, other = worlds.domains[name], back.domains[name]
            assert one.values.equals(other.values) and one.missing == other.missing
            flags = ("kind", "open_low", "open_high", "complete")
            assert [getattr(one, flag) for flag in flags] == [getattr(other, flag) for flag in flags]
            assert worlds.certain(name) == back.certain(name)
        part, same = getattr(worlds, "parts", (worlds,))[0], getattr(back, "parts", (back,))[0]
        for field in ("low", "high", "slots", "values"):
            for name in getattr(part, field, {}):
                assert np.array_equal(getattr(part, field)[name], getattr(same, field)[name])
        for field in ("weight", "slot_group", "value_group"):
            if hasattr(part, field):
                assert np.array_equal(getattr(part, field), getattr(same, field))


def test_the_same_release_makes_the_same_bytes(tmp_path: Path) -> None:
    release = generalized(np.random.default_rng(3))
    for name in ("one", "two"):
        write(release, tmp_path / name, report=b"<html></html>")
        write_zip(tmp_path / name, tmp_path / f"{name}.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}
        assert archive.read("report/index.html") == b"<html></html>"
    assert files_of(read(tmp_path / "one.zip")) == files_of(release)


def test_a_package_is_never_written_over(tmp_path: Path) -> None:
    release = generalized(np.random.default_rng(3))
    (tmp_path / "one").mkdir()
    with pytest.raises(ParameterError, match="exists"):
        write(release, tmp_path / "one")


def spoilt(tmp_path: Path, name: str, change: Any) -> Path:
    files = edited(files_of(generalized(np.random.default_rng(3), 1)), name, change)
    assert files is not None
    return put(files, tmp_path / "spoilt")


def test_what_is_no_package_says_so(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="no release package"):
        read(tmp_path / "absent")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SchemaError, match=r"datapackage\.json"):
        read(tmp_path / "empty")
    (tmp_path / "text.zip").write_text("hello")
    with pytest.raises(SchemaError, match="zip"):
        read(tmp_path / "text.zip")
    (tmp_path / "empty" / "datapackage.json").write_text("{")
    with pytest.raises(SchemaError, match="not JSON"):
        read(tmp_path / "empty")
    (tmp_path / "empty" / "datapackage.json").write_text('{"name": "other"}')
    with pytest.raises(SchemaError, match="sfumato"):
        read(tmp_path / "empty")


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("datapackage.json", lambda d: d["sfumato"].update(format=9), "newer"),
        ("datapackage.json", lambda d: d["sfumato"].update(form="woven"), "newer"),
        ("datapackage.json", lambda d: d["sfumato"]["columns"][0].update(type="int99"), "type"),
        ("datapackage.json", lambda d: d["sfumato"]["columns"][0].pop("missing"), "missing"),
        ("datapackage.json", lambda d: d["sfumato"]["columns"][0].update(name="ghost"), "ghost"),
        ("datapackage.json", lambda d: d["sfumato"]["columns"][0].pop("domain"), "ends"),
        ("datapackage.json", lambda d: d["sfumato"]["columns"][0].update(domain={"grid": {"low": "x"}}), "Verify"),
        ("datapackage.json", lambda d: d["sfumato"]["columns"].append("odd"), "usable"),
        ("guarantees.json", lambda d: d["guarantees"][0].pop("model"), "model"),
        ("provenance.json", lambda d: d.pop("method"), "method"),
    ],
)
def test_broken_documents_are_schema_errors(tmp_path: Path, name: str, change: Any, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        read(spoilt(tmp_path, name, change))


def test_a_package_with_any_changed_or_missing_file_is_refused(tmp_path: Path) -> None:
    """A changed line of the list of checksums may still list the same ones (its end of line); nothing else may pass."""
    files = files_of(generalized(np.random.default_rng(3), 1))
    rng = np.random.default_rng(0)
    for turn in range(150):
        name = sorted(files)[turn % len(files)]
        data = bytearray(files[name])
        at = int(rng.integers(len(data)))
        data[at : at + int(rng.integers(1, 9))] = bytes(rng.integers(0, 256, int(rng.integers(0, 9)), dtype=np.uint8))
        if bytes(data) == files[name]:
            continue
        with pytest.raises(SchemaError) as found:
            read(put({**files, name: bytes(data)}, tmp_path / str(turn)))
        assert name == "SHA256SUMS" or "etch" in str(found.value) or "erify" in str(found.value)
    for name in files:
        with pytest.raises(SchemaError):
            read(
                put(
                    {one: data for one, data in files.items() if one != name},
                    tmp_path / f"no-{len(name)}-{name[-9:-5]}",
                )
            )


def test_tables_hold_plain_columns_only(tmp_path: Path) -> None:
    import io

    import pyarrow.parquet as pq

    files = files_of(generalized(np.random.default_rng(3)))
    for name in [one for one in files if one.endswith(".parquet")]:
        meta = pq.read_metadata(io.BytesIO(files[name]))
        assert meta.metadata is None
        for i in range(meta.num_columns):
            chunk = meta.row_group(0).column(i)
            assert chunk.dictionary_page_offset is None and not chunk.is_stats_set
            assert set(chunk.encodings) <= {"PLAIN", "RLE"}


def test_documents_are_what_they_claim() -> None:
    release = generalized(np.random.default_rng(3), 2)
    files = files_of(release)
    package = json.loads(files["datapackage.json"])
    assert package["$schema"].endswith("/2.0/datapackage.json") and package["resources"][0]["name"] == "data"
    names = [field["name"] for field in package["resources"][0]["schema"]["fields"]]
    assert names == table(files, "data/data.parquet").column_names
    croissant = json.loads(files["croissant.json"])
    assert croissant["conformsTo"].endswith("croissant/1.0") and len(croissant["recordSet"][0]["field"]) == len(names)
    text = files["README.md"].decode()
    for promise in release.recipe.promises:
        assert promise.model in text
    assert "2 more exist" in text and "What is not" in text


def test_names_cannot_break_out(tmp_path: Path) -> None:
    odd = 'a "b" <script>|`\'; DROP'
    domains = {odd: age(), 'x"': Domain("text", pa.array(["f"]), region="set"), "s": Domain("text", pa.array(["v"]))}
    schema = Schema((Column(odd, "integer", "quasi"), Column('x"', "text", "quasi"), Column("s", "text", "sensitive")))
    low = {odd: np.array([0], np.int32), 'x"': np.array([0], np.int32)}
    high = {odd: np.array([4], np.int32), 'x"': np.array([0], np.int32)}
    release = Generalized(
        odd,
        schema,
        domains,
        low,
        high,
        np.zeros(3, np.int64),
        {"s": np.zeros(3, np.int32)},
        Recipe("m", {}, title=odd),
    )
    write(release, tmp_path / "odd")
    assert verify(tmp_path / "odd").holds
    assert "<script" not in (tmp_path / "odd" / "README.md").read_text()
    assert files_of(read(tmp_path / "odd")) == files_of(release)


def region_release(domain: Domain, regions: list[tuple[int, int]], n_suppressed: int = 0) -> Generalized:
    """One quasi-identifier with these regions, two rows each in random order."""
    low, high = (np.array([one[i] for one in regions], np.int32) for i in (0, 1))
    schema = Schema((Column("q", domain.kind, "quasi"),))
    group = np.random.default_rng(0).permutation(np.repeat(np.arange(len(regions)), 2))
    return Generalized("r", schema, {"q": domain}, {"q": low}, {"q": high}, group, {}, Recipe("m", {}), n_suppressed)


def test_only_used_nodes_of_a_hierarchy_are_published() -> None:
    release = region_release(city(), [(0, 1), (4, 4)])
    rows = table(files_of(release), "model/domains.parquet").to_pylist()
    assert [(row["value"], row["level_1"]) for row in rows] == [("Aarhus", "A*"), ("Aalborg", "A*"), ("Cork", None)]
    cut = release.published()
    assert cut.domains["q"].complete is False
    assert sorted(cut.table().column("q").to_pylist()) == ["A*", "A*", "Cork", "Cork"]


def test_the_root_keeps_the_declared_domain() -> None:
    release = region_release(city(), [(0, 5)])
    assert release.published().domains["q"].size == 6 and release.published().domains["q"].complete
    assert set(release.table().column("q").to_pylist()) == {"*"}


def test_adding_an_absent_value_changes_nothing() -> None:
    wide = Domain(
        "text",
        pa.array(["Aarhus", "Aalborg", "Bergen", "Bodo", "Brno", "Cork", "Calgary"]),
        levels=(Level(np.array([0, 0, 1, 1, 1, 2, 2], np.int32), ("A*", "B*", "C*")),),
        region="node",
    )
    short = files_of(region_release(city(), [(0, 1), (4, 4)]))
    assert files_of(region_release(wide, [(0, 1), (5, 5)])) == short


def test_values_of_suppressed_rows_are_nowhere() -> None:
    known = Domain("text", pa.array(["flu", "gout", "plague of nobody"]), missing=True)
    schema = Schema((Column("q", "integer", "quasi"), Column("s", "text", "sensitive")))
    ends = {"q": np.zeros(1, np.int32)}
    release = Generalized(
        "r", schema, {"q": age(), "s": known}, ends, ends, np.zeros(2, np.int64), {"s": np.array([0, 1], np.int32)},
        Recipe("m", {}), 1,
    )  # fmt: skip
    assert not [name for name, data in files_of(release).items() if b"nobody" in data]
    worlds = release.worlds()
    assert worlds.domains["s"].values.to_pylist() == ["flu", "gout"] and not worlds.domains["s"].missing
    assert worlds.contains({"q": np.array([0, 0, 19], np.int32), "s": np.array([1, 0, -1], np.int32)})
    assert not worlds.contains({"q": np.array([0, 0, 19], np.int32), "s": np.array([1, -1, 0], np.int32)})


@given(
    st.sampled_from(["integer", "decimal", "date"]),
    st.integers(-(10**6), 10**6),
    st.integers(1, 400),
    st.integers(1, 60),
    st.data(),
)
@settings(max_examples=150, deadline=None)
def test_grids_come_back(kind: Any, low: int, step: int, n: int, data: Any) -> None:
    if kind == "date":
        low = max(low, -700_000)
    steps = [low + i * step for i in range(n)]
    if kind == "decimal":
        values = pa.array([Decimal(one).scaleb(-3) for one in steps], pa.decimal128(12, 3))
    elif kind == "date":
        values = pa.array(steps, pa.int32()).cast(pa.date32())
    else:
        values = pa.array(steps, pa.int64())
    widths, left = [], n
    while left:
        widths.append(data.draw(st.integers(1, left)))
        left -= widths[-1]
    missing = data.draw(st.booleans())
    cell = np.repeat(np.arange(len(widths) + missing, dtype=np.int32), [*widths, *[1] * missing])
    domain = Domain(kind, values, missing=missing, cell=cell)
    grid = json.loads(json.dumps(grid_of(domain)))
    assert values_of_grid(grid, values.type).equals(values)
    assert np.array_equal(cells_of_runs(grid["cells"], n, missing), cell)


def test_a_hostile_grid_is_refused() -> None:
    with pytest.raises(SchemaError):
        values_of_grid({"low": "0", "high": "999999999999", "step": "1"}, pa.int64())
    with pytest.raises(SchemaError):
        cells_of_runs([[0, 5]], 5, False)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("domain", [age, city, born, lambda missing: pay()])
def test_every_region_of_a_domain_comes_back(domain: Any, missing: bool, tmp_path: Path) -> None:
    made = domain(missing)
    codes = np.arange(made.size, dtype=np.int32)
    low, high = (one.ravel() for one in np.meshgrid(codes[:: max(1, made.size // 9)], codes))
    ordered = low <= high
    low, high = made.cover(low[ordered], high[ordered])
    regions = sorted(set(zip(low.tolist(), high.tolist(), strict=True)))
    np.random.default_rng(1).shuffle(regions)
    release = region_release(made, regions)
    write(release, tmp_path / "p")
    back = read(tmp_path / "p")
    cut = release.published()
    assert isinstance(back, Generalized)
    assert np.array_equal(back.low["q"], cut.low["q"]) and np.array_equal(back.high["q"], cut.high["q"])
    assert back.table().equals(release.table())
    assert verify(tmp_path / "p").holds
    assert len(set(release.table().column("q").to_pylist())) == len(regions)


def test_a_column_may_be_called_size(tmp_path: Path) -> None:
    import sfumato as sf

    table = pa.table({"size": np.arange(40) % 5, "age": np.arange(40) % 20 + 20, "pay": list("abcd") * 10})
    people = sf.read(table).roles(quasi=["size", "age"], sensitive=["pay"])
    for method, require in ((sf.Mondrian(), sf.KAnonymity(4)), (sf.Anatomy(), sf.LDiversity(2, on="pay"))):
        sf.publish(people, method, require=require).save(tmp_path / method.name)
        groups = sf.open(tmp_path / method.name).groups().arrow()
        assert groups.column_names[:2] == ["group_id", "group_size"]
        assert sum(groups["group_size"].to_pylist()) == 40
    both = table.append_column("Group_Size", table["age"])
    people = sf.read(both).roles(quasi=["size", "Group_Size"], sensitive=["pay"])
    release = sf.publish(people, sf.Mondrian(), require=sf.KAnonymity(4))
    release.save(tmp_path / "both")
    assert release.groups().arrow().column_names[1] == "group_group_size"
