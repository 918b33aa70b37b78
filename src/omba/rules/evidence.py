"""Evidence: how many baskets hold a product, a pair or a larger set, whoever counted them.

Mining asks one interface. `StreamEvidence` answers from what a model counted in bounded memory while the stream went
by, `Counts` by counting given baskets exactly, and Spark's from a join.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from omba.model.evidence import Evidence as PairEvidence
    from omba.model.sets import Sets

Rows = NDArray[np.integer]
Counted = NDArray[np.integer]
Observed = tuple[Rows, Rows, Counted]
"""Pairs as (rows, rows, baskets with both)."""


class Evidence(Protocol):
    """Counts of baskets, by the rows of the products."""

    @property
    def n_baskets(self) -> int:
        """Baskets in all."""

    @property
    def counts(self) -> Counted:
        """Baskets with each product."""

    @property
    def complete(self) -> bool:
        """Whether every pair has its count: one without was never bought together."""

    def pairs(self, a: Rows, b: Rows) -> Counted:
        """Baskets with both products of each pair."""

    def seen(self, a: Rows, b: Rows) -> NDArray[np.bool_]:
        """Whether each pair was ever bought together, also where its count is no longer kept."""

    def itemsets(self, sets: Rows) -> Counted:
        """Baskets with every product of each set, as far as they are known: a line a set, all of one size."""

    def exact(self, sets: Rows) -> NDArray[np.bool_]:
        """Whether the count of each set is the true one; where it is not, there are at least so many baskets."""

    def observed(self, least: int = 1) -> Observed:
        """The pairs in so many baskets or more."""


@runtime_checkable
class TripleEvidence(Evidence, Protocol):
    """Evidence that can list sets of three products."""

    def triples(self, least: int) -> tuple[Rows, Counted]:
        """Those known to be in so many baskets or more, a line a set, and their counts."""


@dataclass(frozen=True, eq=False)
class StreamEvidence:
    """What a model counted while it learned.

    Parameters
    ----------
    kept
        The model's counts of products and of pairs.
    find_sets
        Gives the model's counts of the triples it watches, once they are asked for: with several threads those of the
        last window may still be being counted, and pairs need not wait for them.
    products
        How many products the model knows.
    """

    kept: PairEvidence
    find_sets: Callable[[], Sets]
    products: int
    complete: bool = False

    @property
    def sets(self) -> Sets:
        return self.find_sets()

    @property
    def n_baskets(self) -> int:
        return self.kept.n_baskets

    @property
    def counts(self) -> Counted:
        return self.kept.counts[: self.products]

    def pairs(self, a: Rows, b: Rows) -> Counted:
        return self.kept.pairs(a, b)

    def seen(self, a: Rows, b: Rows) -> NDArray[np.bool_]:
        return self.kept.seen(a, b)

    def itemsets(self, sets: Rows) -> Counted:
        return self.sets.counts(sets, self.kept)

    def exact(self, sets: Rows) -> NDArray[np.bool_]:
        if sets.shape[1] == 2:
            return self.kept.exact(sets[:, 0], sets[:, 1])
        return self.sets.exact(sets, self.kept)

    def observed(self, least: int = 1) -> Observed:
        return self.kept.observed(least)

    def triples(self, least: int) -> tuple[Rows, Counted]:
        return self.sets.observed(least)


@dataclass(frozen=True, eq=False)
class PartialEvidence:
    """Evidence in which no other pairs are in sight than some; any pair's count can still be asked for.

    Parameters
    ----------
    whole
        The evidence it is a part of.
    inside
        The pairs in sight, with their counts.
    """

    whole: Evidence
    inside: Observed

    @property
    def n_baskets(self) -> int:
        return self.whole.n_baskets

    @property
    def counts(self) -> Counted:
        return self.whole.counts

    @property
    def complete(self) -> bool:
        return self.whole.complete

    @property
    def pairs(self) -> Callable[[Rows, Rows], Counted]:
        return self.whole.pairs

    @property
    def seen(self) -> Callable[[Rows, Rows], NDArray[np.bool_]]:
        return self.whole.seen

    @property
    def itemsets(self) -> Callable[[Rows], Counted]:
        return self.whole.itemsets

    @property
    def exact(self) -> Callable[[Rows], NDArray[np.bool_]]:
        return self.whole.exact

    def observed(self, least: int = 1) -> Observed:
        left, right, count = self.inside
        often = np.flatnonzero(count >= least)
        return left[often], right[often], count[often]
