"""The risk report in hand: tables, text for a terminal, JSON, and one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.data.tabular import Tabular
from sfumato.errors import ParameterError
from sfumato.report.risk_words import attackers_in_words, headline, most_telling

if TYPE_CHECKING:
    from sfumato.utility.risk import Risks


class RiskReport(Tabular):
    """Re-identification risk: the table of `.attackers`, and `.distribution`, `.classes`, `.columns`, `.notes`.

    `highest`, `average`, `lowest`: risk that a record is found; `records_at_risk`: records whose risk is above the
    threshold. `basis`: exact, upper bound, or estimate (of a stated model). It does not speak of what is learned
    about a person without finding the record.
    """

    def __init__(self, risks: Risks) -> None:
        super().__init__(risks.attackers)
        self.risks = risks
        self.attackers = Tabular(risks.attackers)
        self.distribution = Tabular(risks.distribution)
        self.classes = Tabular(risks.classes)
        self.columns = Tabular(risks.columns)
        self.notes = risks.notes

    def json(self) -> dict[str, Any]:
        """Everything as plain lists and numbers."""
        risks = self.risks
        counts = ("n_rows", "n_records", "n_classes", "n_suppressed", "n_unique", "threshold", "population")
        return {
            "name": risks.name,
            "quasi": list(risks.quasi),
            **{name: getattr(risks, name) for name in counts},
            "attackers": self.attackers.rows(),
            "distribution": self.distribution.rows(),
            "classes": self.classes.rows(),
            "columns": self.columns.rows(),
            "notes": list(self.notes),
        }

    def show(self) -> None:
        """Print the report."""
        print(self)

    def page(self) -> bytes:
        """The report as one HTML page without scripts, UTF-8."""
        from sfumato.report.risk_page import risk_page

        return risk_page(self.risks)

    def to_html(self, path: str | Path, *, force: bool = False) -> None:
        """Write the page to a file; an existing one is replaced only when forced."""
        there = Path(path)
        if there.exists() and not force:
            raise ParameterError(f"{there} already exists. Choose another path, or pass force=True to replace it.")
        there.write_bytes(self.page())

    def __repr__(self) -> str:
        found = most_telling(self.risks.columns)
        parts = [
            headline(self.risks),
            Tabular(attackers_in_words(self.risks)).listing(),
            f"Sets of columns that tell rows apart:\n{Tabular(found).listing(len(found))}",
            *self.notes,
        ]
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        from html import escape

        found = Tabular(most_telling(self.risks.columns))
        notes = "".join(f"<p>{escape(text)}</p>" for text in (headline(self.risks), *self.notes))
        return f"{notes}{Tabular(attackers_in_words(self.risks))._repr_html_()}{found._repr_html_()}"
