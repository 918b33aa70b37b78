"""Ranks and what is made of them: MRR, Recall@k and DCG (paper, section 5).

The hidden product's rank among its candidates is 1 + (how many score higher) + ½ (how many score the same): a
tie gets the mean of the ranks it spans, so a method that cannot tell gains nothing. Over queries q

    MRR = mean 1 / rank        Recall@k = mean [rank ≤ k]        DCG = mean 1 / log₂(rank + 1)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.errors import InputError

Ranks = NDArray[np.float64]


def ranks(scores: NDArray[np.floating[Any]]) -> Ranks:
    """The rank of column 0 in each row.

    >>> ranks(np.array([[0.9, 0.1, 0.2], [0.5, 0.5, 0.7]])).tolist()
    [1.0, 2.5]
    """
    bad = np.flatnonzero(~np.isfinite(scores).all(axis=1))
    if len(bad):
        raise InputError(
            f"{len(bad)} of {len(scores)} queries got a score that is not a number (first: query {bad[0]})"
        )
    target, others = scores[:, :1], scores[:, 1:]
    return np.asarray(1 + (others > target).sum(axis=1) + (others == target).sum(axis=1) / 2, np.float64)


def mrr(ranks: Ranks) -> float:
    """Mean reciprocal rank.

    >>> mrr(np.array([1.0, 4.0]))
    0.625
    """
    return float(np.mean(1 / ranks))


def recall(ranks: Ranks, k: int) -> float:
    """The share of queries whose hidden product is among the first k.

    >>> recall(np.array([1.0, 2.5, 4.0, 1.5]), 2)
    0.5
    """
    return float(np.mean(ranks <= k))


def dcg(ranks: Ranks) -> float:
    """Discounted cumulative gain, of one relevant product a query.

    >>> dcg(np.array([1.0, 3.0]))
    0.75
    """
    return float(np.mean(1 / np.log2(ranks + 1)))


def chance(n: int) -> float:
    """The MRR of ranking n candidates at random: the harmonic number H(n) / n.

    >>> round(chance(11), 4)
    0.2745
    """
    return float(np.mean(1 / np.arange(1, n + 1)))
