"""Masking characters one by one from the right or the left: 53715 → 5371* → 537** …"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.codec import Domain, Level, Region
from sfumato.data.hierarchies.rule import Hierarchy, Placed, Source, only, with_missing
from sfumato.data.hierarchies.tree import Tree, place_tree
from sfumato.data.steps import Ints
from sfumato.declared import declared
from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from sfumato.data.schema import Kind

MASK = "*"
MOST_DIGITS = 6
MOST_LEVELS = 32


@declared
class Masking(Hierarchy):
    """Codes masked from one side, one character a level.

    When all values are digits of one length (at most 6), the domain is every completion of the shortest used
    prefixes (537** is 53700 … 53799), so that it does not show which values exist; else the values present. A prefix of
    too few units is published only where a cell names it.
    """

    side: Literal["right", "left"] = "right"
    keyword: ClassVar[str] = "masking"

    def place(self, source: Source) -> Placed:
        """Leaves in the order of their kept characters."""
        raw = source.domain
        if raw.kind not in ("text", "integer"):
            raise ParameterError(
                f"Column {source.name!r} is of kind {raw.kind}; masking needs text or integer. "
                "Use intervals, cuts or dates, or read the column with kinds={...: 'text'}."
            )
        texts = raw.values.cast(pa.string())
        turned = texts if self.side == "right" else pc.utf8_reverse(texts)
        length = _digits(texts)
        return self._place_text(source, turned) if length is None else self._place_digits(source, turned, length)

    def _place_text(self, source: Source, turned: pa.Array) -> Placed:
        leaves = sorted(turned.to_pylist())
        width = max(map(len, leaves), default=0)
        levels = [_masked(leaves, keep, width) for keep in range(min(width - 1, MOST_LEVELS), 0, -1)]
        levels = [level for level in levels if len(set(level)) > 1]
        if self.side == "left":
            leaves = [leaf[::-1] for leaf in leaves]
            levels = [[label[::-1] for label in level] for level in levels]
        tree = Tree(tuple(leaves), tuple(map(tuple, levels)), whole=False)
        return place_tree(tree, source, "masking", keep_order=True)

    def _place_digits(self, source: Source, turned: pa.Array, length: int) -> Placed:
        used, numbers = _completions(turned, length)
        levels = tuple(self._level(numbers, length, keep) for keep in range(length - 1, max(used, 1) - 1, -1))
        raw = source.domain
        if raw.kind == "integer" and self.side == "right":
            values = pa.array(numbers)
        else:
            values = pc.utf8_lpad(pa.array(numbers).cast(pa.string()), length, "0")
            values = values if self.side == "right" else pc.utf8_reverse(values)
        kind: Kind = "integer" if pa.types.is_integer(values.type) else "text"
        region: Region = "node" if levels else "set"
        own = turned.cast(pa.int64()).to_numpy(zero_copy_only=False)
        whole = _fewest_units(source, own // 10 ** (length - used)) >= source.least
        domain = Domain(
            kind, values, levels=levels, region=region, complete=whole, taken="nothing" if whole else "nodes"
        )
        notes = () if kind == raw.kind else (f"{source.name}: published as text, it is masked from the left.",)
        return Placed(*with_missing(domain, np.searchsorted(numbers, own).astype(np.int32), raw), notes)

    def _level(self, numbers: Ints, length: int, keep: int) -> Level:
        prefixes = numbers // 10 ** (length - keep)
        node = np.zeros(len(numbers), dtype=np.int32)
        node[1:] = np.cumsum(prefixes[1:] != prefixes[:-1])
        labels = [f"{prefix:0{keep}d}" + MASK * (length - keep) for prefix in np.unique(prefixes).tolist()]
        return Level(node, tuple(label if self.side == "right" else label[::-1] for label in labels))

    def spec(self) -> dict[str, Any]:
        """{"masking": "right"}."""
        return {"masking": self.side}

    @classmethod
    def of(cls, value: Any, **rest: Any) -> Masking:
        """From {masking = "right"}."""
        only(rest, "masking")
        return cls(side=value)


def masking(side: Literal["right", "left"] = "right") -> Masking:
    """Mask one character after the other from this side.

    >>> masking().spec()
    {'masking': 'right'}
    """
    return Masking(side=side)


def _digits(texts: pa.Array) -> int | None:
    """The common length of all-digit values of at most six digits, else None."""
    if len(texts) == 0 or not pc.all(pc.match_substring_regex(texts, f"^[0-9]{{1,{MOST_DIGITS}}}$")).as_py():
        return None
    ends = pc.min_max(pc.utf8_length(texts)).as_py()
    return int(ends["min"]) if ends["min"] == ends["max"] else None


def _completions(turned: pa.Array, length: int) -> tuple[int, Ints]:
    """Digits kept by the coarsest level, and every number under its used nodes, ascending.

    The coarsest level keeps the common prefix of all values when there is one, else one digit.
    """
    low, high = (str(end) for end in pc.min_max(turned).as_py().values())
    common = next((i for i in range(length) if low[i] != high[i]), length)
    keep = min(max(common, 1), length - 1)
    rest = 10 ** (length - keep)
    prefixes = np.unique(turned.cast(pa.int64()).to_numpy(zero_copy_only=False) // rest)
    return keep, (prefixes[:, None] * rest + np.arange(rest)).ravel().astype(np.int64)


def _fewest_units(source: Source, prefixes: Ints) -> int:
    """Units of the rarest prefix; one with several values counts once, under its first."""
    firsts = np.diff(source.below, prepend=0)
    return int(np.bincount(np.unique(prefixes, return_inverse=True)[1], weights=firsts).min())


def _masked(leaves: list[str], keep: int, width: int) -> list[str]:
    """Leaves with all but `keep` characters masked; shorter ones stay as they are."""
    return [leaf if len(leaf) <= keep else leaf[:keep] + MASK * (width - keep) for leaf in leaves]
