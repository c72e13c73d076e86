"""k after a later step: whatever is planted in a package is caught, and good packages raise no alarm."""

from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.oracles.packages import anatomized, generalized
from tests.oracles.tampering import KINDS, put, spoil

from sfumato.releases.package import write, write_zip
from sfumato.releases.package_write import files_of
from sfumato.verify import verify

SEEDS = range(20)


def test_planted_violations_are_caught(tmp_path: Path) -> None:
    planted: Counter[str] = Counter()
    missed = []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        release = (generalized if seed % 2 else anatomized)(rng, seed % 3, k=2 if seed % 4 < 2 else 6)
        files = files_of(release)
        for name in KINDS:
            spoilt = spoil(name, files, rng)
            if spoilt is None:
                continue
            planted[name] += 1
            if verify(put(spoilt, tmp_path / f"{seed}-{planted.total()}")).holds:
                missed.append((seed, name))
    assert not missed
    assert planted.total() >= 1000
    assert len(planted) == len(KINDS) >= 40, set(KINDS) - set(planted)


@pytest.mark.parametrize("form", [generalized, anatomized])
def test_good_packages_raise_no_alarm(form: object, tmp_path: Path) -> None:
    for seed in range(120):
        release = form(np.random.default_rng(seed), seed % 3)  # type: ignore[operator]
        found = verify(put(files_of(release), tmp_path / str(seed)))
        assert found.holds, (seed, [(one.check, one.detail) for one in found.failures])


def test_zips_are_judged_like_directories(tmp_path: Path) -> None:
    release = generalized(np.random.default_rng(5))
    write(release, tmp_path / "good", report=b"<html>fine</html>")
    write_zip(tmp_path / "good", tmp_path / "good.zip")
    assert verify(tmp_path / "good.zip").holds
    with zipfile.ZipFile(tmp_path / "packed.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for one in sorted((tmp_path / "good").rglob("*")):
            if one.is_file():
                archive.write(one, one.relative_to(tmp_path / "good"))
    assert not verify(tmp_path / "packed.zip").holds
    data = (tmp_path / "good.zip").read_bytes()
    for at in range(0, len(data), max(1, len(data) // 60)):
        changed = bytearray(data)
        changed[at] ^= 4
        (tmp_path / "bad.zip").write_bytes(bytes(changed))
        assert not held(tmp_path / "bad.zip")
    (tmp_path / "longer.zip").write_bytes(b"Jane Doe" + data)
    assert not held(tmp_path / "longer.zip")


def held(path: Path) -> bool:
    from sfumato.errors import SchemaError

    try:
        return verify(path).holds
    except SchemaError:
        return False


def test_links_and_folders_do_not_belong(tmp_path: Path) -> None:
    write(generalized(np.random.default_rng(6)), tmp_path / "one")
    (tmp_path / "one" / "empty").mkdir()
    assert not verify(tmp_path / "one").holds
    (tmp_path / "one" / "empty").rmdir()
    (tmp_path / "one" / "link").symlink_to("/etc/hostname")
    assert not verify(tmp_path / "one").holds


def test_findings_never_hold_cells(tmp_path: Path) -> None:
    from tests.oracles.packages import CITIES, DISEASES

    for seed in range(2):
        rng = np.random.default_rng(seed)
        files = files_of((generalized if seed % 2 else anatomized)(rng))
        for name in KINDS:
            spoilt = spoil(name, files, rng)
            if spoilt is not None:
                said = verify(put(spoilt, tmp_path / f"{seed}{name}")).json()
                assert not [value for value in (*CITIES, *DISEASES, "Jane Doe", "Zwolle") if value in said]
