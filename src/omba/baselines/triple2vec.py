"""Triple2Vec: products in two spaces and users in one, from (user, product, product) triples (paper, section 5).

Wan, Wang, Liu, Bennett and McAuley, "Representing and Recommending Shopping Baskets with Complementarity,
Compatibility and Loyalty", CIKM 2018. The cohesion of a triple of user u and products i, j of one basket is

    s(u, i, j) = f(i)·g(j) + f(i)·h(u) + g(j)·h(u)

and each of the three is recovered from the other two by negative sampling. The two product spaces f and g are
kept apart: tied into one, the first term would draw substitutes together instead of complements.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from omba.baselines.base import SHARE, Scorer, Scores, at_least, cosines, log_shares, nearness, occurs, pad
from omba.baselines.kernels import learn_triples
from omba.baselines.queries import Queries
from omba.baskets import Baskets

POOL = 1_000_000
"""Entries of a table that negatives are drawn from."""


class Triple2Vec(Scorer):
    """The cohesion in cosines: of the candidate to the basket, across the two spaces both ways, and to the user.

    A pass takes each product of each basket with one other of it at random; the learning rate falls in a
    straight line to nothing. Of rates 0.025 to 0.1, 6 to 25 passes and 100 or 300 dimensions, these were the best for
    Complete Journey and Ta-Feng together.

    Parameters
    ----------
    dim
        Length of the vectors; 1 or more.
    learning_rate
        Length of the first step, the best of 0.025 to 0.1 for both data sets together; it falls to nothing; above 0.
    negatives
        Units drawn at random against each of a triple; 1 or more.
    epochs
        Passes over the baskets; 1 or more.
    seed
        Start of all random numbers; 0 or more.

    >>> import omba
    >>> shop = omba.datasets.planted_shop(1_000, days=60).baskets
    >>> scores = omba.baselines.Triple2Vec(dim=16).fit(shop).score(["hot dogs"], candidates=["buns", "tent"])
    >>> scores.argmax().item()
    0
    """

    help = "(user, product, product) triples, two product spaces (Wan et al. 2018)"

    def __init__(
        self, dim: int = 300, learning_rate: float = 0.05, negatives: int = 3, epochs: int = 12, seed: int = 0
    ) -> None:
        super().__init__(seed)
        at_least(1, dim=dim, negatives=negatives, epochs=epochs)
        self.dim, self.learning_rate, self.negatives, self.epochs = dim, learning_rate, negatives, epochs

    def learn(self, baskets: Baskets) -> None:
        rng = np.random.default_rng(self.seed)
        users = np.full(len(baskets), -1, np.int32) if baskets.user_codes is None else baskets.user_codes
        f, g, h = (self._start(n, rng) for n in (self.n_products, self.n_products, max(self.n_users, 1)))
        pools = _pool(baskets.items, self.n_products), _pool(users[users >= 0], self.n_users)
        rates = np.linspace(self.learning_rate, 0, self.epochs + 1).tolist()
        for start, stop in pairwise(rates):
            order = rng.permutation(len(baskets))
            learn_triples(
                order, baskets.offsets, baskets.items, users, f, g, h, *pools, self.negatives, start, stop, rng
            )
        bought = occurs(baskets.items, self.n_products)[:, None]
        self.left, self.right = pad(f * bought), pad(g * bought)
        self.user_vectors = pad(h * occurs(users, len(h))[:, None])
        self.log_shares = log_shares(baskets.items, self.n_products)

    def _start(self, n: int, rng: np.random.Generator) -> NDArray[np.float32]:
        return ((rng.random((n, self.dim)) - 0.5) / self.dim).astype(np.float32)

    def rate(self, queries: Queries) -> Scores:
        left, right = self.left[queries.candidates], self.right[queries.candidates]
        user = self.user_vectors[queries.user_codes]
        across = cosines(queries.mean(self.right[queries.items]), left) + cosines(
            queries.mean(self.left[queries.items]), right
        )
        return across + cosines(user, left) + cosines(user, right)

    def rate_catalogue(self, queries: Queries) -> Scores:
        user = self.user_vectors[queries.user_codes]
        across = nearness(queries.mean(self.right[queries.items]), self.left) + nearness(
            queries.mean(self.left[queries.items]), self.right
        )
        return across + nearness(user, self.left) + nearness(user, self.right) + SHARE * self.log_shares


def _pool(units: NDArray[np.int32], n: int, power: float = 0.75) -> NDArray[np.int32]:
    """A table that holds each unit in proportion to its count^¾, as word2vec draws its negatives."""
    if len(units) == 0:
        return np.zeros(1, np.int32)
    share = np.cumsum(np.bincount(units, minlength=n) ** power)
    size = min(POOL, 100 * len(units))
    places = (np.arange(size) + 0.5) * share[-1] / size
    return np.asarray(np.searchsorted(share, places), np.int32)
