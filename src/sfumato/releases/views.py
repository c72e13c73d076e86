"""views.sql: hard bounds with stock DuckDB, without this package."""

from __future__ import annotations

from sfumato.releases.form import Frame

BETWEEN = """\
-- A cell is certain when every value it may have satisfies the predicate, possible when some value does.
-- NULL as a bound means: no bound on this side.
CREATE OR REPLACE MACRO certain_between(cell, at_least, at_most) AS
  cell.missing = 'never'
  AND (at_least IS NULL OR coalesce(cell.lo >= at_least, false))
  AND (at_most IS NULL OR coalesce(cell.hi <= at_most, false));
CREATE OR REPLACE MACRO possible_between(cell, at_least, at_most) AS
  cell.missing <> 'always'
  AND (at_most IS NULL OR coalesce(cell.lo <= at_most, true))
  AND (at_least IS NULL OR coalesce(cell.hi >= at_least, true));
"""
AMONG = """\
-- A cell that is open may hold more than its values: some of what is below its label is not published.
CREATE OR REPLACE MACRO certain_in(cell, among) AS
  cell.missing = 'never' AND NOT cell.open AND list_has_all(among, cell.values);
CREATE OR REPLACE MACRO possible_in(cell, among) AS cell.open OR list_has_any(among, cell.values);
"""
DOMAINS = "CREATE OR REPLACE VIEW domains AS SELECT * FROM 'model/domains.parquet';\n"
BOUNDS = """\
-- Hard bounds of a COUNT with one predicate on each side. Make two views (or tables) with the chosen rows and
-- give their names: FROM count_bounds('chosen_quasi', 'chosen_sensitive');
-- Where a column has __lo and __hi its ends are open: choose rows that certainly match for lo, that may match for hi.
-- Inside a group of n rows, a chosen rows meet b chosen value tuples max(0, a + b - n) to min(a, b) times.
CREATE OR REPLACE MACRO count_bounds(chosen_quasi, chosen_sensitive) AS TABLE
  WITH every AS (SELECT group_id, count(*) AS n FROM quasi GROUP BY group_id),
       a AS (SELECT group_id, count(*) AS a FROM query_table(chosen_quasi) GROUP BY group_id),
       b AS (SELECT group_id, count(*) AS b FROM query_table(chosen_sensitive) GROUP BY group_id)
  SELECT coalesce(sum(greatest(0, a + b - n)), 0)::BIGINT AS lo,
         coalesce(sum(least(a, b)), 0)::BIGINT + suppressed() AS hi
  FROM every JOIN a USING (group_id) JOIN b USING (group_id);
"""
TAKEN = {"data", "domains", "quasi", "sensitive"}


def generalized_views(frame: Frame) -> str:
    """View `data` with a struct `<column>__cell` for every uncertain column, and macros over such cells."""
    cells, joins = [], []
    for name in frame.schema.names("quasi"):
        domain = frame.domains[name]
        lo, hi, cell = quoted(f"{name}__lo"), quoted(f"{name}__hi"), quoted(f"{name}__cell")
        if domain.region == "range":
            missing = quoted(f"{name}__null") if domain.missing else "'never'"
            cells.append(f"{{'lo': {lo}, 'hi': {hi}, 'missing': {missing}}} AS {cell}")
        elif not domain.n_values:
            # Nothing is listed where no value is: there may be no list to join.
            cells.append(f"{{'values': []::VARCHAR[], 'missing': 'always', 'open': false}} AS {cell}")
        else:
            side = quoted(f"{name}__sets")
            cells.append(f"{{'values': {side}.texts, 'missing': {side}.missing, 'open': {side}.open}} AS {cell}")
            joins.append(_sets(name, side, (lo, hi), domain.withheld))
    columns = ", ".join(["rows.*", *cells])
    rows = "'data/data.parquet' AS rows"
    view = f"CREATE OR REPLACE VIEW data AS SELECT {columns}\nFROM {rows}{''.join(joins)};\n"
    listed = DOMAINS if joins else ""
    return f"{_head(frame)}{listed}{view}{_own_name(frame)}{_suppressed(frame)}{BETWEEN}{AMONG}"


def anatomized_views(frame: Frame) -> str:
    """Views of both tables, `data` (rows with their group's least and greatest sensitive values), `count_bounds`."""
    sensitive = frame.schema.names("sensitive")
    ends = [
        f"min({quoted(c)}) AS {quoted(c + '__lo')}, max({quoted(c)}) AS {quoted(c + '__hi')}, "
        f"list(DISTINCT {quoted(c)}) AS {quoted(c + '__values')}"
        for c in sensitive
    ]
    inner = f"SELECT {', '.join(['group_id', *ends])} FROM sensitive GROUP BY group_id"
    return (
        f"{_head(frame)}"
        "CREATE OR REPLACE VIEW quasi AS SELECT * FROM 'data/quasi.parquet';\n"
        "CREATE OR REPLACE VIEW sensitive AS SELECT * FROM 'data/sensitive.parquet';\n"
        f"CREATE OR REPLACE VIEW data AS SELECT * FROM quasi JOIN ({inner}) USING (group_id);\n"
        f"{_own_name(frame)}{_suppressed(frame)}{BOUNDS}"
    )


def _sets(name: str, side: str, ends: tuple[str, str], withheld: tuple[int, ...]) -> str:
    """A join that gives every published region of a listed column its values."""
    lo, hi = ends
    told = f" AND rank NOT IN ({', '.join(map(str, withheld))})" if withheld else ""
    opened = f"bool_or(rank IN ({', '.join(map(str, withheld))}))" if withheld else "false"
    return (
        f"\nLEFT JOIN (SELECT ends.lo, ends.hi, coalesce(list(value ORDER BY rank) FILTER (value IS NOT NULL{told}), "
        "[]) AS texts, CASE WHEN count(value) = count(*) THEN 'never' WHEN count(value) = 0 THEN 'always' "
        f"ELSE 'maybe' END AS missing, {opened} AS open\n"
        f"  FROM (SELECT DISTINCT {lo} AS lo, {hi} AS hi FROM 'data/data.parquet') AS ends\n"
        f'  JOIN domains ON domains."column" = {text(name)} AND domains.rank BETWEEN ends.lo AND ends.hi\n'
        f"  GROUP BY ends.lo, ends.hi) AS {side} ON rows.{lo} = {side}.lo AND rows.{hi} = {side}.hi"
    )


def _head(frame: Frame) -> str:
    return f"-- Run in the package's directory with DuckDB: .read views.sql\n-- {frame.recipe.method} release.\n"


def _own_name(frame: Frame) -> str:
    if frame.name.lower() in TAKEN:
        return ""
    return f"CREATE OR REPLACE VIEW {quoted(frame.name)} AS SELECT * FROM data;\n"


def _suppressed(frame: Frame) -> str:
    return (
        "-- Rows known to exist and nothing else: add them to every upper bound of a COUNT.\n"
        f"CREATE OR REPLACE MACRO suppressed() AS {int(frame.n_suppressed)};\n"
    )


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A string as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"
