"""Ranks and what is made of them: MRR, Recall@k and DCG (paper, section 5).

The hidden product's rank among its candidates is 1 + (how many score higher). Where others score the same, any place
among them is as likely as another, and every figure is what it would be on average were such ties broken at random: a
method that cannot tell gets what guessing gets. With first and last the best and the worst rank that ties leave open,
and the means taken over the ranks r between them and then over queries,

    MRR = mean 1 / r        Recall@k = mean [r ≤ k]        DCG@k = mean [r ≤ k] / log₂(r + 1)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omba.errors import InputError

Ranks = NDArray[np.int64]
"""A row a query: the best and the worst rank that its ties leave open, equal where there is none."""
Floats = NDArray[np.float64]


def ranks(scores: NDArray[np.floating[Any]]) -> Ranks:
    """The ranks of column 0 in each row.

    >>> ranks(np.array([[0.9, 0.1, 0.2], [0.5, 0.5, 0.7]])).tolist()
    [[1, 1], [2, 3]]
    """
    check_finite(scores)
    target, others = scores[:, :1], scores[:, 1:]
    first = 1 + (others > target).sum(axis=1)
    return np.stack([first, first + (others == target).sum(axis=1)], axis=1).astype(np.int64)


def check_finite(scores: NDArray[np.floating[Any]]) -> None:
    """Refuse scores that cannot be ranked."""
    bad = np.flatnonzero(~np.isfinite(scores).all(axis=1))
    if len(bad):
        raise InputError(
            f"{len(bad)} of {len(scores)} queries got a score that is not a number (first: query {bad[0]})"
        )


def reciprocals(ranks: ArrayLike) -> Floats:
    """One over the rank, for each query: the mean over the ranks that its tie spans.

    >>> reciprocals([[1, 1], [2, 3]]).round(4).tolist()
    [1.0, 0.4167]
    """
    return _over_ties(ranks, lambda places: 1 / places)


def hits(ranks: ArrayLike, k: int) -> Floats:
    """The chance that the product is among the first k, for each query.

    >>> hits([[1, 1], [2, 3], [4, 4]], 2).tolist()
    [1.0, 0.5, 0.0]
    """
    return _over_ties(ranks, lambda places: places <= k)


def gains(ranks: ArrayLike, k: int | None = None) -> Floats:
    """1 / log₂(rank + 1) for each query, nothing beyond rank k.

    >>> gains([[1, 1], [3, 3], [3, 3]], 2).round(6).tolist(), gains([[3, 3]]).round(6).tolist()
    ([1.0, 0.0, 0.0], [0.5])
    """
    return _over_ties(ranks, lambda places: (places <= (np.inf if k is None else k)) / np.log2(places + 1))


def mrr(ranks: ArrayLike) -> float:
    """Mean reciprocal rank.

    >>> round(mrr([[1, 1], [4, 4]]), 6)
    0.625
    """
    return float(np.mean(reciprocals(ranks)))


def recall(ranks: ArrayLike, k: int) -> float:
    """The share of queries whose hidden product is among the first k.

    >>> recall([[1, 1], [2, 3], [4, 4]], 2)
    0.5
    """
    return float(np.mean(hits(ranks, k)))


def dcg(ranks: ArrayLike, k: int | None = None) -> float:
    """Discounted cumulative gain of one relevant product a query, which is NDCG as well: at best it is 1.

    >>> round(dcg([[1, 1], [3, 3]]), 6)
    0.75
    """
    return float(np.mean(gains(ranks, k)))


def chance(n: int) -> float:
    """The MRR of ranking n candidates at random: the harmonic number H(n) / n.

    >>> round(chance(11), 4)
    0.2745
    """
    return float(np.mean(1 / np.arange(1, n + 1)))


def _over_ties(ranks: ArrayLike, value: Any) -> Floats:
    """The mean of a function of the rank over the ranks of each query's tie; ranks alone stand for themselves."""
    whole = np.asarray(ranks)
    whole = whole.astype(np.int64) if whole.ndim == 2 else np.stack([whole, whole], axis=1).astype(np.int64)
    first, last = whole[:, 0], whole[:, 1]
    places = np.arange(1, 1 + (int(last.max()) if len(last) else 0), dtype=np.float64)
    below = np.concatenate([[0.0], np.cumsum(value(places), dtype=np.float64)])
    return np.asarray((below[last] - below[first - 1]) / (last - first + 1), np.float64)
