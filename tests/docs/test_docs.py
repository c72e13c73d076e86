"""Every code block of the documentation runs and prints what the page says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import assert_same, blocks_of, run

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_block_runs_and_prints_what_the_page_says(page: Path, tmp_path: Path) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks_of(page.read_text(encoding="utf8")):
        run(block, names, tmp_path)


def test_the_pages_have_blocks() -> None:
    assert all(len(blocks_of(page.read_text(encoding="utf8"))) >= 1 for page in PAGES if page.stem != "index")


@pytest.mark.parametrize(
    ("found", "wanted", "same"),
    [
        ("a\nb\n", "a\nb", True),
        ("a\nb\nc\n", "a\n…\nc", True),
        ("a 17 b\n", "a … b", True),
        ("a\nb\n", "a\nc", False),
        ("a\nb\n", "a", False),
        ("", "a", False),
    ],
)
def test_outputs_are_compared(found: str, wanted: str, same: bool) -> None:
    if same:
        assert_same(found, wanted, 1)
    else:
        with pytest.raises(AssertionError):
            assert_same(found, wanted, 1)


def test_a_wrong_output_fails(tmp_path: Path) -> None:
    page = "```python\nprint(1 + 1)\n```\n\n```output\n3\n```\n\n```console\n$ echo hi\nho\n```\n"
    for block in blocks_of(page):
        with pytest.raises(AssertionError):
            run(block, {}, tmp_path)


def test_the_site_builds_and_knows_everything_registered(tmp_path: Path) -> None:
    from sfumato.cli import REGISTERED
    from sfumato.requirements import all_requirements

    found = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "build.py"), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    text = {path.stem: path.read_text(encoding="utf8") for path in tmp_path.glob("*.html")}
    assert all(f"sfumato {name}" in text["reference-cli"] for name, _ in REGISTERED)
    assert all(kind.model in text["reference-requirements"] for kind in all_requirements())
    assert "<script" not in "".join(text.values())
