"""What the verifier found, as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa

from sfumato.contracts import Finding
from sfumato.data.tabular import Tabular


class Verification(Tabular):
    """Every check with its outcome; `holds` when none fails, `undecided` what could not be told. Never a cell value.

    >>> Verification([Finding("checksums", True, "3 files are unchanged.")]).holds
    True
    """

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__(
            pa.table(
                {
                    "check": pa.array([one.check for one in findings], pa.string()),
                    "holds": pa.array([one.holds for one in findings], pa.bool_()),
                    "decided": pa.array([one.decided for one in findings], pa.bool_()),
                    "detail": pa.array([one.detail for one in findings], pa.string()),
                }
            )
        )

    @property
    def holds(self) -> bool:
        """True when no check fails; what was not decided is in `undecided`."""
        return all(one.holds for one in self.findings)

    @property
    def undecided(self) -> tuple[Finding, ...]:
        """The findings that what was given can neither show nor refute."""
        return tuple(one for one in self.findings if one.holds and not one.decided)

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that do not hold."""
        return tuple(one for one in self.findings if not one.holds)

    def json(self) -> str:
        """The outcome and every finding."""
        findings = [
            {
                "check": one.check,
                "holds": one.holds,
                "decided": one.decided,
                "detail": one.detail,
                "figures": dict(one.figures),
            }
            for one in self.findings
        ]
        return json.dumps({"holds": self.holds, "findings": findings}, ensure_ascii=False, indent=2)

    def __repr__(self) -> str:
        open_ = len(self.undecided)
        good = len(self.findings) - len(self.failures) - open_
        rest = f", {open_} not decided" if open_ else ""
        return super().__repr__() + f"\n{good} of {len(self.findings)} checks hold{rest}"
