"""The next-basket task: what each customer's last basket holds, from all that came before it.

The last basket of every customer with enough earlier ones is held back. Methods learn the rest, and then rank all
products for each customer who is judged. With T the products of the basket held back and r(y) the rank of y,

    Recall@k = |{y in T: r(y) ≤ k}| / |T|        PHR@k = [some y in T has r(y) ≤ k]
    NDCG@k = sum over y in T with r(y) ≤ k of 1 / log₂(r(y) + 1), over sum over i ≤ |T| of 1 / log₂(i + 1)

means over customers; the ideal is not cut at k, as in the published code of next-basket studies (Liu, Li, Ariannezhad
and others, "Measuring Item Fairness in Next Basket Recommendation", ECIR 2024). Recall is told apart for what the
customer had bought before (repeat) and what is new to them (explore). Ties count as if broken at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import comb
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baselines.base import user_matrix
from omba.baselines.queries import Queries
from omba.baskets import Baskets, Label
from omba.errors import InputError
from omba.evaluation import metrics
from omba.evaluation.metrics import Ranks
from omba.evaluation.whole_catalogue import CatalogueQueries, rank_targets

Part = Literal["test", "validation"]


@dataclass(frozen=True)
class NextBasket:
    """What is asked: whose last basket, and how deep the ranking is looked at.

    Parameters
    ----------
    least
        Earlier baskets that a customer must have; 1 or more.
    part
        Customers fall into two halves, always the same: `test` is reported, on `validation` settings are chosen.
    k
        The k of Recall@k, NDCG@k and PHR@k; 1 or more.
    every
        How long a window is, for methods that learn the stream; 1 or more baskets where it is a number.
    users
        The customers that are judged, where the data say so; None for the half that `part` says.

    >>> import omba
    >>> shop = omba.datasets.synthetic(baskets=600, products=100, users=20, days=10).baskets
    >>> history, (queries,) = omba.evaluation.NextBasket(least=3).ask(shop, seed=0)
    >>> len(shop) - len(history), len(queries)
    (20, 10)
    """

    least: int = 3
    part: Part = "test"
    k: int = 10
    every: str | int = "1d"
    users: tuple[Label, ...] | None = None

    name: ClassVar[str] = "next"

    def __post_init__(self) -> None:
        for name in ("least", "k"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}: give 1 or more")
        if self.part not in ("test", "validation"):
            raise InputError(f"part is {self.part!r}: give one of test, validation")

    @property
    def columns(self) -> dict[str, str]:
        """The figures of a table, and what they are called there."""
        k = self.k
        names = {f"recall@{k}": f"Recall@{k}", f"ndcg@{k}": f"NDCG@{k}", f"phr@{k}": f"PHR@{k}"}
        return names | {f"repeat_recall@{k}": "repeat", f"explore_recall@{k}": "explore"}

    def ask(self, baskets: Baskets, seed: int) -> tuple[Baskets, list[Queries]]:
        """The baskets to learn from, and one set of queries: the customers judged, at the time of their last basket."""
        last = last_baskets(baskets, self.least)
        judged = last[self._are_judged(baskets, last)]
        if len(judged) == 0:
            raise InputError(f"no customer who is to be judged has {self.least:,} baskets and one more: give least=1")
        keep = np.ones(len(baskets), np.bool_)
        keep[last] = False
        history = select(baskets, keep)
        return history, [self._queries(baskets, history, judged)]

    def _are_judged(self, baskets: Baskets, last: NDArray[np.int64]) -> NDArray[np.bool_]:
        codes = np.asarray(baskets.user_codes)[last]
        if self.users is not None:
            return np.isin(codes, baskets.user_vocabulary.find(self.users))
        half = np.zeros(len(last), np.bool_)
        half[np.random.default_rng(0).permutation(len(last))[: (len(last) + 1) // 2]] = True
        return half if self.part == "test" else ~half

    def _queries(self, baskets: Baskets, history: Baskets, judged: NDArray[np.int64]) -> CatalogueQueries:
        users = np.asarray(baskets.user_codes)[judged]
        sizes = baskets.sizes[judged]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        places = np.repeat(baskets.offsets[judged] - offsets[:-1], sizes) + np.arange(offsets[-1])
        targets = baskets.items[places]
        n = len(baskets.product_vocabulary)
        before = user_matrix(history, len(baskets.user_vocabulary), n)
        sold = np.zeros(n, np.bool_)
        sold[baskets.items] = True
        return CatalogueQueries(
            offsets=np.zeros(len(judged) + 1, np.int64),
            items=np.empty(0, np.int32),
            user_codes=users,
            candidates=np.empty((len(judged), 0), np.int32),
            product_vocabulary=baskets.product_vocabulary,
            user_vocabulary=baskets.user_vocabulary,
            first=len(history),
            after=len(history),
            times=None if baskets.times is None else baskets.times[judged],
            target_offsets=offsets,
            targets=targets,
            bought=np.asarray(before[np.repeat(users, sizes), targets]).ravel() > 0,
            sold=sold,
        )

    def judge(self, method: Any, queries: Queries) -> Ranks:
        """The ranks of what a window's queries ask for."""
        return rank_targets(method, queries)

    def measure(self, ranks: Ranks, asked: Sequence[Queries]) -> dict[str, float]:
        """The figures of the task, means over customers."""
        (queries,) = asked
        assert isinstance(queries, CatalogueQueries)
        k, offsets = self.k, queries.target_offsets
        hits, gains = metrics.hits(ranks, k), metrics.gains(ranks, k)
        ideal = np.cumsum(1 / np.log2(np.arange(2, 2 + int(np.diff(offsets).max()))))[np.diff(offsets) - 1]
        figures = {
            f"recall@{k}": mean_by_query(hits, offsets),
            f"ndcg@{k}": float(np.mean(np.add.reduceat(gains, offsets[:-1]) / ideal)),
            f"phr@{k}": float(np.mean([any_hit(ranks[a:b], k) for a, b in pairwise(offsets)])),
        }
        for name, part in (("repeat", queries.bought), ("explore", ~queries.bought)):
            kept = np.concatenate([[0], np.cumsum(part)])[offsets]
            figures[f"{name}_recall@{k}"] = mean_by_query(hits[part], kept)
        return figures


def mean_by_query(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> float:
    """The mean over queries, those with nothing left out, of each one's mean; not a number where none has any."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    sizes = np.diff(offsets)
    some = sizes > 0
    return float(np.mean((sums[offsets[1:]] - sums[offsets[:-1]])[some] / sizes[some])) if some.any() else float("nan")


def any_hit(ranks: Ranks, k: int) -> float:
    """The chance that one of a customer's products is among the first k.

    >>> any_hit(np.array([[2, 5], [2, 5], [9, 9]]), 3)
    0.8333333333333334
    """
    if (ranks[:, 1] <= k).any():
        return 1.0
    across = ranks[ranks[:, 0] <= k]
    if len(across) == 0:
        return 0.0
    first, last = (int(end) for end in across[0])  # all of them share the one tie that k cuts
    size, places = last - first + 1, k - first + 1
    return 1.0 - comb(size - len(across), places) / comb(size, places)


def last_baskets(baskets: Baskets, least: int) -> NDArray[np.int64]:
    """The last basket of each customer with at least so many before it."""
    if baskets.user_codes is None or not (baskets.user_codes >= 0).any():
        raise InputError("the next basket is a customer's, and these baskets have no users: give a user column")
    users = baskets.user_codes
    known = np.flatnonzero(users >= 0)
    last = np.full(len(baskets.user_vocabulary), -1, np.int64)
    last[users[known]] = known
    visits = np.bincount(users[known], minlength=len(last))
    found = np.sort(last[visits > least])
    if len(found) == 0:
        raise InputError(f"no customer has {least:,} baskets and one more: give a lower least than {visits.max():,}")
    return found


def select(baskets: Baskets, keep: NDArray[np.bool_]) -> Baskets:
    """Some of the baskets, in their order."""
    items = np.repeat(keep, baskets.sizes)
    sizes = baskets.sizes[keep]
    by_basket: dict[str, NDArray[np.int64] | None] = {
        name: None if (column := getattr(baskets, name)) is None else column[keep]
        for name in ("user_codes", "store_codes", "times")
    }
    by_item: dict[str, NDArray[np.float32] | None] = {
        name: None if (column := getattr(baskets, name)) is None else column[items] for name in ("prices", "quantities")
    }
    return replace(
        baskets,
        offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        items=baskets.items[items],
        ids=None if baskets.ids is None else baskets.ids.filter(pa.array(keep)),
        **by_basket,  # type: ignore[arg-type]
        **by_item,  # type: ignore[arg-type]
    )
