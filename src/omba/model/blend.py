"""Blend: how much each clue counts in the answer to a question, fitted online, predict first and learn after.

The clues x of a candidate c (`model.clues`) are weighed by a conditional logit, p(c) ∝ exp(w·x(c) + log n(c)) among the
candidates of a query, where n(c) is how many products a candidate stands for: one, unless it was drawn to stand for
others. Before a window is learned, some of its baskets are made into queries, scored with what was known until then,
and the weights take one Newton step with a fading Hessian:

    H ← ρH + Σ Cov(x),   w ← w + H⁻¹ Σ (x(target) − E x).

A blend answers one question. Another question over the same features needs another blend and nothing else. The one
that is asked most, *among candidates*, has a network that adds what the clues say together (`model.network`), and its
answer is a clue of other questions.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from omba.model.clues import AMONG, CLUES, MATCH, Question, field, fields
from omba.model.network import Network
from omba.model.score_kernels import log_likelihood, sum_up

CAUTION = 1.0
"""Prior precision of each weight: it holds for the first few dozen queries."""
RIDGE = 1e-4
"""What keeps clues that never vary, such as those of users where there are none, at their weight."""
HALVINGS = 8
"""How often a step that makes the answers worse is halved."""

Floats = NDArray[np.float64]


class Blend:
    """Weights of a question's clues, and the Hessian that says how sure they are.

    Parameters
    ----------
    question
        What is asked.
    fitted
        Whether the weights learn from queries; otherwise they stay the paper's.
    levels
        Levels of products that have clues: 1 for products alone, 2 with their categories.
    match
        The blend whose answer is the clue `match`, if it is one of the question's.

    >>> Blend().weights_at(0)["habit"]
    0.1
    """

    def __init__(
        self, question: Question = AMONG, fitted: bool = True, levels: int = 1, match: Blend | None = None
    ) -> None:
        self.question, self.fitted, self.match = question, fitted, match
        self.network = Network() if fitted and question is AMONG else None
        self.names: tuple[str, ...] = ()
        self.columns = np.empty(0, np.int64)
        """Where in the features the clue of each weight stands."""
        self.weights, self.hessian = np.zeros(0), np.zeros((0, 0))
        self.grow(levels)
        start: Mapping[str, float] = question.start if fitted else {clue.name: clue.paper for clue in CLUES}
        self.weights = np.array([start.get(name, 0.0) for name in question.fields(levels)])

    def grow(self, levels: int) -> None:
        """Make room for the clues of so many levels of products; those of a new level begin with no weight."""
        old, self.names = self.names, self.question.fields(levels)
        every = fields(levels)
        self.columns = np.array([every.index(name) for name in self.names])
        self.fill(old, self.weights, self.hessian)
        if self.network is not None:
            self.network.grow(every[: every.index(MATCH.name)])

    def fill(self, names: tuple[str, ...], weights: Floats, hessian: Floats) -> None:
        """Take over weights by the names of their clues; a clue that is not among them begins with none."""
        if weights.shape != (len(names),) or hessian.shape != (len(names),) * 2:
            raise ValueError(f"{len(weights)} weights are given for {len(names)} clues")
        mine = [self.names.index(name) for name in names if name in self.names]
        theirs = [at for at, name in enumerate(names) if name in self.names]
        self.weights, self.hessian = np.zeros(len(self.names)), np.eye(len(self.names)) * CAUTION
        self.weights[mine] = weights[theirs]
        self.hessian[np.ix_(mine, mine)] = hessian[np.ix_(theirs, theirs)]

    def weights_at(self, level: int) -> dict[str, float]:
        """The weight of each clue at one level of products, by the clue's name; 0 for those that are not asked. What a
        clue counts by way of the clue `match` is added."""
        known = dict(zip(self.names, self.weights.tolist(), strict=True))
        weights = {clue.name: known.get(field(clue.name, level), 0.0) for clue in CLUES}
        if self.match is not None and known.get(MATCH.name):
            through = self.match.weights_at(level)
            weights = {name: weight + known[MATCH.name] * through[name] for name, weight in weights.items()}
        return weights

    def weight_of(self, clue: str) -> float:
        """The weight of a clue that stands behind those of all levels, by way of the clue `match` too."""
        known = dict(zip(self.names, self.weights.tolist(), strict=True))
        through = 0.0 if self.match is None else known.get(MATCH.name, 0.0) * self.match.weight_of(clue)
        return float(known.get(clue, 0.0) + through)

    def score(self, features: NDArray[np.float32], level: int | None = None) -> NDArray[np.float32]:
        """The weighted sum of the features, and what they say together; `level` says that they are those of one level
        alone, of which the sum is all there is."""
        weights = np.zeros(features.shape[-1], np.float32)
        if level is None:
            weights[self.columns] = self.weights
        else:
            weights[:] = list(self.weights_at(level).values())
        total = features @ weights
        if self.network is not None and level is None:
            total += self.network.score(features)
        return np.asarray(total)

    def learn(
        self, features: NDArray[np.float32], log_weights: Floats | None = None, targets: Floats | None = None
    ) -> None:
        """One Newton step on queries, (queries, candidates, clues).

        `log_weights` says how many products each candidate stands for, `targets` which share of a query's worth each
        candidate is; without, each stands for itself and the target stands in column 0. A query without a target tells
        nothing.
        """
        if not self.fitted or len(features) == 0 or not np.isfinite(features).all():
            return  # vectors that a rate has led astray tell nothing
        shape = features.shape[:2]
        log_weights = np.zeros(shape) if log_weights is None else log_weights
        if targets is None:
            targets = np.zeros(shape)
            targets[:, 0] = 1.0
        gradient, curvature = np.zeros(len(self.weights)), np.zeros_like(self.hessian)
        before = sum_up(
            features, self.columns, self._widen(self.weights, features), log_weights, targets, gradient, curvature
        )
        queries = np.count_nonzero(targets.any(axis=1))
        prior = max(0.0, 1.0 - queries / self.question.length) * self.hessian
        self.hessian = prior + curvature
        step = np.linalg.solve(self.hessian + RIDGE * np.eye(len(self.weights)), gradient)
        for _ in range(HALVINGS):
            # A young blend whose clues go to extremes would overshoot, and be without sense for weeks.
            after = log_likelihood(features, self._widen(self.weights + step, features), log_weights, targets)
            if after - 0.5 * step @ prior @ step >= before:
                self.weights = self.weights + step
                return
            step = step / 2.0

    def _widen(self, weights: Floats, features: NDArray[np.float32]) -> Floats:
        """The weight of each column of the features."""
        wide = np.zeros(features.shape[-1])
        wide[self.columns] = weights
        return wide

    def learn_together(self, features: NDArray[np.float32], rng: np.random.Generator) -> None:
        """Fit what clues say together to queries whose target stands in column 0."""
        if self.network is not None and np.isfinite(features).all():
            given = features @ self._widen(self.weights, features).astype(np.float32)
            self.network.learn(features, given, rng)
