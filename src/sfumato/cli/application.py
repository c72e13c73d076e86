"""The command with its verbs, each imported only when it is called or asked for its own help."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.completion import get_completion_inspect_parameters
from typer.core import TyperGroup

from sfumato.cli import REGISTERED, exits

PLAIN = {"rich_markup_mode": None, "add_completion": False, "pretty_exceptions_enable": False}
SUMMARY = dict(REGISTERED)
COMPLETE = "_SFUMATO_COMPLETE"


class Verbs(TyperGroup):
    """A group whose commands are listed from the register and loaded one by one."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the register's order."""
        return list(SUMMARY)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of one verb; its module is imported now."""
        return _command(cmd_name) if cmd_name in SUMMARY else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """An unknown verb names the nearest ones."""
        if args and args[0] not in SUMMARY:
            ctx.fail(exits.unknown("verb", args[0], SUMMARY))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list in --help, without importing any verb."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(REGISTERED))

    def invoke(self, ctx: Any) -> Any:
        """Run a verb; every error becomes words on stderr and its exit code."""
        with exits.said():
            return super().invoke(ctx)


def run() -> None:
    """Entry point of the `sfumato` command."""
    raise SystemExit(main())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give back the exit code."""
    # Libraries' warnings are not for the person at the keyboard, and could quote a cell.
    warnings.simplefilter("ignore")
    try:
        found = _application().main(
            args=None if arguments is None else list(arguments), prog_name="sfumato", standalone_mode=False
        )
    except Exception as error:
        return exits.usage(error)
    code = found if isinstance(found, int) else exits.OK
    return exits.flushed(code)


def _application() -> Any:
    app = typer.Typer(cls=Verbs, no_args_is_help=True, **PLAIN)  # type: ignore[arg-type]
    app.callback()(_sfumato)
    if COMPLETE in os.environ:
        # Registers the shells as a side effect; --install-completion, which would do it too, is not offered.
        get_completion_inspect_parameters()
    return typer.main.get_command(app)


def _command(name: str) -> Any:
    app = typer.Typer(**PLAIN)  # type: ignore[arg-type]
    app.command(name, no_args_is_help=False)(getattr(import_module(f"sfumato.cli.{name}"), name))
    return typer.main.get_command(app)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"sfumato {version('sfumato')}")
        raise typer.Exit


def _sfumato(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Publish tables about people together with the set of original tables they could have come from.

    Exit codes: 0 ok, 1 unexpected, 2 usage, 3 requirement not met, 4 infeasible, 5 bad data, 6 limit reached.
    """
