"""Data on stdout, everything else on stderr."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

PATIENCE = 1.0
"""Seconds before progress is shown."""


def emit(text: str) -> None:
    """Data as text."""
    typer.echo(text)


def emit_json(found: Any) -> None:
    """Data as one JSON document; numbers JSON has no word for become null."""
    typer.echo(json.dumps(plain(found), ensure_ascii=False, indent=2, allow_nan=False))


def note(text: str) -> None:
    """A message for the person at the keyboard."""
    typer.echo(text, err=True)


def suggest(command: str) -> None:
    """The last line: what to do next."""
    note(f"Next: {command}")


def plain(found: Any) -> Any:
    """The same as JSON knows it.

    >>> import datetime
    >>> plain({"a": float("inf"), "b": (1, datetime.date(2026, 1, 2))})
    {'a': None, 'b': [1, '2026-01-02']}
    """
    if isinstance(found, float):
        return found if math.isfinite(found) else None
    if isinstance(found, dict):
        return {str(key): plain(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [plain(value) for value in found]
    if found is None or isinstance(found, str | int | bool):
        return found
    return plain(found.item()) if hasattr(found, "item") else str(found)


class Progress:
    """Says what goes on once it has taken more than a second: a moving line on a terminal, plain lines elsewhere."""

    def __init__(self) -> None:
        self._text = "working"
        self._status: Any = None
        self._plain = False
        self._timer = threading.Timer(PATIENCE, self._start)
        self._timer.daemon = True

    def __call__(self, text: str) -> None:
        """What is being done now; counts and parameters only."""
        self._text = text
        if self._status is not None:
            self._status.update(text)
        elif self._plain:
            note(f"… {text}")

    def __enter__(self) -> Progress:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        if self._status is not None:
            self._status.stop()

    def _start(self) -> None:
        if not sys.stderr.isatty():
            self._plain = True
            note(f"… {self._text}")
            return
        from rich.console import Console

        self._status = Console(stderr=True, no_color="NO_COLOR" in os.environ).status(self._text)
        self._status.start()


@contextmanager
def readable(source: str) -> Iterator[str]:
    """A path to read: standard input is kept in a private file for the time being."""
    if source != "-":
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
        kept = Path(folder) / "data"
        data = sys.stdin.buffer.read()
        kept = kept.with_suffix(".parquet" if data[:4] == b"PAR1" else ".csv")
        kept.write_bytes(data)
        yield str(kept)


def names(text: list[str] | None) -> list[str]:
    """Column names from repeated, comma-separated options.

    >>> names(["age,zip", "sex"])
    ['age', 'zip', 'sex']
    """
    return [name.strip() for one in text or [] for name in one.split(",") if name.strip()]


def write_new(path: Path, data: bytes, force: bool) -> None:
    """Write a file that is not there yet, or replace it when forced."""
    refuse_existing(path, force)
    path.write_bytes(data)


def refuse_existing(path: Path, force: bool) -> None:
    """Refuse a file that is there, unless forced."""
    from sfumato.errors import ParameterError

    if path.exists() and not force:
        raise ParameterError(f"{path} already exists. Choose another path, or use --force to replace it.")
