"""Network: what clues say together and a weighted sum of them cannot, in one small hidden layer.

A habit means more of a customer who comes often, a product that is mostly bought alone is no news in a large basket,
and one that is due is not one that was bought yesterday. So to the weighted sum of a blend a candidate's clues x add

    n(x) = v · max(0, W z + b),    z = (x − mean) / deviation,

both of the clues seen so far. It begins at nothing, v = 0, and is fitted with the blend, predict first and learn after:
by a few steps of Adam (Kingma and Ba, 2015) along the log likelihood of the same queries, log p(target), where
p(c) ∝ exp(blend(c) + n(c)). Answers are given by the mean of the weights of the last hundred steps. It keeps some
thousand numbers and no query.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.model.score_kernels import add_clues, add_together, fit_network, standardise

HIDDEN = 32
"""Units of the hidden layer; 16 are worse by 0.001 MRR on Complete Journey, 64 are no better."""
RATE = 0.001
"""The rate of Adam; 0.0005 and 0.003 are worse on Complete Journey and on Ta-Feng."""
FIRST, SECOND, TINY = 0.9, 0.999, 1e-8
"""What is left of the mean of gradients and of their squares a step later, and what keeps from dividing by zero."""
AVERAGE = 0.99
"""What is left of the mean of the weights a step later: answering by it gained 0.0021 MRR on Complete Journey and
0.0007 on Ta-Feng, 0.998 gained 0.0023 and lost 0.0003."""
BATCH, PASSES = 16, 2
"""Queries of a step, and passes over the queries of a window."""
LENGTH = 20_000
"""Queries that mean and deviation of the clues remember."""
WIDEST = 5.0
"""How many deviations a clue may lie from its mean."""
FLAT = 0.02
"""A deviation below this is no measure: such a clue is as good as constant, and counts as it is."""
SEED = 5

Floats = NDArray[np.float32]
TABLES = ("weights", "average", "gradients", "squares")
ARRAYS = (*TABLES, "mean", "square", "counts")
"""What is learned: (clues + 2, units) each for the weights, whose last rows are b and v, their mean over steps, and the
means of their gradients and of the squares of those; mean and mean square of the clues; and how many steps were taken
and queries seen."""


class Network:
    """A hidden layer over clues.

    Parameters
    ----------
    names
        The names of the clues, in their order.

    >>> network = Network(("context", "habit"))
    >>> network.score(np.ones((1, 3, 2), np.float32)).tolist()
    [[0.0, 0.0, 0.0]]
    """

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self.names: tuple[str, ...] = ()
        self.weights: Floats = np.zeros((2, HIDDEN), np.float32)
        self.average: Floats = np.zeros((2, HIDDEN), np.float32)
        self.gradients: Floats = np.zeros((2, HIDDEN), np.float32)
        self.squares: Floats = np.zeros((2, HIDDEN), np.float32)
        self.weights[0] = self.average[0] = np.random.default_rng(SEED).normal(0.0, 0.5, HIDDEN)
        self.mean, self.square = np.zeros(0), np.zeros(0)
        self.counts = np.zeros(2, np.int64)
        self.grow(names)

    def grow(self, names: tuple[str, ...]) -> None:
        """Make room for clues of these names; those that were known before keep what was learned of them."""
        old, self.names = self.names, names
        mine = [names.index(name) for name in old if name in names]
        theirs = [at for at, name in enumerate(old) if name in names]
        scale = 1.0 / np.sqrt(max(len(names), 1))
        start = np.random.default_rng([SEED, len(names)]).normal(0.0, scale, (len(names), HIDDEN))
        for what in TABLES:
            before = getattr(self, what)
            larger = np.zeros((len(names) + 2, HIDDEN), np.float32)
            if what in ("weights", "average"):
                larger[:-2] = start
            larger[mine], larger[-2:] = before[theirs], before[-2:]
            setattr(self, what, larger)
        mean, square = np.zeros(len(names)), np.ones(len(names))
        mean[mine], square[mine] = self.mean[theirs], self.square[theirs]
        self.mean, self.square = mean, square

    def score(self, features: Floats) -> Floats:
        """What the clues say together, which are the first of the features, (…, features)."""
        total = np.zeros(features.shape[:-1], np.float32)
        if self.counts[0]:
            rows = np.ascontiguousarray(features, np.float32).reshape(-1, features.shape[-1])
            average = np.ascontiguousarray(self.average, np.float32)
            add_together(rows, *self._measure(), WIDEST, average[:-2], average[-2:], total.reshape(-1))
        return total

    def learn(self, features: Floats, given: Floats, rng: np.random.Generator) -> None:
        """Fit to queries, (queries, candidates, features), whose target stands in column 0; `given` is what the blend
        says of each candidate."""
        if len(features) == 0:
            return
        self._follow(features)
        clues = self._standardise(features).reshape(*features.shape[:-1], -1)
        given = np.ascontiguousarray(given, np.float32)
        tables = [np.array(getattr(self, name), np.float32) for name in TABLES]
        for _ in range(PASSES):
            order = rng.permutation(len(clues))
            self.counts[0] = fit_network(
                clues, given, order, BATCH, int(self.counts[0]), (RATE, FIRST, SECOND, TINY), AVERAGE, *tables
            )
        self.weights, self.average, self.gradients, self.squares = tables

    def _follow(self, features: Floats) -> None:
        """Bring mean and mean square of the clues, the first of the features, up to date."""
        sums = np.zeros((2, len(self.names)))
        rows = np.ascontiguousarray(features, np.float32).reshape(-1, features.shape[-1])
        add_clues(rows, sums)
        mean, square = sums / len(rows)
        self.counts[1] = min(self.counts[1] + len(features), LENGTH)
        share = len(features) / max(int(self.counts[1]), len(features))
        self.mean = self.mean + share * (mean - self.mean)
        self.square = self.square + share * (square - self.square)

    def _standardise(self, features: Floats) -> Floats:
        """The clues of all candidates, a row each, in deviations from their means."""
        rows = np.ascontiguousarray(features, np.float32).reshape(-1, features.shape[-1])
        clues = np.empty((len(rows), len(self.names)), np.float32)
        standardise(rows, *self._measure(), WIDEST, clues)
        return clues

    def _measure(self) -> tuple[Floats, Floats]:
        """The clues' means, and one over their deviations."""
        deviation = np.sqrt(np.maximum(self.square - self.mean**2, 0.0))
        deviation[deviation < FLAT] = 1.0
        return self.mean.astype(np.float32), (1.0 / deviation).astype(np.float32)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything learned, as arrays."""
        return {name: getattr(self, name) for name in ARRAYS}

    def load(self, names: tuple[str, ...], state: dict[str, NDArray[Any]]) -> None:
        """The reverse of `state`; what was learned is taken over by the names of the clues."""
        wanted, self.names = self.names, names
        for name in ARRAYS:
            setattr(self, name, state[name])
        if len(self.weights) != len(names) + 2 or len(self.mean) != len(names):
            raise ValueError(f"the network has weights for {len(self.weights) - 2} clues instead of {len(names)}")
        self.grow(wanted)
