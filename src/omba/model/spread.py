"""Spread: how much wider than the likelihood says the ends of an interval must lie, learned from what fell beyond them.

For each kind of pair and each end, the lifts shown beyond it are counted as they would be with the variance of the lift
scaled by each of a row of factors. The factor at which as many were missed as ought to be is the one to use.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from omba.model.likelihood import NORMAL, TAIL

Floats = NDArray[np.float64]

KINDS = 7
"""Unseen, rare, and seen often with a lift that is surely above 0, 1, 5, 15 or 50; see `likelihood.kind_of`."""
LOGS = np.linspace(-2.0, 3.0, 11)
FACTORS = np.exp(LOGS)
NEUTRAL = 100.0
"""Pairs' worth of a start at which the likelihood is right."""


class Spread:
    """Counts of what was missed, for each kind of pair, each end and each factor, and of what ought to be.

    >>> Spread().factors().round(6).tolist()[0]
    [1.0, 1.0]
    """

    def __init__(self) -> None:
        self.missed: Floats = np.zeros((KINDS, 2, len(FACTORS)))
        self.due: Floats = np.zeros((KINDS, 2))

    def fade(self, share: float) -> None:
        """Keep a share of what was counted."""
        self.missed *= share
        self.due *= share

    def factors(self) -> Floats:
        """The factor of the variance for each kind of pair, for the low end and the high one."""
        from scipy.special import ndtr

        start = ndtr(-NORMAL * np.sqrt(FACTORS))
        rate = (self.missed + NEUTRAL * start) / (self.due + NEUTRAL * TAIL)[:, :, None]
        # Wider intervals miss less; the share of what is due falls through 1 somewhere, or lies beyond the row.
        logs = [[np.interp(0.0, np.log(end), LOGS[::-1]) for end in np.maximum(kind, 1e-9)[:, ::-1]] for kind in rate]
        return np.asarray(np.exp(np.array(logs)))
