"""UP-CF: how often the customer bought a product of late, and how often customers like them did (beyond the paper).

Faggioli, Polato and Aiolli, "Recency Aware Collaborative Filtering for Next Basket Recommendation", UMAP 2020. With the
share of the customer's last r baskets that hold y, and X(u) the set of products that u ever bought,

    p(u, y) = baskets among the last r of u that hold y / min(r, baskets of u)
    w(u, v) = |X(u) ∩ X(v)| / (|X(u)|^a · |X(v)|^(1 − a))        score(y | u) = sum over v of w(u, v)^q · p(v, y)

where v goes over all customers, u among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from omba.baselines.base import CatalogueScorer, matrix, users_of
from omba.baselines.queries import Queries
from omba.baskets import Baskets
from omba.errors import InputError


class UPCF(CatalogueScorer):
    """Collaborative filtering on the shares of each customer's last baskets.

    Parameters
    ----------
    recent
        r: baskets of a customer that are looked at, from the last; 0 for all; 0 or more.
    locality
        q: the power of the likeness, so that the most alike count most; 0 or more.
    asymmetry
        a: what the size of the customer's own set weighs in it, 0 to 1.
    seed
        Taken as every method does; nothing is drawn; 0 or more.

    >>> import omba
    >>> shop = omba.datasets.planted_shop(1_000, days=60).baskets
    >>> method = omba.baselines.UPCF(recent=5).fit(shop)
    >>> often, never = method.score([], user="u7", candidates=["sauce", "nothing of the kind"])
    >>> bool(often > never)
    True
    """

    help = "shares of the last baskets of customers alike (Faggioli et al. 2020)"

    def __init__(self, recent: int = 3, locality: float = 2.0, asymmetry: float = 0.5, seed: int = 0) -> None:
        super().__init__(seed)
        if recent < 0 or not 0 <= asymmetry <= 1:
            raise InputError(f"recent is {recent} and asymmetry {asymmetry}: give 0 or more, and 0 to 1")
        self.recent, self.locality, self.asymmetry = recent, locality, asymmetry

    def learn(self, baskets: Baskets) -> None:
        known, users = users_of(baskets)
        counts = np.bincount(users, minlength=self.n_users)
        order = np.argsort(users, kind="stable")
        age = np.empty(len(users), np.int64)
        age[order] = np.repeat(np.cumsum(counts), counts) - 1 - np.arange(len(users))
        looked = np.minimum(counts, self.recent) if self.recent else counts
        late = age < looked[users]
        holds = matrix(baskets, self.n_products)
        shape = (self.n_users, len(baskets))
        shares = sparse.csr_array(
            ((1 / looked[users[late]]).astype(np.float32), (users[late], known[late])), shape=shape
        )
        self.shares = sparse.csr_array(shares @ holds)
        ever = sparse.csr_array((np.ones(len(users), np.float32), (users, known)), shape=shape)
        self.sets = sparse.csr_array(ever @ holds)
        self.sets.data[:] = 1
        self.sizes = np.maximum(np.asarray(self.sets.sum(axis=1), np.float32), 1)
        self.everybody = np.asarray(self.shares.mean(axis=0), np.float32)

    def rate_catalogue(self, queries: Queries) -> NDArray[np.floating[Any]]:
        scores = np.repeat(self.everybody[None, :], len(queries), axis=0)
        known = np.flatnonzero(queries.user_codes >= 0)
        if len(known) == 0:
            return scores
        users = queries.user_codes[known]
        alike = sparse.csr_array(self.sets[users] @ self.sets.T).tocoo()
        likeness = alike.data / (
            self.sizes[users][alike.row] ** self.asymmetry * self.sizes[alike.col] ** (1 - self.asymmetry)
        )
        weights = sparse.csr_array((likeness**self.locality, (alike.row, alike.col)), shape=(len(known), self.n_users))
        # A trace of what everybody buys settles ties among what nobody alike bought.
        scores[known] = (weights @ self.shares).toarray() + 1e-6 * self.everybody
        return scores
