"""Dealing rows into buckets like cards: ranks modulo the number of buckets, and what each bucket then holds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def sorted_by_frequency(codes: NDArray[Any], counts: Ints, order: Ints) -> Ints:
    """Rows of `order` (n,) with equal codes side by side, the most frequent code first; ties keep `order`."""
    rank = np.empty(len(counts), dtype=np.uint16 if len(counts) <= 1 << 16 else np.uint32)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts), dtype=rank.dtype)
    sorted_rows: Ints = order[np.argsort(rank[codes[order]], kind="stable")]
    return sorted_rows


def dealt(sorted_rows: Ints, n_buckets: int) -> Ints:
    """Bucket of every row (n,): its rank in sorted order modulo the number of buckets."""
    bucket = np.empty(len(sorted_rows), dtype=np.int64)
    bucket[sorted_rows] = np.arange(len(sorted_rows), dtype=np.int64) % n_buckets
    return bucket


def hands(counts: Ints, n_buckets: int, most: int) -> tuple[Ints, Ints]:
    """What `dealt` puts into buckets, without dealing: sizes (T,) and counts (T, V) of the kinds of bucket.

    A value with c rows from rank a on lies ⌊c/B⌋ times in every bucket, and once more in the c mod B buckets from
    a mod B on, cyclically. So the buckets between two neighbouring a mod B are alike: at most V + 1 kinds. When that
    is more than `most`, evenly chosen ones are returned.
    """
    falling = np.argsort(-counts, kind="stable")
    first = np.empty(len(counts), dtype=np.int64)
    first[falling] = np.concatenate([[0], np.cumsum(counts[falling])[:-1]])
    bucket = np.unique(np.concatenate([first % n_buckets, [0, counts.sum() % n_buckets]]))
    if len(bucket) > most:
        bucket = bucket[np.linspace(0, len(bucket) - 1, most).astype(np.int64)]
    more = (bucket[:, None] - first[None, :]) % n_buckets < (counts % n_buckets)[None, :]
    held = (counts // n_buckets)[None, :] + more
    return held.sum(axis=1), held


def dealt_again(bucket: Ints, codes: NDArray[Any], order: Ints) -> Ints:
    """New buckets of rows (n,) such that every bucket keeps its size and its count of every code.

    Rows with equal codes exchange their places in random `order` (n,).
    """
    places = np.argsort(codes, kind="stable")
    rows = order[np.argsort(codes[order], kind="stable")]
    again = np.empty_like(bucket)
    again[rows] = bucket[places]
    return again
