"""Results people look at: one Arrow table with the ways out that table users expect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


class Tabular:
    """A small result as an Arrow table: `.arrow()`, `.df()`, `.pl()`, the Arrow capsule, HTML in notebooks.

    >>> Tabular(pa.table({"n": [1, 2]})).arrow().num_rows
    2
    """

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def arrow(self) -> pa.Table:
        """As an Arrow table."""
        return self._table

    def df(self) -> pd.DataFrame:
        """As a pandas frame (pandas must be installed)."""
        return self._table.to_pandas()

    def pl(self) -> pl.DataFrame:
        """As a Polars frame (Polars must be installed)."""
        import polars

        frame = polars.from_arrow(self._table)
        assert isinstance(frame, polars.DataFrame)
        return frame

    def rows(self) -> list[dict[str, Any]]:
        """As plain dictionaries, one a row."""
        return list(self._table.to_pylist())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def listing(self, most: int = 40) -> str:
        """As text in columns; of more than `most` rows the first ones."""
        return _text(self._table, most)

    def __repr__(self) -> str:
        return self.listing()

    def _repr_html_(self) -> str:
        from html import escape

        head = "".join(f"<th>{escape(name)}</th>" for name in self._table.column_names)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row.values()) + "</tr>"
            for row in self._table.slice(0, 200).to_pylist()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if value is None:
        return "NULL"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _text(table: pa.Table, most: int) -> str:
    lines = [table.column_names, *([_cell(v) for v in row.values()] for row in table.slice(0, most).to_pylist())]
    widths = [max(len(line[i]) for line in lines) for i in range(table.num_columns)]
    shown = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    rest = table.num_rows - most
    return "\n".join(shown + ([f"… {rest} more rows"] if rest > 0 else []))
