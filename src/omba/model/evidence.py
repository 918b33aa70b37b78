"""Evidence: what was bought together, counted in constant memory while the stream goes by.

Products are counted exactly. Pairs live in a hash table of at most `pairs` entries. When it is full, the rarest
quarter or more is let go, but leaves a trace in a Bloom filter (B. H. Bloom, 1970). A pair without a trace is new,
so its count is exact; one that comes back may have been missed `error` times at most, as in lossy counting
(G. S. Manku and R. Motwani, 2002). So for every pair

    pairs(a, b)  ≤  true count  ≤  at_most(a, b)  ≤  pairs(a, b) + error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omba.errors import SettingError
from omba.model import counting

Words = NDArray[np.uint64]
Rows = NDArray[np.int32]
Longs = NDArray[np.int64]

LARGEST = 2_000
"""Products of one basket that are paired, at most: 2 million pairs; 5,000 would make 12.5 million of a single visit."""
FIRST_SLOTS = 1 << 14
LOAD = 0.75
LEAST = 10_000
"""Smallest table: the pairs of one product of a basket must fit the quarter that is let go."""
TRACE_BITS = 32
SMALL_COUNTS = 1_024
"""Counts among which the bound is looked for; pairs are let go at a count of a few."""


class Evidence:
    """Counts of products and of pairs of products, in memory set by `pairs`.

    Parameters
    ----------
    pairs
        How many pairs are kept, at most.

    >>> evidence = Evidence()
    >>> evidence.update(np.array([0, 2, 5]), np.array([0, 1, 0, 1, 2], np.int32))
    >>> evidence.n_baskets, evidence.counts.tolist(), evidence.pairs([0, 2], [1, 1]).tolist()
    (2, [2, 2, 1], [2, 1])
    """

    def __init__(self, pairs: int = 4_000_000) -> None:
        if pairs < LEAST:
            raise SettingError(f"room for {pairs} pairs is too little to tell anything: give {LEAST:,} or more")
        self.capacity = int(pairs)
        self.n_baskets = 0
        self.n_pairs = 0
        """Pairs in the table."""
        self.oversized = 0
        """Baskets beyond `LARGEST` products, of which only a part was paired."""
        self.let_go = 0
        """The highest count a pair can have had when it was let go."""
        self._counts = np.zeros(1024, np.int64)
        self._rows = 0
        self._table = empty_table(min(FIRST_SLOTS, self._most_slots))
        self._trace = np.zeros(0, np.uint64)

    @property
    def counts(self) -> Longs:
        """How many baskets each product was in."""
        return self._counts[: self._rows]

    @property
    def error(self) -> int:
        """No pair's true count exceeds `pairs` by more than this, and none falls below it."""
        return self.let_go + self.oversized

    @property
    def trace_fill(self) -> float:
        """Share of the trace that is in use; above a half, more than one unseen pair in 16 counts as seen."""
        return float(np.bitwise_count(self._trace).sum() / (64 * len(self._trace))) if len(self._trace) else 0.0

    @property
    def nbytes(self) -> int:
        """Memory held, which the length of the stream does not change."""
        return self._counts.nbytes + self._table.nbytes + self._trace.nbytes

    @property
    def table(self) -> Words:
        """The table itself, for what is counted beside it."""
        return self._table

    def grow(self, n: int) -> None:
        """Make room for products up to row `n` − 1."""
        if n > len(self._counts):
            more = max(n, 2 * len(self._counts)) - len(self._counts)
            self._counts = np.concatenate([self._counts, np.zeros(more, np.int64)])
        self._rows = max(self._rows, n)

    def update(self, offsets: Longs, items: Rows) -> None:
        """Count one window: basket `b` holds the products `items[offsets[b]:offsets[b + 1]]`, each once."""
        items = items[offsets[0] : offsets[-1]]
        if len(items):
            self.grow(int(items.max()) + 1)
        counting.count_products(items, self._counts)
        place = np.zeros(3, np.int64)
        while True:
            free = min(self.capacity, int(LOAD * self._slots)) - self.n_pairs
            self.n_pairs += counting.count_pairs(
                offsets - offsets[0], items, LARGEST, self.n_baskets, self._table, free, self._trace, self.let_go, place
            )
            if place[0] == len(offsets) - 1:
                break
            self._make_room()
        self.oversized += int(place[2])
        self.n_baskets += len(offsets) - 1

    def add(self, rows: Rows, counts: Longs, keys: Words, pair_counts: Longs, baskets: int, oversized: int) -> None:
        """Take in what was counted elsewhere: baskets with each of the rows, and with each packed pair."""
        if len(rows):
            self.grow(int(rows.max()) + 1)
        np.add.at(self._counts, rows, counts)
        place = np.zeros(1, np.int64)
        while True:
            free = min(self.capacity, int(LOAD * self._slots)) - self.n_pairs
            self.n_pairs += counting.add(keys, pair_counts, self._table, free, self._trace, self.let_go, place)
            if place[0] == len(keys):
                break
            self._make_room()
        self.oversized += oversized
        self.n_baskets += baskets

    def pairs(self, a: ArrayLike, b: ArrayLike) -> Longs:
        """How often each pair was seen, at least; the order within a pair is free."""
        left, right = np.broadcast_arrays(np.asarray(a, np.int32), np.asarray(b, np.int32))
        counts = np.empty(left.size, np.int64)
        counting.look_up(left.ravel(), right.ravel(), self._table, counts)
        return counts.reshape(left.shape)

    def highest_lifts(
        self, offsets: Longs, context: Rows, candidates: Rows, sold: Longs, baskets: int, prior: float
    ) -> NDArray[np.float32]:
        """The highest log lift of each candidate with a product of its query's basket, (queries, candidates), by the
        baskets that each product was in and all there were, both sides shrunk by `prior` pairs."""
        lifts = np.empty(candidates.shape, np.float32)
        counting.find_highest_lifts(offsets, context, candidates, self._table, sold, float(baskets), prior, lifts)
        return lifts

    def at_most(self, a: ArrayLike, b: ArrayLike) -> Longs:
        """How often each pair was seen, at most: its count and what may have been missed of it."""
        left, right = np.broadcast_arrays(np.asarray(a, np.int32), np.asarray(b, np.int32))
        counts = np.empty(left.size, np.int64)
        counting.look_up_most(left.ravel(), right.ravel(), self._table, self._trace, self.let_go, counts)
        return counts.reshape(left.shape) + self.oversized

    def exact(self, a: ArrayLike, b: ArrayLike) -> NDArray[np.bool_]:
        """Whether the count of each pair is the true one; where it is not, the true one is `pairs` at least."""
        return np.asarray(self.at_most(a, b) == self.pairs(a, b))

    def seen(self, a: ArrayLike, b: ArrayLike) -> NDArray[np.bool_]:
        """Whether each pair was ever seen, also where its count was let go; False is certain."""
        left, right = np.broadcast_arrays(np.asarray(a, np.int32), np.asarray(b, np.int32))
        seen = np.empty(left.size, np.bool_)
        counting.look_for(left.ravel(), right.ravel(), self._table, self._trace, seen)
        return seen.reshape(left.shape)

    def observed(self, minimum: int = 1) -> tuple[Rows, Rows, Longs]:
        """The pairs counted at least `minimum` times, as (a, b, count) with a < b, in that order."""
        return self.pair_bounds(minimum)[:3]

    def pair_bounds(self, minimum: int = 1) -> tuple[Rows, Rows, Longs, Longs]:
        """The same, with how many baskets with each pair may have been missed at most."""
        keys, values = self._sorted_entries(minimum)
        counts, missed = (values & counting.COUNT).astype(np.int64), (values >> counting.MISSED).astype(np.int64)
        return counting.left_of(keys), counting.right_of(keys), counts, missed + self.oversized

    def bound_rarest(self, kept: int) -> tuple[int, int]:
        """The least count that no more than `kept` pairs have, and the most baskets that a pair below it may be in."""
        values = self._table[1::2]
        counts = values & counting.COUNT
        # Most pairs are rare: how many have each small count tells the bound in one pass.
        oftener = np.cumsum(np.bincount(np.minimum(counts, SMALL_COUNTS).astype(np.int64))[::-1])[::-1]
        bound = int(np.flatnonzero(oftener >= kept)[-1])
        if bound == SMALL_COUNTS:
            bound = int(np.partition(counts, len(counts) - kept)[len(counts) - kept])
        if not self.let_go:
            return bound + 1, bound + self.oversized
        rare = values[counts <= bound]
        most = (rare & counting.COUNT) + (rare >> counting.MISSED)
        return bound + 1, int(most.max(initial=0)) + self.oversized

    def draw(self, most: int, seed: int, often: int, strongest: int) -> tuple[Words, Words, Words]:
        """About `most` of all pairs, as many of those counted `often` times or more, and the `strongest` of these.

        Pairs are packed (see `counting.pack`). The first two are each as likely as the next and stand in random order,
        so that their first are drawn alike too; the same seed gives the same ones, wherever they stand in the table.
        The strongest are those whose lift is surely the highest.
        """
        share = min(1.0, most / max(self.n_pairs, 1))
        some, order, many, many_order, sure = counting.draw_pairs(
            self._table, share, np.uint64(seed), often, self.counts
        )
        few = np.argpartition(many_order, most)[:most] if len(many) > most else np.arange(len(many))
        best = many
        if len(many) > strongest:
            least = np.partition(sure, len(sure) - strongest)[len(sure) - strongest]
            above, last = many[sure > least], np.sort(many[sure == least])
            # Of those as strong as the last one the first by key, wherever they stand in the table.
            best = np.append(above, last[: strongest - len(above)])
        return some[np.argsort(order)], many[few][np.argsort(many_order[few])], best

    def partners(self, row: int) -> tuple[Rows, Longs]:
        """The products seen with this one and how often, most often first."""
        keys, values = self._entries()
        a, b = counting.left_of(keys), counting.right_of(keys)
        there = np.flatnonzero((a == row) | (b == row))
        rows, counts = a[there] + b[there] - np.int32(row), (values[there] & counting.COUNT).astype(np.int64)
        order = np.lexsort((rows, -counts))
        return rows[order], counts[order]

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything, as plain arrays."""
        keys, values = self._sorted_entries()
        sizes = [self.capacity, self.n_baskets, self.oversized, self.let_go]
        return {
            "sizes": np.array(sizes, np.int64),
            "counts": self.counts.copy(),
            "keys": keys,
            "values": values,
            "trace": self._trace.copy(),
        }

    @classmethod
    def from_state(cls, state: dict[str, NDArray[Any]]) -> Evidence:
        """Evidence that goes on exactly where the saved one stopped."""
        capacity, n_baskets, oversized, let_go = state["sizes"].tolist()
        evidence = cls(capacity)
        evidence.n_baskets, evidence.oversized, evidence.let_go = n_baskets, oversized, let_go
        evidence.grow(len(state["counts"]))
        evidence.counts[:] = state["counts"]
        evidence._trace = state["trace"].astype(np.uint64)
        evidence._refill(state["keys"].astype(np.uint64), state["values"].astype(np.uint64))
        return evidence

    @property
    def _slots(self) -> int:
        return len(self._table) // 2

    @property
    def _most_slots(self) -> int:
        return int(self.capacity / LOAD) + 1

    def _entries(self) -> tuple[Words, Words]:
        taken = np.flatnonzero(self._table[::2] != counting.EMPTY)
        return self._table[2 * taken], self._table[2 * taken + 1]

    def _sorted_entries(self, minimum: int = 0) -> tuple[Words, Words]:
        """The pairs counted at least `minimum` times, in order: sorting numbers is far quicker than sorting places."""
        bits, width = self._rows.bit_length(), self._slots.bit_length()
        if 2 * bits + width > 64:
            keys, values = self._entries()
            often = np.flatnonzero((values & counting.COUNT) >= minimum)
            often = often[np.argsort(keys[often])]
            return keys[often], values[often]
        numbers = np.empty(self.n_pairs, np.uint64)
        numbers = numbers[: counting.number_pairs(self._table, minimum, bits, width, numbers)]
        numbers.sort()
        place = 2 * (numbers & np.uint64((1 << width) - 1)).astype(np.int64)
        return self._table[place], self._table[place + 1]

    def _make_room(self) -> None:
        """Let the table grow, or, at its full size, let the rarest pairs go.

        Both take time in proportion to the table, but come only once so many pairs have come in that a pair
        pays for a few slots.
        """
        if self._slots < self._most_slots:
            self._move(min(2 * self._slots, self._most_slots), 0)
            return
        numbers = np.zeros(SMALL_COUNTS, np.int64)
        counting.count_most(self._table, numbers)
        # The lowest bound under which at least a quarter falls, so that the next time is far away.
        bound = int(np.searchsorted(np.cumsum(numbers), self.n_pairs // 4, side="right"))
        if bound == SMALL_COUNTS - 1:
            values = self._entries()[1]
            most = (values & counting.COUNT) + (values >> counting.MISSED)
            bound = int(np.partition(most, len(most) // 4)[len(most) // 4])
        if not len(self._trace):
            self._trace = np.zeros(self.capacity * TRACE_BITS // 512 * counting.BLOCK, np.uint64)
        self.let_go = max(self.let_go, bound)
        self._move(self._most_slots, bound)

    def _move(self, slots: int, bound: int) -> None:
        """Go on with a table of so many slots, without the pairs that were seen `bound` times at most."""
        table = empty_table(slots)
        self.n_pairs = counting.move(self._table, bound, self._trace, table)
        self._table = table

    def _refill(self, keys: Words, values: Words) -> None:
        wanted = max(FIRST_SLOTS, int(2 * len(keys) / LOAD) + 1)
        self._table = empty_table(min(wanted, self._most_slots))
        counting.insert(keys, values, self._table)
        self.n_pairs = len(keys)


def empty_table(slots: int) -> Words:
    table = np.full(2 * slots, counting.EMPTY, np.uint64)
    table[1::2] = 0
    return table
