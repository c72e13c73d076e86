"""Options that several verbs share, each with its environment variable: what is published, and what must hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Source = Annotated[str | None, typer.Argument(help="CSV or Parquet; - for standard input.")]
ProjectFile = Annotated[Path | None, typer.Option(help="Project file; sfumato.toml when no source is given.")]
Require = Annotated[
    list[str] | None,
    typer.Option(envvar="SFUMATO_REQUIRE", help="MODEL:PARAMETERS, e.g. l-diversity:l=2,on=diagnosis; repeatable."),
]
Quasi = Annotated[list[str] | None, typer.Option(envvar="SFUMATO_QUASI", help="Quasi-identifiers: a,b,c.")]
Sensitive = Annotated[list[str] | None, typer.Option(envvar="SFUMATO_SENSITIVE", help="Sensitive columns.")]
Plain = Annotated[list[str] | None, typer.Option(envvar="SFUMATO_PLAIN", help="Columns published as is.")]
Identifier = Annotated[list[str] | None, typer.Option(envvar="SFUMATO_IDENTIFIER", help="Never published.")]
Unit = Annotated[str | None, typer.Option(envvar="SFUMATO_UNIT", help="Column that names the person.")]
Rules = Annotated[
    list[str] | None,
    typer.Option(envvar="SFUMATO_HIERARCHY", help="COLUMN=KIND:PARAMETERS, e.g. age=intervals:5,10,20."),
]
Name = Annotated[str | None, typer.Option(envvar="SFUMATO_NAME", help="Name of the table in SQL.")]
Title = Annotated[str | None, typer.Option(envvar="SFUMATO_TITLE", help="Title of the package.")]
License = Annotated[str | None, typer.Option(envvar="SFUMATO_LICENSE", help="Licence of the package.")]
