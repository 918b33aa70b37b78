"""Holding: how likely a rule still has a lift above 5 in the next period.

If its products go on selling as they did of late, chance brings e baskets with all of them, and the lift to expect
makes m = e·E λ of it. The count to come is taken as negative binomial around m, as wide as the high end of the lift's
interval says, and the rule holds if it is above 5·e. Anscombe's transform (Biometrika, 1948) makes such a count nearly
normal, which is quick enough for millions of pairs. Unlike the low end of the lift, it tells a rare pair that is about
to come again from one of a product that is no longer sold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from omba.assortment.expected_sales import NINE_IN_TEN, PERIOD
from omba.rules.order import LOW_END, rank_numbers

if TYPE_CHECKING:
    from omba.rules.rules import Rules

Floats = NDArray[np.float64]

HOLDS = "hold_chance"
"""The column of it."""
LINE = "line"
"""By which the line of a family is picked: those likelier than not to hold first, by that; then by the low end, since
of rules that are not strong the chance to be would speak for the rarest."""
STRONG = 5.0
"""A rule holds if its lift is above this."""
NARROWEST, WIDEST = 0.15, 1.0
"""The deviation of a lift, as a share of it, is taken to lie within."""


def hold_chance(chance: Floats, expected: NDArray[np.floating], high: NDArray[np.floating]) -> Floats:
    """How likely each rule has a lift above `STRONG` in the next period; NaN where there is no forecast.

    `chance` are the baskets with all products that chance would make of all learned, at the sales to come.

    >>> chance, expected, high = np.full(3, 3.0), np.array([20.0, 6.0, 20.0]), np.array([30.0, 9.0, 90.0])
    >>> hold_chance(chance, expected, high).round(2).tolist()
    [1.0, 0.57, 0.91]
    """
    # Not needed for the first answers, and slow to import.
    from scipy.special import ndtr

    by_chance = PERIOD * np.asarray(chance, np.float64)
    mean = np.maximum(by_chance * expected, 1e-9)
    with np.errstate(divide="ignore", invalid="ignore"):
        wide = np.log(np.asarray(high, np.float64) / expected) / NINE_IN_TEN
    shape = np.clip(np.nan_to_num(wide, posinf=WIDEST), NARROWEST, WIDEST) ** -2.0
    scale = np.maximum(shape - 0.75, 0.25)

    def normal(count: Floats) -> Floats:
        return np.asarray(2.0 * np.sqrt(shape) * np.arcsinh(np.sqrt((count + 0.375) / scale)))

    return np.asarray(ndtr(normal(mean) - normal(np.floor(STRONG * by_chance) + 0.5)), np.float64)


def line_order(holds: NDArray[np.floating], low: NDArray[np.floating]) -> Floats:
    """The numbers of `LINE`, from 0 to 2.

    >>> line_order(np.array([0.9, 0.2, 0.1]), np.array([0.0, 1.5, 3.0])).tolist()
    [1.9, 0.6, 0.75]
    """
    least = np.maximum(np.nan_to_num(rank_numbers(LOW_END, low)), 0.0)
    return np.where(holds >= 0.5, 1.0 + holds, least / (1.0 + least))


def rules_hold(rules: Rules) -> Floats:
    """The same of a table of rules."""
    chance = rules.n_a.astype(np.float64) * rules.n_b / max(rules.n, 1)
    chance *= rules.catalogue.going_on([(*a, *c) for a, c in rules.sides])
    return hold_chance(chance, rules.column("expected_lift"), rules.column("expected_lift_high"))
