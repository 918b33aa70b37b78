"""Sampler: negatives drawn by how often each unit was met, online and in bounded memory (paper, Eq. 6).

Where word2vec-style code keeps a list that grows with the stream, one exact count a unit is enough: before each
window an alias table is laid over `count ** power`, in O(units), and a draw costs O(1).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


def sampler(counts: NDArray[np.int64], power: float) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """The alias table (keep, other) of counts raised to a power; units never met are never drawn.

    >>> keep, other = sampler(np.array([1, 3]), power=1.0)
    >>> keep.tolist(), other.tolist()
    ([0.5, 1.0], [1, 1])
    """
    chance = counts.astype(np.float64)
    np.power(chance, power, out=chance, where=chance > 0)
    total = chance.sum()
    if total > 0:
        chance *= len(counts) / total
    else:
        chance[:] = 1.0
    keep, other = np.empty(len(counts), np.float32), np.empty(len(counts), np.int32)
    alias_table(chance, keep, other)
    return keep, other


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def alias_table(chance: NDArray[np.float64], keep: NDArray[np.float32], other: NDArray[np.int32]) -> None:
    """Fill an alias table (Walker, 1977; Vose, 1991) from chances that sum to their number."""
    n = chance.shape[0]
    low, high = np.empty(n, np.int64), np.empty(n, np.int64)
    lows = highs = 0
    for i in range(n):
        keep[i], other[i] = 1.0, i
        if chance[i] < 1.0:
            low[lows] = i
            lows += 1
        else:
            high[highs] = i
            highs += 1
    while lows > 0 and highs > 0:
        lows -= 1
        small, large = low[lows], high[highs - 1]
        keep[small], other[small] = chance[small], large
        chance[large] -= 1.0 - chance[small]
        if chance[large] < 1.0:
            highs -= 1
            low[lows] = large
            lows += 1
