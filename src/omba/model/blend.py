"""Blend: how much each clue counts in a score, fitted online, predict first and learn after.

The clues x of a candidate c (`model.clues`) are weighed by a conditional logit, p(c) ∝ exp(w·x(c)) among the candidates
of a query. Before a window is learned, some of its baskets are made into queries (hide a product, draw negatives from
the window's purchases), scored with what was known until then, and the weights take one Newton step with a fading
Hessian:

    H ← ρH + Σ Cov(x),   w ← w + H⁻¹ Σ (x(target) − E x).

A blend answers one question, "which of these candidates?". Another question over the same features needs another
blend and nothing else.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from omba.model.clues import CLUES

LENGTH = 8_000
"""The queries a Hessian remembers: long enough to be steady, short enough to follow a model that matures."""
CAUTION = 1.0
"""Prior precision of each weight: it holds for the first few dozen queries."""


class Blend:
    """Weights of the clues, and the Hessian that says how sure they are.

    Parameters
    ----------
    fitted
        Whether the weights learn from queries; otherwise they stay the paper's.
    levels
        Levels of products that have clues: 1 for products alone, 2 with their categories.

    >>> Blend().weights_at(0)["habit"]
    0.1
    """

    def __init__(self, fitted: bool = True, levels: int = 1) -> None:
        self.fitted = fitted
        self.weights = np.zeros(0)
        self.hessian = np.zeros((0, 0))
        self.grow(levels)

    def grow(self, levels: int) -> None:
        """Make room for the clues of so many levels of products; those of a new level begin with no weight."""
        old, new = len(self.weights), levels * len(CLUES)
        if new <= old:
            return
        weights, hessian = np.zeros(new), np.eye(new) * CAUTION
        weights[:old], hessian[:old, :old] = self.weights, self.hessian
        if old == 0:
            weights[: len(CLUES)] = [clue.start if self.fitted else clue.paper for clue in CLUES]
        self.weights, self.hessian = weights, hessian

    def weights_at(self, level: int) -> dict[str, float]:
        """The weight of each clue at one level of products, by the clue's name."""
        return {clue.name: float(self._part(level)[clue.column]) for clue in CLUES}

    def score(self, features: NDArray[np.float32], level: int | None = None) -> NDArray[np.float32]:
        """The weighted sum of the features; `level` says that they are those of one level alone."""
        weights = self.weights if level is None else self._part(level)
        return features @ weights.astype(np.float32)

    def learn(self, features: NDArray[np.float32]) -> None:
        """One Newton step on queries whose target stands in column 0."""
        if not self.fitted or len(features) == 0:
            return
        x = features.astype(np.float64)
        utility = x @ self.weights
        chance = np.exp(utility - utility.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        mean = np.einsum("qc,qcf->qf", chance, x)
        gradient = (x[:, 0] - mean).sum(axis=0)
        curvature = np.einsum("qc,qcf,qcg->fg", chance, x, x) - mean.T @ mean
        self.hessian = max(0.0, 1.0 - len(x) / LENGTH) * self.hessian + curvature
        self.weights = self.weights + np.linalg.solve(self.hessian + 1e-6 * np.eye(len(self.weights)), gradient)

    def _part(self, level: int) -> NDArray[np.float64]:
        return self.weights[level * len(CLUES) : (level + 1) * len(CLUES)]
