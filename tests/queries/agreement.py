"""Compare an answer with what enumeration says."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from sfumato.chance import Seeded
from sfumato.queries.answer import Answer
from sfumato.queries.ask import ask
from tests.oracles.queries import Oracle, Shape, Truth, mean, normal, number, quantile

CLOSE = 1e-9


def same(a: float, b: float) -> bool:
    """Equal up to rounding."""
    return a == b or abs(a - b) <= CLOSE * max(1.0, abs(a), abs(b))


def mismatches(worlds: Any, oracle: Oracle, shape: Shape, seed: int = 1) -> list[str]:
    """What is wrong about our answer to one query; empty when nothing is."""
    answer = ask(worlds, shape.sql(), quantiles=(0.05, 0.5, 0.95), n_worlds=60, chance=Seeded(seed))
    truths = oracle.truths(shape)
    n_keys = len(shape.keys)
    found: list[str] = []
    rows = {normal([row[f"o{i}"] for i in range(n_keys)]): row for row in answer.rows()}
    if len(rows) != len(answer):
        found.append("a key appears twice")
    if not shape.limit:
        found += [f"missing row {key}" for key, truth in truths.items() if truth.row > 0 and key not in rows]
    for key, row in rows.items():
        if key not in truths:
            found.append(f"row {key} exists in no world")
            continue
        found += _row(row, truths[key], n_keys, exact_law=not shape.limit)
    found += wrong_covariances(answer, oracle, shape) if additive(shape) else []
    return [f"{shape.sql()}: {one}" for one in found]


def _row(row: dict[str, Any], truth: Truth, n_keys: int, exact_law: bool) -> list[str]:
    how = row["__how"]
    found = []
    if how in ("exact", "interval") and not same(row["__row"], float(truth.row)):
        found.append(f"__row {row['__row']} is not {float(truth.row)}")
    for i, law in enumerate(truth.laws):
        found += _output(row, f"o{n_keys + i}", law, how)
    return found


def _output(row: dict[str, Any], name: str, law: dict[Any, Any], how: str) -> list[str]:
    estimate = row[name]
    certain = f"{name}__lo" not in row
    lo = row[name] if certain else row[f"{name}__lo"]
    hi = row[name] if certain else row[f"{name}__hi"]
    if not law:
        return [] if estimate is None else [f"{name} is {estimate} but NULL in all worlds"]
    if certain and sum(law.values()) != 1:
        return [f"{name} is certain but NULL in some worlds only"]
    values = [number(value) for value in law]
    least, most = min(values), max(values)
    low = -math.inf if lo is None else number(lo)
    high = math.inf if hi is None else number(hi)
    found = []
    if how in ("exact", "tight") and not (same(low, least) and same(high, most)):
        found.append(f"{how}: {name} in [{low}, {high}] but [{least}, {most}] in worlds")
    if low > least or high < most:
        found.append(f"{how}: {name} in [{low}, {high}] does not contain [{least}, {most}]")
    if estimate is None and how in ("tight", "sampled"):
        return found  # NULL in every sampled world
    finite = {value: share for value, share in law.items() if math.isfinite(number(value))}
    if estimate is None and not finite:
        return found  # infinite in every world
    if estimate is None:
        return [*found, f"{name} is NULL but not in all worlds"]
    if how in ("exact", "interval") and not same(number(estimate), mean(finite)):
        found.append(f"{how}: {name} estimated {number(estimate)}, is {mean(finite)}")
    if not low <= number(estimate) <= high:
        found.append(f"{how}: {name} estimated {estimate} outside of its bounds")
    return found


def additive(shape: Shape) -> bool:
    """Is the only output one COUNT or SUM, so that covariances are known?"""
    one = shape.outputs[0]
    call = re.fullmatch(r"(count|sum|count_if)\([^()]*\)( FILTER \(.*\))?", one) is not None
    return len(shape.outputs) == 1 and call and not (shape.having or shape.limit or " - " in one)


def wrong_covariances(answer: Answer, oracle: Oracle, shape: Shape) -> list[str]:
    """Variances and covariances of the last column across rows, an empty sum as 0."""
    n_keys = len(shape.keys)
    keys = [normal([row[f"o{i}"] for i in range(n_keys)]) for row in answer.rows()]
    found = answer.covariance(f"o{n_keys}")
    chances = [ways / oracle.tiny.n for ways, _ in oracle.tiny.worlds]
    worlds_of = []
    for rows in oracle.in_each_world(shape, plain=True):
        told = {normal(row[:n_keys]): row[n_keys] for row in rows}
        worlds_of.append([number(told.get(key) or 0) for key in keys])
    drawn = np.array(worlds_of, dtype=float).reshape(len(chances), len(keys))
    centred = drawn - np.array(chances) @ drawn
    expected = (centred * np.array(chances)[:, None]).T @ centred
    near = np.abs(found - expected) <= CLOSE * np.maximum(1.0, np.abs(expected))
    return [] if near.all() else [f"covariance {found.tolist()} is not {expected.tolist()}"]


def wrong_quantiles(worlds: Any, oracle: Oracle, shape: Shape) -> list[str]:
    """Quantiles of a single COUNT, MIN or MAX from the exact law."""
    answer = ask(worlds, shape.sql(), quantiles=(0.05, 0.5, 0.95), n_worlds=60, chance=Seeded(1))
    n_keys, found = len(shape.keys), []
    truths = oracle.truths(shape)
    for row in answer.rows():
        law = truths[normal([row[f"o{i}"] for i in range(n_keys)])].laws[0]
        name = f"o{n_keys}"
        # A certain column has no quantiles beside it: it is its own.
        certain = f"{name}__lo" not in row
        for q, title in ((0.05, "q05"), (0.5, "q50"), (0.95, "q95")):
            shown = row[name] if certain else row[f"{name}__{title}"]
            if (shown is None) != (not law) or (law and not same(number(shown), quantile(law, q))):
                found.append(f"{shape.sql()}: {title} is {shown}, not {quantile(law, q) if law else None}")
    return found
