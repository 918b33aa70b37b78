"""Quantised index: cosines with all products, roughly and at once, so that only the best few need an exact look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omba.service.views import kernels

WIDTH = 64
"""Rows are filled up to a multiple of so many bytes, so that a processor takes each in whole steps: of 300 dimensions
a look at all products took 2.1 ms before, and takes 0.9."""
BYTE, SHORT, WORD = 2**7 - 1, 2**15 - 1, 2**31 - 1
"""The largest whole numbers that a coordinate of a row and of a query, and a sum of their products, may be. A processor
multiplies whole numbers in pairs, which is quicker than as floats."""
SAMPLED, SPARE = 4_096, 4
"""Scores from which the floor of the best ones is guessed, and how many times as many as are wanted may be above it."""


@dataclass(frozen=True, eq=False)
class QuantisedIndex:
    """The directions of vectors in 8 bits, and what brings a product of one to a cosine, which is off by some 0.002."""

    rows: NDArray[np.int64]
    rough: NDArray[np.int8]
    scales: NDArray[np.float32]

    @classmethod
    def of(cls, vectors: NDArray[np.float32], kept: NDArray[np.bool_]) -> QuantisedIndex:
        """Of vectors of any length; those not kept are never looked at."""
        rows = np.flatnonzero(kept)
        chosen = np.ascontiguousarray(vectors if len(rows) == len(vectors) else vectors[rows])
        rough = np.zeros((len(rows), -(-vectors.shape[1] // WIDTH) * WIDTH), np.int8)
        scales = np.empty(len(rows), np.float32)
        kernels.quantise(chosen, rough, scales)
        return cls(rows, rough, scales)

    def cosines(self, query: NDArray[np.floating]) -> NDArray[np.float32]:
        """The cosine of every product in `rows` with a vector; one of no length gives 0."""
        unit, out = query / max(float(np.linalg.norm(query)), 1e-12), np.empty(len(self.rough), np.float32)
        kernels.quantised_cosines(self.rough, self.scales, *shorten(unit, self.rough.shape[1]), out)
        return out


def shorten(query: NDArray[np.floating], width: int) -> tuple[NDArray[np.int16], float]:
    """A vector in 16 bits or so, in a row of some width, and the step that it is told in."""
    step = max(float(np.abs(query).max(initial=0.0)), 1e-30) / min(SHORT, WORD // (BYTE * width))
    short = np.zeros(width, np.int16)
    short[: len(query)] = np.rint(query / step)
    return short, step


def best(scores: NDArray[np.floating], n: int) -> NDArray[np.int64]:
    """The places of the n highest scores, in no order; those of −∞ are never among them.

    Of many scores, a floor that a sample of them suggests leaves few to be put in order.
    """
    if len(scores) > SAMPLED and n > 0:
        sample = scores[:: len(scores) // SAMPLED]
        wanted = min(2 * n * len(sample) // len(scores) + 8, len(sample))
        floor = np.partition(sample, len(sample) - wanted)[len(sample) - wanted]
        places = np.empty(2 * SPARE * n + 8 * len(scores) // SAMPLED, np.int64)
        found = kernels.above(scores, floor, places) if floor > -np.inf else 0
        if n <= found <= len(places):
            places = places[:found]
            return places[_best(scores[places], n)]
    return _best(scores, n)


def _best(scores: NDArray[np.floating], n: int) -> NDArray[np.int64]:
    n = min(n, int(np.count_nonzero(scores > -np.inf)))
    if n <= 0:
        return np.empty(0, np.int64)
    return np.argpartition(-scores, n - 1)[:n]
