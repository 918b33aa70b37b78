"""Filter: which rules of a table are wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from omba.assortment.relations import RELATIONS
from omba.baskets import Label
from omba.errors import InputError
from omba.rules.rule_status import STATUSES

if TYPE_CHECKING:
    from omba.rules.rules import Rules

Mask = NDArray[np.bool_]

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
SEASONS = ("any", "none", *MONTHS)
"""What can be asked of a rule's season."""
FAMILIES = ("between", "within")
"""Rules between families of products, or within one."""


class FilterOptions(TypedDict, total=False):
    """The parameters of a `Filter` by name; None asks for nothing."""

    product: Label | None
    antecedent: Label | None
    consequent: Label | None
    category: str | None
    min_price: float | None
    max_price: float | None
    status: str | None
    length: int | None
    minimum: Mapping[str, float] | None
    maximum: Mapping[str, float] | None
    text: str | None
    season: str | None
    families: str | None
    relation: str | None


@dataclass(frozen=True)
class Filter:
    """What a rule must fulfil, all of it; None asks for nothing.

    Parameters
    ----------
    product
        A product on either side of the rule.
    antecedent
        A product among the antecedents.
    consequent
        A product among the consequents.
    category
        One product of the rule must be in it.
    min_price
        All products of the rule must have a known price, and none a lower one; 0 or more.
    max_price
        The same from above; 0 or more.
    status
        `observed`, `rare` or `unseen`.
    length
        How many products there are on both sides together; 2 or more.
    minimum
        The least value of any column, by its name, `length` among them; shares lie from 0 to 1, lifts from 0 on.
    maximum
        The same from above; from 0 on too.
    text
        Words, each of which must be found in the label or the name of a product of the rule.
    season
        `any` for rules of a season, `none` for those that hold all year, or a month such as `Dec` that the season has.
    families
        `between` for rules whose products are all of different families, `within` for those inside one family.
    relation
        What the products are to each other: `complement`, `substitute`, `variant`, `same customers`,
        `different customers` or `unclear`.

    >>> Filter(status="rare", minimum={"lift": 5}).status
    'rare'
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
    text: str = ""
    season: str | None = None
    families: str | None = None
    relation: str | None = None

    def __post_init__(self) -> None:
        if self.status is not None and self.status not in STATUSES:
            raise InputError(f"status {self.status!r} is not known: give one of {', '.join(STATUSES)}")
        if self.season is not None and self.season not in SEASONS:
            raise InputError(f"season {self.season!r} is not known: give one of {', '.join(SEASONS)}")
        if self.relation not in (None, *RELATIONS):
            raise InputError(f"relation {self.relation!r} is not known: give one of {', '.join(RELATIONS)}")
        if self.families not in (None, *FAMILIES):
            raise InputError(f"families {self.families!r} is not known: give one of {', '.join(FAMILIES)}")
        if self.min_price is not None and self.max_price is not None and self.min_price > self.max_price:
            raise InputError(f"min_price={self.min_price} is above max_price={self.max_price}: nothing lies between")

    @classmethod
    def of(cls, options: FilterOptions) -> Filter:
        """The filter of parameters by name."""
        given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        return cls(**given)

    @property
    def priced(self) -> bool:
        """Whether a range of prices is asked for."""
        return self.min_price is not None or self.max_price is not None

    def check_prices(self, known: bool) -> None:
        """Refuse a range of prices where none are known: no rule at all would be an answer to another question."""
        if self.priced and not known:
            raise InputError(
                "a price range was asked for, but no prices are known: learn from baskets with a price column"
            )

    def keep(self, rules: Rules) -> Mask:
        """True for each rule that fulfils everything."""
        self.check_prices(rules.catalogue.prices is not None)
        fulfils = np.ones(len(rules), bool)
        for name, least in self.minimum.items():
            fulfils &= within(rules.numbers(name), least, None)
        for name, most in self.maximum.items():
            fulfils &= within(rules.numbers(name), None, most)
        if self.status is not None:
            fulfils &= rules["status"] == self.status
        if self.length is not None:
            fulfils &= rules.lengths == self.length
        if self.relation is not None:
            fulfils &= rules["relation"] == self.relation
        if self.season is not None:
            fulfils &= np.array([self.in_season(season) for season in rules.seasons], bool)
        for word in self.text.casefold().split():
            fulfils &= np.array([word in text for text in rules.texts], bool)
        return fulfils & self._sides(rules) & self._prices(rules) & self._families(rules)

    def _sides(self, rules: Rules) -> Mask:
        """Which rules have the products and the category asked for."""
        fulfils, find = np.ones(len(rules), bool), rules.catalogue.find
        if self.product is not None:
            product = find(self.product)
            fulfils &= np.array([product in a or product in c for a, c in rules.sides], bool)
        if self.antecedent is not None:
            product = find(self.antecedent)
            fulfils &= np.array([product in a for a in rules.antecedents], bool)
        if self.consequent is not None:
            product = find(self.consequent)
            fulfils &= np.array([product in c for c in rules.consequents], bool)
        if self.category is not None:
            members = rules.catalogue.in_category(self.category)
            fulfils &= np.array([not members.isdisjoint((*a, *c)) for a, c in rules.sides], bool)
        return fulfils

    def in_season(self, season: str) -> bool:
        """Whether a rule of this season is asked for."""
        if self.season in ("any", "none"):
            return bool(season) == (self.season == "any")
        return self.season in months(season)

    def _families(self, rules: Rules) -> Mask:
        """Which rules are between families, or within one; where no family is known, all are between."""
        # To find the families of thousands of products takes a second, so only where they are asked for.
        families = None if self.families is None else rules.catalogue.families
        if families is None:
            return np.full(len(rules), self.families != "within")
        rows = rules.catalogue.rows
        groups = [[families.groups[rows[label]] for label in (*a, *c)] for a, c in rules.sides]
        if self.families == "within":
            return np.array([len(set(each)) == 1 for each in groups], bool)
        return np.array([len(set(each)) == len(each) for each in groups], bool)

    def _prices(self, rules: Rules) -> Mask:
        if not self.priced:
            return np.ones(len(rules), bool)
        lowest, highest = rules.price_range
        # Both are NaN where a price is not known, and lie in no range.
        return within(lowest, self.min_price, None) & within(highest, None, self.max_price) & ~np.isnan(lowest)


def within(values: NDArray[Any], least: float | None, most: float | None) -> Mask:
    """Which values lie in a range; what is not known lies in none, unless the range is open at both ends."""
    inside = np.ones(len(values), bool)
    if least is not None:
        inside &= values >= least
    if most is not None:
        inside &= values <= most
    return inside


def months(season: str) -> list[str]:
    """The months of a season, from its name.

    >>> months("Nov–Jan"), months("Dec"), months("")
    (['Nov', 'Dec', 'Jan'], ['Dec'], [])
    """
    if not season:
        return []
    first, _, last = season.partition("–")
    begin, end = MONTHS.index(first), MONTHS.index(last or first)
    return [MONTHS[month % 12] for month in range(begin, end + 1 if end >= begin else end + 13)]
