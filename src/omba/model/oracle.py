"""Oracle: the learner's equations in plain NumPy and 64 bits, right and slow: tests hold the kernels to it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass
class PlainTable:
    """Vectors with their AdaGrad sums.

    Parameters
    ----------
    vectors
        One row a unit.
    squares
        The sums of squared gradients.
    """

    vectors: NDArray[np.float64]
    squares: NDArray[np.float64]

    def step(self, row: int, gradient: Vector, rate: float) -> None:
        """Eq. 9 upwards along the log likelihood, the squared gradient added before dividing."""
        self.squares[row] += gradient**2
        self.vectors[row] += rate * gradient / np.sqrt(self.squares[row])


def sigmoid(x: Any) -> float:
    return float(1.0 / (1.0 + np.exp(-x)))


def context(z: int, products: list[int], g: Vector, user: int, vectors: NDArray[np.float64], users: NDArray[np.float64],
            user_share: float) -> Vector:  # fmt: skip
    """h_z of Eq. 2 for the product at place z; with no other product or no user, the other half counts whole."""
    others = [i for i in range(len(products)) if i != z]
    if not others:
        return np.asarray(users[user])
    mean = sum(g[i] * vectors[products[i]] for i in others) / sum(g[i] for i in others)
    return np.asarray(mean if user < 0 else (1 - user_share) * mean + user_share * users[user])


def loss(target: Vector, h: Vector, negatives: NDArray[np.float64]) -> float:
    """L of Eq. 6."""
    return float(-np.log(sigmoid(target @ h)) - sum(np.log(sigmoid(-(n @ h))) for n in negatives))


def learn_basket(products: list[int], g: Vector, user: int, items: PlainTable, users: PlainTable,
                 drawn: list[list[int]], rate: float, user_share: float,
                 drawn_users: list[int] | None = None) -> None:  # fmt: skip
    """One basket, target by target, with the negatives drawn beforehand (those equal to the target left out)."""
    start = items.vectors[products].copy()
    gradients = np.zeros_like(start)
    for z, product in enumerate(products):
        frozen = items.vectors.copy()
        frozen[products] = start
        h = context(z, products, g, user, frozen, users.vectors, user_share).copy()
        live = items.vectors[product]
        slope = 1.0 - sigmoid(live @ h)
        gradients[z] += slope * h
        back = slope * live
        for negative in drawn[z]:
            slope = -sigmoid(items.vectors[negative] @ h)
            back = back + slope * items.vectors[negative]
            items.step(negative, slope * h, rate)
        own = 0.0 if user < 0 else user_share if len(products) > 1 else 1.0
        others = [i for i in range(len(products)) if i != z]
        for i in others:
            gradients[i] += (1.0 - own) * g[i] / sum(g[j] for j in others) * back
        if user >= 0:
            users.step(user, own * back, rate)
    if user >= 0 and drawn_users is not None:
        h = sum(g[i] * start[i] for i in range(len(products))) / g.sum()
        slope = 1.0 - sigmoid(users.vectors[user] @ h)
        back = slope * users.vectors[user]
        users.step(user, slope * h, rate)
        for negative in drawn_users:
            slope = -sigmoid(users.vectors[negative] @ h)
            back = back + slope * users.vectors[negative]
            users.step(negative, slope * h, rate)
        for i in range(len(products)):
            gradients[i] += g[i] / g.sum() * back
    for z, product in enumerate(products):
        items.step(product, gradients[z], rate)


def agreement(products: list[int], user: int, vectors: NDArray[np.float64], users: NDArray[np.float64]) -> float:
    """Ψ of Eq. 7 over all pairs of units."""
    units = [vectors[p] for p in products] + ([users[user]] if user >= 0 else [])
    return float(np.mean([sigmoid(a @ b) for i, a in enumerate(units) for b in units[i + 1 :]]))


def clues(candidate: int, seen: list[int], vectors: NDArray[np.float64], counts: NDArray[np.int64],
          taste: Vector | None, memory: dict[int, float], mass: float, sharpness: float,
          prior: float) -> dict[str, float]:  # fmt: skip
    """A candidate's clues by name: `seen` is the basket, `taste` the user's vector, `memory` what they bought."""
    share = (counts + 0.5) / (counts.sum() + 0.5 * len(counts))
    found = dict.fromkeys(("context", "user", "nearest", "habit"), 0.0)
    if seen:
        near = [cosine(vectors[candidate], vectors[j]) for j in seen]
        found["context"] = cosine(vectors[candidate], vectors[seen].mean(axis=0))
        found["nearest"] = float(np.log(np.mean(np.exp(sharpness * np.array(near)))) / sharpness)
    if taste is not None:
        found["user"] = cosine(vectors[candidate], taste)
        found["habit"] = float(np.log((memory.get(candidate, 0.0) / share[candidate] + prior) / (mass + prior)))
    return found | {"popularity": float(np.log(share[candidate]))}


def cosine(a: Vector, b: Vector) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def baskets(offsets: NDArray[np.int64], items: NDArray[np.int32]) -> list[list[int]]:
    """Compressed rows as lists."""
    return [items[first:after].tolist() for first, after in pairwise(offsets)]
