"""Space: products and users as vectors in one space, learned a window at a time (paper, section 4.2)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.model.blend import CLUES, SHARPNESS
from omba.model.kernels import describe, learn_baskets
from omba.model.memory import PRIOR, Memory
from omba.model.sampler import sampler
from omba.model.tables import Table

APART = 16
"""Words of 64 bits from one thread's random state to the next: two cache lines."""


@dataclass(frozen=True)
class Part:
    """A window in the rows of a space: each basket's products once and ascending, their weights, its user."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    weights: NDArray[np.float32]
    owners: NDArray[np.int32]


@dataclass(frozen=True)
class Pace:
    """How a space learns: the settings its kernels need."""

    negatives: int
    learning_rate: float
    tau: float
    epochs: int
    power: float
    user_share: float
    user_targets: bool
    threads: int
    adagrad: bool = True


class Space:
    """One level of products (or of their categories), with the users beside it."""

    def __init__(self, dim: int, seed: int, level: int, places: int) -> None:
        self.products, self.users = Table(dim, seed, 2 * level), Table(dim, seed, 2 * level + 1)
        self.memory = Memory(places)
        self.counts = np.zeros(0, np.int64)
        self.user_counts = np.zeros(0, np.int64)

    def grow(self, products: int, users: int) -> None:
        """Make room for new units."""
        self.products.grow(products)
        self.users.grow(users)
        self.memory.grow(users)
        self.counts = np.append(self.counts, np.zeros(products - len(self.counts), np.int64))
        self.user_counts = np.append(self.user_counts, np.zeros(users - len(self.user_counts), np.int64))

    def count(self, part: Part) -> None:
        """Take a window into the counts and the users' memory."""
        self.counts += np.bincount(part.items, minlength=len(self.counts))
        known = part.owners[part.owners >= 0]
        self.user_counts += np.bincount(known, minlength=len(self.user_counts))
        if self.memory.places and len(known):
            self.memory.learn(part.offsets, part.items, part.owners)

    def train(self, part: Part, pace: Pace, rng: np.random.Generator) -> None:
        """Learn a window in `epochs` passes. Several threads share the tables without locks (Hogwild)."""
        keep, other = sampler(self.counts, pace.power)
        user_keep, user_other = sampler(self.user_counts, pace.power)
        threads = max(1, min(pace.threads, len(part.owners) // 16))
        # Each thread's random state on a cache line of its own, or every draw would wait for the other thread's.
        states = np.zeros((threads, APART), np.uint64)[:, :2]
        states[:] = rng.integers(1, 2**63, size=(threads, 2))

        def learn(order: NDArray[np.int64], state: NDArray[np.uint64]) -> None:
            learn_baskets(
                order, part.offsets, part.items, part.weights, part.owners,
                self.products.vectors, self.products.squares, self.users.vectors, self.users.squares,
                keep, other, user_keep, user_other, pace.negatives, pace.learning_rate, pace.tau,
                pace.user_share, pace.user_targets, pace.adagrad, state,
            )  # fmt: skip

        # All passes of a thread in one call: nobody waits for the slower half after each pass.
        passes = [np.array_split(rng.permutation(len(part.owners)), threads) for _ in range(pace.epochs)]
        orders = [np.concatenate(shares) for shares in zip(*passes, strict=True)]
        if threads == 1:
            learn(orders[0], states[0])
            return
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(learn, orders, states))

    def describe(
        self,
        offsets: NDArray[np.int64],
        context: NDArray[np.int32],
        owners: NDArray[np.int32],
        candidates: NDArray[np.int32],
    ) -> NDArray[np.float32]:
        """The clues for every candidate of every query; rows of −1 are unknown and say nothing."""
        known = context >= 0
        offsets = np.concatenate([[0], np.cumsum(known)])[offsets]
        features = np.empty((*candidates.shape, len(CLUES)), np.float32)
        share = (self.counts + 0.5) / (self.counts.sum() + 0.5 * len(self.counts))
        describe(
            offsets, context[known], owners, candidates, self.products.vectors, self.users.vectors,
            share.astype(np.float32), self.memory.rows, self.memory.strength, self.memory.mass,
            SHARPNESS, PRIOR, features,
        )  # fmt: skip
        return features

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything learned, as arrays."""
        users = self.users.size
        return {
            "products": self.products.vectors,
            "squares": self.products.squares,
            "users": self.users.vectors,
            "user_squares": self.users.squares,
            "counts": self.counts,
            "user_counts": self.user_counts,
            "memory_rows": self.memory.rows[:users],
            "memory_strength": self.memory.strength[:users],
            "memory_mass": self.memory.mass[:users],
        }

    def load(self, state: dict[str, NDArray[Any]]) -> None:
        self.products.load(state["products"], state["squares"])
        self.users.load(state["users"], state["user_squares"])
        self.counts, self.user_counts = state["counts"], state["user_counts"]
        memory = self.memory
        memory.rows, memory.strength = state["memory_rows"], state["memory_strength"]
        memory.mass = state["memory_mass"]
