"""Forecast: the lift a pair of products should show in the next period, from its cosine and its past counts.

A pair's lift λ is taken as gamma distributed around what its cosine promises, and its count n_ab, where chance alone
would give e = n_a·n_b / n, as Poisson with mean e·λ. So the lift to expect is

    E λ = (k + n_ab) / (k / m + e),        log m = link(cosine).

A few pairs are far stronger than their like, so the prior has a second, wide part above the first (k = 1, m several
times as high), and the two are weighed by how likely each makes n_ab, as W. DuMouchel does (1999). The count of a
later period is negative binomial around E λ, wider by what associations drift.

A second forecast rests on counts alone, with one gamma prior for all pairs. The two are joined, by how often a pair was
seen, with the weights that would have foretold best, and strong pairs are doubted as much as was right. How wide the
interval is follows from where earlier lifts fell in theirs.

Cosines already contain the counts, so fitting that link to the past it was learned from would fail. It is fitted to
what comes after: a sample of pairs is held with cosine and counts as they are, the baskets of the next period are
counted for them, and then the parameters take a few Newton steps towards what happened (predict, then learn).
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omba.errors import SettingError
from omba.model import likelihood
from omba.model.cohort import SHORTEST, Cohort
from omba.model.evidence import Evidence
from omba.model.late_sales import MOVES, LateSales
from omba.model.likelihood import JOINED, OFTEN, PRIOR, UNSURE
from omba.model.parameters import (
    COUNTING,
    EARLY,
    FIRM,
    JOINING,
    KNOTS,
    LEAST,
    LEAST_JOINING,
    LEAST_PRIOR,
    MOST,
    MOST_JOINING,
    MOST_PRIOR,
    START,
    STAY,
    STEADY,
    STEEP,
    climb,
    hold_back,
    make_rise,
)
from omba.model.spread import Spread

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Rows = NDArray[np.int32]
Longs = NDArray[np.int64]

log = logging.getLogger("omba")

MEMORY = 0.75
"""Share kept of what earlier periods showed."""
SHARE = 1 / 3
"""The next period, against all baskets so far: a quarter after nine months."""
FITTED = ("theta", "information", "counting", "counting_information")
SURE = 5.0
"""All pairs whose lift is surely above this tell how wide intervals are, besides those drawn alike."""
CALM = 20.0
"""Baskets' worth of a level that stays as it was."""


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
        self.counting = COUNTING.copy()
        self.counting_information = np.zeros((JOINED, JOINED))
        self.spread = Spread()
        self.n_fits = 0
        self.late = LateSales()
        self.cohort: Cohort | None = None

    @property
    def judged(self) -> bool:
        """Whether anything it foretold was compared with what came; until then not enough was seen to go by."""
        return self.n_fits > 0

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
        known = np.nan_to_num(cosine, posinf=0.0, neginf=0.0)
        chance, moves = n_a * n_b / n**2, np.zeros((cosine.size, MOVES))
        if a is not None and b is not None:
            late_a, late_b = (np.broadcast_to(self.late.share(x), columns[0].shape).ravel() for x in (a, b))
            chance = np.minimum(chance, late_a * late_b)
            moves = self.late.moves(late_a, late_b, n_a / n, n_b / n, n)
        chance = np.maximum(chance * self._next_baskets(n), 1e-12)
        mean, low, high = (np.empty(cosine.size) for _ in range(3))
        parameters = self.theta, self.counting, self.spread.scores()
        level = self.late.level, self._usual_lift
        likelihood.expect(*parameters, KNOTS, known, n_ab, n_a, n_b, n, moves, level, chance, mean, low, high)
        shape = columns[0].shape
        return mean.reshape(shape), low.reshape(shape), high.reshape(shape)

    def highest(self, n_ab: Longs, n_a: Longs, n_b: Longs, n: int, enough: float = 0.0) -> Floats:
        """The highest lift that pairs with these counts may be expected to have, whatever their cosine and late sales.

        Where it is below `enough` even a looser bound will do. It takes a fifth of the time of `expect`, and most
        pairs cannot be among the best by it.
        """
        most, level = np.empty(len(n_ab)), (self.late.level, self._usual_lift)
        likelihood.highest(self.theta, self.counting, KNOTS, n_ab, n_a, n_b, n, level, enough, most)
        return most

    def occurs(self, lift: NDArray[np.floating], n_a: Longs, n_b: Longs, n: int) -> NDArray[np.bool_]:
        """Which pairs may be sure to occur in the next period, and have a low end of more than a trace, if they have
        this lift at most: no count is 0 less often than Poisson's, exp(−mean)."""
        return np.asarray(n_a * n_b / n**2 * self._next_baskets(n) * lift > -np.log(likelihood.TAIL))

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
        likelihood.interval(self.theta, self.spread.scores(), KNOTS, mean, baskets, chance, low, high)
        return low.reshape(columns[0].shape), high.reshape(columns[0].shape)

    def season(self, rows: ArrayLike, counts: Longs, n: int) -> Floats:
        """How much of their usual sales the products of each line of rows had lately, one product times the other.

        1 for products in season; `counts` are baskets with each product, by row, of n in all.
        """
        rows = np.asarray(rows)
        usual = np.maximum(counts[rows] / n, 1e-12)
        return np.asarray(np.minimum(self.late.share(rows) / usual, 1.0).prod(axis=-1))

    def _next_baskets(self, n: int) -> float:
        """Baskets of the next period; a forecast is never judged by fewer than a cohort is watched for."""
        return max(SHARE * n, SHORTEST) if self.period is None else float(self.period)

    def learn(self, vectors: Vectors, evidence: Evidence, offsets: Longs, items: Rows) -> None:
        """Count a window for the pairs that are watched, before the model and the evidence learn it."""
        self.hold(vectors, evidence)
        self.follow(offsets, items)

    def follow(self, offsets: Longs, items: Rows) -> None:
        """Count a window for the pairs that are watched; neither vectors nor evidence are looked at."""
        offsets, items = offsets - offsets[0], items[offsets[0] : offsets[-1]]
        if self.cohort is not None:
            self.cohort.watch(offsets, items)
        squares = float((np.diff(offsets).astype(np.float64) ** 2).sum())
        self.judge(np.bincount(items, minlength=len(self.late.sold)), len(offsets) - 1, squares)

    def hold(self, vectors: Vectors, evidence: Evidence) -> None:
        """Draw the pairs to watch, if there are none yet and enough baskets to draw from."""
        if self.cohort is None and evidence.n_baskets >= SHORTEST:
            rng = np.random.default_rng([self.seed, self.n_fits])
            self.cohort = Cohort.draw(vectors, evidence, KNOTS, rng, self.late)
            self._fit_counting(self.cohort)

    def judge(self, sold: Longs, baskets: int, squares: float | None = None) -> None:
        """Fit to what the watched pairs showed, once it is enough; `sold` are the window's baskets by product, and
        `squares` those of their sizes added up, if known."""
        if self.cohort is not None and self.cohort.over:
            self._fit(self.cohort)
            self.cohort = None
        self.late.learn(sold, baskets, squares)

    @property
    def _usual_lift(self) -> float:
        """The mean lift of pairs by the prior of counting alone."""
        _, mean, odds, distance = self.counting[:PRIOR]
        wide = 1.0 / (1.0 + np.exp(-odds))
        return float(np.exp(mean) * (1.0 - wide + wide * np.exp(distance)))

    def _fit_counting(self, cohort: Cohort) -> None:
        """Fit the prior of counting alone to the counts so far, of pairs drawn alike (W. DuMouchel, 1999)."""
        n_ab, by_chance = cohort.n_ab[cohort.even], cohort.by_chance[cohort.even]

        def likely(prior: Floats) -> tuple[float, Floats, Floats]:
            gradient, square = np.empty(PRIOR), np.empty((PRIOR, PRIOR))
            return likelihood.counts_prior(prior, n_ab, by_chance, gradient, square), gradient, square

        known, now = FIRM * np.eye(PRIOR), self.counting[:PRIOR].copy()
        posterior = hold_back(likely, (COUNTING[:PRIOR], known))
        self.counting[:PRIOR], _, _ = climb(posterior, now, known, LEAST_PRIOR, MOST_PRIOR)

    def _fit(self, cohort: Cohort) -> None:
        """Learn from what the pairs have shown: first how far off the forecast was, then how to do better."""
        cohort = cohort.sold_since()
        parameters = self.theta, self.counting, KNOTS
        mean, variance, by_vectors, by_counts = (np.empty(len(cohort.a)) for _ in range(4))
        columns = cohort.cosine, cohort.n_ab, cohort.n_a, cohort.n_b, int(cohort.baskets[0]), cohort.moves
        likelihood.join_all(*parameters, *columns, mean, variance, by_vectors, by_counts)
        self._measure_spread(cohort, self._at_level(mean, float(cohort.level[0])), variance)
        chance = cohort.chance * self._level(cohort, by_counts)
        self._fit_joining(cohort, by_vectors, by_counts, chance)
        self._fit_vectors(cohort, chance)
        self.n_fits += 1

    def _measure_spread(self, cohort: Cohort, mean: Floats, variance: Floats) -> None:
        """Score what was foretold of pairs drawn alike, and of all that are surely strong."""
        sure = cohort.n_ab - 2 * np.sqrt(cohort.n_ab) > SURE * cohort.by_chance
        some = np.flatnonzero(cohort.fair | sure & (cohort.n_ab >= OFTEN))
        ahead = np.maximum(cohort.foreseen * cohort.baskets[1], 1e-12)
        columns = mean, variance, cohort.n_ab, ahead, cohort.later, cohort.chance
        self.spread.fade()
        likelihood.score_all(*(column[some] for column in columns), self.spread.scored)

    def _at_level(self, lift: Floats, level: float) -> Floats:
        """Lifts where all pairs come together so many times as often, which adds to the lift of each alike."""
        return np.asarray(lift * (1.0 + (level - 1.0) * np.minimum(self._usual_lift / lift, 1.0)))

    def _level(self, cohort: Cohort, lift: Floats) -> Floats:
        """By how much each pair came together more often in this period because all pairs did.

        Large baskets bring everything together, and how many there are is a matter of the season. It is no sign of
        what comes next, so it is taken out before the links are fitted. It adds to the lift of every pair alike, so to
        strong ones in a small proportion.
        """
        even = cohort.even
        before = (cohort.n_ab[even].sum() + CALM) / (cohort.by_chance[even].sum() + CALM)
        since = (cohort.later[even].sum() + CALM * before) / (cohort.chance[even].sum() + CALM)
        return np.asarray(1 + (since / before - 1) * np.minimum(before / lift, 1.0))

    def _fit_joining(self, cohort: Cohort, by_vectors: Floats, by_counts: Floats, chance: Floats) -> None:
        """Weigh vectors against counting alone, and doubt strong pairs, by what would have foretold better."""
        joining, fair = self.counting[PRIOR:].copy(), np.flatnonzero(cohort.fair)
        known, firm = MEMORY * self.counting_information, FIRM * np.eye(JOINED)
        all_columns = by_vectors, by_counts, cohort.n_ab, cohort.cosine, cohort.moves, cohort.later, chance
        columns = [column[fair] for column in all_columns]

        def likely(joining: Floats) -> tuple[float, Floats, Floats]:
            gradient, square = np.empty(JOINED), np.empty((JOINED, JOINED))
            return likelihood.joined_likelihood(joining, *columns, gradient, square), gradient, square

        posterior = hold_back(likely, (joining, known), (JOINING, firm))
        self.counting[PRIOR:], square, _ = climb(posterior, joining, known + firm, LEAST_JOINING, MOST_JOINING)
        self.counting_information = known + square

    def _fit_vectors(self, cohort: Cohort, chance: Floats) -> None:
        """Take Newton steps on the likelihood of what happened, held back by what earlier periods showed."""
        columns = cohort.cosine, cohort.n_ab, cohort.n_a, cohort.n_b, int(cohort.baskets[0]), cohort.later, chance

        def likely(theta: Floats) -> tuple[float, Floats, Floats]:
            gradient, square = np.empty(len(theta)), np.empty((len(theta), len(theta)))
            return likelihood.likelihood(theta, KNOTS, *columns, gradient, square), gradient, square

        known = MEMORY * self.information
        posterior = hold_back(likely, (START, STAY), (self.theta, known))
        starts = [self.theta, STEEP] if self.n_fits < EARLY else [self.theta]
        ways = [climb(posterior, start, known + STAY, LEAST, MOST) for start in starts]
        theta, square, _ = max(ways, key=lambda way: way[2])
        self.information = known + square
        self.theta = make_rise(theta, np.diag(self.information) + STEADY)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything, as plain arrays."""
        sizes = np.array([self.seed, self.period or 0, self.n_fits], np.int64)
        held = {} if self.cohort is None else self.cohort.state()
        return {"sizes": sizes, **self._parameters(), **self.late.state(), **held}

    def _parameters(self) -> dict[str, NDArray[Any]]:
        fitted = {name: getattr(self, name).copy() for name in FITTED}
        return {**fitted, "scored": self.spread.scored.copy()}

    @classmethod
    def from_state(cls, state: dict[str, NDArray[Any]]) -> Forecast:
        """A forecast that goes on exactly where the saved one stopped.

        One that was saved when a forecast had other parameters begins anew, but for the sales of late, and says so.
        """
        state, (seed, period, n_fits) = enlarge(state), state["sizes"].tolist()
        forecast = cls(seed, period or None)
        forecast.late = LateSales.from_state(state)
        shapes = {name: array.shape for name, array in forecast._parameters().items()}
        if shapes != {name: state[name].shape for name in shapes.keys() & state.keys()}:
            log.warning(
                "the lift to expect begins anew: it was saved by an omba that forecast in another way, so the %d"
                " periods it was judged by are dropped; it goes on learning with the next baskets",
                n_fits,
            )
            return forecast
        forecast.n_fits = n_fits
        for name in FITTED:
            setattr(forecast, name, state[name].copy())
        forecast.spread.scored = state["scored"].copy()
        if "later" in state:
            forecast.cohort = Cohort.from_state(state)
        return forecast


def enlarge(state: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """A state with the places it had none for yet: two doubts that begin at nothing, and a kind of pairs that was part
    of the one before it."""
    state = dict(state)
    if state.get("counting", COUNTING).shape == (len(COUNTING) - 2,):
        state["counting"] = np.append(state["counting"], np.zeros(2))
        state["counting_information"] = np.pad(state["counting_information"], (0, 2))
        if "scored" in state:
            state["scored"] = np.insert(state["scored"], UNSURE - 1, state["scored"][:, UNSURE - 2], axis=1)
    return state
