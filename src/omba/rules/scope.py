"""Scope: what a filter says of pairs of rows, before anything is computed on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omba.errors import InputError
from omba.rules.evidence import Rows
from omba.rules.filter import Filter, within
from omba.rules.measures import MEASURES
from omba.rules.mining_input import MiningInput
from omba.rules.rule_columns import SPELLINGS
from omba.rules.rule_status import status

Bound = tuple[str, float | None, float | None]
BOUNDED = (
    *(name for name in MEASURES if name not in ("p_adjusted", "hyper_lift")),
    "count", "similarity", "expected_lift", "expected_lift_low", "expected_lift_high", "value",
)  # fmt: skip
"""Columns that a pair has by itself; the others are of the table (p_adjusted), or take too long for all pairs."""


@dataclass(frozen=True, eq=False)
class Scope:
    """What is asked of a pair of rows.

    Parameters
    ----------
    open
        Whether each product may be in a pair.
    one_of
        Groups of products, of each of which one must be in the pair.
    antecedent
        The row that must stand on the left, −1 where none is asked for.
    consequent
        The row that must stand on the right.
    status
        How well the pair is known: observed, rare or unseen; None where it does not matter.
    bounds
        Columns that follow from the counts, the vectors or the forecast, and the least and the most they may be.
    suspect
        Tells of which pairs it may be due to the spelling of codes that they never met: they are no suggestion.
    groups
        The family of each product, where it matters whether both are of one.
    within
        Whether they must be, or must not.
    """

    open: NDArray[np.bool_]
    one_of: Sequence[NDArray[np.bool_]] = ()
    antecedent: int = -1
    consequent: int = -1
    status: str | None = None
    bounds: Sequence[Bound] = ()
    suspect: Callable[[Rows, Rows], NDArray[np.bool_]] | None = None
    groups: NDArray[np.int64] | None = None
    within: bool = False

    @classmethod
    def of(cls, given: MiningInput, where: Filter, min_count: int) -> Scope:
        """The scope of a filter; a product asked for that was met too seldom is an error."""
        where.check_prices(given.prices is not None)
        known = given.has_learned(min_count)
        rows = [
            _row(given, product, known, min_count) for product in (where.product, where.antecedent, where.consequent)
        ]
        one_of = [np.arange(len(known)) == row for row in rows if row >= 0]
        if where.category is not None:
            one_of.append(np.isin(np.arange(len(known)), given.catalogue.members(where.category)))
        one_of += [given.catalogue.rows_with(word) for word in where.text.split()]
        if known.sum() < 2:
            raise InputError(
                f"{known.sum()} of {len(known)} products were met in {min_count} baskets or more: "
                "learn more baskets, or ask for less"
            )
        if given.prices is not None and where.priced:
            known &= within(given.prices, where.min_price, where.max_price)
        families = given.catalogue.families if where.families is not None else None
        groups = None if families is None else families.groups
        one_family = where.families == "within"

        def suspect(left: Rows, right: Rows) -> NDArray[np.bool_]:
            # Names are read here, not before: where all pairs were seen nobody asks, and tens of thousands take long.
            return given.catalogue.product_names.suspect(left, right)

        return cls(known, one_of, rows[1], rows[2], where.status, bounds_of(where), suspect, groups, one_family)

    @property
    def pairs(self) -> int:
        """Pairs of open products."""
        n = int(self.open.sum())
        return n * (n - 1) // 2

    def passes(self, left: Rows, right: Rows, count: Rows, seen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which pairs are in scope."""
        passes = self.open[left] & self.open[right]
        for members in self.one_of:
            passes &= members[left] | members[right]
        if self.status is not None:
            passes &= status(count, seen) == self.status
        unseen = np.flatnonzero(~seen)
        if self.suspect is not None and len(unseen):
            # To compare the spelling of all products takes longer than to score the pairs of a day.
            passes[unseen] &= ~self.suspect(left[unseen], right[unseen])
        if self.groups is not None:
            passes &= (self.groups[left] == self.groups[right]) == self.within
        return np.asarray(passes)

    def to_turn(self, counts: NDArray[np.integer], left: Rows, right: Rows) -> NDArray[np.bool_]:
        """Which pairs to turn round, so that the antecedent is on the left.

        The confidence is higher from the rarer product to the other, whatever their common count; unless a product is
        asked for on one side.
        """
        turned = counts[left] > counts[right]
        for row, side in ((self.antecedent, right), (self.consequent, left)):
            if row >= 0:
                turned = np.where((left == row) | (right == row), side == row, turned)
        return np.asarray(turned)


def bounds_of(where: Filter) -> list[Bound]:
    """The bounds of a filter that can be looked at pair by pair, before the best are chosen."""
    found: list[Bound] = [(name, least, None) for name, least in where.minimum.items()]
    found += [(name, None, most) for name, most in where.maximum.items()]
    spelt = [(SPELLINGS.get(name, name), least, most) for name, least, most in found]
    return [bound for bound in spelt if bound[0] in BOUNDED]


def _row(given: MiningInput, product: str | int | None, known: NDArray[np.bool_], min_count: int) -> int:
    if product is None:
        return -1
    row = given.catalogue.row(product)
    if not known[row]:
        raise InputError(
            f"product {product!r} was met in {given.counts[row]} baskets, and a vector is worth reading "
            f"from {min_count} on: learn more baskets, or lower min_count"
        )
    return row
