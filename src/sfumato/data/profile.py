"""What a table gives away about its people."""

from __future__ import annotations

from sfumato.data.tabular import Tabular


class Profile(Tabular):
    """Distinctness of columns, unique combinations, dependencies, proposed roles."""
