"""The network's kernels: clues in deviations from their means, and steps of Adam over queries."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]

FASTMATH = {"reassoc", "contract", "arcp", "nsz", "afn"}
HOT = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": FASTMATH}
HELPER = {**HOT, "forceinline": True}
F32 = np.float32


@njit(**HOT)
def standardise(features: Floats, mean: Floats, scale: Floats, widest: float, clues: Floats) -> None:
    """The first clues of each row of features, less their means, scaled, and no further out than `widest`."""
    most = F32(widest)
    for i in range(features.shape[0]):
        for k in range(clues.shape[1]):
            x = (features[i, k] - mean[k]) * scale[k]
            clues[i, k] = min(max(x, -most), most)


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
            rows[q * candidates : (q + 1) * candidates] = clues[order[start + q]]
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
