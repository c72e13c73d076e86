"""Codes of several parts, shortened part by part from the right: 250.13 → 250.* → anything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

from sfumato.data.hierarchies.masking import MASK, MOST_LEVELS
from sfumato.data.hierarchies.rule import Hierarchy, Placed, Source, only
from sfumato.data.hierarchies.tree import Tree, place_tree
from sfumato.declared import declared
from sfumato.errors import ParameterError


@declared
class Prefixes(Hierarchy):
    """Texts under what they begin with, up to a separator: each level keeps one part less.

    `separators` are the characters between parts. A text without one is the beginning of itself, so that 250 and
    250.13 meet in 250.*. The list of values is taken from the data, the rule is not; a beginning of too few units is
    published only where a cell names it.
    """

    separators: str
    keyword: ClassVar[str] = "prefixes"

    def __post_init__(self) -> None:
        if not self.separators or len(set(self.separators)) < len(self.separators):
            raise ParameterError("prefixes: name the characters between parts, each once, as in prefixes('.').")
        if any(one.isalnum() or one == MASK for one in self.separators):
            raise ParameterError(f"prefixes: a separator is no letter, no digit and not {MASK!r}.")

    def place(self, source: Source) -> Placed:
        """Leaves in the order of their parts."""
        raw = source.domain
        if raw.kind != "text":
            raise ParameterError(
                f"Column {source.name!r} is of kind {raw.kind}; prefixes needs text. "
                "Use intervals, cuts or dates, or read the column with kinds={...: 'text'}."
            )
        leaves = sorted(raw.values.to_pylist(), key=self._parts)
        depth = max((len(self._parts(leaf)) for leaf in leaves), default=1) // 2
        levels = [self._level(leaves, keep) for keep in range(depth, 0, -1)]
        levels = [level for level in levels if 1 < len(set(level)) < len(leaves)][-MOST_LEVELS:]
        return place_tree(Tree(tuple(leaves), tuple(levels), whole=False), source, "prefixes", keep_order=True)

    def _parts(self, text: str) -> list[str]:
        """Parts and the separators between them, in turn."""
        return re.split(f"([{re.escape(self.separators)}])", text)

    def _level(self, leaves: Sequence[str], keep: int) -> tuple[str, ...]:
        """What the first `keep` parts make, with a mask for the rest, which may be nothing."""
        mask = self.separators[0] + MASK
        return tuple("".join(self._parts(leaf)[: 2 * keep - 1]) + mask for leaf in leaves)

    def shared(self, texts: Sequence[str]) -> float:
        """Share of different texts whose first part begins another one too."""
        first = Counter(self._parts(text)[0] for text in texts)
        return sum(n for n in first.values() if n > 1) / max(len(texts), 1)

    def spec(self) -> dict[str, Any]:
        """{"prefixes": "."}."""
        return {"prefixes": self.separators}

    @classmethod
    def of(cls, value: Any, **rest: Any) -> Prefixes:
        """From {prefixes = "."}."""
        only(rest, "prefixes")
        return cls(separators="".join(value) if isinstance(value, list | tuple) else value)


def prefixes(separators: str) -> Prefixes:
    """Texts under what they begin with, up to one of these characters.

    >>> prefixes(".").spec()
    {'prefixes': '.'}
    """
    return Prefixes(separators=separators)
