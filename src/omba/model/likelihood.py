# mypy: disallow_untyped_decorators=False
"""Kernels of the forecast: the lift that a cosine and past counts lead to, how likely later counts are, quantiles.

The parameters `theta` stand in a row: the link of the cosine for unseen pairs and for seen ones, a value for each knot;
the strength of each; how little each trusts the cosines of rare products; the pull of popularity; the odds of the wide
part of the prior and how far above the other it lies; and the drift at a few levels of lift. All but the pull are
logarithms.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.int32]
Longs = NDArray[np.int64]

FASTMATH = {"reassoc", "contract", "arcp", "nsz", "afn"}
COMMON = 1000.0
"""The count of the rarer product at which popularity neither raises nor lowers the link."""
LEVELS = np.log(np.array([0.3, 1.0, 3.0, 10.0, 30.0, 100.0]))
"""Log-lifts at which the drift has a parameter."""
TAIL, NORMAL = 0.05, 1.6448536269514722
"""What is left out at each end of an interval, and where the normal distribution leaves it out."""
TRACE = 1e-6
"""A low end of nothing is written as this share of the lift expected times the chance to occur: a sort still ranks."""
WIDE = 1.0
"""Shape of the wide part of the prior."""
PLACES = 9
"""Parameters that one pair's likelihood depends on."""
FEW = 30.0
"""Up to this mean, quantiles of a count are summed up term by term; beyond it the count is nearly continuous."""


@njit(inline="always")
def cell(knots, cosine):  # type: ignore[no-untyped-def]
    """The knot at or before the cosine, and the share of the way to the next."""
    c = min(max(cosine, knots[0]), knots[-1])
    j = 0
    while j < len(knots) - 2 and c >= knots[j + 1]:
        j += 1
    return j, (c - knots[j]) / (knots[j + 1] - knots[j])


@njit(inline="always")
def trust(theta, n_a, n_b):  # type: ignore[no-untyped-def]
    """How much of its cosine a pair keeps: vectors of products met a few times are still mostly chance."""
    rarer = min(n_a, n_b)
    return rarer / (rarer + math.exp(theta))


@njit(inline="always")
def drifts(theta, size, mean):  # type: ignore[no-untyped-def]
    """The relative variance by which lifts of this size change from one period to the next."""
    j, f = cell(LEVELS, math.log(mean))
    return math.exp(theta[2 * size + 7 + j] * (1 - f) + theta[2 * size + 8 + j] * f)


@njit(inline="always")
def log_rising_factorial(t, y):  # type: ignore[no-untyped-def]
    """log Γ(t + y) − log Γ(t) and its derivative by t."""
    value, slope = 0.0, 0.0
    if y < 50:
        for i in range(y):
            value += math.log(t + i)
            slope += 1.0 / (t + i)
        return value, slope
    value = math.lgamma(t + y) - math.lgamma(t)
    # ψ(t + y) − ψ(t): sum up to where the asymptotic series is exact to many digits.
    while t < 8.0:
        slope += 1.0 / t
        t, y = t + 1.0, y - 1
    return value, slope + digamma(t + y) - digamma(t)


@njit(inline="always")
def digamma(x):  # type: ignore[no-untyped-def]
    return math.log(x) - 0.5 / x - 1.0 / (12 * x * x) + 1.0 / (120 * x**4) - 1.0 / (252 * x**6)


@njit(inline="always")
def weigh(n_ab, k, mu):  # type: ignore[no-untyped-def]
    """Log-likelihood of a past count under a gamma prior, but for terms all priors share, and its slopes.

    The count is negative binomial with shape k and mean mu; slopes are by log mu and by log k.
    """
    value, slope = log_rising_factorial(k, n_ab)
    value += k * math.log(k / (k + mu)) + n_ab * math.log(mu / (k + mu))
    slope += math.log(k / (k + mu)) + 1.0 - (k + n_ab) / (k + mu)
    return value, k * (n_ab - mu) / (k + mu), k * slope


@njit(inline="always")
def lift(theta, knots, cosine, n_ab, n_a, n_b, n, slopes):  # type: ignore[no-untyped-def]
    """Mean and relative variance of a pair's lift, and of the latter the part by drift.

    `slopes` takes the derivatives of log mean and of the variance without drift, by log m, log k, the odds of the
    wide part and its distance.
    """
    size = len(knots)
    other = 0 if n_ab == 0 else 1
    link = other * size
    j, f = cell(knots, cosine * trust(theta[2 * size + 2 + other], n_a, n_b))
    popularity = math.log(min(n_a, n_b) / COMMON)
    m = math.exp(theta[link + j] * (1 - f) + theta[link + j + 1] * f + theta[2 * size + 4] * popularity)
    k, wide = math.exp(theta[2 * size + other]), m * math.exp(theta[2 * size + 6])
    chance = n_a * n_b / n
    value1, by_m1, by_k1 = weigh(n_ab, k, m * chance)
    value2, by_m2, _ = weigh(n_ab, WIDE, wide * chance)
    p = 1.0 / (1.0 + math.exp(-(theta[2 * size + 5] + value2 - value1)))
    mean1, mean2 = (k + n_ab) / (k / m + chance), (WIDE + n_ab) / (WIDE / wide + chance)
    part1, part2 = k / (k + m * chance), WIDE / (WIDE + wide * chance)
    square1, square2 = mean1 * mean1 * (1 + 1 / (k + n_ab)), mean2 * mean2 * (1 + 1 / (WIDE + n_ab))
    mean, square = (1 - p) * mean1 + p * mean2, (1 - p) * square1 + p * square2
    for x in range(4):
        # Changes of the two means and of the weight between them, by log m, log k, the odds and the distance.
        to1 = part1 if x == 0 else k / (k + n_ab) - part1 if x == 1 else 0.0
        to2 = part2 if x == 0 or x == 3 else 0.0
        to_p = by_m2 - by_m1 if x == 0 else -by_k1 if x == 1 else 1.0 if x == 2 else by_m2
        to_p *= p * (1 - p)
        narrower = -k / ((k + n_ab) * (k + n_ab)) * mean1 * mean1 if x == 1 else 0.0
        to_mean = (1 - p) * mean1 * to1 + p * mean2 * to2 + (mean2 - mean1) * to_p
        to_square = (1 - p) * (2 * square1 * to1 + narrower) + p * 2 * square2 * to2 + (square2 - square1) * to_p
        slopes[0, x] = to_mean / mean
        slopes[1, x] = to_square / (mean * mean) - 2 * square / (mean * mean) * to_mean / mean
    drift = drifts(theta, size, mean)
    return mean, square / (mean * mean) - 1.0 + drift, drift


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FASTMATH)
def cosines(a: Rows, b: Rows, vectors: NDArray[np.float32], out: Floats) -> None:
    """Write the cosine of each pair of rows."""
    for i in range(len(a)):
        x, y = vectors[a[i]], vectors[b[i]]
        xy = xx = yy = np.float32(0)
        for d in range(len(x)):
            xy += x[d] * y[d]
            xx += x[d] * x[d]
            yy += y[d] * y[d]
        out[i] = xy / np.sqrt(xx * yy + 1e-30)


@njit(nogil=True, cache=True, error_model="numpy")
def likelihood(
    theta: Floats, knots: Floats, cosine: Floats, n_ab: Longs, n_a: Longs, n_b: Longs, n: int,
    later: Longs, chance: Floats, gradient: Floats, information: Floats,
) -> float:  # fmt: skip
    """Log-likelihood of the later counts, its gradient, and the sum of the squares of each pair's gradient.

    A later count is negative binomial with mean chance · lift and the lift's relative variance; terms without
    parameters are left out.
    """
    size, total = len(knots), 0.0
    place, slope, slopes = np.empty(PLACES, np.int64), np.empty(PLACES), np.empty((2, 4))
    gradient[:], information[:] = 0.0, 0.0
    for i in range(len(cosine)):
        mean, variance, drift = lift(theta, knots, cosine[i], n_ab[i], n_a[i], n_b[i], n, slopes)
        t, mu, y = 1.0 / variance, chance[i] * mean, later[i]
        value, by_shape = log_rising_factorial(t, y)
        total += value + t * math.log(t / (t + mu)) + y * math.log(mu / (t + mu))
        by_mean = t * (y - mu) / (t + mu)
        by_variance = -t * t * (by_shape + math.log(t / (t + mu)) + 1.0 - (t + y) / (t + mu))
        level, part = cell(LEVELS, math.log(mean))
        drifted = size * 2 + 7 + level
        if LEVELS[0] < math.log(mean) < LEVELS[-1]:
            by_mean += by_variance * drift * (theta[drifted + 1] - theta[drifted]) / (LEVELS[level + 1] - LEVELS[level])
        by_link, by_strength, by_odds, by_distance = by_mean * slopes[0] + by_variance * slopes[1]
        other = 0 if n_ab[i] == 0 else 1
        share = trust(theta[2 * size + 2 + other], n_a[i], n_b[i])
        j, f = cell(knots, cosine[i] * share)
        link = other * size
        place[0], slope[0] = link + j, by_link * (1 - f)
        place[1], slope[1] = link + j + 1, by_link * f
        place[2], slope[2] = 2 * size + other, by_strength
        place[3], slope[3] = 2 * size + 2 + other, 0.0
        if knots[0] < cosine[i] * share < knots[-1]:
            steep = (theta[link + j + 1] - theta[link + j]) / (knots[j + 1] - knots[j])
            slope[3] = -by_link * steep * cosine[i] * share * (1 - share)
        place[4], slope[4] = 2 * size + 4, by_link * math.log(min(n_a[i], n_b[i]) / COMMON)
        place[5], slope[5] = 2 * size + 5, by_odds
        place[6], slope[6] = 2 * size + 6, by_distance
        place[7], slope[7] = drifted, by_variance * drift * (1 - part)
        place[8], slope[8] = drifted + 1, by_variance * drift * part
        for p in range(PLACES):
            gradient[place[p]] += slope[p]
            for q in range(PLACES):
                information[place[p], place[q]] += slope[p] * slope[q]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def expect(
    theta: Floats, knots: Floats, cosine: Floats, n_ab: Longs, n_a: Longs, n_b: Longs, n: int, chance: Floats,
    mean: Floats, low: Floats, high: Floats,
) -> None:  # fmt: skip
    """The mean lift, and both ends of the lift a pair will show where chance alone would bring it `chance` times."""
    slopes = np.empty((2, 4))
    for i in range(len(cosine)):
        if n_a[i] == 0 or n_b[i] == 0:
            mean[i] = low[i] = high[i] = np.nan
            continue
        value, variance, _ = lift(theta, knots, cosine[i], n_ab[i], n_a[i], n_b[i], n, slopes)
        # Two products cannot meet more often than the more frequent one is bought.
        most = n / max(n_a[i], n_b[i])
        mean[i] = min(value, most)
        below, above, occurs = ends(chance[i] * mean[i], variance)
        low[i] = max(below / chance[i], TRACE * mean[i] * occurs)
        high[i] = max(min(above / chance[i], most), mean[i])


@njit(nogil=True, cache=True, error_model="numpy")
def interval(
    theta: Floats, knots: Floats, mean: Floats, baskets: Floats, chance: Floats, low: Floats, high: Floats
) -> None:
    """Both ends of the lift that will be shown, around a mean that rests on so many baskets."""
    for i in range(len(mean)):
        variance = 1.0 / baskets[i] + drifts(theta, len(knots), mean[i])
        below, above, occurs = ends(chance[i] * mean[i], variance)
        low[i] = max(below / chance[i], TRACE * mean[i] * occurs)
        high[i] = max(above / chance[i], mean[i])


@njit(nogil=True, cache=True, error_model="numpy")
def ends(mu: float, variance: float) -> tuple[float, float, float]:
    """The 5% and 95% quantiles of a negative binomial count, carried on between whole numbers; P(count > 0).

    The chance of a count y is spread over (y − 1, y] for the lower end and over [y, y + 1) for the upper one, so that
    both are on the safe side. Large counts are taken as gamma, by the cube root that makes it nearly normal (E. B.
    Wilson and M. M. Hilferty, 1931).
    """
    if mu > FEW:
        spread = (1.0 / mu + variance) / 9.0
        width = NORMAL * math.sqrt(spread)
        return mu * max(1.0 - spread - width, 0.0) ** 3, mu * (1.0 - spread + width) ** 3, 1.0
    t = 1.0 / variance
    term = none = math.exp(-t * math.log1p(mu / t))
    below = above = -1.0
    total, y = 0.0, 0
    while above < 0.0:
        if below < 0.0 and total + term >= TAIL:
            below = max(y - 1 + (TAIL - total) / term, 0.0)
        if total + term >= 1.0 - TAIL:
            above = y + (1.0 - TAIL - total) / term
        total += term
        term *= (t + y) / (y + 1.0) * mu / (t + mu)
        y += 1
    return below, above, 1.0 - none
