"""Pictures of searched lattices of every size: well-formed, escaped, nothing overlaps, nothing from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import combinations
from xml.etree import ElementTree

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.report.lattice_facts import Dot, LatticeFacts
from sfumato.report.lattice_page import LatticePlot
from sfumato.report.lattice_picture import lattice_picture, levels_picture
from sfumato.report.lattice_scatter import Axis, scatter_picture, thinned
from sfumato.report.measured import width_of

SVG = "{http://www.w3.org/2000/svg}"
SIZES = {"name": 10.5, "number": 11.0, "number here": 11.0}
NASTY = '<script>alert("x")</script>&\x01'


def searched(columns: dict[str, tuple[int, ...]], n: int = 120, k: int = 4, **options: float) -> LatticePlot:
    """A lattice over integer columns: `columns[name]` are the widths of its intervals."""
    table = pa.table({name: [(i * (7 + 4 * j)) % 41 for i in range(n)] for j, name in enumerate(columns)})
    people = sf.read(table, name="people").roles(quasi=list(columns))
    rules = {name: sf.intervals(*widths) for name, widths in columns.items() if widths}
    return sf.search(people, sf.Lattice(), require=sf.KAnonymity(k), hierarchies=rules, **options).plot()


def facts(heights: tuple[int, ...], columns: tuple[str, ...], n_dots: int = 1) -> LatticeFacts:
    """Made-up facts where a search would take long."""
    dots = tuple(
        Dot(tuple(min(i, height) for height in heights), "allowed", 0.1 + (i * 37 % 101) / 100, i, 3, 1 / (2 + i % 9))
        for i in range(n_dots)
    )
    best = Dot((0,) * len(heights), "best", 0.05, 0, 3, 0.5)
    beside = tuple(dots[0] if height else None for height in heights)
    return LatticeFacts(
        "people", "loss", columns, heights, 10_000, 10**12, n_dots, best, False, 0.04, False, (best, *dots), (best,),
        beside, tuple(None for _ in heights),
    )  # fmt: skip


SMALL = {"age": (5, 10, 20), "zip": (10,), "sex": ()}
MANY = {f"column {j} with a long name that goes on and on": (2, 4, 8) for j in range(4)}
PLOTS = {
    "one node": lambda: searched({"age": ()}, n=3, k=1),
    "a chain": lambda: searched({"age": tuple(2**j for j in range(1, 30))}),
    "24 nodes": lambda: searched(SMALL),
    "400 nodes": lambda: searched({"a": (2, 4, 8), "b": (2, 4, 8), "c": (2, 4, 8, 16), "d": (2, 4, 8, 16)}),
    "more": lambda: searched(MANY),
    "huge": lambda: searched({f"c{j}": (2, 4, 8) for j in range(16)}, n=60, time_limit=1.0),
}


@pytest.fixture(scope="module", params=PLOTS)
def plot(request: pytest.FixtureRequest) -> LatticePlot:
    return PLOTS[request.param]()


def boxes(picture: str) -> list[tuple[float, float, float, float, str]]:
    """Left, right, top, bottom of every text of a picture."""
    found = []
    for text in ElementTree.fromstring(picture).iter(f"{SVG}text"):
        kind = text.get("class", "")
        size = SIZES.get(kind, 12.0)
        wide, x, y = width_of(text.text or "", size), float(text.get("x", 0)), float(text.get("y", 0))
        left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[text.get("text-anchor", "start")]
        found.append((left, left + wide, y - 0.75 * size, y + 0.2 * size, text.text or ""))
    return found


def assert_nothing_overlaps(picture: str) -> None:
    root = ElementTree.fromstring(picture)
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    found = boxes(picture)
    for left, right, top, bottom, text in found:
        assert left >= -1 and right <= width + 1 and top >= 0 and bottom <= height, text
    for one, other in combinations(found, 2):
        apart = one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2]
        assert apart, f"{one[4]!r} lies over {other[4]!r}"


def test_pictures_are_svg_and_their_texts_keep_apart(plot: LatticePlot) -> None:
    first = lattice_picture(plot.facts) if plot.facts.whole else scatter_picture(plot.facts)
    for picture in (first, levels_picture(plot.facts)):
        assert_nothing_overlaps(picture)
    ElementTree.fromstring(plot.svg)
    assert "<style>" in plot.svg


def test_the_page_is_whole_and_needs_nothing_from_elsewhere(plot: LatticePlot) -> None:
    page = plot.page().decode()
    tags: list[tuple[str, dict[str, str | None]]] = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append((tag, dict(attrs)))

    Tags().feed(page)
    for tag, attributes in tags:
        assert tag not in {"script", "link", "img", "iframe", "object", "form"}
        assert not {name for name in attributes if name.startswith("on") or name in {"src", "href", "style"}}
    assert page.count("<svg") == 2
    assert f"{plot.facts.n_looked:,} looked at" in page


def test_every_node_of_a_small_lattice_is_drawn_with_its_shape() -> None:
    plot = searched(SMALL)
    found = plot.facts
    assert len(found.dots) == found.n_nodes
    kinds = [dot.kind for dot in found.dots]
    assert kinds.count("best") == 1
    root = ElementTree.fromstring(plot.svg)
    drawn = [one for one in root.iter() if one.find(f"{SVG}title") is not None]
    shapes = {one.get("class"): one.tag.removeprefix(SVG) for one in drawn}
    assert len(drawn) == found.n_nodes
    assert shapes["refused"] == "g" and shapes["allowed"] == "circle" and shapes["best"] == "polygon"


def test_edges_join_nodes_one_level_apart() -> None:
    edge = next(one for one in ElementTree.fromstring(searched(SMALL).svg).iter() if one.get("class") == "edge")
    heights = searched(SMALL).facts.heights
    wanted = sum(
        h * (a + 1) * (b + 1) for h, a, b in (heights, heights[1:] + heights[:1], heights[2:] + heights[:2])
    )  # fmt: skip
    assert edge.get("d", "").count("M") == wanted


def test_large_lattices_show_only_what_was_looked_at() -> None:
    plot = searched({f"c{j}": (2, 4, 8) for j in range(16)}, n=60, time_limit=1.0)
    assert plot.facts.n_nodes > 10**8
    assert not plot.facts.whole
    assert len(plot.facts.dots) <= plot.facts.n_looked
    assert "·10" in plot.page().decode()
    assert "LatticePlot" in repr(plot)
    assert "<svg" in plot._repr_html_()


def test_many_nodes_are_thinned() -> None:
    found = facts((50, 50), ("a", "b"), n_dots=5000)
    drawn = thinned(found)
    assert 0 < len(drawn) < 2000
    assert "5,000, " in scatter_picture(found)
    assert_nothing_overlaps(scatter_picture(found))


@pytest.mark.parametrize("heights", [(0,), (3,), (400,), (1, 60, 999)])
def test_levels_of_any_number_keep_apart(heights: tuple[int, ...]) -> None:
    names = ("W" * 60, "il", "度" * 30)[: len(heights)]
    assert_nothing_overlaps(levels_picture(facts(heights, names)))


@pytest.mark.parametrize("n_columns", [1, 40])
def test_names_are_escaped(n_columns: int) -> None:
    found = facts((1,) * n_columns, tuple(f"{NASTY}{j}" for j in range(n_columns)))
    for picture in (levels_picture(found), scatter_picture(found)):
        assert "<script" not in picture
        ElementTree.fromstring(picture)


def test_a_search_over_nasty_names_is_drawn(tmp_path) -> None:
    plot = searched({"<b>&'\"": (5, 10), "a]]>b": ()})
    ElementTree.fromstring(plot.svg)
    assert "<b>&'" not in plot.page().decode()
    assert "&lt;b&gt;&amp;" in plot.page().decode()
    plot.save(tmp_path / "a.svg")
    with pytest.raises(sf.ParameterError, match="force"):
        plot.save(tmp_path / "a.svg")
    plot.save(tmp_path / "a.svg", force=True)
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag == f"{SVG}svg"


def test_found_writes_the_page(tmp_path) -> None:
    people = sf.read(pa.table({"age": [i % 30 for i in range(90)]}), name="people").roles(quasi=["age"])
    found = sf.search(people, sf.Lattice(), require=sf.KAnonymity(3), hierarchies={"age": sf.intervals(5, 10)})
    found.to_html(tmp_path / "lattice.html")
    assert b"<!doctype html>" in (tmp_path / "lattice.html").read_bytes()


@pytest.mark.parametrize("values", [[0.0], [1.0], [0.2, 0.2], [1e-9, 2e-9], [3.0, 1e6], [-1.0, 1.0]])
def test_axes_hold_their_values_and_are_round(values: list[float]) -> None:
    axis = Axis.of(values, 0, 100)
    assert all(-1e-6 <= axis.at(value) <= 100 + 1e-6 for value in values)
    assert 2 <= len(axis.ticks) <= 12
    assert not re.search(r"\d{9}", f"{axis.ticks[-1]:g}")
