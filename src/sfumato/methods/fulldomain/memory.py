"""A search kept in a file, so that it can be taken up again: levels, counts and scores, no values.

The file belongs beside the project, never into a package: a search's trace tells of the original.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.methods.fulldomain.nodes import Looked, Nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sfumato.contracts import Requirement
    from sfumato.methods.metrics.metric import Score


def key_of(nodes: Nodes, requirements: Sequence[Requirement], parameters: Mapping[str, Any]) -> str:
    """What a search depends on: tuples with their rows and sensitive values, hierarchies, requirements, parameters."""
    digest = hashlib.sha256()
    space = nodes.space
    for array in (space.keys, space.n, *nodes.judge.evidence.fingerprint(), *nodes.scorer.fingerprint()):
        digest.update(array.tobytes())
    for levels in space.levels:
        for node in levels.node:
            digest.update(node.tobytes())
    said = [list(space.columns), [repr(r) for r in requirements], parameters]
    digest.update(json.dumps(said, sort_keys=True, default=str).encode())
    return digest.hexdigest()


def recall(path: Path, key: str, nodes: Nodes) -> None:
    """Take up what the file knows of this very search; anything else is left alone."""
    try:
        found = json.loads(path.read_text(encoding="utf8"))
    except (OSError, ValueError):
        return
    if not isinstance(found, dict) or found.get("key") != key:
        return
    try:
        known = [_looked(*one) for one in found["nodes"]]
    except (KeyError, TypeError, ValueError):
        return
    nodes.known.update({one.node: one for one in known})


def _looked(*row: Any) -> Looked:
    node, n_suppressed, n_groups, smallest, score, allowed, hopeless, floor = row
    one = tuple(score) if isinstance(score, list) else _number(score)
    return Looked(tuple(node), n_suppressed, n_groups, smallest, one, allowed, hopeless, _number(floor))


def keep(path: Path, key: str, nodes: Nodes) -> None:
    """Write all nodes looked at; the old file stays until the new one is whole."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    rows = [
        [one.node, one.n_suppressed, one.n_groups, one.smallest, _written(one.score), one.allowed, one.hopeless,
         _written(one.floor)]
        for one in nodes.known.values()
    ]  # fmt: skip
    new = path.with_suffix(".tmp")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf8") as file:
        json.dump({"key": key, "nodes": rows}, file)
    os.replace(new, path)


def _written(score: Score) -> Score | str:
    """JSON has no word for infinite numbers."""
    return str(score) if isinstance(score, float) and math.isinf(score) else score


def _number(written: float | str) -> float:
    return float(written)
