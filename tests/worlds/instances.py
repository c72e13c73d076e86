"""Random tiny releases and row maps."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.codec import Domain
from sfumato.worlds.alternatives import Alternatives
from sfumato.worlds.bijection import Bijection
from sfumato.worlds.blocks import Blocks
from tests.oracles.worlds import (
    PlainFactor,
    PlainMap,
    Row,
    World,
    worlds_of_alternatives,
    worlds_of_bijection,
    worlds_of_blocks,
)

NAMES = ("a", "b", "c")


def domains(sizes: dict[str, int]) -> dict[str, Domain]:
    return {c: Domain("integer", pa.array(range(n))) for c, n in sizes.items()}


def codes(numbers: Any) -> Any:
    return np.array(numbers, dtype=np.int32)


def alternatives(random: Random, sizes: dict[str, int], most: int = 600) -> tuple[Alternatives, list[World]]:
    while True:
        n = random.randint(1, 4)
        weight = [random.randint(1, 2) for _ in range(n)]
        low: dict[str, list[int]] = {c: [] for c in sizes}
        high: dict[str, list[int]] = {c: [] for c in sizes}
        size = 1
        for t in range(n):
            for c, k in sizes.items():
                ends = sorted((random.randrange(k), random.randrange(k)))
                if random.random() < 0.4:
                    ends[1] = ends[0]
                low[c].append(ends[0])
                high[c].append(ends[1])
                size *= (ends[1] - ends[0] + 1) ** weight[t]
        if size <= most:
            break
    made = Alternatives(
        tuple(sizes),
        domains(sizes),
        {c: codes(x) for c, x in low.items()},
        {c: codes(x) for c, x in high.items()},
        np.array(weight),
    )
    return made, worlds_of_alternatives(low, high, weight)


def bijection(random: Random, sizes: dict[str, int], most: int = 600) -> tuple[Bijection, list[World]]:
    names = list(sizes)
    random.shuffle(names)
    cut = random.randint(1, len(names) - 1)
    while True:
        groups = [random.randint(1, 4) for _ in range(random.randint(1, 3))]
        if math.prod(math.factorial(n) for n in groups) <= most:
            break
    owner = [g * 3 + 1 for g, n in enumerate(groups) for _ in range(n)]
    slot_group, value_group = random.sample(owner, len(owner)), random.sample(owner, len(owner))
    slots = {c: [random.randrange(sizes[c]) for _ in owner] for c in names[:cut]}
    values = {c: [random.randrange(sizes[c]) for _ in owner] for c in names[cut:]}
    made = Bijection(
        tuple(sizes),
        domains(sizes),
        {c: codes(x) for c, x in slots.items()},
        np.array(slot_group),
        {c: codes(x) for c, x in values.items()},
        np.array(value_group),
    )
    return made, worlds_of_bijection(slots, slot_group, values, value_group)


def blocks(random: Random, sizes: dict[str, int]) -> tuple[Blocks, list[World]]:
    one, some = alternatives(random, sizes, 30)
    two, others = bijection(random, sizes, 24) if random.random() < 0.7 else alternatives(random, sizes, 20)
    return Blocks((one, two)), worlds_of_blocks(some, others)


def anything(random: Random) -> tuple[Any, list[World], dict[str, int]]:
    sizes = {c: random.randint(2, 4) for c in NAMES[: random.randint(2, 3)]}
    make = random.choice([alternatives, bijection, bijection, blocks])
    made, worlds = make(random, sizes)
    return made, worlds, sizes


def table(random: Random, names: tuple[str, ...], choices: list[Any]) -> Any:
    """A random function of the named columns' codes."""
    seen: dict[tuple[int, ...], Any] = {}

    def read(row: Row) -> Any:
        return seen.setdefault(tuple(row[c] for c in names), random.choice(choices))

    return read


def row_map(random: Random, names: tuple[str, ...], undecided: float = 0.0) -> PlainMap:
    free = list(names)
    random.shuffle(free)
    factors = []
    for _ in range(random.choice([0, 0, 1, 1, 2])):
        size = random.choice([1, 1, 1, 2])
        if len(free) <= size:
            break
        mine, free = tuple(free[:size]), free[size:]
        choices = [(True, True), (True, True), (False, True)]
        if undecided:
            choices += [(True, False), (False, False)] if random.random() < undecided * 2 else []
        factors.append(PlainFactor(mine, table(random, mine, choices)))
    core = tuple(free[: random.choice([0, 1, len(free), len(free)])])
    n_values = random.randint(0, 2)
    numbers = random.choice(
        [[0.0, 1.0, 2.0, 5.0], [-3.0, 0.5, 10.0, math.nan], [7.0], [1.0, math.nan], [0.1, 0.7, -0.4]]
    )
    keys: list[Any] = random.choice([["x"], ["x", None], ["x", "y"], ["x", "y", "z", None]])
    key_from = tuple(c for c in core if random.random() < 0.7)
    values_from = [tuple(c for c in core if random.random() < 0.7) for _ in range(n_values)]
    key = table(random, key_from, keys)
    values = [table(random, v, numbers) for v in values_from]
    told = table(random, core, [True, True, True, False] if random.random() < undecided else [True])

    def read(row: Row) -> tuple[Any, list[float], bool]:
        return key(row), [v(row) for v in values], told(row)

    return PlainMap(n_values, core, factors, read)


def bigger(random: Random, sizes: dict[str, int], n_groups: int = 30) -> Bijection:
    """A bijection too large to enumerate."""
    names = list(sizes)
    owner = [g for g in range(n_groups) for _ in range(random.choice([1, 3, 5, 9]))]
    columns = {c: codes([random.randrange(k) for _ in owner]) for c, k in sizes.items()}
    cut = max(1, len(names) // 2)
    return Bijection(
        tuple(names),
        domains(sizes),
        {c: columns[c] for c in names[:cut]},
        np.array(owner),
        {c: columns[c] for c in names[cut:]},
        np.array(owner),
    )
