"""Pairing: the pairs of many baskets, combined in a table of bounded size before they go anywhere."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from omba.model import counting
from omba.model.evidence import LOAD, empty_table

SLOTS = 1 << 22
"""Slots of a table: 64 MB."""


def pairs(
    offsets: NDArray[np.int64], items: NDArray[np.int32]
) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.int64]]]:
    """The pairs of the baskets, packed, with their counts; a pair comes again only after the table was full.

    >>> list(pairs(np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32)))
    [(array([1], dtype=uint64), array([2]))]
    """
    sizes = np.diff(offsets)
    longest, total = int(sizes.max(initial=2)), int((sizes * (sizes - 1) // 2).sum())
    slots = min(max(2 * total, longest * 2, 64), max(SLOTS, 2 * longest))
    place, nothing = np.zeros(3, np.int64), np.zeros(0, np.uint64)
    while place[0] < len(sizes):
        table = empty_table(slots)
        counting.count_pairs(offsets, items, longest, 0, table, int(LOAD * slots), nothing, 0, place)
        taken = np.flatnonzero(table[::2] != counting.EMPTY)
        keys, counts = table[2 * taken], table[2 * taken + 1].astype(np.int64)
        order = np.argsort(keys)
        yield keys[order], counts[order]
