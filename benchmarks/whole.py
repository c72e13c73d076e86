"""Whole commands: a file in, a verified package out. Goals: Adult ≤ 3 s warm and ≤ 9 s cold, 1M rows ≤ 15 s and
≤ 2.5 GB, 10M rows ≤ 6 GB."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.adult import QUASI, SENSITIVE, adult
from benchmarks.measuring import Run, cli

ROLES = ["--quasi", ",".join(QUASI), "--sensitive", SENSITIVE]


def publish(source: Path, target: Path, *more: str, cache: str | None = None) -> Run:
    """`sfumato publish` with k = 10 and entropy l = 2 on occupation."""
    need = ["--require", "k-anonymity:k=10", "--require", f"l-diversity:l=2,on={SENSITIVE},kind=entropy"]
    env = {"NUMBA_CACHE_DIR": cache} if cache else None
    return cli("publish", str(source), *ROLES, *need, *more, "-o", str(target), "--force", env=env)


def main(quick: bool = False) -> None:
    """Print one line per size."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        small = adult(None, folder, "csv")
        print("mondrian, Adult csv, cold kernel cache ", publish(small, folder / "p", cache=str(folder / "cache")))
        runs = [publish(small, folder / "p") for _ in range(3)]
        print("mondrian, Adult csv, warm              ", min(runs, key=lambda run: run.wall))
        print("anatomy l=3, Adult csv, warm           ", anatomy(small, folder / "a"))
        million = adult(1_000_000, folder, "csv")
        print("mondrian, 1M x 9 csv                   ", publish(million, folder / "p"))
        print("anatomy l=3, 1M x 9 csv                ", anatomy(million, folder / "a"))
        if not quick:
            ten = adult(10_000_000, folder)
            print("mondrian, 10M x 9 parquet              ", publish(ten, folder / "p"))


def anatomy(source: Path, target: Path) -> Run:
    """`sfumato publish` with Anatomy and distinct l = 3."""
    need = ["--require", f"l-diversity:l=3,on={SENSITIVE}", "--method", "anatomy"]
    return cli("publish", str(source), *ROLES, *need, "-o", str(target), "--force")


if __name__ == "__main__":
    main()
