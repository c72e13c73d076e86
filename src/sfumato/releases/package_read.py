"""Reading a package back into the release it holds; whether its promises hold is the verifier's question."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.data.schema import Schema
from sfumato.errors import SchemaError
from sfumato.releases import REGISTERED, SUMS, parquet
from sfumato.releases.form import Form, Frame
from sfumato.releases.manifest import FORMAT, column_and_domain, need, recipe_of

LARGEST_JSON = 64 << 20


class Files:
    """The files of a package in a directory or a stored zip, by path."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._archive: zipfile.ZipFile | None = None
        if path.is_file():
            try:
                self._archive = zipfile.ZipFile(path)
            except (zipfile.BadZipFile, OSError):
                raise SchemaError(
                    f"{path.name} is neither a package directory nor a zip of one. Check the path."
                ) from None
        elif not path.is_dir():
            raise SchemaError(f"There is no release package at {path.name}. Check the path.")

    def size(self, name: str) -> int | None:
        """Size of a file in bytes, None when it is not there."""
        if self._archive is not None:
            entries = [entry for entry in self._archive.infolist() if entry.filename == name]
            if entries and entries[0].compress_type != zipfile.ZIP_STORED:
                raise SchemaError(f"{self.path.name}: {name} is compressed; a package zip is stored. Fetch it anew.")
            return entries[0].file_size if entries else None
        file = self.path / name
        return file.stat().st_size if file.is_file() else None

    def table(self, name: str) -> pa.Table:
        """A Parquet file of the package."""
        if self.size(name) is None:
            raise SchemaError(f"{self.path.name} has no {name}; it is not a complete release package. Fetch it anew.")
        if self._archive is not None:
            return parquet.from_source(pa.BufferReader(self._archive.read(name)), name)
        return parquet.from_source(self.path / name, name)

    def refuse_changed(self) -> None:
        """Raise `SchemaError` when a file is not the one whose checksum was published with it."""
        size = self.size(SUMS)
        if size is None or size > LARGEST_JSON:
            raise SchemaError(f"{self.path.name} has no usable {SUMS}; it is not a release package. Check the path.")
        changed = []
        for line in self._bytes(SUMS).decode("utf-8", "replace").splitlines():
            digest, _, name = line.partition("  ")
            inside = Path(name).is_relative_to(".") and ".." not in Path(name).parts
            if not inside or self.size(name) is None or hashlib.sha256(self._bytes(name)).hexdigest() != digest:
                changed.append(name)
        if changed:
            raise SchemaError(
                f"{len(changed)} files of {self.path.name} are not as they were published ({', '.join(changed[:3])}). "
                "Fetch the package anew; sfumato verify says what else is wrong."
            )

    def _bytes(self, name: str) -> bytes:
        return self._archive.read(name) if self._archive is not None else (self.path / name).read_bytes()

    def document(self, name: str) -> Mapping[str, Any]:
        """A JSON file of the package."""
        size = self.size(name)
        if size is None or size > LARGEST_JSON:
            raise SchemaError(f"{self.path.name} has no usable {name}; it is not a release package. Check the path.")
        try:
            found = json.loads(self._bytes(name))
        except ValueError:
            raise SchemaError(f"{self.path.name}: {name} is not JSON. Fetch the package anew.") from None
        if not isinstance(found, dict):
            raise SchemaError(f"{self.path.name}: {name} is not a JSON object. Fetch the package anew.")
        return found


def read(path: Path) -> Form:
    """The release in a package directory or zip; a package with a changed or missing file is refused."""
    files = Files(Path(path))
    package = files.document("datapackage.json")
    ours = need(package, "sfumato", Mapping, "datapackage.json")
    found = need(ours, "format", int, "datapackage.json")
    if found > FORMAT:
        raise SchemaError(f"The package has format {found}; this sfumato reads up to {FORMAT}. Install a newer one.")
    recipe = recipe_of(package, files.document("guarantees.json"), files.document("provenance.json"))
    said = need(ours, "columns", list, "datapackage.json")
    listed = files.table("model/domains.parquet") if files.size("model/domains.parquet") is not None else None
    try:
        pairs = [column_and_domain(one, listed) for one in said]
    except (KeyError, TypeError, ValueError, ArithmeticError, pa.ArrowException):
        raise SchemaError("datapackage.json describes columns in a way that cannot be. Verify the package.") from None
    frame = Frame(
        need(ours, "table", str, "datapackage.json"),
        Schema(tuple(column for column, _ in pairs)),
        {column.name: domain for column, domain in pairs},
        recipe,
        need(ours, "n_suppressed", int, "datapackage.json"),
    )
    form = _form(need(ours, "form", str, "datapackage.json"))
    release = form.from_tables(frame, {name: files.table(f"data/{name}.parquet") for name in form.table_names()})
    files.refuse_changed()
    return release


def _form(name: str) -> type[Form]:
    known = []
    for entry in REGISTERED:
        module, _, cls = entry.partition(":")
        form: type[Form] = getattr(import_module(module), cls)
        if form.form == name:
            return form
        known.append(form.form)
    raise SchemaError(f"The package has form {name!r}; known forms are {', '.join(known)}. Install a newer sfumato.")
