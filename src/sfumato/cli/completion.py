"""`sfumato completion`: the script a shell reads."""

from __future__ import annotations

from typing import Annotated

import typer

SHELLS = ("bash", "zsh", "fish")


def completion(shell: Annotated[str, typer.Argument(help="bash, zsh or fish.")]) -> None:
    """Print the completion script of a shell.

    bash: sfumato completion bash >> ~/.bashrc
    """
    from typer import completion as shells

    from sfumato.cli.exits import unknown
    from sfumato.cli.output import emit
    from sfumato.errors import ParameterError

    if shell not in SHELLS:
        raise ParameterError(unknown("shell", shell, SHELLS))
    script: str = shells.get_completion_script(  # type: ignore[attr-defined]
        prog_name="sfumato", complete_var="_SFUMATO_COMPLETE", shell=shell
    )
    emit(script)
