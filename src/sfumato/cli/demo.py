"""`sfumato demo`: the main job end to end on an embedded data set, without arguments and without network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset
    from sfumato.desk import PublishedRelease

QUASI = ("age", "sex", "race", "marital_status", "education", "native_country", "workclass")
SENSITIVE = "occupation"
QUESTIONS = (
    ("How many people are 65 or older?", "SELECT count(*) AS n FROM adult WHERE age >= 65"),
    (
        "How many people with a doctorate work in a professional specialty?",
        "SELECT count(*) AS n FROM adult WHERE education = 'Doctorate' AND occupation = 'Prof-specialty'",
    ),
    ("How old are managers on average?", "SELECT avg(age) AS age FROM adult WHERE occupation = 'Exec-managerial'"),
    (
        "How many women and men work in sales?",
        "SELECT sex, count(*) AS n FROM adult WHERE occupation = 'Sales' GROUP BY sex ORDER BY sex",
    ),
    (
        "What share of those under 30 with a bachelor's degree earns more than 50K?",
        "SELECT avg(CASE WHEN salary_class = '>50K' THEN 1.0 ELSE 0.0 END) AS share FROM adult "
        "WHERE age < 30 AND education = 'Bachelors'",
    ),
)


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", "--out", help="Folder for the releases.")] = Path(
        "demo-output"
    ),
    rows: Annotated[int | None, typer.Option(min=100, help="Use only this many rows.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
) -> None:
    """Profile an embedded census excerpt, publish it in two ways, verify both, and ask five questions.

    Writes demo-output/ in the current folder and replaces what an earlier demo left there. Needs no network.
    """
    from sfumato.cli.output import Progress, emit, emit_json, note, suggest

    say = note if json else emit
    with Progress() as progress:
        people = _people(rows, say)
        releases = _publish(people, output, say, progress)
        say("4. Ask both releases: estimate in [hard bounds], true in every possible original; beside them the truth")
        asked = [_ask(number, *question, people, releases, say) for number, question in enumerate(QUESTIONS, start=1)]
    if json:
        emit_json({"output": str(output), "questions": asked})
    first = output / "mondrian"
    say(f"\n5. The public report of each release: {first}/report/index.html")
    suggest(f"sfumato query {first} -c \"SELECT avg(age) FROM adult WHERE sex = 'Female'\" --q .05,.95 --explain")


def _people(rows: int | None, say: Any) -> Dataset:
    from sfumato.data.example import example

    people = example()
    if rows is not None and rows < people.n_rows:
        from sfumato import desk

        people = desk.read(people.arrow().slice(0, rows), name=people.name)
    names = [column.name for column in people.schema]
    say(f"1. Read {people.n_rows:,} rows of the census excerpt: {', '.join(names)}")
    people = people.roles(quasi=QUASI, sensitive=[SENSITIVE], plain=[n for n in names if n not in (*QUASI, SENSITIVE)])
    say("2. Profile: how identifying is each column alone, and which role suits it?")
    for row in people.profile().columns.rows():
        say(f"     {row['name']:<15} {row['distinct']:>3} values  {row['role'] or 'undecided':<10} {row['reason']}")
    return people


def _publish(people: Dataset, output: Path, say: Any, progress: Any) -> dict[str, PublishedRelease]:
    from sfumato import desk, methods, requirements
    from sfumato.data.example import example_hierarchies
    from sfumato.report.text import release_lines

    say("3. Publish the same promise in two ways; every package is verified on its bytes before it appears")
    needs = [requirements.parse("k-anonymity:k=5"), requirements.parse(f"l-diversity:l=3,on={SENSITIVE}")]
    rules = {name: rule for name, rule in example_hierarchies().items() if name in QUASI}
    releases = {}
    for name in ("mondrian", "anatomy"):
        method = methods.parse(name)
        made = desk.publish(people, method, require=needs, hierarchies=rules, progress=progress)
        found = made.save(output / name, title=f"Adult census excerpt, {name}", license="CC-BY-4.0", force=True)
        for line in release_lines(made.release, notes=False):
            say(f"     {line}")
        say(f"       written to {output / name}: {len(found.findings)} checks hold")
        releases[name] = desk.open(output / name)
    return releases


def _ask(
    number: int, question: str, sql: str, people: Dataset, releases: dict[str, PublishedRelease], say: Any
) -> dict[str, Any]:
    import duckdb

    with duckdb.connect() as connection:
        connection.register("adult", people.arrow())
        truth = connection.sql(sql).to_arrow_table().to_pylist()
    answers = {name: release.sql(sql.replace("adult", release.name)).rows() for name, release in releases.items()}
    say(f"\n   Q{number}. {question}\n       {sql}")
    key = next((name for name in truth[0] if f"{name}__lo" not in truth[0] and len(truth[0]) > 1), None)
    for row in truth:
        value = list(row)[-1]
        label = f"{row[key] + ':':<8}" if key else ""
        said = [f"{name} {_cell(_same(found, key, row), value)}".ljust(36) for name, found in answers.items()]
        say(f"       {label}truth {_number(row[value]):<9} {' '.join(said)}".rstrip())
    return {"question": question, "sql": sql, "truth": truth, "answers": answers}


def _same(rows: list[dict[str, Any]], key: str | None, row: dict[str, Any]) -> dict[str, Any]:
    return next((one for one in rows if key is None or one[key] == row[key]), {})


def _cell(row: dict[str, Any], value: str) -> str:
    """Estimate and hard bounds; a certain value has none."""
    if f"{value}__lo" not in row:
        return f"{_number(row.get(value))} exactly"
    return f"{_number(row[value])} in [{_number(row[f'{value}__lo'])}, {_number(row[f'{value}__hi'])}]"


def _number(value: Any) -> str:
    if value is None:
        return "open"
    return f"{value:,.4g}" if isinstance(value, float) and abs(value) < 1000 else f"{value:,.0f}"
