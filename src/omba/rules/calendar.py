"""Calendar: families and rules over the year, a row each: how many times the usual they are sold in each fortnight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Label
from omba.rules.catalogue import Catalogue, SalesOutlook
from omba.rules.rules import Rules

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class CalendarRow:
    """A family or a rule over the year.

    Parameters
    ----------
    name
        What a family is called; of a rule None.
    products
        The members of a family, best sellers first, or the products of a rule.
    names
        What they are called beside their labels.
    count
        Baskets with each member added up, or with all products of a rule.
    season
        The months in which most of it is sold, "" where it is sold all year.
    rates
        How many times the usual it is sold in each of the 26 fortnights of the year; None in one never met.
    """

    name: str | None
    products: list[Label]
    names: list[str | None]
    count: int
    season: str
    rates: list[float | None]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def family_calendar(catalogue: Catalogue, outlook: SalesOutlook) -> list[CalendarRow]:
    """All families over the year, those that sell most first."""
    families = catalogue.families
    if families is None or not len(families):
        return []
    members = families.members
    rates, seasons = outlook.rates_of(members), outlook.seasons_of(members)
    return [
        CalendarRow(
            name,
            [catalogue.labels[row] for row in rows.tolist()],
            [catalogue.name(catalogue.labels[row]) for row in rows.tolist()],
            int(families.counts[rows].sum()),
            season,
            round_rates(line),
        )
        for name, rows, season, line in zip(families.names, members, seasons, rates, strict=True)
    ]


def rule_calendar(rules: Rules, outlook: SalesOutlook) -> list[CalendarRow]:
    """Rules over the year, as they come."""
    catalogue, sets = rules.catalogue, [(*a, *c) for a, c in rules.sides]
    rates: list[Sequence[float]] = [()] * len(sets)
    for size in {len(labels) for labels in sets}:
        places = [place for place, labels in enumerate(sets) if len(labels) == size]
        rows = np.array([[catalogue.rows[label] for label in sets[place]] for place in places])
        with np.errstate(invalid="ignore", divide="ignore"):
            lines = outlook.profile(rows) / outlook.weights
        for place, line in zip(places, lines.tolist(), strict=True):
            rates[place] = line
    return [
        CalendarRow(None, [*labels], [catalogue.name(label) for label in labels], int(count), season, round_rates(line))
        for labels, count, season, line in zip(sets, rules.count.tolist(), rules.seasons, rates, strict=True)
    ]


def round_rates(rates: Sequence[float] | NDArray[np.floating]) -> list[float | None]:
    """Rates rounded, None where there are none.

    >>> round_rates([1.23456, float("nan")])
    [1.235, None]
    """
    return [round(float(rate), 3) if np.isfinite(rate) else None for rate in rates]
