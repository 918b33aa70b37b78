"""The tasks over a whole catalogue: what is asked, how it is judged, and what is kept of it."""

import itertools
import json
import logging
from dataclasses import replace

import numpy as np
import pytest

from omba.baselines import Pop, PTopFreq
from omba.baskets import Baskets, Vocabulary
from omba.datasets import judged_users, load, next_basket, synthetic
from omba.errors import InputError
from omba.evaluation import Completion, NextBasket, evaluate
from omba.evaluation.next_basket import any_hit
from omba.evaluation.whole_catalogue import rank_targets, score_catalogue


@pytest.fixture(scope="module")
def baskets():
    return synthetic(baskets=3_000, products=150, users=60, days=40, pairs=5, seed=3).baskets


class Constant(Pop):
    """Cannot tell one product from another."""

    def rate_catalogue(self, queries):
        return np.zeros((len(queries), self.n_products))


class ByLabel:
    """Scores candidates by label alone, as anybody's own method may."""

    def __init__(self, seed=0):
        self.pop = Pop(seed)

    def fit(self, baskets):
        self.pop.fit(baskets)

    def score(self, products, user=None, candidates=()):
        return self.pop.score(products, user, candidates)


def test_completion_asks_about_the_last_windows_and_learns_nothing_of_them(baskets):
    learned, asked = Completion(windows=4, sample=20).ask(baskets, 0)
    days = list(baskets.windows("1d"))[-4:]
    assert [found.after - found.first for found in asked] == [len(day) for day in days]
    assert learned is baskets
    for found in asked:
        assert len(found) == 20
        for query in range(20):
            held = set(found.items[found.offsets[query] : found.offsets[query + 1]].tolist())
            assert found.targets[query] not in held
            whole = {*held, int(found.targets[query])}
            assert any(
                set(baskets.items[baskets.offsets[b] : baskets.offsets[b + 1]].tolist()) == whole
                for b in range(found.first, found.after)
            )


def test_windows_passed_over_are_those_that_are_reported(baskets):
    reported = {found.first for found in Completion(windows=3).ask(baskets, 0)[1]}
    tuned = {found.first for found in Completion(windows=3, before=3).ask(baskets, 0)[1]}
    assert not reported & tuned
    assert max(tuned) < min(reported)


def test_a_constant_scorer_gets_what_guessing_among_all_products_gets(baskets):
    table = evaluate({"constant": Constant}, baskets, task="complete", windows=2, sample=30)
    sizes = [
        int(found.sold.sum()) - int(size)
        for found in Completion(2, 30).ask(baskets, 0)[1]
        for size in np.diff(found.offsets)
    ]
    row = table.to_dicts()[0]
    assert row["hr@10"] == pytest.approx(np.mean([10 / n for n in sizes]))
    assert row["mrr"] == pytest.approx(np.mean([np.mean(1 / np.arange(1, n + 1)) for n in sizes]))


def test_a_method_without_a_catalogue_is_given_every_product_as_a_candidate(baskets):
    table = evaluate({"pop": "pop", "by label": ByLabel}, baskets, task="complete", windows=1, sample=15)
    one, other = table.to_dicts()
    assert one["hr@10"] == other["hr@10"]
    assert one["mrr"] == other["mrr"]


def test_products_of_the_basket_and_those_not_yet_sold_are_no_candidates(baskets):
    (found,) = Completion(windows=1, sample=10).ask(baskets, 0)[1]
    method = Pop().fit(baskets.slice(0, found.first))
    places = rank_targets(method, found)
    scores = score_catalogue(method, found)
    for query, target in enumerate(found.targets.tolist()):
        held = found.items[found.offsets[query] : found.offsets[query + 1]]
        allowed = np.setdiff1d(np.flatnonzero(found.sold), held)
        above = int((scores[query, allowed] > scores[query, target]).sum())
        assert places[query, 0] == 1 + above


def customers(lists, users, names):
    codes = np.array([names.index(user) for user in users], np.int32)
    return replace(Baskets.from_lists(lists), user_codes=codes, user_vocabulary=Vocabulary(names))


def test_the_last_basket_of_every_customer_is_held_back_and_the_chosen_are_judged():
    shop = customers(
        [["a"], ["b"], ["a", "c"], ["b", "d"], ["a", "e"], ["f"]], ["ann", "bob", "ann", "bob", "ann", "cy"],
        ["ann", "bob", "cy"],
    )  # fmt: skip
    history, (found,) = NextBasket(least=1, users=("ann",)).ask(shop, 0)
    assert [basket.products for basket in history] == [["a"], ["b"], ["a", "c"], ["f"]]
    assert history.user_vocabulary.take(found.user_codes.tolist()) == ["ann"]
    assert shop.product_vocabulary.take(found.targets.tolist()) == ["a", "e"]
    assert found.bought.tolist() == [True, False]
    assert found.offsets.tolist() == [0, 0]


def test_figures_of_the_next_basket_worked_by_hand():
    shop = customers([["a", "b"], ["a", "c"], ["x", "y"], ["a", "b", "z"]], ["u", "u", "v", "u"], ["u", "v"])
    task = NextBasket(least=1, k=2, users=("u",))
    _, asked = task.ask(shop, 0)
    # a first, b third, z tied over ranks 2 and 4: by chance among the first two in one of three cases.
    ranks = np.array([[1, 1], [3, 3], [2, 4]])
    figures = task.measure(ranks, asked)
    assert figures["recall@2"] == pytest.approx((1 + 0 + 1 / 3) / 3)
    ideal = 1 + 1 / np.log2(3) + 1 / 2
    assert figures["ndcg@2"] == pytest.approx((1 + 1 / 3 / np.log2(3)) / ideal)
    assert figures["phr@2"] == 1
    assert figures["repeat_recall@2"] == pytest.approx(1 / 2)
    assert figures["explore_recall@2"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("targets", "k"), [((0,), 2), ((0, 3), 2), ((2, 3, 4), 3), ((5,), 1)])
def test_the_chance_of_any_hit_is_that_over_all_orders_of_the_tied(targets, k):
    scores = np.array([3, 2, 2, 2, 2, 1])
    ranks = np.array([[1 + (scores > scores[t]).sum(), (scores >= scores[t]).sum()] for t in targets])
    hits = []
    for order in itertools.permutations([1, 2, 3, 4]):
        ranking = [0, *order, 5]
        hits.append(bool(set(ranking[:k]) & set(targets)))
    assert any_hit(ranks, k) == pytest.approx(np.mean(hits))


def test_the_two_halves_of_customers_have_nobody_in_common(baskets):
    test, validation = (NextBasket(part=part).ask(baskets, 0)[1][0] for part in ("test", "validation"))
    assert not set(test.user_codes.tolist()) & set(validation.user_codes.tolist())
    assert abs(len(test) - len(validation)) <= 1


def test_an_online_method_is_asked_after_it_has_learned_all_that_came_before(baskets):
    class Online(PTopFreq):
        seen = ()

        def partial_fit(self, window):
            self.seen = (*self.seen, window)
            self.fit(Baskets.concat(self.seen))

    table = evaluate({"online": Online, "batch": PTopFreq}, baskets, task="next")
    online, batch = table["online"].to_dict(), table["batch"].to_dict()
    assert online["learning"] == "online"
    assert online["recall@10"] == batch["recall@10"] > 0.2
    assert np.isfinite(online["repeat_recall@10"])


def test_what_is_found_is_kept_after_each_method_and_not_done_again(baskets, tmp_path, caplog):
    file = tmp_path / "found.json"

    class Stop(Exception):
        pass

    def stop(name, share):
        if name == "sup":
            raise Stop

    with pytest.raises(Stop):
        evaluate(["pop", "sup"], baskets, windows=2, keep=file, progress=stop)
    assert [row["method"] for row in json.loads(file.read_text())["rows"]] == ["pop"]
    worked = []
    with caplog.at_level(logging.INFO, "omba"):
        table = evaluate(["pop", "sup"], baskets, windows=2, keep=file, progress=lambda name, _: worked.append(name))
    assert set(worked) == {"sup"}
    assert "pop is taken from" in caplog.text
    assert table.methods == ["sup", "pop"] or table.methods == ["pop", "sup"]
    assert table.to_dicts() == evaluate(["pop", "sup"], baskets, windows=2, keep=file).to_dicts()
    assert table["pop"].mrr == pytest.approx(evaluate(["pop"], baskets, windows=2)["pop"].mrr)


def test_figures_of_other_settings_are_not_taken_over(baskets, tmp_path):
    file = tmp_path / "found.json"
    evaluate(["pop"], baskets, windows=2, keep=file)
    worked = []
    evaluate(["pop"], baskets, windows=3, keep=file, progress=lambda name, _: worked.append(name))
    evaluate(["pop"], baskets.slice(0, 2_000), windows=3, keep=file, progress=lambda name, _: worked.append("again"))
    assert set(worked) == {"pop", "again"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "shop_history.json").write_text('{"1": [[-1], [1, 2], [3], [-1]], "2": [[-1], [2], [-1]]}')
    (tmp_path / "shop_future.json").write_text('{"1": [[-1], [2, 4], [-1]], "2": [[-1], [1], [-1]]}')
    (tmp_path / "shop_keyset.json").write_text('{"item_num": 5, "train": ["1", "2"], "val": ["2"], "test": ["1"]}')
    return tmp_path


def test_next_basket_files_become_one_stream_that_ends_with_what_is_to_be_found(folder):
    files = next_basket(folder)
    assert [(basket.user, basket.products) for basket in files.baskets] == [
        ("1", [1, 2]), ("2", [2]), ("1", [3]), ("1", [2, 4]), ("2", [1]),
    ]  # fmt: skip
    assert judged_users(f"next-basket:{folder}", "test") == ("1",)
    assert judged_users(f"next-basket:{folder}", "validation") == ("2",)
    assert judged_users("ta-feng", "test") is None
    assert len(load(f"next-basket:{folder}")) == 5


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("shop_future.json", '{"1": [[-1], [2], [-1]]}', "no basket to find for 1 users"),
        ("shop_keyset.json", '{"test": []}', "no object with test and val"),
        ("shop_history.json", '{"1": 3}', "user '1' has no list of baskets"),
        ("shop_history.json", "{", "cannot be read as JSON"),
        ("more_future.json", "{}", "needs one file that ends in future.json"),
    ],
)
def test_broken_next_basket_files_are_refused_in_a_sentence(folder, file, text, sentence):
    (folder / file).write_text(text)
    with pytest.raises(InputError, match=sentence):
        next_basket(folder)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"task": "nxt"}, "no task 'nxt'; did you mean 'next'"),
        ({"task": "next", "k": 0}, "k is 0"),
        ({"task": "complete", "sample": 0}, "sample is 0"),
        ({"task": "next", "least": 10_000}, "no customer has 10,000 baskets"),
        ({"task": "next", "part": "some"}, "test, validation"),
        ({"task": "next", "negatives": 3}, "negatives is an option of the task hidden, not of next"),
        ({"task": "next", "users": ["nobody"]}, "no customer who is to be judged"),
        ({"sample": 3}, "sample is an option of the task complete, not of hidden"),
        ({"task": "next", "baskets": Baskets.from_lists([["a"], ["b"]])}, "no users: give a user column"),
        ({"task": "complete", "baskets": Baskets.from_lists([["a"], ["b"]])}, "one product only"),
    ],
)
def test_what_cannot_be_asked_of_a_catalogue_is_refused_in_a_sentence(baskets, change, sentence):
    with pytest.raises(InputError, match=sentence):
        evaluate(**{"methods": ["pop"], "baskets": baskets} | change)
