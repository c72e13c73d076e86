"""All checks in their order: files, traces, documents, description, promises, order, and the original's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sfumato.contracts import Finding
from sfumato.errors import SfumatoError
from sfumato.verify.cells import Broken, Cells, read_cells
from sfumato.verify.hygiene import as_json, check_derived, check_documents, check_parquet
from sfumato.verify.manifest import check_manifest
from sfumato.verify.models import Unknown
from sfumato.verify.order import check_order
from sfumato.verify.persons import check_unseen
from sfumato.verify.promises import check_promises, evidence_of_cells
from sfumato.verify.prose import check_readme
from sfumato.verify.raw_table import Reading, read_raw
from sfumato.verify.stored import Stored, check_files
from sfumato.verify.verification import Verification
from sfumato.verify.views import check_views, table_name

BUILT_OTHERWISE = (
    ArithmeticError, AttributeError, IndexError, KeyError, MemoryError, RecursionError, TypeError, ValueError,
)  # fmt: skip
DOCUMENTS = ("datapackage.json", "guarantees.json", "provenance.json", "croissant.json")


def judge(path: Path, raw: Any = None, reading: Reading | None = None) -> Verification:
    """Judge a package directory or zip."""
    stored = Stored(path)
    documents = {name: as_json(stored.files.get(name, b"")) for name in DOCUMENTS}
    original = None if raw is None else read_raw(raw, reading or Reading())
    findings: list[Finding] = []
    try:
        findings.extend(_judge_files(stored, documents))
        findings.extend(_judge_meaning(stored, documents, original))
    except SfumatoError:
        raise
    except (Broken, Unknown) as reason:
        findings.append(Finding("readable", False, f"The package cannot be read: {reason}."))
    except BUILT_OTHERWISE as error:
        findings.append(
            Finding("readable", False, f"The package is not built as the format says ({type(error).__name__}).")
        )
    return Verification(findings)


def _judge_files(stored: Stored, documents: dict[str, Any]) -> Iterator[Finding]:
    """Files, pages and documents for themselves."""
    described = documents["datapackage.json"]
    ours = described.get("sfumato") if isinstance(described, dict) else None
    form = ours.get("form") if isinstance(ours, dict) else None
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in stored.files.items()}
    yield from check_files(stored, form if isinstance(form, str) else None)
    yield from check_parquet(stored.files)
    yield from check_documents(stored.files, documents)
    yield check_derived(documents, digests)


def _judge_meaning(stored: Stored, documents: dict[str, Any], raw: Any) -> list[Finding]:
    """What the cells say, alone and beside the original."""
    cells = read_cells(stored.files, documents["datapackage.json"])
    findings = _judge_cells(cells, documents, stored.files)
    if raw is None:
        return findings
    from sfumato.verify.original import check_original

    more = list(check_original(cells, documents["guarantees.json"], stored.files, raw))
    again = {one.check for one in more}
    return [one for one in findings if one.check not in again] + more


def _judge_cells(cells: Cells, documents: dict[str, Any], files: dict[str, bytes]) -> list[Finding]:
    described = check_manifest(cells, documents["datapackage.json"])
    findings = list(described)
    promised = documents["guarantees.json"]
    if any(not one.holds for one in described if one.check in ("columns", "group ids")):
        return [*findings, Finding("promises", False, "They cannot be counted before the columns are right.")]
    if any(one.get("unit") != promised["unit"] for one in promised["guarantees"]):
        findings.append(Finding("unit", False, "Promises and their list name different units."))
    if promised["unit"] == "row":
        findings.extend(check_promises(cells, promised, evidence_of_cells(cells), "rows as persons"))
    else:
        findings.extend(check_unseen(cells, promised))
    findings.extend(check_order(cells))
    findings.append(check_readme(cells, promised, files))
    if all(one.holds for one in described):
        findings.extend(check_views(cells, files, table_name(documents["datapackage.json"])))
    return findings
