"""Loss of information by generalization and suppression, one short file each; the definitions are those of ARX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.methods.metrics.metric import Metric

REGISTERED = (
    "sfumato.methods.metrics.loss:Loss",
    "sfumato.methods.metrics.entropy:NonUniformEntropy",
    "sfumato.methods.metrics.precision:Precision",
    "sfumato.methods.metrics.height:Height",
    "sfumato.methods.metrics.discernibility:Discernibility",
    "sfumato.methods.metrics.class_size:AverageClassSize",
    "sfumato.methods.metrics.ambiguity:AmbiguityMetric",
    "sfumato.methods.metrics.classification:ClassificationMetric",
    "sfumato.methods.metrics.kl_divergence:KLDivergence",
)


NAMED = {"anyOf": [{"type": "string"}, {"type": "object"}], "description": "A metric by name, or {metric = …, …}."}
"""The schema of a parameter that is a metric."""


def named(given: object) -> object:
    """A metric from its name or table, where that is what was given."""
    return parse(given) if isinstance(given, str | Mapping) else given


def all_metrics() -> tuple[type[Metric], ...]:
    """Every registered metric, in the order of the register."""
    from sfumato.declared import load

    return tuple(load(entry) for entry in REGISTERED)


def parse(spec: str | Mapping[str, Any]) -> Metric:
    """A metric from text (`loss:gs_factor=0.3`) or from a table with its `metric`.

    >>> parse("precision:monotonic=true").parameters()
    {'monotonic': True, 'aggregate': 'arithmetic_mean', 'gs_factor': 0.5}
    """
    from sfumato.declared import built_from

    found: Metric = built_from(REGISTERED, spec, "metric")
    return found
