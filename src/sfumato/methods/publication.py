"""The way from a dataset to a release that has been judged: match, prepare, publish, judge again, write the recipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sfumato.chance import Chance, chance_of
from sfumato.contracts import Both, Method, Promise, Release, Requirement
from sfumato.errors import Infeasible, ParameterError, SfumatoError
from sfumato.methods.around import around
from sfumato.methods.feasibility import described, promised_as, units_repeat
from sfumato.methods.preparation import prepared_for
from sfumato.methods.tracing import with_units, without_units

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset
    from sfumato.data.evidence import Groups
    from sfumato.data.hierarchy import Hierarchy

SEVERAL_ROWS = (
    "Some persons have several rows, which may lie in several groups. What is promised holds in every group on its "
    "own: whoever knows which rows are one person's can combine their groups and learn more."
)


def make_release(
    dataset: Dataset,
    method: Method,
    *,
    require: Requirement | Both | Sequence[Requirement | Both],
    hierarchies: Mapping[str, Hierarchy] | None = None,
    chance: Chance | None = None,
    title: str | None = None,
) -> Release:
    """A release that meets every requirement on its own published groups, counted in distinct units.

    Requirements and method are matched before any work; impossible ones are refused with the nearest feasible. The
    method's word is not taken: every requirement is judged again on the finished release, and what was achieved there
    is what the recipe promises. `chance` defaults to the operating system's secret source.
    """
    secret = chance or chance_of(None)
    requirements = every(require)
    prepared = prepared_for(dataset, method, requirements, hierarchies or {})
    return finished(
        dataset, prepared, method, requirements, lambda some: method.publish(some, requirements, secret), title
    )


def finished(
    dataset: Dataset,
    prepared: Dataset,
    method: Method,
    requirements: Sequence[Requirement],
    made: Callable[[Dataset], Release],
    title: str | None = None,
) -> Release:
    """A release that `made` gives of the prepared dataset, judged, with its recipe."""
    if prepared.units is None:
        release = made(prepared)
        evidence = release.evidence()
    else:
        traced, column = with_units(prepared)
        release, evidence = without_units(made(traced), column)
    if evidence is None or evidence.n_groups == 0:
        raise Infeasible(f"{method.name} found nothing it could publish. Ask for less, or use another method.")
    evidence = replace(evidence, around=around(release, prepared))
    promises = _judged(method, requirements, evidence, units_repeat(prepared))
    recipe = replace(
        release.recipe,
        method=method.name,
        parameters=method.parameters(),
        promises=promises,
        unit=next(iter(prepared.schema.names("unit")), "row"),
        notes=_notes(dataset, prepared, release, promises),
        title=title,
    )
    return release.with_recipe(recipe)


def every(require: Requirement | Both | Sequence[Requirement | Both]) -> tuple[Requirement, ...]:
    """One requirement, several joined by `&`, or a list of either, as one tuple without repetitions."""
    if isinstance(require, Requirement):
        return (require,)
    parts = require.parts if isinstance(require, Both) else require
    found = [one for part in parts for one in ((part,) if isinstance(part, Requirement) else every(part))]
    if not found:
        raise ParameterError("A release needs at least one requirement, such as KAnonymity(5).")
    return tuple(dict.fromkeys(found))


def _judged(
    method: Method, requirements: Sequence[Requirement], evidence: Groups, repeats: bool
) -> tuple[Promise, ...]:
    """Promises with what the finished release achieves; a release that fails is never returned."""
    promises = []
    for requirement in requirements:
        verdict = requirement.holds(evidence)
        if not verdict.holds and not requirement.monotone(repeats):
            raise Infeasible(
                f"{method.name} made groups of which {verdict.n_failing} of {evidence.n_groups} fail "
                f"{described(requirement)} once those that look alike are one, as merging groups does not keep it. "
                "Ask for less, for k-anonymity or distinct l-diversity, or use another method.",
                verdict.achieved,
            )
        if not verdict.holds:
            raise SfumatoError(
                f"{method.name} made groups of which {verdict.n_failing} of {evidence.n_groups} fail "
                f"{described(requirement)} when the finished release is judged, so nothing was published. "
                "Please report this; another method or a smaller requirement may work."
            )
        on = next(iter(requirement.columns), None)
        name = promised_as(requirement, method)
        promises.append(Promise(name, requirement.parameters(), on, verdict.achieved))
    return tuple(promises)


def _notes(dataset: Dataset, prepared: Dataset, release: Release, promises: Sequence[Promise]) -> tuple[str, ...]:
    """What a reader should know: roles, what is not published, open ends, value lists taken from the data."""
    roles = ", ".join(
        f"{c.name}: {'quasi-identifier' if c.role == 'quasi' else c.role}" for c in prepared.schema if c.role != "unit"
    )
    notes = [f"Roles: {roles}."]
    dropped = len(tuple(dataset.schema)) - len(tuple(release.schema))
    if dropped:
        notes.append(f"{dropped} column{'s' * (dropped > 1)} of the original not published.")
    suppressed = getattr(release, "n_suppressed", 0)
    if suppressed:
        notes.append(f"{suppressed} of {release.n_rows} rows are suppressed: known to exist, every cell unknown.")
    quasi = prepared.schema.names("quasi")
    opened = [c for c in quasi if release.domains[c].open_low or release.domains[c].open_high]
    if opened:
        notes.append(
            f"The outermost values are published as that value or beyond in: {', '.join(opened)}. Sums and averages "
            "over them have no bound on an open side; a hierarchy with low and high declared closes it."
        )
    spoken = {promise.on for promise in promises}
    alone = [c for c in prepared.schema.names("sensitive") if c not in spoken]
    if alone:
        notes.append(f"No requirement speaks of the sensitive values of: {', '.join(alone)}.")
    taken = [c for c in quasi if not prepared.domains[c].complete]
    if taken:
        notes.append(f"The list of possible values is taken from the data, not declared, in: {', '.join(taken)}.")
    if units_repeat(prepared):
        notes.append(SEVERAL_ROWS)
    return tuple(dict.fromkeys([*notes, *prepared.notes, *release.recipe.notes]))
