"""`sfumato report`: the public report as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    package: Annotated[str, typer.Argument(help="Package directory or zip.")],
    output: Annotated[str, typer.Option("--output", "-o", help="HTML file to write; - for standard output.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write the public report of a package as one HTML page without scripts."""
    import sys

    from sfumato import desk
    from sfumato.cli.output import suggest, write_new
    from sfumato.report.html import public_report

    page = public_report(desk.open(package).release)
    if output == "-":
        sys.stdout.buffer.write(page)
        return
    write_new(Path(output), page, force)
    suggest(f"open {output} in a browser")
