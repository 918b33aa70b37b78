"""Space: products and users as vectors in one space, learned a window at a time (paper, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.model.clue_kernels import describe
from omba.model.clues import CLUES, RECENT, SHARPNESS
from omba.model.kernels import learn_baskets
from omba.model.memory import PRIOR, Memory
from omba.model.row_index import roll_up
from omba.model.sampler import sampler
from omba.model.tables import VectorTable
from omba.model.workers import Job, run

TOGETHER, PLACES = 4, 16
"""Targets that are told from the same negatives, and places in which negatives stand ready: of so many targets in
succession, none has those of another."""
APART = 16
"""Words of 64 bits from one thread's random state to the next: two cache lines."""


@dataclass(frozen=True)
class WindowRows:
    """A window in the rows of a space.

    Parameters
    ----------
    offsets
        Where each basket begins in `items`, and the end of the last.
    items
        The products of all baskets, each once in a basket and ascending.
    weights
        How much each of them counts in the mean of its basket.
    users
        The user of each basket, −1 for none.
    days
        The day of each basket; without a clock, the number of the window.
    prices
        What each product cost, where that is known.
    """

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    weights: NDArray[np.float32]
    users: NDArray[np.int32]
    days: NDArray[np.int32]
    prices: NDArray[np.floating] | None = None

    def roll_up(self, parents: NDArray[np.int32]) -> WindowRows:
        """The same baskets as baskets of categories, given the category of each product; all weigh alike."""
        offsets, items = roll_up(self.offsets, self.items, parents)
        return WindowRows(offsets, items, np.ones(len(items), np.float32), self.users, self.days)


@dataclass(frozen=True)
class QueryRows:
    """Queries in the rows of a space: which of the candidates goes with this basket and this user?

    Parameters
    ----------
    offsets
        Where the basket of each query begins in `context`, and the end of the last.
    context
        The products of all baskets, −1 for one that is not known.
    users
        The user of each query, −1 for none.
    candidates
        The candidates of each query, (queries, candidates), −1 for one that is not known.
    """

    offsets: NDArray[np.int64]
    context: NDArray[np.int32]
    users: NDArray[np.int32]
    candidates: NDArray[np.int32]

    def roll_up(self, parents: NDArray[np.int32]) -> QueryRows:
        """The same queries about categories, given the category of each product."""
        above = np.append(parents, np.int32(-1))
        return QueryRows(self.offsets, above[self.context], self.users, above[self.candidates])


@dataclass(frozen=True)
class Pace:
    """How a space learns: the settings its kernels need.

    Parameters
    ----------
    negatives, learning_rate, tau, epochs, power, user_share, user_targets, threads
        As in `omba.settings`.
    adagrad
        Whether steps are divided by the root of the squared gradients so far (Eq. 9); without, it is plain SGD.
    together
        Targets that are told from the same negatives.
    """

    negatives: int
    learning_rate: float
    tau: float
    epochs: int
    power: float
    user_share: float
    user_targets: bool
    threads: int
    adagrad: bool = True
    together: int = TOGETHER


class Space:
    """One level of products (or of their categories), with the users beside it.

    Parameters
    ----------
    dim, seed
        As of `VectorTable`.
    level
        0 for products, 1 for their categories.
    places
        Products remembered of each user.
    """

    def __init__(self, dim: int, seed: int, level: int, places: int) -> None:
        self.products, self.users = VectorTable(dim, seed, 2 * level), VectorTable(dim, seed, 2 * level + 1)
        self.memory = Memory(places)
        self.counts = np.zeros(0, np.int64)
        self.user_counts = np.zeros(0, np.int64)
        self.recent = np.zeros(0)
        """Sales that fade from day to day."""
        self.company = np.zeros(0, np.int64)
        """The sizes of all baskets that a product was in, added up."""
        self.today = 0
        """The last day that was counted."""
        self._sales: tuple[NDArray[np.float32], ...] | None = None

    def grow(self, products: int, users: int) -> None:
        """Make room for new units."""
        self.products.grow(products)
        self.users.grow(users)
        self.memory.grow(users)
        self._sales = None
        self.counts = np.append(self.counts, np.zeros(products - len(self.counts), np.int64))
        self.user_counts = np.append(self.user_counts, np.zeros(users - len(self.user_counts), np.int64))
        self.recent = np.append(self.recent, np.zeros(products - len(self.recent)))
        self.company = np.append(self.company, np.zeros(products - len(self.company), np.int64))

    def count(self, window: WindowRows) -> None:
        """Add a window to the counts and to the users' memory."""
        self.count_sold(window)
        self.remember(window)

    def count_sold(self, window: WindowRows) -> None:
        """Add a window to the counts, by which negatives are drawn."""
        if len(window.days):
            sold, sizes = count_items(window.offsets, window.items, len(self.counts))
            self.count_sales(sold, sizes, int(window.days.min()), int(window.days.max()))
        known = window.users[window.users >= 0]
        self.user_counts += np.bincount(known, minlength=len(self.user_counts))

    def remember(self, window: WindowRows) -> None:
        """Add a window to the users' memory."""
        if self.memory.places and (window.users >= 0).any():
            self.memory.learn(window.offsets, window.items, window.users, window.days)

    def count_sales(self, sold: NDArray[np.int64], sizes: NDArray[np.int64], first: int, last: int) -> None:
        """Add what was sold from one day to another, and the sizes of the baskets it was in; what was sold before
        fades."""
        if self.counts.any():
            self.recent *= RECENT ** min(max(first - self.today, 0), 1_000)
        self._sales = None
        self.company += sizes
        self.counts += sold
        self.recent += sold
        self.today = max(self.today, last)

    def train(self, window: WindowRows, pace: Pace, rng: np.random.Generator) -> None:
        """Learn a window in `epochs` passes. Several threads share the tables without locks (Hogwild)."""
        run(self.passes(window, pace, rng), pace.threads)

    def passes(self, window: WindowRows, pace: Pace, rng: np.random.Generator) -> list[Job]:
        """The passes over a window, one job a thread; every random number they need is drawn here."""
        # Laid by the thread that comes first, beside whatever the others do.
        tables = cache(partial(self._samplers, pace.power, pace.user_targets))
        threads = max(1, min(pace.threads, len(window.users) // 16))
        # Each thread's random state on a cache line of its own, or every draw would wait for the other thread's.
        states = np.zeros((threads, APART), np.uint64)[:, :2]
        states[:] = rng.integers(1, 2**63, size=(threads, 2))

        def learn(order: NDArray[np.int64], state: NDArray[np.uint64]) -> None:
            learn_baskets(
                order, window.offsets, window.items, window.weights, window.users,
                self.products.vectors, self.products.squares, self.users.vectors, self.users.squares,
                *tables(), pace.negatives, pace.learning_rate, pace.tau,
                pace.user_share, pace.user_targets, pace.adagrad, pace.together, PLACES, state,
            )  # fmt: skip

        # All passes of a thread in one call, so that no thread waits for a slower one after each pass.
        shares = [np.array_split(rng.permutation(len(window.users)), threads) for _ in range(pace.epochs)]
        orders = [np.concatenate(mine) for mine in zip(*shares, strict=True)]
        return [partial(learn, order, state) for order, state in zip(orders, states, strict=True)]

    def _samplers(
        self, power: float, user_targets: bool
    ) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.float32], NDArray[np.int32]]:
        """The tables by which negatives are drawn, of products and users; where users are no targets, one is enough."""
        return *sampler(self.counts, power), *sampler(self.user_counts if user_targets else self.user_counts[:1], power)

    def describe(
        self, queries: QueryRows, features: NDArray[np.float32] | None = None, at: int = 0
    ) -> NDArray[np.float32]:
        """The clues of every candidate of every query, (queries, candidates, clues); where there are features to write
        them to, from column `at` on."""
        known = queries.context >= 0
        offsets = np.concatenate([[0], np.cumsum(known)])[queries.offsets]
        if features is None:
            features = np.empty((*queries.candidates.shape, len(CLUES)), np.float32)
        describe(
            offsets, queries.context[known], queries.users, queries.candidates,
            self.products.vectors, self.users.vectors,
            *self.sales(), self.memory.habits(), self.today + 1,
            SHARPNESS, PRIOR, at, features,
        )  # fmt: skip
        return features

    def sales(self) -> tuple[NDArray[np.float32], ...]:
        """The share of all sales of each product, its trend, the log of how much larger than usual the baskets are that
        it is in, and the log of the share; worked out once until more is counted."""
        if self._sales is None:
            share = self.shares()
            trend = np.log((self.recent + PRIOR) / (share * self.recent.sum() + PRIOR))
            usual = max(float(self.company.sum()), 1.0) / max(float(self.counts.sum()), 1.0)
            company = np.log((self.company / usual + PRIOR) / (self.counts + PRIOR))
            found = share, trend, company, np.log(share)
            self._sales = tuple(each.astype(np.float32) for each in found)
        return self._sales

    def shares(self) -> NDArray[np.float64]:
        """The share of all sales of each product, as if each had been sold half a time more."""
        return np.asarray((self.counts + 0.5) / (self.counts.sum() + 0.5 * len(self.counts)))

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything learned, as arrays."""
        users = self.users.size
        memory = {f"memory_{name}": array for name, array in self.memory.state(users).items()}
        return memory | {
            "products": self.products.vectors,
            "squares": self.products.squares,
            "users": self.users.vectors,
            "user_squares": self.users.squares,
            "counts": self.counts,
            "user_counts": self.user_counts,
            "recent": self.recent,
            "company": self.company,
            "today": np.array([self.today]),
        }

    def load(self, state: dict[str, NDArray[Any]]) -> None:
        """The reverse of `state`."""
        self.products.load(state["products"], state["squares"])
        self.users.load(state["users"], state["user_squares"])
        self.counts, self.user_counts = state["counts"], state["user_counts"]
        self.recent, self.today, self._sales = state["recent"], int(state["today"][0]), None
        # Snapshots of before sizes were counted: no product is in larger baskets than another.
        self.company = state.get("company", self.counts.copy())
        self.memory.load({name.removeprefix("memory_"): state[name] for name in state if name.startswith("memory_")})


def count_items(
    offsets: NDArray[np.int64], items: NDArray[np.int32], rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """In how many baskets each row is, and the sizes of those baskets added up."""
    sizes = np.diff(offsets)
    total = np.bincount(items, weights=np.repeat(sizes, sizes), minlength=rows)
    return np.bincount(items, minlength=rows), total.astype(np.int64)
