"""A searched lattice as one page or one picture, whatever its size, without scripts; levels and column names only."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from sfumato.errors import ParameterError
from sfumato.report.html import part
from sfumato.report.lattice_facts import LatticeFacts, lattice_facts
from sfumato.report.lattice_marks import levels_of, rows, score
from sfumato.report.lattice_picture import MOST_EDGES, lattice_picture, levels_picture
from sfumato.report.lattice_scatter import scatter_picture
from sfumato.report.risk_words import percent
from sfumato.report.wording import number

if TYPE_CHECKING:
    from sfumato.methods.fulldomain.solutions import Solutions

SHOWN = 20
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
WIDE = "main.wide { max-width: 1008px; }\nmain.wide td.n { white-space: nowrap; }\n"
Section = tuple[str, str, str]


class LatticePlot:
    """A searched lattice to look at: in a notebook, as a page, or as a picture.

    Every node of a small lattice; of a larger one risk against score of the nodes looked at. Below, the best node's
    levels with its neighbours.
    """

    def __init__(self, found: Solutions, metric: str) -> None:
        self._found, self._metric = found, metric

    @cached_property
    def facts(self) -> LatticeFacts:
        """What is drawn."""
        return lattice_facts(self._found, self._metric)

    @cached_property
    def svg(self) -> str:
        """The lattice (or its frontier) as one picture that stands alone."""
        style = f"<style>{part('lattice.css')}</style>"
        return _sections(self.facts)[0][1].replace("<rect", f"{style}<rect", 1)

    def page(self) -> bytes:
        """The page, UTF-8, with a strict content security policy."""
        return _page(self.facts)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the page, or the picture where the path ends in `.svg`; a file that is there only when forced."""
        there = Path(path)
        if there.suffix.lower() not in (".html", ".htm", ".svg"):
            raise ParameterError(f"{there.name} is neither a page nor a picture. Name a file .html or .svg.")
        if there.exists() and not force:
            raise ParameterError(f"{there} already exists. Choose another path, or pass force=True to replace it.")
        there.write_bytes(self.written(there))

    def written(self, path: Path) -> bytes:
        """What goes into a file of this name."""
        if path.suffix.lower() == ".svg":
            return f'<?xml version="1.0" encoding="UTF-8"?>\n{self.svg}\n'.encode()
        return self.page()

    def _repr_html_(self) -> str:
        levels = _sections(self.facts)[1][1]
        return f"<div>{self.svg}{levels}</div>"

    def __repr__(self) -> str:
        return f"<LatticePlot: {_headline(self.facts)}>"


def _page(facts: LatticeFacts) -> bytes:
    style = part("report.css") + WIDE + part("lattice.css")
    environment = Environment(
        loader=DictLoader({"lattice.html.j2": part("lattice.html.j2")}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text = environment.get_template("lattice.html.j2").render(
        style=Markup(style),
        style_hash=b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        facts=facts,
        headline=_headline(facts),
        proven=_proven(facts),
        pictures=[(title, Markup(picture), words) for title, picture, words in _sections(facts)],
        shown=facts.frontier[:SHOWN],
        levels=levels_of,
        rows=rows,
        score=score,
        percent=percent,
        number=number,
        many=many,
    )
    return text.encode("utf8")


def _sections(facts: LatticeFacts) -> list[Section]:
    edges = " A line leads to a node one level coarser." if facts.n_nodes <= MOST_EDGES else ""
    first: Section = (
        "The lattice",
        lattice_picture(facts) if facts.whole else "",
        f"Each node says for every column how far its values are generalized.{edges} Allowed: the requirements hold "
        "with few enough rows suppressed.",
    )
    if not facts.whole:
        first = (
            "Risk and score",
            scatter_picture(facts),
            "Allowed nodes that were looked at. The line joins those that no other beats in both risk and score.",
        )
    levels = (
        "Levels of the best node",
        levels_picture(facts),
        "On the right, the score of the node with only that column one level finer or coarser, or why it is refused.",
    )
    return [first, levels]


def _headline(facts: LatticeFacts) -> str:
    columns = f"{len(facts.columns)} column{'s' * (len(facts.columns) != 1)}"
    nodes = f"{many(facts.n_nodes)} node{'s' * (facts.n_nodes != 1)}"
    return f"{nodes} over {columns}, {number(facts.n_looked)} looked at; the best score is {_proven(facts)}"


def _proven(facts: LatticeFacts) -> str:
    """Whether the best node is proven to be the best."""
    if facts.proven:
        return "proven"
    return "not proven" if facts.gap is None else f"not proven, at most {score(facts.gap)} too high"


def many(n: int) -> str:
    """A count, beyond a thousand million as a power of ten.

    >>> many(12960), many(173_946_175_488)
    ('12,960', '1.74·10¹¹')
    """
    if n < 10**9:
        return number(n)
    power = len(str(n)) - 1
    return f"{n / 10**power:.3g}·10{str(power).translate(RAISED)}"
