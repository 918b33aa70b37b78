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
"""What is left out at each end of an interval, and where the normal distribution leaves out that."""
TRACE = 1e-9
"""A low end of nothing is written as a share of this, so that a sort still ranks: first what is strong and likely
to occur at all."""
FAIR = 10.0
"""Expected lift times the square of the odds to occur at which that share is a half."""
WIDE = 1.0
"""Shape of the wide part of the prior."""
PLACES = 9
"""Parameters that one pair's likelihood depends on."""
PRIOR = 4
"""Parameters of the prior of counts alone."""
SEEN = np.log1p(np.array([0.0, 1.0, 3.0, 10.0, 40.0]))
"""How often a pair was seen, as log(1 + n): there the weight of vectors beyond counting alone is told."""
STRONG = np.log(np.array([3.0, 10.0, 30.0, 100.0]))
"""Log-lifts by counts alone at which it is told how much of a strong lift remains where it rests on few baskets."""
ENOUGH, APART, TENFOLD = 20.0, 0.7, math.log(10.0)
"""Baskets at which half of that is left out; the cosine below which a strong pair is doubted; a lift's unit."""
JOINED = len(SEEN) + len(STRONG) + 4
"""Parameters by which both forecasts are joined."""
TRAITS = 8
"""Of which so many bear on one pair."""
LOOSE = 0.2
"""Relative variance of a count around its mean while they are fitted: no pair counts for more than five baskets."""
OFTEN = 5
"""Pairs seen so many times are rules already; fewer, they are rare."""
BANDS = np.array([1.0, 5.0, 15.0, 50.0])
"""Low ends that part the kinds of pairs that are likely to occur."""
STRIKING = 10.0
"""Of pairs seen often that may not occur, those that are expected to have a lift above this are a kind of their own."""
KINDS, UNSURE = 9, 4
"""Pairs that may not occur, in four kinds: unseen, rare, seen often, and often with a striking lift; then those that
will, by their low end."""
FARTHEST, BINS = 6.0, 120
"""Scores of what came true are counted from minus to plus this, in so many steps."""
MOST_COUNTS = 100_000
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
def logistic(x):  # type: ignore[no-untyped-def]
    return 1.0 / (1.0 + math.exp(-x))


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


@njit(inline="always")
def count_lift(prior, n_ab, chance):  # type: ignore[no-untyped-def]
    """Mean and relative variance of a pair's lift by counts alone, under a prior of two parts as in `lift`.

    `prior` holds log shape and log mean of the ordinary part, the log-odds of the wide one and how far above it lies.
    """
    k, m = math.exp(prior[0]), math.exp(prior[1])
    wide = m * math.exp(prior[3])
    value1, _, _ = weigh(n_ab, k, m * chance)
    value2, _, _ = weigh(n_ab, WIDE, wide * chance)
    p = logistic(prior[2] + value2 - value1)
    mean1, mean2 = (k + n_ab) / (k / m + chance), (WIDE + n_ab) / (WIDE / wide + chance)
    mean = (1 - p) * mean1 + p * mean2
    square = (1 - p) * mean1 * mean1 * (1 + 1 / (k + n_ab)) + p * mean2 * mean2 * (1 + 1 / (WIDE + n_ab))
    return mean, square / (mean * mean) - 1.0


@njit(inline="always")
def describe(by_vectors, by_counts, n_ab, cosine, moves, place, trait):  # type: ignore[no-untyped-def]
    """What the joining of a pair's two forecasts depends on: which parameters, and by how much each.

    Vectors count by how far they are from counting; a strong lift is doubted where it rests on few baskets, where the
    vectors are apart, and as the products' sales moved of late (see `LateSales.moves`).
    """
    apart, counted = math.log(by_vectors / by_counts), math.log(by_counts)
    j, f = cell(SEEN, math.log1p(n_ab))
    place[0], trait[0] = j, (1 - f) * apart
    place[1], trait[1] = j + 1, f * apart
    j, f = cell(STRONG, counted)
    few = ENOUGH / (ENOUGH + n_ab) if counted > STRONG[0] else 0.0
    place[2], trait[2] = len(SEEN) + j, (1 - f) * few
    place[3], trait[3] = len(SEEN) + j + 1, f * few
    strength = min(max((counted - STRONG[0]) / TENFOLD, 0.0), 2.0) if n_ab > 0 else 0.0
    place[4], trait[4] = JOINED - 4, strength * min(max(APART - cosine, 0.0), 1.0)
    place[5], trait[5] = JOINED - 3, strength * moves[0]
    place[6], trait[6] = JOINED - 2, strength * moves[1]
    place[7], trait[7] = JOINED - 1, strength * moves[2]


@njit(inline="always")
def join(theta, counting, knots, cosine, n_ab, n_a, n_b, n, moves, slopes, place, trait):  # type: ignore[no-untyped-def]
    """Mean and relative variance of a pair's lift, by vectors and by counts alone, joined; the mean by each of them.

    `counting` holds the prior of counts alone, then the parameters by which both are joined, as logarithms.
    """
    by_vectors, variance, drift = lift(theta, knots, cosine, n_ab, n_a, n_b, n, slopes)
    by_counts, counted = count_lift(counting, n_ab, n_a * n_b / n)
    describe(by_vectors, by_counts, n_ab, cosine, moves, place, trait)
    log_mean = math.log(by_counts)
    for x in range(TRAITS):
        log_mean += counting[PRIOR + place[x]] * trait[x]
    joined = math.exp(min(max(log_mean, -9.0), 9.0))
    j, f = cell(SEEN, math.log1p(n_ab))
    weight = min(max(counting[PRIOR + j] * (1 - f) + counting[PRIOR + j + 1] * f, 0.0), 1.0)
    apart = math.log(by_counts / by_vectors)
    # Where the two disagree, less is known.
    known = weight * (variance - drift) + (1 - weight) * counted + weight * (1 - weight) * apart * apart
    return joined, known + drifts(theta, len(knots), joined), by_vectors, by_counts


@njit(inline="always")
def at_level(lift, level, usual):  # type: ignore[no-untyped-def]
    """A lift where all pairs come together `level` times as often, which adds to the lift of each alike."""
    return lift * (1.0 + (level - 1.0) * min(usual / lift, 1.0))


@njit(nogil=True, cache=True, error_model="numpy")
def join_all(
    theta: Floats, counting: Floats, knots: Floats, cosine: Floats, n_ab: Longs, n_a: Longs, n_b: Longs, n: int,
    moves: Floats, mean: Floats, variance: Floats, by_vectors: Floats, by_counts: Floats,
) -> None:  # fmt: skip
    """`join` for many pairs."""
    slopes, place, trait = np.empty((2, 4)), np.empty(TRAITS, np.int64), np.empty(TRAITS)
    for i in range(len(cosine)):
        mean[i], variance[i], by_vectors[i], by_counts[i] = join(
            theta, counting, knots, cosine[i], n_ab[i], n_a[i], n_b[i], n, moves[i], slopes, place, trait
        )


@njit(nogil=True, cache=True, error_model="numpy")
def counts_prior(prior: Floats, n_ab: Longs, chance: Floats, gradient: Floats, information: Floats) -> float:
    """Log-likelihood of past counts under the prior of `count_lift`, with gradient and squares."""
    total, shape, mean, odds = 0.0, math.exp(prior[0]), math.exp(prior[1]), logistic(prior[2])
    wide, slope = mean * math.exp(prior[3]), np.empty(PRIOR)
    gradient[:], information[:] = 0.0, 0.0
    for i in range(len(n_ab)):
        value1, by_mean1, by_shape = weigh(n_ab[i], shape, mean * chance[i])
        value2, by_mean2, _ = weigh(n_ab[i], WIDE, wide * chance[i])
        p = logistic(prior[2] + value2 - value1)
        # The likelier part stands before the logarithm, so that neither vanishes.
        total += value1 + math.log((1 - odds) / (1 - p)) if p < 0.5 else value2 + math.log(odds / p)
        slope[0], slope[1] = (1 - p) * by_shape, (1 - p) * by_mean1 + p * by_mean2
        slope[2], slope[3] = p - odds, p * by_mean2
        for x in range(PRIOR):
            gradient[x] += slope[x]
            for y in range(PRIOR):
                information[x, y] += slope[x] * slope[y]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def joined_likelihood(
    joining: Floats, by_vectors: Floats, by_counts: Floats, n_ab: Longs, cosine: Floats, moves: Floats, later: Longs,
    chance: Floats, gradient: Floats, information: Floats,
) -> float:  # fmt: skip
    """Log-likelihood of later counts around both means joined by these parameters, with gradient and information.

    Counts vary a little more than Poisson's, so that a few pairs that are sold by the thousand do not decide alone.
    """
    total, place, trait = 0.0, np.empty(TRAITS, np.int64), np.empty(TRAITS)
    gradient[:], information[:] = 0.0, 0.0
    for i in range(len(later)):
        describe(by_vectors[i], by_counts[i], n_ab[i], cosine[i], moves[i], place, trait)
        log_mu = math.log(by_counts[i] * chance[i])
        for x in range(TRAITS):
            log_mu += joining[place[x]] * trait[x]
        mu = math.exp(min(log_mu, 20.0))
        total += later[i] * (log_mu - math.log1p(LOOSE * mu)) - math.log1p(LOOSE * mu) / LOOSE
        slope, weight = (later[i] - mu) / (1.0 + LOOSE * mu), mu / (1.0 + LOOSE * mu)
        for x in range(TRAITS):
            gradient[place[x]] += slope * trait[x]
            for y in range(TRAITS):
                information[place[x], place[y]] += weight * trait[x] * trait[y]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def expect(
    theta: Floats, counting: Floats, scores: Floats, knots: Floats, cosine: Floats, n_ab: Longs, n_a: Longs,
    n_b: Longs, n: int, moves: Floats, level: tuple[float, float], chance: Floats, mean: Floats, low: Floats,
    high: Floats,
) -> None:  # fmt: skip
    """The mean lift, and both ends of the lift a pair will show where chance alone would bring it `chance` times."""
    slopes, place, trait = np.empty((2, 4)), np.empty(TRAITS, np.int64), np.empty(TRAITS)
    for i in range(len(cosine)):
        if n_a[i] == 0 or n_b[i] == 0:
            mean[i] = low[i] = high[i] = np.nan
            continue
        value, variance, _, _ = join(
            theta, counting, knots, cosine[i], n_ab[i], n_a[i], n_b[i], n, moves[i], slopes, place, trait
        )
        # Two products cannot meet more often than the more frequent one is bought.
        most = n / max(n_a[i], n_b[i])
        mean[i] = min(at_level(value, level[0], level[1]), most)
        low[i], high[i] = ends(mean[i], variance, n_ab[i], chance[i], scores)
        high[i] = max(min(high[i], most), mean[i])


@njit(nogil=True, cache=True, error_model="numpy")
def interval(
    theta: Floats, scores: Floats, knots: Floats, mean: Floats, baskets: Floats, chance: Floats, low: Floats,
    high: Floats,
) -> None:  # fmt: skip
    """Both ends of the lift that will be shown, around a mean that rests on so many baskets."""
    for i in range(len(mean)):
        variance = 1.0 / baskets[i] + drifts(theta, len(knots), mean[i])
        low[i], high[i] = ends(mean[i], variance, baskets[i], chance[i], scores)


@njit(inline="always")
def ends(mean, variance, n_ab, chance, scores):  # type: ignore[no-untyped-def]
    """Both ends of the lift that will be shown; `scores` are those of the ends by kind: low, high, and high alone.

    Where a pair may well not occur, nothing can fall below, and the high end alone leaves out all of the 10%. What is
    written for a low end of nothing is a trace.
    """
    mu, none = chance * mean, never(chance * mean, variance)
    kind = kind_of(mu, variance, none, n_ab, chance)
    sure = kind >= UNSURE and none < share_below(scores[kind, 0])
    low = quantile(mu, variance, scores[kind, 0]) / chance if sure else 0.0
    high = quantile(mu, variance, scores[kind, 1 if sure else 2]) / chance
    return max(min(low, mean), trace(mean, 1.0 - none)), max(high, mean)


@njit(inline="always")
def trace(mean, occurs):  # type: ignore[no-untyped-def]
    """What is written for a low end of nothing."""
    odds = occurs / max(1.0 - occurs, TAIL)
    strength = mean * odds * odds
    return TRACE * strength / (strength + FAIR)


@njit(inline="always")
def never(mu, variance):  # type: ignore[no-untyped-def]
    """The chance that a negative binomial count is 0."""
    return math.exp(-math.log1p(mu * variance) / variance)


@njit(inline="always")
def kind_of(mu, variance, none, n_ab, chance):  # type: ignore[no-untyped-def]
    """Which kind a pair is of: those that may not occur by how often they were seen, others by their low end."""
    if none >= TAIL:
        return 0 if n_ab < 1 else 1 if n_ab < OFTEN else 2 if mu <= STRIKING * chance else 3
    low, kind = quantile(mu, variance, -NORMAL) / chance, UNSURE
    for band in BANDS:
        kind += low > band
    return kind


@njit(nogil=True, cache=True, error_model="numpy")
def score_all(
    mean: Floats, variance: Floats, n_ab: Longs, ahead: Floats, later: Longs, chance: Floats, scored: Floats
) -> Longs:  # fmt: skip
    """Count the scores of what came true by kind of pair, as it came and with the period's swing mirrored.

    `ahead` are baskets foreseen by chance and `chance` those that came. A score is where the count lies in what was
    foretold, on the scale of the normal distribution. In a period whole kinds of pairs come together more or less
    often than foretold, and the next may swing the other way: so each kind is scored once more around a mean that
    lies as far on the other side of what came. Returns the kind of each pair, -1 where it was not likely to occur.
    """
    kinds, sums = np.full(len(mean), -1, np.int64), np.full((KINDS, 2), ENOUGH)
    for i in range(len(mean)):
        mu = ahead[i] * mean[i]
        none = never(mu, variance[i])
        if none > 1.0 - 2.0 * TAIL:
            continue
        kinds[i] = kind_of(mu, variance[i], none, n_ab[i], ahead[i])
        weight = 1.0 / (1.0 + variance[i] * mu)
        sums[kinds[i], 0] += weight * later[i] / chance[i] * ahead[i]
        sums[kinds[i], 1] += weight * mu
    for i in range(len(mean)):
        if kinds[i] < 0:
            continue
        swing = sums[kinds[i], 0] / sums[kinds[i], 1]
        for mirrored in range(2):
            mu = ahead[i] * mean[i] * (swing * swing if mirrored else 1.0)
            value = score(later[i] / chance[i] * ahead[i], mu, variance[i])
            place = int((value + FARTHEST) / (2.0 * FARTHEST) * BINS)
            scored[mirrored, kinds[i], min(max(place, 0), BINS - 1)] += 1.0
    return kinds


@njit(inline="always")
def share_below(score):  # type: ignore[no-untyped-def]
    """The normal distribution."""
    return 0.5 * math.erfc(-score / math.sqrt(2.0))


@njit(inline="always")
def score(y, mu, variance):  # type: ignore[no-untyped-def]
    """Where a count lies in a negative binomial, as `quantile` has it, on the scale of the normal distribution."""
    if mu > FEW or y > 20.0 * FEW:
        spread = (1.0 / mu + variance) / 9.0
        return ((y / mu) ** (1.0 / 3.0) - 1.0 + spread) / math.sqrt(spread)
    t, total, k = 1.0 / variance, 0.0, 0
    term = math.exp(-t * math.log1p(mu / t))
    while k + 0.5 <= y:
        total += term
        term *= (t + k) / (k + 1.0) * mu / (t + mu)
        k += 1
    share = total + term * (y - k + 0.5)
    least, most = -FARTHEST, FARTHEST
    for _ in range(20):
        middle = 0.5 * (least + most)
        if share_below(middle) < share:
            least = middle
        else:
            most = middle
    return 0.5 * (least + most)


@njit(inline="always")
def quantile(mu, variance, score):  # type: ignore[no-untyped-def]
    """The count that has this score in a negative binomial, carried on between whole numbers.

    The chance of a count y is spread over y − ½ to y + ½. Large counts are taken as gamma, by the cube root that makes
    it nearly normal (E. B. Wilson and M. M. Hilferty, 1931).
    """
    if mu > FEW:
        spread = (1.0 / mu + variance) / 9.0
        return mu * max(1.0 - spread + score * math.sqrt(spread), 0.0) ** 3
    t, total, y, share = 1.0 / variance, 0.0, 0, share_below(score)
    term = math.exp(-t * math.log1p(mu / t))
    while total + term < share and y < MOST_COUNTS:
        total += term
        term *= (t + y) / (y + 1.0) * mu / (t + mu)
        y += 1
    return max(y - 0.5 + (share - total) / term, 0.0)


@njit(nogil=True, cache=True, error_model="numpy")
def quantiles(mu: Floats, variance: Floats, score: float, out: Floats) -> None:
    """`quantile` for many counts."""
    for i in range(len(mu)):
        out[i] = quantile(mu[i], variance[i], score)
