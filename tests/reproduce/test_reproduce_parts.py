"""The parts experiments are made of, each beside a plain way to get the same."""

import json

import numpy as np
import pytest
from scipy import stats

from omba.baskets import Baskets
from omba.reproduce import fig1a, fig1b, mining, supp1, supp2, table3a
from omba.reproduce.beyond2 import frontier
from omba.reproduce.result import Claim, Picture, Result, Table
from omba.reproduce.shelf import Shelf
from omba.reproduce.supp4 import contender
from omba.reproduce.trials import Contender, Source, Trial, hold
from omba.reproduce.workshop import TF, Scale, Workshop
from omba.rules import Counts, classic

RESULT = Result([Claim("a", "b", "c", "yes")], [Table("t", ["x", "y"], [["one", 1.5]])], "differs", "seed 0",
                [Picture("drawn", "a line", "<svg/>")], ["found"])  # fmt: skip


def trial(*windows, seconds=1.0):
    return Trial([np.array(ranks, float) for ranks in windows], seconds, 0.1, None, False)


def test_a_result_comes_back_from_the_shelf_as_it_was(tmp_path):
    Shelf(tmp_path).keep("fig1a", RESULT)

    assert Shelf(tmp_path).result("fig1a") == RESULT


def test_a_part_cut_off_or_without_its_picture_is_none(tmp_path):
    shelf = Shelf(tmp_path)
    shelf.keep("fig1a", RESULT)
    (tmp_path / "drawn.svg").unlink()
    (tmp_path / "half.json").write_text('{"claims": [')

    assert shelf.result("fig1a") is None
    assert shelf.get("half") is None


def test_figures_that_are_no_numbers_are_kept_as_null(tmp_path):
    Shelf(tmp_path).put("part", {"figures": [float("nan"), 1.0]})

    assert json.loads((tmp_path / "part.json").read_text()) == {"figures": [None, 1.0]}


def test_the_margin_is_that_of_the_means_and_its_error_the_jackknifes():
    rng = np.random.default_rng(0)
    mine, theirs = (trial(*rng.integers(1, 12, (12, 200))) for _ in range(2))

    share, error = mine.margin(theirs)

    means = [
        np.mean(1 / np.delete(a, k, 0)) / np.mean(1 / np.delete(b, k, 0)) - 1
        for k in range(12)
        for a, b in [(np.array(mine.by_window), np.array(theirs.by_window))]
    ]
    assert share == pytest.approx(mine.mrr / theirs.mrr - 1)
    assert error == pytest.approx(np.sqrt(11 / 12 * np.sum((means - np.mean(means)) ** 2)))


def test_equal_trials_have_no_margin_and_no_error():
    one = trial([1, 2], [3, 4])

    assert one.margin(one) == (0, 0)


def test_trials_in_processes_of_their_own_find_what_one_process_finds(tmp_path):
    source, contenders = Source(TF, "2000-11-08"), [Contender("pop"), Contender("lift"), Contender("omba-paper")]
    alone, _ = hold(source, contenders, 2, 0, Shelf(tmp_path / "alone"), processes=1)
    together, _ = hold(source, contenders, 2, 0, Shelf(tmp_path / "together"), processes=2)

    for each in contenders:
        assert np.array_equal(alone[each].ranks, together[each].ranks)
        assert alone[each].online == each.method.startswith("omba")


def test_a_trial_held_before_is_taken_from_the_shelf(tmp_path, monkeypatch):
    source, pop = Source(TF, "2000-11-08"), [Contender("pop")]
    first, _ = hold(source, pop, 2, 0, Shelf(tmp_path))
    monkeypatch.setattr("omba.reproduce.trials._do", lambda job: pytest.fail("it was held before"))

    second, _ = hold(source, pop, 2, 0, Shelf(tmp_path))

    assert np.array_equal(first[pop[0]].ranks, second[pop[0]].ranks)


def test_a_method_whose_package_is_missing_is_told_of_and_the_others_go_on(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "gensim.models", None)

    found, skipped = hold(Source(TF, "2000-11-08"), [Contender("item2vec"), Contender("pop")], 1, 0, Shelf(tmp_path))

    assert list(found) == [Contender("pop")]
    assert "omba[baselines]" in skipped[Contender("item2vec")]


def test_a_model_learned_in_one_go_is_kept_at_each_date(tmp_path):
    scale = Scale(
        "tiny", until=(("complete-journey", "2017-01-05"),), split="2017-01-03", dates=("2017-01-02", "2017-01-04")
    )
    shop = Workshop(Shelf(tmp_path), scale)

    days = [shop.learned(date=date).n_windows for date in ("2017-01-02", "2017-01-03", "2017-01-04", None)]

    assert days == [1, 2, 3, 4]
    assert np.array_equal(
        shop.learned(date="2017-01-03").product_vectors,
        Workshop(Shelf(tmp_path), scale).learned(date="2017-01-03").product_vectors,
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

    intercept, slope, fit = supp2.line(sales)

    assert (intercept, slope, fit) == pytest.approx((np.log(1e7), -2.3, 1.0), abs=0.01)


def test_pairs_of_baskets_are_of_one_user_or_of_two():
    users = np.array([3, 1, 3, 1, 1, 2, -1, -1, 3], np.int32)

    same, different = supp1.pairs(users, 500, np.random.default_rng(0))

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

    assert np.allclose(supp1.tfidf(baskets).toarray(), plain)
    assert supp1.cosines(supp1.tfidf(baskets), np.array([[0, 2]])) == pytest.approx(plain[0] @ plain[2])


def test_the_rules_of_apriori_are_mlxtends():
    rng = np.random.default_rng(1)
    baskets = Baskets.from_lists([[f"p{k}" for k in np.flatnonzero(rng.random(8) < 0.4)] or ["p0"] for _ in range(60)])

    ours = mining.apriori(baskets, "confidence")
    theirs = classic.apriori(baskets, mining.SUPPORT, "confidence", 0.0, max_len=2).sort("confidence").head(mining.TOP)

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
    trials = {quick: trial([9], seconds=1), good: trial([1], seconds=5), slow: trial([4], seconds=9)}

    assert frontier(trials) == [quick, good]


def test_a_sweep_takes_the_papers_own_value_from_the_trial_there_is():
    assert contender("dim", 300) == Contender("omba-paper")
    assert contender("dim", 50) == Contender("omba-paper", (("dim", 50),))
