"""Habits: what customers are remembered to buy, turned round: who buys a product, how often, and on how many visits.

If a customer's purchases fell on their visits at random, one who buys a on n_a and b on n_b of N visits would have both
in n_a·n_b / N baskets. But whoever came once has no habit: all that is known of them is the one basket, which would
then be expected because it happened. So of N visits the part (N − 1) / N is taken to tell of habits, and the rest to be
anybody's. Summed over all customers that is what habits alone make of a pair. It needs no more memory than what is
remembered of each customer anyway; of very many customers every k-th is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omba.assortment.kernels import meet_all, meet_pairs

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST = 20_000
"""Customers looked at."""


@dataclass(frozen=True, eq=False)
class BuyingHabits:
    """Who buys what, by product: the customers of product i stand from `offsets[i]` to `offsets[i + 1]`.

    Parameters
    ----------
    offsets
        Where the customers of each product begin.
    users
        The customers, in order.
    bought
        How often each bought the product.
    visits
        How many visits each customer made.
    remembered
        The same by customer: the rows of the products, a line each, −1 for none.
    counts
        How often each of those was bought.
    share
        All visits over those of the customers that are looked at.
    """

    offsets: Rows
    users: NDArray[np.int32]
    bought: NDArray[np.float32]
    visits: NDArray[np.float32]
    remembered: NDArray[np.int32]
    counts: NDArray[np.int32]
    share: float

    @classmethod
    def of(
        cls, remembered: NDArray[np.int32], counts: NDArray[np.int32], visits: NDArray[np.integer], products: int
    ) -> BuyingHabits:
        """The habits in a memory of customers: products and counts, a line each, and how many visits they made."""
        known = np.flatnonzero(visits > 0)
        chosen = known[:: -(-len(known) // MOST)] if len(known) > MOST else known
        share = float(visits[known].sum() / max(visits[chosen].sum(), 1))
        remembered, counts = remembered[chosen], counts[chosen]
        line, place = np.nonzero(remembered >= 0)
        rows = remembered[line, place]
        order = np.argsort(rows, kind="stable")
        sizes = np.bincount(rows, minlength=products)[:products]
        return cls(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            line[order].astype(np.int32),
            counts[line, place][order].astype(np.float32),
            visits[chosen].astype(np.float32),
            remembered,
            counts,
            share,
        )

    @cached_property
    def customers(self) -> Rows:
        """How many customers buy each product."""
        return np.diff(self.offsets)

    def purchases(self) -> Floats:
        """How often each product was bought out of habit, as far as visits tell of habits."""
        by_habit = self.bought * (1.0 - 1.0 / self.visits[self.users].astype(np.float64))
        sums = np.concatenate([[0.0], np.cumsum(by_habit)])
        return np.asarray(self.share * np.diff(sums[self.offsets]))

    def pairs(self, a: Rows, b: Rows) -> tuple[Floats, Rows]:
        """What habits alone make of each pair: baskets with both, and how many customers buy both."""
        expected, customers = np.zeros(len(a)), np.zeros(len(a), np.int64)
        meet_pairs(a, b, self.offsets, self.users, self.bought, self.visits, expected, customers)
        return self.share * expected, customers

    def with_all(self, row: int) -> tuple[Floats, Rows]:
        """The same of one product with every other."""
        products = len(self.offsets) - 1
        expected, customers = np.zeros(products), np.zeros(products, np.int64)
        part = slice(self.offsets[row], self.offsets[row + 1])
        meet_all(self.users[part], self.bought[part], self.remembered, self.counts, self.visits, expected, customers)
        return self.share * expected, customers
