"""Calibration: the chance that a suggestion comes true, learned from the suggestions that were made.

A blend is right about order, not about how many products will be bought, and a fit over the whole catalogue is wrong
just where suggestions are made: the best of many are chosen for being too high as well. So before a window is learned,
the first ten suggestions for some of its baskets are compared with what was bought, by a logistic regression with the
Newton step of a blend, on

    1,  u,  log Σ exp(u) over what the customer remembers and over the ten,  log of the size expected,  log of what is
    in the basket already,

where u is a suggestion's utility. A blend moves on, and its utilities with it, so that these weights lag behind, and
would promise too much for months. So an offset of the log odds comes on top of them that remembers few queries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from omba.model.blend import CAUTION, RIDGE

SHOWN = 10
"""Suggestions of a query that are compared with what was bought."""
LENGTH = 600
"""The queries a Hessian remembers: fewer than a blend's, whose every step the calibration has to follow."""
QUICK = 120
"""The queries that the offset remembers."""
STEPS = 3
"""Newton steps on a window's suggestions."""
START = (-3.0, 0.5, 0.0, -0.25, 0.0, 0.0)
"""The weights before any suggestion was made: about one in twenty comes true."""
FARTHEST, SMALLEST = 2.0, 1e-6
"""The longest step of a weight, and one that is not worth taking."""

Floats = NDArray[np.float64]


class Calibration:
    """Weights of the clues above with the Hessian that says how sure they are, and the offset with its curvature."""

    def __init__(self) -> None:
        self.weights = np.array(START)
        self.hessian = np.eye(len(START)) * CAUTION
        self.offset = np.array([0.0, CAUTION])

    def chance(self, clues: Floats) -> Floats:
        """The chance that each suggestion comes true."""
        return _logistic(clues @ self.weights + self.offset[0])

    def learn(self, clues: Floats, came_true: NDArray[np.bool_], queries: int) -> None:
        """Take in the suggestions of so many queries, and what came of them."""
        if len(clues) == 0:
            return
        true, ones = came_true.astype(np.float64), np.ones((len(clues), 1))
        kept = max(0.0, 1.0 - queries / QUICK) * self.offset[1:, None]
        offset, curvature = update(self.offset[:1], kept, ones, true, clues @ self.weights)
        self.offset = np.array([offset[0], curvature[0, 0]])
        kept = max(0.0, 1.0 - queries / LENGTH) * self.hessian
        self.weights, self.hessian = update(self.weights, kept, clues, true, np.zeros(len(clues)))


def update(prior: Floats, precision: Floats, clues: Floats, true: Floats, given: Floats) -> tuple[Floats, Floats]:
    """The weights that are likeliest after a prior and a few outcomes, and their precision: with p = σ(given + x·w),

        w ← w + (P + Σ p(1−p) x xᵀ)⁻¹ (Σ (true − p) x − P (w − prior)),

    each step halved until it makes things better.
    """
    weights, ridge = prior, RIDGE * np.eye(len(prior))
    for _ in range(STEPS):
        chance = _logistic(given + clues @ weights)
        gradient = (true - chance) @ clues - precision @ (weights - prior)
        step = np.linalg.solve(precision + _curvature(clues, chance) + ridge, gradient)
        step = np.clip(step, -FARTHEST, FARTHEST)
        now = _loss(weights, prior, precision, clues, true, given)
        while _loss(weights + step, prior, precision, clues, true, given) > now and np.abs(step).max() > SMALLEST:
            step = step / 2.0
        weights = weights + step
    return weights, precision + _curvature(clues, _logistic(given + clues @ weights))


def _logistic(log_odds: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(log_odds, -30.0, 30.0))))


def _curvature(clues: Floats, chance: Floats) -> Floats:
    return np.asarray((clues * (chance * (1.0 - chance))[:, None]).T @ clues)


def _loss(weights: Floats, prior: Floats, precision: Floats, clues: Floats, true: Floats, given: Floats) -> float:
    """Minus the log of how likely weights are, but for a constant."""
    log_odds, away = given + clues @ weights, weights - prior
    return float(np.logaddexp(0.0, log_odds).sum() - true @ log_odds + 0.5 * away @ precision @ away)


def describe(utility: Floats, shown: Floats, remembered: Floats, expected_size: float, in_hand: int) -> Floats:
    """The clues of suggestions, (suggestions, clues).

    `utility` is theirs, `shown` that of the ten best, `remembered` that of what the customer remembers.
    """
    same = [_log_total(remembered), _log_total(shown), np.log(max(expected_size, 1e-3)), np.log1p(in_hand)]
    return np.column_stack([np.ones(len(utility)), utility, np.tile(same, (len(utility), 1))])


def _log_total(utility: Floats) -> float:
    """log Σ exp(u), and nothing where there are none."""
    if not len(utility):
        return 0.0
    highest = float(utility.max())
    return highest + float(np.log(np.exp(utility - highest).sum()))
