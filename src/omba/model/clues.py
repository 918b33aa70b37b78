"""Clues: everything that speaks for a candidate, one column each in the features that a score weighs.

The paper scores a candidate by the plain sum of two cosines, to the mean of the context and to the user. Here they are
two clues among many, and where products have categories, the same clues are taken once more one level up. How much each
counts is fitted online, for each question by itself (`model.blend`), and so is what they say together
(`model.network`).

This table is the only place that names the clues. To add one, write its column in `clue_kernels.describe` (the columns
are named beside it, because a compiled kernel must not depend on another file), and add its line here: weights,
snapshots, `OMBA.features` and the reasons of a suggestion go by the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.model import clue_kernels as kernels

SHARPNESS = 8.0
"""How much the nearest product of a basket outweighs the others in the clue `nearest`."""
LIFT_PRIOR = 2.0
"""Pairs, seen and expected alike, that a lift is shrunk by."""
RECENT = 0.9
"""What is left of recent sales a day later."""
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
        Its column in what `clue_kernels.describe` writes, or in what stands behind all levels.
    paper
        Its weight in the paper's score.
    meaning
        What it measures, in one line.
    """

    name: str
    column: int
    paper: float
    meaning: str


CLUES = (
    Clue("context", kernels.CONTEXT, 1.0, "cosine to the mean vector of the basket's products"),
    Clue("user", kernels.USER, 1.0, "cosine to the user's vector"),
    Clue("nearest", kernels.NEAREST, 0.0, "closeness to the nearest product, 1/s · log mean exp(s · cosine)"),
    Clue("habit", kernels.HABIT, 0.0, "how much more than others the user has bought it lately (`model.memory`)"),
    Clue("popularity", kernels.POPULARITY, 0.0, "log share of sales: takes back what others owe to popularity"),
    Clue("trend", kernels.TREND, 0.0, "log of the last days' sales over what the share of sales promises"),
    Clue("slow", kernels.SLOW, 0.0, "habit by counts that do not fade"),
    Clue("bought", kernels.BOUGHT, 0.0, "1 where the user remembers it, else 0, as all that follow"),
    Clue("visit_share", kernels.VISIT_SHARE, 0.0, "log share of the user's visits at which it was bought"),
    Clue("since_visits", kernels.SINCE_VISITS, 0.0, "minus log of the user's visits since it was last bought"),
    Clue("since_days", kernels.SINCE_DAYS, 0.0, "minus log of the days since the user last bought it"),
    Clue("once", kernels.ONCE, 0.0, "1 where the user bought it once only"),
    Clue("visits", kernels.VISITS, 0.0, "log of the user's visits"),
    Clue("repeats", kernels.REPEATS, 0.0, "log odds that what the user buys is something they bought before"),
    Clue("rhythm", kernels.RHYTHM, 0.0, "log of the days since it was bought over those that usually pass between"),
    Clue("between", kernels.BETWEEN, 0.0, "log of the days that usually pass before the user buys it again"),
    Clue("company", kernels.COMPANY, 0.0, "log of how much larger than usual the baskets are that it is in"),
)
"""Every clue of a level, in the order of the columns."""
LIFT = Clue("lift", 0, 0.0, "highest log lift with a product of the basket, shrunk; products alone have it")
SIZE = Clue("size", 1, 0.0, "log of how many products are in the basket; the same for all candidates")
LOYALTY = Clue("loyalty", 2, 0.0, "log of the user's visits; the same for all candidates")
MATCH = Clue("match", 3, 0.0, "what the question among candidates makes of all other clues")
BEHIND = (LIFT, SIZE, LOYALTY, MATCH)
"""The clues that stand behind those of all levels. Those that are the same for all candidates tell nothing by
themselves, but what others mean (`model.network`)."""


@dataclass(frozen=True)
class Question:
    """What is asked, and by which clues it is answered.

    Parameters
    ----------
    name
        What it is called in snapshots and documents.
    clues
        The names of its clues, without the level.
    start
        Weights of clues of products before any query was seen; all others are 0.
    length
        The queries its Hessian remembers: enough to be steady, few enough to follow a model that matures. Less is asked
        of the whole catalogue, so that less is a longer time.
    """

    name: str
    clues: frozenset[str]
    start: Mapping[str, float]
    length: int

    def fields(self, levels: int) -> tuple[str, ...]:
        """The columns that it weighs, with so many levels of products, in order."""
        return tuple(name for name in fields(levels) if name.removeprefix(PREFIXES[1]) in self.clues)


ALL = frozenset(clue.name for clue in (*CLUES, LIFT))
AMONG = Question("among", ALL, {"context": 4.0, "user": 4.0, "habit": 0.1}, 8_000)
"""Which of these candidates, which were drawn as they are sold? The paper's test. It starts with its two cosines and a
little habit."""
COMPLETE = Question("complete", ALL | {MATCH.name}, {"match": 1.0, "popularity": 1.0}, 2_000)
"""What else goes into this basket, of all products? It starts with what tells a product from others that are drawn as
they are sold, times its share of sales."""
NEXT = Question(
    "next", frozenset({"user", "habit", "popularity", "bought", MATCH.name}), {"match": 1.0, "popularity": 1.0}, 3_000
)
"""What will this customer buy at the next visit? More clues did not pay, measured on Ta-Feng and Complete Journey."""


def field(clue: str, level: int = 0) -> str:
    """The name of a clue at one level of products: 0 for the products themselves, 1 for their categories.

    >>> field("habit"), field("habit", level=1)
    ('habit', 'category_habit')
    """
    return PREFIXES[level] + clue


def fields(levels: int) -> tuple[str, ...]:
    """The names of all columns of the features of so many levels, in order."""
    return (*(field(clue.name, level) for level in range(levels) for clue in CLUES), *(clue.name for clue in BEHIND))


def n_levels(features: NDArray[Any]) -> int:
    """Of how many levels of products these are the features."""
    return int(features.shape[-1] - len(BEHIND)) // len(CLUES)


def name_columns(features: NDArray[np.float32]) -> NDArray[Any]:
    """Features as records, one field a clue, without a copy where the features lie in one piece.

    >>> name_columns(np.arange(21, dtype=np.float32)[None])["nearest"].tolist()
    [2.0]
    """
    names = fields(n_levels(features))
    return np.ascontiguousarray(features).view([(name, np.float32) for name in names])[..., 0]
