"""Small random releases made by hand, with promises computed by plain counting."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.contracts import Promise, Recipe
from sfumato.data.codec import Domain, Level
from sfumato.data.schema import Column, Schema
from sfumato.releases.anatomized import Anatomized
from sfumato.releases.generalized import Generalized

DISEASES = ["asthma", "bronchitis", "cholera", "diabetes", "epilepsy", "fever"]
CITIES = ["Aarhus", "Aalborg", "Bergen", "Bodo", "Cork", "Calgary"]


def age(missing: bool = False, open_ends: bool = True) -> Domain:
    """Ages 20 … 39 on a grid of fives."""
    cell = np.repeat(np.arange(4, dtype=np.int32), 5)
    if missing:
        cell = np.append(cell, np.int32(4))
    return Domain(
        "integer",
        pa.array(range(20, 40)),
        missing=missing,
        cell=cell.astype(np.int32),
        open_low=open_ends,
        open_high=open_ends,
        complete=True,
    )


def city(missing: bool = False) -> Domain:
    """Six cities under three letters."""
    node = np.repeat(np.arange(3, dtype=np.int32), 2)
    names = ("A*", "B*", "C*")
    if missing:
        node, names = np.append(node, np.int32(3)), (*names, "missing")
    levels = (Level(node.astype(np.int32), names),)
    return Domain("text", pa.array(CITIES), missing=missing, levels=levels, region="node", complete=True)


def sex(missing: bool = False) -> Domain:
    """Two values present, published as sets."""
    return Domain("text", pa.array(["f", "m"]), missing=missing, region="set")


def pay() -> Domain:
    """Amounts with two decimals, every grid step a cell."""
    from decimal import Decimal

    values = pa.array([Decimal(i) / 100 for i in range(100, 140)], pa.decimal128(10, 2))
    return Domain("decimal", values, region="range", complete=True)


def born(missing: bool = False) -> Domain:
    """Days of two years, cells of a month or so."""
    days = pa.array(np.arange(2000, 2080, dtype=np.int32)).cast(pa.date32())
    cell = (np.arange(80 + int(missing)) // 10).astype(np.int32)
    return Domain("date", days, missing=missing, cell=cell, open_high=True)


def disease() -> Domain:
    """Values present, sorted."""
    return Domain("text", pa.array(DISEASES), region="set")


def promises(
    classes: list[list[str]], on: str = "disease", alike: list[list[Any]] | None = None
) -> tuple[Promise, ...]:
    """k, distinct, entropy, frequency and recursive l, t and (α, k) that these classes of values just meet.

    `alike`: rows by equal quasi-identifiers where those are not the classes; then the size of the classes is promised
    beside.
    """
    total = Counter(v for one in classes for v in one)
    n = sum(total.values())
    size = min(len(one) for one in classes)
    k = size if alike is None else min(len(one) for one in alike)
    distinct = min(len(set(one)) for one in classes)
    worst = max(Fraction(max(Counter(one).values()), len(one)) for one in classes)
    entropies = [-sum(c / len(o) * math.log(c / len(o)) for c in Counter(o).values()) for o in classes]
    entropy = math.exp(min(entropies)) * (1 - 1e-12)
    t = max(sum(abs(Fraction(Counter(one)[v], len(one)) - Fraction(total[v], n)) for v in total) / 2 for one in classes)
    up = math.ceil(t * 1000) / 1000
    alpha = math.ceil(worst * 1000) / 1000
    found = [
        Promise("k-anonymity", {"k": k}, None, {"k": k}),
        Promise("l-diversity", {"l": distinct, "kind": "distinct"}, on, {"l": distinct}),
        Promise("t-closeness", {"t": up, "distance": "equal"}, on, {"t": float(t)}),
        Promise("alpha-k", {"alpha": alpha, "k": k}, on, {"alpha": float(worst), "k": k}),
        Promise("l-diversity", {"l": math.floor(1 / worst), "kind": "frequency"}, on, {"l": float(1 / worst)}),
    ]
    found += of_shares_and_risks(classes, on, sorted(len(one) for one in (classes if alike is None else alike)))
    if alike is not None:
        found.append(Promise("group-size", {"k": size}, None, {"k": size}))
    if entropy > 1:
        floor = math.floor(entropy * 100) / 100
        found.append(Promise("l-diversity", {"l": floor, "kind": "entropy"}, on, {"l": entropy}))
    return tuple(found)


def of_shares_and_risks(classes: list[list[str]], on: str, sizes: list[int]) -> list[Promise]:
    """δ, β, risks, estimated k-map and what a population would have to decide, just met."""
    total, n = Counter(v for one in classes for v in one), sum(map(len, classes))
    ratios = [Fraction(Counter(one)[v] * n, len(one) * total[v]) for one in classes for v in set(one)]
    delta = max(abs(math.log2(ratio)) for ratio in ratios)
    beta, mean, unique = max(ratios) - 1, Fraction(len(sizes), sum(sizes)), Fraction(sizes.count(1), sum(sizes))
    gain = math.floor(beta * 100 + 1) / 100
    told: dict[str, Any] = {"estimate": "zayatz", "population_size": 1}
    k_map = {"k": sizes[0], "population": 1, "estimate": "poisson", "significance": 0.01}
    return [
        Promise("delta-disclosure", {"delta": math.ceil(delta * 100 + 1) / 100}, on, {"delta": delta}),
        Promise("beta-likeness", {"beta": gain, "kind": "basic"}, on, {"beta": float(beta)}),
        Promise("average-risk", {"threshold": math.ceil(mean * 100) / 100}, None, {"threshold": float(mean)}),
        Promise("sample-uniqueness", {"threshold": math.ceil(unique * 100) / 100}, None, {"threshold": float(unique)}),
        Promise("population-uniqueness", {"threshold": math.ceil(unique * 100) / 100, **told}, None,
                {"threshold": float(unique)}),
        Promise("k-map", k_map, None, {"k": most_by_estimate(sizes[0])}),
        Promise("k-map", {"k": sizes[0], "population": "table"}, None, {"k": sizes[0] + 2}),
        Promise("delta-presence", {"low": 0.1, "high": 0.9}, None, {"low": 0.2, "high": 0.7}),
    ]  # fmt: skip


def of_proximity(classes: list[list[Any]], on: str) -> Promise:
    """At most 1/m of a class within 1 of any value, just met; missing values are near each other only."""
    crowds = [
        (len(one), max(sum(a is b if a is None or b is None else abs(a - b) <= 1 for b in one) for a in one))
        for one in classes
    ]
    m = min(size // most for size, most in crowds)
    return Promise("proximity", {"epsilon": 1, "m": m, "relative": False}, on, {"m": m})


def most_by_estimate(size: int) -> int:
    """Where all of a population is published, the largest k whose Poisson count stays two below the size."""
    from scipy.stats import poisson

    return max([size, *(k for k in range(1, 200) if poisson(k).cdf(size - 2) >= 0.99)])


def classes_of(keys: list[Any], values: list[str]) -> list[list[str]]:
    """Values by key."""
    found: dict[Any, list[str]] = defaultdict(list)
    for key, value in zip(keys, values, strict=True):
        found[key].append(value)
    return list(found.values())


def random_region(domain: Domain, rng: np.random.Generator) -> tuple[int, int]:
    """A publishable region."""
    a, b = sorted(rng.integers(0, domain.size, 2).tolist())
    if rng.random() < 0.5:
        b = a
    if domain.missing and rng.random() < 0.25:
        b = domain.size - 1
    low, high = domain.cover(np.array([a], np.int32), np.array([b], np.int32))
    return int(low[0]), int(high[0])


def generalized(rng: np.random.Generator, n_suppressed: int = 0, k: int = 2) -> Generalized:
    """A random generalized release in secret order, with promises that its published cells meet."""
    missing = bool(rng.random() < 0.6)
    domains = {
        "age": age(missing, bool(rng.random() < 0.5)),
        "city": city(missing),
        "sex": sex(missing),
        "pay": pay(),
        "born": born(missing),
        "disease": disease(),
        "note": Domain("integer", pa.array([7, 8, 9]), missing=missing),
    }
    quasi = [c for c in ("age", "city", "sex", "pay", "born") if rng.random() < 0.7] or ["age"]
    domains = {c: domains[c] for c in (*quasi, "disease", "note")}
    n_groups = int(rng.integers(1, 6))
    sizes = rng.integers(k, k + 4, n_groups)
    ids = rng.permutation(n_groups)
    group = rng.permutation(np.repeat(ids, sizes)).astype(np.int64)
    ends = {c: [random_region(domains[c], rng) for _ in range(n_groups)] for c in quasi}
    low = {c: np.array([e[0] for e in ends[c]], np.int32) for c in quasi}
    high = {c: np.array([e[1] for e in ends[c]], np.int32) for c in quasi}
    n = len(group)
    exact = {c: rng.integers(0, domains[c].size, n).astype(np.int32) for c in ("disease", "note")}
    keys = [tuple((low[c][g], high[c][g]) for c in quasi) for g in group]
    made = promises(classes_of(keys, domains["disease"].decode(exact["disease"]).to_pylist()))
    schema = Schema(
        (
            *(Column(c, domains[c].kind, "quasi") for c in quasi),
            Column("disease", "text", "sensitive"),
            Column("note", "integer", "plain"),
        )
    )
    recipe = Recipe("mondrian", {"cut": "nearest"}, made, notes=("Made by hand.",), title="Small release")
    return Generalized("small", schema, domains, low, high, group, exact, recipe, n_suppressed)


def anatomized(rng: np.random.Generator, n_suppressed: int = 0, k: int = 2) -> Anatomized:
    """A random anatomized release in secret order, with promises that its groups meet."""
    domains = {
        "age": age(bool(rng.random() < 0.4), bool(rng.random() < 0.5)),
        "city": city(),
        "disease": disease(),
        "stage": Domain("integer", pa.array([1, 2, 3]), missing=bool(rng.random() < 0.4)),
    }
    n_groups = int(rng.integers(1, 6))
    rows = np.repeat(rng.permutation(n_groups), rng.integers(k, k + 4, n_groups)).astype(np.int64)
    slot_group, value_group = rng.permutation(rows), rng.permutation(rows)
    slots = {c: rng.integers(0, domains[c].size, len(rows)).astype(np.int32) for c in ("age", "city")}
    values = {c: rng.integers(0, domains[c].size, len(rows)).astype(np.int32) for c in ("disease", "stage")}
    groups = classes_of(value_group.tolist(), domains["disease"].decode(values["disease"]).to_pylist())
    alike = classes_of(list(zip(slots["age"], slots["city"], strict=True)), slots["age"].tolist())
    stages = classes_of(value_group.tolist(), domains["stage"].decode(values["stage"]).to_pylist())
    made = (*promises(groups, alike=alike), of_proximity(stages, "stage"))
    roles: Any = {"age": "quasi", "city": "quasi", "disease": "sensitive", "stage": "sensitive"}
    schema = Schema(tuple(Column(c, domains[c].kind, roles[c]) for c in domains))
    recipe = Recipe("anatomy", {}, made, title=None, license="CC-BY-4.0")
    return Anatomized("small", schema, domains, slots, slot_group, values, value_group, recipe, n_suppressed)


def original_of(release: Generalized | Anatomized, rng: np.random.Generator) -> pa.Table:
    """A table that the release allows: a leaf of every region or a matching of every group, names and ids beside."""
    domains = release.domains
    n = release.n_rows
    if isinstance(release, Generalized):
        codes = {
            c: rng.integers(release.low[c][release.group], release.high[c][release.group] + 1) for c in release.low
        } | {c: release.exact[c] for c in release.exact}
    else:
        slots, values = np.argsort(release.slot_group, kind="stable"), rng.permutation(len(release.value_group))
        values = values[np.argsort(release.value_group[values], kind="stable")]
        codes = {c: v[slots] for c, v in release.slots.items()} | {c: v[values] for c, v in release.values.items()}
    free = {c: rng.integers(0, domains[c].size, release.n_suppressed) for c in codes}
    order = rng.permutation(n)
    columns = {c: domains[c].decode(np.concatenate([codes[c], free[c]])[order].astype(np.int32)) for c in codes}
    names = pa.array([f"Person Nr. {i:05d}x{int(rng.integers(10**9)):09d}" for i in range(n)])
    return pa.table({"name": names, **columns, "person": pa.array([f"u{i}" for i in range(n)])})
