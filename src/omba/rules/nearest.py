"""Nearest: cosines computed exactly, for single products, for given pairs, and for all pairs as the oracle of LSH."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omba.errors import InputError
from omba.rules import kernels
from omba.rules.search import Best, Floats, Rows

MIN_COUNT = 2
"""A vector learned from fewer baskets than this says nothing yet."""


@dataclass(frozen=True)
class Trained:
    """The vectors worth reading.

    Parameters
    ----------
    rows
        Their rows in the whole.
    vectors
        Themselves.
    scales
        One over their lengths.
    """

    rows: NDArray[np.int64]
    vectors: Floats
    scales: Floats

    @classmethod
    def of(
        cls, vectors: NDArray[np.floating], counts: NDArray[np.integer] | None, min_count: int = MIN_COUNT
    ) -> Trained:
        """The rows met in `min_count` baskets or more; at least two of them, or there is no pair to find."""
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        broken = np.flatnonzero(~np.isfinite(lengths))
        if len(broken):
            raise InputError(
                f"{len(broken)} of {len(vectors)} vectors are not finite (first: row {broken[0]}): learn anew"
            )
        keep = lengths > 0
        if counts is not None:
            keep &= np.asarray(counts) >= min_count
        if keep.sum() < 2:
            raise InputError(
                f"{keep.sum()} of {len(vectors)} products were met in {min_count} baskets or more: "
                "learn more baskets before asking for pairs"
            )
        rows = np.flatnonzero(keep)
        return cls(rows, vectors if keep.all() else vectors[rows], (1.0 / lengths[rows]).astype(np.float32))

    def __len__(self) -> int:
        return len(self.rows)


def neighbours(
    vectors: NDArray[np.floating],
    rows: NDArray[np.integer] | list[int],
    n: int = 10,
    counts: NDArray[np.integer] | None = None,
    min_count: int = MIN_COUNT,
) -> tuple[NDArray[np.int64], Floats]:
    """The n nearest trained products of each given row, itself left out: rows (len(rows), n) and cosines."""
    trained = Trained.of(vectors, counts, min_count)
    n = min(n, len(trained) - 1)
    near, cosine = np.empty((len(rows), n), np.int64), np.empty((len(rows), n), np.float32)
    step = block_rows(len(trained))
    for start in range(0, len(rows), step):
        asked = np.asarray(rows[start : start + step])
        mine = np.asarray(vectors[asked], np.float32)
        lengths = np.linalg.norm(mine, axis=1, keepdims=True)
        cosines = (mine / np.where(lengths > 0, lengths, 1)) @ trained.vectors.T * trained.scales
        cosines[asked[:, None] == trained.rows[None, :]] = -3.0
        best = np.argpartition(-cosines, n - 1, axis=1)[:, :n]
        scores = np.take_along_axis(cosines, best, axis=1)
        order = np.argsort(-scores, axis=1, kind="stable")
        near[start : start + step] = trained.rows[np.take_along_axis(best, order, axis=1)]
        cosine[start : start + step] = np.take_along_axis(scores, order, axis=1)
    return near, np.clip(cosine, -1.0, 1.0)


def cosines(
    vectors: Floats, left: NDArray[np.integer], right: NDArray[np.integer], scales: Floats | None = None
) -> Floats:
    """The cosine of each given pair of rows; 0 where a vector has no length. `scales` are those of all vectors, where
    they are at hand."""
    if scales is None:
        # Only those that are needed: of a few pairs most vectors are never looked at.
        scales = np.zeros(len(vectors), np.float32)
        for rows in (left, right):
            kernels.find_scales(rows, vectors, scales)
    out = np.empty(len(left), np.float32)
    kernels.pair_cosines(left, right, vectors, scales, out)
    return np.clip(out, -1.0, 1.0)


def scales_of(vectors: Floats) -> Floats:
    """One over the length of each vector, 0 for one of no length."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0))


def exact_pairs(trained: Trained, top: int) -> tuple[Rows, Rows, Floats]:
    """The `top` nearest pairs by looking at all of them, block by block: what LSH is measured against."""
    best, rows = Best(len(trained), top), block_rows(len(trained))
    for start in range(0, len(trained), rows):
        part = slice(start, start + rows)
        block = trained.vectors[part] @ trained.vectors[start:].T
        block *= trained.scales[part, None] * trained.scales[None, start:]
        m = len(block)
        block[:, :m][np.tri(m, dtype=bool)] = -3.0
        floor = best.floor
        if block.size > 4 * top:
            floor = max(floor, float(np.partition(block, -top, axis=None)[-top]) - 1e-6)
        near = np.nonzero(block > floor)
        best.add((near[0] + start).astype(np.int32), (near[1] + start).astype(np.int32), block[near])
    return best.left, best.right, np.clip(best.score, -1.0, 1.0)


def block_rows(products: int) -> int:
    """Rows of a block of cosines against all products: some 64 MB of them."""
    return max(16, 2**24 // products)
