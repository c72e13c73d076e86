"""Counts with hard bounds from the cells, counted here and asked of views.sql in a database that reaches nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

import pyarrow as pa

from sfumato.verify.cells import Cells, Said
from sfumato.verify.regions import Axis, axis_of

MOST_ROWS = 20_000
Asked = tuple[str, list[Any], int]
"""A count in SQL, what stands for its question marks, and what it must be."""
CHOSEN = ("all", "some", "none")


def in_sql(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


class Database:
    """An in-memory DuckDB with the first rows of the tables; files, settings and extensions are out of its reach."""

    def __init__(self, cells: Cells) -> None:
        import duckdb

        self.cells = cells
        self.tables = {name: table.slice(0, MOST_ROWS) for name, table in cells.tables.items()}
        if cells.form == "anatomized":
            self.tables = _whole_groups(cells)
        self._connection = duckdb.connect(config={"threads": 1, "memory_limit": "1GB"})
        for name, table in self.tables.items():
            self._keep(f"data/{name}.parquet", table)
            if cells.form == "anatomized":
                for choice in CHOSEN:
                    self._keep(f"{choice} {name}", self.chosen(name, choice))
        rows = [(name, rank, text) for name, leaves in cells.leaves.items() for rank, text in enumerate(leaves.texts)]
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        kinds = {"column": pa.string(), "rank": pa.int32(), "value": pa.string()}
        listed = {n: pa.array(c, k) for (n, k), c in zip(kinds.items(), columns, strict=True)}
        self._keep("model/domains.parquet", pa.table(listed))
        self._connection.execute("SET enable_external_access = false; SET lock_configuration = true")

    def chosen(self, name: str, choice: str) -> pa.Table:
        """All, some or none of a table's rows; some: those of every other distinct value of its first own column."""
        table = self.tables[name]
        column = next(one for one in table.column_names if one != "group_id")
        if choice != "some":
            return table if choice == "all" else table.slice(0, 0)
        coded = table.column(column).combine_chunks().dictionary_encode("encode")
        return table.filter(pa.array([code % 2 == 0 for code in coded.indices.to_pylist()], pa.bool_()))

    def ask(self, sql: str, given: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of one statement."""
        found: list[tuple[Any, ...]] = self._connection.execute(sql, list(given)).fetchall()
        return found

    def interrupt(self) -> None:
        """End what is running."""
        self._connection.interrupt()

    def _keep(self, name: str, table: pa.Table) -> None:
        self._connection.register("given", table)
        self._connection.execute(f"CREATE TABLE {in_sql(name)} AS SELECT * FROM given")
        self._connection.unregister("given")

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()


def _whole_groups(cells: Cells) -> dict[str, pa.Table]:
    """The rows of the first groups, whole."""
    ids = cells.tables["quasi"].column("group_id").to_pylist()
    most, n = -1, 0
    for group, size in sorted(Counter(ids).items()):
        n += size
        if n > MOST_ROWS and most >= 0:
            break
        most = group
    import pyarrow.compute as pc

    return {name: table.filter(pc.less_equal(table.column("group_id"), most)) for name, table in cells.tables.items()}


def generalized_wrong(database: Database, name: str) -> str:
    """The first thing in which the views of a generalized release differ from its cells."""
    table = database.tables["data"]
    for view in ("data", name):
        if not _same_rows(database, "data/data.parquet", view, table.column_names):
            return "rows of its views"
    for said in database.cells.quasi:
        axis = axis_of(said, database.cells.leaves)
        counted = Counter(zip(*(table.column(end).to_pylist() for end in said.ends), strict=True))
        asked = list(_between(said, counted) if said.published == "range" else _in(axis, counted))
        given = [one for _, some, _ in asked for one in some]
        if database.ask(f"SELECT {', '.join(sql for sql, _, _ in asked)} FROM data", given) != [
            tuple(n for *_, n in asked)
        ]:
            return f"bounds of {said.name}"
    return ""


def _same_rows(database: Database, table: str, view: str, columns: Sequence[str]) -> bool:
    """The same number of rows with the same cells, by a sum of hashes."""
    names = ", ".join(map(in_sql, columns))
    sums = [database.ask(f"SELECT count(*), sum(hash({names})::HUGEINT) FROM {in_sql(one)}") for one in (table, view)]
    return sums[0] == sums[1]


def _between(said: Said, counted: Counter[tuple[Any, ...]]) -> Iterator[Asked]:
    """Ranges at the column's own ends, open on either side and empty ones among them."""
    ends = sorted({end for region in counted for end in region[:2] if end is not None})
    points = [None, *(ends[len(ends) * i // 4] for i in range(4)), ends[-1]] if ends else [None]
    cell = in_sql(f"{said.name}__cell")
    for low in points:
        for high in points:
            sides = ", ".join("NULL" if one is None else "?" for one in (low, high))
            given = [one for one in (low, high) if one is not None]
            certain, possible = 0, 0
            for (lo, hi, *state), times in counted.items():
                missing = state[0] if state else "never"
                inside = (low is None or (lo is not None and lo >= low)) and (
                    high is None or (hi is not None and hi <= high)
                )
                meets = (high is None or lo is None or lo <= high) and (low is None or hi is None or hi >= low)
                certain += times * (missing == "never" and inside)
                possible += times * (missing != "always" and meets)
            yield f"count(*) FILTER (certain_between({cell}, {sides}))", given, certain
            yield f"count(*) FILTER (possible_between({cell}, {sides}))", given, possible


def _in(axis: Axis, counted: Counter[tuple[Any, ...]]) -> Iterator[Asked]:
    """Lists of the column's values: all, none, halves and single ones."""
    texts = axis.leaves.texts if axis.leaves else []
    hidden = frozenset(axis.said.domain.get("withheld", ()))
    values = [text for code, text in enumerate(texts) if text is not None and code not in hidden]
    half = len(values) // 2
    lists = [values, [], values[:half], values[half:], values[::2], *([one] for one in values[:3])]
    cell = in_sql(f"{axis.said.name}__cell")
    for among in lists:
        certain, possible = 0, 0
        for ends, times in counted.items():
            codes = range(ends[0], ends[1] + 1)
            opened = any(code in hidden for code in codes)
            held = {texts[code] if code < len(texts) else None for code in codes if code not in hidden}
            certain += times * (not opened and held <= set(among))
            possible += times * (opened or bool(held & set(among)))
        yield f"count(*) FILTER (certain_in({cell}, ?::VARCHAR[]))", [among], certain
        yield f"count(*) FILTER (possible_in({cell}, ?::VARCHAR[]))", [among], possible


def anatomized_wrong(database: Database, name: str) -> str:
    """The first thing in which the views of an anatomized release differ from its cells."""
    quasi, sensitive = (database.tables[one] for one in ("quasi", "sensitive"))
    views = {"quasi": "quasi", "sensitive": "sensitive", "data": "quasi", name: "quasi"}
    for view, table in views.items():
        if not _same_rows(database, f"data/{table}.parquet", view, database.tables[table].column_names):
            return "rows of its views"
    for column in sensitive.column_names:
        if column != "group_id" and not _ends_fit(database, sensitive, column):
            return f"ends of {column}"
    sizes = Counter(quasi.column("group_id").to_pylist())
    for some in CHOSEN:
        a = Counter(database.chosen("quasi", some).column("group_id").to_pylist())
        for other in CHOSEN:
            b = Counter(database.chosen("sensitive", other).column("group_id").to_pylist())
            least = sum(max(0, a[group] + b[group] - n) for group, n in sizes.items())
            most = sum(min(a[group], b[group]) for group in sizes) + database.cells.n_suppressed
            asked = f"SELECT lo, hi FROM count_bounds('{some} quasi', '{other} sensitive')"
            if database.ask(asked) != [(least, most)]:
                return "count_bounds"
    return ""


def _ends_fit(database: Database, sensitive: pa.Table, column: str) -> bool:
    """Least, greatest and all values of every group."""
    held: dict[Any, set[Any]] = {}
    for group, value in zip(
        sensitive.column("group_id").to_pylist(), sensitive.column(column).to_pylist(), strict=True
    ):
        held.setdefault(group, set()).update({value} if value is not None and value == value else ())
    names = ", ".join(in_sql(f"{column}{end}") for end in ("__lo", "__hi", "__values"))
    found = {row[0]: row[1:] for row in database.ask(f"SELECT DISTINCT group_id, {names} FROM data")}
    for group, (low, high, values) in found.items():
        mine = held[group]
        known = {one for one in values if one is not None and one == one}
        if known != mine or (mine and len(known) == len(values) and (low, high) != (min(mine), max(mine))):
            return False
    return set(found) == set(held)
