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

HELPER = {"nogil": True, "cache": True, "error_model": "numpy", "forceinline": True}
"""Helpers that are called in several places are compiled once, and only then inlined: what `inline="always"` copies is
typed and translated anew in each place."""
FASTMATH = {"reassoc", "contract", "arcp", "nsz", "afn"}
LOG_COMMON = math.log(1000.0)
"""The count of the rarer product at which popularity neither raises nor lowers the link, as a logarithm."""
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
FACTORS = 8
"""From here on Stirling's series is exact to nine digits."""
KNOWN = 512
"""Counts below this have their rising factorials in a table."""
LOGS = np.log1p(np.arange(KNOWN))
"""log(1 + n) of such counts."""
MOST_COUNTS = 100_000
MANY = 4096
"""Baskets with the rarer product below which the pull of popularity is worked out once for each number of them."""
LEAST_LIFT = math.exp(-9.0)
FEW = 30.0
"""Up to this mean, quantiles of a count are summed up term by term; beyond it the count is nearly continuous."""


@njit(**HELPER)
def cell(knots, cosine):  # type: ignore[no-untyped-def]
    """The knot at or before the cosine, and the share of the way to the next."""
    c = min(max(cosine, knots[0]), knots[-1])
    j = 0
    while j < len(knots) - 2 and c >= knots[j + 1]:
        j += 1
    return j, (c - knots[j]) / (knots[j + 1] - knots[j])


@njit(**HELPER)
def logistic(x):  # type: ignore[no-untyped-def]
    return 1.0 / (1.0 + math.exp(-x))


@njit(inline="always")
def trust(doubt, n_a, n_b):  # type: ignore[no-untyped-def]
    """How much of its cosine a pair keeps: vectors of products met a few times are still mostly chance."""
    rarer = min(n_a, n_b)
    return rarer / (rarer + doubt)


@njit(**HELPER)
def drifts(theta, size, log_mean):  # type: ignore[no-untyped-def]
    """The relative variance by which lifts of this size change from one period to the next."""
    j, f = cell(LEVELS, log_mean)
    return math.exp(theta[2 * size + 7 + j] * (1 - f) + theta[2 * size + 8 + j] * f)


@njit(nogil=True, cache=True, error_model="numpy")
def log_rising_factorial(t, y):  # type: ignore[no-untyped-def]
    """log Γ(t + y) − log Γ(t) and its derivative by t.

    A few factors are multiplied, as far as to where Stirling's series is exact to nine digits or to the last of them.
    """
    if y == 0:
        # Most later counts are none.
        return 0.0, 0.0
    product, slope = 1.0, 0.0
    steps = y if y < 2 * FACTORS else FACTORS - int(min(t, FACTORS))
    for _ in range(steps):
        product *= t
        slope += 1.0 / t
        t += 1.0
    value, rest = math.log(product), y - steps
    if rest > 0:
        high = math.log(t + rest)
        ratio = math.log1p(rest / t)
        value += (t - 0.5) * ratio + rest * (high - 1.0) + series(t + rest) - series(t)
        slope += ratio + slope_series(t + rest) - slope_series(t)
    return value, slope


@njit(inline="always")
def series(x):  # type: ignore[no-untyped-def]
    """What Stirling's formula leaves out of log Γ(x)."""
    square = 1.0 / (x * x)
    return (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0)) / x


@njit(inline="always")
def slope_series(x):  # type: ignore[no-untyped-def]
    """The digamma function but for the logarithm."""
    square = 1.0 / (x * x)
    return -0.5 / x - square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0))


@njit(nogil=True, cache=True, error_model="numpy")
def rising_table(t):  # type: ignore[no-untyped-def]
    """What `log_rising_factorial` returns for the counts below `KNOWN`, a line each: most counts are small."""
    table = np.zeros((KNOWN, 2))
    for y in range(KNOWN - 1):
        table[y + 1, 0] = table[y, 0] + math.log(t + y)
        table[y + 1, 1] = table[y, 1] + 1.0 / (t + y)
    return table


@njit(**HELPER)
def weigh(n_ab, k, log_k, mu, log_mu, rising):  # type: ignore[no-untyped-def]
    """Log-likelihood of a past count under a gamma prior, but for terms all priors share, and its slopes.

    The count is negative binomial with shape k and mean mu; slopes are by log mu and by log k. `rising` is the table of
    k's rising factorials.
    """
    if n_ab < KNOWN:
        value, slope = rising[n_ab, 0], rising[n_ab, 1]
    else:
        value, slope = log_rising_factorial(k, n_ab)
    whole = math.log(k + mu)
    value += k * log_k + n_ab * log_mu - (k + n_ab) * whole
    slope += log_k - whole + 1.0 - (k + n_ab) / (k + mu)
    return value, k * (n_ab - mu) / (k + mu), k * slope


@njit(inline="always")
def exponents(theta, size):  # type: ignore[no-untyped-def]
    """The parameters that are logarithms and the same for all pairs, as numbers: of unseen and of seen ones the
    strengths and the doubts of cosines, and the distance of the wide part; and the rising factorials of both parts."""
    at = 2 * size
    return (
        math.exp(theta[at]), math.exp(theta[at + 1]), math.exp(theta[at + 2]), math.exp(theta[at + 3]),
        math.exp(theta[at + 6]), rising_table(math.exp(theta[at + 1])), rising_table(WIDE),
    )  # fmt: skip


@njit(**HELPER)
def lift(theta, size, numbers, knots, cosine, n_ab, n_a, n_b, n):  # type: ignore[no-untyped-def]
    """Mean of a pair's lift, its relative variance without drift, and what the slopes of both depend on.

    `numbers` are what `exponents` returns.
    """
    other = 0 if n_ab == 0 else 1
    link = other * size
    k, doubt, log_k = numbers[1] if other else numbers[0], numbers[3] if other else numbers[2], theta[2 * size + other]
    j, f = cell(knots, cosine * trust(doubt, n_a, n_b))
    log_a, log_b = math.log(n_a), math.log(n_b)
    popularity = min(log_a, log_b) - LOG_COMMON
    log_m = theta[link + j] * (1 - f) + theta[link + j + 1] * f + theta[2 * size + 4] * popularity
    m, chance = math.exp(log_m), n_a * n_b / n
    wide, log_chance = m * numbers[4], log_a + log_b - math.log(n)
    value1, by_m1, by_k1 = weigh(n_ab, k, log_k, m * chance, log_m + log_chance, numbers[5])
    value2, by_m2, _ = weigh(n_ab, WIDE, 0.0, wide * chance, log_m + theta[2 * size + 6] + log_chance, numbers[6])
    p = logistic(theta[2 * size + 5] + value2 - value1)
    mean1, mean2 = (k + n_ab) / (k / m + chance), (WIDE + n_ab) / (WIDE / wide + chance)
    square1, square2 = mean1 * mean1 * (1 + 1 / (k + n_ab)), mean2 * mean2 * (1 + 1 / (WIDE + n_ab))
    mean, square = (1 - p) * mean1 + p * mean2, (1 - p) * square1 + p * square2
    part1, part2 = k / (k + m * chance), WIDE / (WIDE + wide * chance)
    return mean, square / (mean * mean) - 1.0, (k, p, mean1, mean2, part1, part2, by_m1, by_k1, by_m2)


@njit(inline="always")
def find_slopes(n_ab, mean, variance, parts, slopes):  # type: ignore[no-untyped-def]
    """Derivatives of a pair's log mean and of its variance without drift, by log m, log k, the odds of the wide part
    and its distance; all but `slopes` is as `lift` returns it."""
    k, p, mean1, mean2, part1, part2, by_m1, by_k1, by_m2 = parts
    square1, square2 = mean1 * mean1 * (1 + 1 / (k + n_ab)), mean2 * mean2 * (1 + 1 / (WIDE + n_ab))
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
        slopes[1, x] = to_square / (mean * mean) - 2 * (variance + 1.0) * to_mean / mean


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
def highest_of_each(scores: NDArray[np.float32], places: Longs) -> None:
    """The columns of the highest scores of each row, of which no number is the least: a short list, pushed into."""
    n = places.shape[1]
    held = np.empty(n, np.float32)
    for i in range(len(scores)):
        held[:], places[i] = -np.inf, 0
        for j in range(scores.shape[1]):
            score, at = scores[i, j], n - 1
            if score > held[at]:
                while at > 0 and held[at - 1] < score:
                    held[at], places[i, at] = held[at - 1], places[i, at - 1]
                    at -= 1
                held[at], places[i, at] = score, j


@njit(nogil=True, cache=True, error_model="numpy")
def likelihood(
    theta: Floats, knots: Floats, cosine: Floats, n_ab: Longs, n_a: Longs, n_b: Longs, n: int,
    later: Longs, chance: Floats, gradient: Floats, information: Floats,
) -> float:  # fmt: skip
    """Log-likelihood of the later counts, its gradient, and the sum of the squares of each pair's gradient.

    A later count is negative binomial with mean chance · lift and the lift's relative variance; terms without
    parameters are left out.
    """
    size, total, numbers = len(knots), 0.0, exponents(theta, len(knots))
    place, slope, slopes = np.empty(PLACES, np.int64), np.empty(PLACES), np.empty((2, 4))
    gradient[:], information[:] = 0.0, 0.0
    for i in range(len(cosine)):
        mean, variance, parts = lift(theta, size, numbers, knots, cosine[i], n_ab[i], n_a[i], n_b[i], n)
        find_slopes(n_ab[i], mean, variance, parts, slopes)
        log_mean = math.log(mean)
        drift = drifts(theta, size, log_mean)
        t, mu, y = 1.0 / (variance + drift), chance[i] * mean, later[i]
        value, by_shape = log_rising_factorial(t, y)
        none = math.log(t / (t + mu))
        total += value + t * none + (y * math.log(mu / (t + mu)) if y else 0.0)
        by_mean = t * (y - mu) / (t + mu)
        by_variance = -t * t * (by_shape + none + 1.0 - (t + y) / (t + mu))
        level, part = cell(LEVELS, log_mean)
        drifted = size * 2 + 7 + level
        if LEVELS[0] < log_mean < LEVELS[-1]:
            by_mean += by_variance * drift * (theta[drifted + 1] - theta[drifted]) / (LEVELS[level + 1] - LEVELS[level])
        by_link = by_mean * slopes[0, 0] + by_variance * slopes[1, 0]
        other = 0 if n_ab[i] == 0 else 1
        share = trust(numbers[3] if other else numbers[2], n_a[i], n_b[i])
        j, f = cell(knots, cosine[i] * share)
        link = other * size
        # Places rise, so that one half of the squares is enough.
        place[0], slope[0] = link + j, by_link * (1 - f)
        place[1], slope[1] = link + j + 1, by_link * f
        place[2], slope[2] = 2 * size + other, by_mean * slopes[0, 1] + by_variance * slopes[1, 1]
        place[3], slope[3] = 2 * size + 2 + other, 0.0
        if knots[0] < cosine[i] * share < knots[-1]:
            steep = (theta[link + j + 1] - theta[link + j]) / (knots[j + 1] - knots[j])
            slope[3] = -by_link * steep * cosine[i] * share * (1 - share)
        place[4], slope[4] = 2 * size + 4, by_link * (math.log(min(n_a[i], n_b[i])) - LOG_COMMON)
        place[5], slope[5] = 2 * size + 5, by_mean * slopes[0, 2] + by_variance * slopes[1, 2]
        place[6], slope[6] = 2 * size + 6, by_mean * slopes[0, 3] + by_variance * slopes[1, 3]
        place[7], slope[7] = drifted, by_variance * drift * (1 - part)
        place[8], slope[8] = drifted + 1, by_variance * drift * part
        for p in range(PLACES):
            gradient[place[p]] += slope[p]
            for q in range(p, PLACES):
                information[place[p], place[q]] += slope[p] * slope[q]
    mirror(information)
    return total


@njit(inline="always")
def mirror(squares):  # type: ignore[no-untyped-def]
    """The other half of what is the same turned round."""
    for x in range(len(squares)):
        for y in range(x):
            squares[x, y] = squares[y, x]


@njit(**HELPER)
def count_lift(prior, numbers, n_ab, chance, log_chance):  # type: ignore[no-untyped-def]
    """Mean and relative variance of a pair's lift by counts alone, under a prior of two parts as in `lift`.

    `prior` holds log shape and log mean of the ordinary part, the log-odds of the wide one and how far above it lies;
    `numbers` are what `prior_numbers` returns.
    """
    k, m, wide, rising, rising_wide = numbers
    value1, _, _ = weigh(n_ab, k, prior[0], m * chance, prior[1] + log_chance, rising)
    value2, _, _ = weigh(n_ab, WIDE, 0.0, wide * chance, prior[1] + prior[3] + log_chance, rising_wide)
    p = logistic(prior[2] + value2 - value1)
    mean1, mean2 = (k + n_ab) / (k / m + chance), (WIDE + n_ab) / (WIDE / wide + chance)
    mean = (1 - p) * mean1 + p * mean2
    square = (1 - p) * mean1 * mean1 * (1 + 1 / (k + n_ab)) + p * mean2 * mean2 * (1 + 1 / (WIDE + n_ab))
    return mean, square / (mean * mean) - 1.0


@njit(inline="always")
def prior_numbers(prior):  # type: ignore[no-untyped-def]
    """Shape, mean and mean of the wide part of the prior of counts alone, and the rising factorials of both parts."""
    shape = math.exp(prior[0])
    return shape, math.exp(prior[1]), math.exp(prior[1] + prior[3]), rising_table(shape), rising_table(WIDE)


@njit(inline="always")
def describe(apart, counted, seen, n_ab, cosine, moves, place, trait):  # type: ignore[no-untyped-def]
    """What the joining of a pair's two forecasts depends on: which parameters, and by how much each.

    Vectors count by how far they are from counting; a strong lift is doubted where it rests on few baskets, where the
    vectors are apart, and as the products' sales moved of late (see `LateSales.moves`). `apart` and `counted` are
    logarithms, of the lift by vectors over that by counts and of the latter; `seen` is where the count lies in `SEEN`.
    """
    j, f = seen
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
def join(theta, numbers, counting, prior, knots, cosine, n_ab, n_a, n_b, n, moves, place, trait):  # type: ignore[no-untyped-def]
    """Mean and relative variance of a pair's lift, by vectors and by counts alone, joined; the mean by each of them.

    `counting` holds the prior of counts alone, then the parameters by which both are joined, as logarithms; `numbers`
    and `prior` are what `exponents` and `prior_numbers` return.
    """
    by_vectors, variance, _ = lift(theta, len(knots), numbers, knots, cosine, n_ab, n_a, n_b, n)
    log_chance = math.log(n_a) + math.log(n_b) - math.log(n)
    by_counts, counted = count_lift(counting, prior, n_ab, n_a * n_b / n, log_chance)
    log_mean, (j, f) = math.log(by_counts), cell(SEEN, LOGS[n_ab] if n_ab < KNOWN else math.log1p(n_ab))
    apart = math.log(by_vectors) - log_mean
    describe(apart, log_mean, (j, f), n_ab, cosine, moves, place, trait)
    for x in range(TRAITS):
        log_mean += counting[PRIOR + place[x]] * trait[x]
    log_mean = min(max(log_mean, -9.0), 9.0)
    weight = min(max(counting[PRIOR + j] * (1 - f) + counting[PRIOR + j + 1] * f, 0.0), 1.0)
    # Where the two disagree, less is known.
    known = weight * variance + (1 - weight) * counted + weight * (1 - weight) * apart * apart
    return math.exp(log_mean), known + drifts(theta, len(knots), log_mean), by_vectors, by_counts


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
    size, place, trait = len(knots), np.empty(TRAITS, np.int64), np.empty(TRAITS)
    numbers, prior = exponents(theta, size), prior_numbers(counting)
    for i in range(len(cosine)):
        mean[i], variance[i], by_vectors[i], by_counts[i] = join(
            theta, numbers, counting, prior, knots, cosine[i], n_ab[i], n_a[i], n_b[i], n, moves[i], place, trait
        )


@njit(nogil=True, cache=True, error_model="numpy")
def counts_prior(prior: Floats, n_ab: Longs, chance: Floats, gradient: Floats, information: Floats) -> float:
    """Log-likelihood of past counts under the prior of `count_lift`, with gradient and squares."""
    total, odds, slope = 0.0, logistic(prior[2]), np.empty(PRIOR)
    shape, mean, wide, rising, rising_wide = prior_numbers(prior)
    gradient[:], information[:] = 0.0, 0.0
    for i in range(len(n_ab)):
        log_mu = prior[1] + math.log(chance[i])
        value1, by_mean1, by_shape = weigh(n_ab[i], shape, prior[0], mean * chance[i], log_mu, rising)
        value2, by_mean2, _ = weigh(n_ab[i], WIDE, 0.0, wide * chance[i], log_mu + prior[3], rising_wide)
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
        counted, apart = math.log(by_counts[i]), math.log(by_vectors[i] / by_counts[i])
        describe(apart, counted, cell(SEEN, math.log1p(n_ab[i])), n_ab[i], cosine[i], moves[i], place, trait)
        log_mu = counted + math.log(chance[i])
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
    size, place, trait = len(knots), np.empty(TRAITS, np.int64), np.empty(TRAITS)
    numbers, prior, shares = exponents(theta, size), prior_numbers(counting), shares_below(scores)
    for i in range(len(cosine)):
        if n_a[i] == 0 or n_b[i] == 0:
            mean[i] = low[i] = high[i] = np.nan
            continue
        value, variance, _, _ = join(
            theta, numbers, counting, prior, knots, cosine[i], n_ab[i], n_a[i], n_b[i], n, moves[i], place, trait
        )
        # Two products cannot meet more often than the more frequent one is bought.
        most = n / max(n_a[i], n_b[i])
        mean[i] = min(at_level(value, level[0], level[1]), most)
        low[i], high[i] = ends(mean[i], variance, n_ab[i], chance[i], scores, shares)
        high[i] = max(min(high[i], most), mean[i])


@njit(nogil=True, cache=True, error_model="numpy")
def highest(
    theta: Floats, counting: Floats, knots: Floats, n_ab: Longs, n_a: Longs, n_b: Longs, n: int,
    level: tuple[float, float], enough: float, most: Floats,
) -> None:  # fmt: skip
    """No mean that `expect` has for pairs with these counts is higher, whatever their cosine and late sales.

    The mean of a prior of two parts lies between those of its parts; a pair is as close as can be, and not doubted.
    What is below `enough` by a bound that is quicker to tell, the higher of both forecasts, gets that one.
    """
    size, numbers, (shape, mean, wide, _, _) = len(knots), exponents(theta, len(knots)), prior_numbers(counting)
    more, pull = 0.0, theta[2 * size + 4]
    for strong in counting[PRIOR + len(SEEN) : PRIOR + len(SEEN) + len(STRONG)]:
        more = max(more, strong)
    unseen, seen = math.exp(theta[size - 1]), math.exp(theta[2 * size - 1])
    pulled, raised, higher = np.zeros(MANY), math.exp(more), max(level[0] - 1.0, 0.0) * level[1]
    for i in range(len(n_ab)):
        met, chance, rarer = n_ab[i], n_a[i] * n_b[i] / n, min(n_a[i], n_b[i])
        if rarer == 0:
            most[i] = np.nan
            continue
        k, m = (numbers[1], seen) if met else (numbers[0], unseen)
        if rarer >= MANY:
            m *= math.exp(pull * (math.log(rarer) - LOG_COMMON))
        else:
            if pulled[rarer] == 0.0:
                pulled[rarer] = math.exp(pull * (math.log(rarer) - LOG_COMMON))
            m *= pulled[rarer]
        by_vectors = max((k + met) / (k / m + chance), (WIDE + met) / (WIDE / (m * numbers[4]) + chance))
        one, other = (shape + met) / (shape / mean + chance), (WIDE + met) / (WIDE / wide + chance)
        j, f = cell(SEEN, LOGS[met] if met < KNOWN else math.log1p(met))
        weight = counting[PRIOR + j] * (1 - f) + counting[PRIOR + j + 1] * f
        if 0.0 <= weight <= 1.0:
            most[i] = max(max(by_vectors, one, other) * raised, LEAST_LIFT) + higher
            if most[i] < enough:
                continue
        # Where vectors weigh more than all, counting weighs less than nothing.
        by_counts = max(one, other) if weight < 1.0 else min(one, other)
        log_mean = (1 - weight) * math.log(by_counts) + weight * math.log(by_vectors) + more * ENOUGH / (ENOUGH + met)
        most[i] = math.exp(min(max(log_mean, -9.0), 9.0)) + higher


@njit(nogil=True, cache=True, error_model="numpy")
def interval(
    theta: Floats, scores: Floats, knots: Floats, mean: Floats, baskets: Floats, chance: Floats, low: Floats,
    high: Floats,
) -> None:  # fmt: skip
    """Both ends of the lift that will be shown, around a mean that rests on so many baskets."""
    shares = shares_below(scores)
    for i in range(len(mean)):
        variance = 1.0 / baskets[i] + drifts(theta, len(knots), math.log(mean[i]))
        low[i], high[i] = ends(mean[i], variance, baskets[i], chance[i], scores, shares)


@njit(inline="always")
def ends(mean, variance, n_ab, chance, scores, shares):  # type: ignore[no-untyped-def]
    """Both ends of the lift that will be shown; `scores` are those of the ends by kind: low, high, and high alone, and
    `shares` the shares of the normal distribution below them.

    Where a pair may well not occur, nothing can fall below, and the high end alone leaves out all of the 10%. What is
    written for a low end of nothing is a trace.
    """
    mu, none = chance * mean, never(chance * mean, variance)
    kind, walked = kind_of(mu, variance, none, n_ab, chance)
    sure, low = kind >= UNSURE and none < shares[kind, 0], 0.0
    if sure:
        # Further on from where the kind was found, if the end lies there.
        walked = walked if shares[kind, 0] >= walked[0] else (0.0, none, 0)
        low, walked = quantile(mu, variance, scores[kind, 0], shares[kind, 0], walked)
    end = 1 if sure else 2
    high, _ = quantile(mu, variance, scores[kind, end], shares[kind, end], walked)
    return max(min(low / chance, mean), trace(mean, 1.0 - none)), max(high / chance, mean)


@njit(inline="always")
def shares_below(scores):  # type: ignore[no-untyped-def]
    """The shares of the normal distribution below the scores of each kind."""
    shares = np.empty(scores.shape)
    for kind in range(len(scores)):
        for end in range(scores.shape[1]):
            shares[kind, end] = share_below(scores[kind, end])
    return shares


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
    """Which kind a pair is of: those that may not occur by how often they were seen, others by their low end; and how
    far the counts up to that were walked (see `quantile`)."""
    walked = 0.0, none, 0
    if none >= TAIL:
        return 0 if n_ab < 1 else 1 if n_ab < OFTEN else 2 if mu <= STRIKING * chance else 3, walked
    low, walked = quantile(mu, variance, -NORMAL, TAIL, walked)
    kind = UNSURE
    for band in BANDS:
        kind += low > band * chance
    return kind, walked


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
        kinds[i] = kind_of(mu, variance[i], none, n_ab[i], ahead[i])[0]
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
def quantile(mu, variance, score, share, walked):  # type: ignore[no-untyped-def]
    """The count that has this score in a negative binomial, carried on between whole numbers, and how far that was.

    The chance of a count y is spread over y − ½ to y + ½. Large counts are taken as gamma, by the cube root that makes
    it nearly normal (E. B. Wilson and M. M. Hilferty, 1931). Others are walked one by one until so large a `share` lies
    below, from where it was `walked` to: the share below a count, the chance of the count, and the count itself.
    """
    total, term, y = walked
    if mu > FEW:
        spread = (1.0 / mu + variance) / 9.0
        return mu * max(1.0 - spread + score * math.sqrt(spread), 0.0) ** 3, walked
    t = 1.0 / variance
    fewer = mu / (t + mu)
    while total + term < share and y < MOST_COUNTS:
        total += term
        term *= (t + y) * fewer / (y + 1.0)
        y += 1
    return max(y - 0.5 + (share - total) / term, 0.0), (total, term, y)


@njit(nogil=True, cache=True, error_model="numpy")
def quantiles(mu: Floats, variance: Floats, score: float, out: Floats) -> None:
    """`quantile` for many counts."""
    for i in range(len(mu)):
        out[i], _ = quantile(mu[i], variance[i], score, share_below(score), (0.0, never(mu[i], variance[i]), 0))
