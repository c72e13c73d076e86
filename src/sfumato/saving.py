"""Writing a package so that there is the old one or the new one, never half of one, and never an unverified one."""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import ParameterError, SfumatoError
from sfumato.releases import SUMS

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from sfumato.contracts import Release
    from sfumato.data.dataset import Dataset
    from sfumato.verify import Verification

MARK = ".sfumato-tmp-"
LOCK = ".lock"
REPLACED = ".replaced"
_EXCHANGE = 2
_HERE = -100


def save_package(release: Release, target: Path, *, original: Dataset | None, force: bool) -> Verification:
    """Write beside the target, verify those bytes, rename once. No verify, no release."""
    from sfumato.releases.package import write, write_zip
    from sfumato.report.html import public_report
    from sfumato.verify import verify

    target = target.absolute()
    refuse_taken(target, force)
    target.parent.mkdir(parents=True, exist_ok=True)
    sweep(target.parent)
    work = target.parent / f"{MARK}{os.getpid()}-{secrets.token_hex(4)}"
    work.mkdir()
    held = _hold(work)
    try:
        folder = work / (target.stem if target.suffix == ".zip" else target.name)
        write(release, folder, report=public_report(release))
        ready = folder
        if target.suffix == ".zip":
            ready = work / target.name
            write_zip(folder, ready)
        raw = original.arrow() if original is not None and release.recipe.unit != "row" else None
        found = verify(ready, raw=raw)
        _refuse_unless(found)
        _put(ready, target)
        return found
    finally:
        _restore(work)
        shutil.rmtree(work, ignore_errors=True)
        os.close(held)


def refuse_taken(target: Path, force: bool) -> None:
    """Refuse a path that is taken; even by force only a package or an empty folder is replaced, nothing else."""
    if not os.path.lexists(target):
        return
    name = target.name or str(target)
    if not force:
        raise ParameterError(f"{name} already exists. Choose another path, or use force (--force) to replace it.")
    if not _replaceable(target):
        raise ParameterError(
            f"{name} is not a package, or holds more than one, so it is not replaced, even by force. "
            "Choose another path, or remove it yourself."
        )


def _replaceable(target: Path) -> bool:
    """Whether nothing but a package is there: no file that its own checksums do not list."""
    if target.is_symlink():
        return False
    if target.suffix == ".zip":
        return target.is_file() and _is_packed(target)
    if not target.is_dir():
        return False
    sums = target / SUMS
    if not sums.is_file():
        return not any(target.iterdir())
    listed = {line.partition("  ")[2] for line in sums.read_text(encoding="utf8", errors="replace").splitlines()}
    found = {path.relative_to(target).as_posix() for path in target.rglob("*") if not path.is_dir()}
    return found <= {SUMS, *listed}


def _is_packed(target: Path) -> bool:
    try:
        with zipfile.ZipFile(target) as packed:
            return any(name.rpartition("/")[2] == SUMS for name in packed.namelist())
    except zipfile.BadZipFile:
        return False


def sweep(folder: Path) -> int:
    """Put back the packages that interrupted writers had moved aside and remove the rest of what they left.

    A writer that still runs holds a lock on its folder; where there are no locks its process number decides.
    """
    swept = 0
    for leftover in folder.glob(f"{MARK}*"):
        if leftover.is_symlink() or not leftover.is_dir() or _is_held(leftover):
            continue
        _restore(leftover)
        shutil.rmtree(leftover, ignore_errors=True)
        swept += 1
    return swept


def _restore(work: Path) -> None:
    """A package that was moved aside goes back to its place when nothing has come there."""
    old = work / REPLACED
    if not old.is_dir():
        return
    for package in old.iterdir():
        target = work.parent / package.name
        if not os.path.lexists(target):
            os.rename(package, target)
            _flush(target.parent)


def _hold(work: Path) -> int:
    """An open file in the folder, locked for as long as this process lives."""
    handle = os.open(work / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    if fcntl is not None:
        with suppress(OSError):  # Some network drives have no locks: there the process number decides.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return handle


def _is_held(work: Path) -> bool:
    """Does its writer still run? A folder without its lock file was left before or after the work."""
    owner = work.name.removeprefix(MARK).split("-")[0]
    runs = owner.isdigit() and _runs(int(owner))
    if fcntl is None:
        return runs
    try:
        handle = os.open(work / LOCK, os.O_RDWR)
    except OSError:
        return runs
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return runs
    finally:
        os.close(handle)
    return False


def _refuse_unless(found: Verification) -> None:
    failed = [finding for finding in found.findings if not finding.holds]
    if failed:
        raise SfumatoError(
            f"The written bytes fail {len(failed)} checks, so nothing was saved: "
            + "; ".join(f"{finding.check}: {finding.detail}" for finding in failed[:3])
        )


def _put(ready: Path, target: Path) -> None:
    """One rename; an existing directory is exchanged with the new one in a single step where the system can."""
    if target.is_dir() and not target.is_symlink():
        if not _exchange(ready, target):
            old = ready.parent / REPLACED / target.name
            old.parent.mkdir()
            os.rename(target, old)
            os.rename(ready, target)
    else:
        os.replace(ready, target)
    _flush(target.parent)


def _exchange(one: Path, other: Path) -> bool:
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    return bool(rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0)


def _flush(folder: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
