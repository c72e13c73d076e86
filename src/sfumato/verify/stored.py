"""The files of a package as bytes, and whether they are exactly the files it should have."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from pathlib import Path

from sfumato.contracts import Finding
from sfumato.errors import SchemaError

SUMS = "SHA256SUMS"
ALWAYS = {"README.md", "datapackage.json", "croissant.json", "guarantees.json", "provenance.json", "views.sql", SUMS}
TABLES = {"generalized": {"data/data.parquet"}, "anatomized": {"data/quasi.parquet", "data/sensitive.parquet"}}
SOMETIMES = {"model/domains.parquet", "report/index.html"}
EPOCH = (1980, 1, 1, 0, 0, 0)


class Stored:
    """Bytes by path; `oddities` says what a package directory or zip must not have."""

    def __init__(self, path: Path) -> None:
        self.oddities: list[str] = []
        self.files: dict[str, bytes] = {}
        if path.is_dir():
            self._from_directory(path)
        elif path.is_file():
            self._from_zip(path)
        else:
            raise SchemaError(f"There is no release package at {path.name}. Check the path.")

    def _from_directory(self, path: Path) -> None:
        for one in sorted(path.rglob("*")):
            name = one.relative_to(path).as_posix()
            if one.is_symlink() or not (one.is_file() or one.is_dir()):
                self.oddities.append("something that is neither a file nor a directory")
            elif one.is_file():
                self.files[name] = one.read_bytes()
            elif not any(one.iterdir()):
                self.oddities.append("an empty directory")

    def _from_zip(self, path: Path) -> None:
        try:
            archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError):
            raise SchemaError(f"{path.name} is neither a package directory nor a zip of one. Check the path.") from None
        with archive:
            for entry in archive.infolist():
                if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
                    self.oddities.append("a zip entry that is not plainly stored")
                else:
                    self.files[entry.filename] = self._bytes(archive, entry)
        if not self.oddities and path.read_bytes() != _zipped(self.files):
            self.oddities.append("zip bytes, times, modes or an order that the files do not call for")

    def _bytes(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
        try:
            return archive.read(entry)
        except (zipfile.BadZipFile, OSError, ValueError):
            self.oddities.append("a zip entry whose own checksum is wrong")
            return b""


def _zipped(files: dict[str, bytes]) -> bytes:
    """The one stored zip that these files have."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr, entry.create_system = 0o100644 << 16, 3
            archive.writestr(entry, files[name])
    return sink.getvalue()


def check_files(stored: Stored, form: str | None) -> list[Finding]:
    """SHA256SUMS names every file with its digest, and there is no file beside those of the layout."""
    expected = ALWAYS | TABLES.get(form or "", set())
    allowed = expected | SOMETIMES
    absent, extra = expected - set(stored.files), set(stored.files) - allowed
    return [
        _finding("files", not absent, "every file of the layout is there", f"{len(absent)} files are missing"),
        _finding("no other files", not extra, "nothing else is there", f"{len(extra)} files do not belong there"),
        _finding(
            "container",
            not stored.oddities,
            "plain files only",
            f"{len(stored.oddities)} oddities, such as {stored.oddities[0] if stored.oddities else ''}",
        ),
        _check_sums(stored),
    ]


def _check_sums(stored: Stored) -> Finding:
    text = stored.files.get(SUMS, b"").decode("utf8", "replace")
    lines = text.splitlines()
    pairs = [re.fullmatch(r"([0-9a-f]{64})  (\S.*)", line) for line in lines]
    told = {pair[2]: pair[1] for pair in pairs if pair}
    others = {name: data for name, data in stored.files.items() if name != SUMS}
    changed = [name for name, data in others.items() if told.get(name) != hashlib.sha256(data).hexdigest()]
    wrong = len(changed) + len(set(told) - set(others)) + sum(pair is None for pair in pairs)
    tidy = list(told) == sorted(told) and len(told) == len(lines) and (not lines or text.endswith("\n"))
    if wrong or not tidy:
        shown = ", ".join(sorted(set(changed) & (ALWAYS | SOMETIMES | set().union(*TABLES.values())))) or "its list"
        return Finding("checksums", False, f"SHA256SUMS does not match the bytes: {shown}.", {"changed": wrong})
    return Finding("checksums", True, f"{len(others)} files match SHA256SUMS.", {"files": len(others)})


def _finding(check: str, holds: bool, good: str, bad: str) -> Finding:
    return Finding(check, holds, f"{good if holds else bad}.".capitalize())
