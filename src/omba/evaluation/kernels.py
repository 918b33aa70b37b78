"""The draw of negatives and the places of products in a ranking, one query at a time."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

TRIES = 32
"""Draws before a query turns to counting what is left; a basket that fills its window is rare."""


@njit(nogil=True, cache=True, error_model="numpy")
def draw_negatives(
    pool: NDArray[np.int32],
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
    baskets: NDArray[np.int64],
    candidates: NDArray[np.int32],
    n_products: int,
    rng: np.random.Generator,
) -> None:
    """Fill columns 1… of `candidates` from `pool`, each entry as likely as the next, none of the query's basket.

    Negatives of a query are distinct as long as the pool has any left, then they repeat; where the pool holds
    nothing but the basket they stay −1.
    """
    taken = np.full(n_products, -1, np.int64)
    for query in range(len(candidates)):
        basket = baskets[query]
        for place in range(offsets[basket], offsets[basket + 1]):
            taken[items[place]] = query
        for column in range(1, candidates.shape[1]):
            product = _draw(pool, taken, query, rng)
            if product < 0:
                if column > 1:
                    for rest in range(column, candidates.shape[1]):
                        candidates[query, rest] = candidates[query, 1 + int(rng.random() * (column - 1))]
                break
            taken[product] = query
            candidates[query, column] = product


@njit(nogil=True, cache=True, error_model="numpy")
def _draw(pool: NDArray[np.int32], taken: NDArray[np.int64], query: int, rng: np.random.Generator) -> int:
    """A random entry of the pool that is not taken; −1 where there is none."""
    for _ in range(TRIES):
        product = pool[int(rng.random() * len(pool))]
        if taken[product] != query:
            return int(product)
    free = 0
    for product in pool:
        free += taken[product] != query
    if free == 0:
        return -1
    left = int(rng.random() * free)
    for product in pool:
        if taken[product] != query:
            if left == 0:
                return int(product)
            left -= 1
    return -1


@njit(nogil=True, cache=True, error_model="numpy")
def find_places(
    scores: NDArray[np.float32],
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    places: NDArray[np.int64],
) -> None:
    """The best and the worst rank of each query's targets among all products; scores of −∞ are no candidates.

    Targets of query q are the slice `offsets[q]:offsets[q + 1]`. A target that is tied with others may have any rank
    of those they share.
    """
    for query in range(len(scores)):
        row = scores[query]
        for place in range(offsets[query], offsets[query + 1]):
            mine = row[targets[place]]
            above, tied = 0, 0
            for score in row:
                above += score > mine
                tied += score == mine
            places[place, 0] = above + 1
            places[place, 1] = above + tied
