"""Every promise of guarantees.json, counted again from the published cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.contracts import Finding
from sfumato.verify.cells import Cells
from sfumato.verify.models import Group, Unknown, distance_of, fraction, l_holds, l_reached, share_of
from sfumato.verify.models_of_numbers import FIGURES as FIGURES_OF_NUMBERS
from sfumato.verify.models_of_numbers import OF_NUMBERS, of_numbers
from sfumato.verify.models_of_proximity import of_proximity
from sfumato.verify.models_of_risk import FIGURES, OF_SHARES, OF_SIZES, of_shares, of_sizes, plausible, undecidable
from sfumato.verify.wildcard import k_wildcard

SIZES = ("k-anonymity", "group-size")


@dataclass(frozen=True)
class Judged:
    """Groups of one sensitive column and what judging them needs: sizes in units, order and levels of the values.

    `alike`: units per published combination of quasi-identifiers; in anatomy those are not its groups.
    """

    groups: Sequence[Group]
    sizes: Sequence[int]
    total: Group
    order: Sequence[Any]
    levels: Sequence[Mapping[Any, Any]]
    alike: Sequence[int]


Evidence = Callable[[str | None], Judged]


def evidence_of_cells(cells: Cells) -> Evidence:
    """Groups as the published cells show them, every row a person."""

    def look(on: str | None) -> Judged:
        groups = cells.groups(on)
        sizes, total = [sum(group.values()) for group in groups], sum(groups, Counter())
        return Judged(groups, sizes, total, *order_and_levels(cells, on), cells.alike())

    return look


def order_and_levels(cells: Cells, on: str | None) -> tuple[list[Any], list[dict[Any, Any]]]:
    """The values of a sensitive column in their order, missing last, and the node of each on every level."""
    said = cells.said(on) if on is not None else None
    if said is None:
        return [], []
    table = cells.table_of(said)
    values = table.column(said.name).unique().to_pylist()
    present = sorted(value for value in values if value is not None) + ([None] if None in values else [])
    if said.name not in cells.leaves:
        return present, []
    leaves = cells.leaves[said.name]
    by_text = {as_text(value): value for value in present}
    order = [by_text.get(text) if text is not None else None for text in leaves.texts]
    levels = []
    for labels in leaves.levels[: int(said.domain.get("levels", 0))]:
        levels.append(
            {value: (label, value if label is None else "") for value, label in zip(order, labels, strict=True)}
        )
    return order, levels


def as_text(value: Any) -> str:
    """A value as model/domains.parquet writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    return f"{value:f}" if type(value).__name__ == "Decimal" else str(value)


def check_promises(cells: Cells, document: Any, evidence: Evidence, counted: str) -> list[Finding]:
    """One finding a promise; `counted` says on what it was counted."""
    findings = []
    for one in document["guarantees"]:
        name = name_of(one)
        try:
            findings.append(_check(cells, one, evidence, f"promise {name}", counted))
        except (Unknown, KeyError, TypeError, ValueError, ArithmeticError):
            findings.append(Finding(f"promise {name}", False, "guarantees.json states it in a way that is not known."))
    return findings


def _check(cells: Cells, one: Mapping[str, Any], evidence: Evidence, check: str, counted: str) -> Finding:
    on = one["on"]
    if not speaks_of_published(cells, one):
        return Finding(check, False, "It speaks of a column that is not published as sensitive.")
    judged = evidence(on)
    if not judged.groups:
        return Finding(check, True, "No rows are published, so no group can fail.")
    if why := undecidable(one["model"], one["parameters"]):
        return undecided(judged, one, check, why)
    holds, reached = judge_one(judged, one)
    if not holds:
        return Finding(check, False, f"It does not hold ({counted}).", _figures(reached))
    if not _achieved(one["achieved"], reached):
        return Finding(check, False, f"It holds, but what it says was achieved was not ({counted}).", _figures(reached))
    figures = _figures(reached)
    if one["model"] == "k-anonymity" and (wild := k_wildcard(cells)) is not None:
        figures["k_wildcard"] = wild
    return Finding(check, True, f"It holds in {len(judged.groups)} groups ({counted}).", figures)


def undecided(judged: Judged, one: Mapping[str, Any], check: str, why: str) -> Finding:
    """A promise that the published cells cannot decide, or that contradicts itself."""
    if not plausible(judged.alike, one):
        return Finding(check, False, "What it says was achieved is not what it asks.")
    return Finding(check, True, f"Not decided: {why}. Nothing published contradicts it.", decided=False)


def speaks_of_published(cells: Cells, one: Mapping[str, Any]) -> bool:
    """A promise that reads values names a sensitive column; one about sizes names none."""
    if one["model"] in (*SIZES, *OF_SIZES):
        return one["on"] is None
    said = cells.said(one["on"]) if one["on"] is not None else None
    return said is not None and said.role == "sensitive"


def reached_keys(model: str, parameters: Mapping[str, Any]) -> set[str]:
    """The figures that go with a promise."""
    if model == "l-diversity":
        return {"l", "c"} if parameters.get("kind") == "recursive" else {"l"}
    of_values = {"alpha-k": {"alpha", "k"}, "t-closeness": {"t"}, "proximity": {"m"}}
    return {**of_values, **FIGURES, **FIGURES_OF_NUMBERS}.get(model, {"k"})


def judge_one(judged: Judged, one: Mapping[str, Any]) -> tuple[bool, dict[str, Any]]:
    """Whether a promise holds, and the figures counted again: k on rows that look alike, group-size on groups."""
    model, parameters = one["model"], one["parameters"]
    if model in SIZES:
        k = min(judged.alike if model == "k-anonymity" else judged.sizes)
        return k >= fraction(parameters["k"]) >= 1, {"k": k}
    if model == "l-diversity":
        if fraction(parameters["l"]) < 1:
            raise Unknown("an l below 1")
        holds = l_holds(judged.groups, judged.sizes, parameters)
        return holds, l_reached(judged.groups, judged.sizes, parameters) if holds else {}
    if model == "alpha-k":
        share, k = share_of(judged.groups, judged.sizes), min(judged.alike)
        holds = share <= fraction(parameters["alpha"]) <= 1 and k >= fraction(parameters["k"]) >= 1
        return holds, {"alpha": share, "k": k}
    if model == "t-closeness":
        kind = parameters.get("distance", "equal")
        t = distance_of(judged.groups, judged.total, kind, judged.order, judged.levels)
        return t <= fraction(parameters["t"]) <= 1, {"t": t}
    if model == "proximity":
        return of_proximity(judged.groups, judged.sizes, parameters)
    if model in OF_SHARES:
        return of_shares(judged.groups, judged.total, one)
    if model in OF_NUMBERS:
        return of_numbers(judged.groups, judged.sizes, one)
    if model in OF_SIZES:
        return of_sizes(judged.alike, one)
    raise Unknown("a model")


def _achieved(told: Mapping[str, Any], reached: Mapping[str, Any]) -> bool:
    """What is stated as achieved is what was counted, and all of it."""
    return set(told) == set(reached) and all(_close(fraction(told[key]), Fraction(reached[key])) for key in told)


def _close(told: Fraction, counted: Fraction) -> bool:
    """Equal up to the rounding of a float, and never better than counted by more than that."""
    return abs(told - counted) <= Fraction(1, 10**9) + abs(counted) * Fraction(1, 10**9)


def _figures(reached: Mapping[str, Any]) -> dict[str, float]:
    return {key: value if isinstance(value, int) else float(value) for key, value in reached.items()}


def name_of(one: Any) -> str:
    """Model, parameters and column of a promise, which are public."""
    if not isinstance(one, dict):
        return "that is no promise"
    said = ", ".join(f"{key}={value}" for key, value in dict(one.get("parameters") or {}).items())
    return f"{one.get('model')}({said})" + (f" on {one['on']}" if one.get("on") else "")
