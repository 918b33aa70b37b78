"""Ranks and metrics, against cases worked by hand and a plain count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from omba.errors import InputError
from omba.evaluation import metrics


def test_the_best_score_ranks_first_and_the_worst_last():
    scores = np.array([[3.0, 1.0, 2.0], [1.0, 3.0, 2.0]])
    assert metrics.ranks(scores).tolist() == [[1, 1], [3, 3]]


def test_a_tie_leaves_open_all_the_ranks_it_spans():
    assert metrics.ranks(np.array([[1.0, 1.0, 0.0]])).tolist() == [[1, 2]]
    assert metrics.ranks(np.array([[1.0, 1.0, 1.0, 2.0]])).tolist() == [[2, 4]]


def test_a_method_that_cannot_tell_gets_what_guessing_gets_in_every_figure():
    ranks = metrics.ranks(np.zeros((5, 11)))
    assert metrics.mrr(ranks) == pytest.approx(metrics.chance(11))
    assert [metrics.recall(ranks, k) for k in range(1, 11)] == pytest.approx([k / 11 for k in range(1, 11)])
    assert metrics.dcg(ranks) == pytest.approx(np.mean(1 / np.log2(np.arange(2, 13))))
    assert metrics.dcg(ranks, 3) == pytest.approx(sum(1 / np.log2([2, 3, 4])) / 11)


@given(arrays(np.float64, (6, 11), elements=st.integers(0, 4).map(float)))
def test_ranks_agree_with_scipy_on_any_ties(scores):
    expected = [[rankdata(-row, method=end)[0] for end in ("min", "max")] for row in scores]
    assert metrics.ranks(scores).tolist() == expected


def test_figures_of_ties_are_those_of_ties_broken_at_random():
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 3, (40, 11)).astype(float)
    broken = np.concatenate([metrics.ranks(scores + 0.5 * rng.random(scores.shape)) for _ in range(2_000)])
    ranks = metrics.ranks(scores)
    assert metrics.mrr(ranks) == pytest.approx(metrics.mrr(broken), abs=0.003)
    assert metrics.recall(ranks, 4) == pytest.approx(metrics.recall(broken, 4), abs=0.005)
    assert metrics.dcg(ranks, 5) == pytest.approx(metrics.dcg(broken, 5), abs=0.003)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_a_number_is_refused_with_the_query(bad):
    scores = np.zeros((4, 3))
    scores[2, 1] = bad
    with pytest.raises(InputError, match=r"1 of 4 queries .* query 2"):
        metrics.ranks(scores)


def test_metrics_of_ranks_worked_by_hand():
    ranks = np.array([1.0, 2.0, 4.0, 11.0])
    assert metrics.mrr(ranks) == pytest.approx((1 + 1 / 2 + 1 / 4 + 1 / 11) / 4)
    assert [metrics.recall(ranks, k) for k in (1, 2, 3, 4, 10, 11)] == [0.25, 0.5, 0.5, 0.75, 0.75, 1.0]
    assert metrics.dcg(ranks) == pytest.approx((1 + 1 / np.log2(3) + 1 / np.log2(5) + 1 / np.log2(12)) / 4)


def test_chance_is_what_random_scores_get():
    ranks = metrics.ranks(np.random.default_rng(0).random((200_000, 11)))
    assert metrics.mrr(ranks) == pytest.approx(metrics.chance(11), abs=0.002)
    assert metrics.chance(11) == pytest.approx(0.2745, abs=1e-4)
