"""Forecast: the lift to expect, learned by predicting each period before it is counted."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import nbinom

import omba
from omba import Baskets
from omba.errors import SettingError
from omba.model import likelihood
from omba.model.cohort import Cohort
from omba.model.evidence import Evidence
from omba.model.forecast import Forecast
from omba.model.late_sales import LateSales
from omba.model.parameters import (
    COUNTING,
    JOINING,
    KNOTS,
    LEAST,
    LEAST_JOINING,
    LEAST_PRIOR,
    MOST,
    MOST_JOINING,
    MOST_PRIOR,
    START,
    make_rise,
)
from omba.model.spread import Spread
from omba.model.variants import Decay

PRODUCTS, PAIRS = 160, 80


class World:
    """Products bought alone by chance, and planted pairs: 2i and 2i + 1 also come together, at a rate of their own.

    The vectors tell those rates: the cosine of a planted pair rises with its rate, others are at right angles. Unless
    it is `true`, there are only the cosines, and nothing comes together but by chance.
    """

    def __init__(self, seed: int = 0, true: bool = True) -> None:
        self.rng = np.random.default_rng(seed)
        self.alone = self.rng.uniform(0.004, 0.02, PRODUCTS)
        self.together = np.where(np.arange(PAIRS) % 4 == 0, 0.0, self.rng.uniform(0.0, 0.004, PAIRS))
        cosine = np.sqrt(self.together / 0.005)
        axes = np.eye(PRODUCTS, dtype=np.float32)
        self.vectors = axes.copy()
        self.vectors[1::2] = cosine[:, None] * axes[::2] + np.sqrt(1 - cosine**2)[:, None] * axes[1::2]
        self.together *= true

    def window(self, baskets: int) -> tuple[np.ndarray, np.ndarray]:
        bought = self.rng.random((baskets, PRODUCTS)) < self.alone
        pairs = self.rng.random((baskets, PAIRS)) < self.together
        bought[:, ::2] |= pairs
        bought[:, 1::2] |= pairs
        rows, items = np.nonzero(bought)
        return np.searchsorted(rows, np.arange(baskets + 1)), items.astype(np.int32)


def learned(world: World, windows: int = 30, seed: int = 0) -> tuple[Forecast, Evidence]:
    forecast, evidence = Forecast(seed), Evidence()
    for _ in range(windows):
        offsets, items = world.window(400)
        forecast.learn(world.vectors, evidence, offsets, items)
        evidence.update(offsets, items)
    return forecast, evidence


def test_more_baskets_together_raise_the_lift_and_narrow_the_interval() -> None:
    expected, low, high = Forecast().expect(0.3, [0, 1, 10], 100, 100, 10_000)
    assert (np.diff(expected) > 0).all()
    assert (np.diff(low) > 0).all()
    _, low, high = Forecast().expect(0.3, [4, 40], [100, 1000], [100, 1000], 100_000)
    assert high[1] - low[1] < high[0] - low[0]


def test_a_low_end_of_nothing_leaves_a_trace_that_ranks_by_strength_and_by_how_likely_a_pair_is_to_occur() -> None:
    _, low, _ = Forecast().expect([0.5, 0.5, 0.1, 0.5], [2, 2, 2, 60], [20, 50, 50, 100], [20, 50, 50, 100], 5_000)
    assert (low[:3] <= likelihood.TRACE).all()
    assert low[0] > 0
    assert low[1] > low[2], "the closer pair is the stronger one"
    assert low[3] > 1


def test_a_higher_cosine_raises_the_lift_of_an_unseen_pair() -> None:
    expected, low, _ = Forecast().expect([0.0, 0.2, 0.4, 0.6], 0, 50, 50, 10_000)
    assert (np.diff(expected) > 0).all()
    assert (np.diff(low) > 0).all()
    assert low.max() < 0.01, "a pair never seen may well not occur"


def test_the_cosine_of_products_met_a_few_times_counts_for_less() -> None:
    expected, _, _ = Forecast().expect(0.6, 0, [2, 63], [2000, 63], 1_000_000)
    assert expected[0] < expected[1]


@pytest.mark.parametrize("seed", range(6))
def test_no_pair_is_expected_to_have_more_than_the_highest_that_its_counts_allow(seed: int) -> None:
    rng, forecast = np.random.default_rng(seed), Forecast()
    forecast.theta = np.clip(START + rng.normal(0, 1.0, len(START)), LEAST, MOST)
    forecast.theta = make_rise(forecast.theta, np.ones(len(START)))
    joining = np.clip(JOINING + rng.normal(0, 1.0, len(JOINING)), LEAST_JOINING, MOST_JOINING)
    prior = np.clip(COUNTING[: likelihood.PRIOR] + rng.normal(0, 1.0, likelihood.PRIOR), LEAST_PRIOR, MOST_PRIOR)
    forecast.counting = np.append(prior, joining)
    forecast.late.learn(rng.integers(0, 300, 2_000), 1_000, 1e6)
    forecast.late.sizes[0, 2] *= rng.choice([0.5, 2.0])
    a, b = rng.integers(0, 2_000, (2, 5_000))
    n_a, n_b = np.exp(rng.uniform(0, 8, (2, 5_000))).astype(np.int64)
    n_ab = np.minimum(rng.poisson(np.exp(rng.normal(0, 2, 5_000)) * n_a * n_b / 10_000), np.minimum(n_a, n_b))

    mean, low, _ = forecast.expect(rng.uniform(-1, 1, 5_000), n_ab, n_a, n_b, 10_000, a, b)
    highest = forecast.highest(n_ab, n_a, n_b, 10_000)

    looser = forecast.highest(n_ab, n_a, n_b, 10_000, 3.0)

    assert (mean <= highest * (1 + 1e-9)).all()
    assert (mean <= looser * (1 + 1e-9)).all()
    assert np.array_equal(looser[looser >= 3.0], highest[looser >= 3.0])
    assert (low <= mean).all()
    assert np.median(highest / mean) < 30, "a bound that says nothing"
    occurs = forecast.occurs(highest, n_a, n_b, 10_000)
    assert (low[~occurs] <= likelihood.TRACE).all()
    assert 0.1 < occurs.mean() < 0.95


def test_a_product_never_sold_has_no_forecast() -> None:
    assert np.isnan(np.array(Forecast().expect(0.5, 0, 0, 10, 100))).all()


def test_no_lift_is_beyond_what_the_more_frequent_product_allows() -> None:
    expected, _, high = Forecast().expect(0.9, 500, 500, 500, 1_000)
    assert expected <= 2.0
    assert high <= 2.0


def test_what_is_expected_comes_true_in_a_world_with_known_rates() -> None:
    world = World()
    forecast, evidence = learned(world)
    assert forecast.n_fits >= 5
    offsets, items = world.window(4_000)
    later = Evidence()
    later.update(offsets, items)
    a, b = np.arange(0, PRODUCTS, 2), np.arange(1, PRODUCTS, 2)
    cosine = np.einsum("ij,ij->i", world.vectors[a], world.vectors[b])
    expected, low, high = forecast.expect(
        cosine, evidence.pairs(a, b), evidence.counts[a], evidence.counts[b], evidence.n_baskets, a, b
    )
    chance = later.counts[a] * later.counts[b] / later.n_baskets
    shown = later.pairs(a, b) / chance
    assert (chance * expected).sum() == pytest.approx(later.pairs(a, b).sum(), rel=0.1)
    low[low < 1e-5] = 0.0  # a trace, so that sorting ranks
    assert 0.85 <= np.mean((low <= shown) & (shown <= high)) <= 0.97
    assert np.corrcoef(expected, shown)[0, 1] > 0.8


def test_a_cosine_that_tells_nothing_is_found_out() -> None:
    asked = 0.6, 2, 100, 100, 10_000
    assert learned(World(2))[0].expect(*asked)[0] > 2
    assert learned(World(2, true=False))[0].expect(*asked)[0] < 1.5


def test_products_out_of_season_promise_less_for_certain() -> None:
    world = World(3)
    forecast, evidence = learned(world, windows=10)
    before = forecast.expect(0.5, 30, 60, 60, 4_000, 2, 3)[1]
    for _ in range(60):
        offsets, items = world.window(100)
        gone = np.isin(items, [2, 3])
        lengths = np.diff(offsets) - np.array([gone[i:j].sum() for i, j in pairwise(offsets)])
        forecast.learn(world.vectors, evidence, np.append(0, np.cumsum(lengths)), items[~gone])
    assert forecast.expect(0.5, 30, 60, 60, 4_000, 2, 3)[1] < before / 2
    assert forecast.expect(0.5, 30, 60, 60, 4_000)[1] >= 0.8 * before
    gone, there = forecast.season([[2, 3], [5, 6]], evidence.counts, evidence.n_baskets)
    assert gone < 0.2 < there <= 1
    arguments = 9.0, 40.0, [60, 60], [60, 60], 4_000
    assert forecast.interval(*arguments, season=[gone, there])[0][0] < forecast.interval(*arguments)[0][0]


def test_rules_estimated_elsewhere_get_the_same_kind_of_interval() -> None:
    forecast = Forecast()
    low, high = forecast.interval([5.0, 5.0], [4.0, 400.0], [50, 5_000], [50, 5_000], 100_000)
    assert low[0] < low[1] < 5.0 < high[1] < high[0]


def test_the_same_seed_gives_the_same_forecast_and_another_a_different_one() -> None:
    first, second, third = (learned(World(4), 12, seed)[0] for seed in (0, 0, 1))
    assert np.array_equal(first.theta, second.theta)
    assert not np.array_equal(first.theta, third.theta)


def test_a_forecast_saved_and_restored_goes_on_to_the_very_same_state() -> None:
    world = World(5)
    forecast, evidence = learned(world, 14)
    assert forecast.cohort is not None
    copy = Forecast.from_state(forecast.state())
    for _ in range(8):
        window = world.window(400)
        for one in (forecast, copy):
            one.learn(world.vectors, evidence, *window)
        evidence.update(*window)
    first, second = forecast.state(), copy.state()
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_a_forecast_saved_by_another_kind_begins_anew_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    forecast, _ = learned(World(5), 14)
    for name, old in (("counting", None), ("theta", forecast.theta[:-1]), ("scored", forecast.spread.scored[1:])):
        state = {key: array for key, array in forecast.state().items() if key != name}
        caplog.clear()
        restored = Forecast.from_state(state if old is None else {**state, name: old})
        assert "begins anew" in caplog.text
        assert not restored.judged
        assert np.array_equal(restored.late.sold, forecast.late.sold)
    caplog.clear()
    assert Forecast.from_state(forecast.state()).judged
    assert not caplog.text


def test_a_stream_too_short_to_learn_from_leaves_the_forecast_as_it_began() -> None:
    forecast, _ = learned(World(6), windows=1)
    assert np.array_equal(forecast.theta, START)
    assert np.array_equal(forecast.counting, COUNTING)
    assert not forecast.judged, "not enough was seen yet"
    assert learned(World(6), windows=4)[0].judged


def test_a_period_without_baskets_is_refused() -> None:
    with pytest.raises(SettingError, match="period of 0 baskets"):
        Forecast(period=0)


def test_a_strong_pair_is_not_talked_down_where_all_others_are_ordinary() -> None:
    """A prior that knows only ordinary pairs would pull a lift of 15 down to theirs; its wide part must not let it."""
    rng, forecast, evidence = np.random.default_rng(7), Forecast(), Evidence()
    vectors = np.ones((40, 4), np.float32)
    for _ in range(30):
        bought = rng.random((300, 40)) < 0.05
        both = rng.random(300) < 0.02
        bought[:, 0], bought[:, 1] = both | (rng.random(300) < 0.02), both | (rng.random(300) < 0.02)
        rows, items = np.nonzero(bought)
        window = np.searchsorted(rows, np.arange(301)), items.astype(np.int32)
        forecast.learn(vectors, evidence, *window)
        evidence.update(*window)
    n, counts = evidence.pairs(0, 1), evidence.counts
    raw = float(n) * evidence.n_baskets / (counts[0] * counts[1])
    assert raw > 10
    expected, low, _ = forecast.expect(1.0, n, counts[0], counts[1], evidence.n_baskets)
    assert expected > 0.8 * raw
    assert low > 5


def test_the_lift_expected_joins_vectors_and_counts_by_the_weights_fitted() -> None:
    """The formula of the documentation by hand: two gamma priors weighed by how likely each makes the count."""
    forecast, _ = learned(World(8), 14)
    forecast.late = LateSales()
    alone = Forecast.from_state(forecast.state())
    alone.counting[likelihood.PRIOR :] = 1.0 * (np.arange(likelihood.JOINED) < len(likelihood.SEEN))
    shape, mean, odds, distance = forecast.counting[:4]
    weights, strong, apart, _ = np.split(forecast.counting[4:], [5, 9, 10])
    for n_ab in (0, 1, 2, 7, 30, 500):
        parts = []
        for k, m in ((np.exp(shape), np.exp(mean)), (1.0, np.exp(mean + distance))):
            parts.append((nbinom(k, k / (k + 60 * m)).pmf(n_ab), (k + n_ab) / (k / m + 60)))
        wide = np.exp(odds) * parts[1][0]
        by_counts = (parts[0][0] * parts[0][1] + wide * parts[1][1]) / (parts[0][0] + wide)
        weight = np.interp(np.log1p(n_ab), likelihood.SEEN, weights)
        asked = 0.4, n_ab, 2_000, 3_000, 100_000
        expected = alone.expect(*asked)[0] ** weight * by_counts ** (1 - weight)
        if by_counts > 3:
            tens = np.log10(by_counts / 3) * (n_ab > 0)
            expected *= np.exp(np.interp(np.log(by_counts), likelihood.STRONG, strong) * 20 / (20 + n_ab))
            expected *= np.exp(apart[0] * tens * (0.7 - 0.4))
        assert forecast.expect(*asked)[0] == pytest.approx(float(expected), rel=1e-9)


def test_strong_pairs_that_do_not_last_are_doubted_after_some_periods() -> None:
    """Pairs that come together in a few large baskets only: their lift is high, and gone in the next period."""
    world, forecast, evidence = World(3, true=False), Forecast(), Evidence()
    for window in range(40):
        offsets, items = world.window(400)
        gone = np.sort(world.rng.choice(PRODUCTS, 12, replace=False)).astype(np.int32)
        if window % 2 == 0:
            offsets = np.append(offsets, offsets[-1] + 12 * np.arange(1, 7))
            items = np.append(items, np.tile(gone, 6))
        forecast.learn(world.vectors, evidence, offsets, items)
        evidence.update(offsets, items)
    fresh = Forecast.from_state(forecast.state())
    fresh.counting[likelihood.PRIOR :] = JOINING
    asked = 0.1, 7, 60, 70, 16_000
    assert forecast.expect(*asked)[0] < 0.8 * fresh.expect(*asked)[0]


def test_a_strong_pair_of_a_product_that_sells_more_of_late_promises_a_lower_lift() -> None:
    """Bought together as often as ever and apart more often than before: the lift is lower than it was."""
    forecast = Forecast()
    forecast.counting[-3] = -1.0
    forecast.late.learn(np.array([10, 10, 30]), 1_000)
    steady, rising = forecast.expect(0.5, [60, 60], 100, 100, 10_000, [0, 0], [1, 2])[0]
    assert rising < steady
    assert forecast.expect(0.5, 1, 100, 100, 10_000, 0, 2)[0] == pytest.approx(
        forecast.expect(0.5, 1, 100, 100, 10_000, 0, 1)[0]
    ), "a lift near 1 has no such reason to fall"


def test_a_strong_pair_of_products_that_were_sold_at_the_same_time_only_promises_a_lower_lift() -> None:
    """Both were gone of late: their lift came of the weeks that both were there, and not of meeting within them."""
    forecast = Forecast()
    forecast.counting[-1] = -1.0
    forecast.late.learn(np.array([100, 100, 0, 0]), 1_000)
    usual, apart, at_once = forecast.expect(0.5, [200] * 3, 300, 300, 3_000, [0, 0, 2], [1, 2, 3])[0]
    assert at_once < 0.9 * usual
    assert apart == pytest.approx(usual), "one was gone and the other sold evenly: that tells nothing of both"


def test_pairs_come_together_less_often_where_baskets_are_smaller_of_late() -> None:
    forecast = Forecast()
    for size in (30, 10):
        before = forecast.expect(0.0, [0, 300], 100, 100, 10_000)[0]
        for _ in range(40):
            large = np.where(np.arange(100) < 20, size, 2)
            forecast.late.learn(np.array([large.sum()]), len(large), float((large**2).sum()))
    after = forecast.expect(0.0, [0, 300], 100, 100, 10_000)[0]
    assert after[0] < 0.97 * before[0]
    assert 1 - after[1] / before[1] < (1 - after[0] / before[0]) / 5, (
        "it takes as much from a strong lift as from a weak one"
    )


def test_a_forecast_saved_before_it_knew_of_timing_goes_on() -> None:
    world = World(5)
    forecast, evidence = learned(world, 14)
    old = {name: array for name, array in forecast.state().items() if name not in ("falling", "timing", "level")}
    del old["recent_sizes"]
    old["counting"], old["counting_information"] = old["counting"][:-2], old["counting_information"][:-2, :-2]
    old["scored"] = np.delete(old["scored"], 3, axis=1)
    restored = Forecast.from_state(old)
    assert restored.n_fits == forecast.n_fits > 0
    assert restored.cohort is not None
    assert np.array_equal(restored.counting[:-2], forecast.counting[:-2])
    assert np.array_equal(restored.spread.scored[:, 4:], forecast.spread.scored[:, 4:])
    for _ in range(8):
        restored.learn(world.vectors, evidence, *world.window(400))
    assert restored.n_fits > forecast.n_fits


def test_the_prior_of_counting_alone_is_the_one_the_counts_were_drawn_from() -> None:
    rng = np.random.default_rng(0)
    chance = rng.uniform(0.1, 5, 20_000)
    lift = np.where(rng.random(20_000) < 0.05, rng.gamma(1.0, 15.0, 20_000), rng.gamma(2.0, 1.5 / 2.0, 20_000))
    forecast = Forecast()
    cohort = SimpleNamespace(n_ab=rng.poisson(chance * lift), by_chance=chance, even=np.ones(len(chance), bool))
    forecast._fit_counting(cohort)  # type: ignore[arg-type]
    shape, mean, odds, distance = forecast.counting[:4]
    assert np.exp([shape, mean]) == pytest.approx([2.0, 1.5], rel=0.1)
    assert np.exp(mean + distance) == pytest.approx(15.0, rel=0.15)
    assert 1 / (1 + np.exp(-odds)) == pytest.approx(0.05, rel=0.2)


def test_a_period_of_large_baskets_is_no_promise_for_the_next() -> None:
    """All pairs meet more often where baskets are large: what is left of it in the forecast is what the past has."""
    forecasts = []
    for large in (False, True):
        world, forecast, evidence = World(9), Forecast(), Evidence()
        for window in range(24):
            offsets, items = world.window(400)
            if large and window >= 16:
                extra = np.sort(np.array([world.rng.choice(PRODUCTS, 60, replace=False) for _ in range(40)]), axis=1)
                offsets = np.append(offsets, offsets[-1] + 60 * np.arange(1, 41))
                items = np.append(items, extra.astype(np.int32).ravel())
            forecast.learn(world.vectors, evidence, offsets, items)
            evidence.update(offsets, items) if window < 16 else None
        forecasts.append(forecast.expect(0.0, 0, 100, 100, 10_000)[0])
    assert forecasts[1] == pytest.approx(forecasts[0], rel=0.3)


def test_ends_lie_where_one_in_twenty_fell_beyond_them() -> None:
    rng, size = np.random.default_rng(0), 40_000
    mean, variance, ahead = np.full(size, 8.0), np.full(size, 0.05), np.full(size, 5.0)
    later = rng.poisson(ahead * mean * rng.gamma(1 / 0.2, 0.2, size))
    spread, n_ab = Spread(), np.full(size, 400)
    kinds = likelihood.score_all(mean, variance, n_ab, ahead, later, ahead, spread.scored)
    low, high = (np.empty(1) for _ in range(2))
    for score, end in zip(spread.scores()[kinds[0]], (low, high), strict=False):
        likelihood.quantiles(np.array([40.0]), np.array([0.05]), score, end)
    assert np.mean(later < low) == pytest.approx(0.05, abs=0.015), "the lift varies four times as much as was said"
    assert np.mean(later > high) == pytest.approx(0.05, abs=0.015)


def test_after_a_period_that_swung_one_way_intervals_are_open_to_the_other() -> None:
    """All pairs came together a third less often than foretold: next time it may be a half more often."""
    rng, size = np.random.default_rng(1), 20_000
    mean, variance, ahead = np.full(size, 8.0), np.full(size, 0.02), np.full(size, 5.0)
    spread, n_ab = Spread(), np.full(size, 400)
    later = rng.poisson(ahead * mean / 1.5 * rng.gamma(50.0, 0.02, size))
    kind = likelihood.score_all(mean, variance, n_ab, ahead, later, ahead, spread.scored)[0]
    low, high, _ = spread.scores()[kind]
    assert low < -2.5
    assert high > 1.5
    found = np.empty(1)
    likelihood.quantiles(np.array([40.0]), np.array([0.02]), high, found)
    next_time = rng.poisson(ahead * mean * 1.5 * rng.gamma(50.0, 0.02, size))
    assert np.mean(next_time <= found) > 0.75


def test_vectors_that_have_diverged_leave_the_forecast_whole() -> None:
    world = World(10)
    world.vectors[3], world.vectors[4:9] = np.inf, np.nan
    forecast, evidence = learned(world, 14)
    assert forecast.n_fits > 0
    assert np.isfinite(forecast.theta).all()
    assert np.isfinite(np.array(forecast.expect(np.nan, 3, 50, 50, evidence.n_baskets))).all()


def test_a_model_whose_vectors_diverge_is_fitted_to_the_end() -> None:
    baskets = omba.datasets.synthetic(baskets=3_000, products=80, users=60, days=20, pairs=4, seed=3).baskets
    with np.errstate(all="ignore"):
        model = Decay(dim=16, epochs=2, learning_rate=5.0).fit(baskets)
    assert model.forecast.judged


PLANTED = {("bread", "butter"): 0.29, ("pasta", "sauce"): 0.2, ("tea", "lemon"): 0.15}
"""Pairs that are always bought together, and how often: lifts of 3.4, 5 and 6.7."""


def planted_shop(baskets: int, seed: int) -> Baskets:
    """Thirty products bought by chance, and planted pairs."""
    rng = np.random.default_rng(seed)
    bought = rng.random((baskets, 30)) < rng.uniform(0.03, 0.25, 30)
    lists = [[f"p{i}" for i in np.flatnonzero(row)] for row in bought]
    for pair, rate in PLANTED.items():
        for place in np.flatnonzero(rng.random(baskets) < rate):
            lists[place] += pair
    return Baskets.from_lists([basket for basket in lists if basket])


TWENTY = [
    pytest.param(1_000, range(10, 20), marks=pytest.mark.thorough),
    pytest.param(3_000, range(5, 20), marks=pytest.mark.thorough),
]


@pytest.mark.slow
@pytest.mark.parametrize(("baskets", "seeds"), [(100, range(20)), (1_000, range(10)), (3_000, range(5)), *TWENTY])
def test_planted_rules_come_first_in_a_small_shop_and_no_noise_above_them(baskets: int, seeds: range) -> None:
    for seed in seeds:
        model = omba.OMBA(dim=8, epochs=1, seed=seed).fit(planted_shop(baskets, seed), every=max(25, baskets // 15))
        best = omba.mine_rules(model, top=len(PLANTED))
        found = {frozenset(a) | frozenset(c) for a, c in best.sides}
        assert found == {frozenset(pair) for pair in PLANTED}, f"seed {seed}"


def test_a_pair_seen_once_in_a_hundred_baskets_promises_little() -> None:
    rng = np.random.default_rng(0)
    lists = [[f"p{i}" for i in rng.choice(100, 4, replace=False)] for _ in range(100)]
    rules = omba.mine_rules(omba.OMBA(dim=16).fit(Baskets.from_lists(lists), every=25), top=200)
    assert max(rules.to_arrow()["expected_lift"].to_pylist()) < 5


def test_pairs_whose_count_was_let_go_are_not_watched_as_unseen() -> None:
    rng, evidence = np.random.default_rng(0), Evidence(10_000)
    while not evidence.let_go:
        baskets = np.sort(np.array([rng.choice(400, 12, replace=False) for _ in range(100)]), axis=1)
        evidence.update(12 * np.arange(101), baskets.astype(np.int32).ravel())
    vectors = rng.normal(size=(400, 8)).astype(np.float32)
    cohort = Cohort.draw(vectors, evidence, KNOTS, rng, LateSales())
    unseen = cohort.n_ab == 0
    assert unseen.any()
    assert not evidence.seen(cohort.a[unseen], cohort.b[unseen]).any()
    gone = evidence.pairs(cohort.a, cohort.b) == 0
    gone &= evidence.seen(cohort.a, cohort.b)
    assert gone.any(), "of those drawn alike none may be left out, or all pairs seem to meet less often than they did"
    assert (cohort.n_ab[gone] == 1).all()
    assert cohort.even[gone].all()
