"""Factors: the matrix of users by products as a product of two thin ones, so that both become vectors.

    X ≈ U·Vᵀ        score(y | X, u) = cos(v(y), mean of the basket's v) + cos(v(y), v(u))

where X holds log(1 + baskets of the user with the product): the repeated purchase counts, but less each time.
Over the whole catalogue the score is what the factors expect in X, of the user and of the basket as one more user,
b = (VᵀV + I)⁻¹ Vᵀ·mean of its products:  v(y)·(v(u) + b).
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from omba.baselines.base import Scorer, Scores, cosines, extra, occurs, pad, user_matrix
from omba.baselines.queries import Queries
from omba.baskets import Baskets

Factors = tuple[NDArray[np.float32], NDArray[np.float32]]


class Factorised(Scorer):
    """What NMF and ALS share: the matrix they factorise, and the cosines to the basket and to the user.

    Parameters
    ----------
    dim
        Length of the vectors.
    iterations
        Passes over the matrix.
    seed
        Start of all random numbers.
    """

    def __init__(self, dim: int, iterations: int, seed: int) -> None:
        super().__init__(seed)
        self.dim, self.iterations = dim, iterations
        self.threads = extra("threadpoolctl")

    @abstractmethod
    def factorise(self, counts: sparse.csr_matrix) -> Factors:
        """Vectors of users and of products."""

    def learn(self, baskets: Baskets) -> None:
        counts = user_matrix(baskets, self.n_users, self.n_products)
        counts.data = np.log1p(counts.data)
        # Small products on many threads wait for each other: 20 times slower beside a busy core.
        with self.threads.threadpool_limits(1):
            users, products = self.factorise(sparse.csr_matrix(counts))
        # A unit without a purchase keeps its random start, which must not score.
        self.user_vectors = pad(users * (counts.sum(axis=1) > 0)[:, None])
        self.product_vectors = pad(products * occurs(baskets.items, self.n_products)[:, None])

    def rate(self, queries: Queries) -> Scores:
        candidates = self.product_vectors[queries.candidates]
        basket = queries.mean(self.product_vectors[queries.items])
        return cosines(basket, candidates) + cosines(self.user_vectors[queries.user_codes], candidates)

    def rate_catalogue(self, queries: Queries) -> Scores:
        products = self.product_vectors[:-1]
        gram = products.T @ products + np.eye(products.shape[1], dtype=np.float32)
        basket = np.linalg.solve(gram, queries.mean(self.product_vectors[queries.items]).T).T
        return np.asarray((self.user_vectors[queries.user_codes] + basket) @ products.T, np.float32)
