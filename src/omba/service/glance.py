"""Glance: cosines with all products, roughly and at once, so that only the best few need an exact look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omba.service import kernels

FINE = 32_000
"""Queries are kept in 16 bits: what is rough is only the products' side."""


@dataclass(frozen=True, eq=False)
class Glance:
    """The directions of vectors in 8 bits, and what brings a product of one to a cosine, which is off by some 0.002."""

    rough: NDArray[np.int8]
    scales: NDArray[np.float32]

    @classmethod
    def of(cls, vectors: NDArray[np.float32]) -> Glance:
        """Of vectors of any length."""
        rough, scales = np.empty(vectors.shape, np.int8), np.empty(len(vectors), np.float32)
        kernels.coarse(np.ascontiguousarray(vectors), rough, scales)
        return cls(rough, scales)

    def cosines(self, queries: NDArray[np.floating]) -> NDArray[np.float32]:
        """Cosines of every product with each query, (queries, products); queries of no length give 0."""
        largest = np.maximum(np.abs(queries).max(axis=1, initial=0.0), 1e-12)
        lengths = np.linalg.norm(queries, axis=1)
        # 16 bits, but such that a row of 300 products of 8 and 16 bits still fits into 32.
        fine = min(FINE, 2**31 // (128 * max(queries.shape[1], 1)) - 1)
        whole = np.rint(queries / largest[:, None] * fine).astype(np.int16)
        scales = largest / fine / np.maximum(lengths, 1e-12)
        out = np.empty((len(queries), len(self.rough)), np.float32)
        kernels.glance(self.rough, self.scales, whole, scales.astype(np.float32), out)
        return out


def best(scores: NDArray[np.floating], n: int) -> NDArray[np.int64]:
    """The places of the n highest scores, in no order; those of −∞ are never among them."""
    n = min(n, int(np.count_nonzero(scores > -np.inf)))
    if n <= 0:
        return np.empty(0, np.int64)
    return np.argpartition(-scores, n - 1)[:n]
