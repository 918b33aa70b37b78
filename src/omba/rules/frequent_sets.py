"""Frequent sets: all there are in exact evidence, so that rules of several products miss none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from omba.patterns import Transactions
from omba.patterns.itemsets import Itemsets, lay_out
from omba.patterns.miner import Miner, TooMany
from omba.patterns.splits import index_sets
from omba.rules.counts import Counts
from omba.rules.search import threads

MOST = 500_000
"""Sets held; beyond, the threshold rises until they are fewer."""
STEP = 1.25
"""How much the threshold rises at a time."""


class FrequentSets:
    """The frequent sets of exact counts, and the count of each part of them.

    Parameters
    ----------
    counts
        The exact evidence.
    least
        Baskets that a set is in, at least.
    longest
        Products of a set, at most.
    """

    def __init__(self, counts: Counts, least: int, longest: int) -> None:
        transactions = Transactions(counts.offsets, counts.items, range(len(counts.starts) - 1))
        miner = Miner(transactions, "frequent", longest, threads())
        while True:
            try:
                tree = miner.search(least, MOST)
                break
            except TooMany:
                least = max(least + 1, round(STEP * least))
        self.least = least
        """The baskets that each set is in: as asked, or more where those were too many."""
        self.sets = Itemsets(transactions, lay_out(tree, np.empty(0, np.int32), 1), least)
        hashes, self._keys, _ = index_sets(self.sets.offsets, self.sets.items, len(transactions.labels))
        order = np.argsort(hashes)
        self._hashes, self._counts = hashes[order], self.sets.count[order]

    def of_size(self, least: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The sets of `least` products or more and their counts, size by size."""
        for sets, count in self.sets.groups:
            if sets.shape[1] >= least:
                yield sets.astype(np.int64), count

    def counts(self, parts: NDArray[np.integer]) -> NDArray[np.int64]:
        """Baskets with each part of a frequent set: a line a part, all of one size."""
        hashes = np.bitwise_xor.reduce(self._keys[parts], axis=1)
        return np.asarray(self._counts[np.searchsorted(self._hashes, hashes)])
