"""Small random originals and every registered method and requirement, for the laws."""

from __future__ import annotations

import datetime
from importlib import import_module
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.dataset import Dataset

HIERARCHIES: dict[str, Any] = {
    "age": sf.intervals(2, 4, 8, low=20, high=35),
    "zip": sf.masking(),
    "town": sf.groups({"north": ["Aa", "Bb"], "south": ["Cc", "Dd", "Ee"]}),
    "born": sf.dates("month", "year"),
}
QUASI = ("age", "zip", "town", "born")


def registered(room: str) -> list[type[Any]]:
    """The classes a room registers."""
    places = [entry.partition(":") for entry in import_module(room).REGISTERED]
    return [getattr(import_module(module), name) for module, _, name in places]


METHODS: list[Any] = [
    sf.Mondrian(),
    sf.Mondrian(cut="median"),
    sf.Mondrian(recoding="relaxed"),
    sf.Anatomy(),
    sf.Lattice(),
    sf.Lattice(max_suppressed=1),
    sf.Datafly(max_suppressed=0.5),
    sf.Samarati(max_suppressed=0),
    sf.Incognito(max_suppressed=0),
    sf.TopDownSpecialization(max_suppressed=0.5),
    sf.TopDownSpecialization(on="disease"),
    sf.BottomUpGeneralization(),
    sf.MDAV(),
    sf.MDAV(k=2, aggregate="mode"),
]
REQUIREMENTS: list[Any] = [
    sf.KAnonymity(2),
    sf.KAnonymity(3),
    sf.LDiversity(2, on="disease"),
    sf.LDiversity(2, on="disease", kind="entropy"),
    sf.LDiversity(2, on="disease", kind="recursive", c=2),
    sf.LDiversity(2, on="disease", kind="frequency"),
    sf.TCloseness(0.5, on="disease"),
    sf.TCloseness(0.5, on="pay", distance="ordered"),
    sf.TCloseness(0.6, on="disease", distance="hierarchical"),
    sf.AlphaK(0.7, 2, on="disease"),
    sf.DeltaDisclosure(1.5, on="disease"),
    sf.BetaLikeness(1, on="disease"),
    sf.BetaLikeness(2, on="disease", kind="enhanced"),
    sf.AverageRisk(0.5),
    sf.SampleUniqueness(0.3),
    sf.PopulationUniqueness(0.2, population_size=0.1),
    sf.PopulationUniqueness(0.2, population_size=1000),
    sf.KMap(3, population=0.1),
    sf.KMap(2, population=1000, estimate="zero-truncated-poisson"),
    sf.KE(2, 10, on="pay"),
    sf.VarianceControl(50, on="pay"),
    sf.MUnique(2, on="disease"),
    sf.Proximity(9, 2, on="pay"),
    sf.Proximity(0.5, 2, on="pay", relative=True),
    sf.Proximity(m=2, e1=0, e2=10, on="pay"),
]
# Those that read a population: only for methods that count one around their groups.
OF_POPULATIONS: list[Any] = [
    sf.DeltaPresence(0, 0.9, subset=[0, 1]),
    sf.KMap(2, population=sf.read(pa.table({"age": [20, 30], "town": ["Aa", "Bb"]}), name="everybody")),
]
# Lattices and baselines share their judge: three requirements each, of sizes, of shares, and against the whole table.
EVERY_REQUIREMENT = ("mondrian", "anatomy")
FEW: list[Any] = [REQUIREMENTS[0], REQUIREMENTS[3], REQUIREMENTS[7]]


# What a method that publishes quasi-identifiers as they are can promise something of.
PAIRS: list[tuple[Any, Any]] = [
    (m, r)
    for m in METHODS
    for r in (REQUIREMENTS if m.name in EVERY_REQUIREMENT else FEW)
    if m.coarsens or ((r.of_groups or not r.speaks_of_alike) and r.monotone(repeats=False))
]
# Looser and stricter parameters of the same model, with what they need beside.
LADDERS: list[list[Any]] = [
    [sf.KAnonymity(k) for k in (1, 2, 3, 5)],
    [sf.LDiversity(x, on="disease") for x in (1, 2, 3)],
    [sf.LDiversity(x, on="disease", kind="entropy") for x in (1, 1.5, 2, 2.5)],
    [sf.LDiversity(x, on="disease", kind="frequency") for x in (1, 1.5, 2, 3)],
    [sf.LDiversity(2, on="disease", kind="recursive", c=c) for c in (4, 3, 2, 1)],
    [sf.TCloseness(t, on="pay", distance="ordered") for t in (1, 0.6, 0.3, 0.1)],
    [sf.AlphaK(a, 2, on="disease") for a in (1, 0.8, 0.5, 0.4)],
    [sf.DeltaDisclosure(d, on="disease") for d in (3, 1.5, 1, 0.5)],
    [sf.BetaLikeness(b, on="disease") for b in (3, 1, 0.5)],
    [sf.BetaLikeness(b, on="disease", kind="enhanced") for b in (3, 1, 0.5)],
    [sf.AverageRisk(t) for t in (1, 0.5, 0.3, 0.2)],
    [sf.SampleUniqueness(t) for t in (1, 0.5, 0.2, 0)],
    [sf.PopulationUniqueness(t, estimate="zayatz", population_size=0.2) for t in (1, 0.5, 0.2, 0)],
    [sf.KMap(k, population=0.1) for k in (1, 2, 5, 40)],
    [sf.KMap(20, population=0.1, significance=s) for s in (0.5, 0.1, 0.01)],
    [sf.KE(k, 0, on="pay") for k in (1, 2, 3, 4)],
    [sf.KE(2, e, on="pay") for e in (0, 10, 15, 20, 25)],
    [sf.VarianceControl(t, on="pay") for t in (0, 20, "200/9", 25, 100)],
    [sf.MUnique(m, on="disease") for m in (1, 2, 3, 4)],
    [sf.Proximity(9, m, on="pay") for m in (1, 2, 3, 5)],
    [sf.Proximity(e, 2, on="pay") for e in (0, 10, 20)],
    [sf.Proximity(e, 2, on="pay", relative=True) for e in (0, 0.5, 1)],
    [sf.Proximity(m=2, e1=e, e2=10, on="pay") for e in (0, 10, 20)],
]


@st.composite
def tables(draw: st.DrawFn, least: int = 2, most: int = 6) -> pa.Table:
    """An original of a few rows with every kind of column and missing values."""
    n = draw(st.integers(least, most))

    def column(values: list[Any]) -> list[Any]:
        return [draw(st.sampled_from(values)) for _ in range(n)]

    return pa.table(
        {
            "age": pa.array(column([20, 21, 25, 30, 35]), pa.int64()),
            "zip": pa.array(column(["53715", "53703", "53706", None]), pa.string()),
            "town": pa.array(column(["Aa", "Bb", "Cc", "Dd"]), pa.string()),
            "born": pa.array(column([datetime.date(1976, 1, 21), datetime.date(1976, 2, 28), None]), pa.date32()),
            "disease": pa.array(column(["flu", "cold", "hiv", None]), pa.string()),
            "pay": pa.array(column([10, 20, 30, None]), pa.int64()),
        }
    )


def people(table: pa.Table, quasi: tuple[str, ...] = ("age", "town")) -> Dataset:
    """The table with its roles."""
    return sf.read(table, name="people").roles(quasi=quasi, sensitive=["disease", "pay"])


def of_persons(table: pa.Table, person: list[int], quasi: tuple[str, ...] = ("age", "town")) -> Dataset:
    """The table with a column that says whose row each is."""
    several = table.append_column("person", pa.array(person[: table.num_rows], pa.int64()))
    return sf.read(several, name="people").roles(quasi=quasi, sensitive=["disease", "pay"], unit="person")


def rules(quasi: tuple[str, ...]) -> dict[str, Any]:
    """The hierarchies of these columns."""
    return {name: HIERARCHIES[name] for name in quasi}
