"""Risks in words and percent, for text and page alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sfumato.report.wording import number

if TYPE_CHECKING:
    from sfumato.utility.risk import Risks

SHOWN = 8


def headline(risks: Risks) -> str:
    """What was looked at, in one sentence each."""
    suppressed = (
        f", {number(risks.n_suppressed)} rows suppressed (not published, no risk)" if risks.n_suppressed else ""
    )
    return (
        f"{risks.name}: {number(risks.n_records)} records in {number(risks.n_classes)} classes on "
        f"{', '.join(risks.quasi)}; {number(risks.n_unique)} unique{suppressed}"
    )


def attackers_in_words(risks: Risks) -> pa.Table:
    """The attackers' table for people: risks and shares in percent."""
    rows = []
    for line in risks.attackers.to_pylist():
        at_highest, at_risk = (_counted(line, name) for name in ("highest", "risk"))
        rows.append(
            {
                "attacker": line["attacker"],
                "highest": percent(line["highest"]),
                "average": percent(line["average"]),
                "lowest": percent(line["lowest"]),
                "at highest": at_highest,
                f"above {percent(risks.threshold)}": at_risk,
                "basis": line["basis"],
            }
        )
    return pa.Table.from_pylist(rows)


def _counted(line: dict[str, Any], name: str) -> str:
    records = line[f"records_at_{name}"]
    return "–" if records is None else f"{number(records)} ({percent(line[f'share_at_{name}'])})"


def percent(share: float | None) -> str:
    """A share as it is read: never 0 % of something, nor 100 % of less.

    >>> percent(0.2), percent(1 / 3), percent(0.00001), percent(0.99999), percent(1.0), percent(None)
    ('20 %', '33.3 %', '<0.01 %', '>99.99 %', '100 %', '–')
    """
    if share is None:
        return "–"
    if 0 < share < 0.0001:
        return "<0.01 %"
    if 0.9999 < share < 1:
        return ">99.99 %"
    text = f"{100 * share:.2f}" if share < 0.01 or share > 0.99 else f"{100 * share:.1f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def most_telling(table: pa.Table, most: int = SHOWN) -> pa.Table:
    """Of every size the few sets of columns that tell most rows apart; single columns all."""
    kept: list[int] = []
    seen: dict[int, int] = {}
    for i, size in enumerate(table.column("size").to_pylist()):
        seen[size] = seen.get(size, 0) + 1
        if size == 1 or seen[size] <= max(1, most // size):
            kept.append(i)
    return table.take(pa.array(kept, pa.int64()))
