"""Merge: what several parts learned of the same row, as one row. This is the one place that decides how.

Every part starts from the same row (v, G), its vector and AdaGrad sums, and comes back with (v + Δₚ, G + Γₚ). The
sums are of squared gradients, and the gradients of all parts happened, so

    G′ = G + Σ Γₚ.

A part took its steps at the rate η/√(G + Γₚ), as if the others had seen nothing. In one process the row would have
stepped at η/√G′ by the end, so every part's way is shortened by that ratio before the ways are added up:

    v′ = v + Σ Δₚ · √((G + Γₚ) / G′),      coordinate by coordinate.

A row that one part alone has changed is taken as it is. The ratio is the weight by how often a part updated the row:
a part that brought all the gradient counts whole; of n that brought the same, to a young row, each counts 1/√n, and to
an old row, whose G dwarfs what a window adds, each counts whole again. docs/spark.md shows what else was tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Changed:
    """The rows a part has changed, as they are now.

    Parameters
    ----------
    rows
        Which rows of the table.
    vectors, squares
        Their vectors and AdaGrad sums.
    """

    rows: NDArray[np.int64]
    vectors: Floats
    squares: Floats


def merge(vectors: Floats, squares: Floats, parts: Sequence[Changed]) -> None:
    """Merge what the parts have changed into a table, in place; parts are taken in the order given."""
    touched = np.concatenate([part.rows for part in parts]) if parts else np.empty(0, np.int64)
    rows, times = np.unique(touched, return_counts=True)
    shared = rows[times > 1]
    before, sums = vectors[shared], squares[shared]
    total, way = sums.copy(), np.zeros_like(before)
    places = [(np.searchsorted(shared, part.rows), np.isin(part.rows, shared)) for part in parts]
    for part, (place, common) in zip(parts, places, strict=True):
        total[place[common]] += part.squares[common] - sums[place[common]]
    for part, (place, common) in zip(parts, places, strict=True):
        at = place[common]
        way[at] += (part.vectors[common] - before[at]) * np.sqrt(part.squares[common] / total[at])
        alone = ~common
        vectors[part.rows[alone]], squares[part.rows[alone]] = part.vectors[alone], part.squares[alone]
    vectors[shared], squares[shared] = before + way, total
