"""Random releases of both forms with a sampler of their worlds of its own, and queries once as SQL, once as NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.contracts import Recipe
from sfumato.data.codec import Domain
from sfumato.data.schema import Column, Schema
from sfumato.releases.anatomized import Anatomized
from sfumato.releases.generalized import Generalized
from sfumato.worlds.alternatives import Alternatives
from sfumato.worlds.bijection import Bijection
from sfumato.worlds.blocks import Blocks

Generator = np.random.Generator
Tables = dict[str, np.ndarray]
DOMAINS = {
    "age": Domain("integer", pa.array(range(20, 60)), complete=True),
    "sex": Domain("text", pa.array(["F", "M"]), region="set", complete=True),
    "pay": Domain("integer", pa.array([-20, -5, 0, 3, 10, 25, 40, 80, 160, 250]), complete=True),
}
SCHEMA = Schema(
    (Column("age", "integer", "quasi"), Column("sex", "text", "quasi"), Column("pay", "integer", "sensitive"))
)
RECIPE = Recipe("none", {})
QUASI = ("age", "sex")


@dataclass(frozen=True)
class Piece:
    """Worlds of a release, and a sampler of W of them that shares nothing with ours: codes (W, n) per column."""

    form: str
    worlds: Any
    draw: Callable[[Generator, int], Tables]


def codes(chance: Generator, name: str, n: int) -> np.ndarray:
    """Cells as they come, small codes oftener than large ones."""
    return np.floor(DOMAINS[name].size * chance.random(n) ** 1.3).astype(np.int32)


def regions(chance: Generator, name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Random runs of codes, some of a single code."""
    ends = np.sort(np.stack([codes(chance, name, n), codes(chance, name, n)]), axis=0)
    return ends[0], np.where(chance.random(n) < 0.2, ends[0], ends[1])


def within(low: Mapping[str, np.ndarray], high: Mapping[str, np.ndarray]) -> Callable[[Generator, int], Tables]:
    """Every cell anywhere in its region."""

    def draw(chance: Generator, n_worlds: int) -> Tables:
        shape = (n_worlds, len(next(iter(low.values()))))
        return {c: chance.integers(low[c], high[c] + 1, size=shape) for c in low}

    return draw


def matched(slots: Mapping[str, np.ndarray], values: Mapping[str, np.ndarray], group: np.ndarray) -> Any:
    """Values in random order inside each group; groups are runs."""

    def draw(chance: Generator, n_worlds: int) -> Tables:
        order = np.argsort(group + chance.random((n_worlds, len(group))), axis=1)
        fixed = {c: np.broadcast_to(column, order.shape) for c, column in slots.items()}
        return fixed | {c: column[order] for c, column in values.items()}

    return draw


def generalized(chance: Generator, n: int) -> Piece:
    """Groups of rows with regions for age and sex, and exact pay."""
    group = np.sort(chance.integers(0, max(1, n // 4), n))
    group = np.unique(group, return_inverse=True)[1].astype(np.int64)
    n_groups = int(group.max()) + 1
    ends = {c: regions(chance, c, n_groups) for c in QUASI}
    low, high = ({c: ends[c][side] for c in QUASI} for side in (0, 1))
    pay = codes(chance, "pay", n)
    made = Generalized("people", SCHEMA, DOMAINS, low, high, group, {"pay": pay}, RECIPE)
    lows, highs = ({c: end[c][group] for c in QUASI} | {"pay": pay} for end in (low, high))
    return Piece("generalized", made.worlds(), within(lows, highs))


def anatomized(chance: Generator, n: int) -> Piece:
    """Groups of three to six rows whose pay is permuted."""
    group = np.repeat(np.arange(n), chance.integers(3, 7, n))[:n].astype(np.int64)
    slots, values = {c: codes(chance, c, n) for c in QUASI}, {"pay": codes(chance, "pay", n)}
    made = Anatomized("people", SCHEMA, DOMAINS, slots, group, values, group, RECIPE)
    return Piece("anatomized", made.worlds(), matched(slots, values, group))


def both(chance: Generator, n: int) -> Piece:
    """A permuted part beside rows known up to regions, some of them suppressed."""
    first = n // 2
    group = np.repeat(np.arange(n), chance.integers(2, 7, n))[:first].astype(np.int64)
    slots, values = {c: codes(chance, c, first) for c in QUASI}, {"pay": codes(chance, "pay", first)}
    one = Bijection(tuple(DOMAINS), DOMAINS, slots, group, values, group)
    ends = {c: regions(chance, c, n - first) for c in DOMAINS}
    low, high = ({c: ends[c][side].astype(np.int32) for c in DOMAINS} for side in (0, 1))
    for c, domain in DOMAINS.items():
        low[c][: n // 10], high[c][: n // 10] = 0, domain.size - 1
    two = Alternatives(tuple(DOMAINS), DOMAINS, low, high, np.ones(n - first, dtype=np.int64))
    draws = matched(slots, values, group), within(low, high)

    def draw(chance: Generator, n_worlds: int) -> Tables:
        parts = [one(chance, n_worlds) for one in draws]
        return {c: np.concatenate([part[c] for part in parts], axis=1) for c in DOMAINS}

    return Piece("both", Blocks((one, two)), draw)


FORMS = (generalized, anatomized, both)


@dataclass(frozen=True)
class Question:
    """COUNT, SUM or AVG of one column under a conjunction."""

    measure: str
    column: str
    ages: tuple[int, int]
    sex: str | None
    least: int | None

    @property
    def sql(self) -> str:
        """The query."""
        argument = "*" if self.measure == "count" else self.column
        text = f"SELECT {self.measure}({argument}) AS x FROM data WHERE age BETWEEN {self.ages[0]} AND {self.ages[1]}"
        text += f" AND sex = '{self.sex}'" if self.sex else ""
        return text + (f" AND pay >= {self.least}" if self.least is not None else "")

    def on(self, worlds: Tables) -> np.ndarray:
        """The answer in each of W worlds, NaN for NULL."""
        values = {c: DOMAINS[c].values.to_numpy(zero_copy_only=False)[codes] for c, codes in worlds.items()}
        kept = (values["age"] >= self.ages[0]) & (values["age"] <= self.ages[1])
        kept &= True if self.sex is None else values["sex"] == self.sex
        kept &= True if self.least is None else values["pay"] >= self.least
        count = kept.sum(axis=1).astype(np.float64)
        if self.measure == "count":
            return count
        total = np.where(count > 0, np.where(kept, values[self.column], 0).sum(axis=1), np.nan)
        return total / np.where(count > 0, count, 1) if self.measure == "avg" else total


def question(chance: Generator, measure: str) -> Question:
    """A random one that no release of these answers exactly; a broad range of ages keeps enough rows."""
    low = int(chance.integers(20, 42))
    column = ("pay", "age")[chance.integers(2)]
    least = None if column == "pay" and measure != "count" else int(chance.choice([-5, 0, 10, 25]))
    return Question(
        measure, column, (low, low + int(chance.integers(10, 25))), (None, "F", "M")[chance.integers(3)], least
    )
