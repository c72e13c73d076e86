"""Is the original one of the worlds? Rows are matched to published rows, or to slots and values of groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.verify.boxes import pairs
from sfumato.verify.cells import Cells
from sfumato.verify.raw_table import OUTSIDE, coded, exact_keys, place_on, tuples
from sfumato.verify.regions import axis_of

Ints = NDArray[np.int64]
MOST_CHOICES = 60_000
SECONDS = 20.0


@dataclass(frozen=True)
class Matched:
    """`contained`: True, False, or None when it could not be decided. `group[row]`: the class or group of each
    original row, −1 for suppressed ones; `n_free`: rows that could belong to several. `sizes[group]`: published rows;
    `types[row]` and `choices`: every (type of row, group) that could be."""

    contained: bool | None
    group: Ints
    n_free: int
    sizes: Ints
    types: Ints
    choices: tuple[Ints, Ints]


def match(cells: Cells, raw: pa.Table) -> Matched:
    """Match every published row with an original row that may be behind it."""
    return _match_regions(cells, raw) if cells.form == "generalized" else _match_groups(cells, raw)


def _match_regions(cells: Cells, raw: pa.Table) -> Matched:
    """Published row types (region, exact values) against original row types: a transportation problem."""
    table = cells.tables["data"]
    lows, highs, points, opened = [], [], [], []
    for said in cells.quasi:
        axis = axis_of(said, cells.leaves)
        ends = tuple(zip(*(table.column(name).to_pylist() for name in said.ends), strict=True))
        region_of = {end: axis.region(end) or (1, 0) for end in set(ends)}
        lows.append(np.array([region_of[end][0] for end in ends], dtype=np.int64))
        highs.append(np.array([region_of[end][1] for end in ends], dtype=np.int64))
        opened.append(np.array([axis.is_open(region_of[end]) for end in ends], dtype=bool))
        points.append(coded(raw.column(said.name), said.kind).mapped(place_on(axis)))
    keys = [exact_keys(cells, said, raw.column(said.name)) for said in cells.columns if said.published == "exact"]
    classes, first_of_class = tuples([*lows, *highs], table.num_rows)
    spots, first_of_spot = tuples(points, raw.num_rows)
    low, high = (_stacked(end, first_of_class) for end in (lows, highs))
    low, high, owner = _with_outside(low, high, [flags[first_of_class] for flags in opened])
    point, box = pairs(_stacked(points, first_of_spot), low, high)
    box = owner[box]
    exact_of_pub, exact_of_raw = _common([a for a, _ in keys], [b for _, b in keys], table.num_rows, raw.num_rows)
    return _transport((classes, exact_of_pub), (spots, exact_of_raw), (point, box))


def _stacked(columns: list[Ints], rows: Ints) -> Ints:
    return np.stack([column[rows] for column in columns], axis=1) if columns else np.zeros((len(rows), 0), np.int64)


def _with_outside(low: Ints, high: Ints, opened: list[NDArray[np.bool_]]) -> tuple[Ints, Ints, Ints]:
    """Boxes, and for cells that may hold values that are not published boxes of such values; whose box each is."""
    owner = np.arange(len(low))
    for j, flags in enumerate(opened):
        more = np.flatnonzero(flags[owner])
        outside = low[more].copy()
        outside[:, j] = OUTSIDE
        beyond = high[more].copy()
        beyond[:, j] = OUTSIDE
        low, high = np.concatenate([low, outside]), np.concatenate([high, beyond])
        owner = np.concatenate([owner, owner[more]])
    return low, high, owner


def _common(mine: list[Ints], theirs: list[Ints], n_mine: int, n_theirs: int) -> tuple[Ints, Ints]:
    """One code per tuple over both tables."""
    both, _ = tuples([np.concatenate(pair) for pair in zip(mine, theirs, strict=True)], n_mine + n_theirs)
    return both[:n_mine], both[n_mine:]


def _transport(published: tuple[Ints, Ints], original: tuple[Ints, Ints], inside: tuple[Ints, Ints]) -> Matched:
    """Flow from original row types to published row types with equal exact values and a region that holds them."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    classes, exact_of_pub = published
    spots, exact_of_raw = original
    pub, first_pub = tuples([exact_of_pub, classes], len(classes))
    raw, first_raw = tuples([exact_of_raw, spots], len(spots))
    n_pub, n_raw = np.bincount(pub, minlength=len(first_pub)), np.bincount(raw, minlength=len(first_raw))
    source, target = _edges(
        (exact_of_raw[first_raw], spots[first_raw]), (exact_of_pub[first_pub], classes[first_pub]), inside
    )
    a, b, s = len(first_raw), len(first_pub), len(first_raw) + len(first_pub)
    rows = np.concatenate([np.full(a, s), source, a + np.arange(b)])
    columns = np.concatenate([np.arange(a), a + target, np.full(b, s + 1)])
    capacity = np.concatenate([n_raw, n_raw[source], n_pub]).astype(np.int32)
    network = csr_array((capacity, (rows, columns)), shape=(s + 2, s + 2))
    found = maximum_flow(network, s, s + 1)
    group = _assigned(found.flow, raw, classes[first_pub], a)
    degree = np.bincount(source, minlength=a)
    choices = (source, classes[first_pub][target])
    sizes = np.bincount(classes, minlength=int(classes.max(initial=-1)) + 1)
    return Matched(int(found.flow_value) == len(classes), group, int(n_raw[degree > 1].sum()), sizes, raw, choices)


def _edges(raw: tuple[Ints, Ints], pub: tuple[Ints, Ints], inside: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Pairs of row types whose exact values agree and whose spot lies in the region."""
    point, box = inside
    starts = np.searchsorted(point, np.arange(int(raw[1].max(initial=-1)) + 2))
    degree = starts[raw[1] + 1] - starts[raw[1]]
    source = np.repeat(np.arange(len(degree)), degree)
    nth = np.arange(len(source)) - np.repeat(np.cumsum(degree) - degree, degree)
    boxes = box[starts[raw[1]][source] + nth]
    width = int(max(pub[1].max(initial=0), boxes.max(initial=0))) + 1
    wanted, known = raw[0][source] * width + boxes, pub[0] * width + pub[1]
    order = np.argsort(known)
    at = np.searchsorted(known[order], wanted)
    there = at < len(known)
    there[there] = known[order][at[there]] == wanted[there]
    return source[there], order[at[there]]


def _assigned(flow: object, raw: Ints, classes: Ints, n_raw_types: int) -> Ints:
    """A class for every original row, read off the flow; −1 for the rows it leaves."""
    coo = flow.tocoo()  # type: ignore[attr-defined]
    used = (coo.data > 0) & (coo.row < n_raw_types)
    source, target, times = coo.row[used], coo.col[used] - n_raw_types, coo.data[used]
    order = np.argsort(source, kind="stable")
    fill = np.repeat(classes[target[order]], times[order])
    owner = np.repeat(source[order], times[order])
    group = np.full(len(raw), -1, dtype=np.int64)
    rows = np.argsort(raw, kind="stable")
    starts = np.searchsorted(raw[rows], np.arange(n_raw_types))
    nth = np.arange(len(owner)) - np.searchsorted(owner, owner)
    group[rows[starts[owner] + nth]] = fill
    return group


def _match_groups(cells: Cells, raw: pa.Table) -> Matched:
    """Original rows into groups so that every group gets exactly its slots and its values."""
    slots, slots_raw = _side(cells, raw, "quasi")
    values, values_raw = _side(cells, raw, "sensitive")
    slot_group = cells.tables["quasi"].column("group_id").to_numpy()
    value_group = cells.tables["sensitive"].column("group_id").to_numpy()
    placed, sizes = np.full(raw.num_rows, -1, dtype=np.int64), np.bincount(slot_group)
    if _short(slots, slots_raw) or _short(values, values_raw):
        return Matched(False, placed, 0, sizes, placed, (placed[:0], placed[:0]))
    rows, first = tuples([slots_raw, values_raw], raw.num_rows)
    n_rows = np.bincount(rows, minlength=len(first))
    kind, group = _choices((slots, slot_group), (values, value_group), slots_raw[first], values_raw[first])
    needs = [
        _needs(slots, slot_group, slots_raw[first][kind], group),
        _needs(values, value_group, values_raw[first][kind], group),
    ]
    solved = _solve(kind, n_rows, needs, len(slot_group))
    free = np.bincount(kind, minlength=len(first)) > 1
    n_free = int(n_rows[free].sum())
    if solved is None or solved is False:
        return Matched(None if solved is None else False, placed, n_free, sizes, rows, (kind, group))
    owner, fill = np.repeat(kind, solved), np.repeat(group, solved)
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(len(first)))
    placed[order[starts[owner] + np.arange(len(owner)) - np.searchsorted(owner, owner)]] = fill
    return Matched(True, placed, n_free, sizes, rows, (kind, group))


def _short(published: Ints, original: Ints) -> bool:
    """More of some tuple is published than the original has."""
    width = int(max(published.max(initial=0), original.max(initial=0))) + 1
    return bool((np.bincount(published, minlength=width) > np.bincount(original, minlength=width)).any())


def _side(cells: Cells, raw: pa.Table, table: str) -> tuple[Ints, Ints]:
    chosen = [one for one in cells.columns if (one.role == "sensitive") == (table == "sensitive")]
    keys = [exact_keys(cells, said, raw.column(said.name)) for said in chosen]
    return _common([a for a, _ in keys], [b for _, b in keys], cells.tables[table].num_rows, raw.num_rows)


def _choices(slots: tuple[Ints, Ints], values: tuple[Ints, Ints], slot_of: Ints, value_of: Ints) -> tuple[Ints, Ints]:
    """(row type, group) wherever the group has both its slot and its value."""
    groups_of_slot: dict[int, set[int]] = {}
    groups_of_value: dict[int, set[int]] = {}
    for found, (codes, group) in ((groups_of_slot, slots), (groups_of_value, values)):
        for code, one in zip(codes.tolist(), group.tolist(), strict=True):
            found.setdefault(code, set()).add(one)
    kinds, chosen = [], []
    for kind, (slot, value) in enumerate(zip(slot_of.tolist(), value_of.tolist(), strict=True)):
        both = sorted(groups_of_slot.get(slot, set()) & groups_of_value.get(value, set()))
        kinds.extend([kind] * len(both))
        chosen.extend(both)
    return np.array(kinds, dtype=np.int64), np.array(chosen, dtype=np.int64)


def _needs(codes: Ints, groups: Ints, code_of_choice: Ints, group_of_choice: Ints) -> tuple[Ints, Ints]:
    """For each choice the (code, group) it serves, and how many rows each such pair needs (served or not)."""
    both = np.concatenate([codes, code_of_choice])
    pair, _ = tuples([both, np.concatenate([groups, group_of_choice])], len(both))
    needed = np.bincount(pair[: len(codes)], minlength=int(pair.max(initial=-1)) + 1)
    return pair[len(codes) :], needed


def _solve(kind: Ints, n_rows: Ints, needs: list[tuple[Ints, Ints]], n_published: int) -> Ints | bool | None:
    """Whole numbers of rows per choice that serve every need exactly; False: there are none, None: not decided."""
    if any(((np.bincount(pair, minlength=len(needed)) == 0) & (needed > 0)).any() for pair, needed in needs):
        return False
    if not len(kind):
        return np.zeros(0, dtype=np.int64) if n_published == 0 else False
    if not (np.bincount(kind) > 1).any():
        # Every row type has one group it could be in: without suppressed rows the numbers are forced.
        times = n_rows[kind]
        if all((np.bincount(pair, weights=times, minlength=len(needed)) == needed).all() for pair, needed in needs):
            return times.astype(np.int64)
    return None if len(kind) > MOST_CHOICES else _search(kind, n_rows, needs)


def _search(kind: Ints, n_rows: Ints, needs: list[tuple[Ints, Ints]]) -> Ints | bool | None:
    """The same by an integer program with a time limit."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, vstack

    one, at = np.ones(len(kind)), np.arange(len(kind))
    parts = [csr_array((one, (kind, at)), shape=(len(n_rows), len(kind)))]
    low, high = [np.zeros(len(n_rows))], [n_rows.astype(float)]
    for pair, needed in needs:
        parts.append(csr_array((one, (pair, at)), shape=(len(needed), len(kind))))
        low.append(needed.astype(float))
        high.append(needed.astype(float))
    limits = LinearConstraint(vstack(parts), np.concatenate(low), np.concatenate(high))
    found = milp(
        np.zeros(len(kind)),
        constraints=limits,
        integrality=np.ones(len(kind), dtype=np.int8),
        bounds=Bounds(0, np.inf),
        options={"time_limit": SECONDS},
    )
    if found.status == 0:
        return np.rint(found.x).astype(np.int64)
    return False if found.status == 2 else None
