"""README.md and the report: no markup but the format's own, and no other promises and counts than the documents'."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from sfumato.contracts import Finding
from sfumato.verify.cells import Cells

TAGS = frozenset(
    re.findall(
        r"\w+",
        "html head meta title style body main header footer section div h1 h2 h3 p ul li b span code pre table thead "
        "tbody tr th td svg rect line text g path circle",
    )
)
ATTRIBUTES = frozenset(
    re.findall(
        r"[-\w]+",
        "lang charset name content class role aria-label viewBox x y x1 y1 x2 y2 rx d width height text-anchor",
    )
)
TAG = re.compile(r'</?(\w+)((?:\s+[-\w]+="[^"<>]*")*)\s*/?>', re.ASCII)
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="default-src \'none\';[^"<>]*">')
STYLE = re.compile(r"url|@import|expression|\\|<", re.I)
TELLING = re.compile(r"\b(?:k|l|t|c|alpha)\s*(?:=|is|of)\s*\d|\d\s*-\s*(?:anonym|divers)", re.I)
PROMISED = "\n## What is promised\n\n"


def check_prose(files: Mapping[str, bytes]) -> Finding:
    """Every "<" of the report begins an allowed tag with allowed attributes; README.md has none outside of code."""
    readme, report = (files.get(name, b"").decode("utf8", "replace") for name in ("README.md", "report/index.html"))
    safe = "<" not in _without_code(readme) and not _odd_markup(report)
    return Finding("nothing active", safe, "Text only." if safe else "README.md or the report holds active markup.")


def check_readme(cells: Cells, guarantees: Any, files: Mapping[str, bytes]) -> Finding:
    """Its counts and promises are those of the documents, and it states no others."""
    text = files.get("README.md", b"").decode("utf8", "replace")
    head, found, rest = text.partition(PROMISED)
    told, blank, after = rest.partition("\n\n")
    lines = [f"- {_promise(one)}" for one in guarantees["guarantees"]] or ["- nothing"]
    said = told.split("\n")
    more = f"; {cells.n_suppressed} more exist of which nothing is said" if cells.n_suppressed else ""
    counts = f"{cells.n_published} rows are published in this anonymized release{more}."
    unit = guarantees["unit"]
    persons = (
        "Every row counts as one person."
        if unit == "row"
        else f"Persons are counted by the column {_name(unit)}, which is not published."
    )
    good = (
        bool(found and blank)
        and len(said) == len(lines)
        and all(_states(one, line) for one, line in zip(said, lines, strict=True))
        and after.startswith(f"{persons} ")
        and re.findall(r".*\brows are published\b.*", text) == [counts]
        and not TELLING.search(_without_code(head.partition("\n")[2]) + after)
    )
    detail = "README.md states these promises and counts." if good else "README.md states other promises or counts."
    return Finding("README", good, detail)


def _states(said: str, line: str) -> bool:
    """The promise, and at most words about it."""
    return said.startswith(line) and re.fullmatch(r"(?:\. \D*)?", said[len(line) :]) is not None


def _promise(one: Mapping[str, Any]) -> str:
    said, reached = (
        ", ".join(f"{key} = {value}" for key, value in one[part].items()) for part in ("parameters", "achieved")
    )
    on = f" on {_name(one['on'])}" if one["on"] else ""
    return f"{one['model']} ({said}){on}; achieved: {reached}"


def _name(text: str) -> str:
    return escape(" ".join(text.split())).replace("|", "\\|").replace("`", "&#96;")


def _odd_markup(page: str) -> bool:
    """Anything but plain tags; read so narrowly that no viewer can read it otherwise."""
    rest = POLICY.sub("", re.sub(r"\A<!doctype html>", "", page, flags=re.I), count=1)
    for style in re.findall(r"<style>(.*?)</style>", rest, re.S):
        if STYLE.search(style):
            return True
    for at in (match.start() for match in re.finditer("<", rest)):
        tag = TAG.match(rest, at)
        if tag is None or tag[1].lower() not in TAGS:
            return True
        if not set(re.findall(r'([-\w]+)="', tag[2])) <= ATTRIBUTES:
            return True
    return False


def _without_code(markdown: str) -> str:
    """Markdown without fenced blocks and code spans, where nothing is markup."""
    return re.sub(r"`[^`\n]*`", " ", re.sub(r"^```.*?^```$", " ", markdown, flags=re.S | re.M))
