"""Questions to releases. Goals: 1,000 random 3-predicate COUNTs on a 1M-row generalized release ≤ 1 s after opening;
the exact law of COUNT over 6,500 permutation groups ≤ 100 ms."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sfumato as sf
from benchmarks.adult import QUASI, SENSITIVE, adult


def clocked(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU seconds, wall seconds and the result."""
    cpu, wall = time.process_time(), time.perf_counter()
    found = work()
    return time.process_time() - cpu, time.perf_counter() - wall, found


def questions(n: int, seed: int = 4) -> list[str]:
    """Random conjunctions of an age range, an equality and a set."""
    chance = np.random.Generator(np.random.Philox(key=seed))
    education = ["Bachelors", "HS-grad", "11th", "Masters", "9th", "Some-college", "Assoc-acdm", "Doctorate"]
    jobs = ["Adm-clerical", "Exec-managerial", "Sales", "Craft-repair", "Tech-support", "Prof-specialty"]
    made = []
    for _ in range(n):
        low = int(chance.integers(17, 80))
        made.append(
            f"SELECT count(*) AS n FROM data WHERE age BETWEEN {low} AND {low + int(chance.integers(1, 20))} "
            f"AND education = '{education[chance.integers(len(education))]}' "
            f"AND occupation IN ('{jobs[chance.integers(len(jobs))]}', '{jobs[chance.integers(len(jobs))]}')"
        )
    return made


def main(quick: bool = False) -> None:
    """Publish, save, open, ask."""
    n = 100_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        data = sf.read(str(adult(n, folder))).roles(quasi=QUASI, sensitive=[SENSITIVE])
        sf.publish(data, sf.Mondrian(), require=sf.KAnonymity(10)).save(folder / "general")
        release = sf.open(folder / "general")
        release.sql("SELECT count(*) AS n FROM data")
        asked = questions(1000)
        cpu, wall, _ = clocked(lambda: [release.sql(text) for text in asked])
        print(f"{n} rows generalized, 1,000 COUNTs by .sql, one by one   cpu {cpu:6.2f} s   wall {wall:6.2f} s")
        small = sf.read(str(adult(None, folder))).roles(quasi=QUASI, sensitive=[SENSITIVE])
        permuted = sf.publish(small, sf.Anatomy(), require=sf.LDiversity(4, on=SENSITIVE), seed=1)
        law(permuted)


def law(permuted: sf.PublishedRelease) -> None:
    """One COUNT with quantiles from its exact law."""
    text = "SELECT count(*) AS n FROM data WHERE age < 40 AND occupation IN ('Sales', 'Exec-managerial')"
    permuted.sql(text, quantiles=(0.05, 0.95), seed=1)
    cpu, wall, _ = min(
        (clocked(lambda: permuted.sql(text, quantiles=(0.05, 0.95))) for _ in range(5)), key=lambda r: r[0]
    )
    n_groups = len(permuted.groups())
    print(f"exact law and quantiles over {n_groups} permutation groups      cpu {cpu:6.3f} s   wall {wall:6.3f} s")


if __name__ == "__main__":
    main()
