"""TIFU-KNN: the customer's purchases, recent ones more, and those of customers like them (beyond the paper).

Hu, He, Gao and Zhang, "Modeling Personalized Item Frequency Information for Next-basket Recommendation", SIGIR 2020.
The m baskets of a customer fall into at most g groups of nearly equal size, in order. With decays r inside a group and
R over groups, each looking back from the last,

    p(u) = mean over groups of R^(age of the group) · mean over its baskets of r^(age in the group) · basket
    score(y | u) = α·p(u)(y) + (1 − α)·mean of p(v)(y) over the k customers v nearest to u

Nearest is by Euclidean distance, and the customer is one of their own neighbours.
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


class TIFUKNN(CatalogueScorer):
    """Purchases that fade by groups of baskets, of the customer and of the nearest others.

    Parameters
    ----------
    neighbours
        k: customers that are looked at; 1 or more.
    inside, across
        The decays r inside a group and R over groups; 0 to 1.
    own
        α: what the customer's own purchases weigh against the neighbours'; 0 to 1.
    groups
        g: groups that a customer's baskets fall into; 1 or more.
    seed
        Taken as every method does; nothing is drawn; 0 or more.

    >>> import omba
    >>> shop = omba.datasets.planted_shop(1_000, days=60).baskets
    >>> method = omba.baselines.TIFUKNN(neighbours=20).fit(shop)
    >>> often, never = method.score([], user="u7", candidates=["sauce", "nothing of the kind"])
    >>> bool(often > never)
    True
    """

    help = "the customer's purchases and those of customers like them, fading (Hu et al. 2020)"

    def __init__(
        self,
        neighbours: int = 300,
        inside: float = 0.9,
        across: float = 0.9,
        own: float = 0.1,
        groups: int = 11,
        seed: int = 0,
    ) -> None:
        super().__init__(seed)
        if neighbours < 1 or groups < 1:
            raise InputError(f"neighbours is {neighbours} and groups {groups}: give 1 or more")
        self.neighbours, self.inside, self.across, self.own, self.groups = neighbours, inside, across, own, groups

    def learn(self, baskets: Baskets) -> None:
        known, users = users_of(baskets)
        weights = self.weigh(users)
        visits = sparse.csr_array((weights, (users, known)), shape=(self.n_users, len(baskets)))
        self.tastes = sparse.csr_array(visits @ matrix(baskets, self.n_products))
        self.lengths = np.asarray(self.tastes.multiply(self.tastes).sum(axis=1), np.float32)
        self.everybody = np.asarray(self.tastes.mean(axis=0), np.float32)

    def weigh(self, users: NDArray[np.int32]) -> NDArray[np.float32]:
        """What each basket weighs in its customer's taste; baskets are in time order."""
        order = np.argsort(users, kind="stable")
        counts = np.bincount(users, minlength=self.n_users)
        place = np.empty(len(users), np.int64)
        place[order] = np.arange(len(users)) - np.repeat(np.cumsum(counts) - counts, counts)
        visits = counts[users]
        groups = np.minimum(visits, self.groups)
        size, longer = np.divmod(visits, groups)
        # The last `longer` groups have one basket more, as in the authors' code.
        short = (groups - longer) * size
        late = place >= short
        group = np.where(late, groups - longer + (place - short) // (size + 1), place // np.maximum(size, 1))
        inside = np.where(late, (place - short) % (size + 1), place % np.maximum(size, 1))
        length = size + late
        weight = self.inside ** (length - 1 - inside) / length * self.across ** (groups - 1 - group) / groups
        return np.asarray(weight, np.float32)

    def rate_catalogue(self, queries: Queries) -> NDArray[np.floating[Any]]:
        scores = np.repeat(self.everybody[None, :], len(queries), axis=0)
        known = np.flatnonzero(queries.user_codes >= 0)
        if len(known) == 0:
            return scores
        mine = self.tastes[queries.user_codes[known]]
        k = min(self.neighbours, self.n_users)
        distances = self.lengths[None, :] - 2 * (mine @ self.tastes.T).toarray()
        nearest = np.argpartition(distances, k - 1, axis=1)[:, :k]
        rows = np.repeat(np.arange(len(known)), k)
        mean = sparse.csr_array(
            (np.full(nearest.size, 1 / k, np.float32), (rows, nearest.ravel())), shape=(len(known), self.n_users)
        )
        scores[known] = self.own * mine.toarray() + (1 - self.own) * (mean @ self.tastes).toarray()
        return scores
