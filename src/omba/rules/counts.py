"""Counts: exactly how many baskets hold a product, a pair, or any set of products.

The baskets are kept twice: product rows in order inside each basket, and for each product the baskets that hold it.
A pair is counted once for each basket by walking one product's baskets; a set by intersecting posting lists.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omba.baskets import Baskets, Label, Vocabulary
from omba.errors import InputError
from omba.rules import kernels
from omba.rules.search import threads

Rows = NDArray[np.int32]
Observed = tuple[Rows, Rows, Rows]

PAIRS_AT_ONCE = 1 << 22
MEMORY = 1 << 31


@dataclass(frozen=True)
class Counts:
    """Exact counts over a run of baskets, by the rows of the labels they were built for: evidence by `Evidence`.

    Parameters
    ----------
    n_baskets
        Baskets in all.
    starts
        Where the baskets of each product begin in `postings`.
    postings
        The baskets that hold each product.
    offsets
        Where the products of each basket begin in `items`.
    items
        The products of each basket, as rows.

    >>> counts = Counts.of(Baskets.from_lists([["a", "b"], ["a", "b", "c"], ["c"]]))
    >>> counts.counts.tolist(), counts.n_baskets, counts.pairs([0, 0], [1, 2]).tolist()
    ([2, 2, 2], 3, [2, 1])
    """

    n_baskets: int
    starts: NDArray[np.int64]
    postings: Rows
    offsets: NDArray[np.int64]
    items: Rows

    @classmethod
    def of(cls, baskets: Baskets, labels: Sequence[Label] | None = None, memory: int = MEMORY) -> Counts:
        """Counts for these labels (all products of the vocabulary if None); other products are passed over.

        Working arrays beyond `memory` bytes are kept in a temporary file instead.
        """
        vocabulary = baskets.product_vocabulary
        labels = vocabulary if labels is None else labels
        items = rows_of(baskets, vocabulary, labels)
        counts = cls.of_rows(baskets.offsets, items, len(labels), 8 * baskets.n_items > memory)
        if baskets.n_items and not len(counts.postings):
            raise InputError(
                f"none of the {len(baskets.products)} products in the evidence is among the {len(labels)} products "
                "of the model: give baskets with the same product labels"
            )
        return counts

    @classmethod
    def of_rows(cls, offsets: NDArray[np.int64], items: Rows, products: int, spill: bool = False) -> Counts:
        """Counts over baskets of product rows, of which those below 0 are passed over."""
        starts, postings = np.empty(products + 1, np.int64), _array(len(items), spill)
        kernels.transpose(offsets, items, starts, postings)
        postings = postings[: starts[-1]]
        ordered, places = _array(len(postings), spill), np.empty(len(offsets), np.int64)
        kernels.transpose(starts, postings, places, ordered)
        return cls(len(offsets) - 1, starts, postings, places, ordered)

    @property
    def complete(self) -> bool:
        return True

    @property
    def counts(self) -> NDArray[np.int64]:
        """Baskets that hold each product."""
        return np.diff(self.starts)

    def pairs(self, left: ArrayLike, right: ArrayLike) -> NDArray[np.int64]:
        """Baskets that hold both products of each pair of rows."""
        return self.itemsets(np.column_stack([left, right]))

    def seen(self, left: ArrayLike, right: ArrayLike) -> NDArray[np.bool_]:
        """Whether the two products of each pair of rows were ever bought together."""
        return self.pairs(left, right) > 0

    def itemsets(self, rows: ArrayLike) -> NDArray[np.int64]:
        """Baskets that hold every product of each itemset: a row of rows an itemset, all of one length."""
        rows = np.ascontiguousarray(rows, np.int64)
        out = np.empty(len(rows), np.int64)
        if len(rows):
            kernels.count_itemsets(rows, self.starts, self.postings, np.empty(rows.shape[1], np.int64), out)
        return out

    def exact(self, rows: ArrayLike) -> NDArray[np.bool_]:
        """Every count is the true one."""
        return np.ones(len(np.asarray(rows)), bool)

    def within(self, product: int) -> Counts:
        """Counts over the baskets that hold a product, of the other products in them."""
        baskets = self.postings[self.starts[product] : self.starts[product + 1]]
        lengths = np.diff(self.offsets)[baskets]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        items = self.items[np.arange(offsets[-1]) + np.repeat(self.offsets[baskets] - offsets[:-1], lengths)]
        return Counts.of_rows(offsets, np.where(items == product, np.int32(-1), items), len(self.starts) - 1)

    def pair_blocks(self, least: int = 1) -> Iterator[Observed]:
        """All pairs that share `least` baskets or more as (left, right, count), left < right, block by block."""
        most = np.empty(len(self.starts) - 1, np.int64)
        kernels.meetings(self.starts, self.postings, self.offsets, self.items, most)
        most = np.minimum(most, np.arange(len(most) - 1, -1, -1))
        total = np.concatenate([[0], np.cumsum(most)])
        edges = [0]
        while edges[-1] < len(most):
            reach = int(np.searchsorted(total, total[edges[-1]] + PAIRS_AT_ONCE, "right")) - 1
            edges.append(max(reach, edges[-1] + 1))

        def block(part: int) -> Observed:
            first, after = edges[part], edges[part + 1]
            room, n = int(total[after] - total[first]), len(most)
            left, right, count = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
            tally, met = np.zeros(n, np.int32), np.empty(n, np.int32)
            arrays = (self.starts, self.postings, self.offsets, self.items)
            found = kernels.count_pairs(first, after, *arrays, least, tally, met, left, right, count)
            return left[:found].copy(), right[:found].copy(), count[:found].copy()

        with ThreadPoolExecutor(threads()) as pool:
            # A few at a time, so that memory stays bounded however many blocks there are.
            for part in range(0, len(edges) - 1, threads()):
                yield from pool.map(block, range(part, min(part + threads(), len(edges) - 1)))

    def observed(self, least: int = 1) -> Observed:
        """All pairs that share `least` baskets or more, in one piece."""
        blocks = list(self.pair_blocks(least)) or [(np.empty(0, np.int32),) * 3]
        left, right, count = (np.concatenate(column) for column in zip(*blocks, strict=True))
        return left, right, count


def rows_of(baskets: Baskets, vocabulary: Vocabulary, labels: Sequence[Label]) -> Rows:
    """The items of the baskets as rows of `labels`, −1 where a product is not among them."""
    if labels is vocabulary:
        return baskets.items
    rows = {label: row for row, label in enumerate(labels)}
    known = np.array([rows.get(label, -1) for label in vocabulary], np.int32)
    return known[baskets.items]


def _array(length: int, spill: bool) -> Any:
    """A 32-bit array in memory, or in a temporary file that vanishes with it."""
    if not spill or not length:
        return np.empty(length, np.int32)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, np.int32, "w+", shape=(length,))
