"""A release in a few lines for a terminal, and the same as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sfumato.report.wording import figures, number, promise_line

if TYPE_CHECKING:
    from sfumato.contracts import Release


def release_lines(release: Release, notes: bool = True) -> list[str]:
    """What a release is and what it promises; counts and parameters only."""
    sizes = release.groups().column(1).to_numpy()
    suppressed = release.n_rows - int(sizes.sum())
    recipe = release.recipe
    method = f"{recipe.method} ({figures(recipe.parameters)})" if recipe.parameters else recipe.method
    smallest = number(int(sizes.min(initial=release.n_rows)))
    return [
        f"{release.name}: {number(release.n_rows)} rows by {method}, {release.form}",
        f"  {number(len(sizes))} groups, smallest {smallest} rows, {number(suppressed)} rows suppressed",
        *(f"  {promise_line(promise)}" for promise in recipe.promises),
        *(f"  note: {text}" for text in recipe.notes if notes),
    ]


def release_json(release: Release) -> dict[str, Any]:
    """The same facts for machines."""
    sizes = release.groups().column(1).to_numpy()
    recipe = release.recipe
    return {
        "release": release.name,
        "form": release.form,
        "method": {"name": recipe.method, "parameters": dict(recipe.parameters)},
        "n_rows": release.n_rows,
        "n_groups": len(sizes),
        "n_suppressed": release.n_rows - int(sizes.sum()),
        "unit": recipe.unit,
        "promises": [
            {
                "model": promise.model,
                "parameters": dict(promise.parameters),
                "on": promise.on,
                "achieved": dict(promise.achieved),
            }
            for promise in recipe.promises
        ],
        "notes": list(recipe.notes),
    }
