"""(ε, m)-anonymity from its definitions: every pair of tuples compared, every partition tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

Value = Fraction | None
Reach = tuple[Fraction, Fraction, bool]


def covers(of: Value, value: Value, reach: Reach) -> bool:
    """Does the private neighbourhood of one value hold another? Definition 6, and 8 for two distances."""
    below, above, relative = reach
    if of is None or value is None:
        return of is value
    if relative:
        return of * (1 - below) <= value <= of * (1 + above)
    return of - below <= value <= of + above


def anonymous(group: Sequence[Value], reach: Reach, m: int) -> bool:
    """Inequality 2 for every tuple of one group."""
    return all(sum(covers(one, other, reach) for other in group) * m <= len(group) for one in group)


def size(group: Sequence[Value], reach: Reach) -> int:
    """maxsize(G) of definition 11: the largest left or right covering set."""
    most = 0
    for one in group:
        near = [other for other in group if covers(one, other, reach)]
        if one is None:
            most = max(most, len(near))
            continue
        most = max(most, sum(other <= one for other in near), sum(other >= one for other in near))  # type: ignore[operator]
    return most


def partitions(items: Sequence[Value]) -> Iterator[list[list[Value]]]:
    """Every partition of a list."""
    if not items:
        yield []
        return
    for smaller in partitions(items[1:]):
        yield [[items[0]], *smaller]
        for i in range(len(smaller)):
            yield [*smaller[:i], [items[0], *smaller[i]], *smaller[i + 1 :]]


def achievable(values: Sequence[Value], reach: Reach, m: int) -> bool:
    """Does some partition meet it?"""
    return any(all(anonymous(group, reach, m) for group in groups) for groups in partitions(values))
