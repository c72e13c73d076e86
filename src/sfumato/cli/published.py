"""JSON schemas of everything that `--json` prints: what scripts may rely on."""

from __future__ import annotations

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
NUMBER: dict[str, Any] = {"type": ["number", "null"]}
FLAG: dict[str, Any] = {"type": "boolean"}
ANYTHING: dict[str, Any] = {"type": "object"}


def record(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """An object with these properties and no others."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


def listed(item: dict[str, Any]) -> dict[str, Any]:
    """A list of one kind of thing."""
    return {"type": "array", "items": item}


def maybe(schema: dict[str, Any]) -> dict[str, Any]:
    """The same or null."""
    return {"anyOf": [schema, {"type": "null"}]}


MODEL = {
    **TEXT,
    "description": "A model of require, or group-size: what remains of k-anonymity where quasi-identifiers are exact.",
}
PROMISE = record({"model": MODEL, "parameters": ANYTHING, "on": maybe(TEXT), "achieved": ANYTHING})
RELEASE = {
    "release": TEXT,
    "form": TEXT,
    "method": record({"name": TEXT, "parameters": ANYTHING}),
    "n_rows": COUNT,
    "n_groups": COUNT,
    "n_suppressed": COUNT,
    "unit": TEXT,
    "promises": listed(PROMISE),
    "notes": listed(TEXT),
    "path": TEXT,
    "verified": FLAG,
}
FIGURE = record({"metric": TEXT, "column": maybe(TEXT), "value": NUMBER, "unit": TEXT, "meaning": TEXT})
SUGGESTION = record({"name": TEXT, "role": maybe(TEXT), "reason": TEXT, "hierarchy": maybe(ANYTHING)})
FINDING = record({"check": TEXT, "holds": FLAG, "decided": FLAG, "detail": TEXT, "figures": ANYTHING})
COLUMN = record(
    {"name": TEXT, "kind": TEXT, "distinct": COUNT, "missing": COUNT, "unique_rows": COUNT, "distinctness": NUMBER},
    separation=NUMBER,
    role=maybe(TEXT),
    reason=TEXT,
)
PROFILE = {
    "columns": listed(COLUMN),
    "uniques": listed(ANYTHING),
    "dependencies": listed(ANYTHING),
    "notes": listed(TEXT),
}
DOCTOR = {
    "sfumato": TEXT,
    "python": TEXT,
    "system": TEXT,
    "cores": maybe(COUNT),
    "versions": {"type": "object", "additionalProperties": maybe(TEXT)},
    "missing": listed(TEXT),
    "extras": {"type": "object", "additionalProperties": FLAG},
    "kernel_cache": record({"compiled": COUNT, "writable": FLAG}),
    "duckdb": ANYTHING,
}
ATTACKER = record(
    {
        "attacker": {"enum": ["prosecutor", "journalist", "marketer"]},
        "basis": {"enum": ["exact", "upper bound", "estimate"]},
        "average": NUMBER,
        **{f"share_at_{name}": NUMBER for name in ("highest", "lowest", "risk")},
        **{f"records_at_{name}": maybe(COUNT) for name in ("highest", "lowest", "risk")},
        "highest": NUMBER,
        "lowest": NUMBER,
    }
)
RISK = {
    "name": TEXT,
    "quasi": listed(TEXT),
    **dict.fromkeys(("n_rows", "n_records", "n_classes", "n_suppressed", "n_unique"), COUNT),
    "threshold": NUMBER,
    "population": maybe(COUNT),
    "attackers": listed(ATTACKER),
    "distribution": listed(
        record(
            {"attacker": TEXT, "above": NUMBER, "to": NUMBER, "records": COUNT, "share": NUMBER, "cumulative": NUMBER}
        )
    ),
    "classes": listed(record({"size": COUNT, "classes": COUNT, "records": COUNT, "share": NUMBER})),
    "columns": listed(
        record(
            {
                **dict.fromkeys(("size", "distinct", "unique_rows"), COUNT),
                "columns": {**TEXT, "description": "Names of the columns, comma-separated."},
                "distinctness": NUMBER,
                "separation": NUMBER,
            }
        )
    ),
    "notes": listed(TEXT),
}
ADVICE = {
    "column": TEXT,
    "n_rows": COUNT,
    "relative": FLAG,
    "achievable": {**maybe(FLAG), "description": "The asked pair; null: ε or m was not asked."},
    "largest_m": maybe(COUNT),
    "maxsize": maybe(COUNT),
    "epsilon_supremum": {**NUMBER, "description": "ε must be below; null: every ε will do, or no m was asked."},
    "frontier": listed(record({"m": COUNT, "epsilon_supremum": NUMBER, "risk": NUMBER})),
}
CANDIDATE = record(
    {
        **dict.fromkeys(("rank", "suppressed", "groups"), COUNT),
        "method": record({"name": TEXT, "parameters": ANYTHING}),
        "score": {
            "anyOf": [NUMBER, listed(NUMBER)],
            "description": "The metric's; several numbers count in their order; null: the method has none.",
        },
        "proven": {**maybe(FLAG), "description": "No other node of the lattice scores lower; null: no lattice."},
        "gap": {**NUMBER, "description": "By how much one could at most; null: not known."},
        **dict.fromkeys(("suppressed_share", "risk", "loss", "query_error"), NUMBER),
        "levels": maybe({"type": "object", "additionalProperties": COUNT}),
    }
)
SEARCH = {
    "name": TEXT,
    "n_rows": COUNT,
    "candidates": listed(CANDIDATE),
    "refused": listed(record({"method": TEXT, "reason": TEXT})),
    "lattices": listed(
        record({"method": TEXT, **dict.fromkeys(("nodes", "looked_at", "allowed"), COUNT), "proven": FLAG})
    ),
    "taken_up": {**COUNT, "description": "Nodes known from an earlier search."},
}
NODE = record({"label": TEXT, "values": COUNT, "rows": COUNT, "units": COUNT})
LEVEL = record(
    {
        **dict.fromkeys(("level", "n_nodes", "n_empty", "smallest", "n_below_k", "rows_below_k"), COUNT),
        "median": NUMBER,
    },
    nodes=listed(NODE),
)
HIERARCHY = record(
    {
        "column": TEXT,
        "hierarchy": maybe(ANYTHING),
        "origin": {"enum": ["project", "set", "suggested"]},
        "reason": TEXT,
        "levels": listed(LEVEL),
    }
)
TALLY = record(
    dict.fromkeys(
        ("n_rows", "n_published", "n_nowhere", "n_several", "n_failing_alone", "n_failing_together"),
        COUNT,
    )
)
ROW = {
    "type": "object",
    "description": "The query's own columns; per uncertain column x also x__lo and x__hi (hard bounds, null: "
    "unbounded) and x__q05 … for asked quantiles; __row, the probability that the row exists; __how.",
    "properties": {
        "__row": {"type": "number", "minimum": 0, "maximum": 1},
        "__how": {"enum": ["exact", "tight", "lp", "milp-dual", "interval", "sampled"]},
    },
    "required": ["__row", "__how"],
}

PRINTED: dict[str, tuple[str, dict[str, Any]]] = {
    "release": ("sfumato publish --json", record(RELEASE)),
    "reapplied": ("sfumato reapply --json", record({**RELEASE, "tally": TALLY})),
    "answer": ("sfumato query --json", listed(ROW)),
    "search": ("sfumato search --json", record(SEARCH, plot=TEXT, published=TEXT)),
    "profile": ("sfumato profile --json", record(PROFILE)),
    "init": ("sfumato init --json", record({"project": TEXT, "columns": listed(SUGGESTION)})),
    "hierarchy": (
        "sfumato hierarchy --json",
        record({"table": TEXT, "k": COUNT, "unit": TEXT, "columns": listed(HIERARCHY)}),
    ),
    "verification": (
        "sfumato verify --json",
        record({"package": TEXT, "holds": FLAG, "findings": listed(FINDING)}),
    ),
    "figures": ("sfumato measure --json", record({"package": TEXT, "figures": listed(FIGURE)})),
    "risk": ("sfumato risk --json", record(RISK)),
    "advice": ("sfumato advise proximity --json", record(ADVICE)),
    "doctor": ("sfumato doctor --json", record(DOCTOR)),
    "demo": ("sfumato demo --json", record({"output": TEXT, "questions": listed(ANYTHING)})),
}


def schema_of_output(name: str) -> dict[str, Any]:
    """One published schema with its title."""
    title, schema = PRINTED[name]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}
