"""Saves one release over another again and again until it is killed: run by test_saving.py."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pyarrow as pa

import sfumato as sf


def release(title: str = "") -> sf.PublishedRelease:
    """A small release whose title tells which one it is."""
    table = pa.table({"age": [20, 21, 22, 23, 24, 25] * 20, "disease": ["flu", "cold", "hiv"] * 40})
    data = sf.read(table, name="people").roles(quasi=["age"], sensitive=["disease"])
    return sf.publish(
        data, sf.Mondrian(), require=sf.KAnonymity(5), hierarchies={"age": sf.intervals(2, low=20, high=29)}
    )


def main(folder: Path, n_kills: int) -> None:
    """Fork, let the child save, kill it after a growing wait, look at what is there; print a line per kill."""
    made = release("one")
    started = time.perf_counter()
    made.save(folder / "warm")
    whole = time.perf_counter() - started
    seen: set[Path] = set()
    for turn in range(n_kills):
        target = folder / ("package.zip" if turn % 2 else "package")
        child = os.fork()
        if child == 0:
            made.save(target, title=f"turn {turn}", force=True)
            os._exit(0)
        time.sleep(whole * 1.5 * ((turn * 37) % n_kills) / n_kills)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        there = target.exists()
        lost = target in seen and not there
        whole_package = not there or sf.verify(target).holds
        print("lost" if lost else "whole" if whole_package else "half", "there" if there else "absent", flush=True)
        seen |= {target} if there else set()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
