"""Pop, Sup and Lift: scores by counting alone (paper, section 5).

With n baskets, c(x) of them holding x and c(x, y) holding both, and the context X of a query:

    Pop(y) = c(y)        Sup(y | X) = mean of c(x, y) / n        Lift(y | X) = mean of n·c(x, y) / (c(x)·c(y))

where the means are over the products x of the context.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baselines.base import Scorer, matrix
from omba.baselines.queries import Queries
from omba.baskets import Baskets


class Pop(Scorer):
    """The product in the most baskets, whatever the context.

    Parameters
    ----------
    seed
        Taken as every method does; counting needs no chance; 0 or more.

    >>> baskets = Baskets.from_lists([["pasta", "sauce"], ["pasta", "cheese"]])
    >>> Pop().fit(baskets).score(["sauce"], candidates=["pasta", "cheese", "soap"]).tolist()
    [2.0, 1.0, 0.0]
    """

    help = "the most popular product"

    def learn(self, baskets: Baskets) -> None:
        self.counts = np.append(np.bincount(baskets.items, minlength=self.n_products), 0).astype(np.float64)

    def rate(self, queries: Queries) -> NDArray[np.floating[Any]]:
        return self.counts[queries.candidates]

    def rate_catalogue(self, queries: Queries) -> NDArray[np.floating[Any]]:
        return np.repeat(self.counts[None, :-1], len(queries), axis=0)


class Sup(Pop):
    """The product bought most often together with those in the basket.

    Parameters
    ----------
    seed
        Taken as every method does; counting needs no chance; 0 or more.

    >>> baskets = Baskets.from_lists([["pasta", "sauce"], ["pasta", "cheese"]])
    >>> Sup().fit(baskets).score(["pasta"], candidates=["sauce", "soap"]).tolist()
    [0.5, 0.0]
    """

    help = "the highest support together with the basket's products"

    def learn(self, baskets: Baskets) -> None:
        super().learn(baskets)
        self.n = len(baskets)
        holds = matrix(baskets, self.n_products + 1)  # one product more, which nobody buys: that is −1
        self.pairs = (holds.T @ holds).tocsr()
        self.pairs.sort_indices()

    def rate(self, queries: Queries) -> NDArray[np.floating[Any]]:
        return queries.mean(self.together(queries) / self.n)

    def rate_catalogue(self, queries: Queries) -> NDArray[np.floating[Any]]:
        return np.asarray((queries.contexts(self.n_products + 1) @ self.pairs).toarray()[:, :-1] / self.n)

    def together(self, queries: Queries) -> NDArray[np.float64]:
        """c(x, y) for each context product x (a row) and each candidate y of its query (a column)."""
        candidates = queries.candidates[queries.rows]
        if candidates.size == 0:
            return np.zeros(candidates.shape)
        last = self.n_products
        rows = np.repeat(np.where(queries.items < 0, last, queries.items), candidates.shape[1])
        columns = np.where(candidates < 0, last, candidates).ravel()
        return np.asarray(self.pairs[rows, columns], np.float64).reshape(candidates.shape)


class Lift(Sup):
    """The product whose lift with those in the basket is highest.

    Parameters
    ----------
    seed
        Taken as every method does; counting needs no chance; 0 or more.

    >>> baskets = Baskets.from_lists([["pasta", "sauce"], ["pasta", "cheese"], ["soap"]])
    >>> Lift().fit(baskets).score(["pasta"], candidates=["sauce", "soap"]).tolist()
    [1.5, 0.0]
    """

    help = "the highest lift with the basket's products"

    def rate(self, queries: Queries) -> NDArray[np.floating[Any]]:
        often = np.maximum(self.counts, 1)
        expected = often[queries.items][:, None] * often[queries.candidates[queries.rows]]
        return queries.mean(self.n * self.together(queries) / expected)

    def rate_catalogue(self, queries: Queries) -> NDArray[np.floating[Any]]:
        often = np.maximum(self.counts, 1)
        contexts = queries.contexts(self.n_products + 1) * (1 / often)[None, :]
        return np.asarray((contexts.tocsr() @ self.pairs).toarray()[:, :-1] * (self.n / often[:-1]))
