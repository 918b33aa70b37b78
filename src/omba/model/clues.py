"""Clues: everything that speaks for a candidate, one column each in the features that a score weighs.

The paper scores a candidate by the plain sum of two cosines, to the mean of the context and to the user. Here they are
two clues among several, and where products have categories, the same clues are taken once more one level up. How much
each counts is fitted online (`model.blend`).

This table is the only place that names the clues. To add one, write its column in `kernels.describe` (the columns are
named beside it, because a compiled kernel must not depend on another file), and add its line here: weights, snapshots,
`OMBA.features` and the reasons of a suggestion go by the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.model import kernels

SHARPNESS = 8.0
"""How much the nearest product of a basket outweighs the others in the clue `nearest`."""
PREFIXES = ("", "category_")
"""What stands before a clue's name at each level of products."""


@dataclass(frozen=True)
class Clue:
    """One thing that speaks for a candidate.

    Parameters
    ----------
    name
        What the clue is called in features, weights and documents.
    column
        Its column in what `kernels.describe` writes.
    start
        Its weight before any query was seen.
    paper
        Its weight in the paper's score.
    meaning
        What it measures, in one line.
    """

    name: str
    column: int
    start: float
    paper: float
    meaning: str


CLUES = (
    Clue("context", kernels.CONTEXT, 4.0, 1.0, "cosine to the mean vector of the basket's products"),
    Clue("user", kernels.USER, 4.0, 1.0, "cosine to the user's vector"),
    Clue("nearest", kernels.NEAREST, 0.0, 0.0, "closeness to the nearest product, 1/s · log mean exp(s · cosine)"),
    Clue("habit", kernels.HABIT, 0.1, 0.0, "how much more than others the user has bought it (`model.memory`)"),
    Clue("popularity", kernels.POPULARITY, 0.0, 0.0, "log share of sales: takes back what others owe to popularity"),
)
"""Every clue, in the order of the columns. The start is the paper's two cosines and a little habit."""


def field(clue: str, level: int = 0) -> str:
    """The name of a clue at one level of products: 0 for the products themselves, 1 for their categories.

    >>> field("habit"), field("habit", level=1)
    ('habit', 'category_habit')
    """
    return PREFIXES[level] + clue


def fields(levels: int) -> tuple[str, ...]:
    """The names of all columns of the features of so many levels, in order."""
    return tuple(field(clue.name, level) for level in range(levels) for clue in CLUES)


def name_columns(features: NDArray[np.float32]) -> NDArray[Any]:
    """Features as records, one field a clue, without a copy where the features lie in one piece.

    >>> name_columns(np.array([[0.5, 0.1, 0.4, -2.0, -7.0]], np.float32))["nearest"].tolist()
    [0.4000000059604645]
    """
    names = fields(features.shape[-1] // len(CLUES))
    return np.ascontiguousarray(features).view([(name, np.float32) for name in names])[..., 0]
