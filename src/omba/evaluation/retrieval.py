"""The intra-basket retrieval task: hide a product of a basket, and find it among others (paper, section 5).

Windows are drawn at random from the second half of the period. Of each of their baskets of two or more
products one is hidden, and ranked among itself and `negatives` others, given the rest of the basket and the
user. The others are drawn from what is bought in that very window, each purchase as likely as the next, so
that popularity alone ranks at chance. Every window is scored before anything of it is learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from omba.baselines.queries import Queries
from omba.baskets import Baskets, Label
from omba.errors import InputError
from omba.evaluation import metrics
from omba.evaluation.kernels import draw_negatives
from omba.evaluation.metrics import Ranks
from omba.evaluation.trial import rank_hidden

Hide = Literal["one", "all"]
Draw = Literal["window", "uniform"]


class Asking(TypedDict, total=False):
    """What tasks are asked with: fields of `Task`, `Completion` and `NextBasket` of the same names."""

    every: str | int
    hide: Hide
    draw: Draw
    above: float | None
    sample: int
    k: int
    least: int
    part: Literal["test", "validation"]
    users: Sequence[Label] | None


CUTS = range(1, 11)
"""The k of Recall@k."""


@dataclass(frozen=True)
class Task:
    """What is asked: how many windows, against how many others, which products are hidden.

    Parameters
    ----------
    windows
        Windows drawn from the second half of the period; 1 or more.
    negatives
        Products that the hidden one is ranked among; 1 or more.
    every
        How long a window is; 1 or more baskets where it is a number.
    hide
        One product of a basket, or each in turn.
    draw
        Negatives by the purchases of the window, or uniformly from all products sold until its end.
    above
        Only products dearer than this are hidden; None for all; 0 or more.

    >>> import omba
    >>> shop = omba.datasets.synthetic(baskets=600, products=100, users=20, days=10).baskets
    >>> _, asked = omba.evaluation.Task(windows=2, negatives=5).ask(shop, seed=0)
    >>> [window.candidates.shape[1] for window in asked]
    [6, 6]
    """

    windows: int = 20
    negatives: int = 10
    every: str | int = "1d"
    hide: Hide = "one"
    draw: Draw = "window"
    above: float | None = None

    name: ClassVar[str] = "hidden"
    columns: ClassVar[dict[str, str]] = {"mrr": "MRR", "recall@1": "R@1", "recall@5": "R@5", "dcg": "DCG"}
    """The figures of a table, and what they are called there."""

    def __post_init__(self) -> None:
        for name in ("windows", "negatives"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}: give 1 or more")
        for name, known in (("hide", ("one", "all")), ("draw", ("window", "uniform"))):
            if getattr(self, name) not in known:
                raise InputError(f"{name} is {getattr(self, name)!r}: give one of {', '.join(known)}")

    def ask(self, baskets: Baskets, seed: int) -> tuple[Baskets, list[Queries]]:
        """The baskets to learn from, and the queries of each window."""
        return baskets, queries(baskets, self, seed)

    def judge(self, method: Any, queries: Queries) -> Ranks:
        """The ranks of what a window's queries ask for."""
        return rank_hidden(method, queries)

    def measure(self, ranks: Ranks, asked: Sequence[Queries]) -> dict[str, float]:
        """MRR, Recall@k and DCG over all queries alike."""
        recalls = {f"recall@{k}": metrics.recall(ranks, k) for k in CUTS}
        return {"mrr": metrics.mrr(ranks), **recalls, "dcg": metrics.dcg(ranks)}


def queries(baskets: Baskets, task: Task, seed: int = 0) -> list[Queries]:
    """The queries of each drawn window, in time order; the seed settles windows, hidden products and negatives."""
    check(baskets, task)
    rng = np.random.default_rng(seed)
    spans = second_half(baskets, task.every)
    asked: list[Queries] = []
    # Windows with nothing to ask (no basket of two, no price above the bound) are passed over for others.
    for index in rng.permutation(len(spans)):
        first, after = spans[index]
        found = ask(baskets, first, after, task, rng)
        if len(found):
            asked.append(found)
        if len(asked) == task.windows:
            break
    if not asked:
        raise InputError(
            f"none of the {len(spans)} windows in the second half holds a basket to ask about: "
            "it takes two products in a basket, another basket in its window"
            + ("" if task.above is None else f", and a product dearer than {task.above:g}")
        )
    return sorted(asked, key=lambda found: found.first)


def check(baskets: Baskets, task: Task) -> None:
    """Refuse, in a sentence, what can give no query."""
    if len(baskets) == 0:
        raise InputError("there are no baskets to evaluate on")
    if baskets.sizes.max() < 2:
        raise InputError(
            f"all {len(baskets):,} baskets hold one product only: nothing is left in them once it is hidden "
            "(is the basket column the right one?)"
        )
    if task.above is not None and baskets.prices is None:
        raise InputError(f"above={task.above:g} needs prices, and these baskets have none: give a price column")


def second_half(baskets: Baskets, every: str | int) -> Sequence[tuple[int, int]]:
    """The windows of the second half of the period, as (first, after) basket; the very first is never one."""
    edges = np.cumsum([0] + [len(window) for window in baskets.windows(every)])
    spans = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
    if len(spans) < 2:
        raise InputError(
            f"the {len(baskets):,} baskets fall into one window of {every!r}, which leaves nothing to learn before it: "
            "give a shorter window"
        )
    if baskets.times is None:
        return spans[max(len(spans) // 2, 1) :]
    middle = (int(baskets.times[0]) + int(baskets.times[-1])) / 2
    return [span for span in spans[1:] if baskets.times[span[0]] >= middle]


def ask(baskets: Baskets, first: int, after: int, task: Task, rng: np.random.Generator) -> Queries:
    """The queries of one window."""
    window = baskets.slice(first, after)
    asked, hidden = hide_products(window, task, rng)
    candidates = np.full((len(hidden), 1 + task.negatives), -1, np.int32)
    candidates[:, 0] = window.items[hidden]
    pool = window.items if task.draw == "window" else np.unique(baskets.slice(0, after).items)
    n_products = len(baskets.product_vocabulary)
    draw_negatives(pool, window.offsets, window.items, asked, candidates, n_products, rng)

    kept = candidates[:, 1] >= 0
    asked, hidden, candidates = asked[kept], hidden[kept], candidates[kept]
    places, offsets = rest_of_basket(window, asked, hidden)
    nobody = np.full(len(asked), -1, np.int32)
    return Queries(
        offsets=offsets,
        items=window.items[places],
        user_codes=nobody if window.user_codes is None else window.user_codes[asked],
        candidates=candidates,
        product_vocabulary=window.product_vocabulary,
        user_vocabulary=window.user_vocabulary,
        target_prices=None if window.prices is None else window.prices[hidden],
        first=first,
        after=after,
    )


def hide_products(window: Baskets, task: Task, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The basket of each query and the place in `items` of its hidden product."""
    asked = np.flatnonzero(window.sizes >= 2)
    sizes = window.sizes[asked]
    if task.hide == "all":
        asked = np.repeat(asked, sizes)
        hidden = np.flatnonzero(np.repeat(window.sizes >= 2, window.sizes))
    else:
        hidden = window.offsets[asked] + rng.integers(0, sizes)
    if task.above is not None and window.prices is not None:
        dear = window.prices[hidden] > task.above
        asked, hidden = asked[dear], hidden[dear]
    return asked, hidden


def rest_of_basket(
    window: Baskets, asked: NDArray[np.int64], hidden: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places of each query's basket but the hidden one, and their offsets by query."""
    sizes = window.sizes[asked]
    ends = np.cumsum(sizes)
    places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(window.offsets[asked] - (ends - sizes), sizes)
    return places[places != np.repeat(hidden, sizes)], np.concatenate([[0], np.cumsum(sizes - 1)])
