"""Effort: what is spent on a basket, more while a model is young.

How many baskets of a window are made into queries, by which the weights of the clues are fitted, is told here. Weights
that nobody has fitted yet learn from many baskets; once they stand, a few of each window are enough to follow a model
that matures. So what the queries cost stays a small part of what the passes over the same baskets cost.
"""

from __future__ import annotations

from dataclasses import dataclass

YOUNG = 10_000
"""Baskets learned until the weights stand: a month of Complete Journey. Until then each target has negatives of its own
too: there is more to be had from each of few baskets. On a wholesaler's year 93 of the first 100 rules hold a quarter
later, on average of five dates and three seeds, and 89 where targets share them from the first."""
ROUND = 3_072
"""Baskets from one round of queries to the next, once the weights stand: asking of each small window a query or two
would cost more for the asking than for the queries."""


@dataclass(frozen=True)
class Effort:
    """How many queries a window is worth.

    Parameters
    ----------
    most
        Queries of a window, at most.
    young
        One in so many baskets is made into a query while the weights are young.
    settled
        One in so many from then on, all of a round at once.

    >>> NEXT.queries(360, learned=0), NEXT.queries(360, learned=50_000), NEXT.queries(360, learned=52_000)
    (23, 0, 48)
    """

    most: int
    young: int
    settled: int

    def queries(self, baskets: int, learned: int) -> int:
        """The queries of a window of so many baskets, after so many were learned."""
        if learned < YOUNG:
            return min(self.most, -(-baskets // self.young))
        rounds = (learned + baskets) // ROUND - learned // ROUND
        return min(self.most, rounds * ROUND // self.settled)


COMPLETE = Effort(64, 12, 48)
"""Queries that hide a product of a basket and look for it in the whole catalogue: some hundred candidates each."""
NEXT = Effort(48, 16, 64)
"""Queries that look for a customer's next basket: without a basket to compare with they are cheap."""
JUDGE = Effort(16, 12, 256)
"""Queries whose suggestions are compared with what was bought: each looks at all products."""
