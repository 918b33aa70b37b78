"""Measures: against mlxtend, scipy and scikit-learn, and at the edges where a count is nothing."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlxtend.frequent_patterns import association_rules, fpgrowth
from scipy.stats import chi2_contingency, false_discovery_control, fisher_exact, hypergeom
from scipy.stats.contingency import odds_ratio, relative_risk
from sklearn.metrics import cohen_kappa_score, matthews_corrcoef

from omba.errors import UnknownError
from omba.rules.measures import MEASURES, MLXTEND, benjamini_hochberg, measure
from omba.rules.rule import Rule


@st.composite
def counts(draw) -> tuple[int, int, int, int]:
    """(n_ab, n_a, n_b, n) that can occur: both, a only, b only, neither."""
    both, a, b, neither = (draw(st.integers(0, 60)) for _ in range(4))
    n = both + a + b + neither
    return both, both + a, both + b, max(n, 1)


def table(n_ab: int, n_a: int, n_b: int, n: int) -> list[list[int]]:
    return [[n_ab, n_a - n_ab], [n_b - n_ab, n - n_a - n_b + n_ab]]


def as_columns(n_ab: int, n_a: int, n_b: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Whether each basket holds A, and whether it holds B."""
    (both, a), (b, neither) = table(n_ab, n_a, n_b, n)
    return np.repeat([1, 1, 0, 0], [both, a, b, neither]), np.repeat([1, 0, 1, 0], [both, a, b, neither])


def test_the_twelve_measures_are_mlxtends_by_name_order_and_value():
    rng = np.random.default_rng(3)
    baskets = pd.DataFrame(rng.random((400, 9)) < rng.uniform(0.1, 0.7, 9), columns=list("abcdefghi"))
    theirs = association_rules(fpgrowth(baskets, 0.01, use_colnames=True), metric="support", min_threshold=0.0)
    assert len(theirs) > 1000
    assert tuple(theirs.columns[2:]) == MLXTEND
    shares = theirs[["support", "antecedent support", "consequent support"]].to_numpy()
    n_ab, n_a, n_b = np.rint(shares * 400).T
    for name in MLXTEND:
        assert measure(name, n_ab, n_a, n_b, 400) == pytest.approx(theirs[name].to_numpy(), abs=1e-12), name


def test_fishers_p_is_scipys_far_out_in_the_tail_and_at_any_size():
    rng = np.random.default_rng(0)
    n = (10 ** rng.uniform(0.5, 7, 5_000)).astype(int)
    n_a, n_b = ((n * rng.random(len(n)) ** 3).astype(int) for _ in range(2))
    spread = np.sqrt(n_a * n_b / n + 1)
    n_ab = np.clip((n_a * n_b / n + 6 * rng.standard_normal(len(n)) * spread).astype(int), 0, np.minimum(n_a, n_b))

    ours, theirs = measure("fishers_p", n_ab, n_a, n_b, n), hypergeom.sf(n_ab - 1, n, n_a, n_b)

    assert theirs.min() < 1e-20
    assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-280)


@given(counts())
def test_measures_agree_with_the_statistics_packages(four):
    n_ab, n_a, n_b, n = four
    of = {name: float(measure(name, *four)) for name in MEASURES}
    assert of["fishers_p"] == pytest.approx(fisher_exact(table(*four), "greater").pvalue, abs=1e-9)
    assert of["hyper_confidence"] == pytest.approx(1 - of["fishers_p"], abs=1e-9)
    if 0 < n_a < n and 0 < n_b < n:
        assert of["chi_squared"] == pytest.approx(chi2_contingency(table(*four), correction=False).statistic)
        a, b = as_columns(*four)
        assert of["phi"] == pytest.approx(matthews_corrcoef(a, b))
        assert of["kappa"] == pytest.approx(cohen_kappa_score(a, b))
        assert of["relative_risk"] == pytest.approx(relative_risk(n_ab, n_a, n_b - n_ab, n - n_a).relative_risk)
        sample = odds_ratio(table(*four), kind="sample").statistic
        assert of["odds_ratio"] == pytest.approx(sample, nan_ok=True)


@given(counts())
def test_measures_stay_in_their_range(four):
    for name in (
        "support",
        "confidence",
        "jaccard",
        "kulczynski",
        "cosine_measure",
        "imbalance",
        "laplace",
        "fishers_p",
    ):
        value = float(measure(name, *four))
        assert np.isnan(value) or -1e-12 <= value <= 1 + 1e-12, name
    for name in ("zhangs_metric", "phi", "yules_q", "kappa", "added_value", "difference_of_confidence"):
        value = float(measure(name, *four))
        assert np.isnan(value) or -1 - 1e-12 <= value <= 1 + 1e-12, name


def test_by_hand():
    four = (20, 40, 50, 1000)
    assert measure("added_value", *four) == pytest.approx(0.5 - 0.05)
    assert measure("imbalance", *four) == pytest.approx(10 / 70)
    assert measure("cosine_measure", *four) == pytest.approx(20 / np.sqrt(2000))
    assert measure("max_confidence", *four) == pytest.approx(0.5)
    assert measure("laplace", *four) == pytest.approx(21 / 42)
    assert measure("difference_of_confidence", *four) == pytest.approx(0.5 - 30 / 960)
    assert measure("odds_ratio", *four) == pytest.approx(20 * 930 / (20 * 30))
    assert measure("yules_q", *four) == pytest.approx((31 - 1) / (31 + 1))


def test_hyper_lift_compares_with_the_most_that_chance_would_give():
    # 40 and 50 of 1000: chance gives 2 on average and more than 5 in less than 1 of 100 cases
    chance = np.random.default_rng(0).hypergeometric(40, 960, 50, 200_000)
    assert measure("hyper_lift", 20, 40, 50, 1000) == pytest.approx(
        20 / np.quantile(chance, 0.99, method="inverted_cdf")
    )


def test_nothing_by_nothing_is_not_a_number_and_something_by_nothing_infinite():
    nothing = {name: float(measure(name, 0, 0, 0, 10)) for name in MEASURES}
    assert nothing["support"] == 0
    for name in ("confidence", "lift", "conviction", "jaccard", "kulczynski", "odds_ratio", "phi", "relative_risk"):
        assert np.isnan(nothing[name]), name
    always = {name: float(measure(name, 4, 4, 4, 10)) for name in MEASURES}
    for name in ("conviction", "odds_ratio", "relative_risk"):
        assert always[name] == np.inf, name
    assert float(measure("certainty", 4, 4, 10, 10)) == 0  # as mlxtend has it
    assert float(measure("zhangs_metric", 10, 10, 10, 10)) == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_p_values_are_adjusted_as_scipy_does(p):
    assert benjamini_hochberg(p) == pytest.approx(false_discovery_control(p))


def test_a_p_value_that_is_not_known_changes_no_other():
    adjusted = benjamini_hochberg([0.01, np.nan, 0.04])
    assert adjusted[[0, 2]] == pytest.approx([0.02, 0.04])
    assert np.isnan(adjusted[1])


def test_a_measure_that_is_not_known_is_answered_with_the_nearest_name():
    with pytest.raises(UnknownError, match="did you mean 'leverage'"):
        measure("levrage", 1, 2, 3, 4)


def test_a_rule_derives_its_measures_from_its_counts():
    rule = Rule(("pasta", "sauce"), ("cheese",), count=6, n_a=8, n_b=30, n=100)
    assert (rule.support, rule.confidence, rule.lift) == (0.06, 0.75, pytest.approx(2.5))
    assert rule.measure("leverage") == pytest.approx(0.06 - 0.08 * 0.3)
    assert str(rule) == "pasta + sauce ⇒ cheese"
    assert {rule, Rule(("pasta", "sauce"), ("cheese",), 6, 8, 30, 100)} == {rule}
