"""Open window: baskets of a window that is not over yet, as columns, until it is learned."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Baskets, Clock, Report, Vocabulary, find_label
from omba.baskets.reasons import UNPAID, is_returned
from omba.sources.items import Items, merge


class Vocabularies:
    """The vocabularies that all open windows of a stream share."""

    def __init__(self) -> None:
        self.products, self.users, self.stores = Vocabulary(), Vocabulary(), Vocabulary()


class OpenWindow:
    """Baskets in the order they came.

    Parameters
    ----------
    vocabularies
        Those of the stream, in which labels are numbered.
    """

    def __init__(self, vocabularies: Vocabularies) -> None:
        self.vocabularies = vocabularies
        self.sizes, self.items, self.prices, self.quantities = array("q"), array("i"), array("d"), array("d")
        self.users, self.stores, self.times = array("i"), array("i"), array("q")
        self.numbers = array("q")
        self.returns = 0
        """Baskets of returns only, of which nothing is learned."""

    def __len__(self) -> int:
        return len(self.sizes)

    def add(self, number: int, tick: int, basket: Mapping[str, Any]) -> None:
        """Take in a basket of the journal; products that went back, with a quantity of zero or less, are left out."""
        kept = [product for product in basket["products"] if not is_returned(product.get("quantity"))]
        # All of it is read before any of it is taken, so that a basket which cannot be leaves nothing behind.
        items = [_code(self.vocabularies.products, product["id"]) for product in kept]
        prices = array("d", (product.get("price", np.nan) for product in kept))
        quantities = array("d", (product.get("quantity", np.nan) for product in kept))
        user, store = (
            _code(self.vocabularies.users, basket.get("user")),
            _code(self.vocabularies.stores, basket.get("store")),
        )
        self.times.append(tick)
        self.numbers.append(number)
        self.sizes.append(len(kept))
        self.returns += not kept
        self.items.extend(items)
        self.prices.extend(prices)
        self.quantities.extend(quantities)
        self.users.append(user)
        self.stores.append(store)

    @property
    def first(self) -> int | None:
        """The number of the oldest basket here."""
        return min(self.numbers, default=None)

    def extend(self, other: OpenWindow) -> None:
        """Take in what came earlier and belonged nowhere else; `other` is empty afterwards."""
        for name in ("numbers", "sizes", "items", "prices", "quantities", "users", "stores", "times"):
            getattr(self, name).extend(getattr(other, name))
            setattr(other, name, array(getattr(other, name).typecode))
        self.returns, other.returns = self.returns + other.returns, 0

    def window(self, clock: Clock, start: int | None, stop: int | None) -> Baskets:
        """The baskets as a window: in time order, each product once a basket, baskets with nothing in them left out."""
        sizes, times = np.array(self.sizes, np.int64), np.array(self.times, np.int64)
        basket = np.repeat(np.arange(len(sizes)), sizes)
        codes, prices, quantities = np.array(self.items, np.int32), np.array(self.prices), np.array(self.quantities)
        unpaid = find_unpaid(basket, sizes, prices)
        report = Report()
        if unpaid.any():
            report.dropped[UNPAID] = int(sizes[unpaid].sum())
            kept = ~unpaid[basket]
            sizes = np.where(unpaid, 0, sizes)
            basket, codes, prices, quantities = basket[kept], codes[kept], prices[kept], quantities[kept]
        order = np.flatnonzero(sizes)
        order = order[np.argsort(times[order], kind="stable")]
        places = np.empty(len(sizes), np.int64)
        places[order] = np.arange(len(order))
        visit = places[basket]
        rows = np.argsort(visit, kind="stable")
        prices, quantities = prices[rows], quantities[rows]
        items = merge(
            Items(
                visit[rows],
                codes[rows],
                None if np.isnan(prices).all() else prices,
                None if np.isnan(quantities).all() else quantities,
            )
        )
        return Baskets(
            offsets=np.searchsorted(items.visits, np.arange(len(order) + 1)).astype(np.int64),
            items=items.codes,
            product_vocabulary=self.vocabularies.products,
            user_vocabulary=self.vocabularies.users,
            store_vocabulary=self.vocabularies.stores,
            user_codes=np.array(self.users, np.int32)[order] if len(self.vocabularies.users) else None,
            store_codes=np.array(self.stores, np.int32)[order] if len(self.vocabularies.stores) else None,
            times=times[order],
            prices=None if items.prices is None else items.prices.astype(np.float32),
            quantities=None if items.quantities is None else items.quantities.astype(np.float32),
            clock=clock,
            report=report,
            start=start,
            stop=stop,
        )


def find_unpaid(basket: NDArray[np.int64], sizes: NDArray[np.int64], prices: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which baskets have prices of zero or less alone; none where most are so, for then prices are not told."""
    paid = np.bincount(basket[~(prices <= 0)], minlength=len(sizes))
    unpaid: NDArray[np.bool_] = (sizes > 0) & (paid == 0)
    return unpaid if 2 * unpaid.sum() <= np.count_nonzero(sizes) else np.zeros(len(sizes), bool)


def _code(vocabulary: Vocabulary, label: Any) -> int:
    if label is None:
        return -1
    code = vocabulary.codes.get(label)
    if code is None:
        # 22423 and '22423' are one product, whoever wrote it: the first spelling stays, the model has the last word.
        known = find_label(label, vocabulary.codes)
        code = vocabulary.codes[known] if known is not None else int(vocabulary.add([label])[0])
    return code
