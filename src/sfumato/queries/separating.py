"""Aggregates of one query told apart where an open end that one of them reads would widen the bounds of all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from sfumato.queries.plan import Plan, make_plan
from sfumato.queries.rows import columns_of
from sfumato.worlds.apart import Apart
from sfumato.worlds.part import Part

if TYPE_CHECKING:
    from sfumato.contracts import Worlds
    from sfumato.outcomes import Outcomes
    from sfumato.queries.lift import Argument, Lifted


def outcomes_of(worlds: Worlds, query: Lifted, plan: Plan) -> Outcomes:
    """What the plan's row map becomes; every argument by itself where some may be undecided."""
    whole = worlds.outcomes(plan)
    wanted = {aggregate.j for aggregate in query.aggregates} | ({-1} if plan.keys.grouped else set())
    if len(wanted) < 2 or not any(_may_be_undecided(worlds, one) for one in query.arguments):
        return whole
    # Outcomes of another make stay together: sound, only wider.
    if not isinstance(whole, Part):
        return whole
    found: dict[int, Part] = {}
    for j in sorted(wanted):
        arguments = (query.arguments[j],) if j >= 0 else ()
        one = worlds.outcomes(make_plan(replace(query, arguments=arguments), worlds.domains, plan.keys))
        found[j] = cast("Part", one)
    return Apart(len(plan.keys), whole, found).widened(len(plan.keys))


def _may_be_undecided(worlds: Worlds, argument: Argument) -> bool:
    """Does it read a column whose cells may hold more than the listed values?"""
    names = [name for tree in (argument.tree, argument.condition) if tree is not None for name in columns_of(tree)]
    return not all(worlds.domains[name].tells_all for name in names)
