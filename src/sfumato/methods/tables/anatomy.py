"""Anatomy: exact quasi-identifiers in one table, sensitive values in another, joined by small diverse buckets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from sfumato.contracts import Method, Recipe, Requirement
from sfumato.data.schema import Schema
from sfumato.declared import declared
from sfumato.errors import Incompatible
from sfumato.methods.feasibility import not_found, promised_as, refuse_infeasible, refuse_unreadable, units_repeat
from sfumato.methods.tables.buckets import Deal
from sfumato.methods.tables.cards import Cards
from sfumato.releases.anatomized import Anatomized

if TYPE_CHECKING:
    from sfumato.chance import Chance
    from sfumato.data.dataset import Dataset
    from sfumato.kernels.anatomy import Ints


@declared
class Anatomy(Method):
    """Buckets that meet every requirement; inside a bucket any sensitive value may belong to any row.

    Rows are sorted by sensitive value and dealt into B buckets by rank modulo B, so every bucket holds ⌊c/B⌋ or ⌈c/B⌉
    rows of a value with c rows, and n = q·l + r needs no leftovers: buckets get l or more rows. Nothing is suppressed.
    Quasi-identifiers are published exactly: this hides which value belongs to whom, not who is in the table, and of
    k-anonymity only the size of groups is promised. Rows of one unit with equal values stay in one bucket, beside
    others of as many rows where possible (`Cards`); a unit with different values may be in several.
    Does not protect against learned correlations between quasi-identifiers and sensitive values.
    Xiao, Tao 2006.

    >>> Anatomy().name
    'anatomy'
    """

    name: ClassVar[str] = "anatomy"
    coarsens: ClassVar[bool] = False

    def parameters(self) -> Mapping[str, Any]:
        """None: the requirements decide the buckets."""
        return {}

    def accepts(self, dataset: Dataset, requirements: Sequence[Requirement]) -> None:
        """Monotone requirements on groups; at least one sensitive column to permute."""
        if not dataset.schema.names("sensitive"):
            raise Incompatible(
                "Anatomy permutes sensitive values inside buckets, but no column has the role sensitive. "
                "Name one with roles(sensitive=…), or use another method."
            )
        refuse_unreadable(dataset, requirements)
        for requirement in requirements:
            if requirement.reads != "groups" or not requirement.monotone(repeats=False):
                raise Incompatible(
                    f"Anatomy cannot promise {requirement.model} by its buckets: it serves requirements on groups "
                    "that stay met when groups are merged. Use another method."
                )
            promised_as(requirement, self)

    def publish(self, dataset: Dataset, requirements: Sequence[Requirement], chance: Chance) -> Anatomized:
        """Buckets in random order, rows and values in two independent random orders."""
        self.accepts(dataset, requirements)
        refuse_infeasible(dataset, requirements)
        bucket = _buckets(dataset, tuple(requirements), chance)
        units = dataset.schema.names("unit")
        recipe = Recipe(
            self.name, self.parameters(), unit=units[0] if units else "row", reproducible=chance.reproducible
        )
        return _release(dataset, bucket, recipe, chance)


def _buckets(dataset: Dataset, requirements: tuple[Requirement, ...], chance: Chance) -> Ints:
    """Bucket of every row; rows of one unit with equal values stay together where that meets the requirements."""
    bucket = Cards(dataset, requirements, chance).buckets() if units_repeat(dataset) else None
    bucket = Deal(dataset, requirements, chance).buckets() if bucket is None else bucket
    if bucket is None:
        raise not_found("Anatomy", dataset, requirements)
    return bucket


def _release(dataset: Dataset, bucket: Ints, recipe: Recipe, chance: Chance) -> Anatomized:
    """Both tables; the two orders are independent, so neither tells which value belongs to which row."""
    group = chance.permutation(int(bucket.max()) + 1)[bucket]
    columns = tuple(c for c in dataset.schema if c.role in ("quasi", "sensitive", "plain"))
    slot_order, value_order = chance.permutation(dataset.n_rows), chance.permutation(dataset.n_rows)
    return Anatomized(
        name=dataset.name,
        schema=Schema(columns),
        domains={c.name: dataset.domains[c.name] for c in columns},
        slots={c.name: dataset.codes[c.name][slot_order] for c in columns if c.role != "sensitive"},
        slot_group=group[slot_order],
        values={c.name: dataset.codes[c.name][value_order] for c in columns if c.role == "sensitive"},
        value_group=group[value_order],
        recipe=recipe,
    )
