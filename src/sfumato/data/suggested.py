"""Roles proposed for columns, with reasons: from names people use, and from how values repeat."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.data.schema import Kind, Role

NEARLY_ALL = 0.95
FEW_VALUES = 1000
SMALL_SHARE = 0.1
FEWEST_ROWS = 20
MOST_PER_PERSON = 0.1
MOST_ROWS_EACH = 200

DIRECT = (
    "name surname forename firstname lastname fullname email mail phone telephone mobile fax ssn social passport iban "
    "street address login user username url ip mac licence license plate insurance_number account nino signature"
)
PERSON = (
    "id pid uid key patient person customer subject member client respondent participant student employee household"
)
PRIVATE = (
    "diagnosis diagnoses diag dx disease illness condition symptom treatment medication drug icd icd9 icd10 hiv "
    "disability income salary wage wages earnings pay debt credit loan balance wealth religion belief politics party "
    "union sexual orientation crime criminal offence offense conviction abortion pregnancy psychiatric genetic genome "
    "score grade"
)
KNOWN = (
    "age birth birthday birthdate dob born year zip zipcode postcode postal plz city town county district region state "
    "province country nation nationality native citizenship sex gender race ethnicity ethnic marital education degree "
    "school occupation job profession employer industry workclass language height weight children family relationship "
    "admission discharge date"
)


@dataclass(frozen=True)
class Facts:
    """What is counted about one column; the missing value counts as a value in `distinctness` and `separation`."""

    name: str
    kind: Kind
    distinct: int
    missing: int
    unique_rows: int
    distinctness: float
    separation: float


Suggested = dict[str, tuple[Role | None, str]]
"""Column → role, or None when it needs a decision, and the reason."""


def suggest_role(facts: Facts, n_rows: int) -> tuple[Role | None, str]:
    """A role, or None when it needs a decision, and the reason in plain words without any value."""
    words = set(re.findall(r"[a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", facts.name).lower()))
    if facts.distinct == 0:
        return None, "it has no value in any row"
    if facts.distinct == 1 and not facts.missing:
        return "plain", "it has one value in all rows and tells nobody apart"
    return _by_name(words, facts, n_rows) or _by_values(facts, n_rows)


def one_unit(facts: Sequence[Facts], proposed: Suggested) -> Suggested:
    """The same roles with one unit at most: of several candidates the one with most values, the others undecided."""
    units = [one for one in facts if proposed[one.name][0] == "unit"]
    if len(units) < 2:
        return proposed
    kept = max(units, key=lambda one: one.distinct).name
    reason = f"its name is that of an id, but {kept} tells more persons apart; decide whether others know it (quasi)"
    return proposed | {one.name: (None, reason) for one in units if one.name != kept}


def _by_name(words: set[str], facts: Facts, n_rows: int) -> tuple[Role | None, str] | None:
    share = f"{facts.distinctness:.0%} distinct"
    if words & set(PERSON.split()) and facts.kind in ("integer", "text"):
        if _repeats(facts, n_rows):
            return "unit", f"its name is that of an id and its values repeat over rows ({share}): one person, many rows"
        if facts.distinctness >= NEARLY_ALL:
            return "identifier", f"its name is that of an id and nearly every row has its own value ({share})"
    if words & set(DIRECT.split()) and facts.distinctness > SMALL_SHARE:
        return "identifier", f"its name is that of something that points at one person ({share})"
    if words & set(PRIVATE.split()):
        return "sensitive", "its name is that of something people keep private"
    if words & set(KNOWN.split()):
        return (
            "quasi",
            f"its name is that of something others may know; it tells {facts.separation:.0%} of pairs of rows apart",
        )
    return None


def _by_values(facts: Facts, n_rows: int) -> tuple[Role | None, str]:
    if facts.distinctness >= NEARLY_ALL and facts.kind in ("text", "integer") and n_rows >= FEWEST_ROWS:
        return "identifier", f"nearly every row has its own value ({facts.distinctness:.0%} distinct)"
    if facts.distinct <= FEW_VALUES and facts.distinctness <= SMALL_SHARE:
        return "quasi", f"{facts.distinct} values shared by many rows, which others may know; decide whether they do"
    return None, f"{facts.unique_rows} rows have a value of their own; decide whether others know it (quasi) or not"


def _repeats(facts: Facts, n_rows: int) -> bool:
    """Values of an id that stand for several rows each, but for no large part of the table and never for hundreds."""
    rows_each = n_rows / max(facts.distinct, 1)
    few = rows_each <= MOST_PER_PERSON * n_rows or facts.distinct >= 20
    return facts.distinct >= 2 and 1.05 <= rows_each <= MOST_ROWS_EACH and few
