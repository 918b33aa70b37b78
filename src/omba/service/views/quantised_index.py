"""Quantised index: cosines with all products, roughly and at once, so that only the best few need an exact look.

What takes the time is reading: 22 MB of 70,000 products in 8 bits a coordinate. So where there are many, each product's
first principal directions are looked at first, half of the bytes, and all of it only of the best eighth.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from omba.service.views import kernels

WIDTH = 64
"""Rows are filled up to a multiple of so many bytes, so that a processor takes each in whole steps: of 300 dimensions
a look at all products took 2.1 ms before, and takes 0.9."""
MANY, HEAD, PART, STEP = 16_384, 160, 8, 8
"""Products from which on a first look goes by so many principal directions, and all of each product is looked at of one
of so many. Of 70,000 products in 300 dimensions the nearest two hundred of a hundred best sellers were among those but
for 0.02%; by 128 directions but for 0.3%. Directions are those of every eighth product."""
BYTE, SHORT, WORD = 2**7 - 1, 2**15 - 1, 2**31 - 1
"""The largest whole numbers that a coordinate of a row and of a query, and a sum of their products, may be."""
SAMPLED, SPARE = 4_096, 4
"""Scores from which the floor of the best ones is guessed, and how many times as many as are wanted may be above it."""


@dataclass(frozen=True, eq=False)
class QuantisedIndex:
    """The directions of vectors in 8 bits, and what brings a product of one to a cosine, which is off by some 0.002.

    Parameters
    ----------
    rows
        The products.
    rough, scales
        Their vectors.
    basis, head, head_scales
        The principal directions, and the same of the vectors along them; none of a few products.
    """

    rows: NDArray[np.int64]
    rough: NDArray[np.int8]
    scales: NDArray[np.float32]
    basis: NDArray[np.float32] | None = None
    head: NDArray[np.int8] = field(default_factory=lambda: np.empty((0, 0), np.int8))
    head_scales: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))

    @classmethod
    def of(cls, vectors: NDArray[np.float32], kept: NDArray[np.bool_]) -> QuantisedIndex:
        """Of vectors of any length; those not kept are never looked at."""
        rows = np.flatnonzero(kept)
        chosen = np.ascontiguousarray(vectors if len(rows) == len(vectors) else vectors[rows])
        rough, scales = quantise(chosen, -(-vectors.shape[1] // WIDTH) * WIDTH)
        if len(rows) < MANY or vectors.shape[1] <= HEAD:
            return cls(rows, rough, scales)
        basis = principal_directions(chosen[::STEP], HEAD)
        along = chosen @ basis
        head, _ = quantise(along, HEAD)
        # A product along some directions is a part of the cosine with the whole vector.
        steps = np.abs(along).max(axis=1) / np.float32(BYTE)
        lengths = np.sqrt(np.einsum("ij,ij->i", chosen, chosen))
        return cls(rows, rough, scales, basis, head, steps / np.maximum(lengths, np.float32(1e-12)))

    def cosines(self, query: NDArray[np.floating], others: NDArray[np.floating] | None = None) -> NDArray[np.float32]:
        """The cosine of every product in `rows` with a vector; one of no length gives 0.

        Of many products, all but the best eighth are looked at along some directions only. The best are those whose
        cosine together with what else a score has, `others`, is highest.
        """
        whole, out = query / max(float(np.linalg.norm(query)), 1e-12), np.empty(len(self.rough), np.float32)
        if self.basis is None:
            kernels.quantised_cosines(self.rough, self.scales, *shorten(whole, self.rough.shape[1]), out)
            return out
        kernels.quantised_cosines(self.head, self.head_scales, *shorten(whole @ self.basis, HEAD), out)
        scores = out if others is None else np.asarray(out + others, np.float32)
        sample = scores[:: len(scores) // SAMPLED]
        floor = np.partition(sample, -(len(sample) // PART))[-(len(sample) // PART)]
        places = np.empty(len(scores), np.int64)
        best = places[: kernels.above(scores, floor, places)]
        kernels.refine_cosines(self.rough, self.scales, *shorten(whole, self.rough.shape[1]), best, out)
        return out


def quantise(vectors: NDArray[np.float32], width: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Vectors in 8 bits, in rows of some width, and what makes them unit vectors."""
    rough, scales = np.zeros((len(vectors), width), np.int8), np.empty(len(vectors), np.float32)
    kernels.quantise(vectors, rough, scales)
    return rough, scales


def shorten(query: NDArray[np.floating], width: int) -> tuple[NDArray[np.int16], float]:
    """A vector in 16 bits or so, in a row of some width, and the step that it is told in."""
    step = max(float(np.abs(query).max(initial=0.0)), 1e-30) / min(SHORT, WORD // (BYTE * width))
    short = np.zeros(width, np.int16)
    short[: len(query)] = np.rint(query / step)
    return short, step


def principal_directions(vectors: NDArray[np.float32], n: int) -> NDArray[np.float32]:
    """The n directions that most of the vectors' own directions lie along, in columns."""
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1), np.float32(1e-12))[:, None]
    _, directions = np.linalg.eigh((units.T @ units).astype(np.float64))
    return np.ascontiguousarray(directions[:, : -n - 1 : -1], np.float32)


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
