"""Where a search is kept between calls: a folder beside the project that only its owner can look into."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sfumato.cli.output import note

FOLDER = ".sfumato"
KEY = re.compile(rb'"key": "([0-9a-f]+)"')


@dataclass
class Kept:
    """The file of a search (None: it cannot be kept), and how many nodes an earlier search had found in it."""

    path: Path | None
    taken_up: int = 0


@contextmanager
def kept_search(beside: Path, name: str, *, fresh: bool) -> Iterator[Kept]:
    """The place of this search; afterwards `taken_up` says what came from an earlier one. Interrupted, it is kept."""
    path = _place(beside, name)
    if path is None:
        note(f"The search is not kept: nothing can be written into {beside.resolve()}.")
        yield Kept(None)
        return
    files = _files(path)
    if fresh:
        for file in files:
            file.unlink(missing_ok=True)
    before = {} if fresh else {file: _known(file) for file in files}
    kept = Kept(path)
    try:
        yield kept
    except KeyboardInterrupt:
        note("The nodes looked at are kept; the same command goes on from there.")
        raise
    for file, (key, n_nodes, written) in before.items():
        if file.exists() and file.stat().st_mtime_ns != written and _key(file) == key:
            kept.taken_up += n_nodes


def _place(beside: Path, name: str) -> Path | None:
    folder = beside / FOLDER
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
        (folder / ".gitignore").write_text("*\n", encoding="utf8")
    except OSError:
        return None
    return folder / f"search-{re.sub(r'[^A-Za-z0-9_-]', '_', name)}.json"


def _files(path: Path) -> list[Path]:
    """The file and those of further lattices of one search."""
    own = re.compile(re.escape(path.stem) + r"(-\d+)?\.json")
    return [file for file in path.parent.iterdir() if own.fullmatch(file.name)]


def _known(file: Path) -> tuple[bytes, int, int]:
    """Key, number of nodes, and when it was written; a file that cannot be read holds none."""
    try:
        written = file.stat().st_mtime_ns
        text = file.read_bytes()
        return _key(file), len(json.loads(text)["nodes"]), written
    except (OSError, ValueError, KeyError, TypeError):
        return b"", 0, 0


def _key(file: Path) -> bytes:
    with open(file, "rb") as opened:
        found = KEY.search(opened.read(200))
    return found[1] if found else os.urandom(8)
