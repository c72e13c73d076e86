"""`sfumato advise`: which parameters of a model a table can meet at all, before anything is published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from sfumato.utility.proximity_advice import ProximityAdvice


def advise(
    model: Annotated[Literal["proximity"], typer.Argument(help="The model: proximity.")],
    source: Annotated[str, typer.Argument(help="CSV or Parquet; - for standard input.")],
    on: Annotated[str, typer.Option(help="The numeric column.")],
    epsilon: Annotated[str | None, typer.Option(help="Length on both sides of a number.")] = None,
    m: Annotated[int | None, typer.Option("--m", min=1, help="At most 1/m of a group is near a number.")] = None,
    relative: Annotated[bool, typer.Option("--relative", help="ε is a share of each number, 0 to 1.")] = False,
    project: Annotated[Path | None, typer.Option(help="Project file: how the table is read.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the advice as JSON.")] = False,
) -> None:
    """Which ε and m proximity can have: the pair asked, the largest m for ε, the bound of ε for m, and all others.

    Exit 4 when the asked pair is not achievable by any grouping of the whole table.
    """
    from sfumato import desk
    from sfumato.cli.output import Progress, emit, emit_json, readable
    from sfumato.cli.project import read_project
    from sfumato.declared import exact
    from sfumato.errors import ParameterError

    reading: dict[str, Any] = dict(read_project(project).reading()) if project else {}
    try:
        length = None if epsilon is None else exact(epsilon)
    except (ValueError, ArithmeticError):
        raise ParameterError("--epsilon is a number, such as 4500, 0.1 or 1/3.") from None
    with Progress() as progress, readable(source) as path:
        progress("reading")
        table = desk.read(path, **reading)
        progress("looking for what can be met")
        found = desk.advise_proximity(table, on, epsilon=length, m=m, relative=relative)
    if json:
        emit_json(found.json())
    else:
        for line in _lines(found):
            emit(line)
    found.refuse_unachievable()


def _lines(found: ProximityAdvice) -> list[str]:
    lines = [f"{found.column}: {found.n_rows:,} rows"]
    if found.largest_m is not None:
        lines.append(f"largest m for this ε: {found.largest_m} (at most {found.maxsize} rows near on one side of one)")
    if found.epsilon_supremum is not None:
        lines.append(f"for this m, ε must be below {found.epsilon_supremum:g}")
    if found.achievable:
        lines.append("the pair is achievable")
    return [*lines, "", found.frontier.listing(100)]
