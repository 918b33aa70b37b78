"""Filter: which rules of a table to keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Label
from omba.errors import InputError

if TYPE_CHECKING:
    from omba.rules.rules import Rules

STATUSES = ("observed", "rare", "unseen")


@dataclass(frozen=True)
class Filter:
    """What a rule must fulfil, all of it; None asks for nothing.

    `product` may stand on either side, `antecedent` and `consequent` on theirs. One product of the rule must be in
    `category`; all of them must have a known price between `min_price` and `max_price`. `length` counts the products
    on both sides. `minimum` and `maximum` bound any column.
    """

    product: Label | None = None
    antecedent: Label | None = None
    consequent: Label | None = None
    category: str | None = None
    min_price: float | None = None
    max_price: float | None = None
    status: str | None = None
    length: int | None = None
    minimum: Mapping[str, float] = field(default_factory=dict)
    maximum: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.status is not None and self.status not in STATUSES:
            raise InputError(f"status {self.status!r} is not known: give one of {', '.join(STATUSES)}")
        if self.min_price is not None and self.max_price is not None and self.min_price > self.max_price:
            raise InputError(f"min_price={self.min_price} is above max_price={self.max_price}: nothing lies between")

    def keep(self, rules: Rules) -> NDArray[np.bool_]:
        """True for each rule that fulfils everything."""
        kept = np.ones(len(rules), bool)
        for name, least in self.minimum.items():
            kept &= rules[name] >= least
        for name, most in self.maximum.items():
            kept &= rules[name] <= most
        if self.status is not None:
            kept &= rules["status"] == self.status
        if self.length is not None:
            kept &= rules.lengths == self.length
        kept &= self._sides(rules)
        if self.category is not None:
            members = rules.catalogue.in_category(self.category)
            kept &= np.array([not members.isdisjoint(a + c) for a, c in rules.sides], bool)
        if self.min_price is not None or self.max_price is not None:
            kept &= self._priced(rules)
        return kept

    def _sides(self, rules: Rules) -> NDArray[np.bool_]:
        kept = np.ones(len(rules), bool)
        if self.product is not None:
            product = rules.catalogue.find(self.product)
            kept &= np.array([product in a or product in c for a, c in rules.sides], bool)
        if self.antecedent is not None:
            product = rules.catalogue.find(self.antecedent)
            kept &= np.array([product in a for a, _ in rules.sides], bool)
        if self.consequent is not None:
            product = rules.catalogue.find(self.consequent)
            kept &= np.array([product in c for _, c in rules.sides], bool)
        return kept

    def _priced(self, rules: Rules) -> NDArray[np.bool_]:
        if rules.catalogue.prices is None:
            raise InputError(
                "a price range was asked for, but no prices are known: learn from baskets with a price column"
            )
        least = -np.inf if self.min_price is None else self.min_price
        most = np.inf if self.max_price is None else self.max_price
        price = rules.catalogue.price
        # A price that is not known is NaN, and lies in no range.
        return np.array([all(least <= price(p) <= most for p in a + c) for a, c in rules.sides], bool)
