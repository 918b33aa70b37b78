"""Quantised index: cosines with all products, roughly and at once, so that only the best few need an exact look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omba.service.views import kernels

FINE = 32_000
"""Queries are kept in 16 bits: what is rough is only the products' side."""


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
        rough, scales = np.empty(chosen.shape, np.int8), np.empty(len(rows), np.float32)
        kernels.quantise(chosen, rough, scales)
        return cls(rows, rough, scales)

    def cosines(self, query: NDArray[np.floating]) -> NDArray[np.float32]:
        """The cosine of every product in `rows` with a vector; one of no length gives 0."""
        largest, length = float(np.abs(query).max(initial=0.0)), float(np.linalg.norm(query))
        # 16 bits, but such that a sum of products of 8 and 16 bits still fits into 32.
        fine = min(FINE, 2**31 // (128 * max(len(query), 1)) - 1)
        whole = np.rint(query / max(largest, 1e-12) * fine).astype(np.int16)
        out = np.empty(len(self.rough), np.float32)
        kernels.quantised_cosines(self.rough, self.scales, whole, np.float32(largest / fine / max(length, 1e-12)), out)
        return out


def best(scores: NDArray[np.floating], n: int) -> NDArray[np.int64]:
    """The places of the n highest scores, in no order; those of −∞ are never among them."""
    n = min(n, int(np.count_nonzero(scores > -np.inf)))
    if n <= 0:
        return np.empty(0, np.int64)
    return np.argpartition(-scores, n - 1)[:n]
