"""Coming up: what belonged together at this time last year, and is about to again.

Of every pair that was bought together often enough, the coming weeks' part of its year is told by the sales of its two
products (see the outlook). Those pairs come up whose baskets should be twice the usual or more. They are ranked by the
baskets to expect beyond both: beyond the usual time of year, and beyond what chance brings in those weeks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.assortment.expected_sales import NINE_IN_TEN
from omba.baskets import Label
from omba.errors import SettingError
from omba.rules.catalogue import SalesOutlook
from omba.rules.lines import best_of_each, choose_lines
from omba.rules.mining_input import MiningInput
from omba.rules.rule_status import FEW

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

WEEKS = 6
"""Weeks to come, unless others are asked for."""
TWICE = 2.0
"""Baskets of the coming weeks, against usual, from which on a pair comes up."""
STRONG = 1.5
"""The lift that a pair must have within its season, by the low end of its count: what is merely sold at the same time
does not belong together."""
USES = 2
"""Lines that a product is in, at most."""
APART = ("substitute", "different customers")
"""Relations of products that do not belong together."""
UNKNOWN = (
    "Less than a year is known of the coming weeks, so what the time of year will bring cannot be told: nothing was "
    "learned of the same weeks a year ago."
)


@dataclass(frozen=True)
class ComingRule:
    """Two products that are about to be bought together more than usual.

    Parameters
    ----------
    products
        The two, the rarer first.
    names
        What they are called beside their labels, None for those without a name.
    season
        The months in which they are mostly sold together, "" where these are no few weeks.
    begins
        The day from which on they were sold more than usual a year ago, of this year.
    times
        How many times the usual the baskets with both should be in the coming weeks.
    count
        Baskets with both so far.
    lift
        The lift to expect in those weeks: chance is higher in a season too.
    expected_baskets
        Baskets with both in the coming weeks, if it comes again, with both ends of the 90% interval.
    relation
        What the two are to each other; None where that is not known.
    """

    products: list[Label]
    names: list[str | None]
    season: str
    begins: str
    times: float
    count: int
    lift: float
    expected_baskets: float
    expected_baskets_low: float
    expected_baskets_high: float
    relation: str | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class ComingUp:
    """What is about to belong together.

    Parameters
    ----------
    known
        Whether the same weeks a year ago are known; where they are not, nothing can be told.
    first
        The first day of the coming weeks.
    last
        The last of them.
    returns
        The share of what was sold at this time last year that is sold again: what comes up may not come.
    rules
        What comes up, most baskets first.
    """

    known: bool
    first: str
    last: str
    returns: float
    rules: list[ComingRule]


def find_coming_up(given: MiningInput, weeks: int = WEEKS, top: int = 20) -> ComingUp:
    """The `top` rules that the coming weeks will bring more than usual, by the same weeks a year ago."""
    if weeks < 1 or top < 1:
        raise SettingError(f"weeks={weeks} and top={top}: give 1 or more of each")
    find = given.catalogue.find_outlook
    outlook = None if find is None else find(-(-weeks // 2))
    if outlook is None or not outlook.met:
        return ComingUp(False, "", "", 0.5, [])
    days = str(outlook.day(0)), str(outlook.day(outlook.ahead) - np.timedelta64(1, "D"))
    if not outlook.known:
        return ComingUp(False, *days, outlook.returns, [])
    pairs = rising_pairs(given, outlook)
    places = best_of_each(pairs[0][:, 0], pairs[0][:, 1], USES)
    places = places[choose(given, pairs[0][places], 4 * top)]
    rules = records(given, outlook, [column[places] for column in pairs])[:top]
    return ComingUp(True, *days, outlook.returns, rules)


def rising_pairs(given: MiningInput, outlook: SalesOutlook) -> tuple[Rows, Rows, Floats, Floats, Floats]:
    """(pairs of rows, baskets so far, times the usual, lift in season, baskets to expect), best first."""
    left, right, count = (np.asarray(column, np.int64) for column in given.observed(FEW))
    many = len(outlook.moves)
    inside = (left < many) & (right < many)
    some = np.flatnonzero(inside)[outlook.moves[left[inside]] | outlook.moves[right[inside]]]
    sets, count = np.column_stack([left[some], right[some]]), count[some]
    chance, factor = outlook.factors(sets)
    usual = outlook.part_of_time * count
    # Told as if it came again: how likely that is stands beside it.
    times = chance * factor / np.where(outlook.doubtful(sets), outlook.returns, 1.0)
    expected = usual * times
    lift = factor * count * given.n_baskets / np.maximum(given.counts[sets].prod(axis=1, dtype=np.float64), 1.0)
    sure = 1.0 - NINE_IN_TEN / np.sqrt(np.maximum(count, 1))
    kept = np.flatnonzero((times >= TWICE) & (lift * sure >= STRONG))
    beyond = expected * (1.0 - 1.0 / np.maximum(times, 1.0)) * (1.0 - 1.0 / np.maximum(lift, 1.0))
    order = kept[np.argsort(-beyond[kept], kind="stable")]
    return sets[order], count[order], times[order], lift[order], expected[order]


def choose(given: MiningInput, sets: Rows, most: int) -> list[int]:
    """The places of pairs that are lines of their own: one for each family."""
    families = given.catalogue.families
    if families is None or not len(families):
        return [*range(min(len(sets), most))]
    return choose_lines(map(tuple, families.groups[sets].tolist()), len(families), False, most)


def records(given: MiningInput, outlook: SalesOutlook, pairs: list[Any]) -> list[ComingRule]:
    """Pairs as they are told, without those that do not belong together."""
    sets, catalogue = pairs[0], given.catalogue
    relations: Sequence[str | None] = [None] * len(sets)
    if catalogue.relations is not None and len(sets):
        relations = catalogue.relations.judge(sets[:, 0], sets[:, 1]).names
    seasons = catalogue.seasons(sets) if catalogue.seasons is not None and len(sets) else [""] * len(sets)
    begins = outlook.begins(sets) if len(sets) else []
    found = []
    for place, (rows, count, times, lift, expected) in enumerate(zip(*(one.tolist() for one in pairs), strict=True)):
        if relations[place] in APART:
            continue
        rarer = sorted(rows, key=lambda row: int(given.counts[row]))
        labels = [given.labels[row] for row in rarer]
        # The count so far is Poisson, and that of the coming weeks is again.
        away = NINE_IN_TEN * np.sqrt(expected + expected**2 / (count + 1.0))
        ends = max(expected - float(away), 0.0), expected + float(away)
        names = [catalogue.name(label) for label in labels]
        day = str(begins[place])
        found.append(
            ComingRule(labels, names, seasons[place], day, times, count, lift, expected, *ends, relations[place])
        )
    return found
