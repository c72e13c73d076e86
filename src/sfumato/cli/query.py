"""`sfumato query`: one SELECT, an answer with hard bounds."""

from __future__ import annotations

from typing import Annotated

import typer


def query(
    package: Annotated[str, typer.Argument(help="Package directory or zip.")],
    sql: Annotated[
        str | None, typer.Option("--command", "-c", help="One SELECT; standard input when left out.")
    ] = None,
    q: Annotated[str | None, typer.Option("--q", help="Quantiles, e.g. .05,.95.")] = None,
    format: Annotated[str, typer.Option("--format", "-f", help="duckbox, json, jsonl, csv or markdown.")] = "duckbox",
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say on stderr how each column was computed.")] = False,
    worlds: Annotated[int, typer.Option(min=1, help="Sampled worlds where no closed form is known.")] = 1000,
    seed: Annotated[int | None, typer.Option(help="Makes sampled worlds repeatable.")] = None,
) -> None:
    """Ask a package one SELECT: estimates with hard bounds.

    x__lo and x__hi hold in every original the release allows; __row is the probability that the row exists.
    """
    import sys

    from sfumato import desk
    from sfumato.cli.exits import unknown
    from sfumato.cli.output import Progress, emit, note, suggest
    from sfumato.errors import ParameterError
    from sfumato.queries.formats import FORMATS

    chosen = "json" if json else format
    if chosen not in FORMATS:
        raise ParameterError(unknown("format", chosen, FORMATS))
    text = sys.stdin.read() if sql is None or sql == "-" else sql
    with Progress() as progress:
        progress("asking")
        answer = desk.open(package).sql(text, quantiles=quantiles(q), n_worlds=worlds, seed=seed)
    emit(FORMATS[chosen](answer))
    if open_bounds := answer.unbounded()[:3]:
        note(f"NULL in {', '.join(open_bounds)} means unbounded: values beyond an open end are possible.")
    if explain:
        note(answer.explain())
        suggest(f"sfumato verify {package}")
    else:
        suggest("add --explain to see how each number was found")


def quantiles(text: str | None) -> tuple[float, ...]:
    """Quantiles as written in an option.

    >>> quantiles(".05, .95"), quantiles(None)
    ((0.05, 0.95), ())
    """
    from sfumato.errors import ParameterError

    try:
        found = tuple(float(part) for part in (text or "").split(",") if part.strip())
    except ValueError:
        found = (-1.0,)
    if any(not 0 <= one <= 1 for one in found):
        raise ParameterError("Quantiles are numbers between 0 and 1, comma-separated, for example --q .05,.95.")
    return found
