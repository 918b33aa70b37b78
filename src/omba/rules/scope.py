"""Scope: what a filter says of pairs of rows, before anything is computed on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omba.errors import InputError
from omba.rules.filter import Filter
from omba.rules.rules import status
from omba.rules.space import Rows, Space


@dataclass(frozen=True, eq=False)
class Scope:
    """Both products of a pair must be `open`, and one of them in each of `one_of`.

    `antecedent` and `consequent` are the rows whose side is asked for, −1 where it is not.
    """

    open: NDArray[np.bool_]
    one_of: Sequence[NDArray[np.bool_]] = ()
    antecedent: int = -1
    consequent: int = -1
    status: str | None = None

    @classmethod
    def of(cls, space: Space, where: Filter, min_count: int) -> Scope:
        """The scope of a filter; a product asked for that was met too seldom is an error."""
        known = np.asarray(space.counts >= min_count) & np.any(space.vectors, axis=1)
        rows = [
            _row(space, product, known, min_count) for product in (where.product, where.antecedent, where.consequent)
        ]
        one_of = [np.arange(len(known)) == row for row in rows if row >= 0]
        if where.category is not None:
            members = space.catalogue.in_category(where.category)
            one_of.append(np.array([label in members for label in space.labels], bool))
        if space.prices is not None and (where.min_price is not None or where.max_price is not None):
            least = -np.inf if where.min_price is None else where.min_price
            most = np.inf if where.max_price is None else where.max_price
            known &= (space.prices >= least) & (space.prices <= most)
        if known.sum() < 2:
            raise InputError(
                f"{known.sum()} of {len(known)} products were met in {min_count} baskets or more and pass the filters: "
                "learn more baskets, or ask for less"
            )
        return cls(known, one_of, rows[1], rows[2], where.status)

    @property
    def pairs(self) -> int:
        """Pairs of open products."""
        n = int(self.open.sum())
        return n * (n - 1) // 2

    def passes(self, left: Rows, right: Rows, count: Rows, seen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which pairs are in scope."""
        kept = self.open[left] & self.open[right]
        for members in self.one_of:
            kept &= members[left] | members[right]
        if self.status is not None:
            kept &= status(count, seen) == self.status
        return np.asarray(kept)

    def turned(self, counts: NDArray[np.integer], left: Rows, right: Rows) -> NDArray[np.bool_]:
        """Which pairs to turn round, so that the antecedent is on the left.

        The confidence is higher from the rarer product to the other, whatever their common count; unless a product is
        asked for on one side.
        """
        turned = counts[left] > counts[right]
        for row, side in ((self.antecedent, right), (self.consequent, left)):
            if row >= 0:
                turned = np.where((left == row) | (right == row), side == row, turned)
        return np.asarray(turned)


def _row(space: Space, product: str | int | None, known: NDArray[np.bool_], min_count: int) -> int:
    if product is None:
        return -1
    row = space.catalogue.rows[space.catalogue.find(product)]
    if not known[row]:
        raise InputError(
            f"product {product!r} was met in {space.counts[row]} baskets, and a vector is worth reading "
            f"from {min_count} on: learn more baskets, or lower min_count"
        )
    return row
