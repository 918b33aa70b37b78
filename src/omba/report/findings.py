"""Findings: all that a report tells, gathered from a model, its rules and the baskets it learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Baskets, Clock
from omba.model import OMBA
from omba.rules import Filter, Rules
from omba.rules.explain import Explanation
from omba.rules.from_model import mine_rules
from omba.rules.nearest import MIN_COUNT
from omba.rules.theory import PAPER, Fit, choose, measured_scale

STRONGEST, SUGGESTED = 25, 12
"""Rules and unseen pairs in a report."""
KNOWN = 1_500
"""Both products of an unseen pair were in a basket of so many: of rarer ones, that they never met says little."""
FEWEST = 5
"""Baskets a pair of the cloud was in at least: below, lift is mostly luck."""
BRIDGES = 2
"""Products named that both of a pair are bought with."""
CLOUD = 900
"""Pairs drawn in the cloud: enough to see its shape, few enough for a small file."""


@dataclass(frozen=True)
class Cloud:
    """A sample of all pairs bought together: the share of baskets with both, and the lift."""

    support: NDArray[np.float64]
    lift: NDArray[np.float64]
    total: int
    """Pairs it was drawn from."""


@dataclass(frozen=True)
class Weeks:
    """Baskets a calendar week; the first and the last may be cut short."""

    names: Sequence[str]
    baskets: NDArray[np.int64]


@dataclass(frozen=True)
class Findings:
    """A report before it is written down."""

    title: str
    period: str
    facts: Sequence[tuple[str, str]]
    """(figure, what it counts)"""
    strongest: Rules
    unseen: Rules
    reasons: Sequence[str]
    """In words, why each of the unseen pairs is expected."""
    cloud: Cloud
    weeks: Weeks | None
    fits: Sequence[Fit]
    settings: str


def findings(title: str, model: OMBA, baskets: Baskets | None, strongest: Rules, unseen: Rules) -> Findings:
    """Gather what there is to tell. Without the baskets, which a model does not keep, there is no chart of weeks."""
    facts = [
        (f"{model.n_baskets:,}", "baskets"),
        (f"{int(model.product_counts.sum()) if baskets is None else baskets.n_items:,}", "products in them"),
        (f"{len(model.products):,}", "different products"),
        (f"{len(model.users):,}", "shoppers"),
        (f"{model.n_windows:,}", "windows learned"),
    ]
    learned = model.product_vectors[model.product_counts >= FEWEST]
    return Findings(
        title=title,
        period=last_moment(model) if baskets is None else period(baskets),
        facts=[fact for fact in facts if fact[0] != "0"],
        strongest=strongest,
        unseen=unseen,
        reasons=[reason(unseen.explain(rule.antecedents[0], rule.consequents[0])) for rule in unseen],
        cloud=cloud(model),
        weeks=None if baskets is None else weeks(baskets),
        fits=[PAPER, choose(measured_scale(learned), len(model.products))],
        settings=repr(model),
    )


def of_model(model: OMBA, title: str = "What belongs together", baskets: Baskets | None = None) -> Findings:
    """The findings of a model, with the rules and the unseen pairs that belong into a report.

    Where the baskets are at hand, they are counted exactly; else the model tells what it counted itself.

    Parameters
    ----------
    model
        A model that has learned.
    title
        The headline.
    baskets
        What it learned, if it is at hand.

    >>> import omba
    >>> from omba import report
    >>> model = omba.OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
    >>> report.of_model(model, title="My shop").title
    'My shop'
    """
    n = model.n_baskets if baskets is None else len(baskets)
    strongest = mine_rules(model, top=STRONGEST, evidence=baskets)
    least = max(MIN_COUNT, n // KNOWN)
    unseen = strongest[:0]
    if int((model.product_counts >= least).sum()) > 1:
        unseen = mine_rules(model, top=SUGGESTED, evidence=baskets, where=Filter(status="unseen"), min_count=least)
    return findings(title, model, baskets, strongest, unseen)


def last_moment(model: OMBA) -> str:
    """Until when a model has learned."""
    moment = None if model.clock is Clock.NONE else model.clock.show(model.last_time)
    if moment is None:
        return "in the order they came"
    return f"until day {moment}" if isinstance(moment, int) else f"until {moment:%-d %B %Y}"


def reason(explanation: Explanation) -> str:
    """Why a pair is expected, in a line: what both are bought with, and who buys both."""
    parts = []
    if explanation.bridges:
        bridges = [explanation.show(bridge.product) for bridge in explanation.bridges[:BRIDGES]]
        parts.append(f"both go with {' and '.join(bridges)}")
    if explanation.shoppers is not None and explanation.shoppers.number > explanation.shoppers.chance:
        buyers = (
            "1 shopper buys" if explanation.shoppers.number == 1 else f"{explanation.shoppers.number:,} shoppers buy"
        )
        parts.append(f"{buyers} both, where chance would make it {explanation.shoppers.chance:.2g}")
    return "; ".join(parts)


def period(baskets: Baskets) -> str:
    """From when to when.

    >>> period(Baskets.from_lists([["tea"]]))
    'in the order they came'
    """
    if baskets.times is None or not len(baskets):
        return "in the order they came"
    first, last = (baskets.clock.show(int(tick)) for tick in (baskets.times[0], baskets.times[-1]))
    if isinstance(first, int) or isinstance(last, int):
        return f"day {first} to day {last}"
    return f"{first:%-d %B %Y} to {last:%-d %B %Y}"


def cloud(model: OMBA, most: int = CLOUD) -> Cloud:
    """Pairs bought together `FEWEST` times or more, as many as can be drawn, chosen at random."""
    a, b, count = model.evidence.observed(FEWEST)
    total = len(count)
    if total > most:
        chosen = np.sort(np.random.default_rng(0).choice(total, most, replace=False))
        a, b, count = a[chosen], b[chosen], count[chosen]
    counts, n = model.evidence.counts.astype(np.float64), model.n_baskets
    return Cloud(count / n, count * n / (counts[a] * counts[b]), total)


def weeks(baskets: Baskets) -> Weeks | None:
    """Baskets by calendar week, weeks without any included; None where there are no dates or a single week."""
    if baskets.times is None or baskets.clock is not Clock.DATETIME or not len(baskets):
        return None
    monday = (baskets.times.astype("datetime64[us]").astype("datetime64[D]").astype(np.int64) + 3) // 7
    counts = np.bincount(monday - monday[0])
    if len(counts) < 2:
        return None
    starts = (np.arange(len(counts)) + monday[0]) * 7 - 3
    return Weeks([str(day) for day in starts.astype("datetime64[D]")], counts)
