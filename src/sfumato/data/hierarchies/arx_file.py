"""Hierarchies in ARX's layout: one line a value, `leaf;level1;level2;…`."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, ClassVar

from sfumato.data.hierarchies.rule import Hierarchy, Placed, Source, only
from sfumato.data.hierarchies.tree import Tree, checked, place_tree
from sfumato.declared import declared
from sfumato.errors import SchemaError


@declared
class ArxFile(Hierarchy):
    """A file of leaves and the labels above them, fine to coarse, with `;` or `,` between; the root may be left out.

    The domain is every leaf of the file, whether it occurs or not.
    """

    path: Path
    keyword: ClassVar[str] = "file"

    def tree(self) -> Tree:
        """The file as a checked tree, or `SchemaError` saying which level breaks and how often."""
        name = f"Hierarchy file {self.path.name}"
        rows = _rows(self.path, name)
        width = len(rows[0])
        n_ragged = sum(len(row) != width for row in rows)
        if n_ragged:
            raise SchemaError(
                f"{name}: {n_ragged} of {len(rows)} lines do not have the {width} fields of the first line. "
                "Repeat a label on every level it stands for."
            )
        leaves, *levels = zip(*rows, strict=True)
        return checked(Tree(leaves, tuple(levels)), name)

    def place(self, source: Source) -> Placed:
        """Leaves in tree order; numbers ascending when the tree allows it."""
        return place_tree(self.tree(), source, f"Hierarchy file {self.path.name}")

    def spec(self) -> dict[str, Any]:
        """{"file": "city.csv"}."""
        return {"file": str(self.path)}

    @classmethod
    def of(cls, value: Any, **rest: Any) -> ArxFile:
        """From {file = "city.csv"}; a relative path counts from `base`."""
        found = only(rest, "file", "base")
        return cls(Path(found.get("base") or ".") / Path(value))


def hierarchy_file(path: str | Path) -> ArxFile:
    """A hierarchy from a file in ARX's layout: `leaf;level1;level2;…`.

    >>> hierarchy_file("city.csv").spec()
    {'file': 'city.csv'}
    """
    return ArxFile(path=Path(path))


def _rows(path: Path, name: str) -> list[list[str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError:
        raise SchemaError(f"{name} cannot be read. Check the path; it counts from the project file.") from None
    except UnicodeDecodeError:
        raise SchemaError(f"{name} is not UTF-8. Save it as UTF-8.") from None
    first = text.partition("\n")[0]
    delimiter = ";" if ";" in first else ","
    rows = [row for row in csv.reader(text.splitlines(), delimiter=delimiter) if row]
    if not rows:
        raise SchemaError(f"{name} is empty. Write one line a value: leaf;level1;level2;…")
    return [[field.strip() for field in row] for row in rows]
