"""The public report: one self-contained page, same release → same bytes, nothing in it beyond the package's cells."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from sfumato.releases.form import Form
from sfumato.report.facts import Facts, facts_of
from sfumato.report.picture import bar_chart, share_bar, size_bars
from sfumato.report.risk_words import percent
from sfumato.report.wording import FORMS, figures, not_promised, number, words_of
from sfumato.utility.risk import ALONE, risks

if TYPE_CHECKING:
    from sfumato.contracts import Promise, Release

PUBLISHED_AS = {
    "exact": "exact values",
    "range": "ranges on a fixed grid",
    "node": "a node of its hierarchy",
    "set": "a set of values",
    "permuted": "exact values, shuffled inside each group",
}


def public_report(release: Release) -> bytes:
    """The page that goes with the package, as UTF-8 HTML with a strict content security policy and no scripts."""
    style = part("report.css")
    page = _environment().get_template("report.html.j2")
    facts = facts_of(release)
    text = page.render(
        style=Markup(style),
        style_hash=b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        title=release.recipe.title or release.name,
        release=release,
        recipe=release.recipe,
        facts=facts,
        form=FORMS.get(release.form, release.form),
        promises=[_promise(promise) for promise in release.recipe.promises],
        not_promised=not_promised(release.form, release.recipe.unit),
        sizes=Markup(bar_chart(size_bars(facts.sizes), "Number of groups by their size")),
        risk=_risk(release),
        columns=[_column(column) for column in facts.columns],
        example=_example(facts),
        figures=figures,
        number=number,
        percent=percent,
    )
    return text.encode("utf8")


def _risk(release: Release) -> dict[str, Any] | None:
    """The prosecutor's figures, which bound every other attacker's, and what to know about them."""
    if not isinstance(release, Form) or not release.schema.names("quasi"):
        return None
    found = risks(release, most_combined=1)
    notes = [note for note in found.notes if note != ALONE]
    return {"figures": found.attackers.slice(0, 1).to_pylist()[0], "threshold": found.threshold, "notes": notes}


def _promise(promise: Promise) -> dict[str, Any]:
    words = words_of(promise.model)
    parameters = {name: value for name, value in promise.parameters.items() if value is not None}
    return {
        "model": promise.model,
        "on": promise.on,
        "parameters": figures(parameters),
        "achieved": figures(promise.achieved),
        "promises": words.promises,
        "leaves_open": words.leaves_open,
    }


def _column(column: Any) -> dict[str, Any]:
    share = f"{column.exact_share:.0%}"
    return {
        "facts": column,
        "published": PUBLISHED_AS.get(column.published, column.published),
        "picture": Markup(share_bar(column.exact_share, f"{share} of rows exact")),
        "share": share,
    }


def _example(facts: Facts) -> str:
    """A query that works on this release: rows per value of its first column that is not a quasi-identifier."""
    names = [column.name for column in sorted(facts.columns, key=lambda c: c.role == "quasi")]
    chosen = next((name for name in names if name.isascii() and name.isidentifier()), None)
    if chosen is None:
        return "SELECT count(*) AS n FROM data"
    return f"SELECT {chosen}, count(*) AS n FROM data GROUP BY {chosen}"


def _environment() -> Environment:
    loader = DictLoader({"report.html.j2": part("report.html.j2")})
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def part(name: str) -> str:
    """A template or style sheet of this room."""
    return files("sfumato.report").joinpath("templates", name).read_text(encoding="utf8")
