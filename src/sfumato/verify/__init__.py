"""The independent verifier: re-reads the written bytes with code of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.verify.verification import Verification

__all__ = ["Verification", "verify"]


def verify(
    path: str | Path,
    raw: Any = None,
    *,
    null_values: str | Sequence[str] = ("",),
    encoding: str = "utf-8",
    normalize: bool = False,
) -> Verification:
    """Judge a package by its bytes alone; `raw` (a CSV or Parquet path, or a table) adds the original's checks.

    The other arguments say how the original is written, as for `read`.
    """
    from sfumato.verify.judge import judge
    from sfumato.verify.raw_table import Reading

    missing = (null_values,) if isinstance(null_values, str) else tuple(null_values)
    return judge(Path(path), raw, Reading(missing, encoding, normalize))


def __getattr__(name: str) -> Any:
    if name == "Verification":
        from sfumato.verify.verification import Verification

        return Verification
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
