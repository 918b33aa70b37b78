"""Forecast: the lift to expect, learned by predicting each period before it is counted."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import nbinom

from omba.errors import SettingError
from omba.model import likelihood
from omba.model.evidence import Evidence
from omba.model.forecast import KNOTS, START, Forecast

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


def test_the_gradient_is_that_of_the_likelihood() -> None:
    rng = np.random.default_rng(0)
    size = 300
    cosine, n_ab = rng.uniform(-0.3, 0.95, size), rng.poisson(2, size) * (rng.random(size) < 0.6)
    n_a, n_b, chance = rng.integers(2, 300, size), rng.integers(5, 3000, size), rng.uniform(0.01, 3, size)
    later = np.where(np.arange(size) < 9, 80, rng.poisson(4, size))
    gradient, square = np.empty(len(START)), np.empty((len(START), len(START)))

    def value(theta: np.ndarray) -> float:
        return likelihood.likelihood(theta, KNOTS, cosine, n_ab, n_a, n_b, 10_000, later, chance, gradient, square)

    theta = START + rng.normal(0, 0.2, len(START))
    value(theta)
    found = gradient.copy()
    steps = 1e-5 * np.eye(len(START))
    measured = [(value(theta + step) - value(theta - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(found, measured, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("mean", "variance"), [(0.2, 0.5), (3.0, 0.3), (12.0, 0.1), (29.0, 0.05), (80.0, 0.02)])
def test_quantiles_lie_within_one_of_the_negative_binomial(mean: float, variance: float) -> None:
    low, high, occurs = likelihood.ends(mean, variance)
    exact = nbinom(1 / variance, 1 / (1 + mean * variance))
    assert max(exact.ppf(0.05) - 1, 0) <= low <= exact.ppf(0.05) + 0.5
    assert exact.ppf(0.95) - 0.5 <= high <= exact.ppf(0.95) + 1
    assert occurs == pytest.approx(exact.sf(0), abs=1e-3)


def test_more_baskets_together_raise_the_lift_and_narrow_the_interval() -> None:
    expected, low, high = Forecast().expect(0.3, [0, 1, 10], 100, 100, 10_000)
    assert (np.diff(expected) > 0).all()
    assert (np.diff(low) > 0).all()
    _, low, high = Forecast().expect(0.3, [4, 40], [100, 1000], [100, 1000], 100_000)
    assert high[1] - low[1] < high[0] - low[0]


def test_a_higher_cosine_raises_the_lift_of_an_unseen_pair() -> None:
    expected, low, _ = Forecast().expect([0.0, 0.2, 0.4, 0.6], 0, 50, 50, 10_000)
    assert (np.diff(expected) > 0).all()
    assert (np.diff(low) > 0).all()
    assert low.max() < 0.01, "a pair never seen may well not occur"


def test_the_cosine_of_products_met_a_few_times_counts_for_less() -> None:
    expected, _, _ = Forecast().expect(0.6, 0, [2, 63], [2000, 63], 1_000_000)
    assert expected[0] < expected[1]


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
    assert np.mean((low <= shown) & (shown <= high)) >= 0.85
    assert np.corrcoef(expected, shown)[0, 1] > 0.8


def test_a_cosine_that_tells_nothing_is_found_out() -> None:
    arguments = 0.6, 2, 100, 100, 10_000
    assert Forecast().expect(*arguments)[0] > 3
    forecast, _ = learned(World(2, true=False))
    assert forecast.expect(*arguments)[0] < 2


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
    assert forecast.expect(0.5, 30, 60, 60, 4_000)[1] >= before
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


def test_a_stream_too_short_to_learn_from_leaves_the_forecast_as_it_began() -> None:
    forecast, _ = learned(World(6), windows=1)
    assert np.array_equal(forecast.theta, START)


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
