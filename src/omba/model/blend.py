"""Blend: how much each clue counts in a score, fitted online, predict first and learn after.

The paper scores a candidate by the plain sum of two cosines, to the mean of the context and to the user. Here five
clues x (and five more one level up, where products have categories) are weighed by a conditional logit,
p(c) ∝ exp(w·x(c)) among the candidates of a query:

    0  cosine to the mean context vector                     (the paper's)
    1  cosine to the user's vector                           (the paper's)
    2  closeness to the nearest of the context products, 1/s · log mean exp(s · cosine)
    3  habit: the user's own memory of the product           (`model.memory`)
    4  log share of sales, which takes back what the others owe to mere popularity

Before a window is learned, some of its baskets are made into queries (hide a product, draw rivals from the window's
purchases), scored with what was known until then, and the weights take one Newton step with a fading Hessian:

    H ← ρH + Σ Cov(x),   w ← w + H⁻¹ Σ (x(target) − E x).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CLUES = ("context", "user", "nearest", "habit", "popularity")
PAPER = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
START = np.array([4.0, 4.0, 0.0, 0.1, 0.0])
"""Weights before anything was seen: the paper's two cosines and a little habit."""
SHARPNESS = 8.0
LENGTH = 8_000
"""The queries a Hessian remembers: long enough to be steady, short enough to follow a model that matures."""
CAUTION = 1.0
"""Prior precision of each weight: it holds for the first few dozen queries."""


class Blend:
    """Weights of the clues, and the Hessian that says how sure they are."""

    def __init__(self, fitted: bool = True, levels: int = 1) -> None:
        self.fitted = fitted
        self.weights = np.zeros(0)
        self.hessian = np.zeros((0, 0))
        self.grow(levels)

    def grow(self, levels: int) -> None:
        """Clues of so many levels of products; those of a new one begin with no weight."""
        old, new = len(self.weights), levels * len(CLUES)
        if new <= old:
            return
        first = (START if self.fitted else PAPER) if old == 0 else np.zeros(0)
        weights, hessian = np.zeros(new), np.eye(new) * CAUTION
        weights[:old], weights[old : old + len(first)] = self.weights, first
        hessian[:old, :old] = self.hessian
        self.weights, self.hessian = weights, hessian

    def score(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        return features @ self.weights.astype(np.float32)

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
