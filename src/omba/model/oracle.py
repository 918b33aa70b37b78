"""Oracle: the learner's equations in plain NumPy and 64 bits, right and slow: tests hold the kernels to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import log
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

    def step(self, row: int, gradient: Vector, rate: float, uses: int = 1) -> None:
        """Eq. 9 upwards along the log likelihood, the squared gradient added before dividing; one that was summed over
        some uses counts as so many."""
        self.squares[row] += gradient**2 / uses
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
                 drawn_users: list[int] | None = None, places: int = 0) -> None:  # fmt: skip
    """One basket, target by target, with the negatives drawn beforehand (those equal to the target left out).

    Where there are places, targets take those in turn, and the negatives of a place step once, when all are through.
    """
    start = items.vectors[products].copy()
    gradients = np.zeros_like(start)
    pushes = [np.zeros((len(few), start.shape[1])) for few in drawn[:places]]
    for z, product in enumerate(products):
        frozen = items.vectors.copy()
        frozen[products] = start
        h = context(z, products, g, user, frozen, users.vectors, user_share).copy()
        live = items.vectors[product]
        slope = 1.0 - sigmoid(live @ h)
        gradients[z] += slope * h
        back = slope * live
        few = drawn[z % places if places else z]
        slopes = np.array([-sigmoid(items.vectors[negative] @ h) for negative in few])
        back = back + slopes @ items.vectors[few]
        if places:
            pushes[z % places] += np.outer(slopes, h)
        else:
            for negative, push in zip(few, np.outer(slopes, h), strict=True):
                items.step(negative, push, rate)
        own = 0.0 if user < 0 else user_share if len(products) > 1 else 1.0
        others = [i for i in range(len(products)) if i != z]
        for i in others:
            gradients[i] += (1.0 - own) * g[i] / sum(g[j] for j in others) * back
        if user >= 0:
            users.step(user, own * back, rate)
    if user >= 0 and drawn_users is not None:
        h = sum(g[i] * start[i] for i in range(len(products))) / g.sum()
        slope = 1.0 - sigmoid(users.vectors[user] @ h)
        slopes = np.array([-sigmoid(users.vectors[negative] @ h) for negative in drawn_users])
        back = slope * users.vectors[user] + slopes @ users.vectors[drawn_users]
        users.step(user, slope * h, rate)
        for negative, push in zip(drawn_users, np.outer(slopes, h), strict=True):
            users.step(negative, push, rate)
        for i in range(len(products)):
            gradients[i] += g[i] / g.sum() * back
    for z, product in enumerate(products):
        items.step(product, gradients[z], rate)
    for k, few in enumerate(drawn[:places]):
        for r, negative in enumerate(few):
            items.step(negative, pushes[k][r], rate, len(products[k::places]))


def agreement(products: list[int], user: int, vectors: NDArray[np.float64], users: NDArray[np.float64]) -> float:
    """Ψ of Eq. 7 over all pairs of units."""
    units = [vectors[p] for p in products] + ([users[user]] if user >= 0 else [])
    return float(np.mean([sigmoid(a @ b) for i, a in enumerate(units) for b in units[i + 1 :]]))


def clues(candidate: int, seen: list[int], vectors: NDArray[np.float64], counts: NDArray[np.int64],
          taste: Vector | None, sharpness: float) -> dict[str, float]:  # fmt: skip
    """A candidate's clues of vectors and sales, by name: `seen` is the basket, `taste` the user's vector."""
    found = dict.fromkeys(("context", "user", "nearest"), 0.0)
    if seen:
        near = [cosine(vectors[candidate], vectors[j]) for j in seen]
        found["context"] = cosine(vectors[candidate], vectors[seen].mean(axis=0))
        found["nearest"] = float(np.log(np.mean(np.exp(sharpness * np.array(near)))) / sharpness)
    if taste is not None:
        found["user"] = cosine(vectors[candidate], taste)
    return found | {"popularity": log(shares(counts)[candidate])}


def shares(counts: NDArray[np.int64]) -> Vector:
    """The share of all sales of each product."""
    return np.asarray((counts + 0.5) / (counts.sum() + 0.5 * len(counts)))


@dataclass
class PlainPlace:
    """One remembered product of a user.

    Parameters
    ----------
    strength
        How much of it was bought lately: each purchase counts one and fades from visit to visit.
    count
        In how many baskets it was.
    first_day
        The day it was first bought.
    last_visit
        The number of the user's visit that held it last.
    last_day
        The day of that visit.
    """

    strength: float
    count: int
    first_day: int
    last_visit: int = 0
    last_day: int = 0


@dataclass
class PlainUser:
    """What is kept of a user: at most `places` products, each with a strength, a count, and when; no basket.

    Parameters
    ----------
    places
        Products remembered.
    fading
        What is left of a strength one visit later.
    known
        The remembered products.
    visits
        Baskets of the user so far.
    bought
        Products in all of them.
    repeated
        How many of those were remembered when they were bought.
    mass
        Products bought, fading as strengths do.
    """

    places: int
    fading: float
    known: dict[int, PlainPlace] = field(default_factory=dict)
    visits: int = 0
    bought: int = 0
    repeated: int = 0
    mass: float = 0.0

    def visit(self, products: list[int], day: int) -> None:
        """Everything fades, what was bought gains one; a new product takes the weakest place when all are taken."""
        for place in self.known.values():
            place.strength *= self.fading
        self.mass = self.mass * self.fading + len(products)
        self.visits += 1
        self.bought += len(products)
        for product in products:
            if product in self.known:
                self.repeated += 1
            else:
                if len(self.known) == self.places:
                    del self.known[min(self.known, key=lambda p: self.known[p].strength)]
                self.known[product] = PlainPlace(0.0, 0, day)
            place = self.known[product]
            place.strength += 1.0
            place.count += 1
            place.last_visit, place.last_day = self.visits, day

    def clues(self, product: int, share: float, now: int, prior: float) -> dict[str, float]:
        """The clues of the user's own past. Of a product that is not remembered, `habit` and `slow` have a count of 0,
        and all others are 0."""
        place = self.known.get(product, PlainPlace(0.0, 0, 0))
        found = {
            "habit": log((place.strength / share + prior) / (self.mass + prior)),
            "slow": log((place.count / share + prior) / (self.bought + prior)),
        }
        if product not in self.known:
            return found
        if place.count > 1:
            between = (place.last_day - place.first_day) / (place.count - 1)
            found["rhythm"] = log((max(now - place.last_day, 0) + 0.5) / (between + 0.5))
            found["between"] = log(between + 1)
        return found | {
            "bought": 1.0,
            "visit_share": log(place.count / self.visits),
            "since_visits": -log(self.visits - place.last_visit + 1),
            "since_days": -log(1 + max(now - place.last_day, 0)),
            "once": float(place.count == 1),
            "visits": log(self.visits),
            "repeats": log((self.repeated + 1) / (self.bought - self.repeated + 1)),
        }


def lift(pairs: list[int], counts: list[int], count: int, baskets: int, prior: float) -> float:
    """The highest log lift of a product (in `count` baskets) with those of a basket (in `counts`), with which it was
    bought `pairs` times, both sides shrunk; nothing is said without a basket."""
    return max(
        (log((n + prior) / (c * count / baskets + prior)) for n, c in zip(pairs, counts, strict=True)), default=0.0
    )


def trend(recent: float, all_recent: float, share: float, prior: float) -> float:
    """Sales of late against what the product's share of all time promises."""
    return log((recent + prior) / (share * all_recent + prior))


def company(sizes: int, count: int, all_sizes: int, all_counts: int, prior: float) -> float:
    """How much larger than usual the baskets of a product are, of which `sizes` is the sum."""
    return log((sizes / (all_sizes / all_counts) + prior) / (count + prior))


def candidates(targets: list[int], remembered: list[int], found: list[int], drawn: list[int], chance: Vector,
               inside: list[int]) -> list[tuple[int, float]]:  # fmt: skip
    """(product, log of how many it stands for): those certain to be looked at stand for themselves, a drawn one for
    1/(draws · chance) others; products of the basket are none."""
    certain = [c for c in dict.fromkeys([*targets, *remembered, *found]) if c not in inside]
    rest = [c for c in drawn if c not in certain and c not in inside]
    return [(c, 0.0) for c in certain] + [(c, -log(len(drawn) * chance[c])) for c in rest]


def newton(weights: Vector, hessian: NDArray[np.float64], length: float, ridge: float,
           halvings: int, queries: list[tuple[NDArray[np.float64], Vector, Vector]]) -> Vector:  # fmt: skip
    """A blend's step on queries (clues, log weights, targets' shares), halved until the answers are no worse."""
    gradient, curvature = np.zeros_like(weights), np.zeros_like(hessian)
    for x, log_weights, target in queries:
        utility = x @ weights + log_weights
        p = np.exp(utility - utility.max())
        p /= p.sum()
        gradient += (target - p) @ x
        curvature += (x * p[:, None]).T @ x - np.outer(p @ x, p @ x)
    prior = max(0.0, 1.0 - len(queries) / length) * hessian
    step = np.linalg.solve(prior + curvature + ridge * np.eye(len(weights)), gradient)
    for _ in range(halvings):
        if _worth(weights + step, queries) - 0.5 * step @ prior @ step >= _worth(weights, queries):
            return np.asarray(weights + step)
        step = step / 2
    return weights


def _worth(weights: Vector, queries: list[tuple[NDArray[np.float64], Vector, Vector]]) -> float:
    """The log-likelihood of the targets, one by one."""
    total = 0.0
    for x, log_weights, target in queries:
        utility = x @ weights + log_weights
        total += sum(t * (u - np.logaddexp.reduce(utility)) for t, u in zip(target, utility, strict=True) if t > 0)
    return total


def log_likelihood(utility: NDArray[np.float64], targets: NDArray[np.float64] | None) -> float:
    """How well utilities, (queries, candidates), tell the targets: Σ share · log p; without shares the target stands in
    column 0."""
    highest = utility.max(axis=1, keepdims=True)
    total = highest[:, 0] + np.log(np.exp(utility - highest).sum(axis=1))
    if targets is None:
        return float((utility[:, 0] - total).sum())
    wanted = targets > 0
    return float((targets[wanted] * (utility - total[:, None])[wanted]).sum())


def slopes(weights: NDArray[np.float64], clues: NDArray[np.float64], given: NDArray[np.float64]) -> NDArray[np.float64]:
    """The gradient of the mean log likelihood of a network's queries by all weights, (clues + 2, units)."""
    queries, candidates, n = clues.shape
    rows = clues.reshape(-1, n)
    hidden = rows @ weights[:-2] + weights[-2]
    active = np.maximum(hidden, 0.0)
    utility = (active @ weights[-1]).reshape(queries, candidates) + given
    chance = np.exp(utility - utility.max(axis=1, keepdims=True))
    missing = -chance / chance.sum(axis=1, keepdims=True)
    missing[:, 0] += 1.0
    missing = (missing / queries).reshape(-1, 1)
    back = missing * weights[-1] * (hidden > 0)
    return np.concatenate([rows.T @ back, back.sum(axis=0)[None], (active.T @ missing).T])


@dataclass
class PlainAdam:
    """A network's weights with their means over steps, learned by Adam (Kingma and Ba, 2015).

    Parameters
    ----------
    weights, average
        The weights, and their mean over the last steps.
    gradients, squares
        The means of their gradients and of the squares of those.
    """

    weights: NDArray[np.float64]
    average: NDArray[np.float64]
    gradients: NDArray[np.float64]
    squares: NDArray[np.float64]

    def step(
        self, slope: NDArray[np.float64], steps: int, rate: float, first: float, second: float, tiny: float, kept: float
    ) -> None:
        """The step of that number."""
        self.gradients = first * self.gradients + (1.0 - first) * slope
        self.squares = second * self.squares + (1.0 - second) * slope**2
        pace = rate * np.sqrt(1.0 - second**steps) / (1.0 - first**steps)
        self.weights = self.weights + pace * self.gradients / (np.sqrt(self.squares) + tiny)
        stays = min(kept, steps / (steps + 10.0))
        self.average = stays * self.average + (1.0 - stays) * self.weights


def cosine(a: Vector, b: Vector) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def baskets(offsets: NDArray[np.int64], items: NDArray[np.int32]) -> list[list[int]]:
    """Compressed rows as lists."""
    return [items[first:after].tolist() for first, after in pairwise(offsets)]
