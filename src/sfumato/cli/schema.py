"""`sfumato schema`: what scripts may rely on."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def schema(
    name: Annotated[str | None, typer.Argument(help="Which schema; the list when left out.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Also the list as JSON; a schema always is.")] = False,
) -> None:
    """JSON schemas: project (sfumato.toml), release, answer and whatever else --json prints; models and methods."""
    from sfumato.cli.exits import unknown
    from sfumato.cli.output import emit, emit_json
    from sfumato.errors import ParameterError

    found = known()
    if name is None:
        if json:
            emit_json(found)
        else:
            for one, title in found.items():
                emit(f"{one:<14} {title}")
        return
    if name not in found:
        raise ParameterError(unknown("schema", name, found))
    emit_json(one_schema(name))


def known() -> dict[str, str]:
    """Name of every schema and what it describes."""
    from sfumato.cli.published import PRINTED

    described = {name: title for name, (title, _) in PRINTED.items()}
    return {"project": "sfumato.toml", "requirements": "require = [...]", "methods": "method = {...}", **described}


def one_schema(name: str) -> dict[str, Any]:
    """The schema of this name."""
    if name == "project":
        from sfumato.cli.project import Project

        return Project.model_json_schema()
    if name in ("requirements", "methods"):
        return _declared(name)
    from sfumato.cli.published import schema_of_output

    return schema_of_output(name)


def _declared(room: str) -> dict[str, Any]:
    """Parameters of everything registered in a room, by the name used in the project file."""
    from sfumato.declared import schema_of

    if room == "methods":
        from sfumato.methods import all_methods

        return {kind.name: schema_of(kind) for kind in all_methods()}
    from sfumato.requirements import all_requirements

    return {kind.model: schema_of(kind) for kind in all_requirements()}
