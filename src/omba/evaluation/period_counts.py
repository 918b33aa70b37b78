"""Period counts: exactly how often products and pairs were bought in a run of baskets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Baskets
from omba.rules import Counts, MiningInput, Rules

Rows = NDArray[np.integer]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PeriodCounts:
    """Exact counts of a period, by the model's rows.

    Parameters
    ----------
    counts
        Counts of products and of larger sets.
    keys
        The pairs bought together, both rows in one number, sorted.
    pairs
        How many baskets held each of them.
    """

    counts: Counts
    keys: NDArray[np.int64]
    pairs: NDArray[np.int64]

    @classmethod
    def of(cls, baskets: Baskets, given: MiningInput) -> PeriodCounts:
        counts = Counts.of(baskets, given.labels)
        a, b, n = counts.observed()
        keys = a.astype(np.int64) << 32 | b
        order = np.argsort(keys)
        return cls(counts, keys[order], n[order].astype(np.int64))

    @property
    def n(self) -> int:
        return self.counts.n_baskets

    @property
    def observed(self) -> tuple[Rows, Rows]:
        return self.keys >> 32, self.keys & 0xFFFFFFFF

    def together(self, a: Rows, b: Rows) -> NDArray[np.int64]:
        """Baskets with both of each pair."""
        keys = np.minimum(a, b).astype(np.int64) << 32 | np.maximum(a, b)
        if not len(self.keys):
            return np.zeros(len(keys), np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.pairs[places], 0)

    def chance(self, a: Rows, b: Rows) -> Floats:
        """Baskets with both that chance alone would bring."""
        products = self.counts.counts
        return products[a] * products[b] / max(self.n, 1)

    def strength(self, sets: Rows) -> tuple[NDArray[np.int64], Floats]:
        """Baskets with each set, the consequent standing last, and those that chance alone would bring."""
        if sets.shape[1] == 2:
            return self.together(sets[:, 0], sets[:, 1]), self.chance(sets[:, 0], sets[:, 1])
        n_a, n_b = self.counts.itemsets(sets[:, :-1]), self.counts.counts[sets[:, -1]]
        return self.counts.itemsets(sets), n_a * n_b / max(self.n, 1)


def sets_of(rules: Rules, given: MiningInput) -> list[Rows]:
    """Rules as rows, those of one length together, antecedents first."""
    row = {label: place for place, label in enumerate(given.labels)}
    sets = [[*(row[x] for x in a), *(row[x] for x in c)] for a, c in rules.sides]
    return [np.array([s for s in sets if len(s) == size]) for size in sorted({len(s) for s in sets})]
