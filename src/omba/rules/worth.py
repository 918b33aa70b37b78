"""Worth: how many baskets will hold all products of a rule in the next period, and what those products bring in.

The next period has a third as many baskets as were learned, as in the forecast. If the products go on selling as they
did, n_a·n_b/n baskets of every n hold both sides by chance, and the expected lift times as many do. Where a year is
known, products of a season sell as in the same weeks a year ago; where it is not, what sold less of late goes on so.
The ends of the lift's interval, in nine periods of ten, with the chance in the count itself give those of the baskets.
What a product brings in a basket is its price times the quantity, on average. This is what goes together, not what a
promotion would add.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from omba.assortment.expected_sales import NINE_IN_TEN, PERIOD

if TYPE_CHECKING:
    from omba.rules.rules import Rules

Floats = NDArray[np.float64]

MONEY = ("revenue", "expected_baskets", "expected_revenue")
ENDS = tuple(f"{name}_{end}" for name in MONEY[1:] for end in ("low", "high"))
ANYWAY = "This is what goes together anyway, not what an offer adds."
"""To be said wherever these figures are shown."""
WORTH = (*MONEY, *ENDS)
"""The columns of what a rule is worth, and both ends of the 90% interval of what is expected."""


def worth(name: str, count: NDArray[Any], chance: Floats, lift: Callable[[str], NDArray[Any]], spent: Floats) -> Floats:
    """A column of what rules are worth; NaN where the forecast or a price is not known.

    `count` baskets hold all products of each, and `chance` would by chance; `lift` gives the expected lift and its ends
    by name; `spent` is what the products bring in a basket.
    """
    if name == "revenue":
        return np.asarray(count * spent, np.float64)
    what, _, end = name.removeprefix("expected_").partition("_")
    baskets = PERIOD * chance * np.asarray(lift("expected_lift"), np.float64)
    if end:
        away = PERIOD * chance * np.asarray(lift(f"expected_lift_{end}"), np.float64) - baskets
        # Beside the lift the number of baskets varies by itself, as a Poisson count does.
        away = np.sqrt(away**2 + NINE_IN_TEN**2 * baskets)
        baskets = np.maximum(baskets - away, 0.0) if end == "low" else baskets + away
    return np.asarray(baskets * spent if what == "revenue" else baskets)


def rule_worth(rules: Rules, name: str) -> Floats:
    """The same of a table of rules."""
    return worth(name, rules.count, rules.by_chance, rules.column, rules.spent)


def by_chance(rules: Rules) -> Floats:
    """Baskets with all products of each rule that chance would make, at the sales to come."""
    chance = rules.n_a.astype(np.float64) * rules.n_b / max(rules.n, 1)
    return np.asarray(chance * rules.catalogue.chance([(*a, *c) for a, c in rules.sides]))


def spent(rules: Rules) -> Floats:
    """What the products of each rule bring in a basket, together."""
    amount = rules.catalogue.amount
    return np.array([sum(map(amount, (*a, *c))) for a, c in rules.sides], np.float64)
