"""Calibration: the chance that a suggestion comes true, learned from the suggestions that were made.

A blend is right about order, not about how many products will be bought, and a fit over the whole catalogue is wrong
just where suggestions are made: the best of many are chosen for being too high as well. So before a window is learned,
the first ten suggestions for some of its baskets, and a few further down, are compared with what was bought, by a
logistic regression with the Newton step of a blend, on

    1,  log p,  log (1 − highest p),  log of the size expected,  log of what is in the basket already,  log odds of c,

where p = exp(u) / Σ exp(u) is a suggestion's share among all products of the catalogue by their utilities u. Utilities
have no zero of their own: what adds the same to all, such as having a customer at all, must not move a chance, and does
not move p. The third says what the first suggestion leaves to the others, which may be bought as well, and c is the
highest confidence, by counting, that a product of the basket gives it. Chances are told in the order of utilities:
neighbours that would be out of order share their mean.

What is forgotten gives way to the weights of the start, and what lies far from all that was judged counts as what is
nearest to it, so that no chance rests on a guess far away. A blend moves on, so that these weights lag behind, and
would promise too much for months. So an offset of the log odds comes on top of them that remembers few queries.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from omba.model.blend import CAUTION, RIDGE

PLACES = (*range(10), 10, 11, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 127)
"""The places of the suggestions that are compared with what was bought: a list may be long, and products that are new
to a customer stand further down."""
LENGTH = 600
"""The queries a Hessian remembers: fewer than a blend's, whose every step the calibration has to follow."""
QUICK = 120
"""The queries that the offset remembers."""
STEPS = 3
"""Newton steps on a window's suggestions."""
START = (-1.0, 1.0, 0.0, 1.0, 0.0, 0.0)
"""The weights before any suggestion was made: a third of the size expected is still to come, and p tells of which."""
FLATTEST = 0.2
"""The least weight of log p, so that of two products the one that is suggested first is never said to be unlikelier."""
LEAST_LEFT, SUREST = 0.02, 0.98
"""The first suggestion leaves so much at least to the others, and no confidence is taken for higher."""
SHARED = slice(2, 5)
"""The clues that all suggestions of a query share."""
WIDEST = 2.5
"""Deviations from the mean of what was judged at which clues that suggestions of a query share are cut off."""
FARTHEST, SMALLEST = 2.0, 1e-6
"""The longest step of a weight, and one that is not worth taking."""

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]


class Calibration:
    """Weights of the clues above with the Hessian that says how sure they are, the offset with its curvature, and mean
    and mean square of the clues that were judged."""

    def __init__(self) -> None:
        self.weights = np.array(START)
        self.hessian = np.eye(len(START)) * CAUTION
        self.offset = np.array([0.0, CAUTION])
        self.seen = np.zeros((2, len(START)))

    def chance(self, clues: Floats) -> Floats:
        """The chance that each suggestion comes true."""
        inside = clues
        if self.seen.any():
            mean, square = self.seen[:, SHARED]
            reach = WIDEST * np.sqrt(np.maximum(square - mean**2, 0.0))
            inside = clues.copy()
            inside[..., SHARED] = np.clip(clues[..., SHARED], mean - reach, mean + reach)
        return _logistic(inside @ self.weights + self.offset[0])

    def learn(self, clues: Floats, came_true: NDArray[np.bool_], queries: int) -> None:
        """Take in the suggestions of so many queries, and what came of them."""
        if len(clues) == 0:
            return
        true, ones = came_true.astype(np.float64), np.ones((len(clues), 1))
        kept = max(0.0, 1.0 - queries / QUICK) * self.offset[1:, None]
        offset, curvature = update(self.offset[:1], kept, ones, true, clues @ self.weights)
        self.offset = np.array([offset[0], curvature[0, 0]])
        left = max(0.0, 1.0 - queries / LENGTH)
        old, start = left * self.hessian, (1.0 - left) * CAUTION * np.eye(len(START))
        prior = np.linalg.solve(old + start, old @ self.weights + start @ START)
        self.weights, self.hessian = update(prior, old + start, clues, true, np.zeros(len(clues)))
        self.weights[1] = max(self.weights[1], FLATTEST)
        now = np.array([clues.mean(axis=0), np.square(clues).mean(axis=0)])
        self.seen = left * self.seen + (1.0 - left) * now if self.seen.any() else now


def update(prior: Floats, precision: Floats, clues: Floats, true: Floats, given: Floats) -> tuple[Floats, Floats]:
    """The weights that are likeliest after a prior and a few outcomes, and their precision: with p = σ(given + x·w),

        w ← w + (P + Σ p(1−p) x xᵀ)⁻¹ (Σ (true − p) x − P (w − prior)),

    each step halved until it makes things better.
    """
    weights, ridge = prior, RIDGE * np.eye(len(prior))
    gradient, curvature = np.empty_like(prior), np.empty_like(precision)
    loss = sum_up(clues, true, given, weights, gradient, curvature)
    for _ in range(STEPS):
        step = np.linalg.solve(precision + curvature + ridge, gradient - precision @ (weights - prior))
        step = np.clip(step, -FARTHEST, FARTHEST)
        now = loss + _distance(weights - prior, precision)
        while True:
            loss = sum_up(clues, true, given, weights + step, gradient, curvature)
            if not loss + _distance(weights + step - prior, precision) > now or np.abs(step).max() <= SMALLEST:
                break
            step = step / 2.0
        weights = weights + step
    return weights, precision + curvature


def _distance(away: Floats, precision: Floats) -> float:
    """Minus the log of how likely weights so far from the prior are, but for a constant."""
    return float(0.5 * away @ precision @ away)


@njit(nogil=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def sum_up(clues: Floats, true: Floats, given: Floats, weights: Floats, gradient: Floats, curvature: Floats) -> float:
    """Write Σ (true − p) x and Σ p(1−p) x xᵀ, and return minus the log of how likely the outcomes are."""
    n, loss, told = clues.shape[1], 0.0, 0.0
    gradient[:], curvature[:] = 0.0, 0.0
    for i in range(clues.shape[0]):
        told = given[i]
        for k in range(n):
            told += clues[i, k] * weights[k]
        # 1 + exp(−|x|) for both signs, so that nothing grows without bounds.
        small = np.exp(-abs(told))
        p = (1.0 if told >= 0.0 else small) / (1.0 + small)
        loss += max(told, 0.0) + np.log1p(small) - true[i] * told
        missing, spread = true[i] - p, p * (1.0 - p)
        for k in range(n):
            gradient[k] += missing * clues[i, k]
            for m in range(k + 1):
                curvature[k, m] += spread * clues[i, k] * clues[i, m]
    for k in range(n):
        for m in range(k):
            curvature[m, k] = curvature[k, m]
    return loss


def _logistic(log_odds: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(log_odds, -30.0, 30.0))))


def describe(
    utility: Floats, highest: Floats, total: Floats, expected_size: Floats, in_hand: Longs, log_confidence: Floats
) -> Floats:
    """The clues of suggestions, (queries, suggestions, clues): `utility` and `log_confidence` are theirs, and of each
    query `highest` is the utility of the first of all, `total` log Σ exp(u) over all products."""
    left = np.log(np.maximum(1.0 - np.exp(np.minimum(highest - total, 0.0)), LEAST_LEFT))
    clues = np.ones((*utility.shape, len(START)))
    clues[..., 1] = utility - total[:, None]
    clues[..., SHARED] = np.column_stack([left, np.log(np.maximum(expected_size, 1e-3)), np.log1p(in_hand)])[:, None]
    sure = np.minimum(log_confidence, np.log(SUREST))
    # Where nothing is in the basket, nothing has a confidence.
    clues[..., 5] = np.where(in_hand[:, None] > 0, sure - np.log(-np.expm1(sure)), 0.0)
    return clues


def log_total(utility: Floats) -> Floats:
    """log Σ exp(u) of each row."""
    highest = utility.max(axis=-1, initial=-1e300)
    return np.asarray(highest + np.log(np.maximum(np.exp(utility - highest[..., None]).sum(axis=-1), 1e-300)))


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def fall(values: Floats) -> Floats:
    """The falling values that are nearest to these: neighbours that rise share their mean (pool adjacent violators)."""
    means, sizes, blocks = np.empty(len(values)), np.empty(len(values), np.int64), 0
    for value in values:
        means[blocks], sizes[blocks] = value, 1
        while blocks > 0 and means[blocks] > means[blocks - 1]:
            both = sizes[blocks] + sizes[blocks - 1]
            means[blocks - 1] += (means[blocks] - means[blocks - 1]) * sizes[blocks] / both
            sizes[blocks - 1] = both
            blocks -= 1
        blocks += 1
    return np.repeat(means[:blocks], sizes[:blocks])
