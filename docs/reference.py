"""Reference pages from declarations: there is no second list of models, methods, hierarchies, verbs or errors."""

from __future__ import annotations

import contextlib
import inspect
import io
from collections.abc import Iterator
from typing import Any

from sfumato import errors
from sfumato.cli import REGISTERED as VERBS
from sfumato.cli import exits
from sfumato.cli.application import main
from sfumato.data.hierarchy import registered as hierarchies
from sfumato.declared import schema_of
from sfumato.methods import all_methods
from sfumato.methods.metrics import all_metrics
from sfumato.requirements import all_requirements
from sfumato.utility import REGISTERED as MEASURES


def pages() -> dict[str, str]:
    """File name without ending → Markdown."""
    return {
        "reference-requirements": _declared("Requirements", _REQUIREMENTS, all_requirements(), "model"),
        "reference-methods": _declared("Methods", _METHODS, all_methods(), "name"),
        "reference-metrics": _declared("Metrics", _METRICS, all_metrics(), "metric"),
        "reference-hierarchies": _hierarchies(),
        "reference-measures": _measures(),
        "reference-cli": _cli(),
        "reference-errors": _errors(),
    }


# A docstring line at least this long goes on in the next one; a shorter one ends where it ends.
WRAPPED = 88

_REQUIREMENTS = (
    "A requirement says what must hold in every published group. In Python they combine with `&`; on the command line "
    "`--require` is repeated; in `sfumato.toml` they are the list `require`."
)
_METHODS = "A method makes a release that meets every requirement, or says which nearest parameters it could meet."
_METRICS = (
    "A metric says how much a node of a generalization lattice loses: `Lattice(metric=…)`. Definitions are those of "
    "ARX, so that scores can be compared."
)


def _declared(title: str, words: str, kinds: tuple[type[Any], ...], key: str) -> str:
    parts = [f"# {title}", words]
    for kind in kinds:
        parts += [f"## {kind.__name__}", f"`{getattr(kind, key)}` on the command line and in `sfumato.toml`."]
        parts += [_prose(kind), _parameters(kind)]
    return "\n\n".join(part for part in parts if part)


def _hierarchies() -> str:
    parts = [
        "# Hierarchies",
        "How the values of a quasi-identifier become coarser. In `sfumato.toml` the key inside `hierarchy = { … }`; on "
        "the command line `--hierarchy COLUMN=KEY:PARAMETERS`.",
    ]
    for keyword, kind in hierarchies().items():
        parts += [f"## {keyword}", _prose(kind)]
    return "\n\n".join(parts)


def _measures() -> str:
    from importlib import import_module

    parts = ["# Measures", "What `sfumato measure` and `sf.measure` print, always against the original."]
    for entry in MEASURES:
        module, _, name = entry.partition(":")
        parts += [f"## {name}", _prose(getattr(import_module(module), name))]
    return "\n\n".join(parts)


def _cli() -> str:
    parts = ["# Command line", "Data goes to standard output, messages and progress to standard error."]
    for verb, words in VERBS:
        parts += [f"## sfumato {verb}", words, f"```text\n{_help(verb)}\n```"]
    return "\n\n".join(parts)


def _errors() -> str:
    parts = [
        "# Errors and exit codes",
        "Every error says what was asked, what was found and what to do. None ever shows a value of a cell.",
        "| exit code | meaning |\n|---|---|\n"
        + "\n".join(f"| {code} | {said} |" for code, said in exits.MEANING.items()),
    ]
    for kind in _error_kinds():
        parts += [f"## {kind.__name__}", _prose(kind)]
    return "\n\n".join(parts)


def _error_kinds() -> Iterator[type[Any]]:
    for kind in vars(errors).values():
        if inspect.isclass(kind) and issubclass(kind, errors.SfumatoError):
            yield kind


def _help(verb: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as said:
        main([verb, "--help"])
    return said.getvalue().rstrip()


def _prose(thing: Any) -> str:
    """A docstring as Markdown: its words, then its example as a block."""
    words, _, example = inspect.cleandoc(thing.__doc__ or "").partition(">>>")
    block = f"\n\n```pycon\n>>>{example}\n```" if example else ""
    lines = [line + ("  " if len(line) < WRAPPED else "") for line in words.strip().splitlines()]
    return "\n".join(lines) + block


def _parameters(kind: type[Any]) -> str:
    """A table of the declared parameters."""
    schema = schema_of(kind)
    needed = schema.get("required", ())
    rows = [
        f"| `{name}` | {_type(one)} | {'required' if name in needed else repr(one.get('default'))} |"
        for name, one in schema.get("properties", {}).items()
    ]
    return "| parameter | values | default |\n|---|---|---|\n" + "\n".join(rows) if rows else "No parameters."


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"] if one.get("format") != "fraction")
    ranges = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = ", ".join(f"{sign} {schema[key]}" for key, sign in ranges.items() if key in schema)
    kind = {"null": "nothing", "string": "text"}.get(schema.get("type", ""), schema.get("type", "number"))
    return f"{kind} {limits}".strip()
