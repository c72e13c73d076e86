"""Slow twin of Anatomy: every partition of a few rows into buckets, judged by the definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence


def partitions(n: int) -> Iterator[list[int]]:
    """Every partition of rows 0 … n−1 as the bucket of each row, buckets numbered by first appearance."""

    def extend(made: list[int]) -> Iterator[list[int]]:
        if len(made) == n:
            yield list(made)
            return
        for bucket in range(max(made, default=-1) + 2):
            yield from extend([*made, bucket])

    yield from extend([])


def most_buckets(n: int, meets: Callable[[Sequence[int]], bool]) -> int:
    """The largest number of buckets of a partition that meets everything; 0 when none does."""
    return max((max(found) + 1 for found in partitions(n) if meets(found)), default=0)
