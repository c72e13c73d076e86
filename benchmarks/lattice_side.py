"""One search of a lattice in a process of its own, with what it cost."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import sfumato as sf
from benchmarks.adult import SHARED
from sfumato.methods import metrics
from sfumato.methods.fulldomain.branching import dive
from sfumato.methods.fulldomain.progress import Watch
from sfumato.methods.fulldomain.walking import in_order
from sfumato.methods.preparation import prepared_for

FULL = {
    "fnlwgt": sf.intervals(10_000, 50_000, 100_000, 500_000, low=0, high=1_500_000),
    "education-num": sf.intervals(1, 2, 4, 8, low=1, high=16),
    "capital-gain": sf.intervals(1000, 5000, 10_000, 50_000, low=0, high=99_999),
    "capital-loss": sf.intervals(100, 500, 1000, 2000, low=0, high=4999),
    "hours-per-week": sf.intervals(5, 10, 20, 40, low=1, high=99),
    "relationship": sf.hierarchy_file(SHARED / "hierarchies_arx_full15" / "adult_full_hierarchy_relationship.csv"),
}


def searched(asked: dict[str, Any]) -> dict[str, float]:
    """Reads, prepares, searches twice; CPU seconds of the second search, and what it found."""
    people, rules = _full() if asked.get("full") else _nine(Path(asked["source"]), asked.get("sensitive"))
    need: list[Any] = [sf.KAnonymity(5)]
    if "t" in asked:
        need.append(sf.TCloseness(asked["t"], on=asked["sensitive"]))
    if "l" in asked:
        need = [sf.LDiversity(asked["l"], on=asked["sensitive"], kind="entropy")]
    metric = metrics.parse(asked.get("metric", "loss"))
    method = sf.Lattice(
        metric=metric,
        max_suppressed=asked.get("limit", 0.04),
        recode=asked.get("recode", "global"),
        time_limit=asked.get("time_limit"),
    )
    prepared = prepared_for(people, method, need, rules)
    for _ in range(1 if asked.get("full") else 2):
        started = time.process_time()
        found = method.search(prepared, need)
        best = found.best
        if asked.get("every"):
            for node in in_order(found.nodes.space):
                found.nodes.scored(node)
        cpu = time.process_time() - started
    if asked.get("full"):
        greedy = dive(type(found.nodes)(found.nodes.judge, found.nodes.scorer), Watch(None, None))
        print(
            f"greedy {greedy.score if greedy else None}, found {best.score}, gap {best.gap},"
            f" {found.nodes.space.n_nodes} nodes"
        )
    return {
        "cpu": cpu,
        "score": float(best.score) if isinstance(best.score, float) else -1.0,
        "looked": found.nodes.n_looked,
        "distinct": len(found.nodes.space.n),
    }


def _nine(source: Path, sensitive: str | None) -> tuple[Any, dict[str, Any]]:
    rules = {
        path.stem.removeprefix("adult_hierarchy_").replace("-", "_"): sf.hierarchy_file(path)
        for path in sorted((SHARED / "hierarchies_arx").glob("*.csv"))
    }
    quasi = [name for name in rules if name != sensitive]
    return sf.read(source).roles(quasi=quasi, sensitive=[sensitive] if sensitive else []), rules


def _full() -> tuple[Any, dict[str, Any]]:
    people = sf.read(SHARED / "adult_full.parquet")
    quasi = [column.name for column in people.schema if column.name != "split"]
    files = {path.stem.removeprefix("adult_hierarchy_"): path for path in (SHARED / "hierarchies_arx").glob("*.csv")}
    rules = {name: sf.hierarchy_file(files[name]) for name in quasi if name in files}
    return people.roles(quasi=quasi), {**rules, **FULL}
