"""Publish tables about people together with the set of original tables they could have come from, and ask that set.

A release is what we publish, together with the set of original tables it could have come from.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WORDS = {
    "read": "desk:read",
    "suggest_hierarchies": "desk:suggest_hierarchies",
    "publish": "desk:publish",
    "search": "desk:search",
    "reapply": "desk:reapply",
    "open": "desk:open",
    "verify": "desk:verify",
    "measure": "desk:measure",
    "risk": "desk:risk",
    "advise_proximity": "desk:advise_proximity",
    "PublishedRelease": "desk:PublishedRelease",
    "intervals": "data.hierarchy:intervals",
    "cuts": "data.hierarchy:cuts",
    "masking": "data.hierarchy:masking",
    "prefixes": "data.hierarchy:prefixes",
    "dates": "data.hierarchy:dates",
    "groups": "data.hierarchy:groups",
    "ordered": "data.hierarchy:ordered",
    "hierarchy_file": "data.hierarchy:hierarchy_file",
    "suppression": "data.hierarchy:suppression",
    "SfumatoError": "errors:SfumatoError",
    "SchemaError": "errors:SchemaError",
    "ParameterError": "errors:ParameterError",
    "Incompatible": "errors:Incompatible",
    "Infeasible": "errors:Infeasible",
    "Unanswerable": "errors:Unanswerable",
}
_ROOMS = ("sfumato.requirements", "sfumato.methods.tables", "sfumato.methods.metrics")


def _places() -> dict[str, str]:
    """Public word → "module:attribute"; models and methods come from their rooms' registers."""
    places = {word: f"sfumato.{place}" for word, place in _WORDS.items()}
    for room in _ROOMS:
        places.update({entry.rpartition(":")[2]: entry for entry in import_module(room).REGISTERED})
    return places


def __getattr__(word: str) -> Any:
    place = None if word.startswith("__") else _places().get(word)
    if place is None:
        raise AttributeError(f"module 'sfumato' has no word {word!r}")
    module, _, attribute = place.partition(":")
    found = getattr(import_module(module), attribute)
    globals()[word] = found
    return found


def __dir__() -> list[str]:
    return sorted(["__version__", *_places()])


class _Face(ModuleType):
    """Importing the room `verify` must not hide the word `verify`: words stay words."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _WORDS and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Face


if TYPE_CHECKING:
    from sfumato.data.hierarchy import cuts as cuts
    from sfumato.data.hierarchy import dates as dates
    from sfumato.data.hierarchy import groups as groups
    from sfumato.data.hierarchy import hierarchy_file as hierarchy_file
    from sfumato.data.hierarchy import intervals as intervals
    from sfumato.data.hierarchy import masking as masking
    from sfumato.data.hierarchy import ordered as ordered
    from sfumato.data.hierarchy import prefixes as prefixes
    from sfumato.data.hierarchy import suppression as suppression
    from sfumato.desk import PublishedRelease as PublishedRelease
    from sfumato.desk import advise_proximity as advise_proximity
    from sfumato.desk import measure as measure
    from sfumato.desk import open as open
    from sfumato.desk import publish as publish
    from sfumato.desk import read as read
    from sfumato.desk import reapply as reapply
    from sfumato.desk import risk as risk
    from sfumato.desk import search as search
    from sfumato.desk import suggest_hierarchies as suggest_hierarchies
    from sfumato.desk import verify as verify
    from sfumato.errors import Incompatible as Incompatible
    from sfumato.errors import Infeasible as Infeasible
    from sfumato.errors import ParameterError as ParameterError
    from sfumato.errors import SchemaError as SchemaError
    from sfumato.errors import SfumatoError as SfumatoError
    from sfumato.errors import Unanswerable as Unanswerable
    from sfumato.methods.metrics.ambiguity import AmbiguityMetric as AmbiguityMetric
    from sfumato.methods.metrics.class_size import AverageClassSize as AverageClassSize
    from sfumato.methods.metrics.classification import ClassificationMetric as ClassificationMetric
    from sfumato.methods.metrics.discernibility import Discernibility as Discernibility
    from sfumato.methods.metrics.entropy import NonUniformEntropy as NonUniformEntropy
    from sfumato.methods.metrics.height import Height as Height
    from sfumato.methods.metrics.kl_divergence import KLDivergence as KLDivergence
    from sfumato.methods.metrics.loss import Loss as Loss
    from sfumato.methods.metrics.precision import Precision as Precision
    from sfumato.methods.tables.anatomy import Anatomy as Anatomy
    from sfumato.methods.tables.bottom_up import BottomUpGeneralization as BottomUpGeneralization
    from sfumato.methods.tables.datafly import Datafly as Datafly
    from sfumato.methods.tables.incognito import Incognito as Incognito
    from sfumato.methods.tables.lattice import Lattice as Lattice
    from sfumato.methods.tables.mdav import MDAV as MDAV
    from sfumato.methods.tables.mondrian import Mondrian as Mondrian
    from sfumato.methods.tables.samarati import Samarati as Samarati
    from sfumato.methods.tables.top_down import TopDownSpecialization as TopDownSpecialization
    from sfumato.requirements.alpha_k import AlphaK as AlphaK
    from sfumato.requirements.average_risk import AverageRisk as AverageRisk
    from sfumato.requirements.beta_likeness import BetaLikeness as BetaLikeness
    from sfumato.requirements.delta_disclosure import DeltaDisclosure as DeltaDisclosure
    from sfumato.requirements.delta_presence import DeltaPresence as DeltaPresence
    from sfumato.requirements.k_anonymity import KAnonymity as KAnonymity
    from sfumato.requirements.k_map import KMap as KMap
    from sfumato.requirements.ke_anonymity import KE as KE
    from sfumato.requirements.l_diversity import LDiversity as LDiversity
    from sfumato.requirements.m_uniqueness import MUnique as MUnique
    from sfumato.requirements.population_uniqueness import PopulationUniqueness as PopulationUniqueness
    from sfumato.requirements.proximity import Proximity as Proximity
    from sfumato.requirements.sample_uniqueness import SampleUniqueness as SampleUniqueness
    from sfumato.requirements.t_closeness import TCloseness as TCloseness
    from sfumato.requirements.variance_control import VarianceControl as VarianceControl
