"""The retrieval task: what is asked, that nothing is learned before it is asked, and what the table tells."""

import csv
import io
import json
import logging
import sys
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from omba.baselines import Lift, Pop, methods
from omba.baskets import Baskets, Clock
from omba.datasets import synthetic
from omba.errors import InputError, UnknownError
from omba.evaluation import Task, evaluate, metrics, queries, run
from omba.evaluation.peak_memory import PeakMemory

DAY = 86_400_000_000


@pytest.fixture(scope="module")
def baskets():
    return synthetic(baskets=4_000, products=200, users=80, days=60, pairs=5, seed=3).baskets


@pytest.fixture(scope="module")
def asked(baskets):
    return queries(baskets, Task(), seed=0)


def context(asked, row):
    return asked.items[asked.offsets[row] : asked.offsets[row + 1]]


def test_twenty_whole_days_are_drawn_from_the_second_half(baskets, asked):
    middle = (baskets.times[0] + baskets.times[-1]) / 2
    days = [np.unique(baskets.times[found.first : found.after] // DAY).tolist() for found in asked]
    assert len(asked) == 20
    assert all(len(day) == 1 for day in days)
    assert days == sorted(days)
    assert len({day[0] for day in days}) == 20
    for found, day in zip(asked, days, strict=True):
        assert baskets.times[found.first] >= middle
        assert found.after - found.first == np.sum(baskets.times // DAY == day[0])


def test_each_basket_of_two_or_more_is_asked_about_once_with_its_user_and_all_its_other_products(baskets, asked):
    for found in asked:
        rows = iter(range(len(found)))
        for index in range(found.first, found.after):
            held = baskets.items[baskets.offsets[index] : baskets.offsets[index + 1]]
            if len(held) < 2:
                continue
            row = next(rows)
            target = found.candidates[row, 0]
            place = held.tolist().index(target)
            assert sorted(context(found, row).tolist()) == sorted(np.delete(held, place).tolist())
            assert found.user_codes[row] == baskets.user_codes[index]
            assert found.target_prices[row] == baskets.prices[baskets.offsets[index] + place]
        assert next(rows, None) is None


def test_negatives_are_distinct_bought_that_day_and_not_in_the_basket(baskets, asked):
    for found in asked:
        bought = set(baskets.slice(found.first, found.after).items.tolist())
        for row in range(len(found)):
            negatives = found.candidates[row, 1:].tolist()
            assert len(set(negatives)) == 10
            assert set(negatives) <= bought
            assert not set(negatives) & {found.candidates[row, 0], *context(found, row).tolist()}


def one_day(lists, before=(("a", "b"),)):
    """A first day to learn, and a second to ask about."""
    baskets = Baskets.from_lists([*before, *lists])
    times = np.array([0] * len(before) + [DAY] * len(lists), np.int64)
    return replace(baskets, times=times, clock=Clock.DATETIME)


def test_negatives_come_in_proportion_to_the_purchases_of_the_day():
    baskets = one_day([["x", "y"]] * 600 + [["often"]] * 900 + [["seldom"]] * 100)
    (found,) = queries(baskets, Task(negatives=1), seed=0)
    drawn = Counter(baskets.product_vocabulary.take(found.candidates[:, 1].tolist()))
    assert set(drawn) == {"often", "seldom"}
    assert drawn["often"] / 600 == pytest.approx(0.9, abs=0.04)


def test_uniform_negatives_take_all_products_sold_so_far_alike():
    baskets = one_day([["x", "y"]] * 600 + [["often"]] * 900 + [["seldom"]] * 100)
    (found,) = queries(baskets, Task(negatives=1, draw="uniform"), seed=0)
    drawn = Counter(baskets.product_vocabulary.take(found.candidates[:, 1].tolist()))
    assert set(drawn) == {"often", "seldom", "a", "b"}
    assert max(drawn.values()) < 1.5 * min(drawn.values())


def test_the_rare_draw_that_has_to_count_what_is_left_is_as_fair_as_any_other():
    # All but a thousandth of the day is the basket's own, so that drawing and rejecting gives up.
    baskets = one_day([["x", "y"]] * 2_000 + [["often"]] * 3 + [["seldom"]])
    (found,) = queries(baskets, Task(negatives=1), seed=0)
    drawn = Counter(baskets.product_vocabulary.take(found.candidates[:, 1].tolist()))
    assert drawn["often"] / len(found) == pytest.approx(0.75, abs=0.04)


def test_negatives_repeat_only_where_the_day_has_too_few_products():
    (found,) = queries(one_day([["x", "y"], ["v"], ["w"]]), Task(negatives=6), seed=0)
    assert set(found.candidates[0, 1:].tolist()) == {4, 5}


def test_a_basket_that_holds_all_of_its_day_is_not_asked_about():
    (found,) = queries(one_day([["x", "y", "z"], ["x", "y"]]), Task(), seed=0)
    assert len(found) == 1
    with pytest.raises(InputError, match="none of the 1 windows"):
        queries(one_day([["x", "y"]]), Task(), seed=0)


def test_hiding_all_asks_about_each_product_of_each_basket(baskets):
    for found in queries(baskets, Task(hide="all", windows=3), seed=0):
        day = baskets.slice(found.first, found.after)
        several = np.repeat(day.sizes >= 2, day.sizes)
        assert found.candidates[:, 0].tolist() == day.items[several].tolist()
        assert len(found.items) == int(np.sum(day.sizes * (day.sizes - 1)))


def test_a_price_keeps_the_same_hidden_products_and_of_those_the_dearer(baskets):
    plain = {found.first: found for found in queries(baskets, Task(windows=60), seed=0)}
    dear = queries(baskets, Task(windows=60, above=5.0), seed=0)
    assert dear
    assert all((found.target_prices > 5.0).all() for found in dear)
    expected = sum(int(np.sum(found.target_prices > 5.0)) for found in plain.values())
    assert sum(map(len, dear)) == pytest.approx(expected, rel=0.2)


def test_the_seed_settles_everything(baskets, asked):
    again, other = queries(baskets, Task(), seed=0), queries(baskets, Task(), seed=1)
    assert all((a.candidates == b.candidates).all() for a, b in zip(asked, again, strict=True))
    assert [found.first for found in asked] != [found.first for found in other]


def test_a_window_of_five_hundred_baskets_takes_milliseconds():
    baskets = synthetic(baskets=1_500, products=2_000, users=80, days=3, seed=3).baskets
    queries(baskets, Task(), seed=0)
    began = time.process_time()
    found = queries(baskets, Task(windows=1), seed=0)
    assert sum(map(len, found)) > 400
    assert time.process_time() - began < 0.1


class Spy(Pop):
    """Pop, which notes how much it was given to learn before each question."""

    def __init__(self, seed=0):
        super().__init__(seed)
        self.saw = []

    def fit(self, baskets):
        self.learned = len(baskets)
        return super().fit(baskets)

    def score_queries(self, queries):
        self.saw.append((self.learned, queries.first))
        return super().score_queries(queries)


class OnlineSpy(Spy):
    """The same, one window at a time."""

    def __init__(self, seed=0):
        super().__init__(seed)
        self.windows, self.learned = [], 0

    def partial_fit(self, window):
        self.windows.append(window)
        super().fit(Baskets.concat(self.windows))


@pytest.mark.parametrize("kind", [Spy, OnlineSpy])
def test_all_that_came_before_a_window_is_learned_and_nothing_of_it(baskets, asked, kind):
    made = []
    trial = run(lambda seed: made.append(kind(seed)) or made[-1], baskets, asked)
    assert trial.online == (kind is OnlineSpy)
    assert [learned for learned, _ in made[-1].saw] == [found.first for found in asked]
    assert [first for _, first in made[-1].saw] == [found.first for found in asked]


def test_online_and_retrained_counts_rank_alike(baskets, asked):
    online, batch = (run(kind, baskets, asked).ranks for kind in (OnlineSpy, Pop))
    assert online.tolist() == batch.tolist()


def test_a_method_that_only_scores_labels_gets_the_same_ranks(baskets, asked):
    class Plain:
        def __init__(self, seed):
            self.lift = Lift(seed)

        def fit(self, baskets):
            self.lift.fit(baskets)

        def score(self, products, user=None, candidates=()):
            return self.lift.score(products, user, candidates)

    assert run(Plain, baskets, asked[:3]).ranks.tolist() == run(Lift, baskets, asked[:3]).ranks.tolist()


def test_popularity_ranks_near_chance_since_negatives_are_as_popular(baskets):
    table = evaluate(["pop"], baskets, hide="all", windows=30)
    assert table["pop"].mrr == pytest.approx(metrics.chance(11), abs=0.03)
    assert evaluate(["pop"], baskets, hide="all", windows=30, draw="uniform")["pop"].mrr > 0.4


@pytest.mark.slow
def test_the_table_has_the_best_first_and_says_what_each_cost(baskets):
    table = evaluate("pop, history,sup", baskets, windows=5, seeds=2)
    rows = table.to_dicts()
    assert [row["method"] for row in rows] == ["history", "sup", "pop"]
    for row in rows:
        assert row["seeds"] == 2
        assert row["mrr_spread"] > 0
        assert row["learn_seconds"] > 0
        assert row["score_seconds"] > 0
        recalls = [row[f"recall@{k}"] for k in range(1, 11)]
        assert recalls == sorted(recalls)
        assert row["recall@1"] <= row["mrr"] <= row["dcg"]


def test_json_csv_pandas_and_print_carry_the_same_figures(baskets, tmp_path):
    table = evaluate(["pop", "history"], baskets, windows=3)
    rows = table.to_dicts()
    whole = json.loads(table.to_json(tmp_path / "table.json"))
    assert whole["rows"] == rows
    assert whole == json.loads((tmp_path / "table.json").read_text())
    lines = list(csv.DictReader(io.StringIO(table.to_csv(tmp_path / "table.csv"))))
    assert [float(line["mrr"]) for line in lines] == [row["mrr"] for row in rows]
    assert (tmp_path / "table.csv").read_text().startswith("method,")
    assert table.to_pandas().to_dict("records")[0]["dcg"] == rows[0]["dcg"]
    head, first, *_ = repr(table).splitlines()
    assert first.startswith("history")
    assert first.index(f"{rows[0]['mrr']:.4f}") + 6 == head.index("MRR") + 3
    assert "0.2745" in repr(table)


def test_methods_may_be_given_as_functions_of_the_seed_under_any_title(baskets):
    table = evaluate({"mine": Lift, "also lift": "lift"}, baskets, windows=3)
    assert table["mine"].mrr == table["also lift"].mrr


def test_ranks_stand_beside_the_prices_of_what_was_hidden(baskets):
    table = evaluate(["pop"], baskets, windows=3, seeds=2)
    assert [len(trial.ranks) for trial in table["pop"].trials] == [len(prices) for prices in table.target_prices]


def test_progress_is_told_and_reaches_its_end(baskets):
    told = []
    evaluate({"pop": "pop", "online": OnlineSpy}, baskets, windows=3, seeds=2, progress=lambda *step: told.append(step))
    for name in ("pop", "online"):
        shares = [share for method, share in told if method == name]
        assert shares == sorted(shares)
        assert len(shares) > 5
        assert shares[-1] == 1.0


def test_without_users_the_rest_goes_on_and_methods_that_need_them_are_left_out(baskets, caplog):
    nobody = replace(baskets, user_codes=None)
    with caplog.at_level(logging.WARNING, "omba"):
        table = evaluate(["lift", "history"], nobody, windows=3)
    assert table.methods == ["lift"]
    assert "give a user column" in table.skipped["history"]
    assert "no users" in repr(table)
    assert "no users" in caplog.text


def test_without_time_windows_are_numbers_of_baskets_and_the_table_says_so(baskets):
    timeless = replace(baskets, times=None, clock=Clock.NONE)
    table = evaluate(["lift"], timeless, windows=20)
    assert "no time" in repr(table)
    assert "50 baskets" in repr(table)
    assert len(table["lift"].trials[0].by_window) == 20


def test_too_few_windows_are_all_used_and_the_table_says_so(baskets):
    table = evaluate(["pop"], baskets, windows=500)
    assert len(table["pop"].trials[0].by_window) == 30
    assert "only 30 windows" in repr(table)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"baskets": Baskets.from_lists([])}, "no baskets"),
        ({"baskets": Baskets.from_lists([["a"], ["b"]])}, "one product only"),
        ({"baskets": Baskets.from_lists([["a", "b"], ["b", "c"]])}, "one window"),
        ({"above": 3.0, "baskets": Baskets.from_lists([["a", "b"], ["b", "c"]] * 50)}, "needs prices"),
        ({"windows": 0}, "windows is 0"),
        ({"negatives": -1}, "negatives is -1"),
        ({"seeds": 0}, "seeds is 0"),
        ({"hide": "some"}, "one, all"),
        ({"draw": "badly"}, "window, uniform"),
        ({"methods": []}, "no method is named"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(baskets, change, sentence):
    with pytest.raises(InputError, match=sentence):
        evaluate(**{"methods": ["pop"], "baskets": baskets} | change)


def test_an_unknown_method_lists_the_known_ones_before_any_work():
    with pytest.raises(UnknownError, match="did you mean 'lift'") as caught:
        evaluate(["pop", "lfit"], Baskets.from_lists([]))
    assert all(name in str(caught.value) for name in methods())


def test_a_method_whose_package_is_missing_names_the_extra_and_the_others_go_on(baskets, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    table = evaluate(["item2vec", "pop"], baskets, windows=2)
    assert table.methods == ["pop"]
    assert "omba[baselines]" in table.skipped["item2vec"]
    with pytest.raises(ImportError, match="gensim is not installed"):
        evaluate(["item2vec"], baskets, windows=2)


def test_peak_memory_is_what_was_held_at_most_above_the_start():
    with PeakMemory() as little:
        pass
    with PeakMemory() as much:
        block = np.ones(8_000_000)
        del block
    assert little.bytes < 8_000_000
    assert 60_000_000 < much.bytes < 80_000_000
