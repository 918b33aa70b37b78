"""Planting: which products of a synthetic world belong together, and the rows that come of it, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Rows = tuple[Ints, Ints]
"""The baskets and the products of rows."""

BACKGROUND, HABITS, FAVOURITES = 5.0, 1.5, 5
"""Products of the background and of habit in a basket, on average; favourites of a user."""
TOGETHER, APART = 0.01, 0.004
"""How often a basket holds a planted pair, and one of the pair alone."""
RARE = 12
"""Baskets that hold a rare pair, on average and whatever the size of the world."""
DEAR = 20.0
"""How much dearer the products of a rare pair are."""


@dataclass(frozen=True)
class WorldPlan:
    """Who goes with whom. A pair is a row of two products."""

    complementary: Ints
    rare: Ints
    bridged: Ints
    bridges: Ints
    seasonal: Ints
    seasons: Ints
    """First day of each seasonal pair, and the day after its last."""
    background: Ints
    popularity: NDArray[np.float64]
    """Cumulative, over the background."""
    favourites: Ints
    """A row a user."""
    prices: NDArray[np.float64]
    rarity: float
    """The share of baskets that hold a given rare pair."""


def make_plan(baskets: int, products: int, users: int, days: int, pairs: int, random: np.random.Generator) -> WorldPlan:
    """Draw the plan: each product has one part in it, and nine for each of `pairs` are planted."""
    shuffled = random.permutation(products)
    planted = shuffled[: 8 * pairs].reshape(4, pairs, 2)
    background = shuffled[9 * pairs :]
    weights = 1.0 / (np.arange(len(background)) + 10.0)
    prices = random.lognormal(1.0, 0.5, products)
    prices[planted[1]] *= DEAR
    length = days // 3
    begins = random.integers(0, days - length + 1, pairs)
    return WorldPlan(
        complementary=planted[0],
        rare=planted[1],
        bridged=planted[2],
        bridges=shuffled[8 * pairs : 9 * pairs],
        seasonal=planted[3],
        seasons=np.stack([begins, begins + length], axis=1),
        background=background,
        popularity=np.cumsum(weights / weights.sum()),
        favourites=random.choice(background, (users, FAVOURITES)),
        prices=prices,
        rarity=RARE / baskets,
    )


def make_rows(plan: WorldPlan, users: Ints, days: Ints, random: np.random.Generator) -> Rows:
    """The rows of as many baskets as there are users given, basket by basket, each product once a basket."""
    n = len(users)
    parts = [
        _background(plan, n, random),
        _habits(plan, users, random),
        _both(plan.complementary, TOGETHER, n, random),
        _either(plan.complementary, APART, n, random),
        _both(plan.rare, plan.rarity, n, random),
        _bridge_rows(plan, n, random),
        _seasonal(plan, days, random),
    ]
    basket, product = (np.concatenate(column) for column in zip(*parts, strict=True))
    products = len(plan.prices)
    keys = np.unique(basket * products + product)
    basket, product = keys // products, keys % products
    order = np.lexsort((random.random(len(keys)), basket))
    return basket[order], product[order]


def _background(plan: WorldPlan, n: int, random: np.random.Generator) -> Rows:
    basket = np.repeat(np.arange(n), 1 + random.poisson(BACKGROUND - 1, n))
    place = np.searchsorted(plan.popularity, random.random(len(basket)) * plan.popularity[-1])
    return basket, plan.background[place]


def _habits(plan: WorldPlan, users: Ints, random: np.random.Generator) -> Rows:
    basket = np.repeat(np.arange(len(users)), random.poisson(HABITS, len(users)))
    return basket, plan.favourites[users[basket], random.integers(FAVOURITES, size=len(basket))]


def _events(pairs: Ints, rate: float, n: int, random: np.random.Generator) -> Rows:
    """Baskets, and which of the pairs befalls each."""
    count = random.poisson(rate * n * len(pairs))
    return random.integers(n, size=count), random.integers(max(1, len(pairs)), size=count)


def _both(pairs: Ints, rate: float, n: int, random: np.random.Generator) -> Rows:
    basket, which = _events(pairs, rate, n, random)
    return np.repeat(basket, 2), pairs[which].ravel()


def _either(pairs: Ints, rate: float, n: int, random: np.random.Generator) -> Rows:
    basket, which = _events(pairs, rate, n, random)
    return basket, pairs[which, random.integers(2, size=len(which))]


def _bridge_rows(plan: WorldPlan, n: int, random: np.random.Generator) -> Rows:
    basket, which = _events(plan.bridged, 2 * TOGETHER, n, random)
    # The side is the basket's own, so that a pair does not meet where the die falls on it twice.
    side = plan.bridged[which, (basket + which) % 2]
    return np.repeat(basket, 2), np.stack([side, plan.bridges[which]], axis=1).ravel()


def _seasonal(plan: WorldPlan, days: Ints, random: np.random.Generator) -> Rows:
    basket, which = _events(plan.seasonal, 2 * TOGETHER, len(days), random)
    first, after = plan.seasons[which].T
    season = (first <= days[basket]) & (days[basket] < after)
    alone = plan.seasonal[which[~season], random.integers(2, size=int((~season).sum()))]
    together = plan.seasonal[which[season]].ravel()
    return np.concatenate([np.repeat(basket[season], 2), basket[~season]]), np.concatenate([together, alone])
