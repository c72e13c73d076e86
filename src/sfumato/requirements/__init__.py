"""Privacy models, one short file each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.contracts import Requirement

REGISTERED = (
    "sfumato.requirements.k_anonymity:KAnonymity",
    "sfumato.requirements.l_diversity:LDiversity",
    "sfumato.requirements.t_closeness:TCloseness",
    "sfumato.requirements.alpha_k:AlphaK",
    "sfumato.requirements.delta_disclosure:DeltaDisclosure",
    "sfumato.requirements.beta_likeness:BetaLikeness",
    "sfumato.requirements.k_map:KMap",
    "sfumato.requirements.delta_presence:DeltaPresence",
    "sfumato.requirements.average_risk:AverageRisk",
    "sfumato.requirements.sample_uniqueness:SampleUniqueness",
    "sfumato.requirements.population_uniqueness:PopulationUniqueness",
    "sfumato.requirements.ke_anonymity:KE",
    "sfumato.requirements.variance_control:VarianceControl",
    "sfumato.requirements.m_uniqueness:MUnique",
    "sfumato.requirements.proximity:Proximity",
)


def all_requirements() -> tuple[type[Requirement], ...]:
    """Every registered model, in the order of the register."""
    from sfumato.declared import load

    return tuple(load(entry) for entry in REGISTERED)


def parse(spec: str | Mapping[str, Any]) -> Requirement:
    """A requirement from the text of the command line, or from a table of the project file with its `model`.

    >>> parse("k-anonymity:k=5"), parse({"model": "l-diversity", "l": 2, "on": "diagnosis"}).least
    (KAnonymity(k=5), 2)
    """
    from sfumato.declared import built_from

    found: Requirement = built_from(REGISTERED, spec, "model")
    return found
