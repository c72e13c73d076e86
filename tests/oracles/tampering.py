"""Planted violations: each takes a package's files and returns them spoilt, or None where it does not apply.

Unless a kind is about checksums, the attacker writes them anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.releases import parquet

Files = dict[str, bytes]
Rng = np.random.Generator
Kind = Callable[[Files, Rng], Files | None]
KINDS: dict[str, Kind] = {}
UNSIGNED = {"changed byte", "stale checksum", "checksum left out"}


def kind(name: str) -> Callable[[Kind], Kind]:
    """Register one kind of violation."""

    def keep(function: Kind) -> Kind:
        KINDS[name] = function
        return function

    return keep


def spoil(name: str, files: Files, rng: Rng) -> Files | None:
    """Apply one kind and, where the attacker can, sign the result."""
    spoilt = KINDS[name](dict(files), rng)
    if spoilt is None or spoilt == files:
        return None
    return spoilt if name in UNSIGNED else signed(spoilt)


def signed(files: Files) -> Files:
    """Digests in croissant.json and SHA256SUMS as they would be."""
    with contextlib.suppress(KeyError, ValueError, TypeError, RecursionError):
        document = json.loads(files["croissant.json"])
        for one in document["distribution"]:
            one["sha256"] = hashlib.sha256(files[one["contentUrl"]]).hexdigest()
        files["croissant.json"] = as_json(document)
    names = sorted(name for name in files if name != "SHA256SUMS")
    files["SHA256SUMS"] = "".join(f"{hashlib.sha256(files[n]).hexdigest()}  {n}\n" for n in names).encode()
    return files


def put(files: Files, folder: Path) -> Path:
    """The files in a directory."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def as_json(document: Any) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def table(files: Files, path: str) -> pa.Table:
    return pq.read_table(io.BytesIO(files[path]))


def main_table(files: Files) -> str:
    return "data/data.parquet" if "data/data.parquet" in files else "data/sensitive.parquet"


def with_table(files: Files, path: str, new: pa.Table) -> Files:
    return {**files, path: parquet.to_bytes(new)}


def with_column(files: Files, path: str, name: str, values: list[Any]) -> Files:
    found = table(files, path)
    i = found.column_names.index(name)
    return with_table(files, path, found.set_column(i, name, pa.array(values, found.column(name).type)))


def edited(files: Files, path: str, change: Callable[[Any], bool | None]) -> Files | None:
    document = json.loads(files[path])
    return None if change(document) is False else {**files, path: as_json(document)}


def guarantee(
    files: Files, model: str, change: Callable[[dict[str, Any]], Any], reading: str | None = None
) -> Files | None:
    def apply(document: Any) -> bool | None:
        for one in document["guarantees"]:
            if one["model"] == model and (reading is None or one["parameters"].get("kind") == reading):
                change(one)
                return None
        return False

    return edited(files, "guarantees.json", apply)


def rows_of_smallest(files: Files) -> list[int]:
    """Rows of a smallest class that no other group shares."""
    groups = table(files, main_table(files)).column("group_id").to_pylist()
    least = min(groups, key=groups.count)
    return [i for i, one in enumerate(groups) if one == least]


def ranges(files: Files) -> list[str]:
    if "data/data.parquet" not in files:
        return []
    columns = json.loads(files["datapackage.json"])["sfumato"]["columns"]
    return [one["name"] for one in columns if one["published"] == "range"]


def listed(files: Files) -> list[str]:
    columns = json.loads(files["datapackage.json"])["sfumato"]["columns"]
    return [one["name"] for one in columns if one["published"] in ("node", "set")]


# ---- bytes and files -----------------------------------------------------------------------------------------------


@kind("changed byte")
def _(files: Files, rng: Rng) -> Files | None:
    name = sorted(files)[int(rng.integers(len(files)))]
    data = bytearray(files[name])
    data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return {**files, name: bytes(data)}


@kind("stale checksum")
def _(files: Files, rng: Rng) -> Files | None:
    return {**files, "README.md": files["README.md"] + b"\n"}


@kind("checksum left out")
def _(files: Files, rng: Rng) -> Files | None:
    lines = files["SHA256SUMS"].decode().splitlines(keepends=True)
    del lines[int(rng.integers(len(lines)))]
    return {**files, "SHA256SUMS": "".join(lines).encode()}


@kind("extra file")
def _(files: Files, rng: Rng) -> Files | None:
    name = ["seed.txt", "data/trace.parquet", "model.pkl", ".hidden", "data/data.csv"][int(rng.integers(5))]
    return {**files, name: b"1"}


@kind("missing file")
def _(files: Files, rng: Rng) -> Files | None:
    del files[["README.md", "views.sql", "croissant.json", "provenance.json", main_table(files)][int(rng.integers(5))]]
    return files


@kind("not Parquet")
def _(files: Files, rng: Rng) -> Files | None:
    return {**files, main_table(files): b"PAR1 nothing PAR1"}


@kind("not JSON")
def _(files: Files, rng: Rng) -> Files | None:
    name = ["datapackage.json", "guarantees.json", "provenance.json", "croissant.json"][int(rng.integers(4))]
    return {**files, name: files[name][:-9]}


def rewritten(files: Files, **options: Any) -> Files:
    sink = io.BytesIO()
    settings = {"use_dictionary": False, "write_statistics": False, "store_schema": False, **options}
    found = table(files, main_table(files))
    found = found.replace_schema_metadata({"pandas": "{}"} if settings.pop("metadata", False) else None)
    pq.write_table(found, sink, **settings)
    return {**files, main_table(files): sink.getvalue()}


@kind("dictionary pages")
def _(files: Files, rng: Rng) -> Files | None:
    return rewritten(files, use_dictionary=True)


@kind("statistics")
def _(files: Files, rng: Rng) -> Files | None:
    return rewritten(files, write_statistics=True)


@kind("pandas metadata")
def _(files: Files, rng: Rng) -> Files | None:
    return rewritten(files, metadata=True, store_schema=True)


@kind("page index")
def _(files: Files, rng: Rng) -> Files | None:
    return rewritten(files, write_page_index=True, write_statistics=True)


@kind("bytes between pages")
def _(files: Files, rng: Rng) -> Files | None:
    data = files[main_table(files)]
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return {**files, main_table(files): data[:footer] + b"Jane Doe" + data[footer:]}


# ---- documents -----------------------------------------------------------------------------------------------------


@kind("seed in provenance")
def _(files: Files, rng: Rng) -> Files | None:
    return edited(files, "provenance.json", lambda d: d.update(seed=7))


@kind("path in datapackage")
def _(files: Files, rng: Rng) -> Files | None:
    return edited(files, "datapackage.json", lambda d: d["sfumato"].update(source="/home/me/raw.csv"))


@kind("active markup")
def _(files: Files, rng: Rng) -> Files | None:
    return {**files, "README.md": files["README.md"] + b"\n<script>alert(1)</script>\n"}


@kind("active report")
def _(files: Files, rng: Rng) -> Files | None:
    return {**files, "report/index.html": b"<html><script src='http://x'></script></html>"}


@kind("SQL that acts")
def _(files: Files, rng: Rng) -> Files | None:
    bad = [b"COPY data TO 'x.csv';", b"ATTACH 'a.db';", b"INSTALL httpfs;", b"SET threads = 1;"]
    return {**files, "views.sql": files["views.sql"] + bad[int(rng.integers(4))]}


def views(files: Files, old: str, new: str) -> Files | None:
    """One place of views.sql changed."""
    text = files["views.sql"].decode()
    return {**files, "views.sql": text.replace(old, new, 1).encode()} if old in text else None


@kind("SQL that reads a file")
def _(files: Files, rng: Rng) -> Files | None:
    bad = ["read_text('/etc/passwd')", "'/etc/passwd'", "read_csv('x.csv')", "glob('*')", "duckdb_settings()"]
    text = files["views.sql"].decode()
    start = text.index("CREATE OR REPLACE VIEW data")
    made = f"CREATE VIEW data AS SELECT * FROM {bad[int(rng.integers(5))]};"
    if rng.random() < 0.5:
        made = made.replace("CREATE", "CREATE OR REPLACE")
    return {**files, "views.sql": (text[:start] + made + text[text.index(";", start) + 1 :]).encode()}


@kind("suppressed rows made up in SQL")
def _(files: Files, rng: Rng) -> Files | None:
    n = json.loads(files["datapackage.json"])["sfumato"]["n_suppressed"]
    return views(files, f"suppressed() AS {n}", f"suppressed() AS {[5, 0, 1][int(rng.integers(3))] if n != 0 else 5}")


@kind("a bound of the views widened or dropped")
def _(files: Files, rng: Rng) -> Files | None:
    if "data/data.parquet" not in files:
        changes = [("greatest(0, a + b - n)", "a"), ("least(a, b)", "a"), (" + suppressed() AS hi", " AS hi")]
        n = json.loads(files["datapackage.json"])["sfumato"]["n_suppressed"]
        return views(files, *changes[int(rng.integers(3 if n else 2))])
    if not ranges(files):
        return views(files, "list_has_any(among, cell.values)", "true")
    changes = [
        ("(at_most IS NULL OR coalesce(cell.hi <= at_most, false))", "true"),
        ("cell.lo <= at_most", "cell.lo < at_most"),
        ("cell.lo >= at_least, false", "cell.lo >= at_least, true"),
    ]
    return views(files, *changes[0])


@kind("rows of the views left out")
def _(files: Files, rng: Rng) -> Files | None:
    if "data/data.parquet" in files:
        return views(
            files, "'data/data.parquet' AS rows", "(SELECT * FROM 'data/data.parquet' WHERE group_id > 0) AS rows"
        )
    return views(files, "'data/quasi.parquet';", "'data/quasi.parquet' WHERE group_id > 0;")


@kind("a path in a comment of the views")
def _(files: Files, rng: Rng) -> Files | None:
    return views(files, "-- Run", "-- input /home/x.csv\n-- Run")


@kind("another promise in the README")
def _(files: Files, rng: Rng) -> Files | None:
    text = files["README.md"].decode()
    bad = [
        text.replace("- k-anonymity (k = ", "- k-anonymity (k = 9999", 1),
        text.replace("## What is not", "- k-anonymity (k = 9999); achieved: k = 9999\n\n## What is not", 1),
        text.replace("## What is in it", "It is k-anonymous with k = 9999.\n\n## What is in it", 1),
        text.replace("rows are published", "9 rows are published", 1),
    ]
    return {**files, "README.md": bad[int(rng.integers(4))].encode()}


@kind("markup that loads or acts in the report")
def _(files: Files, rng: Rng) -> Files | None:
    bad = [
        "<img src=http://x/y>",
        "<svg/onload=alert(1)>",
        "<a href='x'>y</a>",
        '<p style="background:url(x)">y</p>',
        "<style>p { background: url(http://x) }</style>",
        "<style>@import 'x';</style>",
        "<!-- seed 7 -->",
        '<p class="a" onclick="x">y</p>',
        '<meta http-equiv="refresh" content="0">',
        "<svg><style><img src=x></style></svg>",
    ]
    page = f'<!doctype html>\n<html lang="en"><body>{bad[int(rng.integers(len(bad)))]}</body></html>'
    return {**files, "report/index.html": page.encode()}


@kind("stale croissant")
def _(files: Files, rng: Rng) -> Files | None:
    text = files["croissant.json"].decode().replace('"contentUrl": "data/', '"contentUrl": "other/')
    return {**files, "croissant.json": text.encode()}


# ---- promises ------------------------------------------------------------------------------------------------------


@kind("k raised")
def _(files: Files, rng: Rng) -> Files | None:
    def change(one: dict[str, Any]) -> None:
        k = one["parameters"]["k"] + int(rng.integers(1, 4))
        one.update(parameters={"k": k}, achieved={"k": k})

    return guarantee(files, "k-anonymity", change)


@kind("achieved k raised")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "k-anonymity", lambda one: one.update(achieved={"k": one["achieved"]["k"] + 1}))


@kind("achieved k lowered")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "k-anonymity", lambda one: one.update(achieved={"k": one["achieved"]["k"] - 1}))


@kind("size of groups raised")
def _(files: Files, rng: Rng) -> Files | None:
    def change(one: dict[str, Any]) -> None:
        k = one["parameters"]["k"] + 1
        one.update(parameters={"k": k}, achieved={"k": k})

    return guarantee(files, "group-size", change)


@kind("size of groups called k-anonymity")
def _(files: Files, rng: Rng) -> Files | None:
    def apply(document: Any) -> bool | None:
        sizes = [one for one in document["guarantees"] if one["model"] == "group-size"]
        if not sizes or sizes[0]["parameters"] == document["guarantees"][0]["parameters"]:
            return False
        sizes[0]["model"] = "k-anonymity"
        return None

    return edited(files, "guarantees.json", apply)


def of_persons(files: Files, model: str, change: Callable[[dict[str, Any]], Any], reading: str = "") -> Files | None:
    """One promise spoilt in a package whose promises count persons by a column that is not there."""
    spoilt = guarantee(files, model, change, reading or None)

    def rename(document: Any) -> None:
        document["unit"] = "person"
        for one in document["guarantees"]:
            one["unit"] = "person"

    return edited(spoilt, "guarantees.json", rename) if spoilt else None


@kind("k of persons beyond the rows")
def _(files: Files, rng: Rng) -> Files | None:
    k = [10**6, 10**3, 99][int(rng.integers(3))]
    return of_persons(files, "k-anonymity", lambda one: one.update(parameters={"k": k}, achieved={"k": k}))


@kind("l of persons beyond the values")
def _(files: Files, rng: Rng) -> Files | None:
    reading = ["distinct", "frequency"][int(rng.integers(2))]

    def change(one: dict[str, Any]) -> None:
        one["parameters"]["l"] = one["achieved"]["l"] = 7

    return of_persons(files, "l-diversity", change, reading)


@kind("alpha of persons below one value's share")
def _(files: Files, rng: Rng) -> Files | None:
    return of_persons(
        files, "alpha-k", lambda one: (one["parameters"].update(alpha=0.1), one["achieved"].update(alpha=0.1))
    )


@kind("t of persons below what is absent")
def _(files: Files, rng: Rng) -> Files | None:
    groups = table(files, "data/sensitive.parquet") if "data/sensitive.parquet" in files else None
    if groups is None:
        return None
    held = groups.select(["group_id", "disease"]).group_by(["group_id", "disease"]).aggregate([])
    if len(held) == len(set(held["group_id"].to_pylist())) * len(set(held["disease"].to_pylist())):
        return None
    return of_persons(
        files, "t-closeness", lambda one: (one["parameters"].update(t=0.0), one["achieved"].update(t=0.0))
    )


@kind("l raised")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(
        files, "l-diversity", lambda one: one["parameters"].update(l=one["parameters"]["l"] + 1), "distinct"
    )


@kind("achieved l raised")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "l-diversity", lambda one: one["achieved"].update(l=one["achieved"]["l"] + 1), "distinct")


@kind("entropy l raised")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(
        files,
        "l-diversity",
        lambda one: one["parameters"].update(l=one["achieved"]["l"] * 1.0001 + 1e-6),
        "entropy",
    )


@kind("frequency l raised")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(
        files, "l-diversity", lambda one: one["parameters"].update(l=one["achieved"]["l"] * 1.0001), "frequency"
    )


@kind("reading swapped")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "l-diversity", lambda one: one["parameters"].update(kind="majority"))


@kind("t lowered")
def _(files: Files, rng: Rng) -> Files | None:
    def change(one: dict[str, Any]) -> None:
        one["parameters"]["t"] = one["achieved"]["t"] * 0.999 - 1e-6

    return guarantee(files, "t-closeness", change)


@kind("achieved t lowered")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "t-closeness", lambda one: one["achieved"].update(t=one["achieved"]["t"] * 0.999 - 1e-6))


@kind("alpha lowered")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "alpha-k", lambda one: one["parameters"].update(alpha=one["achieved"]["alpha"] * 0.999))


@kind("alpha's k raised")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "alpha-k", lambda one: one["parameters"].update(k=one["parameters"]["k"] + 1))


@kind("unknown model")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "alpha-k", lambda one: one.update(model="perfect-privacy"))


@kind("promise on another column")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "l-diversity", lambda one: one.update(on=["note", "age", "ghost"][int(rng.integers(3))]))


@kind("achieved left out")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "alpha-k", lambda one: one["achieved"].pop("alpha"))


@kind("unit of one promise")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "k-anonymity", lambda one: one.update(unit="patient"))


@kind("not a number")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(
        files,
        "k-anonymity",
        lambda one: one.update(parameters={"k": ["many", True, None, "1/0"][int(rng.integers(4))]}),
    )


# ---- cells ---------------------------------------------------------------------------------------------------------


@kind("row dropped")
def _(files: Files, rng: Rng) -> Files | None:
    return with_table(files, main_table(files), table(files, main_table(files)).slice(1))


@kind("row dropped from the smallest group, counts mended")
def _(files: Files, rng: Rng) -> Files | None:
    gone = rows_of_smallest(files)[0]
    least = table(files, main_table(files)).column("group_id")[gone].as_py()
    for path in [name for name in files if name.startswith("data/")]:
        found = table(files, path)
        first = found.column("group_id").to_pylist().index(least)
        files = with_table(files, path, found.take([i for i in range(found.num_rows) if i != first]))
    return edited(files, "datapackage.json", lambda d: d["sfumato"].update(n_published=d["sfumato"]["n_published"] - 1))


@kind("row doubled")
def _(files: Files, rng: Rng) -> Files | None:
    found = table(files, main_table(files))
    return with_table(files, main_table(files), pa.concat_tables([found, found.slice(0, 1)]))


@kind("group ids swapped")
def _(files: Files, rng: Rng) -> Files | None:
    ids = table(files, main_table(files)).column("group_id").to_pylist()
    if "data/data.parquet" not in files or len(set(ids)) < 2:
        return None
    found = table(files, main_table(files))
    ends = [name for name in found.column_names if name.endswith(("__lo", "__hi", "__null"))]
    rows = found.select(ends).to_pylist()
    other = next((i for i in range(1, len(ids)) if rows[i] != rows[0]), None)
    if other is None:
        return None
    ids[0], ids[other] = ids[other], ids[0]
    return with_column(files, main_table(files), "group_id", ids)


@kind("group id with a gap")
def _(files: Files, rng: Rng) -> Files | None:
    ids = table(files, main_table(files)).column("group_id").to_pylist()
    return with_column(files, main_table(files), "group_id", [one + 1 for one in ids])


@kind("group id of its own")
def _(files: Files, rng: Rng) -> Files | None:
    if "data/data.parquet" in files:
        return None
    ids = table(files, main_table(files)).column("group_id").to_pylist()
    return with_column(files, main_table(files), "group_id", [max(ids) + 1, *ids[1:]])


@kind("end moved off the grid")
def _(files: Files, rng: Rng) -> Files | None:
    for name in ranges(files):
        if name != "age":
            continue
        values = table(files, main_table(files)).column("age__lo").to_pylist()
        known = [i for i, value in enumerate(values) if value is not None]
        if known:
            values[known[0]] += 3
            return with_column(files, main_table(files), "age__lo", values)
    return None


@kind("ends of a whole group moved, label left")
def _(files: Files, rng: Rng) -> Files | None:
    if "age" not in ranges(files):
        return None
    found = table(files, main_table(files)).to_pydict()
    group = found["group_id"][0]
    rows = [i for i, one in enumerate(found["group_id"]) if one == group]
    state = found.get("age__null", ["never"] * len(found["group_id"]))[rows[0]]
    if state == "always" or (found["age__lo"][rows[0]], found["age__hi"][rows[0]]) == (25, 34):
        return None
    lo, hi = found["age__lo"], found["age__hi"]
    for i in rows:
        lo[i], hi[i] = 25, 34
    return with_column(with_column(files, main_table(files), "age__lo", lo), main_table(files), "age__hi", hi)


@kind("ends the wrong way round")
def _(files: Files, rng: Rng) -> Files | None:
    for name in ranges(files):
        found = table(files, main_table(files)).to_pydict()
        lo, hi = found[f"{name}__lo"], found[f"{name}__hi"]
        rows = [i for i in range(len(lo)) if lo[i] is not None and hi[i] is not None and lo[i] < hi[i]]
        if rows:
            for i in rows:
                lo[i], hi[i] = hi[i], lo[i]
            files = with_column(files, main_table(files), f"{name}__lo", lo)
            return with_column(files, main_table(files), f"{name}__hi", hi)
    return None


@kind("one row made narrower")
def _(files: Files, rng: Rng) -> Files | None:
    for name in listed(files):
        found = table(files, main_table(files)).to_pydict()
        lo, hi = found[f"{name}__lo"], found[f"{name}__hi"]
        rows = [i for i in range(len(lo)) if lo[i] < hi[i]]
        if rows:
            hi[rows[0]] = lo[rows[0]]
            return with_column(files, main_table(files), f"{name}__hi", hi)
    return None


@kind("rank beyond the list")
def _(files: Files, rng: Rng) -> Files | None:
    for name in listed(files):
        values = table(files, main_table(files)).column(f"{name}__hi").to_pylist()
        group = table(files, main_table(files)).column("group_id").to_pylist()
        values = [v + 50 if g == group[0] else v for v, g in zip(values, group, strict=True)]
        return with_column(files, main_table(files), f"{name}__hi", values)
    return None


@kind("label changed")
def _(files: Files, rng: Rng) -> Files | None:
    for name in [*ranges(files), *listed(files)]:
        values = table(files, main_table(files)).column(name).to_pylist()
        values[int(rng.integers(len(values)))] = "Jane Doe, 34"
        return with_column(files, main_table(files), name, values)
    return None


@kind("null state changed")
def _(files: Files, rng: Rng) -> Files | None:
    for name in ranges(files):
        if f"{name}__null" in table(files, main_table(files)).column_names:
            values = table(files, main_table(files)).column(f"{name}__null").to_pylist()
            turn = {"never": "maybe", "maybe": "never", "always": "never"}
            return with_column(files, main_table(files), f"{name}__null", [turn[one] for one in values])
    return None


@kind("group made homogeneous")
def _(files: Files, rng: Rng) -> Files | None:
    rows = rows_of_smallest(files)
    values = table(files, main_table(files)).column("disease").to_pylist()
    achieved = [
        g for g in json.loads(files["guarantees.json"])["guarantees"] if g["parameters"].get("kind") == "distinct"
    ]
    if achieved[0]["achieved"]["l"] < 2 or "data/data.parquet" in files:
        return None
    for i in rows:
        values[i] = values[rows[0]]
    return with_column(files, main_table(files), "disease", values)


@kind("value moved to another group")
def _(files: Files, rng: Rng) -> Files | None:
    ids = table(files, main_table(files)).column("group_id").to_pylist()
    if "data/data.parquet" in files or len(set(ids)) < 2:
        return None
    ids[0] = next(one for one in ids if one != ids[0])
    return with_column(files, main_table(files), "group_id", ids)


@kind("value made null")
def _(files: Files, rng: Rng) -> Files | None:
    values = table(files, main_table(files)).column("disease").to_pylist()
    values[0] = None
    return with_column(files, main_table(files), "disease", values)


@kind("column added")
def _(files: Files, rng: Rng) -> Files | None:
    found = table(files, main_table(files))
    return with_table(files, main_table(files), found.append_column("name", pa.array(["x"] * found.num_rows)))


@kind("column taken away")
def _(files: Files, rng: Rng) -> Files | None:
    found = table(files, main_table(files))
    return with_table(files, main_table(files), found.drop_columns(["disease"]))


@kind("rows sorted by group")
def _(files: Files, rng: Rng) -> Files | None:
    found = table(files, main_table(files))
    if found.num_rows < 24 or len(set(found.column("group_id").to_pylist())) < 4:
        return None
    return with_table(files, main_table(files), found.sort_by("group_id"))


@kind("rows sorted by a value")
def _(files: Files, rng: Rng) -> Files | None:
    found = table(files, main_table(files))
    if found.num_rows < 24 or len(set(found.column("disease").to_pylist())) < 5:
        return None
    return with_table(files, main_table(files), found.take(pc.sort_indices(found.column("disease"))))


# ---- description ---------------------------------------------------------------------------------------------------


@kind("row count")
def _(files: Files, rng: Rng) -> Files | None:
    return edited(files, "datapackage.json", lambda d: d["sfumato"].update(n_published=d["sfumato"]["n_published"] + 1))


@kind("suppressed count")
def _(files: Files, rng: Rng) -> Files | None:
    return edited(files, "datapackage.json", lambda d: d["sfumato"].update(n_suppressed=-1))


@kind("form")
def _(files: Files, rng: Rng) -> Files | None:
    other = "anatomized" if "data/data.parquet" in files else "generalized"
    return edited(files, "datapackage.json", lambda d: d["sfumato"].update(form=other))


def column(files: Files, rng: Rng, change: Callable[[dict[str, Any]], Any]) -> Files | None:
    def apply(document: Any) -> None:
        columns = document["sfumato"]["columns"]
        change(columns[int(rng.integers(len(columns)))])

    return edited(files, "datapackage.json", apply)


@kind("missing flag")
def _(files: Files, rng: Rng) -> Files | None:
    return column(files, rng, lambda one: one.update(missing=not one["missing"]))


@kind("type")
def _(files: Files, rng: Rng) -> Files | None:
    return column(files, rng, lambda one: one.update(type="uint8"))


@kind("sensitive called plain")
def _(files: Files, rng: Rng) -> Files | None:
    def apply(document: Any) -> None:
        next(one for one in document["sfumato"]["columns"] if one["name"] == "disease")["role"] = "plain"

    return edited(files, "datapackage.json", apply)


@kind("column not described")
def _(files: Files, rng: Rng) -> Files | None:
    return edited(files, "datapackage.json", lambda d: d["sfumato"]["columns"].pop())


@kind("grid moved")
def _(files: Files, rng: Rng) -> Files | None:
    def apply(document: Any) -> bool | None:
        for one in document["sfumato"]["columns"]:
            if one["name"] == "age" and "grid" in one.get("domain", {}):
                one["domain"]["grid"].update(low="22", high="41")
                return None
        return False

    return edited(files, "datapackage.json", apply)


def with_domains(files: Files, change: Callable[[dict[str, list[Any]]], bool | None]) -> Files | None:
    path = "model/domains.parquet"
    if path not in files:
        return None
    found = table(files, path)
    rows = found.to_pydict()
    if change(rows) is False:
        return None
    return with_table(files, path, pa.table(rows, schema=found.schema))


@kind("unused leaf listed")
def _(files: Files, rng: Rng) -> Files | None:
    def change(rows: dict[str, list[Any]]) -> None:
        last = rows["column"][-1]
        for name in rows:
            rows[name].append(None)
        rows["column"][-1], rows["rank"][-1], rows["value"][-1] = last, rows["rank"][-2] + 1, "Zwolle"

    return with_domains(files, change)


@kind("ranks out of order")
def _(files: Files, rng: Rng) -> Files | None:
    def change(rows: dict[str, list[Any]]) -> bool | None:
        if len(rows["rank"]) < 2 or rows["column"][0] != rows["column"][1]:
            return False
        rows["rank"][0], rows["rank"][1] = rows["rank"][1], rows["rank"][0]
        return None

    return with_domains(files, change)


@kind("node renamed")
def _(files: Files, rng: Rng) -> Files | None:
    def change(rows: dict[str, list[Any]]) -> bool | None:
        labels = rows.get("level_1", [])
        named = next((one for one in labels if one is not None), None)
        if named is None:
            return False
        rows["level_1"] = ["elsewhere" if one == named else one for one in labels]
        return None

    return with_domains(files, change)


@kind("list missing")
def _(files: Files, rng: Rng) -> Files | None:
    if "model/domains.parquet" not in files:
        return None
    del files["model/domains.parquet"]
    return files


# ---- packages that would fill the memory ---------------------------------------------------------------------------


@kind("grid of a trillion")
def _(files: Files, rng: Rng) -> Files | None:
    high = ["1000000000000", "1E+999999999", "NaN", "9" * 4000][int(rng.integers(4))]

    def apply(document: Any) -> bool | None:
        for one in document["sfumato"]["columns"]:
            if "grid" in one.get("domain", {}) and one["kind"] == "integer":
                one["domain"]["grid"]["high"] = high
                return None
        return False

    return edited(files, "datapackage.json", apply)


@kind("a trillion grid cells")
def _(files: Files, rng: Rng) -> Files | None:
    def apply(document: Any) -> bool | None:
        for one in document["sfumato"]["columns"]:
            if "domain" in one:
                one["domain"]["cells"] = [[1, 10**12]]
                return None
        return False

    return edited(files, "datapackage.json", apply)


@kind("JSON a hundred thousand deep")
def _(files: Files, rng: Rng) -> Files | None:
    name = ["datapackage.json", "guarantees.json", "provenance.json", "croissant.json"][int(rng.integers(4))]
    return {**files, name: b"[" * 100_000 + b"]" * 100_000}


@kind("JSON of another shape")
def _(files: Files, rng: Rng) -> Files | None:
    name = ["datapackage.json", "guarantees.json", "provenance.json", "croissant.json"][int(rng.integers(4))]
    return {**files, name: [b"[]", b"7", b'{"sfumato": []}', b'{"guarantees": 7}'][int(rng.integers(4))]}


@kind("a promise of endless digits")
def _(files: Files, rng: Rng) -> Files | None:
    huge = ["1e999999999", "1/" + "9" * 5000, 1e308, float("inf")][int(rng.integers(4))]
    return guarantee(files, "k-anonymity", lambda one: one["parameters"].update(k=huge))


@kind("Parquet that unfolds")
def _(files: Files, rng: Rng) -> Files | None:
    found = table(files, main_table(files))
    huge = pa.DictionaryArray.from_arrays(pa.array(np.zeros(200_000, np.int32)), pa.array(["x" * 100_000]))
    sink = io.BytesIO()
    pq.write_table(pa.table({found.column_names[0]: huge}), sink, use_dictionary=True, store_schema=False)
    return {**files, main_table(files): sink.getvalue()}


# ---- shares, risks and populations ---------------------------------------------------------------------------------


def tightened(model: str, key: str) -> Kind:
    """The parameter a little below what was achieved."""

    def plant(files: Files, rng: Rng) -> Files | None:
        def change(one: dict[str, Any]) -> None:
            one["parameters"][key] = one["achieved"][key] * 0.999 - 1e-6

        return guarantee(files, model, change)

    return plant


def praised(model: str, key: str) -> Kind:
    """Better than what was achieved."""

    def plant(files: Files, rng: Rng) -> Files | None:
        return guarantee(files, model, lambda one: one["achieved"].update({key: one["achieved"][key] * 0.999 - 1e-6}))

    return plant


for _model, _key in (
    ("delta-disclosure", "delta"), ("beta-likeness", "beta"), ("average-risk", "threshold"),
    ("sample-uniqueness", "threshold"), ("population-uniqueness", "threshold"),
):  # fmt: skip
    kind(f"{_model} below what holds")(tightened(_model, _key))
    kind(f"{_model} praised")(praised(_model, _key))


@kind("k-map of more than the estimate gives")
def _(files: Files, rng: Rng) -> Files | None:
    def change(one: dict[str, Any]) -> None:
        one["parameters"]["k"] = one["achieved"]["k"] = one["achieved"]["k"] + 1

    return guarantee(files, "k-map", change)


@kind("k-map at another significance")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "k-map", lambda one: one["parameters"].update(significance=1.5))


@kind("k-map of a population that is too small")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "k-map", lambda one: one["parameters"].update(population=2))


@kind("presence outside its shares")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "delta-presence", lambda one: one["achieved"].update(high=0.95))


@kind("presence from high to low")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "delta-presence", lambda one: one["achieved"].update(low=0.8))


@kind("a risk that names a column")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "average-risk", lambda one: one.update(on="disease"))


@kind("shares without a column")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "delta-disclosure", lambda one: one.update(on=None))


# ---- proximity -----------------------------------------------------------------------------------------------------


@kind("proximity of more than holds")
def _(files: Files, rng: Rng) -> Files | None:
    def change(one: dict[str, Any]) -> None:
        one["parameters"]["m"] = one["achieved"]["m"] = one["achieved"]["m"] + int(rng.integers(1, 3))

    return guarantee(files, "proximity", change)


@kind("proximity praised")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "proximity", lambda one: one["achieved"].update(m=one["achieved"]["m"] + 1))


@kind("proximity without a length")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "proximity", lambda one: one["parameters"].pop("epsilon"))


@kind("proximity of words")
def _(files: Files, rng: Rng) -> Files | None:
    return guarantee(files, "proximity", lambda one: one.update(on="disease"))
