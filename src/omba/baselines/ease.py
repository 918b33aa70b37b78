"""EASE: each product predicted from the others of its basket, in closed form (Steck 2019; beyond the paper).

    min ‖X − X·B‖² + λ‖B‖²,  diag(B) = 0        B(x, y) = −P(x, y) / P(y, y),  P = (XᵀX + λI)⁻¹

with X the baskets by products. A candidate's score is the mean of B(x, y) over the basket, divided by
c(y)^¾, y's own purchases: negatives come by purchases too, and without it EASE ranks by popularity first. Over the
whole catalogue popularity is wanted, and so is what the customer buys: with b the basket as zeros and ones, and p(u, y)
the share of u's baskets that hold y, the score is (b + p(u))·B + habit·p(u).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lapack

from omba.baselines.base import Scorer, at_least, matrix, user_matrix
from omba.baselines.queries import Queries
from omba.baskets import Baskets
from omba.errors import InputError

LARGEST = 12_000
"""Products that can be inverted: P takes 4 bytes a pair of products, 576 MB here, and time by the third power."""


class EASE(Scorer):
    """A linear model of baskets, exact, for catalogues up to `LARGEST` products.

    Of λ from 50 to 3,000 and powers of c(y) from 0 to 1, 500 and ¾ were at or near the best on both of the
    paper's data sets at hand.

    Parameters
    ----------
    regularization
        λ: how strongly the weights are held small; 0 or more.
    power
        The power of a product's own purchases that its score is divided by; 0 or more.
    habit
        What the customer's own shares weigh where the whole catalogue is ranked; 0 or more.
    seed
        Taken as every method does; the solution is exact; 0 or more.

    >>> import omba
    >>> shop = omba.datasets.planted_shop(1_000, days=60).baskets
    >>> scores = omba.baselines.EASE().fit(shop).score(["hot dogs"], candidates=["buns", "tent"])
    >>> scores.argmax().item()
    0
    """

    help = "a linear model of each product from the others (Steck 2019)"

    def __init__(self, regularization: float = 500.0, power: float = 0.75, habit: float = 1.0, seed: int = 0) -> None:
        super().__init__(seed)
        at_least(0, regularization=regularization, power=power, habit=habit)
        self.regularization, self.power, self.habit = regularization, power, habit

    def learn(self, baskets: Baskets) -> None:
        bought = np.unique(baskets.items)
        n = len(bought)
        if n > LARGEST:
            raise InputError(
                f"EASE inverts a matrix of {n:,} by {n:,} products, and stops at {LARGEST:,}: "
                "take a coarser product level, or leave this method out"
            )
        holds = matrix(baskets, self.n_products)[:, bought]
        gram = np.asfortranarray((holds.T @ holds).toarray(), np.float32)
        counts = gram.diagonal().copy()
        gram[np.diag_indices(n)] += self.regularization
        lower, _ = lapack.spotrf(gram, lower=True, overwrite_a=True)
        inverse, _ = lapack.spotri(lower, lower=True, overwrite_c=True)
        inverse += np.tril(inverse, -1).T
        diagonal = inverse.diagonal().copy()
        inverse[np.diag_indices(n)] = 0
        inverse /= -diagonal * counts**self.power
        # Row and column n stay zero, for products that nobody has bought yet.
        self.weights = np.pad(inverse, (0, 1))
        self.places = np.full(self.n_products + 1, n, np.int64)
        self.places[bought] = np.arange(n)
        self.bought, self.counts = bought, counts
        self.shares: sparse.csr_array | None = None
        if baskets.user_codes is not None:
            shares = user_matrix(baskets, self.n_users + 1, self.n_products)
            visits = np.bincount(baskets.user_codes[baskets.user_codes >= 0], minlength=self.n_users + 1)
            self.shares = sparse.csr_array(shares * (1 / np.maximum(visits, 1)).astype(np.float32)[:, None])

    def rate(self, queries: Queries) -> NDArray[np.floating[Any]]:
        candidates = self.places[queries.candidates][queries.rows]
        return queries.mean(self.weights[self.places[queries.items][:, None], candidates])

    def rate_catalogue(self, queries: Queries) -> NDArray[np.floating[Any]]:
        known = queries.items >= 0
        given = sparse.csr_array(
            (np.ones(known.sum(), np.float32), (queries.rows[known], queries.items[known])),
            shape=(len(queries), self.n_products),
        )
        habits = (
            sparse.csr_array(given.shape, dtype=np.float32)
            if self.shares is None
            else (self.shares[np.where(queries.user_codes < 0, self.n_users, queries.user_codes)])
        )
        scores = (self.habit * habits).toarray()
        weights = self.weights[:-1, :-1]
        scores[:, self.bought] += ((given + habits)[:, self.bought] @ weights) * self.counts**self.power
        return np.asarray(scores)
