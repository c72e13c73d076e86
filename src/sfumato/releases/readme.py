"""README.md of a package: what it is, how to ask it, what is promised and what is not."""

from __future__ import annotations

from html import escape

from sfumato.contracts import Promise
from sfumato.releases.documents import MEANING, SEVERAL_ROWS
from sfumato.releases.form import Form

GENERALIZED = """\
`data/data.parquet` has one row per published record. A column such as `age` is known up to a region: `age` is its
label, `age__lo` and `age__hi` are its ends (NULL: nothing bounds it on that side), `age__null` says whether the cell
may be missing (never, maybe, always). For columns with named groups or sets of values, the ends are ranks into
`model/domains.parquet`. Rows with the same `group_id` look the same on these columns. The other columns are as they
were.
"""
ANATOMIZED = """\
`data/quasi.parquet` has the rows, `data/sensitive.parquet` the sensitive values. They share `group_id`: inside a
group, every way to give the values to the rows is possible. A column with `__lo` and `__hi` beside it has an open
end: where one of them is NULL the value is that of the column or beyond.
"""
ASK_GENERALIZED = """\
DuckDB, in this directory:

```sql
.read views.sql
SELECT count(*) FILTER (certain_between(AGE__cell, 30, 39)) AS n_lo,
       count(*) FILTER (possible_between(AGE__cell, 30, 39)) + suppressed() AS n_hi
FROM data;
-- named groups and sets: certain_in(CITY__cell, ['a', 'b']) and possible_in(CITY__cell, ['a', 'b'])
```

pandas:

```python
d = pandas.read_parquet("data/data.parquet")
n_lo = ((d["AGE__lo"] >= 30) & (d["AGE__hi"] <= 39)).sum()
n_hi = (~(d["AGE__lo"] > 39) & ~(d["AGE__hi"] < 30)).sum()
```

R:

```r
d <- arrow::read_parquet("data/data.parquet")
n_lo <- sum(d$AGE__lo >= 30 & d$AGE__hi <= 39, na.rm = TRUE)
n_hi <- sum(is.na(d$AGE__lo) | d$AGE__lo <= 39) - sum(!is.na(d$AGE__hi) & d$AGE__hi < 30)
```

Put one of the columns above for AGE and CITY. Where the column has `__null`, a certain row needs 'never' and a
possible one anything but 'always'. Add the suppressed rows to every upper bound.
"""
ASK_ANATOMIZED = """\
DuckDB, in this directory:

```sql
.read views.sql
CREATE TEMP VIEW some_rows AS SELECT * FROM quasi WHERE true;         -- your predicate on the rows
CREATE TEMP VIEW some_values AS SELECT * FROM sensitive WHERE true;   -- your predicate on the values
FROM count_bounds('some_rows', 'some_values');
```

pandas (R alike): in a group of n rows with a chosen rows and b chosen values, at least max(0, a + b - n) and at
most min(a, b) rows have both.

```python
q, s = pandas.read_parquet("data/quasi.parquet"), pandas.read_parquet("data/sensitive.parquet")
n = q.groupby("group_id").size()
a = q[q["ROW_COLUMN"] == 1].groupby("group_id").size().reindex(n.index, fill_value=0)
b = s[s["VALUE_COLUMN"] == 1].groupby("group_id").size().reindex(n.index, fill_value=0)
n_lo, n_hi = (a + b - n).clip(lower=0).sum(), numpy.minimum(a, b).sum()
```

Add the suppressed rows to every upper bound.
"""
NOT_PROMISED = """\
These models do not bound what can be inferred from correlations that somebody learned elsewhere, from columns that
were not named as quasi-identifiers, or from other releases about the same people. They are no legal verdict.
"""
PARTS = {"generalized": (GENERALIZED, ASK_GENERALIZED), "anatomized": (ANATOMIZED, ASK_ANATOMIZED)}


def readme(release: Form) -> str:
    """The whole page, with names escaped so that no viewer takes them for markup."""
    recipe = release.recipe
    cells, ask = PARTS[release.form]
    columns = "\n".join(
        f"| {_name(c.name)} | {c.kind} | {c.role} | {_published(release, c.name)} |"
        for c in release.schema
        if c.name in release.domains
    )
    promises = "\n".join(f"- {_promise(one)}" for one in recipe.promises) or "- nothing"
    unit = (
        "Every row counts as one person."
        if recipe.unit == "row"
        else (f"Persons are counted by the column {_name(recipe.unit)}, which is not published. {SEVERAL_ROWS}")
    )
    seeded = "**Made with a seed, for science: not for publication.**\n\n" if recipe.reproducible else ""
    return (
        f"# {_name(recipe.title or release.name)}\n\n{seeded}"
        f"{release.n_rows - release.n_suppressed} rows are published in this anonymized release"
        f"{_suppressed(release.n_suppressed)}.\n\n## What is in it\n\n{cells}\n"
        f"| column | kind | role | published as |\n|---|---|---|---|\n{columns}\n\n"
        f'## How to ask it\n\n{ask}\nWith sfumato: `sfumato query . -c "SELECT count(*) FROM data"` answers SELECTs'
        f" that aggregate these rows, with estimates and hard bounds.\n\n## What is promised\n\n{promises}\n\n"
        f"{unit} A missing value counts as a"
        " value of its own. `sfumato verify .` checks all of it on these bytes; `sha256sum -c SHA256SUMS` checks that"
        f" they are unchanged.\n\n## What is not\n\n{NOT_PROMISED}"
    )


def _suppressed(n: int) -> str:
    return f"; {n} more exist of which nothing is said" if n else ""


def _published(release: Form, name: str) -> str:
    if name not in release.regions:
        return "as it is"
    return {"range": "range", "node": "named group", "set": "set of values"}[release.domains[name].region]


def _promise(one: Promise) -> str:
    said = ", ".join(f"{key} = {value}" for key, value in one.parameters.items())
    reached = ", ".join(f"{key} = {value}" for key, value in one.achieved.items())
    meaning = f". {MEANING[one.model]}" if one.model in MEANING else ""
    return f"{one.model} ({said}){f' on {_name(one.on)}' if one.on else ''}; achieved: {reached}{meaning}"


def _name(text: str) -> str:
    flat = " ".join(text.split())
    return escape(flat).replace("|", "\\|").replace("`", "&#96;")
