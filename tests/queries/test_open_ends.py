"""Open ends and unlisted values: hard bounds hold in every world, and estimates are those of the listed leaves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sfumato.chance import Seeded
from sfumato.queries.ask import ask
from tests.oracles.queries import Oracle, Shape, Stack, mean, normal, number
from tests.queries.agreement import CLOSE, same
from tests.queries.open_ended import release
from tests.queries.tiny import SHAPES, reads, shape

OURS = [
    *(one for one in SHAPES if not (one.limit or reads(one, "cost", "load"))),
    shape("count(*)", where="age >= 23"),
    shape("count(*)", where="age > 23 AND pay < 40"),
    shape("count(*)", where="age <= 20 OR born >= DATE '1986-04-13'"),
    shape("count(*)", where="age + pay > 40"),
    shape("sum(age)", where="age >= 22"),
    shape("avg(age)", where="pay > 10"),
    shape("min(age)", where="pay > 10"),
    shape("max(age)", where="age < 23"),
    shape("sum(pay)", where="age >= 23"),
    shape("count(age)", where="pay >= 40"),
    shape("count(*)", keys="age", where="pay <= 40"),
    shape("sum(pay)", keys="age"),
    shape("count(*)", keys="sex", having="max(age) >= 23"),
    shape("count(*)", keys="age >= 23"),
    shape("count(*)", keys="CASE WHEN pay > 40 THEN 'more' ELSE 'less' END"),
    shape("sum(CASE WHEN age >= 23 THEN 1 ELSE 0 END)"),
    shape("sum(CASE WHEN age > 30 THEN pay ELSE 1 END)", where="sex = 'M'"),
    shape("count(*) FILTER (WHERE age > 23)", keys="ok"),
]


def chance_of(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=[7, seed]))


def mismatches(worlds: Any, listed: Oracle, wide: Oracle, asked: Shape) -> list[str]:
    """What is wrong about our answer to one query; empty when nothing is."""
    answer = ask(worlds, asked.sql(), n_worlds=60, chance=Seeded(1))
    n_keys = len(asked.keys)
    about, hard = listed.truths(asked), wide.truths(asked)
    found: list[str] = []
    rows = {normal([row[f"o{i}"] for i in range(n_keys)]): row for row in answer.rows()}
    # A key beyond the list cannot be listed; those of the listed leaves must be there when any world has them.
    found += [f"missing row {key}" for key in about if hard[key].row > 0 and key not in rows]
    for key, row in rows.items():
        if key not in hard:
            # Where values are undecided a row may be shown that no world has, but not as attained.
            found += [f"row {key} exists in no world"] if row["__how"] in ("exact", "tight") else []
            continue
        likely = float(about[key].row) if key in about else 0.0
        if row["__how"] in ("exact", "interval") and not same(row["__row"], likely):
            found.append(f"__row {row['__row']} is not {likely}")
        for i, law in enumerate(hard[key].laws):
            told = about[key].laws[i] if key in about else {}
            found += [f"{key} {one}" for one in wrong(row, f"o{n_keys + i}", told, law)]
    return [f"{asked.sql()}: {one}" for one in found]


def wrong(row: dict[str, Any], name: str, listed: dict[Any, Any], wide: dict[Any, Any]) -> list[str]:
    """Bounds against all worlds, the estimate against those of listed leaves."""
    how, estimate, certain = row["__how"], row[name], f"{name}__lo" not in row
    lo, hi = (None if certain and estimate is None else row.get(f"{name}__{end}", estimate) for end in ("lo", "hi"))
    found = []
    if certain and sum(wide.values()) not in (0, 1):
        found.append(f"{name} is certain but NULL in some worlds only")
    if certain and (estimate is None) != (not wide):
        found.append(f"{name} is certainly {estimate} but has values {sorted(map(number, wide))}")
    low, high = (end if one is None else number(one) for one, end in ((lo, -math.inf), (hi, math.inf)))
    values = [number(value) for value in wide]
    if values and (low > min(values) + CLOSE or high < max(values) - CLOSE):
        found.append(f"{how}: {name} in [{low}, {high}] does not contain [{min(values)}, {max(values)}]")
    if values and how in ("exact", "tight") and not (same(low, min(values)) and same(high, max(values))):
        found.append(f"{how}: {name} in [{low}, {high}] but [{min(values)}, {max(values)}] in worlds")
    if how in ("exact", "interval") and listed and estimate is None:
        found.append(f"{how}: {name} is NULL, is {mean(listed)}")
    if how in ("exact", "interval") and listed and estimate is not None and not same(number(estimate), mean(listed)):
        found.append(f"{how}: {name} estimated {number(estimate)}, is {mean(listed)}")
    if estimate is not None and not low - CLOSE <= number(estimate) <= high + CLOSE:
        found.append(f"{how}: {name} estimated {estimate} outside of its bounds")
    return found


def compared(seeds: range, n_shapes: int) -> list[str]:
    """Mismatches of some releases on the same random shapes."""
    made = [release(chance_of(seed)) for seed in seeds]
    listed, wide = Stack([one.listed for one in made]), Stack([one.wide for one in made])
    found = []
    for i in chance_of(seeds[0] + 1_000_000).permutation(len(OURS))[:n_shapes]:
        for place, one in enumerate(made):
            about, hard = Oracle(one.listed, listed, place), Oracle(one.wide, wide, place)
            found += [f"seed {seeds[place]}: {text}" for text in mismatches(one.worlds, about, hard, OURS[i])]
    return found


@pytest.mark.parametrize("block", range(20))
def test_hard_bounds_hold_beyond_the_list(block: int) -> None:
    assert compared(range(10 * block, 10 * block + 10), 8) == []


@pytest.mark.slow
@pytest.mark.parametrize("block", range(50))
def test_hard_bounds_hold_beyond_the_list_on_every_shape(block: int) -> None:
    assert compared(range(10_000 + 20 * block, 10_020 + 20 * block), len(OURS)) == []
