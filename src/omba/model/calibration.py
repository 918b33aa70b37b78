"""Calibration: the chance that a suggestion comes true, learned from the suggestions that were made.

A blend is right about order, not about how many products will be bought, and a fit over the whole catalogue is wrong
just where suggestions are made: the best of many are chosen for being too high as well. So before a window is learned,
the first ten suggestions for some of its baskets are compared with what was bought, by a logistic regression with the
Newton step of a blend, on

    1,  u,  log Σ exp(u) over what the customer remembers and over the ten,  log of the size expected,  log of what is
    in the basket already,

where u is a suggestion's utility.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from omba.model.blend import CAUTION, RIDGE

SHOWN = 10
"""Suggestions of a query that are compared with what was bought."""
LENGTH = 600
"""The queries a Hessian remembers: fewer than a blend's, whose every step the calibration has to follow."""
START = (-3.0, 0.5, 0.0, -0.25, 0.0, 0.0)
"""The weights before any suggestion was made: about one in twenty comes true."""
FARTHEST = 2.0
"""The longest step of a weight in a window."""

Floats = NDArray[np.float64]


class Calibration:
    """Weights of the clues above, and the Hessian that says how sure they are."""

    def __init__(self) -> None:
        self.weights = np.array(START)
        self.hessian = np.eye(len(START)) * CAUTION

    def chance(self, clues: Floats) -> Floats:
        """The chance that each suggestion comes true."""
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(clues @ self.weights, -30.0, 30.0))))

    def learn(self, clues: Floats, came_true: NDArray[np.bool_], queries: int) -> None:
        """One Newton step on the suggestions of so many queries."""
        if len(clues) == 0:
            return
        chance = self.chance(clues)
        gradient = (came_true - chance) @ clues
        curvature = (clues * (chance * (1.0 - chance))[:, None]).T @ clues
        self.hessian = max(0.0, 1.0 - queries / LENGTH) * self.hessian + curvature
        step = np.linalg.solve(self.hessian + RIDGE * np.eye(len(gradient)), gradient)
        self.weights = self.weights + np.clip(step, -FARTHEST, FARTHEST)


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
