"""Exit codes, and the one place where errors become words on stderr."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

import typer

from sfumato.errors import Incompatible, Infeasible, ParameterError, SchemaError, SfumatoError, Unanswerable

OK, UNEXPECTED, USAGE, NOT_MET, INFEASIBLE, BAD_DATA, LIMIT, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 130
MEANING = {
    OK: "it worked",
    UNEXPECTED: "an unexpected error: a defect, or the system refused something",
    USAGE: "wrong usage: an unknown option, a parameter out of range, a question that cannot be answered",
    NOT_MET: "a promise of the package does not hold on its bytes",
    INFEASIBLE: "no release can meet the requirement; the message names the nearest that can be met",
    BAD_DATA: "the data, the package or the project file is not what it must be",
    LIMIT: "a limit of time or memory was reached",
    INTERRUPTED: "interrupted",
}
CODES: tuple[tuple[type[BaseException], int], ...] = (
    (Infeasible, INFEASIBLE),
    (SchemaError, BAD_DATA),
    (ParameterError, USAGE),
    (Incompatible, USAGE),
    (Unanswerable, USAGE),
    (MemoryError, LIMIT),
    (TimeoutError, LIMIT),
    (KeyboardInterrupt, INTERRUPTED),
    (Exception, UNEXPECTED),
)
BROKEN_PIPE = 141


def code_of(error: BaseException) -> int:
    """The exit code of an error.

    >>> code_of(SchemaError("x")), code_of(Infeasible("x")), code_of(ValueError())
    (5, 4, 1)
    """
    return next(code for kind, code in CODES if isinstance(error, kind))


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """A message for a name nobody knows, with the nearest known ones.

    >>> unknown("verb", "verfy", ["verify", "query"])
    "There is no verb 'verfy'. Did you mean verify?"
    """
    names = list(known)
    near = get_close_matches(name, names, n=2, cutoff=0.7)
    advice = f"Did you mean {' or '.join(near)}?" if near else f"There are {', '.join(names)}."
    return f"There is no {what} {name!r}. {advice}"


@contextmanager
def said() -> Iterator[None]:
    """Turn errors into a message and an exit; usage errors of the parser pass through."""
    try:
        yield
    except BrokenPipeError:
        _drop_stdout()
        raise typer.Exit(BROKEN_PIPE) from None
    except KeyboardInterrupt:
        raise _interrupted() from None
    except (SfumatoError, MemoryError, TimeoutError) as error:
        print(f"Error: {_words(error)}", file=sys.stderr)
        raise typer.Exit(code_of(error)) from None
    except OSError as error:
        print(f"Error: {error.strerror or 'the system refused'}: {error.filename or ''}".rstrip(": "), file=sys.stderr)
        raise typer.Exit(UNEXPECTED) from None
    except Exception as error:
        if _is_usage(error) or isinstance(error, typer.Exit | typer.Abort):
            raise
        if isinstance(error, RuntimeError) and str(error) == "Query interrupted":  # DuckDB's word for Ctrl-C
            raise _interrupted() from None
        _unexpected(error)
        raise typer.Exit(UNEXPECTED) from None


def _interrupted() -> typer.Exit:
    print("Interrupted; nothing half-written is left.", file=sys.stderr)
    return typer.Exit(INTERRUPTED)


def usage(error: Exception) -> int:
    """Show a parser's error the parser's way; anything else is unexpected."""
    if _is_usage(error):
        error.show()  # type: ignore[attr-defined]
        return int(error.exit_code)  # type: ignore[attr-defined]
    if isinstance(error, typer.Abort):
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED
    _unexpected(error)
    return UNEXPECTED


def flushed(code: int) -> int:
    """Flush stdout; a reader that left early is no error of ours."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()
        return BROKEN_PIPE
    return code


def _words(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "Memory ran out. Take fewer rows or columns, or a machine with more memory."
    text = str(error) or type(error).__name__
    if isinstance(error, Infeasible) and error.nearest:
        nearest = ", ".join(f"{name} = {value:g}" for name, value in error.nearest.items())
        text = f"{text.rstrip()} Nearest feasible: {nearest}."
    return text


def _is_usage(error: BaseException) -> bool:
    return hasattr(error, "exit_code") and hasattr(error, "show")


def _unexpected(error: Exception) -> None:
    """Where it happened, never what the data was: the message of a foreign exception may quote a cell."""
    frames = traceback.extract_tb(error.__traceback__)
    where = next((one for one in reversed(frames) if "sfumato" in one.filename), None)
    place = f" at {os.path.basename(where.filename)}:{where.lineno}" if where else ""
    print(f"Error: unexpected {type(error).__name__}{place}. Please report it with this line.", file=sys.stderr)
    if os.environ.get("SFUMATO_DEBUG"):
        traceback.print_exception(error)


def _drop_stdout() -> None:
    """Point stdout nowhere, so that the interpreter's last flush does not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
