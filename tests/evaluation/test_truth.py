"""The truth test: rules learned before a day, judged by the baskets after it."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import nbinom

from omba import Baskets, datasets
from omba.errors import InputError
from omba.evaluation.forecast_quality import fit_prior, predictive_low
from omba.evaluation.period_counts import PeriodCounts
from omba.evaluation.truth import judge, split, truth_test
from omba.evaluation.truth_result import TruthTest, align
from omba.model import OMBA
from omba.rules.from_model import mining_input


@pytest.fixture(scope="module")
def baskets() -> Baskets:
    return datasets.synthetic(baskets=9_000, products=150, users=150, days=60, pairs=6, seed=1).baskets


@pytest.fixture(scope="module")
def truth(baskets: Baskets) -> TruthTest:
    return truth_test(baskets, model=OMBA(dim=32, epochs=3, categories=False), top=(10, 40), lift=2.0, unseen=50)


def test_rules_by_the_low_end_of_the_expected_lift_hold(truth: TruthTest) -> None:
    holds = {(held.ranking, held.top): held.holds for held in truth.held}
    assert holds["expected_lift_low", 10] >= 0.9
    assert holds["expected_lift_low", 10] > holds["collisions, as in the paper", 40]
    assert all(0 <= held.before <= 1 and 0 <= held.holds <= 1 for held in truth.held)


def test_every_ranking_is_judged_at_every_length(truth: TruthTest) -> None:
    names = {held.ranking for held in truth.held}
    assert {"expected_lift_low", "cosine", "highest lift", "gamma-Poisson shrunk lift"} <= names
    assert {"counts alone, prior fitted", "counts alone, season, predictive"} <= names
    assert len(truth.held) == 2 * len(names)


def test_the_expected_lift_makes_later_counts_likelier_than_raw_lift_does(truth: TruthTest) -> None:
    found = {one.lift: one.log_likelihood for one in truth.likely}
    assert found["expected lift"] > found["raw lift"]
    assert found["expected lift"] > found["constant-prior shrinkage"]


def test_the_expected_lift_is_no_worse_than_counting_alone(truth: TruthTest) -> None:
    found = {one.lift: (one.log_likelihood, one.of_all, one.of_observed) for one in truth.likely}
    for ours, counted in zip(found["expected lift"], found["counts alone, prior fitted"], strict=True):
        assert ours > counted - 0.005


def test_the_low_end_by_counts_alone_is_the_quantile_of_the_negative_binomial() -> None:
    n, chance, ahead = np.array([5, 60, 900]), np.array([0.5, 4.0, 30.0]), np.array([0.2, 1.5, 10.0])
    low = predictive_low(n, chance, ahead, (2.0, 1.5))
    lift = (2.0 + n) / (2.0 / 1.5 + chance)
    exact = nbinom(2.0 + n, 1 / (1 + ahead * lift / (2.0 + n))).ppf(0.05)
    assert np.abs(low * ahead - exact).max() <= 1.5


def test_intervals_hold_about_nine_lifts_in_ten(truth: TruthTest) -> None:
    covered = {one.pairs: one for one in truth.covered}
    assert 0.85 <= covered["observed, any"].inside <= 1
    assert covered["observed, any"].below <= 0.1


def test_the_tables_print_aligned_and_go_through_json(truth: TruthTest) -> None:
    text = str(truth)
    assert "Learned 6,750 baskets, judged by the 2,250 after." in text
    for table in text.split("\n\n")[1:]:
        assert len({len(line) for line in table.splitlines()}) == 1
    parsed = json.loads(json.dumps(truth.to_dict()))
    assert parsed["appeared"][0]["ratio"] == pytest.approx(truth.appeared[0].ratio, nan_ok=True)


def test_counts_and_judgement_are_those_made_by_hand() -> None:
    rng = np.random.default_rng(0)
    lists = [[f"p{i}" for i in rng.choice(6, rng.integers(1, 5), replace=False)] for _ in range(200)]
    past, later = split(Baskets.from_lists(lists), None)
    given = mining_input(OMBA(dim=8, epochs=1).fit(past, every=50))
    before, after = PeriodCounts.of(past, given), PeriodCounts.of(later, given)
    row = {label: place for place, label in enumerate(given.labels)}
    pairs = np.array([(row[a], row[b]) for a, b in combinations(sorted(row), 2)])
    holds, had = [], []
    for a, b in combinations(sorted(row), 2):
        for part, out in ((lists[150:], holds), (lists[:150], had)):
            n_a, n_b = (sum(x in basket for basket in part) for x in (a, b))
            out.append(sum(a in basket and b in basket for basket in part) * len(part) > 1.1 * n_a * n_b)
    held = judge("all", len(pairs), [pairs], before, after, 1.1)
    assert (held.holds, held.before) == (np.mean(holds), np.mean(had))


def test_rules_with_two_antecedents_are_judged_by_exact_counts() -> None:
    lists = [["a", "b", "c"]] * 6 + [["a", "b"]] * 2 + [["c"]] * 3 + [["d"]] * 9
    past, later = split(Baskets.from_lists(lists * 8), None)
    given = mining_input(OMBA(dim=8, epochs=1).fit(past, every=40))
    a, b, c = (given.labels.index(x) for x in "abc")
    after = PeriodCounts.of(later, given)
    count, chance = after.strength(np.array([[a, b, c]]))
    assert (count[0], chance[0]) == (6 * 2, 8 * 2 * 9 * 2 / 40)


def test_a_model_that_has_learned_is_judged_as_it_is(baskets: Baskets) -> None:
    past, _ = split(baskets, None)
    model = OMBA(dim=16, epochs=1, categories=False).fit(past)
    vectors = model.product_vectors.copy()
    truth_test(baskets, model=model, top=(10,), unseen=10)
    assert np.array_equal(model.product_vectors, vectors)


def test_a_day_without_baskets_on_both_sides_is_refused(baskets: Baskets) -> None:
    with pytest.raises(InputError, match="choose a day with baskets on both sides"):
        truth_test(baskets, until="2031-01-01")


def test_the_fitted_prior_is_the_one_the_counts_were_drawn_from() -> None:
    rng = np.random.default_rng(0)
    chance = rng.uniform(0.1, 5, 50_000)
    counts = rng.poisson(chance * rng.gamma(2.0, 1.5 / 2.0, len(chance)))
    shape, mean = fit_prior(counts, chance)
    assert shape == pytest.approx(2.0, rel=0.1)
    assert mean == pytest.approx(1.5, rel=0.05)


def test_an_aligned_table_has_words_to_the_left_and_numbers_to_the_right() -> None:
    assert align(("by", "n"), [("cosine", 5), ("x", 100)]) == "by        n\ncosine    5\nx       100"
