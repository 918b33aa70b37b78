"""A synthetic world: seeded, of any size, and with a planted truth that a method should find.

Most of a basket is background: products by popularity (a power law), and the user's habits. Into it are planted
complementary pairs; rare and dear pairs; pairs that never meet but share a bridge (a with x, b with x, never a
with b); and pairs that belong together in a season only, and are bought apart for the rest of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from omba.baskets import Baskets, Label
from omba.datasets.planting import FAVOURITES, Ints, WorldPlan, make_plan, make_rows
from omba.errors import SettingError
from omba.sources import read_baskets

Pair = tuple[Label, Label]

START = np.datetime64("2017-01-01", "us")
STORES = 5
CHUNK = 200_000
"""Baskets made at a time."""


@dataclass(frozen=True)
class Truth:
    """What was planted.

    Parameters
    ----------
    complementary, rare, bridged, seasonal
        Pairs of products by kind.
    bridges
        The bridge of each bridged pair.
    seasons
        Of each seasonal pair the first day, and the day after its last, counted from the start.
    habits
        The favourites of each user.
    """

    complementary: list[Pair]
    rare: list[Pair]
    bridged: list[Pair]
    bridges: list[Label]
    seasonal: list[Pair]
    seasons: list[tuple[int, int]]
    habits: dict[Label, list[Label]]


@dataclass(frozen=True)
class World:
    """A world by its size and seed, made when it is asked for: all at once, or a chunk at a time.

    Parameters
    ----------
    n_baskets, n_products, n_users, n_days
        Its size.
    n_pairs
        How many pairs of each kind are planted.
    seed
        The same seed gives the same world.
    """

    n_baskets: int
    n_products: int
    n_users: int
    n_days: int
    n_pairs: int
    seed: int

    @cached_property
    def baskets(self) -> Baskets:
        """The whole world as baskets."""
        return read_baskets(pa.concat_tables(self.tables()))

    @cached_property
    def truth(self) -> Truth:
        """The planted truth, in labels."""
        products, plan = _labels("p", self.n_products), self._plan

        def pairs(kind: Ints) -> list[Pair]:
            return [(products[a], products[b]) for a, b in kind.tolist()]

        favourites = zip(_labels("u", self.n_users), plan.favourites.tolist(), strict=True)
        return Truth(
            complementary=pairs(plan.complementary),
            rare=pairs(plan.rare),
            bridged=pairs(plan.bridged),
            bridges=[products[x] for x in plan.bridges.tolist()],
            seasonal=pairs(plan.seasonal),
            seasons=[(first, after) for first, after in plan.seasons.tolist()],
            habits={user: [products[p] for p in mine] for user, mine in favourites},
        )

    def tables(self) -> Iterator[pa.Table]:
        """The long form, a chunk at a time. Each chunk spans all days, so the whole is not in time order."""
        for first in range(0, self.n_baskets, CHUNK):
            yield self._table(first, min(CHUNK, self.n_baskets - first))

    def write(self, path: str | Path) -> None:
        """Write the long form to a Parquet file, whatever its size, in little memory."""
        tables = self.tables()
        head = next(tables)
        with parquet.ParquetWriter(str(path), head.schema) as writer:
            writer.write_table(head)
            for table in tables:
                writer.write_table(table)

    @cached_property
    def _plan(self) -> WorldPlan:
        random = np.random.default_rng([self.seed, 0])
        return make_plan(self.n_baskets, self.n_products, self.n_users, self.n_days, self.n_pairs, random)

    def _table(self, first: int, count: int) -> pa.Table:
        random = np.random.default_rng([self.seed, 1, first])
        users = (self.n_users * random.random(count) ** 1.5).astype(np.int64)
        days = random.integers(self.n_days, size=count)
        seconds = random.integers(8 * 3_600, 20 * 3_600, size=count)
        times = START + (days * 86_400 + seconds).astype("timedelta64[s]")
        basket, product = make_rows(self._plan, users, days, random)
        price = self._plan.prices[product] * random.normal(1.0, 0.05, len(product))
        return pa.table(
            {
                "basket_id": basket + first,
                "product": _dictionary(product, _labels("p", self.n_products)),
                "user_id": _dictionary(users[basket], _labels("u", self.n_users)),
                "timestamp": times[basket],
                "price": np.round(np.maximum(price, 0.01), 2),
                "quantity": 1 + (random.random(len(product)) < 0.2),
                "store_id": users[basket] % STORES,
            }
        )


def synthetic(
    baskets: int = 20_000, products: int = 500, users: int = 500, days: int = 90, pairs: int = 10, seed: int = 0
) -> World:
    """A world of so many baskets, with `pairs` pairs of each kind planted.

    Parameters
    ----------
    baskets, products, users, days
        The size of the world: 1 basket or more, 1 user, 3 days, and 9 products or more for each pair and some.
    pairs
        How many pairs of each kind are planted; 0 or more.
    seed
        The same seed makes the same world; 0 or more.

    >>> world = synthetic(baskets=2_000, seed=1)
    >>> len(world.baskets), len(world.truth.bridged)
    (2000, 10)
    """
    bounds = {"baskets": (baskets, 1), "users": (users, 1), "days": (days, 3), "pairs": (pairs, 0)}
    for name, (value, least) in (bounds | {"products": (products, 9 * pairs + 2 * FAVOURITES)}).items():
        if value < least:
            raise SettingError(f"a world with {value} {name} is too small: give {least} or more")
    return World(baskets, products, users, days, pairs, seed)


def _labels(letter: str, count: int) -> list[str]:
    return [f"{letter}{number:0{len(str(count - 1))}}" for number in range(count)]


def _dictionary(codes: Ints, labels: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(labels))
