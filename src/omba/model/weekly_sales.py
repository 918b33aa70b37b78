"""Weekly sales: how many baskets held a product and what it cost, by week and store, of the last year alone.

What a price did can be told only by weeks in which it was another. So for every product, week and store in which it was
sold, the baskets with it and its mean price are kept: 16 bytes each. Weeks older than a year go, and the oldest go
earlier where there are more than `CELLS` of these, so that the memory is bounded whatever the shop. The first stores
that are met are kept apart, and all others count as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from omba.assortment.price_effects import SalesGrid
from omba.baskets import Label

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Cells = tuple[Longs, NDArray[np.int32], NDArray[np.float32]]
"""(store and product, baskets with it, its mean price) in the order of the first; NaN for a price that is not known."""

WEEKS, STORES, CELLS = 53, 16, 2_000_000
"""Weeks and stores kept apart, and products by week and store kept at most: 32 MB."""
ROW = 1 << 32
"""A cell's key is its store times this and its product's row."""
MONDAY = 3
"""Days from the Monday before to 1 January 1970, a Thursday."""


class WeeklySales:
    """Baskets and prices of products by week and store.

    >>> weekly = WeeklySales()
    >>> weekly.learn(np.array([0, 2]), np.array([0, 1]), np.array([2.0, 3.0]), np.array([18_000]), None)
    >>> grid = weekly.grid(np.array([1]))
    >>> grid.sold.tolist(), grid.price.tolist(), grid.baskets.tolist()
    ([[1.0]], [[3.0]], [1])
    """

    def __init__(self) -> None:
        self.weeks: dict[int, Cells] = {}
        self.baskets: dict[int, Longs] = {}
        """Baskets of each week by store."""
        self.stores = np.zeros(0, np.int64)
        """The stores that are kept apart, by a checksum of their labels; all others share the last place."""

    def learn(
        self,
        offsets: Longs,
        items: NDArray[np.integer],
        prices: NDArray[np.floating] | None,
        days: NDArray[np.integer],
        stores: Longs | None,
    ) -> None:
        """Count a window: `days` and `stores` are those of its baskets, by the numbers that `number_stores` gives."""
        if prices is None:
            return
        weeks = week_of(np.asarray(days, np.int64))
        places = np.zeros(len(weeks), np.int64) if stores is None else stores
        of_item = np.repeat(np.arange(len(weeks)), np.diff(offsets))
        keys = places[of_item] * ROW + np.asarray(items, np.int64)
        values = np.where(np.isfinite(prices) & (prices > 0), prices, np.nan)
        for week in np.unique(weeks).tolist():
            inside = weeks[of_item] == week
            cells = gather(keys[inside], np.ones(int(inside.sum()), np.int64), values[inside])
            self.add(week, cells, np.bincount(places[weeks == week], minlength=STORES))

    def add(self, week: int, cells: Cells, baskets: Longs) -> None:
        """Add what was sold in a week, and let go of what is too old."""
        if week in self.weeks:
            keys, sold, price = self.weeks[week]
            both = np.append(keys, cells[0]), np.append(sold, cells[1]), np.append(price, cells[2])
            cells = gather(*both)
            baskets = baskets + self.baskets[week]
        self.weeks[week], self.baskets[week] = cells, baskets
        held = sorted(self.weeks)
        last, kept = held[-1], sum(len(each[0]) for each in self.weeks.values())
        for old in held[:-1]:
            if last - old >= WEEKS or kept > CELLS:
                kept -= len(self.weeks.pop(old)[0])
                del self.baskets[old]

    def number_stores(self, codes: NDArray[np.integer], labels: Sequence[Label]) -> Longs:
        """The place of each basket's store, given its code; the last for those beyond the first, and for none."""
        asked, inverse = np.unique(codes, return_inverse=True)
        known = {key: place for place, key in enumerate(self.stores.tolist())}
        places = np.full(len(asked), STORES - 1, np.int64)
        for number, code in enumerate(asked.tolist()):
            key = crc32(str(labels[code]).encode()) if code >= 0 else -1
            if code >= 0 and len(known) < STORES - 1:
                known.setdefault(key, len(known))
            places[number] = known.get(key, STORES - 1)
        self.stores = np.array(list(known), np.int64)
        return places[inverse]

    def grid(self, rows: Longs) -> SalesGrid:
        """The sales and prices of some products, a line for each week and store that had baskets."""
        none = np.zeros(0, np.int64)
        lines: list[tuple[Longs, Longs, Longs, Floats, Floats]] = [
            (none, none, none, np.zeros((0, len(rows))), np.zeros((0, len(rows))))
        ]
        for week in sorted(self.weeks):
            keys, sold, price = self.weeks[week]
            stores = np.flatnonzero(self.baskets[week])
            wanted = stores[:, None] * ROW + rows
            place = np.searchsorted(keys, wanted)
            there = np.append(keys, -1)[place] == wanted
            sales = np.where(there, np.append(sold, 0)[place], 0)
            prices = np.where(there, np.append(price, np.nan)[place], np.nan)
            lines.append((np.full(len(stores), week), stores, self.baskets[week][stores], sales, prices))
        return SalesGrid(*(np.concatenate(column) for column in zip(*lines, strict=True)))

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything learned, as arrays."""
        held = sorted(self.weeks)
        cells = [self.weeks[week] for week in held]
        empty = gather(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        keys, sold, price = (np.concatenate(column) for column in zip(empty, *cells, strict=True))
        baskets = np.array([self.baskets[week] for week in held], np.int64).reshape(len(held), STORES)
        lengths = np.array([len(each[0]) for each in cells], np.int64)
        weeks = np.array(held, np.int64)
        names = ("weeks", "lengths", "baskets", "keys", "sold", "price", "stores")
        return dict(zip(names, (weeks, lengths, baskets, keys, sold, price, self.stores), strict=True))

    def load(self, state: dict[str, NDArray[Any]]) -> None:
        """The reverse of `state`; nothing, where a model was saved before it kept sales by week."""
        if not state:
            return
        ends = np.cumsum(state["lengths"])
        if int(state["lengths"].sum()) != len(state["keys"]):
            raise ValueError("the sales by week are not as many as they say")
        columns = [np.split(state[name], ends[:-1]) for name in ("keys", "sold", "price")]
        self.weeks = {
            int(week): (keys, sold, price) for week, keys, sold, price in zip(state["weeks"], *columns, strict=False)
        }
        self.baskets = dict(zip(state["weeks"].tolist(), state["baskets"], strict=True))
        self.stores = state["stores"]


def week_of(days: Longs) -> Longs:
    """The week that each day from 1970 on is in, from Monday to Sunday.

    >>> week_of(np.array([3, 4, 10, 11])).tolist()
    [0, 1, 1, 2]
    """
    return np.asarray((days + MONDAY) // 7)


def gather(keys: Longs, sold: NDArray[np.integer], price: NDArray[np.floating]) -> Cells:
    """Cells with the same key as one: their baskets added up, and the mean of the prices that are known."""
    found, of = np.unique(keys, return_inverse=True)
    known = np.isfinite(price)
    weight = np.bincount(of[known], weights=sold[known], minlength=len(found))
    paid = np.bincount(of[known], weights=sold[known] * price[known].astype(np.float64), minlength=len(found))
    mean = np.divide(paid, weight, out=np.full(len(found), np.nan), where=weight > 0)
    counts = np.bincount(of, weights=sold, minlength=len(found))
    return found, counts.astype(np.int32), mean.astype(np.float32)
