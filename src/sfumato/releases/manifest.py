"""datapackage.json: what the cells mean, as a Data Package with ours under "sfumato", and the way back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

import pyarrow as pa

from sfumato.contracts import Promise, Recipe
from sfumato.data.codec import Domain, Taken
from sfumato.data.schema import Column
from sfumato.errors import SchemaError
from sfumato.releases.form import Form
from sfumato.releases.grids import cells_of_runs, grid_of, runs_of_cells, values_of_grid
from sfumato.releases.listed import is_sorted, listed_domain
from sfumato.releases.used import is_grid

FORMAT = 1
PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
FIELD_TYPES = {"integer": "integer", "real": "number", "decimal": "number", "date": "date", "boolean": "boolean"}


def listed_columns(release: Form) -> tuple[str, ...]:
    """Columns of a published release whose leaves go into model/domains.parquet."""
    listed = []
    for name, domain in release.domains.items():
        exact = name not in release.regions
        derived = not domain.levels and is_sorted(domain) if exact else is_grid(domain)
        if domain.n_values and not derived:
            listed.append(name)
    return tuple(listed)


def datapackage(release: Form, tables: Mapping[str, pa.Table], listed: tuple[str, ...]) -> dict[str, Any]:
    """The whole document for a published release."""
    recipe = release.recipe
    found: dict[str, Any] = {"$schema": PROFILE, "name": _slug(release.name)}
    if recipe.title:
        found["title"] = recipe.title
    if recipe.license:
        found["licenses"] = [{"name": recipe.license}]
    resources = [_resource(f"data/{name}.parquet", name, table, release) for name, table in tables.items()]
    found["resources"] = resources
    found["sfumato"] = {
        "format": FORMAT,
        "form": release.form,
        "table": release.name,
        "n_published": release.n_rows - release.n_suppressed,
        "n_suppressed": release.n_suppressed,
        "columns": [_column(release, column, listed) for column in release.schema if column.name in release.domains],
    }
    return found


def _column(release: Form, column: Column, listed: tuple[str, ...]) -> dict[str, Any]:
    domain, name = release.domains[column.name], column.name
    as_region = name in release.regions
    found: dict[str, Any] = {
        "name": name,
        "kind": domain.kind,
        "role": column.role,
        "type": str(domain.values.type),
        "published": domain.region if as_region else "exact",
        "missing": domain.missing,
        "open_low": domain.open_low,
        "open_high": domain.open_high,
        "complete": domain.complete,
    }
    if name in listed:
        found["domain"] = {"listed": True, "levels": len(domain.levels), "cells": runs_of_cells(domain)}
        if as_region and domain.taken != "nothing":
            found["domain"] |= {"taken": domain.taken, "withheld": list(domain.withheld)}
        if domain.between:
            found["domain"]["between"] = True
    elif as_region and domain.n_values:
        found["domain"] = {"grid": grid_of(domain)}
    return found


def _resource(path: str, name: str, table: pa.Table, release: Form) -> dict[str, Any]:
    return {
        "name": name,
        "path": path,
        "format": "parquet",
        "mediatype": "application/vnd.apache.parquet",
        "schema": {"fields": [{"name": field.name, "type": _field_type(field.type)} for field in table.schema]},
    }


def _field_type(kind: pa.DataType) -> str:
    tests = [
        (pa.types.is_boolean, "boolean"),
        (pa.types.is_integer, "integer"),
        (pa.types.is_floating, "number"),
        (pa.types.is_decimal, "number"),
        (pa.types.is_date, "date"),
    ]
    return next((name for test, name in tests if test(kind)), "string")


def _slug(name: str) -> str:
    return re.sub(r"[^-a-z0-9._]+", "-", name.lower()).strip("-") or "data"


def need(document: Mapping[str, Any], key: str, kind: type | tuple[type, ...], where: str) -> Any:
    """A value of a document, or a broken package."""
    value = document.get(key) if isinstance(document, Mapping) else None
    if not isinstance(value, kind):
        raise SchemaError(f"{where} has no usable {key!r}; it is not a complete release package. Fetch it anew.")
    return value


def arrow_type(text: str) -> pa.DataType:
    """The Arrow type behind its name."""
    decimal = re.fullmatch(r"decimal(?:32|64|128)\((\d{1,2}), (\d{1,2})\)", text)
    try:
        if decimal:
            return pa.decimal128(int(decimal[1]), int(decimal[2]))
        return pa.type_for_alias(text)
    except (ValueError, pa.ArrowException):
        message = f"datapackage.json names a column type {text!r} that is not known. Verify the package."
        raise SchemaError(message) from None


def column_and_domain(said: Mapping[str, Any], listed: pa.Table | None) -> tuple[Column, Domain]:
    """One column of the schema and its domain; exact columns that are not listed get theirs from the cells."""
    where = "datapackage.json"
    name = need(said, "name", str, where)
    flags = {key: need(said, key, bool, where) for key in ("missing", "open_low", "open_high", "complete")}
    kind, region = need(said, "kind", str, where), need(said, "published", str, where)
    arrow = arrow_type(need(said, "type", str, where))
    if region == "exact":
        region = "set" if kind == "text" else "range"
    about = said.get("domain") or {}
    bare: dict[str, Any] = {"kind": kind, "region": region, **flags}
    if "grid" in about:
        grid = need(about, "grid", Mapping, where)
        values = values_of_grid(grid, arrow)
        domain = Domain(values=values, cell=cells_of_runs(grid.get("cells"), len(values), flags["missing"]), **bare)
    elif "listed" in about:
        if listed is None:
            raise SchemaError("model/domains.parquet is missing; the package is not complete. Fetch it anew.")
        domain = listed_domain(listed, name, Domain(values=pa.array([], arrow), **bare), arrow, int(about["levels"]))
        cell = cells_of_runs(about.get("cells"), domain.n_values, domain.missing)
        listed_as = {"values": domain.values, "levels": domain.levels, "cell": cell}
        domain = Domain(**listed_as, **_taken(about, domain.n_values), **bare)
    else:
        domain = Domain(values=pa.array([], arrow), **bare)
    return Column(name, kind, need(said, "role", str, where)), domain


def _taken(about: Mapping[str, Any], n_values: int) -> dict[str, Any]:
    """What of a list the data decided, and its codes that stand for values that are not published."""
    taken, withheld = about.get("taken", "nothing"), tuple(map(int, about.get("withheld", ())))
    if taken not in get_args(Taken) or any(not 0 <= code < n_values for code in withheld):
        raise ValueError("taken")
    return {"taken": taken, "withheld": withheld, "between": about.get("between", False) is True}


def recipe_of(package: Mapping[str, Any], guarantees: Mapping[str, Any], provenance: Mapping[str, Any]) -> Recipe:
    """How the release was made and what it promises, from the three documents."""
    method = need(provenance, "method", Mapping, "provenance.json")
    licenses = package.get("licenses") or [{}]
    promises = []
    for one in need(guarantees, "guarantees", list, "guarantees.json"):
        where = "guarantees.json"
        model, parameters = need(one, "model", str, where), need(one, "parameters", Mapping, where)
        promises.append(Promise(model, parameters, one.get("on"), need(one, "achieved", Mapping, where)))
    return Recipe(
        need(method, "name", str, "provenance.json"),
        need(method, "parameters", Mapping, "provenance.json"),
        tuple(promises),
        need(guarantees, "unit", str, "guarantees.json"),
        need(provenance, "reproducible", bool, "provenance.json"),
        tuple(provenance.get("notes") or ()),
        package.get("title"),
        licenses[0].get("name"),
    )
