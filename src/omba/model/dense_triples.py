# mypy: disallow_untyped_decorators=False
"""Dense triples: sets of three best sellers, each with a place of its own in one array.

Where a few hundred products are in most baskets, most triples that are met are of those products alone, and nearly all
that there may be of them do occur. Such a triple needs no key, no search and no decision whether it is worth counting:
with the products numbered by how often they sell, a < b < c, its place is

    c·(c − 1)·(c − 2) / 6 + b·(b − 1) / 2 + a,

so that what is met most often lies close together. Four bytes a triple, where a table takes 26. Counting is adding, and
the order does not matter: so baskets wait until they are many, and are counted one highest number c at a time, whose
triples fit the processor's own cache.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from omba.model import counting

Words = NDArray[np.uint64]
Rows = NDArray[np.int32]
Longs = NDArray[np.int64]
Halves = NDArray[np.uint16]
Places = NDArray[np.uint32]

OCCUPIED = 0.03
"""The part of the places that must be in use when it is told who the best sellers are: in a year it becomes the most of
them."""
STEP = 16
"""The number of products is a multiple of this."""
AT_ONCE = 1 << 18
"""Products in the baskets that are counted at once."""
COUNTING = Lock()
"""Held while baskets are counted, which whoever asks first may have to wait for."""


@njit(nogil=True, cache=True, error_model="numpy")
def count_slices(numbers: Halves, starts: Longs, products: int, counts: Places) -> None:
    """Count the triples of baskets, given by the numbers of their products in order.

    The triples with the same highest number lie together, and few enough of them that they fit the processor's own
    cache: so one such number is done at a time, in all baskets that it is in.
    """
    begins = np.zeros(products + 1, np.int64)
    for b in range(len(starts) - 1):
        for x in range(starts[b] + 2, starts[b + 1]):
            begins[numbers[x] + 1] += 1
    begins = np.cumsum(begins)
    # For each number the baskets that it is in, and where it stands there.
    baskets, at = np.empty(begins[-1], np.int32), np.empty(begins[-1], np.int32)
    filled = begins.copy()
    for b in range(len(starts) - 1):
        for x in range(starts[b] + 2, starts[b + 1]):
            place = filled[numbers[x]]
            baskets[place], at[place] = starts[b], x
            filled[numbers[x]] = place + 1
    for c in range(2, products):
        begin_c = c * (c - 1) * (c - 2) // 6
        for place in range(begins[c], begins[c + 1]):
            start = baskets[place]
            for y in range(start + 1, at[place]):
                second = int(numbers[y])
                begin_b = begin_c + second * (second - 1) // 2
                for z in range(start, y):
                    counts[begin_b + numbers[z]] += np.uint32(1)


class DenseTriples:
    """Counts of all triples of some products.

    Parameters
    ----------
    rows
        Their rows, each once.
    counts
        What was counted, by place; None where nothing was.
    exact
        Whether triples of each of them with others of which it is so were counted from the first.

    >>> dense = DenseTriples(np.array([7, 2, 5, 4], np.int32), counts=np.array([3, 0, 0, 1], np.uint32))
    >>> dense.look_up(np.array([[2, 5, 7], [2, 4, 5]])).tolist()
    [3, 1]
    """

    def __init__(self, rows: Rows, counts: Places | None = None, exact: NDArray[np.bool_] | bool = True) -> None:
        self.rows, self.exact = np.asarray(rows, np.int32), np.broadcast_to(exact, len(rows)).copy()
        self._counts = np.zeros(n_places(len(rows)), np.uint32) if counts is None else counts
        self._numbers: list[Halves] = []
        self._sizes: list[Rows] = []
        """Baskets that are not counted yet: the numbers of their products in order, and how many each has."""
        self.numbers = np.full(int(self.rows.max(initial=-1)) + 1, -1, np.int32)
        """The number of each row, -1 where it is none of the products."""
        self.numbers[self.rows] = np.arange(len(self.rows), dtype=np.int32)

    @property
    def counts(self) -> Places:
        """What was counted, by place."""
        self._count()
        return self._counts

    @property
    def places(self) -> int:
        """How many triples have a place."""
        return len(self._counts)

    @property
    def nbytes(self) -> int:
        return self._counts.nbytes

    def add(self, numbers: Halves, sizes: Rows) -> None:
        """Count baskets of so many of the products each, whose numbers stand in order: now or when they are asked."""
        if not len(sizes):
            return
        with COUNTING:
            self._numbers.append(numbers.copy())
            self._sizes.append(sizes.copy())
        if sum(map(len, self._numbers)) >= AT_ONCE:
            self._count()

    def _count(self) -> None:
        """Count the baskets that wait for it."""
        with COUNTING:
            if self._sizes:
                numbers, starts = np.concatenate(self._numbers), np.append(0, np.cumsum(np.concatenate(self._sizes)))
                count_slices(numbers, starts, len(self.rows), self._counts)
                self._numbers, self._sizes = [], []

    def holds(self, sets: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each line of three rows has a place."""
        return np.asarray((self._numbers_of(sets) >= 0).all(axis=1))

    def holds_exactly(self, sets: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each has a place, and its true count."""
        numbers = self._numbers_of(sets)
        return np.asarray((numbers >= 0).all(axis=1) & np.append(self.exact, False)[numbers].all(axis=1))

    def look_up(self, sets: NDArray[Any]) -> Longs:
        """The counts of triples that have a place."""
        return self.counts[self._places(sets)].astype(np.int64)

    def observed(self, least: int) -> tuple[Words, Words]:
        """The packed triples counted so many times or more, once at least, and their counts."""
        least = max(least, 1)
        some = int((self.counts >= least).sum())
        keys, counts = np.empty(some, np.uint64), np.empty(some, np.uint64)
        counting.list_dense(self.counts, self.rows, least, keys, counts)
        return keys, counts

    def was_exact(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether that was so of each of some rows."""
        numbers = self._numbers_of(rows)
        return np.asarray((numbers >= 0) & np.append(self.exact, False)[numbers])

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything, as plain arrays."""
        return {
            "sellers": self.rows,
            "sellers_counts": self.counts,
            "sellers_exact": self.exact.astype(np.int64),
        }

    @classmethod
    def from_state(cls, state: dict[str, NDArray[Any]]) -> DenseTriples | None:
        """The reverse of `state`; None where a model was saved that had no such places."""
        if "sellers" not in state:
            return None
        rows, counts = state["sellers"], state["sellers_counts"]
        if len(counts) != n_places(len(rows)) or len(np.unique(rows)) != len(rows):
            raise ValueError(f"sets.sellers_counts holds {len(counts)} counts of three of {len(rows)} products")
        return cls(rows.copy(), counts.copy(), state["sellers_exact"] > 0)

    def _numbers_of(self, sets: NDArray[Any]) -> NDArray[np.int64]:
        known = np.append(self.numbers, -1)
        return known[np.minimum(np.asarray(sets, np.int64), len(self.numbers))].astype(np.int64)

    def _places(self, sets: NDArray[Any]) -> Longs:
        a, b, c = np.sort(self._numbers_of(sets), axis=1).T
        return np.asarray(c * (c - 1) * (c - 2) // 6 + b * (b - 1) // 2 + a)


def n_places(products: int) -> int:
    """Triples of so many products.

    >>> n_places(4)
    4
    """
    return products * (products - 1) * (products - 2) // 6


def choose_products(keys: Words, sold: Longs, most: int) -> Rows:
    """The best sellers of which so many of all triples occur that they are worth a place each, at most `most` places.

    `keys` are the triples met so far, packed, and `sold` baskets with each product; none where it is worth it for no
    number.
    """
    order = np.argsort(-sold, kind="stable").astype(np.int32)
    rank = np.empty(len(sold), np.int64)
    rank[order] = np.arange(len(order))
    met = np.zeros(len(sold), np.int64)
    counting.count_ranks(keys, rank, met)
    met = np.cumsum(met)
    for number in range(len(sold) // STEP * STEP, 0, -STEP):
        if n_places(number) <= most and met[number - 1] >= OCCUPIED * n_places(number):
            return order[:number]
    return order[:0]
