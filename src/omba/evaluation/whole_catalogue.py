"""The whole catalogue as candidates: how a method scores every product, and where those asked for come.

A method with `score_catalogue(queries)` answers for all products at once; `queries` has the baskets (empty ones where
the customer alone is asked about), the customers and the time of asking, and no candidates. Any other method is given
every product as a candidate, some queries at a time. This is the only place that knows the difference.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from omba.baselines.queries import Queries
from omba.evaluation.kernels import find_places
from omba.evaluation.metrics import Ranks, check_finite
from omba.evaluation.trial import score

AT_ONCE = 4_000_000
"""Scores that are held at once."""


@dataclass(frozen=True, eq=False)
class CatalogueQueries(Queries):
    """Queries about the whole catalogue.

    Parameters
    ----------
    target_offsets, targets
        The products that query `q` asks for are the slice `target_offsets[q]:target_offsets[q + 1]` of `targets`.
    bought
        Which of them the customer had bought before, where that is of interest.
    sold
        Which products are candidates: those sold until the end of the window. Those in the basket never are.
    """

    target_offsets: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    targets: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    bought: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))
    sold: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))

    def part(self, first: int, after: int) -> Self:
        """Queries `first` up to `after`."""
        places = slice(int(self.target_offsets[first]), int(self.target_offsets[after]))
        return replace(
            super().part(first, after),
            target_offsets=self.target_offsets[first : after + 1] - self.target_offsets[first],
            targets=self.targets[places],
            bought=self.bought[places],
        )


def score_catalogue(method: Any, queries: Queries) -> NDArray[np.float32]:
    """The score of every product of the vocabulary, (queries, products)."""
    if hasattr(method, "score_catalogue"):
        return np.asarray(method.score_catalogue(queries), np.float32)
    every = np.arange(len(queries.product_vocabulary), dtype=np.int32)
    return np.asarray(score(method, replace(queries, candidates=np.tile(every, (len(queries), 1)))), np.float32)


def rank_targets(method: Any, queries: Queries) -> Ranks:
    """The ranks that each target may have among all products, those in the basket left out."""
    assert isinstance(queries, CatalogueQueries)
    places = np.zeros((len(queries.targets), 2), np.int64)
    step = max(1, AT_ONCE // max(len(queries.product_vocabulary), 1))
    for first in range(0, len(queries), step):
        part = queries.part(first, min(first + step, len(queries)))
        scores = score_catalogue(method, part)
        check_finite(scores)
        if not scores.flags.writeable:
            scores = scores.copy()
        scores[:, ~queries.sold] = -np.inf
        scores[part.rows, part.items] = -np.inf
        begin = int(queries.target_offsets[first])
        find_places(scores, part.target_offsets, part.targets, places[begin : begin + len(part.targets)])
    return places
