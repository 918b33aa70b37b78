"""Spread: how far the ends of an interval must lie, learned from what came true.

Every pair that was watched has a score: where its count lies in what was foretold, on the scale of the normal
distribution. Were the likelihood right, scores would be normal, and 5% of them below -1.64. Scores are counted for each
kind of pair, and the ends of the next interval lie at the scores that 5% of the earlier ones were beyond.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from omba.model.likelihood import BINS, FARTHEST, KINDS, TAIL, UNSURE

Floats = NDArray[np.float64]

EDGES = np.linspace(-FARTHEST, FARTHEST, BINS + 1)
NORMALLY = np.diff([math.erf(edge / math.sqrt(2.0)) / 2 for edge in EDGES])
NEUTRAL = 100.0
"""Pairs' worth of a start at which the likelihood is right."""
STRONGER = (3, *range(UNSURE + 1, KINDS))
"""Kinds that are a stronger sort of the one before."""
UNTOLD = 0.25
"""What the mirror of weak pairs counts for: half of a level is foretold, so a quarter of its variance is left."""
LASTING = 0.9
"""Share kept of what earlier periods showed: a swing is rare, so periods are remembered for longer than for means."""


class Spread:
    """Counts of scores for each kind of pair, as they came and with each period's swing mirrored.

    >>> Spread().scores().round(1).tolist()[0]
    [-1.6, 1.6, 1.3]
    """

    def __init__(self) -> None:
        self.scored: Floats = np.zeros((2, KINDS, BINS))
        self._found: tuple[bytes, Floats] | None = None

    def fade(self) -> None:
        """Forget a little of what was counted."""
        self.scored *= LASTING

    def scores(self) -> Floats:
        """For each kind of pair the scores of a low end, of a high end, and of a high end that is the only one.

        A period may swing either way, so what came counts as much as its mirror; and an end is never narrower than
        what came makes it. Weak pairs swing by the level of a period, which is in part foretold, so of them the mirror
        counts for less.
        """
        # Asked for with every few pairs, and the same until more came.
        state, found = self.scored.tobytes(), self._found
        if found is None or found[0] != state:
            found = self._found = state, self._find_scores()
        return found[1]

    def _find_scores(self) -> Floats:
        came, mirrored = self.scored
        weak = find_ends(pool((1 - UNTOLD) * came + UNTOLD * mirrored)[: UNSURE + 1])
        both, once = (find_ends(pool(counts)[UNSURE + 1 :]) for counts in ((came + mirrored) / 2, came))
        strong = np.column_stack([np.minimum(both, once)[:, 0], np.maximum(both, once)[:, 1:]])
        return np.concatenate([weak, strong])


def pool(counts: Floats) -> Floats:
    """Scores of each kind with some of a start: those of the kind before where it is a stronger one of the same sort,
    since of the strongest there are few pairs, else normal ones."""
    pooled = np.empty_like(counts)
    for kind, own in enumerate(counts):
        start = pooled[kind - 1] / pooled[kind - 1].sum() if kind in STRONGER else NORMALLY
        pooled[kind] = own + NEUTRAL * start
    return pooled


def find_ends(counts: Floats) -> Floats:
    """The scores that 5% are below, 95% and 90%, a line a kind."""
    share = np.cumsum(counts, axis=1)
    share /= share[:, -1:]
    wanted = TAIL, 1 - TAIL, 1 - 2 * TAIL
    found = np.array([[np.interp(one, kind, EDGES[1:]) for one in wanted] for kind in share])
    return np.column_stack([np.minimum(found[:, 0], 0.0), np.maximum(found[:, 1:], 0.0)])
