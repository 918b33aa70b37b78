# mypy: disallow_untyped_decorators=False
"""Kernels of the service: a first look at all products, in a quarter of the bits.

Directions of vectors are kept in 8 bits beside the exact vectors. What a request needs of all products, cosines with a
few vectors, comes from those: a quarter of the memory is read, and no other thread is called to help, as BLAS would,
while the learner needs its core. The best few are then looked at exactly.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Bytes = NDArray[np.int8]
Floats = NDArray[np.float32]

FASTMATH = {"reassoc", "contract", "arcp", "nsz", "afn"}


@njit(nogil=True, cache=True, error_model="numpy")
def quantise(vectors: Floats, rough: Bytes, scales: Floats) -> None:
    """Rows in 8 bits, each as finely as its largest coordinate allows, and the scale that makes them unit vectors."""
    for i in range(vectors.shape[0]):
        largest, square = np.float32(1e-30), np.float32(0.0)
        for k in range(vectors.shape[1]):
            largest = max(largest, abs(vectors[i, k]))
            square += vectors[i, k] * vectors[i, k]
        step = largest / np.float32(127.0)
        scales[i] = step / max(np.sqrt(square), np.float32(1e-12))
        for k in range(vectors.shape[1]):
            rough[i, k] = np.int8(np.rint(vectors[i, k] / step))


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FASTMATH)
def quantised_cosines(rough: Bytes, scales: Floats, query: Floats, cosines: Floats) -> None:
    """The cosine of every row with a query of unit length."""
    for i in range(rough.shape[0]):
        total = np.float32(0.0)
        for k in range(rough.shape[1]):
            total += np.float32(rough[i, k]) * query[k]
        cosines[i] = total * scales[i]


@njit(nogil=True, cache=True, error_model="numpy")
def above(scores: Floats, floor: float, places: NDArray[np.int64]) -> int:
    """The places of the scores that are at a floor or above, as far as there is room; how many there are."""
    found = 0
    for i in range(len(scores)):
        if scores[i] >= floor:
            if found < len(places):
                places[found] = i
            found += 1
    return found
