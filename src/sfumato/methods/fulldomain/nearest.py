"""The nearest parameter that a lattice can meet under the suppression that was allowed, by halving."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sfumato.declared import exact
from sfumato.methods.fulldomain.cuts import Judge
from sfumato.methods.fulldomain.nodes import Nodes
from sfumato.methods.fulldomain.progress import Watch
from sfumato.methods.fulldomain.searching import search

if TYPE_CHECKING:
    from sfumato.contracts import Requirement
    from sfumato.data.dataset import Dataset

STEPS, SECONDS, MOST_NODES = 8, 10.0, 20_000
"""Halvings, seconds for all of them, and the largest lattice for which they are made."""


def nearest_met(
    dataset: Dataset, nodes: Nodes, requirements: tuple[Requirement, ...], met: dict[str, float]
) -> tuple[str, float] | None:
    """One parameter, as near to what was asked as halving finds with the others as they are; None when not one
    parameter alone is to be loosened. `met`: what the whole table as one group meets.
    """
    if nodes.space.n_nodes > MOST_NODES:
        return None
    loosened = [
        (requirement, one.name)
        for requirement in requirements
        for one in fields(requirement)  # type: ignore[arg-type]
        if one.name in met and _asked(requirement, one.name) not in (None, exact(met[one.name]))
    ]
    if len(loosened) != 1:
        return None
    requirement, name = loosened[0]
    watch, found = Watch(SECONDS, None), None
    good, bad = exact(met[name]), _asked(requirement, name)
    assert bad is not None
    whole = isinstance(getattr(requirement, name), int) or (bad.denominator == good.denominator == 1)
    for _ in range(STEPS if not whole else 64):
        value = _between(good, bad, whole=whole)
        if value is None or watch.over():
            break
        asked = [replace(r, **{name: value}) if r is requirement else r for r in requirements]  # type: ignore[type-var]
        if _is_met(dataset, nodes, asked, watch):
            good, found = value, value
        else:
            bad = value
    return None if found is None else (name, float(found))


def _is_met(dataset: Dataset, nodes: Nodes, asked: list[Any], watch: Watch) -> bool:
    judge = Judge(dataset, asked, nodes.space, Fraction(nodes.judge.most, max(nodes.space.n_rows, 1)))
    judge = judge.settling() if judge.reads_totals else judge
    return search(Nodes(judge, nodes.scorer), Watch(max(watch.left, 0.01), None)).best is not None


def _asked(requirement: Requirement, name: str) -> Fraction | None:
    value = getattr(requirement, name, None)
    return exact(value) if isinstance(value, int | Fraction) and not isinstance(value, bool) else None


def _between(good: Fraction, bad: Fraction, *, whole: bool) -> Any:
    """Half way, with four decimals; None when nothing lies between."""
    middle = (good + bad) / 2
    if whole:
        step = int(middle) if good < bad else -int(-middle // 1)
        return step if min(good, bad) < step < max(good, bad) else None
    value = Fraction(round(middle * 10_000), 10_000)
    return value if min(good, bad) < value < max(good, bad) else None
