"""All registered measures of a release against its original, as one table."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

import pyarrow as pa

from sfumato.chance import chance_of
from sfumato.data.codec import encode_into
from sfumato.data.tabular import Tabular
from sfumato.errors import ParameterError, SchemaError
from sfumato.utility import REGISTERED
from sfumato.utility.setting import Figure, Measure, Setting

if TYPE_CHECKING:
    from sfumato.contracts import Release, Worlds
    from sfumato.data.codec import Codes
    from sfumato.data.dataset import Dataset

COLUMNS = ("metric", "column", "value", "unit", "meaning")


def measure(
    release: Release,
    truth: Dataset,
    *,
    metrics: Iterable[str] | None = None,
    n_queries: int = 200,
    seed: int | None = None,
) -> Tabular:
    """Losses, workload error, width and coverage of the answers: one row a figure (metric, column, value, …).

    `metrics` names registered measures (all by default); `n_queries` random COUNT queries, repeatable with `seed`.
    """
    chosen = _chosen(metrics)
    worlds = release.worlds()
    setting = Setting(release, worlds, truth_on(worlds, truth), chance_of(seed), n_queries)
    return _table([figure for one in chosen for figure in one(setting)])


def _chosen(metrics: Iterable[str] | None) -> list[Measure]:
    known = {entry.rpartition(":")[2]: entry for entry in REGISTERED}
    wanted = list(known) if metrics is None else list(metrics)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ParameterError(f"Unknown measure {', '.join(unknown)}; the measures are {', '.join(known)}.")
    return [_load(known[name]) for name in wanted]


def _load(entry: str) -> Measure:
    module, _, name = entry.partition(":")
    found: Measure = getattr(import_module(module), name)
    return found


def _table(figures: list[Figure]) -> Tabular:
    rows = {name: [getattr(figure, name) for figure in figures] for name in COLUMNS}
    text = pa.string()
    kinds = {"metric": text, "column": text, "value": pa.float64(), "unit": text, "meaning": text}
    return Tabular(pa.table({name: pa.array(rows[name], kinds[name]) for name in COLUMNS}))


def truth_on(worlds: Worlds, truth: Dataset) -> dict[str, Codes]:
    """The original's codes on the release's domains; a value the release knows nothing of is −1."""
    missing = [name for name in worlds.columns if name not in truth.schema]
    if missing:
        raise SchemaError(
            f"The original lacks {', '.join(missing)}, which the release publishes. Give the table it was made from."
        )
    if truth.n_rows != worlds.n_rows:
        raise SchemaError(
            f"The original has {truth.n_rows} rows, the release speaks of {worlds.n_rows}. "
            "Give the table it was made from."
        )
    codes = {}
    for name in worlds.columns:
        table = encode_into(worlds.domains[name], truth.domains[name].with_missing())
        codes[name] = table[truth.codes[name]]
    return codes
