"""Sided hashing: hash tables with the sides of all products at hand, as far as it takes to tell most pairs apart.

A page has the tables that each of its rules shares, and a side takes as many multiplications as vectors have
dimensions. Two products share a bucket only if they lie on the same side of each plane of a table, so the first planes
of every table, worked out for all products when a state is made ready, leave few tables to look at.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from omba.rules import Hashing
from omba.rules.lsh import fill_up, normals
from omba.service.views import kernels

KEPT, AT_ONCE, WORD = 4, 4_096, 64
"""Planes of each table that sides are kept of; products at a time; planes in a word. Of 70,000 products and 485 tables
four take 1.0 s and 18 MB, and leave 0.4 of the 1.9 ms that the tables of a page's rules took; all eleven would take
2.8 s and 49 MB."""


@dataclass(frozen=True, eq=False)
class SidedHashing(Hashing):
    """Hash tables with sides of products, a bit for each table: (products, planes, words)."""

    sides: NDArray[np.uint64] = field(default_factory=lambda: np.empty((0, 0, 0), np.uint64), repr=False)

    @classmethod
    def of(cls, hashing: Hashing, vectors: NDArray[np.floating]) -> SidedHashing:
        """The same tables, with the sides of the products that have these vectors."""
        F, H = hashing.shape
        planes = normals(hashing.seed, F, H, vectors.shape[1])[:KEPT]
        sides = np.empty((len(vectors), len(planes), -(-H // WORD)), np.uint64)
        for start in range(0, len(vectors), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            chosen = fill_up(vectors[part])
            for f, plane in enumerate(planes):
                kernels.pack_sides(chosen @ plane.T, sides[part, f])
        return cls(hashing.preset, F, H, hashing.ties, hashing.seed, sides)

    def take(self, rows: NDArray[np.integer]) -> SidedHashing:
        """The same tables, for the vectors of these rows alone."""
        return replace(self, sides=self.sides[rows])

    def collisions(
        self, vectors: NDArray[np.floating], antecedents: NDArray[np.integer], consequent: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        """Tables in which the consequent shares a bucket with every antecedent."""
        items = np.column_stack([antecedents, consequent])
        used, place = np.unique(items, return_inverse=True)
        planes, counts = normals(self.seed, *self.shape, vectors.shape[1]), np.zeros(len(items), np.int64)
        kernels.collide(self.sides[used], fill_up(vectors[used]), place.reshape(items.shape), planes, counts)
        return counts
