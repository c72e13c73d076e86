"""What each privacy model promises and does not, in words for people who never read a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.contracts import Promise


@dataclass(frozen=True)
class Words:
    """Two sentences about one model."""

    promises: str
    leaves_open: str


WORDS: Mapping[str, Words] = {
    "k-anonymity": Words(
        "Whoever knows a person's quasi-identifiers finds at least k persons that fit equally well.",
        "It says nothing about what those persons share: if all of them have the same sensitive value, it is known.",
    ),
    "group-size": Words(
        "Every group has at least k persons, and which of the group's values belongs to whom is hidden.",
        "The rows themselves can be found, that a person is in the table is not hidden, and all values of a group may "
        "be the same.",
    ),
    "l-diversity": Words(
        "In every group the sensitive column has at least l values that count, in the reading named above: no value is "
        "certain for a person who has one row.",
        "Values may differ and still mean nearly the same; what is rare in the whole table may be common in a group.",
    ),
    "t-closeness": Words(
        "In every group the sensitive column looks like the whole table, up to the distance t.",
        "What the whole table tells about everybody in it, it tells about each person too.",
    ),
    "alpha-k": Words(
        "At least k persons fit equally well, and no sensitive value belongs to more than the share alpha of them.",
        "Values below that share can still be likely guesses.",
    ),
    "delta-disclosure": Words(
        "Every value that a group has is nearly as frequent there as in the whole table, up to the factor 2^delta.",
        "That nobody in a group has a value which the group lacks is not hidden.",
    ),
    "beta-likeness": Words(
        "No value is more frequent in a group than in the whole table by more than the share beta of it.",
        "That a value is rarer in a group, or absent, is not hidden.",
    ),
    "proximity": Words(
        "Around every number in a group lie at most one m-th of the group's persons, up to the distance epsilon on "
        "both sides (e1 below, e2 above): nobody is placed in so short an interval with more than 1/m.",
        "Longer intervals can be near certain, and values that differ by more may still mean nearly the same.",
    ),
    "average-risk": Words(
        "Whoever guesses which row is a person's is right in at most the share threshold of all rows, on average.",
        "Single rows can be at a higher risk, up to rows that are certain to be found.",
    ),
    "sample-uniqueness": Words(
        "At most the share threshold of all rows is alone with its quasi-identifiers.",
        "Those that are alone can be found, and two or three rows that look alike are few.",
    ),
    "population-uniqueness": Words(
        "By a statistical estimate, at most the share threshold of the population is unique in it.",
        "It is an estimate: it says nothing about a single person, and needs an evenly drawn sample.",
    ),
    "ke-anonymity": Words(
        "In every group the sensitive column has at least k different values, and the largest is at least e above the "
        "smallest.",
        "Nearly all of a group's values may lie close together, so that a person's is known to be in a short interval.",
    ),
    "variance-control": Words(
        "In every group the numbers of the sensitive column have at least the variance t.",
        "One number far away is enough for that: all others may be nearly or fully the same.",
    ),
    "m-uniqueness": Words(
        "Every group has at least m persons, and no two of them have the same value of the sensitive column.",
        "Values may differ and still be nearly the same; nothing is promised of several releases compared.",
    ),
    "k-map": Words(
        "At least k persons of the population fit every row, counted in a table of it or estimated.",
        "Whoever knows that a person is in this table may be left with fewer.",
    ),
    "delta-presence": Words(
        "Wherever rows are published, between the shares low and high of the population there are in the table.",
        "Persons whom no published row fits are surely not in the table.",
    ),
}
OTHER = Words("See its documentation for what it promises.", "See its documentation for what it does not.")

NOT_PROMISED = (
    "Guesses from learned patterns. Whoever knows how columns usually go together can guess better than chance.",
    "Columns treated as harmless. Protection covers the columns declared as quasi-identifiers, not others that "
    "somebody might also know.",
    "Other releases of the same people. Two releases that are safe one by one can tell more together.",
    "A legal verdict. Whether this may be shared is a question of law and context, not of arithmetic alone.",
)

PRESENCE = (
    "Presence. Quasi-identifiers are published as they are, so whoever knows a person's can see whether a row of this "
    "table fits."
)
SEVERAL_ROWS = (
    "Several rows of one person. They may lie in several groups: whoever knows which rows are one person's can combine "
    "what those groups tell."
)

FORMS: Mapping[str, str] = {
    "generalized": "Quasi-identifiers are published as ranges or groups of values, one set of them per group of rows; "
    "every other column is published row by row.",
    "anatomized": "Quasi-identifiers are published as they are, and the sensitive values of each group are listed "
    "beside them; which row has which value inside a group is not published.",
}

ROLES: Mapping[str | None, str] = {
    "quasi": "quasi",
    "sensitive": "sensitive",
    "plain": "plain",
}


def words_of(model: str) -> Words:
    """The words for a model, neutral ones for a model without any."""
    return WORDS.get(model, OTHER)


def not_promised(form: str, unit: str = "row") -> tuple[str, ...]:
    """What no promise of a release in this form covers, when persons are counted by a column `unit` or are rows."""
    presence = (PRESENCE,) if form == "anatomized" else ()
    return (*presence, *((SEVERAL_ROWS,) if unit != "row" else ()), *NOT_PROMISED)


def figures(values: Mapping[str, Any]) -> str:
    """Parameters as they are read aloud.

    >>> figures({"k": 5, "c": 0.25, "kind": "entropy"})
    'k = 5, c = 0.25, kind = entropy'
    """
    return ", ".join(f"{name} = {number(value)}" for name, value in values.items())


def number(value: object) -> str:
    """A number without needless digits.

    >>> number(12345.0), number(0.123456), number(7)
    ('12,345', '0.1235', '7')
    """
    if isinstance(value, float):
        return f"{int(value):,}" if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def promise_line(promise: Promise) -> str:
    """One promise on one line.

    >>> from sfumato.contracts import Promise
    >>> promise_line(Promise("k-anonymity", {"k": 5}, None, {"k": 6}))
    'k-anonymity (k = 5): achieved k = 6'
    """
    on = f" on {promise.on}" if promise.on else ""
    parameters = {name: value for name, value in promise.parameters.items() if value is not None}
    return f"{promise.model}{on} ({figures(parameters)}): achieved {figures(promise.achieved)}"
