"""Forecast quality: how likely the expected lift made the later counts, and how often its interval was right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import gammaln

from omba.evaluation.period_counts import Floats, PeriodCounts, Rows, sets_of
from omba.evaluation.truth_result import FEW, Covered, Likely
from omba.model.likelihood import NORMAL, quantiles
from omba.rules import MiningInput, Rules
from omba.rules.order import TRACE

Prior = tuple[float, float]
"""Shape and mean of a gamma prior of lifts."""
MOST_PAIRS = 3_000_000
"""Pairs whose likelihood is taken: all there are, or so many drawn at random."""


def random_pairs(before: PeriodCounts, after: PeriodCounts, seed: int) -> tuple[Rows, Rows]:
    """Pairs of products sold often enough before, and at all after: all, or very many at random."""
    rows = np.flatnonzero((before.counts.counts >= FEW) & (after.counts.counts > 0))
    if len(rows) * (len(rows) - 1) // 2 <= MOST_PAIRS:
        a, b = np.triu_indices(len(rows), 1)
        return rows[a], rows[b]
    a, b = np.random.default_rng(seed).integers(0, len(rows), (2, MOST_PAIRS))
    return rows[a[a != b]], rows[b[a != b]]


def forecast(given: MiningInput, before: PeriodCounts, a: Rows, b: Rows) -> tuple[Floats, Floats, Floats]:
    """The forecast for pairs, block by block; low ends that are but a trace are 0."""
    unit = given.vectors / np.maximum(np.linalg.norm(given.vectors, axis=1, keepdims=True), 1e-12)
    parts = []
    for start in range(0, len(a), 1 << 18):
        x, y = a[start : start + (1 << 18)], b[start : start + (1 << 18)]
        cosine = np.einsum("ij,ij->i", unit[x], unit[y])
        parts.append(given.expect(x, y, cosine, before.together(x, y)))
    mean, low, high = (np.concatenate(column).astype(np.float64) for column in zip(*parts, strict=True))
    return mean, np.where(low <= TRACE, 0.0, low), high


def likelihoods(
    given: MiningInput, before: PeriodCounts, after: PeriodCounts, pairs: tuple[Rows, Rows], prior: Prior
) -> list[Likely]:
    """Mean log-likelihood of later counts, by the lift expected and by simpler ways to tell it."""
    a, b = pairs
    n, chance = before.together(a, b), before.chance(a, b)
    later, later_chance = after.together(a, b), after.chance(a, b)
    few = n < FEW
    unseen = few & (n == 0)
    # Raw lift says that what was not seen never comes; its best case is the mean lift of the unseen, in hindsight.
    floor = max(later[unseen].sum(), 0.5) / max(later_chance[unseen].sum(), 1e-9)
    shape, mean = prior
    lifts = {
        "expected lift": forecast(given, before, a, b)[0],
        "counts alone, prior fitted": (shape + n) / (shape / mean + chance),
        "constant-prior shrinkage": (1.0 + n) / (1.0 + chance),
        "raw lift": np.where(n > 0, n / chance, floor),
    }
    groups = few, np.ones(len(n), bool), ~few
    return [
        Likely(name, *(poisson(later[some], (later_chance * value)[some]) for some in groups))
        for name, value in lifts.items()
    ]


def poisson(counts: NDArray[np.int64], mean: Floats) -> float:
    """The mean log-likelihood of counts, given their means; NaN of none."""
    if not len(counts):
        return float("nan")
    return float(np.mean(counts * np.log(mean) - mean - gammaln(counts + 1.0)))


def fit_prior(n: NDArray[np.int64], chance: Floats) -> Prior:
    """Shape and mean of the gamma prior under which the counts are most likely (W. DuMouchel, 1999)."""
    some = np.random.default_rng(0).permutation(len(n))[:200_000]
    n, chance = n[some], chance[some]

    def cost(logs: Floats) -> float:
        shape, mean = np.exp(logs)
        mu = mean * chance
        terms = (
            gammaln(n + shape) - gammaln(shape) + shape * np.log(shape / (shape + mu)) + n * np.log(mu / (shape + mu))
        )
        return -float(terms.mean())

    shape, mean = np.exp(minimize(cost, np.zeros(2), method="Nelder-Mead").x)
    return float(shape), float(mean)


def predictive_low(n: NDArray[np.int64], chance: Floats, ahead: Floats, prior: Prior) -> Floats:
    """The 5% quantile of the lift that counts alone let expect to be shown, where chance brings `ahead` baskets.

    What is left of a quantile of 0 is the lift expected, so that a sort still ranks.
    """
    shape, mean = prior
    lift = (shape + n) / (shape / mean + chance)
    low = np.empty(len(n))
    quantiles(ahead * lift, 1 / (shape + n), -NORMAL, low)
    return low / np.maximum(ahead, 1e-12) + 1e-9 * lift


def coverage(
    given: MiningInput, before: PeriodCounts, after: PeriodCounts, rules: Rules, pairs: tuple[Rows, Rows]
) -> list[Covered]:
    """How often the lift shown lay in the interval: of the best rules, and of pairs by status."""
    a, b = pairs
    n = before.together(a, b)
    groups = {f"{name}, any": (a[kept], b[kept]) for name, kept in
              (("observed", n >= FEW), ("rare", (n > 0) & (n < FEW)), ("unseen", n == 0))}  # fmt: skip
    best = next((rows for rows in sets_of(rules, given) if rows.shape[1] == 2), np.empty((0, 2), np.int64))
    out = []
    for name, (x, y) in {f"best {len(best):,} pairs": (best[:, 0], best[:, 1]), **groups}.items():
        later, chance = after.together(x, y), after.chance(x, y)
        sold = chance > 0
        if not sold.any():
            continue
        mean, low, high = (column[sold] for column in forecast(given, before, x, y))
        shown = later[sold] / chance[sold]
        inside, below = (shown >= low) & (shown <= high), shown < low
        ratio = float(np.median(shown / mean))
        out.append(Covered(name, int(sold.sum()), float(inside.mean()), float(below.mean()), ratio))
    return out
