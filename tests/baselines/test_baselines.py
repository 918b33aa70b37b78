"""Each baseline against a plain version of itself, or against what was planted."""

from dataclasses import replace

import numpy as np
import pytest

from omba.baselines import (
    ALS,
    EASE,
    NMF,
    TIFUKNN,
    UPCF,
    GPTopFreq,
    Item2Vec,
    Lift,
    Pop,
    Prod2Vec,
    PTopFreq,
    Queries,
    Sup,
    Triple2Vec,
    UserHistory,
    make,
    methods,
)
from omba.baselines.kernels import learn_triples
from omba.baselines.triple2vec import _pool
from omba.baskets import Baskets, Vocabulary
from omba.datasets import synthetic
from omba.errors import InputError, UnknownError
from omba.evaluation import Task, queries

LISTS = [["pasta", "sauce", "cheese"], ["pasta", "sauce"], ["soap", "cheese"], ["pasta", "soap"], ["wine"]]


@pytest.fixture(scope="module")
def shop():
    users = np.array([0, 0, 1, 1, 2], np.int32)
    return replace(Baskets.from_lists(LISTS), user_codes=users, user_vocabulary=Vocabulary(["ann", "bob", "cy"]))


@pytest.fixture(scope="module")
def world():
    return synthetic(baskets=3_000, products=150, users=40, days=30, pairs=5, seed=1).baskets


@pytest.fixture(scope="module")
def asked(world):
    return queries(world, Task(windows=5), seed=0)


def plain(world, found, formula):
    """Scores by a formula of (n, c(x), c(y), c(x, y)), averaged over the context by loops."""
    holds = [set(world.items[i:j].tolist()) for i, j in zip(world.offsets[:-1], world.offsets[1:], strict=True)]
    scores = np.zeros(found.candidates.shape)
    for row in range(len(found)):
        context = found.items[found.offsets[row] : found.offsets[row + 1]].tolist()
        for column, y in enumerate(found.candidates[row].tolist()):
            values = []
            for x in context:
                cx, cy = sum(x in held for held in holds), sum(y in held for held in holds)
                values.append(formula(len(holds), cx, cy, sum(x in held and y in held for held in holds)))
            scores[row, column] = np.mean(values)
    return scores


@pytest.mark.parametrize(
    ("kind", "formula"),
    [
        (Pop, lambda n, cx, cy, cxy: cy),
        (Sup, lambda n, cx, cy, cxy: cxy / n),
        (Lift, lambda n, cx, cy, cxy: n * cxy / (cx * cy) if cxy else 0),
    ],
)
def test_counts_are_those_of_plain_loops(world, asked, kind, formula):
    few = world.slice(0, 300)
    found = replace(
        asked[0],
        offsets=asked[0].offsets[:6],
        items=asked[0].items[: asked[0].offsets[5]],
        candidates=asked[0].candidates[:5],
        user_codes=asked[0].user_codes[:5],
    )
    assert kind().fit(few).score_queries(found) == pytest.approx(plain(few, found, formula), rel=1e-5)


def test_lift_of_a_small_shop_by_hand(shop):
    # pasta is in 3 of 5 baskets, sauce in 2, both in 2: 5·2 / (3·2); soap in 2, with pasta in 1: 5·1 / (3·2).
    scores = Lift().fit(shop).score(["pasta"], candidates=["sauce", "soap", "wine", "never seen"])
    assert scores.tolist() == pytest.approx([10 / 6, 5 / 6, 0, 0])
    # cheese with sauce: 5·1 / (2·2); the mean over the two.
    assert Lift().fit(shop).score(["pasta", "cheese"], candidates=["sauce"])[0] == pytest.approx((10 / 6 + 5 / 4) / 2)


def test_history_weighs_a_users_share_against_everybodys(shop):
    history = UserHistory().fit(shop)
    # Ann bought 5 products, 2 of them sauce; all bought 10, 2 of them sauce.
    scores = history.score([], user="ann", candidates=["sauce", "pasta", "soap"])
    assert scores.tolist() == pytest.approx(np.log1p([(2 / 5) / (2 / 10), (2 / 5) / (3 / 10), 0]).tolist())
    assert history.score([], user="nobody", candidates=["sauce", "pasta"]).tolist() == [0, 0]


def test_ease_is_the_ridge_regression_of_each_product_on_the_others(world):
    ease = EASE(regularization=20.0, power=0.0).fit(world)
    n = len(world.product_vocabulary)
    x = np.zeros((len(world), n))
    x[np.repeat(np.arange(len(world)), world.sizes), world.items] = 1
    for y in (0, 7, 33):
        others = np.delete(np.arange(n), y)
        a = x[:, others]
        weights = np.linalg.solve(a.T @ a + 20.0 * np.eye(n - 1), a.T @ x[:, y])
        assert ease.weights[ease.places[others], ease.places[y]] == pytest.approx(weights, abs=1e-4)


def test_ease_refuses_a_catalogue_too_large_to_invert(world, monkeypatch):
    monkeypatch.setattr("omba.baselines.ease.LARGEST", 100)
    with pytest.raises(InputError, match="150 by 150 products, and stops at 100"):
        EASE().fit(world)


def slow_triples(order, offsets, items, users, f, g, h, products, people, negatives, start, stop, rng):
    """The kernel of Triple2Vec in plain Python, drawing the same numbers."""

    def recover(target, vectors, parts, pool):
        context = sum(table[unit] for table, unit in parts)
        back = np.zeros_like(context)
        for k in range(negatives + 1):
            unit = target if k == 0 else pool[int(rng.random() * len(pool))]
            if k > 0 and unit == target:
                continue
            step = rate * ((k == 0) - 1 / (1 + np.exp(-(vectors[unit] @ context))))
            back += step * vectors[unit]
            vectors[unit] += step * context
        for table, unit in parts:
            table[unit] += back

    for done, basket in enumerate(order):
        held = items[offsets[basket] : offsets[basket + 1]]
        rate = start + (stop - start) * done / len(order)
        u = users[basket]
        for place in range(len(held) if len(held) > 1 else 0):
            other = int(rng.random() * (len(held) - 1))
            i, j = held[place], np.delete(held, place)[other]
            recover(i, f, [(g, j)] + [(h, u)] * int(u >= 0), products)
            recover(j, g, [(f, i)] + [(h, u)] * int(u >= 0), products)
            if u >= 0:
                recover(u, h, [(f, i), (g, j)], people)


def test_the_triple_kernel_takes_the_steps_of_its_plain_version(world):
    few = world.slice(0, 200)
    users = few.user_codes.copy()
    users[::7] = -1
    rng = np.random.default_rng(5)
    tables = [(rng.random((n, 12)) - 0.5).astype(np.float32) for n in (150, 150, 40)]
    slow = [table.astype(np.float64) for table in tables]
    rest = (_pool(few.items, 150), _pool(users[users >= 0], 40), 3, 0.1, 0.05)
    order = rng.permutation(len(few))
    learn_triples(order, few.offsets, few.items, users, *tables, *rest, np.random.default_rng(9))
    slow_triples(order, few.offsets, few.items, users, *slow, *rest, np.random.default_rng(9))
    for fast, expected in zip(tables, slow, strict=True):
        assert fast == pytest.approx(expected, abs=1e-4)


def test_triple2vec_keeps_its_two_product_spaces_apart(world):
    model = Triple2Vec(dim=20, epochs=1).fit(world)
    assert np.abs(model.left - model.right).max() > 0.01


def test_negatives_of_triple2vec_come_by_count_to_the_three_quarters():
    units = np.repeat([0, 2], [16, 256]).astype(np.int32)
    shares = np.bincount(_pool(units, 4), minlength=4) / len(_pool(units, 4))
    assert shares.tolist() == pytest.approx([8 / 72, 0, 64 / 72, 0], abs=1e-3)


def test_prod2vec_strings_the_baskets_of_a_user_together_and_item2vec_does_not(shop):
    words = shop.product_vocabulary.take(shop.items.tolist())
    assert Item2Vec().sentences(shop, words) == LISTS
    assert Prod2Vec().sentences(shop, words) == [LISTS[0] + LISTS[1], LISTS[2] + LISTS[3], LISTS[4]]


@pytest.mark.parametrize("kind", [NMF, ALS, Prod2Vec, UserHistory, PTopFreq, TIFUKNN, UPCF])
def test_methods_of_users_say_so_where_there_are_none(kind):
    with pytest.raises(InputError, match="no users"):
        kind().fit(Baskets.from_lists(LISTS))


def test_factors_give_similar_users_similar_vectors():
    lists = [["a", "b", "c"], ["x", "y", "z"]] * 20
    users = np.tile([0, 1, 2, 3], 10).astype(np.int32)
    baskets = replace(Baskets.from_lists(lists), user_codes=users, user_vocabulary=Vocabulary("stuv"))
    for kind in (NMF, ALS):
        scores = kind(dim=2).fit(baskets).score(["a"], user="u", candidates=["b", "y"])
        assert scores[0] > scores[1] + 0.5


def test_queries_in_another_vocabulary_are_read_by_label(shop):
    theirs = Vocabulary(["wine", "sauce", "pasta", "never seen"])
    found = Queries(
        np.array([0, 2]), np.array([2, 3], np.int32), np.array([0], np.int32), np.array([[1, 0]], np.int32),
        theirs, Vocabulary(["ann"]),
    )  # fmt: skip
    for kind in (Pop, Sup, Lift, UserHistory):
        method = kind().fit(shop)
        assert method.score_queries(found)[0].tolist() == method.score(["pasta"], "ann", ["sauce", "wine"]).tolist()


def test_a_product_that_joined_the_vocabulary_after_learning_is_unknown():
    vocabulary = Vocabulary()
    model = Sup().fit(Baskets.from_lists([["a", "b"]], vocabulary))
    Baskets.from_lists([["b", "new"]], vocabulary)
    assert model.score(["a", "new"], candidates=["b", "new"]).tolist() == [1.0, 0.0]


def test_scoring_before_learning_is_refused():
    with pytest.raises(InputError, match="Lift has not learned"):
        Lift().score(["a"], candidates=["b"])


def test_settings_may_follow_the_name_of_a_method():
    knn = make("tifu-knn:own=0.3:groups=7")
    assert (knn.own, knn.groups, knn.neighbours) == (0.3, 7, 300)
    assert make("omba-decay:learning_rate=0.01:dim=10").learning_rate == 0.01


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("tifu-knn:own", "'own' in 'tifu-knn:own' is no setting: write it as name=value"),
        ("tifu-knn:mine=1", "tifu-knn has no setting 'mine': it has neighbours, inside"),
        ("omba:size=1", "omba has no setting 'size'"),
        ("knn:own=1", "there is no method 'knn'"),
    ],
)
def test_settings_that_are_not_known_are_refused_in_a_sentence(name, sentence):
    with pytest.raises(UnknownError, match=sentence):
        make(name)


def test_every_method_has_a_line_of_help_and_an_unknown_name_lists_them_all():
    assert all(help and "\n" not in help for help in methods().values())
    with pytest.raises(UnknownError, match="no method 'triple'; did you mean 'triple2vec'"):
        make("triple")


@pytest.fixture(scope="module")
def customers():
    """Ann has five baskets, Bob two, Cy one; in time order, mixed."""
    lists = [["a"], ["x"], ["a", "b"], ["c"], ["x", "b"], ["a"], ["b", "d"], ["d"]]
    users = np.array([0, 1, 0, 2, 1, 0, 0, 0], np.int32)
    return replace(Baskets.from_lists(lists), user_codes=users, user_vocabulary=Vocabulary(["ann", "bob", "cy"]))


def asked_about(user, baskets):
    return Queries.ask([], user, [], baskets.product_vocabulary, baskets.user_vocabulary)


def by_product(method, user, baskets):
    scores = method.fit(baskets).score_catalogue(asked_about(user, baskets))[0]
    return dict(zip(baskets.product_vocabulary, scores.tolist(), strict=True))


def test_top_frequency_is_the_customers_counts_then_everybodys(customers):
    # ann: a 3, b 2, d 2; everybody: a 3, b 3, x 2, d 2, c 1.
    assert by_product(PTopFreq(), "ann", customers) == {"a": 3, "x": 0, "b": 2, "c": 0, "d": 2}
    settled = by_product(GPTopFreq(), "ann", customers)
    assert sorted(settled, key=settled.get, reverse=True) == ["a", "b", "d", "x", "c"]
    published = by_product(GPTopFreq(settle=False), "ann", customers)
    assert published["b"] == published["d"] == 2
    assert published["x"] == pytest.approx(2 / 4)


def slow_tastes(histories, inside, across, groups):
    """Tastes of TIFU-KNN in plain Python: the mean of faded baskets in each group, then of faded groups."""
    tastes = []
    for baskets in histories:
        size, longer = divmod(len(baskets), min(groups, len(baskets)))
        sizes = [size + (g >= min(groups, len(baskets)) - longer) for g in range(min(groups, len(baskets)))]
        taste, at = {}, 0
        for g, n in enumerate(sizes):
            for j, basket in enumerate(baskets[at : at + n]):
                for product in basket:
                    weight = inside ** (n - 1 - j) / n * across ** (len(sizes) - 1 - g) / len(sizes)
                    taste[product] = taste.get(product, 0) + weight
            at += n
        tastes.append(taste)
    return tastes


def test_tifu_knn_is_the_faded_mean_of_groups_and_that_of_the_nearest(customers):
    histories = [[["a"], ["a", "b"], ["a"], ["b", "d"], ["d"]], [["x"], ["x", "b"]], [["c"]]]
    for groups in (1, 2, 3, 7):
        ann, bob, cy = slow_tastes(histories, 0.8, 0.5, groups)
        alone = by_product(TIFUKNN(1, 0.8, 0.5, 0.3, groups), "ann", customers)
        assert alone == pytest.approx({p: ann.get(p, 0) for p in "axbcd"}, abs=1e-6)
        everybody = by_product(TIFUKNN(3, 0.8, 0.5, 0.3, groups), "ann", customers)
        mean = {p: sum(taste.get(p, 0) for taste in (ann, bob, cy)) / 3 for p in "axbcd"}
        assert everybody == pytest.approx({p: 0.3 * ann.get(p, 0) + 0.7 * mean[p] for p in "axbcd"}, abs=1e-6)


def test_up_cf_sums_recent_shares_over_customers_alike(customers):
    scores = by_product(UPCF(recent=2, locality=2.0, asymmetry=0.5), "ann", customers)
    # The last two baskets of ann: b 1/2, d 1; of bob: x 1, b 1/2. Sets {a, b, d} and {x, b} share b.
    alike = (1 / np.sqrt(3 * 2)) ** 2
    assert scores == pytest.approx({"a": 0, "x": alike, "b": 0.5 + alike / 2, "c": 0, "d": 1}, abs=1e-5)


def test_a_customer_who_is_not_known_gets_what_everybody_buys(customers):
    for method in (GPTopFreq(), TIFUKNN(), UPCF()):
        scores = by_product(method, "nobody", customers)
        assert max(scores, key=scores.get) in ("x", "a", "b", "c")
        assert min(scores.values()) >= 0
        assert scores["c"] > 0


def test_ease_over_the_catalogue_is_the_baskets_regression_and_the_customers_share(world):
    ease = EASE(regularization=20.0, habit=2.0).fit(world)
    plain = EASE(regularization=20.0, power=0.0).fit(world)
    asked = Queries.ask(world.products[:2], world.users[0], [], world.product_vocabulary, world.user_vocabulary)
    mine = np.flatnonzero(world.user_codes == asked.user_codes[0])
    share = np.zeros(len(world.product_vocabulary))
    for basket in mine:
        share[world.items[world.offsets[basket] : world.offsets[basket + 1]]] += 1 / len(mine)
    given = share.copy()
    given[asked.items] += 1
    weights = plain.weights[:-1, :-1]
    expected = 2.0 * share
    expected[plain.bought] += given[plain.bought] @ weights
    assert ease.score_catalogue(asked)[0] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("kind", [Pop, Sup, Lift, UserHistory])
def test_counts_over_the_catalogue_are_those_of_candidates(shop, kind):
    method = kind().fit(shop)
    asked = Queries.ask(["pasta", "soap"], "ann", [], shop.product_vocabulary, shop.user_vocabulary)
    by_candidate = method.score(["pasta", "soap"], "ann", list(shop.product_vocabulary))
    assert method.score_catalogue(asked)[0] == pytest.approx(by_candidate, rel=1e-5)


def test_a_product_that_a_method_has_not_met_comes_last_in_the_catalogue(shop):
    theirs = Vocabulary(["never seen", "wine", "pasta"])
    scores = Lift().fit(shop).score_catalogue(Queries.ask(["sauce"], None, [], theirs, Vocabulary()))
    assert scores.shape == (1, 3)
    assert scores[0, 0] < scores[0].max()
    assert scores[0].argmin() == 0
