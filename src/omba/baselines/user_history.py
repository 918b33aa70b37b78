"""User history: what the user bought before, and nothing else (beyond the paper).

    score(y | u) = log(1 + p(y | u) / p(y))

with p(y | u) the share of y in the user's purchases and p(y) its share in everybody's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baselines.base import Scorer, user_matrix
from omba.baselines.queries import Queries
from omba.baskets import Baskets


class UserHistory(Scorer):
    """The user's own share of a product against everybody's; nothing to say of a user not met before.

    Parameters
    ----------
    seed
        Taken as every method does; counting needs no chance; 0 or more.

    >>> import omba
    >>> shop = omba.datasets.planted_shop(1_000, days=60).baskets
    >>> method = omba.baselines.UserHistory().fit(shop)
    >>> method.score([], user="a stranger", candidates=["sauce", "bread"]).tolist()
    [0.0, 0.0]
    """

    help = "the user's own purchases, against everybody's"

    def learn(self, baskets: Baskets) -> None:
        self.counts = user_matrix(baskets, self.n_users, self.n_products)
        self.counts.resize(self.n_users + 1, self.n_products + 1)  # the row and the column of −1
        self.counts.sort_indices()
        self.of_user = np.maximum(np.asarray(self.counts.sum(axis=1), np.float64), 1)
        self.of_product = np.maximum(np.asarray(self.counts.sum(axis=0), np.float64), 1)

    def rate(self, queries: Queries) -> NDArray[np.floating[Any]]:
        users = np.where(queries.user_codes < 0, self.n_users, queries.user_codes)
        products = np.where(queries.candidates < 0, self.n_products, queries.candidates)
        bought = np.asarray(self.counts[np.repeat(users, products.shape[1]), products.ravel()]).reshape(products.shape)
        expected = self.of_user[users][:, None] * self.of_product[products] / max(self.counts.sum(), 1)
        scores: NDArray[np.float64] = np.log1p(bought / expected)
        return scores

    def rate_catalogue(self, queries: Queries) -> NDArray[np.floating[Any]]:
        users = np.where(queries.user_codes < 0, self.n_users, queries.user_codes)
        expected = self.of_user[users][:, None] * self.of_product[None, :] / max(self.counts.sum(), 1)
        return np.asarray(np.log1p(self.counts[users].toarray() / expected)[:, :-1])
