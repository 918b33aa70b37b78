# mypy: disallow_untyped_decorators=False
"""Kernels of the service: a first look at all products in a quarter of the bits, and the tables that rules share.

Directions of vectors are kept in 8 bits beside the exact vectors. What a request needs of all products, cosines with a
few vectors, comes from those: a quarter of the memory is read, and no other thread is called to help, as BLAS would,
while the learner needs its core. The best few are then looked at exactly.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Bytes = NDArray[np.int8]
Shorts = NDArray[np.int16]
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


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def whole_dot(row: Bytes, query: Shorts) -> np.int32:
    """A product of whole numbers. Each step is cut to 32 bits, or it would be done in 64, at half the speed."""
    total = np.int32(0)
    for k in range(len(row)):
        total = np.int32(total + np.int32(np.int32(row[k]) * np.int32(query[k])))
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def quantised_cosines(rough: Bytes, scales: Floats, query: Shorts, step: float, cosines: Floats) -> None:
    """The cosine of every row with a query, whose coordinates are so many steps each."""
    for i in range(rough.shape[0]):
        cosines[i] = np.float32(whole_dot(rough[i], query)) * scales[i] * np.float32(step)


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


@njit(nogil=True, cache=True, error_model="numpy")
def pack_sides(along: Floats, words: NDArray[np.uint64]) -> None:
    """A bit for each column that is not negative, 64 to a word."""
    for i in range(along.shape[0]):
        for w in range(words.shape[1]):
            word = np.uint64(0)
            for j in range(64 * w, min(64 * w + 64, along.shape[1])):
                word |= np.uint64(along[i, j] >= 0) << np.uint64(j - 64 * w)
            words[i, w] = word


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def dot(x: Floats, y: Floats) -> np.floating:
    total = np.float32(0.0)
    for k in range(len(x)):
        total += x[k] * y[k]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def collide(
    known: NDArray[np.uint64], vectors: Floats, places: NDArray[np.int64], planes: NDArray[np.float32],
    counts: NDArray[np.int64],
) -> None:  # fmt: skip
    """In how many tables all products of each line lie on the same side of every plane.

    `known` are the sides of the first planes; of a table in which the products of a line agree on those, the others are
    worked out as long as they do. `planes` are by their place in a table and by table.
    """
    depth, tables = known.shape[1], planes.shape[1]
    agree = np.empty((len(places), known.shape[2]), np.uint64)
    for line in range(len(places)):
        first = places[line, 0]
        for w in range(known.shape[2]):
            apart = np.uint64(0)
            for item in places[line, 1:]:
                for f in range(depth):
                    apart |= known[first, f, w] ^ known[item, f, w]
            agree[line, w] = ~apart
    sides = np.full((len(vectors), len(planes)), -1, np.int64)
    for table in range(tables):
        word, bit = table // 64, np.uint64(table % 64)
        for line in range(len(places)):
            if not (agree[line, word] >> bit) & np.uint64(1):
                continue
            same, f = True, depth
            while same and f < len(planes):
                met = np.int64(-1)
                for item in places[line]:
                    # A side is kept with its table, so that none is taken for that of another.
                    if sides[item, f] >> 1 != table:
                        sides[item, f] = 2 * table + np.int64(dot(vectors[item], planes[f, table]) >= 0)
                    if met < 0:
                        met = sides[item, f]
                    elif sides[item, f] != met:
                        same = False
                        break
                f += 1
            counts[line] += same
