"""Holding: how likely a rule still has a lift above 5 in the next period.

If its products go on selling as they did of late, chance brings e baskets with all of them, and the lift to expect
makes m = e·E λ of it. The count to come is taken as negative binomial around m, as wide as the high end of the lift's
interval says, and the rule holds if it is above 5·e. Anscombe's transform (Biometrika, 1948) makes such a count nearly
normal, which is quick enough for millions of pairs. Unlike the low end of the lift, it tells a rare pair that is about
to come again from one of a product that is no longer sold.

Rules that are likelier than not to hold are looked at more closely, for three reasons to doubt them:

- sales may fall, as the worst tenth of products did in earlier quarters: what rests on few baskets is gone then;
- products that are sold at the same time of the year meet because of it, c times as often as what is sold evenly
  would. When their time comes they are everybody's, and the lift is lower by c. Where it is not known whether it comes,
  the lift is lowered by the root of c;
- what a few customers buy is their habit. With b who bought both, the lift's relative variance is 1 / (1 + b) wider.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from omba.assortment.expected_sales import NINE_IN_TEN, PERIOD
from omba.rules.order import LOW_END, rank_numbers

if TYPE_CHECKING:
    from omba.rules.catalogue import Catalogue
    from omba.rules.rules import Rules

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Numbers = NDArray[np.floating]

HOLDS = "hold_chance"
"""The column of it."""
LINE = "line"
"""By which the line of a family is picked: those likelier than not to hold first, by that; then by the low end, since
of rules that are not strong the chance to be would speak for the rarest."""
STRONG = 5.0
"""A rule holds if its lift is above this."""
NARROWEST, WIDEST = 0.15, 1.0
"""The deviation of a lift, as a share of it, is taken to lie within."""
LIKELY = 0.5
"""Rules as likely as this to hold are looked at more closely."""
FALLING = 0.2
"""How likely sales fall as those of the worst tenth of products did: the part of all whose nearest of five steps, the
first, third, … tenth, that is."""


def hold_chance(chance: Floats, expected: Numbers, high: Numbers, more: Floats | float = 0.0) -> Floats:
    """How likely each rule has a lift above `STRONG` in the next period; NaN where there is no forecast.

    `chance` are the baskets with all products that chance would make of all learned, at the sales to come; `more` is
    relative variance of the lift beyond that of its interval.

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
    shape = 1.0 / (np.clip(np.nan_to_num(wide, posinf=WIDEST), NARROWEST, WIDEST) ** 2 + more)
    scale = np.maximum(shape - 0.75, 0.25)

    def normal(count: Floats) -> Floats:
        return np.asarray(2.0 * np.sqrt(shape) * np.arcsinh(np.sqrt((count + 0.375) / scale)))

    return np.asarray(ndtr(normal(mean) - normal(np.floor(STRONG * by_chance) + 0.5)), np.float64)


def sets_hold(
    catalogue: Catalogue, sets: Rows, together: NDArray[np.integer], chance: Floats, expected: Numbers, high: Numbers
) -> Floats:
    """The same of lines of rows, the last the consequent, with what speaks against those that are likely to hold.

    `chance` are baskets by chance at the usual sales, `together` those that held all products.
    """
    outlook = catalogue.outlook
    if outlook is not None:
        chance = chance * outlook.going_on(sets)
    found = hold_chance(chance, expected, high)
    likely = np.flatnonzero(found >= LIKELY)
    if not len(likely):
        return found
    sets, chance, expected, high = sets[likely], chance[likely], expected[likely], high[likely]
    apart, more = _doubts(catalogue, sets, together[likely])
    ends = expected / apart, high / apart
    found[likely] = hold_chance(chance, *ends, more)
    if outlook is not None:
        found[likely] += FALLING * (hold_chance(chance * outlook.fallen(sets), *ends, more) - found[likely])
    return found


def _doubts(catalogue: Catalogue, sets: Rows, together: NDArray[np.integer]) -> tuple[Floats, Floats]:
    """By how much the lift of each line of rows may be lower when its season comes, and the relative variance that few
    customers add: each of the antecedent that says the worst of it. Of products that are not known there are none."""
    relations, outlook = catalogue.relations, catalogue.outlook
    apart, more = np.ones(len(sets)), np.zeros(len(sets))
    if relations is None:
        return apart, more
    known = np.flatnonzero(sets.max(axis=1, initial=0) < len(relations.counts))
    sets, together = sets[known], together[known]

    def worst(of_pairs: Callable[[Rows, Rows], Floats], pick: np.ufunc) -> Floats:
        columns = [of_pairs(sets[:, place], sets[:, -1]) for place in range(sets.shape[1] - 1)]
        return np.asarray(pick.reduce(columns))

    if relations.coincidence is not None and not (outlook is not None and outlook.known):
        # Where a year is known, the lift to expect goes by the coming weeks already.
        apart[known] = np.sqrt(np.maximum(worst(relations.coincidence, np.maximum), 1.0))
    if relations.knows_customers:
        more[known] = 1.0 / (1.0 + worst(lambda a, b: relations.buyers(a, b, together), np.minimum))
    return apart, more


def line_order(holds: Numbers, low: Numbers) -> Floats:
    """The numbers of `LINE`, from 0 to 2.

    >>> line_order(np.array([0.9, 0.2, 0.1]), np.array([0.0, 1.5, 3.0])).tolist()
    [1.9, 0.6, 0.75]
    """
    least = np.maximum(np.nan_to_num(rank_numbers(LOW_END, low)), 0.0)
    return np.where(holds >= 0.5, 1.0 + holds, least / (1.0 + least))


def rules_hold(rules: Rules) -> Floats:
    """How likely each rule of a table is to hold."""
    catalogue, found = rules.catalogue, np.full(len(rules), np.nan)
    chance = rules.n_a.astype(np.float64) * rules.n_b / max(rules.n, 1)
    expected, high = rules.column("expected_lift"), rules.column("expected_lift_high")
    for size in np.unique(rules.lengths).tolist():
        some = np.flatnonzero(rules.lengths == size)
        sides = [(*rules.antecedents[place], *rules.consequents[place]) for place in some.tolist()]
        sets = np.array([[catalogue.rows.get(label, len(catalogue)) for label in labels] for labels in sides], np.int64)
        found[some] = sets_hold(catalogue, sets, rules.count[some], chance[some], expected[some], high[some])
    return found
