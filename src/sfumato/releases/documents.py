"""guarantees.json, provenance.json and croissant.json of a release."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sfumato.contracts import Promise, Recipe
from sfumato.releases.form import Form
from sfumato.releases.manifest import FORMAT

VERIFIED_BY = "counted again on the written bytes; repeat it with: sfumato verify"
ALWAYS = (
    "A missing value counts as a value of its own.",
    "What links a person to a row is at most the columns called quasi-identifiers here.",
    "Nothing is promised about what can be learned from other releases of the same people.",
)
SEVERAL_ROWS = (
    "It holds in every group on its own: a person may have rows in several groups, and whoever knows which rows are "
    "one person's can combine what those groups tell. Inside a group, who has more rows than the others may be told by "
    "counting rows."
)
MEANING = {
    "group-size": "Every group has at least k persons; which of the group's values belongs to whom is hidden, the rows "
    "themselves can be found.",
}


def guarantees(recipe: Recipe) -> dict[str, Any]:
    """Every promise with its parameters, what was achieved, and what it rests on."""
    return {
        "format": FORMAT,
        "unit": recipe.unit,
        "guarantees": [_promise(promise, recipe.unit) for promise in recipe.promises],
    }


def _promise(promise: Promise, unit: str) -> dict[str, Any]:
    persons = ["Every row is about another person."]
    if unit != "row":
        counted = f"Persons were counted by column {unit!r}, which is not published; only its holder can count again."
        persons = [counted, SEVERAL_ROWS]
    meaning = [MEANING[promise.model]] if promise.model in MEANING else []
    return {
        "model": promise.model,
        "parameters": dict(promise.parameters),
        "on": promise.on,
        "achieved": dict(promise.achieved),
        "verified_by": VERIFIED_BY,
        "unit": unit,
        "assumptions": [*meaning, *persons, *ALWAYS],
    }


def provenance(recipe: Recipe) -> dict[str, Any]:
    """The tool, the method with its public parameters, and what was noted; nothing of the original or its order."""
    return {
        "format": FORMAT,
        "tool": "sfumato",
        "version": _version(),
        "method": {"name": recipe.method, "parameters": dict(recipe.parameters)},
        "reproducible": recipe.reproducible,
        "steps": ["prepare", "publish", "count again", "shuffle", "write", "verify"],
        "notes": list(recipe.notes),
    }


def _version() -> str:
    try:
        return version("sfumato")
    except PackageNotFoundError:
        return "unknown"


def croissant(release: Form, package: Mapping[str, Any], digests: Mapping[str, str]) -> dict[str, Any]:
    """A Croissant description of the tables for dataset search engines."""
    files, records = [], []
    for resource in package["resources"]:
        path, name = resource["path"], resource["name"]
        files.append(
            {
                "@type": "cr:FileObject",
                "@id": path,
                "name": name,
                "contentUrl": path,
                "encodingFormat": "application/x-parquet",
                "sha256": digests[path],
            }
        )
        fields = [_field(name, path, field) for field in resource["schema"]["fields"]]
        records.append({"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields})
    found = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": package.get("title") or package["name"],
        "description": "Anonymized table with the bounds of every uncertain cell.",
        "distribution": files,
        "recordSet": records,
    }
    if release.recipe.license:
        found["license"] = release.recipe.license
    return found


def _field(table: str, path: str, field: Mapping[str, str]) -> dict[str, Any]:
    kind = {"integer": "sc:Integer", "number": "sc:Float", "date": "sc:Date", "boolean": "sc:Boolean"}
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{field['name']}",
        "name": field["name"],
        "dataType": kind.get(field["type"], "sc:Text"),
        "source": {"fileObject": {"@id": path}, "extract": {"column": field["name"]}},
    }


_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "column": "cr:column",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "recordSet": "cr:recordSet",
    "source": "cr:source",
    "sha256": "sc:sha256",
}
