"""Each baseline against a plain version of itself, or against what was planted."""

from dataclasses import replace

import numpy as np
import pytest

from omba.baselines import (
    ALS,
    EASE,
    NMF,
    Item2Vec,
    Lift,
    Pop,
    Prod2Vec,
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


@pytest.mark.parametrize("kind", [NMF, ALS, Prod2Vec, UserHistory])
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


def test_every_method_has_a_line_of_help_and_an_unknown_name_lists_them_all():
    assert all(help and "\n" not in help for help in methods().values())
    with pytest.raises(UnknownError, match="no method 'triple'; did you mean 'triple2vec'"):
        make("triple")
