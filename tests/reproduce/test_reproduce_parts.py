"""The parts experiments are made of, each beside a plain way to get the same."""

import json

import numpy as np
import pytest
from scipy import stats

from omba.baskets import Baskets
from omba.reproduce import Context, Scale, fig1a, fig1b, miners, price_power_law, repeat_purchases, table3a
from omba.reproduce.contender import Contender, DataSet
from omba.reproduce.jobs import ContestQueries, compete
from omba.reproduce.outcome import Outcome
from omba.reproduce.quality_and_seconds import frontier
from omba.reproduce.result import Claim, Picture, Result, Table
from omba.reproduce.result_cache import ResultCache
from omba.reproduce.scale import TF
from omba.reproduce.sensitivity import contender
from omba.rules import Counts, classic

RESULT = Result([Claim("a", "b", "c", "yes")], [Table("t", ["x", "y"], [["one", 1.5]])], "differs", "seed 0",
                [Picture("drawn", "a line", "<svg/>")], ["found"])  # fmt: skip


def outcome(*windows, seconds=1.0):
    return Outcome([np.array(ranks, float) for ranks in windows], seconds, 0.1, None, False)


def test_a_result_comes_back_from_the_cache_as_it_was(tmp_path):
    ResultCache(tmp_path).keep("fig1a", RESULT)

    assert ResultCache(tmp_path).result("fig1a") == RESULT


def test_a_part_cut_off_or_without_its_picture_is_none(tmp_path):
    cache = ResultCache(tmp_path)
    cache.keep("fig1a", RESULT)
    (tmp_path / "drawn.svg").unlink()
    (tmp_path / "half.json").write_text('{"claims": [')

    assert cache.result("fig1a") is None
    assert cache.get("half") is None


def test_figures_that_are_no_numbers_are_kept_as_null(tmp_path):
    ResultCache(tmp_path).put("part", {"figures": [float("nan"), 1.0]})

    assert json.loads((tmp_path / "part.json").read_text()) == {"figures": [None, 1.0]}


def test_the_margin_is_that_of_the_means_and_its_error_the_jackknifes():
    rng = np.random.default_rng(0)
    mine, theirs = (outcome(*rng.integers(1, 12, (12, 200))) for _ in range(2))

    share, error = mine.margin(theirs)

    means = [
        np.mean(1 / np.delete(a, k, 0)) / np.mean(1 / np.delete(b, k, 0)) - 1
        for k in range(12)
        for a, b in [(np.array(mine.by_window), np.array(theirs.by_window))]
    ]
    assert share == pytest.approx(mine.mrr / theirs.mrr - 1)
    assert error == pytest.approx(np.sqrt(11 / 12 * np.sum((means - np.mean(means)) ** 2)))


def test_equal_outcomes_have_no_margin_and_no_error():
    one = outcome([1, 2], [3, 4])

    assert one.margin(one) == (0, 0)


@pytest.mark.thorough
def test_contenders_in_processes_of_their_own_find_what_one_process_finds(tmp_path):
    questions = ContestQueries(DataSet(TF, "2000-11-08"), 2)
    contenders = [Contender("pop"), Contender("lift"), Contender("omba-paper")]
    alone, _ = compete(questions, contenders, ResultCache(tmp_path / "alone"), processes=1)
    together, _ = compete(questions, contenders, ResultCache(tmp_path / "together"), processes=2)

    for each in contenders:
        assert np.array_equal(alone[each].ranks, together[each].ranks)
        assert alone[each].online == each.method.startswith("omba")


def test_what_a_job_found_before_is_taken_from_the_cache(tmp_path, monkeypatch):
    questions, pop = ContestQueries(DataSet(TF, "2000-11-08"), 2), [Contender("pop")]
    first, _ = compete(questions, pop, ResultCache(tmp_path))
    monkeypatch.setattr("omba.reproduce.jobs._do", lambda job: pytest.fail("it was held before"))

    second, _ = compete(questions, pop, ResultCache(tmp_path))

    assert np.array_equal(first[pop[0]].ranks, second[pop[0]].ranks)


def test_a_method_whose_package_is_missing_is_told_of_and_the_others_go_on(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "gensim.models", None)

    questions = ContestQueries(DataSet(TF, "2000-11-08"), 1)
    found, skipped = compete(questions, [Contender("item2vec"), Contender("pop")], ResultCache(tmp_path))

    assert list(found) == [Contender("pop")]
    assert "omba[baselines]" in skipped[Contender("item2vec")]


@pytest.mark.thorough
def test_a_model_learned_in_one_go_is_kept_at_each_date(tmp_path):
    scale = Scale(
        "tiny", until=(("complete-journey", "2017-01-05"),), split="2017-01-03", dates=("2017-01-02", "2017-01-04")
    )
    context = Context(ResultCache(tmp_path), scale)

    days = [context.model(date=date).n_windows for date in ("2017-01-02", "2017-01-03", "2017-01-04", None)]

    assert days == [1, 2, 3, 4]
    assert np.array_equal(
        context.model(date="2017-01-03").product_vectors,
        Context(ResultCache(tmp_path), scale).model(date="2017-01-03").product_vectors,
    )


def test_sales_are_counted_by_dollar():
    baskets = Baskets.from_lists([["a", "b"], ["a"]])
    object.__setattr__(baskets, "prices", np.array([0.5, 3.99, np.nan], np.float32))

    assert fig1a.sales_by_price(baskets, 5).tolist() == [1, 0, 0, 1, 0]


def test_products_are_counted_by_the_baskets_they_are_in():
    assert fig1b.products_by_appearances(Baskets.from_lists([["a", "b"], ["a"], ["c"]]), 3).tolist() == [0, 2, 1, 0]


def test_the_line_finds_a_power_law_that_was_put_in():
    dollars = np.arange(50)
    sales = np.round(1e7 * (dollars + 0.5) ** -2.3).astype(np.int64)

    intercept, slope, fit = price_power_law.line(sales)

    assert (intercept, slope, fit) == pytest.approx((np.log(1e7), -2.3, 1.0), abs=0.01)


def test_pairs_of_baskets_are_of_one_user_or_of_two():
    users = np.array([3, 1, 3, 1, 1, 2, -1, -1, 3], np.int32)

    same, different = repeat_purchases.pairs(users, 500, np.random.default_rng(0))

    assert (users[same[:, 0]] == users[same[:, 1]]).all()
    assert (same[:, 0] != same[:, 1]).all()
    assert (users[different[:, 0]] != users[different[:, 1]]).all()
    assert not np.isin(users[[*same.ravel(), *different.ravel()]], [-1, 2]).any()  # nobody, and a user of one basket
    assert stats.chisquare(np.bincount(users[same[:, 0]])[[1, 3]]).pvalue > 1e-4  # users alike, however many baskets


def test_tfidf_is_what_a_loop_says():
    baskets = Baskets.from_lists([["a", "b"], ["a", "c"], ["b", "c", "d"], ["a"]])
    often = {"a": 3, "b": 2, "c": 2, "d": 1}
    plain = np.array([[np.log(4 / often[p]) * (p in basket.products) for p in "abcd"] for basket in baskets])
    plain /= np.linalg.norm(plain, axis=1, keepdims=True)

    vectors = repeat_purchases.tfidf(baskets)
    assert np.allclose(vectors.toarray(), plain)
    assert repeat_purchases.cosines(vectors, np.array([[0, 2]])) == pytest.approx(plain[0] @ plain[2])


def test_the_rules_of_apriori_are_mlxtends():
    rng = np.random.default_rng(1)
    baskets = Baskets.from_lists([[f"p{k}" for k in np.flatnonzero(rng.random(8) < 0.4)] or ["p0"] for _ in range(60)])

    ours = miners.apriori(baskets, "confidence")
    theirs = classic.apriori(baskets, miners.SUPPORT, "confidence", 0.0, max_len=2).sort("confidence").head(miners.TOP)

    assert len(ours) == len(theirs)
    assert {(rule.antecedents, rule.consequents, rule.count, rule.n_a) for rule in ours} == {
        (rule.antecedents, rule.consequents, rule.count, rule.n_a) for rule in theirs
    }


def test_neighbours_are_judged_by_lift_and_category():
    baskets = Baskets.from_lists([["a", "b"]] * 30 + [["c", "d"]] * 30)
    near = np.array([[1, 0.1], [1, 0.0], [0, 1.0], [0.1, 1]], np.float32)  # a by b, c by d

    lift, same = table3a.judge(near, Counts.of(baskets), np.array([0, 0, 1, 2]))

    # The other three are all the neighbours there are: one of lift 2, two of lift 0; a category is shared by a and b.
    assert (lift, same) == (0.0, pytest.approx(2 / 12))


def test_the_frontier_leaves_out_what_is_slower_and_worse():
    quick, good, slow = Contender("pop"), Contender("omba"), Contender("nmf")
    outcomes = {quick: outcome([9], seconds=1), good: outcome([1], seconds=5), slow: outcome([4], seconds=9)}

    assert frontier(outcomes) == [quick, good]


def test_a_sweep_takes_the_papers_own_value_from_the_outcome_there_is():
    assert contender("dim", 300) == Contender("omba-paper")
    assert contender("dim", 50) == Contender("omba-paper", (("dim", 50),))
