"""Old or new, never half: saving survives kills, full disks and packages that fail their own verification."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato import saving
from tests.desk.saving_victim import release


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
def test_two_hundred_kills_leave_old_or_new(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.desk.saving_victim", str(tmp_path), "200"]
    found = subprocess.run(command, capture_output=True, text=True, cwd=root)
    assert found.returncode == 0, found.stderr
    outcomes = found.stdout.split("\n")[:-1]
    assert len(outcomes) == 200
    assert not [line for line in outcomes if not line.startswith("whole")]
    assert any("there" in line for line in outcomes), "every kill came too early to test anything"
    made = release("last")
    made.save(tmp_path / "package", force=True)
    leftovers = [p.name for p in tmp_path.iterdir() if p.name.startswith(saving.MARK)]
    assert leftovers == [], "remains of dead writers are swept at the next start"


def test_an_existing_package_is_kept_unless_forced(tmp_path: Path) -> None:
    made = release("x")
    made.save(tmp_path / "package", title="first")
    with pytest.raises(sf.ParameterError, match="already exists"):
        made.save(tmp_path / "package", title="second")
    assert sf.open(tmp_path / "package").recipe.title == "first"
    made.save(tmp_path / "package", title="second", force=True)
    assert sf.open(tmp_path / "package").recipe.title == "second"


def test_force_replaces_packages_and_empty_folders_and_nothing_else(tmp_path: Path) -> None:
    made = release("x")
    (tmp_path / "empty").mkdir()
    made.save(tmp_path / "empty", force=True)
    made.save(tmp_path / "one.zip")
    made.save(tmp_path / "one.zip", force=True)
    (tmp_path / "link").symlink_to(tmp_path / "empty", target_is_directory=True)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "raw.csv").write_text("a\n1\n")
    (tmp_path / "table.zip").write_text("no zip")
    made.save(tmp_path / "annotated")
    (tmp_path / "annotated" / "notes.txt").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    for name in ("work", "work/raw.csv", "table.zip", "annotated", "link"):
        with pytest.raises(sf.ParameterError, match="not replaced"):
            made.save(tmp_path / name, force=True)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_failing_disk_leaves_the_old_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    made = release("x")
    made.save(tmp_path / "package", title="old")
    real, state = os.fsync, {"calls": 0, "fail at": -1}

    def failing(handle: int) -> None:
        state["calls"] += 1
        if state["calls"] == state["fail at"]:
            raise OSError(code, os.strerror(code))
        real(handle)

    monkeypatch.setattr(os, "fsync", failing)
    made.save(tmp_path / "counted")
    total, failures = state["calls"], 0
    assert total > 5, "files are flushed before the rename"
    for turn in range(1, total + 1):
        state.update({"calls": 0, "fail at": turn})
        try:
            made.save(tmp_path / "package", title="new", force=True)
        except OSError:
            failures += 1
        assert sf.verify(tmp_path / "package").holds
        assert not list(tmp_path.glob(f"{saving.MARK}*"))
    assert failures == total


def test_bytes_that_fail_verification_are_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = release("x")
    from sfumato.releases import package

    real = package.write

    def spoiled(release: Any, target: Path, report: bytes | None = None) -> None:
        real(release, target, report=report)
        (target / "guarantees.json").write_bytes((target / "guarantees.json").read_bytes().replace(b"5", b"7"))

    monkeypatch.setattr(package, "write", spoiled)
    with pytest.raises(sf.SfumatoError, match="nothing was saved"):
        made.save(tmp_path / "package")
    assert list(tmp_path.iterdir()) == []


SAVES_WITHOUT_EXCHANGE = """
import os, sys
from pathlib import Path
from sfumato import saving
from tests.desk.saving_victim import release
saving._exchange = lambda one, other: False
target, real, renames = Path(sys.argv[1]), os.rename, []
def rename(old, new):
    real(old, new)
    renames.append(new)
    if len(renames) == int(sys.argv[2]):
        os.kill(os.getpid(), 9)
os.rename = rename
release("new").save(target, title="new", force=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize(("renames", "title"), [(1, "old"), (2, "new")])
def test_a_kill_between_two_renames_loses_nothing(tmp_path: Path, renames: int, title: str) -> None:
    made = release("x")
    made.save(tmp_path / "package", title="old")
    command = [sys.executable, "-c", SAVES_WITHOUT_EXCHANGE, str(tmp_path / "package"), str(renames)]
    killed = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert killed.returncode == -9, killed.stderr
    assert (tmp_path / "package").exists() == (renames == 2)
    assert saving.sweep(tmp_path) == 1
    assert sf.open(tmp_path / "package").recipe.title == title
    assert sf.verify(tmp_path / "package").holds
    assert not list(tmp_path.glob(f"{saving.MARK}*"))


def test_a_failing_second_rename_puts_the_old_package_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = release("x")
    made.save(tmp_path / "package", title="old")
    real, calls = os.rename, []

    def failing(old: Any, new: Any) -> None:
        calls.append(new)
        if len(calls) == 2:
            raise OSError(errno.EIO, "failed")
        real(old, new)

    monkeypatch.setattr(saving, "_exchange", lambda one, other: False)
    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(OSError, match="failed"):
        made.save(tmp_path / "package", title="new", force=True)
    assert sf.open(tmp_path / "package").recipe.title == "old"


@pytest.mark.skipif(sys.platform == "win32", reason="has no flock")
def test_a_lock_decides_who_still_writes(tmp_path: Path) -> None:
    """A process number may be taken again by another process, and one of another machine says nothing."""
    alive, dead = tmp_path / f"{saving.MARK}999999999-a", tmp_path / f"{saving.MARK}{os.getpid()}-b"
    alive.mkdir()
    dead.mkdir()
    held = saving._hold(alive)
    os.close(saving._hold(dead))
    assert saving.sweep(tmp_path) == 1
    assert alive.exists() and not dead.exists()
    os.close(held)
    assert saving.sweep(tmp_path) == 1 and not alive.exists()


def test_force_on_a_file_or_a_link_is_a_typed_error(tmp_path: Path) -> None:
    made = release("x")
    (tmp_path / "file").write_text("mine")
    made.save(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "link.zip").symlink_to(tmp_path / "file")
    for name in ("file", "link", "dangling", "link.zip"):
        with pytest.raises(sf.ParameterError, match="not replaced"):
            made.save(tmp_path / name, force=True)
    assert (tmp_path / "file").read_text() == "mine" and sf.verify(tmp_path / "real").holds
