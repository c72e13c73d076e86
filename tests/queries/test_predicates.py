"""Row predicates over both sides of permutation groups: mean, variance, bounds against Hoeffding's formula,
enumeration and SciPy's assignment."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from sfumato.chance import Seeded
from sfumato.data.codec import Domain
from sfumato.queries.ask import ask
from sfumato.queries.binding import lifted
from sfumato.queries.plan import make_plan
from sfumato.worlds.bijection import Bijection

Floats = NDArray[np.float64]
DOMAINS = {
    "age": Domain("integer", pa.array(range(20, 60)), missing=True),
    "sex": Domain("text", pa.array(["F", "M"]), missing=True, region="set"),
    "salary": Domain("integer", pa.array(range(10_000, 90_000, 5_000)), missing=True),
    "job": Domain("text", pa.array(["baker", "cook", "maker", "smith"]), region="set"),
}
QUASI, SENSITIVE = ("age", "sex"), ("salary", "job")
PREDICATES = [
    "age * 1000 < salary",
    "age * 1000 < salary OR sex = 'M'",
    "NOT (age * 1000 < salary)",
    "NOT (age > 30 AND salary > 40000)",
    "age > 30 OR salary > 40000",
    "(age > 30) = (salary > 40000)",
    "age IN (25, 30, 35, 40) AND job IN ('cook', 'smith') OR salary IN (20000, NULL)",
    "sex LIKE 'M%' OR job LIKE '%ker'",
    "job LIKE '%' || lower(sex) || '%'",
    "CASE WHEN sex = 'M' THEN salary > 30000 WHEN age > 40 THEN job = 'cook' ELSE salary IS NULL END",
    "salary BETWEEN age * 900 AND age * 1300",
    "coalesce(salary, 0) % age = 0",
    "age IS NULL OR salary IS NULL AND sex IS NOT NULL",
    "sex = 'F' AND salary > 30000 AND age < 45",
]
VALUES = ["salary - 1000 * age", "CASE WHEN sex = 'M' THEN salary ELSE -age END", "age * length(job)"]


def groups_of(chance: np.random.Generator, sizes: list[int]) -> tuple[Bijection, list[NDArray[np.int64]]]:
    """Random people in groups of these sizes, few distinct values in some; and the rows of each group."""
    owner = np.repeat(np.arange(len(sizes)), sizes).astype(np.int64)
    few = chance.random() < 0.4
    codes = {
        c: chance.integers(0, min(d.size, 4) if few else d.size, len(owner)).astype(np.int32)
        for c, d in DOMAINS.items()
    }
    made = Bijection(
        tuple(DOMAINS), DOMAINS, {c: codes[c] for c in QUASI}, owner, {c: codes[c] for c in SENSITIVE}, owner.copy()
    )
    return made, [np.flatnonzero(owner == g) for g in range(len(sizes))]


def matrices(worlds: Bijection, groups: list[NDArray[np.int64]], text: str) -> list[Floats]:
    """What DuckDB makes of every slot of a group with every value of it; NULL as NaN."""
    slots = pa.table({c: DOMAINS[c].decode(worlds.slots[c]) for c in QUASI} | {"g": worlds.slot_group})
    values = pa.table({c: DOMAINS[c].decode(worlds.values[c]) for c in SENSITIVE} | {"h": worlds.value_group})
    connection = duckdb.connect(config={"threads": "1"})
    connection.register("a", slots.append_column("i", pa.array(np.arange(len(slots)))))
    connection.register("b", values.append_column("j", pa.array(np.arange(len(values)))))
    found = connection.execute(f"SELECT i, j, CAST(({text}) AS DOUBLE) FROM a JOIN b ON g = h").fetchall()
    full = np.full((len(slots), len(values)), np.nan)
    for i, j, value in found:
        full[i, j] = np.nan if value is None else value
    return [full[np.ix_(rows, rows)] for rows in groups]


def indicator(matrix: Floats) -> Floats:
    """Kept only where true."""
    return np.nan_to_num(matrix)


def mean_and_variance(cells: Floats) -> tuple[float, float]:
    """E = Σ c / n, Var = Σ d² / (n − 1) with d = c − row mean − column mean + mean (Hoeffding 1951)."""
    n = len(cells)
    centred = cells - cells.mean(axis=0) - cells.mean(axis=1)[:, None] + cells.mean()
    return float(cells.sum() / n), float((centred**2).sum() / (n - 1)) if n > 1 else 0.0


def assigned(cells: Floats) -> tuple[float, float]:
    """Least and largest Σ c over matchings."""
    ends = [cells[linear_sum_assignment(cells, maximize=most)].sum() for most in (False, True)]
    return float(ends[0]), float(ends[1])


def law_of(parts: list[Floats]) -> dict[float, Fraction]:
    """The law of the total by going through every matching of every group."""
    law: dict[float, Fraction] = {0.0: Fraction(1)}
    for cells in parts:
        n = len(cells)
        mine: dict[float, Fraction] = {}
        ways = list(itertools.permutations(range(n)))
        for way in ways:
            total = float(cells[np.arange(n), list(way)].sum())
            mine[total] = mine.get(total, Fraction(0)) + Fraction(1, len(ways))
        merged: dict[float, Fraction] = {}
        for (x, p), (y, q) in itertools.product(law.items(), mine.items()):
            merged[x + y] = merged.get(x + y, Fraction(0)) + p * q
        law = merged
    return law


def variance(worlds: Bijection, text: str, summed: bool) -> float:
    """The variance of a query's only additive aggregate."""
    plan = make_plan(lifted(text, ("data",), tuple(worlds.columns)), DOMAINS)
    _, covariance = worlds.outcomes(plan).moments([(0 if summed else -1, summed)])
    return float(covariance[0, 0, 0])


def answer(worlds: Bijection, text: str) -> dict[str, Any]:
    (row,) = ask(worlds, text, quantiles=(0.1, 0.5, 0.9), n_worlds=50, chance=Seeded(1)).rows()
    return row


def ends_of(row: dict[str, Any]) -> tuple[Any, Any]:
    return row.get("x__lo", row["x"]), row.get("x__hi", row["x"])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("where", PREDICATES)
def test_counts_equal_formula_and_enumeration(where: str, seed: int) -> None:
    chance = np.random.default_rng([seed, PREDICATES.index(where)])
    worlds, groups = groups_of(chance, [[5, 3, 1], [6, 2], [4, 4, 3]][seed])
    parts = [indicator(cells) for cells in matrices(worlds, groups, where)]
    row = answer(worlds, f"SELECT count(*) AS x FROM data WHERE {where}")
    law = law_of(parts)
    moments = [mean_and_variance(cells) for cells in parts]
    expected = sum(m for m, _ in moments)
    spread = sum(v for _, v in moments)
    mean = sum(p * Fraction(x) for x, p in law.items())
    assert float(mean) == pytest.approx(expected, abs=1e-12)
    assert float(sum(p * (Fraction(x) - mean) ** 2 for x, p in law.items())) == pytest.approx(spread, abs=1e-9)
    assert row["x"] == pytest.approx(expected, abs=1e-9)
    assert variance(worlds, f"SELECT count(*) FROM data WHERE {where}", False) == pytest.approx(spread, abs=1e-9)
    assert ends_of(row) == (min(law), max(law))
    assert ends_of(row) == tuple(map(sum, zip(*map(assigned, parts), strict=True)))
    assert row["__how"] == "exact"


@pytest.mark.parametrize("where", PREDICATES)
def test_bounds_of_large_groups_are_assignments(where: str) -> None:
    chance = np.random.default_rng([9, PREDICATES.index(where)])
    worlds, groups = groups_of(chance, [60, 25, 8, 40, 1])
    parts = [indicator(cells) for cells in matrices(worlds, groups, where)]
    row = answer(worlds, f"SELECT count(*) AS x FROM data WHERE {where}")
    assert row["x"] == pytest.approx(sum(mean_and_variance(cells)[0] for cells in parts), abs=1e-9)
    assert ends_of(row) == tuple(map(sum, zip(*map(assigned, parts), strict=True)))
    spread = sum(mean_and_variance(cells)[1] for cells in parts)
    assert variance(worlds, f"SELECT count(*) FROM data WHERE {where}", False) == pytest.approx(spread, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("where", ["age * 1000 < salary", "sex = 'M' OR salary > 40000"])
def test_sums_of_mixed_values_are_assignments(value: str, where: str, seed: int) -> None:
    """Rows whose value is NULL, or which WHERE does not keep, add nothing."""
    worlds, groups = groups_of(np.random.default_rng([seed, VALUES.index(value)]), [[5, 3], [7], [40, 9], [60]][seed])
    kept = [indicator(cells) > 0 for cells in matrices(worlds, groups, where)]
    added = [
        np.where(keep, np.nan_to_num(c), 0.0) for keep, c in zip(kept, matrices(worlds, groups, value), strict=True)
    ]
    text = f"SELECT sum({value}) AS x FROM data WHERE {where}"
    row, moments = answer(worlds, text), [mean_and_variance(cells) for cells in added]
    assert variance(worlds, text, True) == pytest.approx(sum(v for _, v in moments), rel=1e-9)
    counted = [keep & ~np.isnan(c) for keep, c in zip(kept, matrices(worlds, groups, value), strict=True)]
    if sum(assigned(part.astype(float))[0] for part in counted) >= 1:  # something is added in every world
        assert row["x"] == pytest.approx(sum(m for m, _ in moments), rel=1e-9)
        assert ends_of(row) == pytest.approx(tuple(map(sum, zip(*map(assigned, added), strict=True))), rel=1e-12)
    else:
        least, most = map(sum, zip(*map(assigned, added), strict=True))
        lo, hi = ends_of(row)
        assert least - 1e-6 <= lo <= hi <= most + 1e-6


def _odds(law: dict[float, Fraction], q: float) -> float:
    below = Fraction(0)
    for x in sorted(law):
        below += law[x]
        if below >= Fraction(q) - Fraction(1, 10**12):
            return x
    raise AssertionError


@pytest.mark.parametrize("where", PREDICATES)
def test_quantiles_of_counts_are_near_the_law(where: str) -> None:
    """From the exact law where it is known, else from sampled worlds, never outside of the bounds."""
    worlds, groups = groups_of(np.random.default_rng([4, PREDICATES.index(where)]), [5, 4, 3])
    law = law_of([indicator(cells) for cells in matrices(worlds, groups, where)])
    found = ask(worlds, f"SELECT count(*) AS x FROM data WHERE {where}", quantiles=(0.1, 0.9), chance=Seeded(3))
    (row,) = found.rows()
    for q, name in ((0.1, "x__q10"), (0.9, "x__q90")):
        shown = row.get(name, row["x"])
        assert min(law) <= shown <= max(law)
        assert _odds(law, max(q - 0.05, 1e-9)) <= shown <= _odds(law, min(q + 0.05, 1.0))


def test_a_formula_that_is_a_little_wrong_is_noticed() -> None:
    """Treating values of one group as independent gives another variance."""
    worlds, groups = groups_of(np.random.default_rng(2), [6, 6])
    where = PREDICATES[0]
    shares = [indicator(cells).mean(axis=1) for cells in matrices(worlds, groups, where)]
    wrong = sum(float((share * (1 - share)).sum()) for share in shares)
    assert wrong > 0
    assert variance(worlds, f"SELECT count(*) FROM data WHERE {where}", False) != pytest.approx(wrong, rel=1e-3)
