"""Forecast: the lift a pair of products should show in the next period, from its cosine and its past counts.

A pair's lift λ is taken as gamma distributed around what its cosine promises, and its count n_ab, where chance alone
would give e = n_a·n_b / n, as Poisson with mean e·λ. So the lift to expect is

    E λ = (k + n_ab) / (k / m + e),        log m = link(cosine).

A few pairs are far stronger than their like, so the prior has a second, wide part above the first (k = 1, m several
times as high), and the two are weighed by how likely each makes n_ab, as W. DuMouchel does (1999). The count of a
later period is negative binomial around E λ, wider by what associations drift.

Cosines already contain the counts, so fitting that link to the past it was learned from would fail. It is fitted to
what comes after: a sample of pairs is held with cosine and counts as they are, the baskets of the next period are
counted for them, and then the parameters take a few Newton steps towards what happened (predict, then learn).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omba.errors import SettingError
from omba.model import likelihood
from omba.model.cohort import SHORTEST, Cohort
from omba.model.evidence import Evidence

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Rows = NDArray[np.int32]
Longs = NDArray[np.int64]

KNOTS = np.array([-0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8])
# Where a new forecast begins: the parameters that nine months of groceries (Complete Journey, product types) led to.
LINK = np.array([0.6, 0.7, 0.9, 1.3, 2.1, 3.0, 3.8, 4.5, 5.5])
START = np.concatenate(
    [LINK, LINK, [1.2, 1.3], [0.5, -0.7], [0.1], [-4.0, 2.0], np.log([0.1, 0.02, 0.01, 0.05, 0.15, 0.2])]
)


def bounds(links: tuple[float, float], *others: tuple[float, float]) -> tuple[Floats, Floats]:
    """The least and the most of every parameter, from those of the links and of each other one."""
    rows = np.array([*(links,) * (2 * len(KNOTS)), *others])
    return rows[:, 0], rows[:, 1]


# Where the data say little or the world is odd, no parameter runs away: a lift is never known better than by 50 baskets
# of chance, the wide part stays rare and above, drift at most doubles a lift. (Below chance lifts are all or nothing:
# products that replace each other, or were not sold at the same time. There the drift may be anything.)
STRENGTH, TRUST, DRIFT, WEAK = (-2.0, 4.0), (-3.0, 4.0), (-9.0, 0.0), (-9.0, 5.0)
PULL, ODDS, DISTANCE = (-1.0, 1.0), (-7.0, -2.0), (1.0, 3.0)
LEAST, MOST = bounds((-5.0, 9.0), STRENGTH, STRENGTH, TRUST, TRUST, PULL, ODDS, DISTANCE, WEAK, WEAK, *(DRIFT,) * 4)
STEADY, SMOOTH, MEMORY = 0.2, 2.0, 0.75
"""Weight of the start and of a straight link, in pairs' worth of knowledge; share kept of earlier knowledge."""

STEPS, ENOUGH = 25, 0.1
"""Newton steps at most, and the gain in likelihood below which there is no need for more."""
FADE = 0.5 ** (1 / 28)
SHARE = 1 / 3
"""The next period, against all baskets so far: a quarter after nine months."""


class Forecast:
    """Expected lift, learned as the stream goes.

    Parameters
    ----------
    seed
        Start of the random numbers that the pairs to watch are drawn by.
    period
        Baskets of the next period; None for a third of those so far.

    >>> forecast = Forecast()
    >>> expected, low, high = forecast.expect([0.4, 0.4], [0, 12], [100, 100], [100, 100], 10_000)
    >>> bool(low[1] < expected[1] < high[1]), bool(expected[0] < expected[1])
    (True, True)
    """

    def __init__(self, seed: int = 0, period: int | None = None) -> None:
        if period is not None and period < 1:
            raise SettingError(f"a period of {period} baskets is none: give 1 or more, or None for a third of the past")
        self.seed, self.period = seed, period
        self.theta = START.copy()
        self.information = np.zeros((len(START), len(START)))
        self.n_fits = 0
        self.recent: Floats = np.zeros(0)
        self.recent_baskets = 0.0
        """Baskets with each product and in all, those of a month of windows ago counting half."""
        self.cohort: Cohort | None = None

    def expect(
        self,
        cosine: ArrayLike,
        n_ab: ArrayLike,
        n_a: ArrayLike,
        n_b: ArrayLike,
        n: int,
        a: ArrayLike | None = None,
        b: ArrayLike | None = None,
    ) -> tuple[Floats, Floats, Floats]:
        """The lift expected of pairs in the next period, and both ends of the interval that holds 90% of them.

        The interval is of the lift that will be *shown*, count ÷ chance: it is as wide as the lift is uncertain and
        the period short. Where a pair may well not occur at all, its low end is nothing but a trace of the expected
        lift. Given the rows `a` and `b` of the products, those that have gone out of season are known as such.
        """
        arrays = (np.asarray(cosine, np.float64), *(np.asarray(x, np.int64) for x in (n_ab, n_a, n_b)))
        columns = np.broadcast_arrays(*arrays)
        cosine, n_ab, n_a, n_b = (column.ravel() for column in columns)
        chance = n_a * n_b / n**2
        if a is not None and b is not None:
            recent = self._recent_share(a) * self._recent_share(b)
            chance = np.minimum(chance, np.broadcast_to(recent, columns[0].shape).ravel())
        chance = np.maximum(chance * self._next_baskets(n), 1e-12)
        mean, low, high = (np.empty(cosine.size) for _ in range(3))
        likelihood.expect(self.theta, KNOTS, cosine, n_ab, n_a, n_b, n, chance, mean, low, high)
        shape = columns[0].shape
        return mean.reshape(shape), low.reshape(shape), high.reshape(shape)

    def interval(
        self, lift: ArrayLike, baskets: ArrayLike, n_a: ArrayLike, n_b: ArrayLike, n: int, season: ArrayLike = 1.0
    ) -> tuple[Floats, Floats]:
        """Both ends of the 90% interval around an expected lift that rests on so many baskets.

        For rules whose lift was estimated elsewhere, such as those of several antecedents: the same interval of the
        lift that will be shown, so that they rank beside pairs. `season` is what the method of that name
        returns for their products.
        """
        columns = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (lift, baskets, n_a, n_b, season)))
        mean, baskets, n_a, n_b, season = (column.ravel() for column in columns)
        chance = np.maximum(n_a * n_b / n**2 * season * self._next_baskets(n), 1e-12)
        low, high = np.empty(mean.size), np.empty(mean.size)
        likelihood.interval(self.theta, KNOTS, mean, baskets, chance, low, high)
        return low.reshape(columns[0].shape), high.reshape(columns[0].shape)

    def season(self, rows: ArrayLike, counts: Longs, n: int) -> Floats:
        """How much of their usual sales the products of each line of rows had lately, one product times the other.

        1 for products in season; `counts` are baskets with each product, by row, of n in all.
        """
        rows = np.asarray(rows)
        usual = np.maximum(counts[rows] / n, 1e-12)
        return np.asarray(np.minimum(self._recent_share(rows) / usual, 1.0).prod(axis=-1))

    def _next_baskets(self, n: int) -> float:
        """Baskets of the next period."""
        return SHARE * n if self.period is None else float(self.period)

    def learn(self, vectors: Vectors, evidence: Evidence, offsets: Longs, items: Rows) -> None:
        """Count a window for the pairs that are watched, before the model and the evidence learn it."""
        offsets, items = offsets - offsets[0], items[offsets[0] : offsets[-1]]
        self.hold(vectors, evidence)
        if self.cohort is not None:
            self.cohort.watch(offsets, items)
        self.judge(np.bincount(items, minlength=len(self.recent)), len(offsets) - 1)

    def hold(self, vectors: Vectors, evidence: Evidence) -> None:
        """Draw the pairs to watch, if there are none yet and enough baskets to draw from."""
        if self.cohort is None and evidence.n_baskets >= SHORTEST:
            rng = np.random.default_rng([self.seed, self.n_fits])
            self.cohort = Cohort.draw(vectors, evidence, KNOTS, rng)

    def judge(self, sold: Longs, baskets: int) -> None:
        """Fit to what the watched pairs showed, once it is enough; `sold` are the window's baskets by product."""
        if self.cohort is not None and self.cohort.over:
            self._fit(self.cohort)
            self.cohort = None
        faded = sold.astype(np.float64)
        faded[: len(self.recent)] += FADE * self.recent
        self.recent, self.recent_baskets = faded, FADE * self.recent_baskets + baskets

    def _recent_share(self, rows: ArrayLike) -> Floats:
        rows = np.asarray(rows)
        known = rows < len(self.recent)
        share = np.zeros(rows.shape)
        share[known] = self.recent[rows[known]] / max(self.recent_baskets, 1e-12)
        return share

    def _fit(self, cohort: Cohort) -> None:
        """Take Newton steps on the likelihood of what happened, held back by what earlier periods showed.

        The curvature is the sum of the squares of the pairs' gradients; a step that does not help is damped.
        """
        chance, before = cohort.chance, int(cohort.baskets[0])
        useful = np.flatnonzero(chance > 0)
        columns = [getattr(cohort, name)[useful] for name in ("cosine", "n_ab", "n_a", "n_b")]
        start, known = self.theta, MEMORY * self.information

        def posterior(theta: Floats) -> tuple[float, Floats, Floats]:
            gradient, square = np.empty(len(theta)), np.empty((len(theta), len(theta)))
            value = likelihood.likelihood(
                theta, KNOTS, *columns, before, cohort.later[useful], chance[useful], gradient, square
            )
            to_start, to_known = PRIOR @ (theta - START), known @ (theta - start)
            value -= (theta - START) @ to_start / 2 + (theta - start) @ to_known / 2
            return value, gradient - to_start - to_known, square

        theta, damping = start, 0.01
        value, gradient, square = posterior(theta)
        for _ in range(STEPS):
            curvature = square + known + PRIOR
            curvature += damping * np.diag(np.diag(curvature))
            free = ((theta > LEAST) | (gradient > 0)) & ((theta < MOST) | (gradient < 0))
            step = np.zeros(len(theta))
            step[free] = np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
            trial = np.clip(theta + step, LEAST, MOST)
            better = posterior(trial)
            if better[0] > value:
                gain, theta, damping = better[0] - value, trial, damping / 4
                value, gradient, square = better
                if gain < ENOUGH:
                    break
            else:
                damping *= 8
        self.information = known + square
        self.theta = make_rise(theta, np.diag(self.information) + STEADY)
        self.n_fits += 1

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything, as plain arrays."""
        sizes = np.array([self.seed, self.period or 0, self.n_fits], np.int64)
        held = {} if self.cohort is None else self.cohort.state()
        recent = {"recent": self.recent.copy(), "recent_baskets": np.array([self.recent_baskets])}
        return {"sizes": sizes, "theta": self.theta.copy(), "information": self.information.copy(), **recent, **held}

    @classmethod
    def from_state(cls, state: dict[str, NDArray[Any]]) -> Forecast:
        """A forecast that goes on exactly where the saved one stopped."""
        seed, period, n_fits = state["sizes"].tolist()
        forecast = cls(seed, period or None)
        forecast.theta, forecast.information, forecast.n_fits = state["theta"], state["information"], n_fits
        forecast.recent, forecast.recent_baskets = state["recent"], float(state["recent_baskets"][0])
        if "later" in state:
            forecast.cohort = Cohort.from_state(state)
        return forecast


def prior() -> Floats:
    """How firmly parameters stay at the start: each a little, and links firmly near a shifted version of it."""
    matrix = STEADY * np.eye(len(START))
    bend = np.diff(np.eye(len(KNOTS)), 2, axis=0)
    for link in (slice(0, len(KNOTS)), slice(len(KNOTS), 2 * len(KNOTS))):
        matrix[link, link] += SMOOTH * bend.T @ bend
    return matrix


PRIOR = prior()


def make_rise(theta: Floats, weight: Floats) -> Floats:
    """The parameters with both links made to rise, so that a closer pair never has the lower expected lift.

    Neighbouring knots that fall are pooled, each as much as is known of it.
    """
    from scipy.optimize import isotonic_regression

    theta = theta.copy()
    for link in (slice(0, len(KNOTS)), slice(len(KNOTS), 2 * len(KNOTS))):
        theta[link] = isotonic_regression(theta[link], weights=weight[link]).x
    return theta
