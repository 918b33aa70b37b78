"""Family lines: each family in a line: how many variants, how regularly together, and what goes with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.assortment.expected_sales import UNKNOWN, Expectation, expected_sales, revenue
from omba.assortment.families import FEWEST, Families
from omba.baskets import Label
from omba.rules.mining_input import MiningInput

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

DEVIATIONS = 3.0
"""Partners are compared by the low end of their lift, so many deviations of a Poisson count below it."""


@dataclass(frozen=True)
class FamilyLine:
    """A family as a list shows it.

    Parameters
    ----------
    family
        Its number.
    name
        What its members share.
    size
        How many products it has.
    sold
        Baskets with each of them, added up.
    revenue
        What they brought in so far, prices times quantities; None where no prices are known.
    expected_baskets, expected_baskets_low, expected_baskets_high
        Baskets with each of them, added up, in the next period, and both ends of the 90% interval; None where no days
        are known.
    expected_revenue, expected_revenue_low, expected_revenue_high
        What they bring in then.
    season
        The months in which most of them are sold, "" for all year.
    lift_low
        The lowest lift between two members that were bought together often enough to tell; None where none were.
    lift_high
        The highest.
    partner
        The name of the family or product that goes with it best, None where none does.
    partner_products
        The member and the product that are bought together most surely.
    partner_lift
        The lift of these two.
    partner_count
        Baskets with both.
    products
        The members, best sellers first.
    """

    family: int
    name: str
    size: int
    sold: int
    revenue: float | None
    expected_baskets: float | None
    expected_baskets_low: float | None
    expected_baskets_high: float | None
    expected_revenue: float | None
    expected_revenue_low: float | None
    expected_revenue_high: float | None
    season: str
    lift_low: float | None
    lift_high: float | None
    partner: str | None
    partner_products: tuple[Label, Label] | None
    partner_lift: float | None
    partner_count: int | None
    products: list[Label]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def family_lines(given: MiningInput, text: str = "") -> list[FamilyLine]:
    """The families whose name holds all words of a text, those that sell most first."""
    families = given.catalogue.families
    if families is None or not len(families):
        return []
    left, right, count = (np.asarray(column, np.int64) for column in given.observed(FEWEST))
    lift = count * given.n_baskets / np.maximum(given.counts[left] * given.counts[right].astype(np.float64), 1.0)
    low, high = _spread(families, left, right, lift)
    partner = _partners(given, families, left, right, count)
    words = text.casefold().split()
    outlook = given.catalogue.outlook
    seasons = [""] * len(families) if outlook is None else outlook.seasons_of(families.members)
    ahead = expectations(given, families.members)
    lines = []
    for number, (name, rows) in enumerate(zip(families.names, families.members, strict=True)):
        if not all(word in name.casefold() for word in words):
            continue
        pair, together = int(partner[number]), np.isfinite(low[number])
        lines.append(
            FamilyLine(
                number,
                name,
                len(rows),
                int(given.counts[rows].sum()),
                revenue(rows, given.counts, given.catalogue.amounts),
                *ahead[number],
                seasons[number],
                float(low[number]) if together else None,
                float(high[number]) if together else None,
                *_partner(given, families, number, pair, (left, right), lift, count),
                [given.labels[row] for row in rows.tolist()],
            )
        )
    return lines


def expectations(given: MiningInput, groups: Sequence[Rows]) -> list[Expectation]:
    """What is to be expected of the products of each group in the next period; None where no days are known."""
    outlook = given.catalogue.outlook
    if outlook is None or not outlook.met:
        return [UNKNOWN] * len(groups)
    spread = outlook.sales_spread(groups)
    return expected_sales(groups, given.counts, outlook.sales_change, spread, given.catalogue.amounts)


def _spread(families: Families, left: Rows, right: Rows, lift: Floats) -> tuple[Floats, Floats]:
    """The lowest and the highest lift within each family; infinite where nothing tells."""
    inside = np.flatnonzero((families.family[left] >= 0) & (families.family[left] == families.family[right]))
    low, high = np.full(len(families), np.inf), np.full(len(families), -np.inf)
    np.minimum.at(low, families.family[left[inside]], lift[inside])
    np.maximum.at(high, families.family[left[inside]], lift[inside])
    return low, high


def _partners(given: MiningInput, families: Families, left: Rows, right: Rows, count: Rows) -> Rows:
    """The pair that stands for what binds each family most surely to what is outside it, by its place; −1 where none.

    Families are compared as wholes: baskets with a product of both, over the root of the sales of both, if surely more
    than chance would bring. Of the two the pair that is most often in one basket stands for them.
    """
    groups, sold = families.groups, np.bincount(families.groups, weights=given.counts)
    best = np.full(len(families), -1, np.int64)
    outside = np.flatnonzero(groups[left] != groups[right])
    low, high = (pick(groups[left[outside]], groups[right[outside]]) for pick in (np.minimum, np.maximum))
    order = np.lexsort((-count[outside], high, low))
    outside, low, high = outside[order], low[order], high[order]
    first = np.flatnonzero((np.diff(low, prepend=-1) != 0) | (np.diff(high, prepend=-1) != 0))
    together = np.add.reduceat(count[outside], first) if len(first) else np.empty(0, np.int64)
    chance = sold[low[first]] * sold[high[first]] / given.n_baskets
    sure = together / np.maximum(chance, 1e-12) * (1.0 - DEVIATIONS / np.sqrt(np.maximum(together, 1)))
    close = together / np.sqrt(sold[low[first]] * sold[high[first]] + 1e-12)
    some = np.flatnonzero(sure > 1.0)
    for place in some[np.argsort(close[some], kind="stable")].tolist():
        for group in (low[first[place]], high[first[place]]):
            if group < len(families):
                best[group] = outside[first[place]]
    return best


def _partner(
    given: MiningInput, families: Families, family: int, pair: int, sides: tuple[Rows, Rows], lift: Floats, count: Rows
) -> tuple[str | None, tuple[Label, Label] | None, float | None, int | None]:
    """What goes with a family best: its name, the two products, their lift and count."""
    if pair < 0:
        return None, None, None, None
    member, other = int(sides[0][pair]), int(sides[1][pair])
    if families.family[member] != family:
        member, other = other, member
    name = families.of_row(other) or str(families.titles[other])
    return name, (given.labels[member], given.labels[other]), float(lift[pair]), int(count[pair])
