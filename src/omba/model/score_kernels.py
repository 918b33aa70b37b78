"""Kernels of a score: what clues say by themselves and together, and the steps by which both are fitted.

Features go through them some rows at a time, so that what is made of them on the way stays in the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]

FASTMATH = {"reassoc", "contract", "arcp", "nsz", "afn"}
HOT = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": FASTMATH}
HELPER = {**HOT, "forceinline": True}
F32 = np.float32
ROWS = 128
"""Rows that are taken at a time."""


@njit(**HOT)
def standardise(features: Floats, mean: Floats, scale: Floats, widest: float, clues: Floats) -> None:
    """The first clues of each row of features, less their means, scaled, and no further out than `widest`."""
    most = F32(widest)
    for i in range(features.shape[0]):
        for k in range(clues.shape[1]):
            x = (features[i, k] - mean[k]) * scale[k]
            clues[i, k] = min(max(x, -most), most)


@njit(**HOT)
def add_clues(features: Floats, sums: Doubles) -> None:
    """Add to sums, (2, clues), the first clues of each row of features, and their squares."""
    for i in range(features.shape[0]):
        for k in range(sums.shape[1]):
            x = np.float64(features[i, k])
            sums[0, k] += x
            sums[1, k] += x * x


@njit(**HOT)
def add_together(
    features: Floats, mean: Floats, scale: Floats, widest: float, lower: Floats, upper: Floats, total: Floats
) -> None:
    """Add to each row's total what its first clues say together, v · max(0, W z + b): `lower` is W, `upper` b and v."""
    n, units = lower.shape
    clues, hidden = np.empty((ROWS, n), F32), np.empty((ROWS, units), F32)
    for start in range(0, features.shape[0], ROWS):
        size = min(ROWS, features.shape[0] - start)
        standardise(features[start : start + size], mean, scale, widest, clues[:size])
        np.dot(clues[:size], lower, hidden[:size])
        for i in range(size):
            told = F32(0.0)
            for u in range(units):
                told += max(hidden[i, u] + upper[0, u], F32(0.0)) * upper[1, u]
            total[start + i] += told


@njit(**HELPER)
def tell(rows: Floats, weights: Doubles, log_weights: Doubles, shares: Doubles, utility: Doubles) -> Any:
    """Write the utilities u of one query's candidates; return Σ share · log p, the highest u, Σ exp(u − highest), and
    Σ share, which is 0 where there is no target."""
    highest, total, worth, whole = -np.inf, 0.0, 0.0, 0.0
    for c in range(rows.shape[0]):
        if log_weights[c] == -np.inf:
            utility[c] = -np.inf
            continue
        told = 0.0
        for k in range(rows.shape[1]):
            told += np.float64(rows[c, k]) * weights[k]
        utility[c] = told + log_weights[c]
        highest = max(highest, utility[c])
    for c in range(rows.shape[0]):
        if utility[c] > -np.inf:
            total += np.exp(utility[c] - highest)
        if shares[c] > 0.0:
            worth += shares[c] * utility[c]
            whole += shares[c]
    if whole == 0.0:
        return 0.0, highest, total, whole
    return worth - whole * (highest + np.log(total)), highest, total, whole


@njit(**HOT)
def log_likelihood(features: Floats, weights: Doubles, log_weights: Doubles, shares: Doubles) -> float:
    """How well a weighted sum tells the targets: Σ share · log p, of (queries, candidates, clues)."""
    worth, utility = 0.0, np.empty(features.shape[1])
    for q in range(features.shape[0]):
        worth += tell(features[q], weights, log_weights[q], shares[q], utility)[0]
    return worth


@njit(**HOT)
def add_products(rows: Doubles, sums: Doubles) -> None:
    """Add to sums what every two columns of rows have in common, Σ x xᵀ."""
    products = np.dot(rows.T, rows)
    for k in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            sums[k, j] += products[k, j]


@njit(**HOT)
def sum_up(
    features: Floats,
    columns: Longs,
    weights: Doubles,
    log_weights: Doubles,
    shares: Doubles,
    gradient: Doubles,
    hessian: Doubles,
) -> float:
    """Add what a Newton step needs of queries, Σ (share − p) x and Σ Cov(x), over the clues in some columns; `weights`
    are of all columns. A query without a target adds nothing. Returns the log likelihood."""
    n, size, worth, at = columns.shape[0], features.shape[1], 0.0, 0
    utility, mean = np.empty(size), np.empty(n)
    rows = np.empty((size + ROWS, n))
    for q in range(features.shape[0]):
        one, highest, total, whole = tell(features[q], weights, log_weights[q], shares[q], utility)
        if whole == 0.0:
            continue
        worth += one
        mean[:] = 0.0
        for c in range(size):
            p = np.exp(utility[c] - highest) / total if utility[c] > -np.inf else 0.0
            utility[c] = p
            if p > 0.0:
                for k in range(n):
                    mean[k] += p * features[q, c, columns[k]]
        for c in range(size):
            p = utility[c]
            if p > 0.0:
                root = np.sqrt(p)
                for k in range(n):
                    rows[at, k] = root * (features[q, c, columns[k]] - mean[k])
                at += 1
            if shares[q, c] > 0.0:
                for k in range(n):
                    gradient[k] += shares[q, c] * (features[q, c, columns[k]] - mean[k])
        if at >= ROWS:
            add_products(rows[:at], hessian)
            at = 0
    if at > 0:
        add_products(rows[:at], hessian)
    return worth


@njit(**HELPER)
def climb(given: Floats, share: float, upper: Floats, hidden: Floats, back: Floats, slope: Floats) -> None:
    """What flows back to the hidden units of one query's candidates, of which the target stands first.

    `upper` are b and v; to `slope` that of the log likelihood by them is added.
    """
    highest, total, utility = F32(-np.inf), F32(0.0), np.empty(given.shape[0], F32)
    for c in range(given.shape[0]):
        told = F32(0.0)
        for u in range(hidden.shape[1]):
            hidden[c, u] = max(hidden[c, u] + upper[0, u], F32(0.0))
            told += hidden[c, u] * upper[1, u]
        utility[c] = told + given[c]
        highest = max(highest, utility[c])
    for c in range(given.shape[0]):
        utility[c] = np.exp(utility[c] - highest)
        total += utility[c]
    for c in range(given.shape[0]):
        missing = (F32(c == 0) - utility[c] / total) * share
        for u in range(hidden.shape[1]):
            back[c, u] = missing * upper[1, u] if hidden[c, u] > F32(0.0) else F32(0.0)
            slope[0, u] += back[c, u]
            slope[1, u] += missing * hidden[c, u]


@njit(**HOT)
def fit_network(
    clues: Floats,
    given: Floats,
    order: Longs,
    batch: int,
    steps: int,
    adam: tuple[float, float, float, float],
    kept: float,
    weights: Floats,
    average: Floats,
    gradients: Floats,
    squares: Floats,
) -> int:
    """Steps of Adam over queries in an order, so many at a time, after `steps` before; how many there are then.

    `adam` is its rate, what is left of both means a step later, and what keeps from dividing by zero; `kept`, what is
    left of the average of the weights. `model.oracle` has the same in plain NumPy.
    """
    rate, first, second, tiny = adam
    candidates, n, units = clues.shape[1], clues.shape[2], weights.shape[1]
    rows, slope = np.empty((batch * candidates, n), F32), np.empty((n, units), F32)
    hidden, back = np.empty((batch * candidates, units), F32), np.empty((batch * candidates, units), F32)
    lower = np.empty((2, units), F32)
    for start in range(0, order.shape[0], batch):
        queries = min(batch, order.shape[0] - start)
        size = queries * candidates
        for q in range(queries):
            asked, at = clues[order[start + q]], q * candidates
            for c in range(candidates):
                for k in range(n):
                    rows[at + c, k] = asked[c, k]
        np.dot(rows[:size], weights[:n], hidden[:size])
        lower[:] = F32(0.0)
        for q in range(queries):
            part = slice(q * candidates, (q + 1) * candidates)
            climb(given[order[start + q]], F32(1.0 / queries), weights[n:], hidden[part], back[part], lower)
        np.dot(rows[:size].T, back[:size], slope)
        steps += 1
        pace = F32(rate * np.sqrt(1.0 - second**steps) / (1.0 - first**steps))
        stays = F32(min(kept, steps / (steps + 10.0)))
        for k in range(weights.shape[0]):
            for u in range(units):
                own = slope[k, u] if k < n else lower[k - n, u]
                gradient = F32(first) * gradients[k, u] + F32(1.0 - first) * own
                square = F32(second) * squares[k, u] + F32(1.0 - second) * own * own
                gradients[k, u], squares[k, u] = gradient, square
                weights[k, u] += pace * gradient / (np.sqrt(square) + F32(tiny))
                average[k, u] = stays * average[k, u] + (F32(1.0) - stays) * weights[k, u]
    return steps
