"""The driver refuses early, judges the finished release on its own groups, and promises what is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.chance import Chance, Secret, Seeded
from sfumato.contracts import Method, Recipe, Release, Requirement
from sfumato.data.dataset import Dataset
from sfumato.methods import parse
from sfumato.methods.publication import every, make_release
from sfumato.methods.tables.anatomy import Anatomy
from sfumato.methods.tables.mondrian import Mondrian
from sfumato.releases.anatomized import Anatomized
from sfumato.requirements.k_anonymity import KAnonymity
from sfumato.requirements.l_diversity import LDiversity

N = 60
CANARIES = ("Xanthippe", "Zwickau", "kwashiorkor", "908172635")


def table(n: int = N) -> pa.Table:
    diagnoses = ["flu", "cold", "kwashiorkor", None]
    return pa.table(
        {
            "name": ["Xanthippe"] * n,
            "age": [20 + i % 30 for i in range(n)],
            "town": [["Zwickau", "Aue", "Plauen"][i % 3] for i in range(n)],
            "diagnosis": [diagnoses[i % 4] for i in range(n)],
            "pay": [908172635 + i % 9 for i in range(n)],
            "person": [i // 3 for i in range(n)],
        }
    )


def people(unit: bool = False, **roles: Any) -> Dataset:
    asked = {"identifier": ["name"], "quasi": ["age", "town"], "sensitive": ["diagnosis", "pay"], **roles}
    return sf.read(table(), name="people").roles(**asked, unit="person" if unit else None)


METHODS: list[Method] = [Anatomy(), Mondrian()]
NEED = [KAnonymity(4), LDiversity(2, on="diagnosis", kind="entropy"), LDiversity(2, on="pay")]


def test_requirements_are_given_alone_joined_or_listed() -> None:
    k, l, m = NEED
    assert every(k) == (k,)
    assert every(k & l & m) == (k, l, m)
    assert every([k & l, m, k]) == (k, l, m)
    with pytest.raises(sf.ParameterError):
        every([])


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_promises_are_what_the_release_shows(method: Method) -> None:
    release = make_release(people(), method, require=NEED, title="People")
    evidence = release.evidence()
    assert evidence is not None
    for requirement, promise in zip(NEED, release.recipe.promises, strict=True):
        exact = requirement.speaks_of_alike and not method.coarsens
        assert promise.model == ("group-size" if exact else requirement.model)
        assert promise.parameters == requirement.parameters()
        assert (promise.on,) == (requirement.columns or (None,))
        assert promise.achieved == requirement.holds(evidence).achieved
    recipe = release.recipe
    assert (recipe.method, recipe.parameters, recipe.unit) == (method.name, method.parameters(), "row")
    assert (recipe.title, recipe.reproducible) == ("People", False)
    assert release.n_rows == N
    assert release.schema.names() == ("age", "town", "diagnosis", "pay")


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_seeded_releases_are_marked(method: Method) -> None:
    assert make_release(people(), method, require=NEED, chance=Seeded(1)).recipe.reproducible
    assert not make_release(people(), method, require=NEED, chance=Secret()).recipe.reproducible


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_units_are_judged_and_leave_no_trace(method: Method) -> None:
    release = make_release(people(unit=True), method, require=NEED)
    assert release.recipe.unit == "person"
    assert release.evidence() is None
    assert release.schema.names() == ("age", "town", "diagnosis", "pay")
    assert set(release.domains) == {"age", "town", "diagnosis", "pay"}
    for part in ("slots", "values", "exact", "low", "high"):
        assert set(getattr(release, part, {})) <= {"age", "town", "diagnosis", "pay"}
    # 60 rows of 20 persons: groups of 4 persons, not of 4 rows.
    assert release.recipe.promises[0].achieved["k"] >= 4


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("times", [1, 3, 100])
def test_repeating_one_unit_changes_no_claim(method: Method, times: int) -> None:
    rows = list(range(0, N, 3)) + [0] * (times - 1)
    data = sf.read(table().take(rows), name="people").roles(quasi=["age", "town"], sensitive=["pay"], unit="person")
    with pytest.raises(sf.Infeasible) as refused:
        make_release(data, method, require=KAnonymity(21))
    assert refused.value.nearest == {"k": 20}
    release = make_release(data, method, require=KAnonymity(20))
    assert release.recipe.promises[0].achieved == {"k": 20}


def test_a_name_that_is_taken_does_not_stop_the_count() -> None:
    data = people(unit=True)
    columns = {("unit" if c == "pay" else c): data.arrow()[c] for c in data.schema.names()}
    taken = sf.read(pa.table(columns), name="people").roles(quasi=["age"], sensitive=["unit"], unit="person")
    release = make_release(taken, Anatomy(), require=[KAnonymity(3), LDiversity(3, on="unit")])
    assert release.schema.names() == ("age", "unit")
    assert release.domains["unit"].n_values == 9


@pytest.mark.parametrize(
    ("roles", "require", "error", "word"),
    [
        ({"quasi": []}, KAnonymity(2), sf.Incompatible, "quasi"),
        ({}, LDiversity(2, on="town"), sf.Incompatible, "'town'"),
        ({}, LDiversity(2, on="tuwn"), sf.SchemaError, "'tuwn'"),
        ({"sensitive": []}, LDiversity(2, on="diagnosis"), sf.Incompatible, "'diagnosis'"),
        ({}, [], sf.ParameterError, "requirement"),
        ({}, KAnonymity(N + 1), sf.Infeasible, "k = 60"),
        ({}, LDiversity(5, on="diagnosis"), sf.Infeasible, "l = 4"),
        ({}, KAnonymity(N + 1) & LDiversity(5, on="diagnosis"), sf.Infeasible, "l = 4"),
    ],
)
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_what_cannot_be_is_refused_in_words(method: Method, roles: Any, require: Any, error: Any, word: str) -> None:
    with pytest.raises(error, match=word) as refused:
        make_release(people(**roles), method, require=require)
    assert not any(canary in str(refused.value) for canary in CANARIES)


def test_too_many_for_the_units_there_are() -> None:
    with pytest.raises(sf.Infeasible, match="20 distinct units") as refused:
        make_release(people(unit=True), Anatomy(), require=KAnonymity(21) & LDiversity(7, on="diagnosis"))
    assert refused.value.nearest == {"k": 20, "l": 4}


def test_no_rows() -> None:
    data = people()
    nothing = replace(data, n_rows=0, codes={c: codes[:0] for c, codes in data.codes.items()})
    with pytest.raises(sf.SchemaError, match="no rows"):
        make_release(nothing, Anatomy(), require=KAnonymity(2))


def test_a_column_of_nothing_but_missing_values_has_one_value() -> None:
    empty = table().set_column(3, "diagnosis", pa.nulls(N, pa.string()))
    data = sf.read(empty, name="people").roles(quasi=["age"], sensitive=["diagnosis"])
    assert make_release(data, Anatomy(), require=LDiversity(1, on="diagnosis")).n_rows == N
    with pytest.raises(sf.Infeasible):
        make_release(data, Anatomy(), require=LDiversity(2, on="diagnosis"))


class Careless(Method):
    """Publishes rows in groups of a chosen size and claims what it was asked."""

    name = "careless"

    def __init__(self, size: int, n_suppressed: int = 0) -> None:
        self.size, self.n_suppressed = size, n_suppressed

    def accepts(self, dataset: Dataset, requirements: Sequence[Requirement]) -> None:
        """Anything."""

    def parameters(self) -> Mapping[str, Any]:
        return {"size": self.size}

    def publish(self, dataset: Dataset, requirements: Sequence[Requirement], chance: Chance) -> Release:
        n = dataset.n_rows - self.n_suppressed
        group = np.arange(n, dtype=np.int64) // self.size
        schema = replace(dataset.schema, columns=tuple(c for c in dataset.schema if c.role != "unit"))
        quasi, sensitive = schema.names("quasi"), schema.names("sensitive")
        return Anatomized(
            name=dataset.name,
            schema=schema,
            domains={c: dataset.domains[c] for c in (*quasi, *sensitive)},
            slots={c: dataset.codes[c][:n] for c in quasi},
            slot_group=group,
            values={c: dataset.codes[c][:n] for c in sensitive},
            value_group=group,
            recipe=Recipe("careless", {}, notes=("made without care",)),
            n_suppressed=self.n_suppressed,
        )


def test_the_methods_word_is_not_taken() -> None:
    with pytest.raises(sf.SfumatoError, match="20 of 20 fail k-anonymity") as refused:
        make_release(people(), Careless(3), require=KAnonymity(4))
    assert not isinstance(refused.value, sf.Infeasible | sf.Incompatible)
    assert make_release(people(), Careless(4), require=KAnonymity(4)).recipe.promises[0].achieved == {"k": 4}
    # Three rows of one person look like a group of three.
    assert make_release(people(), Careless(3), require=KAnonymity(3)).n_rows == N
    with pytest.raises(sf.SfumatoError, match="20 of 20 fail k-anonymity"):
        make_release(people(unit=True), Careless(3), require=KAnonymity(3))


def test_suppressed_rows_are_said_and_are_no_group() -> None:
    release = make_release(people(), Careless(4, n_suppressed=8), require=KAnonymity(4))
    assert release.n_rows == N
    assert any("8 of 60 rows are suppressed" in note for note in release.recipe.notes)
    with pytest.raises(sf.Infeasible, match="nothing it could publish"):
        make_release(people(), Careless(4, n_suppressed=N), require=KAnonymity(4))


def test_notes_say_roles_open_ends_and_lists_from_the_data() -> None:
    rules = {"age": sf.intervals(5, 10, low=25, high=40)}
    release = make_release(people(), Mondrian(), require=KAnonymity(4), hierarchies=rules)
    notes = " ".join(release.recipe.notes)
    assert "age: quasi-identifier" in notes and "diagnosis: sensitive" in notes
    assert "2 columns of the original not published" in notes
    assert "or beyond in: age" in notes
    assert "not declared, in: town" in notes
    assert "No requirement speaks of the sensitive values of: diagnosis, pay." in notes
    need = [KAnonymity(4), sf.LDiversity(2, on="diagnosis")]
    assert "values of: pay." in " ".join(make_release(people(), Mondrian(), require=need).recipe.notes)
    assert not any(canary in notes for canary in CANARIES)
    assert "made without care" in make_release(people(), Careless(4), require=KAnonymity(4)).recipe.notes


def test_methods_from_the_command_line_and_the_project_file() -> None:
    assert parse("anatomy") == Anatomy()
    assert parse("mondrian:cut=median") == Mondrian(cut="median")
    assert parse({"name": "mondrian", "recoding": "relaxed"}) == Mondrian(recoding="relaxed")
    for wrong, advice in [("mondrain", "mondrian"), ("mondrian:cuts=median", "cut"), ("anatomy:l=2", "none")]:
        with pytest.raises(sf.ParameterError, match=advice):
            parse(wrong)


HOMOGENEOUS = pa.table(
    {
        "dob": ["1/21/76", "4/13/86", "2/28/76", "1/21/76", "4/13/86", "2/28/76"],
        "zip": ["53715", "53715", "53703", "53703", "53706", "53706"],
        "salary": [50_000, 55_000, 60_000, 50_000, 55_000, 60_000],
    }
)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_the_homogeneity_example(method: Method) -> None:
    """Two people born on one day earn the same: grouping by birth date is 2-anonymous and tells their salary."""
    data = sf.read(HOMOGENEOUS, name="census").roles(quasi=["dob", "zip"], sensitive=["salary"])
    release = make_release(data, method, require=KAnonymity(2) & LDiversity(2, on="salary", kind="entropy"))
    achieved = {promise.model: promise.achieved for promise in release.recipe.promises}
    assert achieved["k-anonymity" if method.coarsens else "group-size"]["k"] >= 2
    assert achieved["l-diversity"]["l"] >= 2


def test_without_diversity_the_homogeneous_groups_can_come_out() -> None:
    data = sf.read(HOMOGENEOUS, name="census").roles(quasi=["dob"], sensitive=["salary"])
    release = make_release(data, Mondrian(), require=KAnonymity(2))
    evidence = release.evidence()
    assert evidence is not None
    found = LDiversity(2, on="salary", kind="entropy").holds(evidence)
    assert (found.holds, found.achieved["l"], found.n_failing) == (False, 1, 3)
