"""What a search found, in lines for a terminal and as JSON; levels and column names, no values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.report.lattice_facts import first_number
from sfumato.report.lattice_marks import score
from sfumato.report.risk_words import percent
from sfumato.report.spelling import spec_of
from sfumato.report.wording import number

if TYPE_CHECKING:
    from sfumato.searching import Found, Solution


def found_rows(found: Found, *, errors: bool = True) -> list[dict[str, str]]:
    """One line a candidate, as it is read."""
    n_rows = found.job.truth.n_rows
    best = [one.best.levels for _, one in found.lattices]
    return [
        {
            "rank": str(rank),
            "method": spec_of(one.method),
            "score": "–" if one.score is None else score(first_number(one.score)),
            "proven": proven(one) if one.levels in best else "–",
            "suppressed": f"{number(one.suppressed)} ({percent(one.suppressed / n_rows if n_rows else 0.0)})",
            "risk": percent(one.risk),
            **({"loss": number(one.figures["loss"])} if errors else {}),
            **({"query error": number(one.figures["query_error"])} if errors else {}),
            "levels": levels(one.levels),
        }
        for rank, one in enumerate(found.listed(errors=errors), 1)
    ]


def found_json(found: Found, *, errors: bool = True) -> dict[str, Any]:
    """Everything as plain lists and numbers."""
    n_rows = found.job.truth.n_rows
    return {
        "name": found.job.dataset.name,
        "n_rows": n_rows,
        "candidates": [
            {"rank": rank, **_candidate(one, n_rows, errors)} for rank, one in enumerate(found.listed(errors=errors), 1)
        ],
        "refused": [{"method": spec, "reason": str(reason)} for spec, reason in found.refused.items()],
        "lattices": [
            {
                "method": spec,
                "nodes": one.nodes.space.n_nodes,
                "looked_at": one.nodes.n_looked,
                "allowed": sum(node.allowed for node in one.nodes.known.values()),
                "proven": one.ended.optimal,
            }
            for spec, one in found.lattices
        ],
    }


def _candidate(one: Solution, n_rows: int, errors: bool) -> dict[str, Any]:
    return {
        "method": {"name": one.method.name, "parameters": dict(one.method.parameters())},
        "score": list(one.score) if isinstance(one.score, tuple) else finite(one.score),
        "proven": one.optimal if one.levels is not None else None,
        "gap": finite(one.gap),
        "suppressed": one.suppressed,
        "suppressed_share": one.suppressed / n_rows if n_rows else 0.0,
        "groups": one.groups,
        "risk": one.risk,
        "loss": one.figures["loss"] if errors else None,
        "query_error": one.figures["query_error"] if errors else None,
        "levels": None if one.levels is None else dict(one.levels),
    }


def finite(found: float | None) -> float | None:
    """The number; None where JSON has no word for it.

    >>> finite(0.5), finite(float("inf"))
    (0.5, None)
    """
    return found if found is not None and math.isfinite(found) else None


def levels(found: Mapping[str, int] | None) -> str:
    """Columns that are raised, with their levels.

    >>> levels({"age": 2, "sex": 0, "zip": 1}), levels({"age": 0}), levels(None)
    ('age:2 zip:1', 'none raised', '–')
    """
    if found is None:
        return "–"
    return " ".join(f"{name}:{level}" for name, level in found.items() if level) or "none raised"


def proven(one: Solution) -> str:
    """Whether no other node of the lattice scores lower, or by how much one could."""
    if one.optimal:
        return "optimal"
    return "no" if one.gap is None else f"gap {score(one.gap)}"
