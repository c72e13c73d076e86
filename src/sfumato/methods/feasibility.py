"""Can it be? What a method can promise, and whether the whole table as one group meets every requirement."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

import numpy as np
from numpy.typing import NDArray

from sfumato.contracts import Method, Requirement
from sfumato.data.dataset import Dataset
from sfumato.data.evidence import Counts, Groups, group_evidence
from sfumato.errors import Incompatible, Infeasible


def refuse_unreadable(dataset: Dataset, requirements: Sequence[Requirement]) -> None:
    """Raise `Incompatible` when a requirement reads a column without the role sensitive, `SchemaError` when unknown."""
    for requirement in requirements:
        for column in requirement.columns:
            if dataset.schema[column].role != "sensitive":
                raise Incompatible(
                    f"{described(requirement)} reads column {column!r}, whose role is "
                    f"{dataset.schema[column].role or 'undecided'}. Give it the role sensitive, or name another column."
                )


def refuse_infeasible(dataset: Dataset, requirements: Sequence[Requirement]) -> None:
    """Raise `Infeasible`, with the nearest feasible parameters, when even the whole table as one group fails.

    Only of requirements that merging keeps: a table that can be cut at all can then be left whole. The others may
    hold in parts of a table that does not meet them.
    """
    whole, repeats = whole_table(dataset, requirements), units_repeat(dataset)
    failing = [r for r in requirements if r.monotone(repeats) and not r.holds(whole).holds]
    if failing:
        said = "; ".join(_with_nearest(r, whole, "the nearest that can be met") for r in failing)
        raise Infeasible(
            f"Even the whole table as one group of {_size(dataset, whole)} does not meet {said}. "
            "Ask for less, or publish other columns.",
            loosest(failing, whole),
        )


def not_found(method: str, dataset: Dataset, requirements: Sequence[Requirement]) -> Infeasible:
    """The refusal when a search ends without groups that pass, with what the whole table as one group would meet.

    No proof that there are none: it is for requirements that merging does not keep.
    """
    whole = whole_table(dataset, requirements)
    failing = [r for r in requirements if not r.holds(whole).holds]
    said = "; ".join(_with_nearest(r, whole, "the whole table meets") for r in failing)
    return Infeasible(
        f"{method} found no groups that meet {said}, nor does the whole table as one group of {_size(dataset, whole)}. "
        "Merging groups does not keep what is asked, so other groups may still meet it. Ask for what the whole table "
        "meets, for k-anonymity or distinct l-diversity, or use another method.",
        loosest(failing, whole),
    )


def loosest(failing: Sequence[Requirement], whole: Groups) -> dict[str, float]:
    """What the whole table allows, by parameter: the loosest value where several requirements name one parameter.

    With these values all of them can be met together.
    """
    nearest: dict[str, float] = {}
    for requirement in failing:
        for name, value in requirement.nearest(whole).items():
            looser = max if name in requirement.looser_up else min
            nearest[name] = looser(nearest.get(name, value), value)
    return nearest


def units_repeat(dataset: Dataset) -> bool:
    """Whether some unit has several rows, which may then lie in several groups."""
    return dataset.units is not None and bool((np.bincount(dataset.units) > 1).any())


def promised_as(requirement: Requirement, method: Method) -> str:
    """The name of what a method can promise of a requirement; `Incompatible` when nothing of it remains.

    Where quasi-identifiers are published as they are, rows of a group do not look alike.
    """
    if method.coarsens or not requirement.speaks_of_alike:
        return requirement.model
    if requirement.of_groups:
        return requirement.of_groups
    raise Incompatible(
        f"{described(requirement)} speaks of rows that look alike, but {method.name} publishes quasi-identifiers as "
        f"they are, so that rows can be told apart. The nearest it can promise is {requirement.instead()}; or use a "
        "method that generalizes."
    )


def whole_table(dataset: Dataset, requirements: Sequence[Requirement]) -> Groups:
    """Evidence of the table as one group, on the columns that are read."""
    columns = columns_of(requirements)
    sensitive = {name: dataset.codes[name] for name in columns}
    domains = {name: dataset.domains[name] for name in columns}
    if dataset.units is not None:
        return group_evidence(np.zeros(dataset.n_rows, dtype=np.int64), 1, sensitive, domains, dataset.units)
    totals = {c: np.bincount(codes, minlength=domains[c].size).astype(np.int64) for c, codes in sensitive.items()}
    counts = {name: _as_one_group(found) for name, found in totals.items()}
    return Groups(np.array([dataset.n_rows], dtype=np.int64), counts, totals, domains)


def described(requirement: Requirement) -> str:
    """A requirement in words: model, parameters, column."""
    figures = ", ".join(f"{name}={value}" for name, value in requirement.parameters().items())
    return f"{requirement.model} ({figures})" + "".join(f" on {column!r}" for column in requirement.columns)


def columns_of(requirements: Sequence[Requirement]) -> tuple[str, ...]:
    """Sensitive columns that are read, each once."""
    return tuple(dict.fromkeys(column for r in requirements for column in r.columns))


def _with_nearest(requirement: Requirement, whole: Groups, what: str) -> str:
    nearest = requirement.nearest(whole).items()
    figures = ", ".join(f"{name} = {shown(value, up=name in requirement.looser_up)}" for name, value in nearest)
    return f"{described(requirement)} ({what}: {figures or 'none'})"


def shown(value: float, *, up: bool) -> str:
    """A parameter that can be typed back: whole, or with six digits, rounded to what asks for less.

    >>> shown(1953780, up=False), shown(4.0, up=False), shown(0.4237593, up=True), shown(2.9999996, up=False)
    ('1953780', '4', '0.42376', '2.99999')
    """
    if value == int(value):
        return str(int(value))
    digits = Decimal(repr(value))
    places = digits.adjusted() - 5
    rounded = digits.quantize(Decimal(1).scaleb(places), ROUND_CEILING if up else ROUND_FLOOR)
    return f"{rounded.normalize():f}"


def _size(dataset: Dataset, whole: Groups) -> str:
    return f"{int(whole.sizes[0])} {'rows' if dataset.units is None else 'distinct units'}"


def _as_one_group(totals: NDArray[np.int64]) -> Counts:
    code = np.flatnonzero(totals)
    starts = np.array([0, len(code)], dtype=np.int64)
    return Counts(np.zeros(len(code), dtype=np.int64), code.astype(np.int32), totals[code], starts)
