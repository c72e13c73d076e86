"""The independent verifier: re-reads the written bytes with code of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.verify.verification import Verification

__all__ = ["Verification", "verify"]


def verify(path: str | Path, raw: Any = None) -> Verification:
    """Judge a package by its bytes alone; `raw` (a CSV or Parquet path, or a table) adds the original's checks."""
    from sfumato.verify.judge import judge

    return judge(Path(path), raw)


def __getattr__(name: str) -> Any:
    if name == "Verification":
        from sfumato.verify.verification import Verification

        return Verification
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
