"""Payload builder: what each part is sent of the driver's tables, and where in them its results belong.

A part gets the rows of its own products and users, and those its negatives are drawn from. Up to `POOL` products,
these are all products. Beyond that the driver draws `POOL` of them by the chances of the sampler for each part and
window, and the part draws from these: each product comes up as often as before, and what travels stays bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.model.sampler import sampler
from omba.model.space import Space
from omba.spark.census import Census, Share
from omba.spark.payload import Arrays, label_bytes

if TYPE_CHECKING:
    from omba.spark.omba import OMBA

POOL = 1 << 14
"""Draws of the pool of negatives; a day of Complete Journey draws 80,000 in all."""
Rows = NDArray[np.int64]


class PayloadBuilder:
    """Builds the payload of each part, and remembers which rows of the driver's tables its results belong to.

    After `payloads`, `rows` holds the rows of each part's product table, `held` and `sets` the places of the
    forecast's pairs and of the triples that it counts.

    Parameters
    ----------
    products
        The rows of the products in each part, by its number.
    users
        The rows of the users in each part.
    power_law
        Exponent and clip of the value weights.
    day
        Ticks of the window's clock in a day; 0 where it has none.
    """

    def __init__(
        self, products: dict[int, Rows], users: dict[int, Rows], power_law: tuple[float, float], day: int
    ) -> None:
        self.products, self.users, self.power_law, self.day = products, users, power_law, day
        self.rows: list[Rows] = []
        self.held: list[Rows] = []
        self.sets: list[Rows] = []

    def product_counts(self, census: Census, products: int) -> NDArray[np.int64]:
        """The window's baskets with each product."""
        counts = np.zeros(products, np.int64)
        for part, share in census.shares.items():
            counts[self.products[part]] += share.counts
        return counts

    def payloads(self, model: OMBA, census: Census, queries: tuple[int, int]) -> dict[int, Arrays]:
        """The payload of each part; `queries` is how many baskets it gives back to weigh the clues by, for
        the question among candidates and for those over the whole catalogue."""
        counts = model.spaces[0].counts + self.product_counts(census, len(model.spaces[0].counts))
        # Categories are counted by basket, which the census cannot: their negatives go by the windows before.
        drawn_by = [counts, *(space.counts for space in model.spaces[1:])]
        return {part: self._payload(model, part, share, drawn_by, queries) for part, share in census.shares.items()}

    def _payload(
        self, model: OMBA, part: int, share: Share, drawn_by: list[NDArray[np.int64]], queries: tuple[int, int]
    ) -> Arrays:
        products, users = self.products[part], self.users[part]
        rng = np.random.default_rng([model.seed, model.n_windows, part, 2])
        payload: Arrays = {"seed": np.array([model.seed, model.n_windows, part]), "queries": np.array(queries)}
        payload |= level(model.spaces[0], 0, products, users, share.visits, drawn_by[0], model.power, rng)
        rows = payload["level0.rows"]
        self.rows.append(rows)
        if len(model.spaces) > 1:
            parents = model.hierarchy.parents[rows].astype(np.int64)
            above = np.unique(parents[np.searchsorted(rows, products)])
            touched = above[above >= 0]
            payload |= level(model.spaces[1], 1, touched, users, share.visits, drawn_by[1], model.power, rng)
            payload["parents"] = places_in(payload["level1.rows"], parents).astype(np.int32)
        payload["labels"] = label_bytes(share.products.to_pylist(), share.products.type)
        payload["label_rows"] = np.searchsorted(rows, products).astype(np.int32)
        payload["user_labels"] = label_bytes(share.users.to_pylist(), user_type(share.users))
        payload["user_rows"] = users
        payload |= {"sums": model.prices.sums[rows], "numbers": model.prices.numbers[rows]}
        payload["day"] = np.array([self.day])
        payload |= {"anchor": np.array([model.prices.anchor]), "power_law": np.array(self.power_law)}
        payload["pace"] = np.array([model.learning_rate, model.tau, model.power, model.user_share])
        whole = model.negatives, model.epochs, int(model.user_targets), model.memory, model._pace().together
        payload["pace_whole"] = np.array(whole)
        return payload | self._select_watched(model, rows)

    def _select_watched(self, model: OMBA, rows: Rows) -> Arrays:
        """The triples and the forecast's pairs of which the part may meet all members, in its own rows."""
        members = places_in(rows, model.sets.members.astype(np.int64))
        there = np.flatnonzero((members >= 0).all(axis=1))
        self.sets.append(there)
        cohort = model.forecast.cohort
        a = np.empty(0, np.int64) if cohort is None else places_in(rows, cohort.a.astype(np.int64))
        b = np.empty(0, np.int64) if cohort is None else places_in(rows, cohort.b.astype(np.int64))
        held = np.flatnonzero((a >= 0) & (b >= 0))
        self.held.append(held)
        return {
            "sets": members[there].astype(np.int32),
            "held_a": a[held].astype(np.int32),
            "held_b": b[held].astype(np.int32),
        }


def level(
    space: Space,
    number: int,
    touched: Rows,
    users: Rows,
    visits: NDArray[np.int64],
    counts: NDArray[np.int64],
    power: float,
    rng: np.random.Generator,
) -> Arrays:
    """The rows of one level that a part needs, in the order of the model's own."""
    pooled = len(counts) > POOL
    if pooled:
        drawn = pool(counts, power, rng)
        rows = np.union1d(touched, np.flatnonzero(drawn))
        chances = drawn[rows]
    else:
        rows = np.arange(len(counts))
        chances = counts
    arrays: Arrays = {
        "rows": rows,
        "products": space.products.vectors[rows],
        "squares": space.products.squares[rows],
        "counts": chances,
        "pooled": np.array([pooled]),
        "users": space.users.vectors[users],
        "user_squares": space.users.squares[users],
        "user_counts": space.user_counts[users] + visits,
    }
    arrays |= {f"memory_{name}": array for name, array in space.memory.select(users).items()}
    return {f"level{number}.{name}": array for name, array in arrays.items()}


def pool(counts: NDArray[np.int64], power: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """How often each row came up in `POOL` draws of the sampler."""
    keep, other = sampler(counts, power)
    cells = rng.integers(0, len(keep), POOL)
    drawn = np.where(rng.random(POOL, np.float32) < keep[cells], cells, other[cells])
    return np.bincount(drawn, minlength=len(counts))


def places_in(rows: Rows, wanted: Rows) -> Rows:
    """The place of each wanted row among these, which ascend; −1 where it is not there."""
    place = np.minimum(np.searchsorted(rows, wanted), max(len(rows) - 1, 0))
    return np.where(rows[place] == wanted, place, -1) if len(rows) else np.full(wanted.shape, -1)


def user_type(users: pa.Array) -> pa.DataType:
    """The type of user labels; text where a part has no user."""
    return pa.string() if pa.types.is_null(users.type) else users.type
