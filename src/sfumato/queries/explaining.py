"""What an answer says about itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.contracts import Worlds
    from sfumato.queries.answer import Shown
    from sfumato.queries.existing import Presence
    from sfumato.queries.over import Over


def notes_of(worlds: Worlds, over: Over, shown: Sequence[Shown], found: Presence) -> list[str]:
    """Route, basis and worth of every column, in plain lines."""
    lines = [
        f"Basis: {worlds.basis}; {worlds.n_rows} rows in every world.",
        "Bounds assume nothing beyond the release; estimates and quantiles hold under the basis.",
    ]
    lines.append(f"Computed on {worlds.n_types} row types and groups.")
    for one in shown:
        lines.append(f"{one.name}: {'certain' if not one.companions else 'uncertain'}; {one.route}.")
        if one.null > 0:
            lines.append(
                f"{one.name}: NULL with probability up to {one.null:.4g}; its figures are for worlds where it is not."
            )
    if over.keys.grouped:
        lines.append("A group that is not there counts 0 rows and has NULL for SUM, AVG, MIN and MAX.")
        n_elsewhere = over.figures.n_elsewhere() if _may_be_elsewhere(worlds, over) else 0
        if n_elsewhere:
            lines.append(f"Up to {n_elsewhere} rows may belong to groups that are not shown: nothing lists their keys.")
    lines.append(f"__row: {found.route}.")
    if over.lifted.having is not None:
        lines.append("HAVING decides __row; the other figures are of the group, whether or not HAVING keeps it.")
    question = over.lifted.question
    if question.limit is not None or question.offset:
        if not over.lifted.order and over.keys.grouped:
            lines.append("LIMIT without ORDER BY takes rows in the order of their keys.")
        lines.append("LIMIT shows the first rows by estimate; __row is the probability of being among the first.")
    domains = [worlds.domains[name] for name in over.reads]
    n_open = sum(1 for one in domains if one.open_low or one.open_high)
    if n_open:
        lines.append(
            f"{n_open} of the columns read have open ends: values beyond them are counted at the end in estimates, "
            "and widen bounds."
        )
    if any(one.between for one in domains):
        lines.append("Columns on a wide grid: estimates and quantiles take values at the ends of cells, bounds do not.")
    if any(one.withheld for one in domains):
        lines.append(
            "Values that are not published: estimates and quantiles take each mask for one value, bounds do not."
        )
    if over.figures.drawn:
        lines.append(f"{over.figures.n_drawn} worlds were sampled from the basis; another run draws others.")
    return lines


def _may_be_elsewhere(worlds: Worlds, over: Over) -> bool:
    return not all(worlds.domains[name].tells_all for name in over.reads)
