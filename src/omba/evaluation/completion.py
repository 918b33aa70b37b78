"""The completion task: hide a product of a basket, and find it among all products.

Of each of the last windows of the period some baskets are drawn, one product of each is hidden, and ranked among all
products sold until then that are not in the basket, given the rest of it and the user. Every window is scored before
anything of it is learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from omba.baselines.queries import Queries
from omba.baskets import Baskets
from omba.errors import InputError
from omba.evaluation import metrics
from omba.evaluation.metrics import Ranks
from omba.evaluation.retrieval import Task, check, hide_products, rest_of_basket, second_half
from omba.evaluation.whole_catalogue import CatalogueQueries, rank_targets


@dataclass(frozen=True)
class Completion:
    """What is asked: the last windows, so many baskets of each.

    Parameters
    ----------
    windows
        Windows that are asked about, the last of the period; 1 or more.
    sample
        Baskets of a window that are asked about, at most; 1 or more.
    every
        How long a window is; 1 or more baskets where it is a number.
    k
        The k of HR@k and NDCG@k; 1 or more.
    before
        Windows at the end of the period that are passed over: settings are chosen on other days than are reported; 0 or
        more.

    >>> from omba.evaluation import Completion
    >>> list(Completion(windows=2, k=5).columns.values())
    ['HR@5', 'MRR', 'NDCG@5']
    """

    windows: int = 6
    sample: int = 250
    every: str | int = "1d"
    k: int = 10
    before: int = 0

    name: ClassVar[str] = "complete"

    def __post_init__(self) -> None:
        for name in ("windows", "sample", "k"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}: give 1 or more")

    @property
    def columns(self) -> dict[str, str]:
        """The figures of a table, and what they are called there."""
        return {f"hr@{self.k}": f"HR@{self.k}", "mrr": "MRR", f"ndcg@{self.k}": f"NDCG@{self.k}"}

    def ask(self, baskets: Baskets, seed: int) -> tuple[Baskets, list[Queries]]:
        """The baskets to learn from, and the queries of each window."""
        check(baskets, Task(every=self.every))
        rng = np.random.default_rng(seed)
        spans = second_half(baskets, self.every)
        spans = spans[: len(spans) - self.before]
        asked = [hide_in_window(baskets, first, after, self.sample, rng) for first, after in spans[-self.windows :]]
        found: list[Queries] = [queries for queries in asked if len(queries)]
        if not found:
            raise InputError("none of the last windows holds a basket of two products to ask about")
        return baskets, found

    def judge(self, method: Any, queries: Queries) -> Ranks:
        """The ranks of what a window's queries ask for."""
        return rank_targets(method, queries)

    def measure(self, ranks: Ranks, asked: Sequence[Queries]) -> dict[str, float]:
        """HR@k, MRR and NDCG@k over all queries alike."""
        return {
            f"hr@{self.k}": metrics.recall(ranks, self.k),
            "mrr": metrics.mrr(ranks),
            f"ndcg@{self.k}": metrics.dcg(ranks, self.k),
        }


def hide_in_window(baskets: Baskets, first: int, after: int, sample: int, rng: np.random.Generator) -> CatalogueQueries:
    """The queries of one window: of `sample` of its baskets one product each."""
    window = baskets.slice(first, after)
    asked, hidden = hide_products(window, Task(), rng)
    chosen = np.sort(rng.permutation(len(asked))[:sample])
    asked, hidden = asked[chosen], hidden[chosen]
    places, offsets = rest_of_basket(window, asked, hidden)
    nobody = np.full(len(asked), -1, np.int32)
    sold = np.zeros(len(baskets.product_vocabulary), np.bool_)
    sold[baskets.slice(0, after).items] = True
    return CatalogueQueries(
        offsets=offsets,
        items=window.items[places],
        user_codes=nobody if window.user_codes is None else window.user_codes[asked],
        candidates=np.empty((len(asked), 0), np.int32),
        product_vocabulary=window.product_vocabulary,
        user_vocabulary=window.user_vocabulary,
        first=first,
        after=after,
        times=None if window.times is None else window.times[asked],
        target_offsets=np.arange(len(asked) + 1),
        targets=window.items[hidden],
        bought=np.zeros(len(asked), np.bool_),
        sold=sold,
    )
