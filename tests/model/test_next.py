"""What next: suggestions over the whole catalogue, the next basket, and their chances, on a world with habits."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import omba
from omba import Baskets
from omba.baselines.queries import Queries
from omba.baskets import Clock, Vocabulary
from omba.errors import InputError, UnknownError

DAYS, PRODUCTS = 60, 40


def world():
    """Every customer buys something of their own each day and milk each fifth day, and best sellers now and then."""
    rng, lists, users, days = np.random.default_rng(0), [], [], []
    best = 1 / np.arange(1, PRODUCTS + 1)
    for day in range(DAYS):
        for user in range(12):
            basket = {f"own{user}", *(f"p{i}" for i in rng.choice(PRODUCTS, 2, p=best / best.sum()))}
            if (day + user) % 5 == 0:
                basket.add("milk")
            lists.append(sorted(basket))
            users.append(f"u{user}")
            days.append(day)
    lists.append(["own0", "brand new"])
    names = Vocabulary([*users[:12], "once"])
    codes = names.find([*users, "once"])
    times = np.array([*days, DAYS])
    return replace(
        Baskets.from_lists(lists), user_codes=codes, user_vocabulary=names, times=times, clock=Clock.DAY, ids=None
    )


@pytest.fixture(scope="module")
def model():
    return omba.OMBA(dim=12, epochs=2, pairs=10_000).fit(world())


def test_what_a_customer_always_buys_is_expected_first_and_nearly_certain(model):
    for user in range(12):
        (product, chance), *others = model.next_basket(f"u{user}", 5)
        assert product == f"own{user}"
        assert chance > 0.6
        assert all(0 <= other < chance for _, other in others)


def test_rebuy_and_discover_part_what_was_bought_from_what_was_not(model):
    user = "u3"
    known = {one.product for one in model.customer(user).products}
    rebuy, discover = (dict(model.next_basket(user, 100, kind)) for kind in ("rebuy", "discover"))
    assert set(rebuy) == known
    assert known.isdisjoint(discover)
    assert {*rebuy, *discover} == set(model.products)
    assert {**rebuy, **discover} == pytest.approx(dict(model.next_basket(user, 100)))
    with pytest.raises(InputError, match="'rebuy'"):
        model.next_basket(user, kind="again")


def test_two_baskets_of_one_day_are_no_rhythm():
    rows = {"basket_id": [1, 2, 3, 4], "product": ["lamp", "lamp", "tea", "tea"], "user_id": ["ann"] * 4}
    times = ["2024-01-01T09:00", "2024-01-01T17:00", "2024-01-01", "2024-03-01"]
    baskets = omba.read_baskets(pa.table({**rows, "timestamp": times}))
    known = {one.product: one for one in omba.OMBA(dim=4, epochs=1).fit(baskets).customer("ann").products}
    assert (known["lamp"].count, known["lamp"].every, known["lamp"].due) == (2, None, False)
    assert known["tea"].every == 60


def test_a_customer_has_a_rhythm_and_is_due_by_it(model):
    for user in range(12):
        known = {one.product: one for one in model.customer(f"u{user}").products}
        milk = known["milk"]
        assert milk.every == 5.0
        assert milk.due == (DAYS + 1 - milk.last >= 0.75 * 5)
        assert known[f"own{user}"].every == 1.0
        assert known[f"own{user}"].due
        assert known[f"own{user}"].last == DAYS - 1
    one = model.customer("u1")
    assert (one.visits, one.last) == (DAYS, DAYS - 1)
    assert one.expected_size == pytest.approx(3, abs=0.5)


def test_a_basket_leaves_out_what_it_holds_and_has_what_goes_with_it(model):
    found = model.rank(["milk", "p0"], "u3", 5)
    assert found[0][0] == "own3"
    assert {"milk", "p0"}.isdisjoint(product for product, _ in found)
    assert all(0 <= chance <= 1 for _, chance in found)
    assert model.rank([], "u3", 5) == model.next_basket("u3", 5)


def test_with_nothing_to_go_by_the_best_sellers_come_with_their_share_of_baskets(model):
    found = model.rank([], n=3)
    order = np.argsort(-model.product_counts, kind="stable")[:3]
    assert found == [(model.products[row], model.product_counts[row] / model.n_baskets) for row in order]
    assert model.rank([], "nobody", 3) == found
    assert model.next_basket("nobody", 3) == found
    assert model.next_basket("nobody", 3, "rebuy") == []
    assert model.expected_size("nobody") == model.expected_size()
    with pytest.raises(UnknownError, match="nobody"):
        model.customer("nobody")


def test_a_customer_with_one_visit_gets_it_back_and_best_sellers(model):
    found = [product for product, _ in model.next_basket("once", 8)]
    best = {model.products[row] for row in np.argsort(-model.product_counts)[:15]}
    assert "own0" in found
    assert len(best & set(found)) >= 4
    assert all(np.isfinite(chance) for _, chance in model.next_basket("once", 50))


def test_a_product_that_is_new_today_is_among_the_suggestions(model):
    assert "brand new" in dict(model.rank(["own0"], n=100))
    assert "brand new" in dict(model.next_basket("once", 100, "rebuy"))


def test_a_text_is_not_taken_for_a_basket_of_letters(model):
    for ask in (model.rank, model.score, model.features):
        with pytest.raises(InputError, match=r"give a list of products, as in \['milk'\]"):
            ask("milk")


def test_scores_of_many_queries_have_the_order_of_single_answers(model):
    asked = Queries.ask(["milk"], "u3", [], model.product_rows.vocabulary, model.user_rows.vocabulary)
    scores = model.complete_scores(asked)[0]
    scores[model.row("milk")] = -np.inf
    best = [model.products[row] for row in np.argsort(-scores, kind="stable")[:5]]
    assert best == [product for product, _ in model.rank(["milk"], "u3", 5)]
    best = np.argsort(-model.next_scores(asked)[0], kind="stable")[:5]
    assert [model.products[row] for row in best] == [product for product, _ in model.next_basket("u3", 5)]


def test_a_saved_model_goes_on_bit_for_bit_with_what_it_knows_of_customers(tmp_path):
    windows = list(world().windows(every="1d"))
    whole = omba.OMBA(dim=8, epochs=1, pairs=10_000)
    for window in windows[:20]:
        whole.partial_fit(window)
    whole.save(tmp_path)
    again = omba.OMBA.load(tmp_path)
    assert again.next_basket("u2") == whole.next_basket("u2")
    for window in windows[20:30]:
        whole.partial_fit(window)
        again.partial_fit(window)
    ours, theirs = whole.questions.state(), again.questions.state()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    assert whole.rank(["milk"], "u2") == again.rank(["milk"], "u2")
