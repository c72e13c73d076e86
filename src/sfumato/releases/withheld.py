"""Lists taken from the data: what no published cell names is not listed; a node stands there by its label alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.codec import LONGEST_SET, ROOT, Codes, Domain, Level

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Run = tuple[int, int]
OTHERS = "…"
"""How values between the two that an abbreviated set names are written."""


def withhold(domain: Domain, low: Codes, high: Codes) -> tuple[Domain, Codes, Codes]:
    """The domain without the values of its list that no published region names, and the regions in its codes.

    A leaf is named by a region that is this leaf, or a set written in full or one that begins or ends with it. All
    others of one node become one code in `withheld`, at the beginning of the node, so that neither their number nor
    their order shows. Expects a domain cut to the regions low[g] … high[g].
    """
    if domain.taken == "nothing" or not domain.n_values:
        return domain, low, high
    runs = np.unique(np.stack([low, high]).astype(np.int64), axis=1)
    named = _named(domain, runs)
    if named.all():
        return domain, low, high
    others = _under_nodes(domain, runs, named) if domain.region == "node" else _between_ends(named)
    leaves = np.flatnonzero(named)
    place = np.concatenate([leaves, others[0]])
    width = np.concatenate([np.ones(len(leaves), dtype=np.int64), others[1] - others[0] + 1])
    order = np.lexsort((-width, place))
    place, width, withheld = place[order], width[order], order >= len(leaves)
    cut = replace(domain, values=_values(domain, place, width, withheld), levels=(), complete=False)
    cut = replace(cut, withheld=tuple(np.flatnonzero(withheld).tolist()))
    first, last = _first(place, width, low, high), np.searchsorted(place, high, side="right") - 1
    if domain.region == "node":
        published = published_nodes(domain, low, high)
        nodes = [{_moved(place, width, run): text for run, text in found.items()} for found in published]
        cut = replace(cut, levels=levels_over([cut.leaf_label(code) for code in range(cut.size)], nodes))
    return cut, first.astype(np.int32), last.astype(np.int32)


def _named(domain: Domain, runs: Ints) -> Bools:
    """Which codes some region names, (size,); the missing value is always named."""
    named = np.zeros(domain.size, dtype=np.bool_)
    named[domain.n_values :] = True
    for low, high in runs.T.tolist():
        whole = low == 0 and high == domain.size - 1
        hidden = any(low <= code <= high for code in domain.withheld)
        in_full = domain.region == "set" and high - low < LONGEST_SET and not hidden
        if low == high or in_full or (domain.taken == "nodes" and not whole):
            named[low : high + 1] = True
        elif domain.region == "set" and not whole:
            named[[low, high]] = True
    named[list(domain.withheld)] = False
    return named


def _under_nodes(domain: Domain, runs: Ints, named: Bools) -> tuple[Ints, Ints]:
    """The published nodes that are the smallest above some value that is not named: their first and last codes."""
    smallest = np.zeros(domain.size, dtype=np.int64)
    for i in np.argsort(runs[0] - runs[1], kind="stable").tolist():
        smallest[runs[0, i] : runs[1, i] + 1] = i
    found = np.unique(smallest[~named])
    return runs[0, found], runs[1, found]


def _between_ends(named: Bools) -> tuple[Ints, Ints]:
    """The gaps between named leaves."""
    edges = np.diff(np.concatenate([[1], named.astype(np.int64), [1]]))
    return np.flatnonzero(edges < 0), np.flatnonzero(edges > 0) - 1


def _values(domain: Domain, place: Ints, width: Ints, withheld: Bools) -> pa.Array:
    """The texts of the leaves that stay, and for the others a label that is none of them."""
    kept = set(domain.values.take(pa.array(place[~withheld & (place < domain.n_values)])).to_pylist())
    alone = bool(withheld[place < domain.n_values].all())
    texts = []
    for at, n, hidden in zip(place.tolist(), width.tolist(), withheld.tolist(), strict=True):
        if hidden:
            label = domain.range_label(at, at + n - 1) if domain.region == "node" else ROOT if alone else OTHERS
            text, n_same = label, 1
            while text in kept:
                n_same += 1
                text = f"{label} {n_same}"
            kept.add(text)
            texts.append(text)
        elif at < domain.n_values:
            texts.append(domain.values[at].as_py())
    return pa.array(texts, pa.string())


def _first(place: Ints, width: Ints, low: Codes, high: Codes) -> Ints:
    """The first code inside each region: what is as early but reaches further lies outside."""
    widest = int(width.max()) + 1
    key = place * (widest + 1) - width
    wanted = low.astype(np.int64) * (widest + 1) - np.minimum(high - low + 1, widest)
    found: Ints = np.searchsorted(key, wanted).astype(np.int64)
    return found


def _moved(place: Ints, width: Ints, run: Run) -> Run:
    low, high = (np.array([end], dtype=np.int32) for end in run)
    return int(_first(place, width, low, high)[0]), int(np.searchsorted(place, run[1], side="right")) - 1


def published_nodes(domain: Domain, low: Codes, high: Codes) -> list[dict[Run, str]]:
    """Level by level the published nodes of more than one leaf that the level is the first to name."""
    wanted = {(int(a), int(b)) for a, b in np.unique(np.stack([low, high]), axis=1).T if a < b}
    nodes = []
    for level in domain.levels:
        found = _runs(level) & wanted
        nodes.append({run: level.labels[int(level.node[run[0]])] for run in found})
        wanted -= found
    return [found for found in nodes if found]


def levels_over(names: list[str], nodes: Sequence[Mapping[Run, str]]) -> tuple[Level, ...]:
    """Levels with these nodes; below and beside them every leaf stands for itself, under its own name."""
    owner = np.arange(len(names), dtype=np.int32)
    levels = []
    for found in nodes:
        for (first, last), label in found.items():
            if first < last:
                owner[first : last + 1] = first
                names[first] = label
        starts = np.flatnonzero(np.diff(owner, prepend=-1))
        if len(starts) < len(names):
            levels.append(Level(dense(owner), tuple(names[int(at)] for at in starts)))
    return tuple(levels)


def dense(node: Codes) -> Codes:
    """Nondecreasing numbers as 0, 1, 2, … without gaps."""
    found: Codes = np.cumsum(np.diff(node, prepend=node[:1]) != 0).astype(np.int32)
    return found


def _runs(level: Level) -> set[Run]:
    starts = np.flatnonzero(np.diff(level.node, prepend=-1))
    ends = np.append(starts[1:], len(level.node)) - 1
    return set(zip(starts.tolist(), ends.tolist(), strict=True))
