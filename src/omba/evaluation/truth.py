"""The truth test: learn up to a day, and see whether the rules hold in what comes after.

A rule holds if its lift is above `lift` in the baskets from `until` on. Rankings are judged side by side by how many
of their best rules hold; unseen pairs by how often they then occur, against chance; the expected lift by how likely
it made the later counts, and by how many of the lifts shown lie in its 90% interval. All counts are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import gammaincinv

from omba.baskets import Baskets, Moment
from omba.errors import InputError
from omba.evaluation.forecast_quality import Prior, coverage, fit_prior, likelihoods, predictive_low, random_pairs
from omba.evaluation.period_counts import Floats, PeriodCounts, Rows, sets_of
from omba.evaluation.truth_result import FEW, Appeared, Held, TruthTest
from omba.model import OMBA
from omba.model.forecast import SHARE
from omba.rules import Filter, MiningInput, mine, nearest_pairs
from omba.rules.from_model import mining_input

Season = Callable[..., Floats]
"""How much of their usual sales the products of each line of rows had lately."""


def truth_test(
    baskets: Baskets,
    until: Moment | None = None,
    model: OMBA | None = None,
    every: str | int = "1d",
    top: Sequence[int] = (100, 1000),
    lift: float = 5.0,
    unseen: int = 200,
    seed: int = 0,
) -> TruthTest:
    """Learn the baskets before `until` and judge the rules by the baskets from then on.

    Without `until`, three quarters of the baskets are learned. A model that has learned already is taken as it is, and
    must have learned nothing from `until` on; one that has not is trained here.

    Parameters
    ----------
    baskets
        All baskets, in time order.
    until
        The moment that splits them; without one, three quarters are learned.
    model
        A model to judge; without one, OMBA with its defaults is trained.
    every
        How long a window is, where a model is trained; 1 or more baskets where it is a number.
    top
        How many of the best rules are judged; 1 or more.
    lift
        A rule holds if its lift is above this afterwards; 0 or more.
    unseen
        How many of the best unseen pairs are judged; 1 or more.
    seed
        Start of all random numbers; 0 or more.

    >>> import omba
    >>> year = omba.datasets.complete_journey()  # doctest: +SKIP
    >>> print(truth_test(year, until="2017-10-01"))  # doctest: +SKIP
    """
    past, later = split(baskets, until)
    model = OMBA(seed=seed) if model is None else model
    if model.n_baskets == 0:
        model.fit(past, every)
    given = mining_input(model)
    before, after = PeriodCounts.of(past, given), PeriodCounts.of(later, given)
    pairs = random_pairs(before, after, seed)
    prior = fit_prior(before.together(*pairs), before.chance(*pairs))
    rules = mine(given, max(top))
    held = [judge("expected_lift_low", t, sets_of(rules.head(t), given), before, after, lift) for t in top]
    for name, best in others(given, before, max(top), prior, model.forecast.season).items():
        held += [judge(name, t, [best[:t]], before, after, lift) for t in top]
    return TruthTest(
        baskets_before=before.n,
        baskets_after=after.n,
        lift=lift,
        held=held,
        appeared=[appear(given, after, by, unseen) for by in ("expected_lift", "expected_lift_low", "similarity")],
        likely=likelihoods(given, before, after, pairs, prior),
        covered=coverage(given, before, after, rules, pairs),
    )


def split(baskets: Baskets, until: Moment | None) -> tuple[Baskets, Baskets]:
    """The baskets to learn, and those to judge by; neither may be empty."""
    if until is None:
        middle = len(baskets) * 3 // 4
        past, later = baskets.slice(0, middle), baskets.slice(middle, len(baskets))
    else:
        past, later = baskets.between(None, until), baskets.between(until, None)
    if not len(past) or not len(later):
        raise InputError(
            f"of {len(baskets):,} baskets {len(past):,} are before {until!r} and {len(later):,} after: "
            "choose a day with baskets on both sides"
        )
    return past, later


def judge(name: str, top: int, sets: list[Rows], before: PeriodCounts, after: PeriodCounts, lift: float) -> Held:
    """How many of these rules have the lift, before and after."""
    parts = [(*before.strength(rows), *after.strength(rows)) for rows in sets]
    n, chance, later, later_chance = (np.concatenate(column) for column in zip(*parts, strict=True))
    holds = later > lift * later_chance
    support = float(np.median(n[holds]) / before.n) if holds.any() else float("nan")
    return Held(name, top, float((n > lift * chance).mean()), float(holds.mean()), support)


def others(given: MiningInput, before: PeriodCounts, top: int, prior: Prior, season: Season) -> dict[str, Rows]:
    """The best pairs by other orders, for comparison.

    Two of them rest on counts alone, with a prior fitted to them: by the low end of the lift, and by the low end of the
    lift that will be shown in a period a third as long, with sales of late where those are lower.
    """
    a, b = before.observed
    n, chance = before.pairs, before.chance(a, b)

    def best(score: Floats) -> Rows:
        rows = np.argsort(-score, kind="stable")[:top]
        return np.column_stack([a[rows], b[rows]])

    many = np.flatnonzero(n >= FEW)
    ahead = SHARE * chance[many] * season(np.column_stack([a, b])[many], before.counts.counts, before.n)
    predicted = np.zeros(len(n))
    predicted[many] = predictive_low(n[many], chance[many], ahead, prior)
    near = nearest_pairs(given.vectors, top, counts=given.counts)
    paper = nearest_pairs(given.vectors, top, counts=given.counts, preset="paper", ties=False)
    return {
        "cosine": np.column_stack([near.left, near.right]),
        "collisions, as in the paper": np.column_stack([paper.left, paper.right]),
        "highest lift": best(n / chance),
        "gamma-Poisson shrunk lift": best(gammaincinv(1.0 + n, 0.05) / (1.0 + chance)),
        "counts alone, prior fitted": best(gammaincinv(prior[0] + n, 0.05) / (prior[0] / prior[1] + chance)),
        "counts alone, season, predictive": best(predicted),
    }


def appear(given: MiningInput, after: PeriodCounts, by: str, top: int) -> Appeared:
    """How many of the best unseen pairs then occurred."""
    rules = mine(given, top, sort=by, where=Filter(status="unseen", length=2))
    if not len(rules):
        return Appeared(by, 0, float("nan"), float("nan"))
    (pairs,) = sets_of(rules, given)
    occurred, chance = after.strength(pairs)
    return Appeared(by, len(pairs), float((occurred > 0).mean()), float((1 - np.exp(-chance)).mean()))
