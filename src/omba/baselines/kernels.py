"""Kernels of the baselines: Triple2Vec's stochastic steps, free functions on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

FASTMATH = {"reassoc", "contract", "arcp", "nsz"}
"""All of fast mathematics but the promise that nothing is infinite or not a number."""

Vectors = NDArray[np.float32]


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def _recover(
    target: int,
    vectors: Vectors,
    context: Vectors,
    back: Vectors,
    pool: NDArray[np.int32],
    n: int,
    rate: float,
    rng: Any,
) -> None:
    """One step of −log σ(v·c) − Σ log σ(−v'·c) for the target and `n` negatives; `back` sums the context's steps."""
    d = len(context)
    for k in range(n + 1):
        unit = target
        if k > 0:
            unit = pool[int(rng.random() * len(pool))]
            if unit == target:
                continue
        row = vectors[unit]
        dot = np.float32(0)
        for i in range(d):
            dot += row[i] * context[i]
        label = np.float32(1 if k == 0 else 0)
        step = np.float32(rate) * (label - np.float32(1) / (np.float32(1) + np.exp(-dot)))
        for i in range(d):
            back[i] += step * row[i]
            row[i] += step * context[i]


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FASTMATH)
def learn_triples(
    order: NDArray[np.int64],
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
    users: NDArray[np.int32],
    left: Vectors,
    right: Vectors,
    user_vectors: Vectors,
    product_pool: NDArray[np.int32],
    user_pool: NDArray[np.int32],
    negatives: int,
    start: float,
    stop: float,
    rng: Any,
) -> None:
    """One pass: each product i of each basket with another j of it and the user u, the rate falling from start to stop.

    The triple's cohesion is f(i)·g(j) + f(i)·h(u) + g(j)·h(u). Each of the three is recovered from the sum of
    the other two; a basket of nobody has only the first term.
    """
    d = left.shape[1]
    context, back = np.empty(d, np.float32), np.empty(d, np.float32)
    for done in range(len(order)):
        basket = order[done]
        first, n = offsets[basket], offsets[basket + 1] - offsets[basket]
        if n < 2:
            continue
        rate = start + (stop - start) * done / len(order)
        user = users[basket]
        for place in range(n):
            other = int(rng.random() * (n - 1))
            i, j = items[first + place], items[first + other + (other >= place)]
            f, g, h = left[i], right[j], user_vectors[user]
            known = np.float32(1 if user >= 0 else 0)

            for k in range(d):
                context[k] = g[k] + known * h[k]
                back[k] = 0
            _recover(i, left, context, back, product_pool, negatives, rate, rng)
            for k in range(d):
                g[k] += back[k]
                h[k] += known * back[k]

            for k in range(d):
                context[k] = f[k] + known * h[k]
                back[k] = 0
            _recover(j, right, context, back, product_pool, negatives, rate, rng)
            for k in range(d):
                f[k] += back[k]
                h[k] += known * back[k]

            if user >= 0:
                for k in range(d):
                    context[k] = f[k] + g[k]
                    back[k] = 0
                _recover(user, user_vectors, context, back, user_pool, negatives, rate, rng)
                for k in range(d):
                    f[k] += back[k]
                    g[k] += back[k]
