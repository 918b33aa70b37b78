"""Chances: what is promised comes true, in worlds whose true shares are known, and nothing is promised blindly."""

from collections import Counter

import numpy as np
import pytest

import omba
from omba.model.calibration import START, Calibration, describe, fall, log_total, sum_up, update

ASKED = ("butter", "hot dogs", "tacos", "coffee", "ramen", "bread", "w3")


def draw_clues(rng, n, utility=0.0):
    return np.column_stack([np.ones(n), rng.normal(utility, 1, n), rng.normal(size=(n, len(START) - 2))])


def test_a_calibration_learns_the_chance_that_came_true():
    rng, calibration = np.random.default_rng(0), Calibration()
    for _ in range(150):
        clues = draw_clues(rng, 100)
        true = rng.random(100) < 1 / (1 + np.exp(1.0 - 1.5 * clues[:, 1]))
        calibration.learn(clues, true, 10)
    assert calibration.weights[:2] == pytest.approx([-1.0, 1.5], abs=0.3)
    assert np.abs(calibration.weights[2:]).max() < 0.2


def test_a_calibration_follows_utilities_that_grow_without_more_coming_true():
    rng, calibration, promised, came_true = np.random.default_rng(0), Calibration(), [], []
    for window in range(300):
        clues = draw_clues(rng, 120, window / 50)
        true = rng.random(120) < 1 / (1 + np.exp(2.0 - clues[:, 1] + window / 50))
        promised.append(calibration.chance(clues).mean())
        came_true.append(true.mean())
        calibration.learn(clues, true, 12)
    assert np.mean(promised[60:]) == pytest.approx(np.mean(came_true[60:]), abs=0.008)


def test_a_step_of_a_calibration_that_would_overshoot_is_halved():
    prior, clues = np.array([-3.0, 4.0]), np.array([[1.0, 12.0], [1.0, 11.0], [1.0, 10.0]])
    true = np.zeros(3)
    weights, _ = update(prior, np.eye(2) * 1e-3, clues, true, true)
    assert (1 / (1 + np.exp(-clues @ weights)) < 0.5).all()
    assert np.isfinite(weights).all()


def test_the_sums_of_a_step_are_those_of_numpy_even_for_odds_beyond_all_bounds():
    rng = np.random.default_rng(0)
    clues, given, weights = rng.normal(size=(40, 3)), 300.0 * rng.normal(size=40), rng.normal(size=3)
    true = (rng.random(40) < 0.5).astype(float)
    gradient, curvature = np.empty(3), np.empty((3, 3))
    loss = sum_up(clues, true, given, weights, gradient, curvature)
    log_odds = given + clues @ weights
    chance = np.exp(-np.logaddexp(0.0, -log_odds))
    assert loss == pytest.approx(np.logaddexp(0.0, log_odds).sum() - true @ log_odds)
    assert np.allclose(gradient, (true - chance) @ clues)
    assert np.allclose(curvature, (clues * (chance * (1 - chance))[:, None]).T @ clues)


def test_what_is_added_to_all_utilities_moves_no_chance():
    utility = np.array([1.0, 0.2, -3.0])
    given = np.array([4.0]), np.array([1]), np.full((1, 3), -2.0)
    both = (utility, utility + 30.0)
    ours, theirs = (describe(u[None], u.max(keepdims=True), log_total(u[None]), *given) for u in both)
    assert ours == pytest.approx(theirs)
    assert np.exp(ours[0, :, 1]).sum() == pytest.approx(1.0)


def test_clues_far_from_all_that_was_judged_count_as_what_is_nearest_to_them():
    rng, calibration = np.random.default_rng(0), Calibration()
    for _ in range(100):
        clues = draw_clues(rng, 100)
        calibration.learn(clues, rng.random(100) < 1 / (1 + np.exp(2.0 - clues[:, 4])), 10)
    far = np.tile([1.0, 0.0, 0.0, 0.0, 0.0, 0.0], (3, 1))
    far[:, 4] = 2.5, 50.0, 500.0
    chance = calibration.chance(far)
    assert chance[1] == chance[2] == pytest.approx(chance[0], abs=0.05)


def test_the_first_suggestion_is_never_said_to_be_unlikelier_than_the_next():
    rng, calibration = np.random.default_rng(0), Calibration()
    for _ in range(50):
        clues = draw_clues(rng, 100)
        calibration.learn(clues, rng.random(100) < 1 / (1 + np.exp(clues[:, 1])), 10)
    chance = calibration.chance(np.array([[1.0, x, 0.0, 0.0, 0.0, 0.0] for x in (2.0, 1.0, -4.0)]))
    assert (np.diff(chance) < 0).all()


def test_chances_fall_in_the_order_of_suggestions_with_as_many_promised_as_before():
    rng = np.random.default_rng(0)
    values = rng.random(200) / np.arange(1, 201)
    fallen = fall(values)
    assert (np.diff(fallen) <= 1e-12).all()
    assert fallen.sum() == pytest.approx(values.sum())
    assert fall(np.array([3.0, 1.0, 2.0, 0.5])).tolist() == [3.0, 1.5, 1.5, 0.5]


def test_what_was_forgotten_gives_way_to_the_start():
    rng, calibration = np.random.default_rng(0), Calibration()
    for _ in range(50):
        clues = draw_clues(rng, 100)
        calibration.learn(clues, rng.random(100) < 1 / (1 + np.exp(2.0 - 2.0 * clues[:, 2])), 10)
    assert calibration.weights[2] > 1.0
    for _ in range(800):
        clues = draw_clues(rng, 20)
        clues[:, 2] = 0.0
        calibration.learn(clues, rng.random(20) < 0.1, 10)
    assert abs(calibration.weights[2] - START[2]) < 0.3


def true_shares(baskets):
    """How often each product is still to come where another is all there is in hand: at a moment of a visit chosen at
    random, its products in any order."""
    alone, both = Counter(), Counter()
    for basket in baskets:
        weight = len(basket.products) ** -2.0
        for product in basket.products:
            alone[product] += weight
            both.update({(product, other): weight for other in basket.products if other != product})
    return {pair: weight / alone[pair[0]] for pair, weight in both.items()}


@pytest.fixture(scope="module", params=range(3))
def planted(request):
    baskets = omba.datasets.planted_shop(seed=request.param).baskets
    return baskets, omba.OMBA(dim=16, epochs=2, pairs=10_000, seed=request.param).fit(baskets, every="14d")


def test_chances_without_a_customer_are_the_true_shares_of_a_planted_shop(planted):
    # Twelve unrelated products once had a chance of 0.95: no question without a customer had ever been judged.
    baskets, model = planted
    shares, errors = true_shares(baskets), []
    for product in ASKED:
        found = model.rank([product], n=100)
        errors += [abs(chance - shares[product, other]) for other, chance in found[:10]]
        for other, chance in found:
            assert chance < 0.07 or chance < 3 * shares.get((product, other), 0.0), (product, other, chance)
        assert sum(chance for _, chance in found) < 2 * model.expected_size() + 1
    assert np.mean(errors) < 0.08


def test_chances_of_customers_next_visits_are_what_they_buy_in_a_planted_shop(planted):
    baskets, model = planted
    visits, bought = Counter(), Counter()
    for basket in baskets:
        visits[basket.user] += 1
        bought.update((basket.user, product) for product in basket.products)
    promised, kept = [], []
    for user in model.users[:60]:
        for product, chance in model.next_basket(user):
            promised.append(chance)
            kept.append(bought[user, product] / visits[user])
    assert 0.6 < np.sum(promised) / np.sum(kept) < 1.6
    assert np.mean(np.abs(np.subtract(promised, kept))) < 0.1
