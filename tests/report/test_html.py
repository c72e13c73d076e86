"""The public report: deterministic, self-contained, escaped, nothing beyond the published cells."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

from sfumato.contracts import Promise, Recipe, Release
from sfumato.data.codec import Domain
from sfumato.data.schema import Column, Schema
from sfumato.releases.documents import guarantees
from sfumato.releases.generalized import Generalized
from sfumato.releases.readme import readme
from sfumato.report.facts import facts_of
from sfumato.report.html import public_report
from sfumato.report.picture import bar_chart, size_bars
from sfumato.report.text import release_json, release_lines
from sfumato.report.wording import WORDS
from sfumato.requirements import all_requirements
from tests.utility.enumeration import anatomized, generalized

NASTY = '<script>alert("x")</script>'


class Tags(HTMLParser):
    """Collects tags and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def tags_of(page: bytes) -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(page.decode())
    return parser.tags


@pytest.mark.parametrize("release", [generalized(), generalized(2), anatomized()])
def test_the_same_release_gives_the_same_page(release) -> None:
    assert public_report(release) == public_report(replace(release))


def test_the_page_says_how_likely_a_row_is_found() -> None:
    page = public_report(generalized(3)).decode()
    assert "a chance of 40 % on average" in page
    assert "50 % for the row that is easiest to find" in page
    assert "sensitive values of its group" in public_report(anatomized()).decode()


@pytest.mark.parametrize("release", [generalized(), anatomized()])
def test_the_page_needs_nothing_from_elsewhere(release) -> None:
    for tag, attributes in tags_of(public_report(release)):
        assert tag not in {"script", "link", "img", "iframe", "object", "form"}
        assert not {name for name in attributes if name.startswith("on") or name in {"src", "href", "style"}}


def test_the_policy_allows_exactly_this_style() -> None:
    page = public_report(generalized()).decode()
    style = re.search(r"<style>(.*?)</style>", page, re.S)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert style and policy
    found = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"style-src &#39;sha256-{found}&#39;" in policy[1] or f"style-src 'sha256-{found}'" in policy[1]
    assert "unsafe" not in policy[1]


def test_everything_a_person_named_is_escaped() -> None:
    schema = Schema(
        (Column(NASTY, "integer", "quasi"), Column("town", "text", "quasi"), Column("pay", "integer", "plain"))
    )
    given = generalized()
    renamed = {NASTY if name == "age" else name: domain for name, domain in given.domains.items()}
    recipe = Recipe("none", {"x": NASTY}, (Promise(NASTY, {"k": 2}, NASTY, {"k": 2}),), title=NASTY, notes=(NASTY,))
    release = Generalized(
        NASTY,
        schema,
        renamed,
        {NASTY: given.low["age"], "town": given.low["town"]},
        {NASTY: given.high["age"], "town": given.high["town"]},
        given.group,
        given.exact,
        replace(recipe, license=NASTY, unit=NASTY),
    )
    page = public_report(release)
    assert b"<script" not in page
    assert "script" not in {tag for tag, _ in tags_of(page)}


def test_no_cell_is_on_the_page() -> None:
    canary = "canary-94713"
    given = generalized()
    domains = {**given.domains, "town": Domain("text", pa.array([canary, canary + "b", canary + "c"]), region="set")}
    assert canary.encode() not in public_report(replace(given, domains=domains))


def test_suppressed_rows_are_counted_and_left_out_of_the_widths() -> None:
    plain, suppressed = facts_of(generalized()), facts_of(generalized(2))
    assert (plain.n_suppressed, suppressed.n_suppressed) == (0, 2)
    assert plain.columns == suppressed.columns
    assert [c.published for c in plain.columns] == ["range", "set", "exact"]
    assert [c.most_leaves for c in plain.columns] == [2, 2, 1]


def test_permuted_columns_are_called_so() -> None:
    found = {column.name: column.published for column in facts_of(anatomized()).columns}
    assert found == {"age": "exact", "town": "exact", "pay": "permuted"}


def test_a_permuted_release_does_not_claim_that_rows_cannot_be_found() -> None:
    claim, caveat = b"persons that fit equally well", b"is not hidden"
    assert claim in public_report(generalized())
    assert claim not in public_report(anatomized())
    assert caveat in public_report(anatomized())
    assert b"Presence." in public_report(anatomized())


def test_a_release_for_science_says_so() -> None:
    marked = replace(generalized(), recipe=replace(generalized().recipe, reproducible=True))
    assert b"Not for publication" in public_report(marked)
    assert b"Not for publication" not in public_report(generalized())


def test_every_registered_model_has_words() -> None:
    models = all_requirements()
    assert {kind.model for kind in models} | {kind.of_groups for kind in models if kind.of_groups} <= set(WORDS)


@pytest.mark.parametrize("given", [generalized(), anatomized()], ids=lambda release: release.form)
def test_what_several_rows_of_one_person_tell_is_said_where_persons_are_counted(given: Release) -> None:
    said = b"Several rows of one person."
    assert said not in public_report(given)
    counted = given.with_recipe(replace(given.recipe, unit="patient"))
    assert said in public_report(counted)
    for one in guarantees(counted.recipe)["guarantees"]:
        assert any("can combine" in line for line in one["assumptions"])
    assert "can combine" in readme(counted) and "can combine" not in readme(given)


def test_a_promise_about_groups_says_that_rows_can_be_found() -> None:
    (promise,) = guarantees(anatomized().recipe)["guarantees"]
    assert (promise["model"], promise["parameters"]) == ("group-size", {"k": 2})
    for text in (*promise["assumptions"][:1], readme(anatomized()), public_report(anatomized()).decode()):
        assert "rows themselves can be found" in " ".join(text.split())


@pytest.mark.parametrize("sizes", [[5], [5, 6, 9], list(range(2, 900)), [3] * 50 + [10_000]])
def test_every_group_is_in_one_bar(sizes: list[int]) -> None:
    bars = size_bars(np.array(sizes))
    assert sum(bar.value for bar in bars) == len(sizes)
    assert len(bars) <= 16
    chart = bar_chart(bars, "sizes")
    assert chart.count("<rect") == len(bars)
    assert all(float(y) >= 0 for y in re.findall(r' y="(-?[\d.]+)"', chart))


def test_a_table_without_groups_has_no_chart() -> None:
    assert bar_chart(size_bars(np.array([], dtype=np.int64)), "sizes") == ""


def test_text_and_json_say_the_same() -> None:
    release = generalized(1)
    lines, found = "\n".join(release_lines(release)), release_json(release)
    assert "people: 6 rows" in lines
    assert "achieved k = 2" in lines
    assert (found["n_rows"], found["n_groups"], found["n_suppressed"]) == (6, 2, 1)
    assert found["promises"] == [{"model": "k-anonymity", "parameters": {"k": 2}, "on": None, "achieved": {"k": 2}}]
