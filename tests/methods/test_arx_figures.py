"""Searches give what ARX's own tests expect, on the tables ARX uses (skipped where those are not at hand)."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.data.dataset import Dataset
from tests.methods.arx_figures import CHANGED_LABELS, COLUMNS, NODES, OPTIMA, Figure

DATA = Path(__file__).parents[3] / "shared" / "data"
TABLES = {
    "adult": (DATA / "adult/adult_arx_30162.parquet", DATA / "adult/hierarchies_arx", "adult_hierarchy_{}.csv"),
    "cup": (DATA / "arx_benchmark/cup_63441.parquet", DATA / "arx_benchmark/hierarchies", "cup_hierarchy_{}.csv"),
    "fars": (
        DATA / "arx_benchmark/fars_100937_int.parquet",
        DATA / "arx_benchmark/hierarchies_int",
        "fars_int_hierarchy_{}.csv",
    ),
}
TABLES["adult_europa"] = TABLES["adult"]
MODELS = {
    "KAnonymity": lambda k: sf.KAnonymity(k),
    "LDiversity": lambda l, on, kind, c: sf.LDiversity(l, on=on, kind=kind, c=c),
    "TCloseness": lambda t, on, distance: sf.TCloseness(t, on=on, distance=distance),
    "BetaLikeness": lambda beta, on, kind: sf.BetaLikeness(beta, on=on, kind=kind),
    "DeltaDisclosure": lambda delta, on: sf.DeltaDisclosure(delta, on=on),
    "AverageRisk": lambda threshold: sf.AverageRisk(threshold),
    "SampleUniqueness": lambda threshold: sf.SampleUniqueness(threshold),
}


def hierarchy(figure: Figure, column: str, folder: Path) -> Any:
    """ARX's file, with the label it once had, unpacked where it is packed."""
    _, place, name = TABLES[figure.data]
    file = place / name.format(column)
    packed = file.with_name(file.name + ".gz")
    text = gzip.decompress(packed.read_bytes()).decode() if packed.exists() else file.read_text(encoding="utf8")
    for leaf, labels in CHANGED_LABELS.get(figure.data, {}).get(column, {}).items():
        text = "\n".join(";".join(labels) if line.startswith(f"{leaf};") else line for line in text.splitlines())
    lines = {line.partition(";")[0]: line for line in reversed(text.splitlines())}
    text = "\n".join(reversed(lines.values()))  # One of FARS names a value twice.
    own = folder / f"{column}.csv"
    own.write_text(text, encoding="utf8")
    return sf.hierarchy_file(own)


def people_of(figure: Figure, folder: Path) -> tuple[Dataset, dict[str, Any]]:
    path = TABLES[figure.data][0]
    if not path.exists():
        pytest.skip("the table is not on this machine")
    columns = COLUMNS[figure.data]
    sensitive = [] if figure.sensitive is None else [figure.sensitive]
    people = sf.read(path, kinds=dict.fromkeys(columns, "text"))
    people = people.roles(quasi=figure.quasi_identifiers, sensitive=sensitive)
    # ARX orders values by their label, ours stand in the hierarchy's order where there is one; isex has no file.
    own = [c for c in columns if c != "isex" and not (c == figure.sensitive and "ordered" in str(figure.requirements))]
    found: dict[str, Any] = {column: hierarchy(figure, column, folder) for column in own}
    return people, found | ({"isex": sf.suppression()} if "isex" in columns else {})


def search(figure: Figure, folder: Path) -> Any:
    people, hierarchies = people_of(figure, folder)
    need = [MODELS[name](*parameters) for name, *parameters in figure.requirements]
    metric = getattr(sf, figure.metric[0])(**figure.metric[1])
    method = sf.Lattice(metric=metric, max_suppressed=figure.limit)
    return sf.search(people, [method], require=need, hierarchies=hierarchies)


def name_of(figure: Figure) -> str:
    models = "+".join(f"{name}({', '.join(map(str, rest))})" for name, *rest in figure.requirements)
    return f"{figure.data}-{models}-{figure.metric[0]}-{figure.limit}"


quick = [f for f in OPTIMA if f.data.startswith("adult")]
slow = [f for f in OPTIMA if not f.data.startswith("adult")]


def check(figure: Figure, folder: Path) -> None:
    if figure.score is None:
        with pytest.raises(sf.Infeasible):
            search(figure, folder)
        return
    found = search(figure, folder)
    assert found.best.optimal
    assert found.best.score == pytest.approx(figure.score, rel=1e-8, abs=1e-9)
    assert found.node(figure.levels).score == pytest.approx(figure.score, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("figure", quick, ids=name_of)
def test_adult(figure: Figure, tmp_path: Path) -> None:
    check(figure, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("figure", slow, ids=name_of)
def test_cup_and_fars(figure: Figure, tmp_path: Path) -> None:
    check(figure, tmp_path)


def test_single_nodes(tmp_path: Path) -> None:
    """Nodes that are not the optimum, allowed or not."""
    known: dict[Any, Any] = {}
    for figure in (f for f in NODES if f.data == "adult"):
        key = figure._replace(score=None, levels=None)
        known.setdefault(str(key), search(figure, tmp_path))
        found = known[str(key)].node(figure.levels)
        assert found.score == pytest.approx(figure.score, rel=1e-8), figure
