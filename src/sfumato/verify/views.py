"""views.sql: statements of the known forms only, and what they answer is what the verifier counts itself."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.contracts import Finding
from sfumato.verify.bounds import Database, anatomized_wrong, generalized_wrong, in_sql
from sfumato.verify.cells import Cells

TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<comment>--[^\n]*)|(?P<string>'(?:[^']|'')*')|(?P<name>\"(?:[^\"]|\"\")*\")"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<number>\d+)|(?P<sign>::|<=|>=|<>|[][(){},.;*:<>=+-])",
    re.ASCII,
)
COMMENT = re.compile(r"-- [A-Za-z ,.:;()'_+*0-]*(?<!\d\d)")
WORDS = frozenset(
    re.findall(
        r"\w+",
        """
    a all among and any_value as asc at_least at_most b between bigint bool_and bool_or boolean by case cast cell
    certain_between certain_in chosen_quasi chosen_sensitive coalesce count count_bounds create data desc distinct
    domains else end ends every exists false filter from greatest group group_id hi in is join least left len list
    list_contains list_has_all list_has_any lo macro max min missing n not null on open or order possible_between
    possible_in quasi query_table rank replace rows select sensitive sum suppressed table texts then true using
    value values varchar view when where with
    """,
    )
)
"""Keywords, functions and names of the format's statements; none of them reads a file, acts or sets anything."""
TEXTS = frozenset({"never", "maybe", "always", "lo", "hi", "missing", "values", "open"})
ENDS = ("", "__lo", "__hi", "__null", "__cell", "__sets", "__values")
MACROS = {
    "generalized": {"certain_between", "possible_between", "certain_in", "possible_in"},
    "anatomized": {"count_bounds"},
}
VIEWS = {"generalized": {"data"}, "anatomized": {"data", "quasi", "sensitive"}}
SECONDS = 60.0

Token = tuple[str, str]


def check_views(cells: Cells, files: Mapping[str, bytes], name: str) -> Iterator[Finding]:
    """Only views and macros of the format over the package's own tables, and the bounds that the cells give.

    They are run without access to anything on the first rows of every table and compared on counts at the columns'
    own ends, values and groups. Comments are held to letters and punctuation; their words are not compared.
    """
    tokens = _tokens(files.get("views.sql", b"").decode("utf8", "replace"))
    statements = _statements(tokens) if tokens is not None else None
    if (
        tokens is None
        or statements is None
        or not _known(tokens, cells, name)
        or not _expected(statements, cells, name)
    ):
        yield Finding("views only", False, "views.sql holds more or less than the views and macros of its form.")
        return
    yield Finding("views only", True, "views.sql defines the views and macros of its form, nothing else.")
    wrong = _run(cells, [_bound(one) for one in statements], name)
    detail = (
        f"views.sql answers otherwise than the cells: {wrong}." if wrong else "views.sql gives the bounds of the cells."
    )
    yield Finding("views answer", not wrong, detail)


def _tokens(text: str) -> list[Token] | None:
    """Words, literals and signs; None when there is anything else."""
    found, at = [], 0
    while at < len(text):
        token = TOKEN.match(text, at)
        if token is None:
            return None
        kind = str(token.lastgroup)
        if kind == "comment" and not COMMENT.fullmatch(token[0]):
            return None
        if kind not in ("space", "comment"):
            found.append((kind, token[0].lower() if kind == "word" else token[0]))
        at = token.end()
    return found


def _statements(tokens: list[Token]) -> list[list[Token]] | None:
    """CREATE OR REPLACE VIEW or MACRO, each ended by a semicolon."""
    found: list[list[Token]] = [[]]
    for token in tokens:
        if token == ("sign", ";"):
            found.append([])
        else:
            found[-1].append(token)
    if found.pop():
        return None
    for one in found:
        begin = [text for _, text in one[:4]]
        if begin[:3] != ["create", "or", "replace"] or begin[3:] not in (["view"], ["macro"]):
            return None
        if any(token == ("word", word) for token in one[3:] for word in ("create", "replace")):
            return None
    return found


def _known(tokens: list[Token], cells: Cells, name: str) -> bool:
    """Every word, name, text and number is one that the format's statements have."""
    names = {one.name + end for one in cells.columns for end in ENDS} | {"column", name}
    texts = TEXTS | {one.name for one in cells.columns} | {f"data/{one}.parquet" for one in cells.tables}
    texts |= {"model/domains.parquet"} if cells.leaves else set()
    withheld = {str(code) for one in cells.columns for code in one.domain.get("withheld", ())}
    numbers = {"0", "1", str(cells.n_suppressed)} | withheld
    allowed = {"word": WORDS, "string": texts, "name": names, "number": numbers}
    return all(kind == "sign" or _plain(kind, text) in allowed[kind] for kind, text in tokens)


def _plain(kind: str, text: str) -> str:
    """A literal without its quotes."""
    if kind in ("string", "name"):
        return text[1:-1].replace(text[0] * 2, text[0])
    return text


def _expected(statements: list[list[Token]], cells: Cells, name: str) -> bool:
    """Each view and macro of the form once, under its name."""
    made = [(one[3][1], _plain(*one[4]).lower()) for one in statements if len(one) > 5]
    views = VIEWS[cells.form] | (
        {name.lower()} if name.lower() not in {"data", "domains", "quasi", "sensitive"} else set()
    )
    needed = {("view", one) for one in views} | {("macro", one) for one in MACROS[cells.form] | {"suppressed"}}
    return len(made) == len(set(made)) == len(statements) and set(made) - {("view", "domains")} == needed


def _bound(statement: list[Token]) -> str:
    """The statement over tables of the verifier's own instead of files."""
    parts = []
    for before, (kind, text) in zip([("", ""), *statement], statement, strict=False):
        as_table = kind == "string" and before in (("word", "from"), ("word", "join"))
        parts.append(in_sql(_plain(kind, text)) if as_table else text)
    return " ".join(parts)


def _run(cells: Cells, statements: list[str], name: str) -> str:
    """What differs, or nothing; with limits on memory and time."""
    import duckdb

    with Database(cells) as database:
        timer = threading.Timer(SECONDS, database.interrupt)
        timer.start()
        try:
            for one in statements:
                database.ask(one)
            if database.ask("SELECT suppressed()") != [(cells.n_suppressed,)]:
                return "suppressed()"
            wrong = generalized_wrong if cells.form == "generalized" else anatomized_wrong
            return wrong(database, name)
        except (duckdb.Error, OverflowError, MemoryError):
            return "it does not run"
        finally:
            timer.cancel()


def table_name(package: Any) -> str:
    """The release's name as an SQL table."""
    return str(package["sfumato"]["table"])
