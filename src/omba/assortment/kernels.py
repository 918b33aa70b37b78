"""Kernels of the assortment: what pairs of products have in common, by their words and by their customers."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Rows = NDArray[np.int32]
Floats = NDArray[np.float64]

FASTMATH = {"reassoc", "contract", "arcp", "nsz", "afn"}


@njit(nogil=True, cache=True, error_model="numpy")
def share_words(
    a: Ints, b: Ints, offsets: Ints, words: Rows, ends: Rows, frequency: Ints, rare: int, bonus: float, shares: Floats
) -> None:
    """The share of words that each pair of products has in common, twice the common ones over all; 0 where the common
    one is a single word that many products have, unless it is the first or the last, which says what kind of thing it
    is: that has a bonus. The words of a product stand in order from its offset on, its first and last one in `ends`."""
    for k in range(len(a)):
        i, j, common, telling = offsets[a[k]], offsets[b[k]], 0, False
        last_i, last_j = offsets[a[k] + 1], offsets[b[k] + 1]
        total = last_i - i + last_j - j
        while i < last_i and j < last_j:
            if words[i] == words[j]:
                common += 1
                telling |= frequency[words[i]] <= rare
                i += 1
                j += 1
            elif words[i] < words[j]:
                i += 1
            else:
                j += 1
        shares[k] = 0.0
        same_kind = ends[a[k], 0] == ends[b[k], 0] or ends[a[k], 1] == ends[b[k], 1]
        if common > 1 or telling or same_kind:
            shares[k] = min(2.0 * common / total + (bonus if same_kind else 0.0), 1.0)


@njit(nogil=True, cache=True, error_model="numpy")
def meet_pairs(
    a: Ints,
    b: Ints,
    offsets: Ints,
    users: Rows,
    bought: NDArray[np.float32],
    visits: NDArray[np.float32],
    expected: Floats,
    customers: Ints,
) -> None:
    """Over the customers who buy both products of each pair: the sum of n_a·n_b / N · (N − 1) / N, and how many they
    are. How often each customer buys one product is laid out, and stays so for the pairs after it that hold it too."""
    laid_out, times = np.int64(-1), np.full(len(visits), np.float32(-1.0))
    for k in range(len(a)):
        one, other = a[k], b[k]
        if other == laid_out:
            one, other = other, one
        if one != laid_out:
            if laid_out >= 0:
                for i in range(offsets[laid_out], offsets[laid_out + 1]):
                    times[users[i]] = np.float32(-1.0)
            for i in range(offsets[one], offsets[one + 1]):
                times[users[i]] = bought[i]
            laid_out = one
        for j in range(offsets[other], offsets[other + 1]):
            user = users[j]
            if times[user] >= 0:
                n = visits[user]
                expected[k] += times[user] * bought[j] * (n - 1.0) / (n * n)
                customers[k] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def meet_all(
    users: Rows,
    bought: NDArray[np.float32],
    remembered: NDArray[np.int32],
    counts: NDArray[np.int32],
    visits: NDArray[np.float32],
    expected: Floats,
    customers: Ints,
) -> None:
    """The same of one product, bought by these users so often, with every product they remember."""
    for k in range(len(users)):
        user = users[k]
        n = visits[user]
        each = bought[k] * (n - 1.0) / (n * n)
        for place in range(remembered.shape[1]):
            row = remembered[user, place]
            if row < 0:
                break
            expected[row] += each * counts[user, place]
            customers[row] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def may_be_told(
    row: int, habit: Floats, sold: Floats, remembered: Floats, baskets: int, most: float, counts: Ints,
    fewer: Floats, more: Floats, kept: Ints,
) -> int:  # fmt: skip
    """The products of which a relation to one may be told: those in so many baskets with it, and of which so many are
    expected at most; how many they are. The bounds are by the number of baskets, and what is expected is what habits
    make of it and, of what is bought out of none, chance, times the most that is typical."""
    n = 0
    for other in range(len(counts)):
        place = min(counts[other], len(fewer) - 1)
        by_chance = sold[row] * sold[other] - remembered[row] * remembered[other]
        if fewer[place] > 0 or (habit[other] + by_chance / baskets) * most > more[place]:
            kept[n] = other
            n += 1
    return n


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FASTMATH)
def alike(vectors: NDArray[np.float32], rows: Ints, direction: NDArray[np.float32], likeness: Floats) -> None:
    """How far the vector of each row points in a direction, whatever its length."""
    for k in range(len(rows)):
        along, square = np.float32(0.0), np.float32(0.0)
        for d in range(len(direction)):
            value = vectors[rows[k], d]
            along += value * direction[d]
            square += value * value
        likeness[k] = along / (np.sqrt(square) + 1e-12)
