"""The dataset as a method gets it: on its domains, only the rows that are published, populations beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sfumato.contracts import Method, Requirement
from sfumato.data.dataset import codes_on
from sfumato.data.hierarchies.rule import Hierarchy as Rule
from sfumato.data.hierarchy import prepare
from sfumato.errors import Incompatible, ParameterError, SchemaError
from sfumato.methods.feasibility import refuse_infeasible, refuse_unreadable, units_repeat

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.data.dataset import Dataset
    from sfumato.data.hierarchy import Hierarchy


def prepared_for(
    dataset: Dataset, method: Method, requirements: Sequence[Requirement], hierarchies: Mapping[str, Hierarchy]
) -> Dataset:
    """The dataset for this method under these requirements, or the reason why nothing can be done."""
    for name, hierarchy in hierarchies.items():
        if not isinstance(hierarchy, Rule):
            raise ParameterError(
                f"The hierarchy of {name!r} is a {type(hierarchy).__name__}. Make it with sf.intervals, sf.groups, "
                "sf.hierarchy_file and the like."
            )
    refuse_unfit(dataset, requirements)
    method.accepts(dataset, requirements)
    chosen = chosen_rows(dataset, requirements)
    if not method.suppresses:
        published = dataset if chosen is None else dataset.only(chosen)
        refuse_infeasible(published, [r for r in requirements if r.reads == "groups"])
    prepared = prepare(dataset, hierarchies, max(2, *(r.least for r in requirements)), coarsens=method.coarsens)
    quasi = {name: prepared.domains[name] for name in prepared.schema.names("quasi")}
    beside = {}
    for requirement in requirements:
        population = requirement.population(dataset)
        if population is not None:
            absent = [name for name in quasi if name not in population.schema]
            if absent:
                raise SchemaError(
                    f"The population of {requirement.model} lacks the quasi-identifiers {', '.join(absent)}. "
                    "Give a table that has them all."
                )
            if units_repeat(population):
                raise Incompatible(
                    f"{requirement.model} counts the persons of a population, but some persons of the one given have "
                    "several rows. Give a table with one row a person, or without the role unit."
                )
            beside[requirement] = codes_on(population, quasi)
    prepared = replace(prepared, beside=beside)
    return prepared if chosen is None else prepared.only(chosen)


def chosen_rows(dataset: Dataset, requirements: Sequence[Requirement]) -> NDArray[np.bool_] | None:
    """Rows that every requirement lets be published; None: all."""
    masks = [mask for mask in (r.chosen(dataset) for r in requirements) if mask is not None]
    return np.logical_and.reduce(masks) if masks else None


def refuse_unfit(dataset: Dataset, requirements: Sequence[Requirement]) -> None:
    """What no method could serve."""
    if dataset.n_rows == 0:
        raise SchemaError("The dataset has no rows; there is nothing to publish.")
    if not dataset.schema.names("quasi"):
        raise Incompatible(
            "No column has the role quasi, so no requirement says anything. Name the columns by which a person could "
            "be recognised with roles(quasi=…)."
        )
    refuse_unreadable(dataset, requirements)
