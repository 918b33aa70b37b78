"""Tables: one vector a unit with its AdaGrad sums, growing geometrically (paper, section 4.2).

The first vector of row r is a function of the seed and r alone, so a table grown in a hundred steps holds the same
numbers as one grown in a single step, or loaded from disk in between.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

BLOCK = 256
"""Rows whose first vectors are drawn at a time."""
FIRST_SQUARE = 1e-10
"""Where AdaGrad sums start: far below any real squared gradient, so the first step has the full rate."""


class VectorTable:
    """Vectors and AdaGrad sums of one kind of unit; rows `[:size]` are in use.

    Parameters
    ----------
    dim
        Length of each vector.
    seed
        Start of the random numbers that new vectors are drawn from.
    kind
        A number that tells this table from the others of a model, so that each draws vectors of its own.

    >>> table = VectorTable(dim=4, seed=0, kind=0)
    >>> table.grow(3)
    >>> table.vectors.shape
    (3, 4)
    """

    def __init__(self, dim: int, seed: int, kind: int) -> None:
        self.dim, self.seed, self.kind, self.size = dim, seed, kind, 0
        self._vectors = np.empty((0, dim), np.float32)
        self._squares = np.empty((0, dim), np.float32)

    @property
    def vectors(self) -> NDArray[np.float32]:
        """One row a unit."""
        return self._vectors[: self.size]

    @property
    def squares(self) -> NDArray[np.float32]:
        """The sums of squared gradients of each number in `vectors`."""
        return self._squares[: self.size]

    def grow(self, size: int) -> None:
        """Make room for rows up to `size`; new vectors start at U(−½, ½)/d."""
        if size <= self.size:
            return
        if size > len(self._vectors):
            room = max(size, len(self._vectors) * 3 // 2, 64)
            self._vectors = _enlarge(self._vectors, room)
            self._squares = _enlarge(self._squares, room)
        self._vectors[self.size : size] = _first_vectors(self.seed, self.kind, self.size, size, self.dim)
        self._squares[self.size : size] = FIRST_SQUARE
        self.size = size

    def load(self, vectors: NDArray[np.float32], squares: NDArray[np.float32]) -> None:
        """Take over rows as they were saved; the arrays belong to the table from then on."""
        self._vectors, self._squares = (np.ascontiguousarray(x, np.float32) for x in (vectors, squares))
        self.size = len(self._vectors)


def _enlarge(old: NDArray[np.float32], room: int) -> NDArray[np.float32]:
    new = np.empty((room, old.shape[1]), np.float32)
    new[: len(old)] = old
    return new


def _first_vectors(seed: int, kind: int, first: int, after: int, dim: int) -> NDArray[np.float32]:
    """Rows `first` to `after` of an endless table of U(−½, ½)/d, read in blocks of fixed size."""
    starts = range(first // BLOCK * BLOCK, after, BLOCK)
    return np.concatenate([_block(seed, kind, start, dim)[max(first - start, 0) : after - start] for start in starts])


@lru_cache(8)
def _block(seed: int, kind: int, start: int, dim: int) -> NDArray[np.float32]:
    """One block of that table; a day's new rows are mostly of the block that the day before began."""
    rng = np.random.default_rng([seed, kind, start])
    rows: NDArray[np.float32] = (rng.random((BLOCK, dim), np.float32) - np.float32(0.5)) / np.float32(dim)
    rows.flags.writeable = False
    return rows
