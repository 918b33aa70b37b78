"""Top frequency: what the customer bought most, alone and with everybody's best sellers behind it (beyond the paper).

    P-TopFreq(y | u) = n(u, y)        GP-TopFreq(y | u) = n(u, y) + n(y) / (1 + max n)

with n(u, y) the customer's baskets that hold y and n(y) everybody's: the second term is below one, so best sellers come
after all that the customer bought, and settle ties among it. In the published comparison they do not settle ties (Li,
Jullien, Ariannezhad and de Rijke, "A Next Basket Recommendation Reality Check", TOIS 2023), which is weaker by a
seventh on Ta-Feng.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baselines.base import CatalogueScorer, user_matrix
from omba.baselines.queries import Queries
from omba.baskets import Baskets


class PTopFreq(CatalogueScorer):
    """What the customer bought most often; nothing to say of anything else.

    Parameters
    ----------
    seed
        Taken as every method does; counting needs no chance; 0 or more.

    >>> import omba
    >>> shop = omba.datasets.planted_shop(1_000, days=60).baskets
    >>> method = omba.baselines.PTopFreq().fit(shop)
    >>> often, never = method.score([], user="u7", candidates=["sauce", "nothing of the kind"])
    >>> bool(often > never)
    True
    """

    help = "what the customer bought most often"

    def learn(self, baskets: Baskets) -> None:
        self.counts = user_matrix(baskets, self.n_users, self.n_products)
        self.counts.resize(self.n_users + 1, self.n_products)  # the row of −1

    def rate_catalogue(self, queries: Queries) -> NDArray[np.floating[Any]]:
        users = np.where(queries.user_codes < 0, self.n_users, queries.user_codes)
        return np.asarray(self.counts[users].toarray())


class GPTopFreq(PTopFreq):
    """What the customer bought most often, then best sellers.

    Parameters
    ----------
    settle
        Whether best sellers also settle ties among what the customer bought.
    seed
        Taken as every method does; counting needs no chance; 0 or more.

    >>> import omba
    >>> shop = omba.datasets.planted_shop(1_000, days=60).baskets
    >>> method = omba.baselines.GPTopFreq().fit(shop)
    >>> often, never = method.score([], user="u7", candidates=["sauce", "nothing of the kind"])
    >>> bool(often > never)
    True
    """

    help = "what the customer bought most often, then best sellers"

    def __init__(self, settle: bool = True, seed: int = 0) -> None:
        super().__init__(seed)
        self.settle = settle

    def learn(self, baskets: Baskets) -> None:
        super().learn(baskets)
        sales = np.bincount(baskets.items, minlength=self.n_products)
        self.sales = sales / (1 + sales.max(initial=0))

    def rate_catalogue(self, queries: Queries) -> NDArray[np.floating[Any]]:
        counts = super().rate_catalogue(queries)
        return np.asarray(counts + (self.sales if self.settle else self.sales * (counts == 0)))
