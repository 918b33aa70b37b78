"""Queries: baskets with a product hidden, and the candidates it hides among, as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from omba.baskets import Label, Vocabulary


@dataclass(frozen=True, eq=False)
class Queries:
    """One query a row: what is in the basket, whose it is, and the candidates for the hidden product.

    A code of −1 is a product or user that is not known.

    Parameters
    ----------
    offsets, items
        The context of query `q` is the slice `offsets[q]:offsets[q + 1]` of `items`, product codes.
    user_codes
        Whose basket it is.
    candidates
        Product codes, a row a query; the hidden product is in column 0. No columns where the whole catalogue is asked
        about.
    product_vocabulary, user_vocabulary
        What the codes stand for.
    target_prices
        Prices of the hidden products, where baskets have prices.
    first, after
        The baskets of the window that the queries come from.
    times
        When each is asked, by the clock of the baskets; None where they have no time.

    >>> queries = Queries.ask(["pasta"], "u7", ["sauce", "soap"], Vocabulary(["pasta", "sauce"]), Vocabulary())
    >>> queries.items.tolist(), queries.candidates.tolist(), queries.user_codes.tolist()
    ([0], [[1, -1]], [-1])
    """

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    user_codes: NDArray[np.int32]
    candidates: NDArray[np.int32]
    product_vocabulary: Vocabulary
    user_vocabulary: Vocabulary
    target_prices: NDArray[np.float32] | None = None
    first: int = 0
    after: int = 0
    times: NDArray[np.int64] | None = None

    @classmethod
    def ask(
        cls,
        products: Sequence[Label],
        user: Label | None,
        candidates: Sequence[Label],
        known: Vocabulary,
        users: Vocabulary,
    ) -> Queries:
        """A single query in labels, each product of the context once."""
        items = known.find(dict.fromkeys(products))
        return cls(
            np.array([0, len(items)], np.int64),
            items,
            np.array([-1], np.int32) if user is None else users.find([user]),
            known.find(candidates)[None, :],
            known,
            users,
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def rows(self) -> NDArray[np.int64]:
        """The query each context product belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def part(self, first: int, after: int) -> Self:
        """Queries `first` up to `after`."""
        places = slice(int(self.offsets[first]), int(self.offsets[after]))
        return replace(
            self,
            offsets=self.offsets[first : after + 1] - self.offsets[first],
            items=self.items[places],
            user_codes=self.user_codes[first:after],
            candidates=self.candidates[first:after],
            target_prices=None if self.target_prices is None else self.target_prices[first:after],
            times=None if self.times is None else self.times[first:after],
        )

    def labels(self) -> Iterator[tuple[list[Label], Label | None, list[Label]]]:
        """Each query in labels: the context, the user and the candidates."""
        for row, user in enumerate(self.user_codes.tolist()):
            context = self.items[self.offsets[row] : self.offsets[row + 1]]
            yield (
                self.product_vocabulary.take(context.tolist()),
                None if user < 0 else self.user_vocabulary[user],
                self.product_vocabulary.take(self.candidates[row].tolist()),
            )

    def translate(self, products: Vocabulary, n_products: int, users: Vocabulary, n_users: int) -> Queries:
        """The same queries in the codes of a method that knows the first so many of its own vocabularies."""
        product = translation(self.product_vocabulary, products, n_products)
        user = translation(self.user_vocabulary, users, n_users)
        return replace(
            self,
            items=product[self.items],
            candidates=product[self.candidates],
            user_codes=user[self.user_codes],
            product_vocabulary=products,
            user_vocabulary=users,
        )

    def mean(self, values: NDArray[np.floating]) -> NDArray[np.float32]:
        """The mean over each query's known context products of `values`, one row a context product.

        A query none of whose products are known gets zeros.
        """
        known, rows, shares = self._shares()
        weights = sparse.csr_array((shares, (rows, known)), shape=(len(self), len(self.items)))
        return np.asarray(weights @ values, np.float32)

    def contexts(self, n: int) -> sparse.csr_array:
        """Queries by n products: in the basket's known products 1 over their number, so that a row is a mean."""
        known, rows, shares = self._shares()
        return sparse.csr_array((shares.astype(np.float32), (rows, self.items[known])), shape=(len(self), n))

    def _shares(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """The places of known context products, the query of each, and one over how many that has."""
        known = np.flatnonzero(self.items >= 0)
        rows = self.rows[known]
        return known, rows, 1 / np.bincount(rows, minlength=len(self))[rows]


def translation(theirs: Vocabulary, ours: Vocabulary, n: int) -> NDArray[np.int32]:
    """For each of their codes ours, −1 where it is not among our first `n`; the last entry serves their −1."""
    codes = np.arange(len(theirs), dtype=np.int32) if theirs is ours else ours.find(theirs)
    return np.append(np.where(codes < n, codes, -1), -1).astype(np.int32)
