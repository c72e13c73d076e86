"""Side by side with PyPI peers in an environment of their own (.peers, made on demand): anonypy, anjana, pycanon.

Goals: ≥ 100 × anonypy's Mondrian, check-k ≥ 5 × pycanon, same or better NCP at the same k. CPU seconds of the work
alone, in one run, after every side has worked on 1,000 rows; each side is a script in `sides/`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.adult import QUASI, SHARED, adult
from benchmarks.measuring import ROOT, run

PEERS = Path(ROOT) / ".peers"
SIDES = Path(__file__).parent / "sides"
NUMERIC, TEXT = ["age"], [name for name in QUASI if name != "age"]
K = 5


def environment() -> str:
    """The peers' interpreter; installs them on first use."""
    interpreter = PEERS / "bin" / "python"
    if not interpreter.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEERS)], check=True)
        packages = ["anonypy", "anjana", "pycanon", "pyarrow"]
        subprocess.run([str(interpreter), "-m", "pip", "install", "-q", *packages], check=True)
    return str(interpreter)


def side(interpreter: str, name: str, *arguments: str) -> dict[str, Any]:
    """What one side's script prints as its last line."""
    found: dict[str, Any] = json.loads(run([interpreter, str(SIDES / f"{name}.py"), *arguments]).out.splitlines()[-1])
    return found


def hierarchies(folder: Path) -> Path:
    """ARX's Adult hierarchies under our column names, for anjana."""
    target = folder / "hierarchies"
    target.mkdir()
    for source in (SHARED / "hierarchies_arx").glob("*.csv"):
        name = source.stem.removeprefix("adult_hierarchy_").replace("-", "_")
        (target / f"{name}.csv").write_text(source.read_text())
    return target


def ours_beside(us: str, setting: list[str], place: Path) -> dict[str, Any]:
    """Our Mondrian with texts in alphabetical order, and in the order of ARX's hierarchies where they are there."""
    found = side(us, "ours_mondrian", *setting)
    runs = [("in alphabetical order", found)]
    if SHARED.exists():
        runs.append(("in ARX's leaf order", side(us, "ours_mondrian", *setting, str(hierarchies(place)))))
    for name, one in runs:
        figures = f"classes {one['groups']:5}  NCP {one['ncp']:.4f}"
        print(f"mondrian k={K}, ours       cpu {one['cpu']:8.3f} s  {figures}  {name}")
        print(f"                         loss of the published regions (gcp) {one['regions']:.4f}")
    return found


def main(quick: bool = False) -> None:
    """Print peer and ours beside each other with the ratio."""
    peer, us = environment(), sys.executable
    with tempfile.TemporaryDirectory() as place:
        path = str(adult(None, Path(place)))
        setting = [path, str(K), json.dumps(NUMERIC), json.dumps(TEXT)]
        ours = ours_beside(us, setting, Path(place))
        mine = side(us, "ours_check", path, json.dumps(QUASI))
        theirs = side(peer, "pycanon_check", path, json.dumps(QUASI))
        print(f"check k, ours            cpu {mine['cpu']:8.3f} s  k {mine['k']}")
        print(
            f"check k, pycanon         cpu {theirs['cpu']:8.3f} s  k {theirs['k']}  × {theirs['cpu'] / mine['cpu']:.1f}"
        )
        if SHARED.exists():
            other = side(peer, "anjana_k", path, str(K), json.dumps(QUASI), str(Path(place) / "hierarchies"))
            print(f"k={K}, anjana (greedy)     cpu {other['cpu']:8.3f} s  × {other['cpu'] / ours['cpu']:.1f}")
        if not quick:
            other = side(peer, "anonypy_mondrian", *setting)
            ratio = f"× {other['cpu'] / ours['cpu']:.0f}"
            print(f"mondrian, anonypy        cpu {other['cpu']:8.3f} s  classes {other['groups']:5}  {ratio}")
            print(f"                         NCP {other['ncp']:.4f}")


if __name__ == "__main__":
    main()
