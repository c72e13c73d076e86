"""The risk report as one page: figures, attackers, how risk is spread, and which columns make it."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from sfumato.report.html import part
from sfumato.report.picture import Bar, bar_chart, share_bar, size_bars
from sfumato.report.risk_words import most_telling, percent
from sfumato.report.wording import number

if TYPE_CHECKING:
    from sfumato.utility.risk import Risks

WANTS = {
    "prosecutor": "knows that a certain person is in the table and looks for that person's record.",
    "journalist": "knows of nobody in the table for certain and wants to find any one record's person.",
    "marketer": "matches as many records as possible and does not mind that some are wrong.",
}
MERGED = 0.01


def risk_page(risks: Risks) -> bytes:
    """A self-contained page with a strict content security policy and no scripts; counts and column names only."""
    style = part("report.css")
    environment = Environment(
        loader=DictLoader({"risk.html.j2": part("risk.html.j2")}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    attackers = risks.attackers.to_pylist()
    sets = most_telling(risks.columns).to_pylist()
    text = environment.get_template("risk.html.j2").render(
        style=Markup(style),
        style_hash=b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        risks=risks,
        attackers=[{**line, "wants": WANTS[line["attacker"]], "picture": _share(line)} for line in attackers],
        distributions=_distributions(risks),
        sizes=Markup(bar_chart(_class_bars(risks), "Number of classes by their size")),
        largest=max(risks.classes.column("size").to_pylist(), default=0),
        singles=[_set(line) for line in sets if line["size"] == 1],
        sets=[_set(line) for line in sets if line["size"] > 1],
        n_sets=risks.columns.num_rows,
        number=number,
        percent=percent,
    )
    return text.encode("utf8")


def _share(line: dict[str, Any]) -> Markup:
    share = line["share_at_risk"]
    return Markup("") if share is None else Markup(share_bar(share, f"{percent(share)} of records at risk"))


def _set(line: dict[str, Any]) -> dict[str, Any]:
    words = f"{percent(line['separation'])} of pairs of rows told apart"
    return {**line, "names": line["columns"].split(", "), "picture": Markup(share_bar(line["separation"], words))}


def _distributions(risks: Risks) -> list[tuple[str, Markup]]:
    """Per attacker a picture: records per interval of risk, and the line of those up to there."""
    lines = risks.distribution.to_pylist()
    found = []
    for name in dict.fromkeys(line["attacker"] for line in lines):
        bars, cumulative = _risk_bars([line for line in lines if line["attacker"] == name])
        found.append((name, Markup(bar_chart(bars, f"Records by their risk, {name}", cumulative))))
    return found


def _risk_bars(lines: list[dict[str, Any]]) -> tuple[list[Bar], list[float]]:
    """One bar an interval; all risks up to 1 % in the first."""
    low = [line for line in lines if line["to"] <= MERGED]
    records, share = sum(line["records"] for line in low), sum(line["share"] for line in low)
    bars, cumulative = [_risk_bar(0.0, MERGED, records, share)], [low[-1]["cumulative"]]
    for line in lines[len(low) :]:
        bars.append(_risk_bar(line["above"], line["to"], line["records"], line["share"]))
        cumulative.append(line["cumulative"])
    return bars, cumulative


def _risk_bar(above: float, to: float, records: int, share: float) -> Bar:
    words = f"{number(records)} records ({percent(share)}) with a risk above {percent(above)}, at most {percent(to)}"
    return Bar(f"{100 * to:.0f}%", records, words, f"{100 * share:.0f}%" if share >= 0.005 else "<1%")


def _class_bars(risks: Risks) -> list[Bar]:
    sizes, n_classes = (risks.classes.column(name).to_numpy() for name in ("size", "classes"))
    return size_bars(np.repeat(sizes, n_classes))
