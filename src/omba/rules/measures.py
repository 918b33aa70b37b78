"""Measures: how strong a rule A ⇒ B is, each a small function of four counts.

`n_ab` baskets hold both sides, `n_a` the antecedents, `n_b` the consequents, and there are `n` in all. The first
twelve are those of mlxtend, under its names and with its values; the others are those of arules that people use
(M. Hahsler, "A Probabilistic Comparison of Commonly Used Interest Measures for Association Rules", 2015).

A ratio of nothing by nothing is NaN: there is no evidence either way. Something by nothing is infinite. Where mlxtend
gives a number instead (`zhangs_metric`, `certainty`), so does this.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omba.errors import UnknownError, nearest
from omba.rules import tails

Floats = NDArray[np.float64]
Function = Callable[[Floats, Floats, Floats, Floats], Floats]

HYPER_LIFT_QUANTILE = 0.99


@dataclass(frozen=True)
class Measure:
    """A measure of a rule.

    Parameters
    ----------
    name
        Its column.
    function
        Computes it from the baskets with both sides, with the antecedents, with the consequents, and in all.
    says
        What it says, in one line.
    """

    name: str
    function: Function
    says: str


def _antecedent_support(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return n_a / n


def _consequent_support(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return n_b / n


def _support(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return n_ab / n


def _confidence(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return n_ab / n_a


def _lift(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return n_ab / n_a / (n_b / n)


def _representativity(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return np.ones_like(n_ab)


def _leverage(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return n_ab / n - n_a / n * (n_b / n)


def _conviction(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return np.where(n_ab == n_a, np.where(n_a > 0, np.inf, np.nan), (1 - n_b / n) / (1 - n_ab / n_a))


def _zhangs_metric(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    most = np.maximum(n_ab / n * (1 - n_a / n), n_a / n * (n_b / n - n_ab / n))
    return np.where(most == 0, 0.0, _leverage(n_ab, n_a, n_b, n) / most)


def _jaccard(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return n_ab / (n_a + n_b - n_ab)


def _certainty(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return np.where(n_b == n, 0.0, (n_ab / n_a - n_b / n) / (1 - n_b / n))


def _kulczynski(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return (n_ab / n_a + n_ab / n_b) / 2


def _cosine(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return n_ab / np.sqrt(n_a * n_b)


def _imbalance(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return np.abs(n_a - n_b) / (n_a + n_b - n_ab)


def _max_confidence(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return n_ab / np.minimum(n_a, n_b)


def _laplace(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return (n_ab + 1) / (n_a + 2)


def _added_value(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return n_ab / n_a - n_b / n


def _without(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    """P(B | not A)."""
    return (n_b - n_ab) / (n - n_a)


def _difference_of_confidence(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return n_ab / n_a - _without(n_ab, n_a, n_b, n)


def _relative_risk(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return n_ab / n_a / _without(n_ab, n_a, n_b, n)


def _odds_ratio(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return n_ab * (n - n_a - n_b + n_ab) / ((n_a - n_ab) * (n_b - n_ab))


def _yules_q(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    agree, differ = n_ab * (n - n_a - n_b + n_ab), (n_a - n_ab) * (n_b - n_ab)
    return (agree - differ) / (agree + differ)


def _phi(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return (n * n_ab - n_a * n_b) / np.sqrt(n_a * n_b * (n - n_a) * (n - n_b))


def _chi_squared(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return n * _phi(n_ab, n_a, n_b, n) ** 2


def _kappa(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    chance = (n_a * n_b + (n - n_a) * (n - n_b)) / n**2
    return ((2 * n_ab + n - n_a - n_b) / n - chance) / (1 - chance)


def _hyper_lift(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    # Its statistics take SciPy a second to import: only where they are asked for.
    from scipy.stats import hypergeom

    return n_ab / np.asarray(hypergeom.ppf(HYPER_LIFT_QUANTILE, n, n_a, n_b), np.float64)


def _hyper_confidence(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return 1.0 - _fishers_p(n_ab, n_a, n_b, n)


def _fishers_p(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    columns = np.broadcast_arrays(n_ab, n_a, n_b, n)
    out = np.empty(columns[0].size)
    tails.hypergeometric_tail(*(np.array(column, np.float64).ravel() for column in columns), out)
    return out.reshape(columns[0].shape)


def _p_adjusted(n_ab: Floats, n_a: Floats, n_b: Floats, n: Floats) -> Floats:
    return benjamini_hochberg(_fishers_p(n_ab, n_a, n_b, n))


MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure("antecedent support", _antecedent_support, "share of baskets with the antecedents"),
        Measure("consequent support", _consequent_support, "share of baskets with the consequents"),
        Measure("support", _support, "share of baskets with both"),
        Measure("confidence", _confidence, "share of the antecedents' baskets that have the consequents too"),
        Measure("lift", _lift, "how many times more often together than by chance"),
        Measure("representativity", _representativity, "share of baskets in which nothing is missing: always 1 here"),
        Measure("leverage", _leverage, "support beyond chance"),
        Measure("conviction", _conviction, "how many times more often the rule would fail by chance"),
        Measure("zhangs_metric", _zhangs_metric, "association from −1 (never together) to 1 (always)"),
        Measure("jaccard", _jaccard, "baskets with both ÷ baskets with either"),
        Measure("certainty", _certainty, "share of the doubt in the consequents that the antecedents remove"),
        Measure("kulczynski", _kulczynski, "mean of both confidences"),
        Measure("cosine_measure", _cosine, "baskets with both ÷ geometric mean of the two counts"),
        Measure("imbalance", _imbalance, "how unequal the two sides are, 0 to 1"),
        Measure("max_confidence", _max_confidence, "the higher of both confidences"),
        Measure("laplace", _laplace, "confidence, drawn towards ½ where counts are few"),
        Measure("added_value", _added_value, "confidence − consequent support"),
        Measure(
            "difference_of_confidence", _difference_of_confidence, "confidence − confidence without the antecedents"
        ),
        Measure("relative_risk", _relative_risk, "confidence ÷ confidence without the antecedents"),
        Measure("odds_ratio", _odds_ratio, "odds with the antecedents ÷ odds without"),
        Measure("yules_q", _yules_q, "the odds ratio, brought to −1 … 1"),
        Measure("phi", _phi, "correlation of the two sides"),
        Measure("chi_squared", _chi_squared, "n · phi², one degree of freedom"),
        Measure("kappa", _kappa, "agreement of the two sides beyond chance (Cohen)"),
        Measure("hyper_lift", _hyper_lift, "count ÷ the 99% quantile of the count by chance"),
        Measure("hyper_confidence", _hyper_confidence, "probability that chance gives fewer than the count"),
        Measure("fishers_p", _fishers_p, "probability that chance gives the count or more (Fisher, one-sided)"),
        Measure("p_adjusted", _p_adjusted, "fishers_p for as many rules as the table has (Benjamini–Hochberg)"),
    )
}

MLXTEND = tuple(MEASURES)[:12]
"""The measures of mlxtend's `association_rules`, in its order."""


def measure(name: str, n_ab: ArrayLike, n_a: ArrayLike, n_b: ArrayLike, n: ArrayLike) -> Floats:
    """The named measure of each rule.

    >>> measure("lift", [20], [40], [50], [1000]).tolist()
    [10.0]
    """
    if name not in MEASURES:
        raise UnknownError(f"measure {name!r} is not known{nearest(name, MEASURES)}")
    counts = np.broadcast_arrays(*(np.asarray(count, np.float64) for count in (n_ab, n_a, n_b, n)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(MEASURES[name].function(*counts))


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """P-values adjusted so that rejecting those below q makes at most a share q of false discoveries.

    With m p-values in ascending order, p_adjusted(i) = min over j ≥ i of p(j)·m/j (Benjamini and Hochberg, 1995).
    """
    values = np.atleast_1d(np.asarray(p, np.float64))
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known])]
    steps = values[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted = np.full_like(values, np.nan)
    adjusted[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return adjusted.reshape(np.shape(p))
