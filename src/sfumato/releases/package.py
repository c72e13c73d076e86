"""The release package: a directory, or a stored zip of it, that anyone can read without this tool."""

from __future__ import annotations

from sfumato.releases.package_read import read
from sfumato.releases.package_write import write, write_zip

__all__ = ["read", "write", "write_zip"]
