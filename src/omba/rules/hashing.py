"""Hashing: the tables that pairs of products are found by, and that two columns of a rule speak of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from omba.rules import kernels
from omba.rules.lsh import check, fill_up, normals
from omba.rules.theory import PAPER, p_omba

FIRST, AT_ONCE = 2, 1 << 21
"""Planes of each table that all products are compared with at once, most of which then differ; and how many tables
times products at a time."""


class HashingOptions(TypedDict, total=False):
    """The parameters of a `Hashing` by name, but for the preset."""

    F: int | None
    H: int | None
    ties: bool
    seed: int


@dataclass(frozen=True)
class Hashing:
    """H tables of F random planes each.

    Parameters
    ----------
    preset
        `default` takes tables as a source of candidates and chooses F and H; `paper` ranks by collisions in 11 of 4.
    F
        Planes of a table; None to have them chosen; 1 to 22.
    H
        Tables; None to have them chosen; 1 to 2,048.
    ties
        Whether pairs with the same number of collisions stand in the order of their cosine.
    seed
        Draws the planes; 0 or more.

    >>> Hashing("paper").shape
    (4, 11)
    """

    preset: str = "default"
    F: int | None = None
    H: int | None = None
    ties: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        check(self.F, self.H, self.preset)

    @property
    def shape(self) -> tuple[int, int]:
        """F and H, the paper's where none were given or chosen."""
        return self.F or PAPER.F, self.H or PAPER.H

    def probability(self, cosine: NDArray[np.floating]) -> NDArray[np.float64]:
        """The chance that two products share a bucket in one table at least."""
        return p_omba(cosine, *self.shape)

    def take(self, rows: NDArray[np.integer]) -> Hashing:
        """The same tables, for the vectors of these rows alone."""
        return self

    def collisions(
        self, vectors: NDArray[np.floating], antecedents: NDArray[np.integer], consequent: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        """Tables in which the consequent shares a bucket with every antecedent."""
        items = np.column_stack([antecedents, consequent])
        used, place = np.unique(items, return_inverse=True)
        planes, chosen = normals(self.seed, *self.shape, vectors.shape[1]), fill_up(vectors[used])
        counts, sides = np.zeros(len(items), np.int64), np.empty((len(used), len(planes)), np.int8)
        step = max(1, AT_ONCE // max(len(used), 1))
        for table in range(0, planes.shape[1], step):
            first = planes[:FIRST, table : table + step]
            along = (chosen @ first.reshape(-1, first.shape[2]).T).reshape(len(used), *first.shape[:2])
            kernels.shared_buckets(place.reshape(items.shape), chosen, planes, along, table, sides, counts)
        return counts
