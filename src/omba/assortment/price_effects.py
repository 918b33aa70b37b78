"""Price effects: what a price did to the sales of other products, where it moved often enough to tell.

Weeks in which a product was cheaper are compared with weeks near to them at its usual price, in the same store where
stores are known, and those weeks are left out in which the partner was cheaper itself. With x₁ of N₁ baskets that hold
the partner in the cheaper weeks of a stretch and x₀ of N₀ in its usual ones, the sales changed by the factor

    Σ x₁·N₀/(N₀+N₁)  ÷  Σ x₀·N₁/(N₀+N₁)

over all stretches and stores (N. Mantel and W. Haenszel, 1959, for rates). Its interval is that of S. Greenland and
J. Robins (1985), wider by as much as weeks differ more than chance would make them. It is what was measured, in a shop
that did other things in those weeks too; it is no promise.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Label

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

CHEAPER = 0.1
"""A product is cheaper where it costs less than its usual price by this share or more."""
NEARLY = 0.25
"""And at its usual price where it costs less by no more than this part of that share."""
STRETCH = 8
"""Weeks that are compared with each other: a season is longer."""
CHEAP_WEEKS, USUAL_WEEKS = 2, 4
"""Weeks of either kind, at the least."""
BASKETS = 5.0
"""Baskets with the partner that the cheaper weeks, and the usual ones, ought to hold at the least."""
FREEDOM = 4
"""Weeks and stores beyond those that the comparison itself takes up, so that their differences can be measured."""
TAIL = 0.05
"""Changes left out at either end of the interval."""


@dataclass(frozen=True, eq=False)
class SalesGrid:
    """Sales and prices of some products, a line for each week and store.

    Parameters
    ----------
    week
        The number of the week.
    store
        The number of the store.
    baskets
        All baskets of it.
    sold
        Baskets with each product, a column a product.
    price
        Its mean price, NaN where it was not sold or the price is not known.
    """

    week: Longs
    store: Longs
    baskets: NDArray[Any]
    sold: NDArray[Any]
    price: Floats

    def relative_prices(self) -> Floats:
        """Each price over the product's usual one: the median over the weeks of that store, or of all where a store
        did not sell it that week. NaN in weeks in which nobody did."""
        over_all = self._by_week()
        relative = np.full(self.price.shape, np.nan)
        for store in np.unique(self.store):
            lines = self.store == store
            relative[lines] = self.price[lines] / median(self.price[lines])
        unknown = ~np.isfinite(relative)
        relative[unknown] = over_all[unknown]
        return relative

    def _by_week(self) -> Floats:
        """The price in all stores together over its median, given again for each store."""
        weeks, line = np.unique(self.week, return_inverse=True)
        shape = (len(weeks), self.price.shape[1])
        paid, sold = np.zeros(shape), np.zeros(shape)
        known = np.isfinite(self.price)
        np.add.at(paid, line, np.where(known, self.price * self.sold, 0.0))
        np.add.at(sold, line, np.where(known, self.sold, 0.0))
        mean = np.divide(paid, sold, out=np.full(shape, np.nan), where=sold > 0)
        return np.asarray((mean / median(mean))[line])


def median(prices: Floats) -> Floats:
    """The median of each column over what is known of it; NaN where nothing is."""
    some = np.isfinite(prices).any(axis=0)
    middle = np.full(prices.shape[1], np.nan)
    middle[some] = np.nanmedian(prices[:, some], axis=0)
    return middle


@dataclass(frozen=True)
class PriceEffect:
    """What sales of a product did while another one, or it itself, was cheaper.

    Parameters
    ----------
    product
        The product whose sales are told.
    relation
        What it is to the one whose price moved; "itself" of that one.
    change
        By what share its sales were higher, −0.2 for a fifth lower.
    low, high
        The ends of the 90% interval of that.
    price
        What was paid in those weeks over the usual price, on average.
    weeks
        How many weeks those were.
    usual_weeks
        With how many they are compared.
    baskets
        Baskets with the product in all of these weeks.
    """

    product: Label
    relation: str
    change: float
    low: float
    high: float
    price: float
    weeks: int
    usual_weeks: int
    baskets: int

    @property
    def told(self) -> bool:
        """Whether sales moved for sure: the interval is all above or all below 0."""
        return self.low > 0 or self.high < 0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Measured:
    """The factor by which sales changed, the ends of its interval, and what it rests on."""

    factor: float
    low: float
    high: float
    price: float
    weeks: int
    usual_weeks: int
    baskets: int

    def effect(self, product: Label, relation: str) -> PriceEffect:
        """The same as an answer on a product that is in a relation to the one whose price moved."""
        changes = (self.factor - 1.0, self.low - 1.0, self.high - 1.0)
        return PriceEffect(product, relation, *changes, self.price, self.weeks, self.usual_weeks, self.baskets)


def measure_effect(
    grid: SalesGrid, relative: Floats, moved: int, partner: int, cheaper: float = CHEAPER
) -> Measured | None:
    """What sales in one column of a grid did while the price in another was lower; None where there is too little."""
    price = relative[:, moved]
    quiet = np.ones(len(price), bool) if partner == moved else ~(relative[:, partner] <= 1.0 - cheaper)
    cheap, usual = (price <= 1.0 - cheaper) & quiet, (price >= 1.0 - NEARLY * cheaper) & quiet
    stratum = np.unique(grid.store * ROOM + grid.week // STRETCH, return_inverse=True)[1]
    both = np.bincount(stratum[cheap], minlength=len(price)) * np.bincount(stratum[usual], minlength=len(price)) > 0
    cheap, usual = cheap & both[stratum], usual & both[stratum]
    weeks, usual_weeks = (len(np.unique(grid.week[lines])) for lines in (cheap, usual))
    if weeks < CHEAP_WEEKS or usual_weeks < USUAL_WEEKS:
        return None
    sold, baskets = grid.sold[:, partner].astype(np.float64), grid.baskets.astype(np.float64)
    found = compare(sold, baskets, grid.week, stratum, cheap, usual)
    if found is None:
        return None
    paid = float(np.average(price[cheap], weights=grid.baskets[cheap]))
    return Measured(*found, paid, weeks, usual_weeks, int(grid.sold[cheap | usual, partner].sum()))


ROOM = 1 << 20
"""More than there are stretches of weeks."""


def compare(
    sold: Floats, baskets: Floats, week: Longs, stratum: Longs, cheap: Flags, usual: Flags
) -> tuple[float, float, float] | None:
    """The factor between the rates of some lines and of others, stratum by stratum, and both ends of its interval."""
    x1, x0, n1, n0 = (
        np.bincount(stratum[lines], weights=column[lines], minlength=int(stratum.max()) + 1)
        for column in (sold, baskets)
        for lines in (cheap, usual)
    )
    total = np.maximum(n1 + n0, 1.0)
    above, below = float((x1 * n0 / total).sum()), float((x0 * n1 / total).sum())
    if below < BASKETS or x0.sum() < BASKETS:
        return None
    # A partner that was not sold at all in the cheaper weeks counts as half a basket.
    factor = max(above, 0.5) / below
    variance = float(((x1 + x0) * n1 * n0 / total**2).sum()) / (max(above, 0.5) * below)
    parts = [
        weekly_spread(sold[lines], baskets[lines] * (x / np.maximum(n, 1.0))[stratum[lines]], week[lines])
        for lines, x, n in ((cheap, x1, n1), (usual, x0, n0))
    ]
    freedom = sum(free for _, free in parts)
    if freedom < FREEDOM:
        return None
    from scipy.special import stdtrit

    away = float(-stdtrit(freedom, TAIL)) * np.sqrt(variance * max(sum(far for far, _ in parts) / freedom, 1.0))
    return factor, float(factor * np.exp(-away)), float(factor * np.exp(away))


def weekly_spread(sold: Floats, expected: Floats, week: Longs) -> tuple[float, int]:
    """How far sales are from what was expected, week by week over all stores, which share what happens in a week: the
    sum of squares over what chance alone would make, and how many weeks are free to vary."""
    weeks, of = np.unique(week, return_inverse=True)
    far, chance = np.bincount(of, weights=sold - expected), np.bincount(of, weights=expected)
    sure = chance > 0
    return float((far[sure] ** 2 / chance[sure]).sum()), len(weeks) - len(np.unique(weeks // STRETCH))
