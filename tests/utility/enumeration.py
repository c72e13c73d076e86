"""Slow twins: every world of a tiny release, written out, and measures by their definition over them."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from sfumato.contracts import Promise, Recipe
from sfumato.data.codec import Domain
from sfumato.data.schema import Column, Schema
from sfumato.releases.anatomized import Anatomized
from sfumato.releases.generalized import Generalized

Row = tuple[int, ...]
World = tuple[Row, ...]
COLUMNS = ("age", "town", "pay")
DOMAINS = {
    "age": Domain("integer", pa.array([20, 21, 22, 23]), complete=True),
    "town": Domain("text", pa.array(["a", "b", "c"]), region="set", complete=True),
    "pay": Domain("integer", pa.array([1, 2, 3])),
}
SCHEMA = Schema(
    (Column("age", "integer", "quasi"), Column("town", "text", "quasi"), Column("pay", "integer", "sensitive"))
)
RECIPE = Recipe("none", {}, promises=(Promise("k-anonymity", {"k": 2}, None, {"k": 2}),))


def codes(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int32)


def generalized(n_suppressed: int = 0) -> Generalized:
    """Two groups of two and three rows; the whole of every domain is used."""
    return Generalized(
        "people",
        SCHEMA,
        DOMAINS,
        low={"age": codes([0, 2]), "town": codes([0, 1])},
        high={"age": codes([1, 3]), "town": codes([0, 2])},
        group=np.array([0, 0, 1, 1, 1]),
        exact={"pay": codes([0, 1, 1, 2, 2])},
        recipe=RECIPE,
        n_suppressed=n_suppressed,
    )


def anatomized() -> Anatomized:
    """Two groups of two and three rows."""
    return Anatomized(
        "people",
        SCHEMA,
        DOMAINS,
        slots={"age": codes([0, 1, 2, 3, 3]), "town": codes([0, 0, 1, 2, 2])},
        slot_group=np.array([0, 0, 1, 1, 1]),
        values={"pay": codes([0, 1, 1, 2, 2])},
        value_group=np.array([0, 0, 1, 1, 1]),
        recipe=replace(RECIPE, promises=(Promise("group-size", {"k": 2}, None, {"k": 2}),)),
    )


def worlds_of(release: Generalized | Anatomized) -> list[World]:
    """All worlds, equally likely, as rows of codes in column order."""
    return list(_cells(release) if isinstance(release, Generalized) else _matchings(release))


def _cells(release: Generalized) -> Iterator[World]:
    options: list[list[Row]] = []
    for i, group in enumerate(release.group):
        ranges = [range(release.low[c][group], release.high[c][group] + 1) for c in ("age", "town")]
        options.append([(*row, int(release.exact["pay"][i])) for row in itertools.product(*ranges)])
    anything = list(itertools.product(*[range(DOMAINS[c].size) for c in COLUMNS]))
    options += [anything] * release.n_suppressed
    yield from itertools.product(*options)


def _matchings(release: Anatomized) -> Iterator[World]:
    parts: list[list[World]] = []
    for group in np.unique(release.slot_group):
        slots = [i for i, g in enumerate(release.slot_group) if g == group]
        values = [int(release.values["pay"][i]) for i, g in enumerate(release.value_group) if g == group]
        left = [(int(release.slots["age"][i]), int(release.slots["town"][i])) for i in slots]
        parts.append(
            [tuple((*a, b) for a, b in zip(left, order, strict=True)) for order in itertools.permutations(values)]
        )
    for chosen in itertools.product(*parts):
        yield tuple(row for part in chosen for row in part)


def expected_share(worlds: list[World], row: Row) -> float:
    """Mean share of rows equal to one row."""
    return float(np.mean([world.count(row) / len(world) for world in worlds]))


def divergence(truth: World, worlds: list[World]) -> float:
    """KL of the original's rows from the expected shares."""
    share = {row: n / len(truth) for row, n in Counter(truth).items()}
    return sum(p * math.log(p / expected_share(worlds, row)) for row, p in share.items())


def counts(worlds: list[World], keeps: Callable[[Row], bool]) -> list[int]:
    """The count in every world."""
    return [sum(map(keeps, world)) for world in worlds]


def possible_leaves(worlds: list[World], column: int) -> list[int]:
    """How many different codes each row's cell takes over the worlds (rows keep their place in ours)."""
    return [len({world[i][column] for world in worlds}) for i in range(len(worlds[0]))]
