"""Writing a release as a package: from scratch, from plain columns, the same bytes for the same release."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.contracts import Release
from sfumato.errors import Incompatible, ParameterError
from sfumato.releases import SUMS, documents, parquet
from sfumato.releases.form import Form
from sfumato.releases.listed import listed_table
from sfumato.releases.manifest import datapackage, listed_columns
from sfumato.releases.readme import readme

EPOCH = (1980, 1, 1, 0, 0, 0)


def files_of(release: Release, report: bytes | None = None) -> dict[str, bytes]:
    """Every file of the package by its path, SHA256SUMS last."""
    if not isinstance(release, Form):
        raise Incompatible(f"A release of form {release.form!r} has no package format yet.")
    cut = release.published()
    tables = cut.tables()
    listed = listed_columns(cut)
    files = {f"data/{name}.parquet": parquet.to_bytes(table) for name, table in tables.items()}
    if listed:
        files["model/domains.parquet"] = parquet.to_bytes(listed_table({c: cut.domains[c] for c in listed}))
    digests = {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
    package = datapackage(cut, tables, listed)
    texts = {
        "datapackage.json": _json(package),
        "guarantees.json": _json(documents.guarantees(cut.recipe)),
        "provenance.json": _json(documents.provenance(cut.recipe)),
        "croissant.json": _json(documents.croissant(cut, package, digests)),
        "views.sql": cut.views(cut.frame),
        "README.md": readme(cut),
    }
    files.update({path: text.encode() for path, text in texts.items()})
    if report is not None:
        files["report/index.html"] = report
    lines = [f"{hashlib.sha256(files[path]).hexdigest()}  {path}\n" for path in sorted(files)]
    return {**files, SUMS: "".join(lines).encode()}


def write(release: Release, target: Path, report: bytes | None = None) -> None:
    """A new directory with the package, every byte flushed to disk; never into an existing path."""
    if os.path.lexists(target):
        raise ParameterError(f"{target.name} already exists; a package is written from scratch. Choose another path.")
    files = files_of(release, report)
    target.mkdir()
    for folder in sorted({path.split("/")[0] for path in files if "/" in path}):
        (target / folder).mkdir()
    for path, data in files.items():
        with open(target / path, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    for written in [target, *(one for one in target.iterdir() if one.is_dir())]:
        _flush(written)


def write_zip(directory: Path, target: Path) -> None:
    """A stored zip of a package directory: fixed order, times and modes, so equal packages give equal bytes."""
    paths = sorted(
        (one for one in directory.rglob("*") if one.is_file()), key=lambda one: one.relative_to(directory).as_posix()
    )
    with open(target, "wb") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for path in paths:
                entry = zipfile.ZipInfo(path.relative_to(directory).as_posix(), EPOCH)
                entry.external_attr = 0o100644 << 16
                entry.create_system = 3
                archive.writestr(entry, path.read_bytes())
        file.flush()
        os.fsync(file.fileno())


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _flush(folder: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
