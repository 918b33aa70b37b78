"""The check matrix: every method there is, through every check there is."""

import copy
import itertools
from dataclasses import replace

import numpy as np
import pytest

from omba.baselines import Queries, make, methods
from omba.datasets import synthetic
from omba.errors import MissingExtraError
from omba.evaluation import Task, metrics, queries
from omba.evaluation.trial import score
from omba.evaluation.whole_catalogue import score_catalogue

NAMES = list(methods())

OF_CUSTOMERS = ["history", "p-topfreq", "gp-topfreq", "tifu-knn", "up-cf"]
OF_BASKETS = [name for name in NAMES if name not in ("pop", *OF_CUSTOMERS)]
OF_USERS = [name for name in NAMES if name in (*OF_CUSTOMERS, "nmf", "als", "triple2vec") or "omba" in name]
if "omba-no-user" in OF_USERS:
    OF_USERS.remove("omba-no-user")


def make_world():
    return synthetic(baskets=4_000, products=1_000, users=80, days=15, pairs=6, seed=0)


@pytest.fixture(scope="module")
def world():
    return make_world()


@pytest.fixture(scope="module")
def asked(world):
    return queries(world.baskets, Task(windows=2), seed=0)[-1]


def learned(name, world):
    try:
        method = make(name, seed=0)
    except MissingExtraError as error:
        pytest.skip(str(error))
    if hasattr(method, "partial_fit"):
        for window in world.baskets.windows():
            method.partial_fit(window)
    else:
        method.fit(world.baskets)
    return method


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def method(name, world):
    return learned(name, world)


def mean_reciprocal_rank(method, questions):
    scores = [method.score(context, user=user, candidates=candidates) for context, user, candidates in questions]
    return metrics.mrr(metrics.ranks(np.array(scores)))


def test_scores_are_finite_and_one_a_candidate(method, asked):
    scores = score(method, asked)
    assert scores.shape == asked.candidates.shape
    assert np.isfinite(scores).all()


def test_scores_by_label_are_those_by_code(method, asked):
    by_code = score(method, asked)
    for row, (products, user, candidates) in itertools.islice(enumerate(asked.labels()), 20):
        by_label = method.score(products, user=user, candidates=candidates)
        assert np.asarray(by_label) == pytest.approx(by_code[row], rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("name", OF_BASKETS, indirect=True)
def test_a_planted_complement_ranks_well_above_chance(method, world):
    pairs = world.truth.complementary
    questions = []
    for a, b in [*pairs, *((b, a) for a, b in pairs)]:
        others = [product for pair in pairs for product in pair if product not in (a, b)]
        questions.append(([a], None, [b, *others[:10]]))
    assert mean_reciprocal_rank(method, questions) > 0.6


@pytest.mark.parametrize("name", OF_USERS, indirect=True)
def test_a_users_habit_ranks_well_above_chance(method, world):
    truth = world.truth.habits
    bought = set(world.baskets.products)
    favourites = sorted({product for mine in truth.values() for product in mine if product in bought})
    questions = []
    for user, mine in list(truth.items())[:20]:
        others = [product for product in favourites if product not in mine]
        questions += [([], user, [product, *others[k : k + 10]]) for k, product in enumerate(mine)]
    assert mean_reciprocal_rank(method, questions) > 0.45


def whole(asked, n):
    """The first n queries as they are asked about the whole catalogue."""
    return replace(asked.part(0, n), candidates=np.empty((n, 0), np.int32))


def test_every_product_of_the_catalogue_gets_a_finite_score(method, world, asked):
    scores = score_catalogue(method, whole(asked, 5))
    assert scores.shape == (5, len(world.baskets.product_vocabulary))
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", [*OF_CUSTOMERS, "als", "ease"], indirect=True, scope="module")
def test_a_users_habits_come_earlier_in_the_catalogue_for_them_than_for_others(method, world):
    users, codes = list(world.truth.habits)[:10], world.baskets.product_vocabulary.codes
    scores = {user: score_catalogue(method, next_basket_of(user, world))[0] for user in users}
    places = {user: np.argsort(np.argsort(-scores[user], kind="stable")) for user in users}
    own, others = [], []
    for user in users:
        mine = [codes[product] for product in world.truth.habits[user] if product in codes]
        own.append(np.mean(places[user][mine]))
        others.append(np.mean([places[other][mine] for other in users if other != user]))
    assert np.mean(own) < 0.75 * np.mean(others)


def next_basket_of(user, world):
    """The question of what a user buys next."""
    baskets = world.baskets
    return Queries.ask([], user, [], baskets.product_vocabulary, baskets.user_vocabulary)


def test_unknown_products_and_users_score_and_change_nothing_else(method, world):
    known = world.baskets.products[:3]
    plain = method.score(known[:1], candidates=known[1:])
    strange = method.score([known[0], "never seen"], user="nobody", candidates=[*known[1:], "nor this"])
    assert np.isfinite(strange).all()
    assert strange[:2] == pytest.approx(plain, rel=1e-4, abs=1e-5)
    assert np.isfinite(method.score(["never seen"], user="nobody", candidates=known)).all()
    assert np.isfinite(method.score([], candidates=known)).all()


def test_the_order_of_products_in_a_basket_does_not_matter(method, asked):
    for products, user, candidates in itertools.islice(asked.labels(), 20):
        there = method.score(products, user=user, candidates=candidates)
        back = method.score(products[::-1], user=user, candidates=candidates)
        assert back == pytest.approx(there, rel=1e-4, abs=1e-5)


def test_the_order_of_candidates_does_not_matter(method, asked):
    for products, user, candidates in itertools.islice(asked.labels(), 20):
        there = method.score(products, user=user, candidates=candidates)
        back = method.score(products, user=user, candidates=candidates[::-1])
        assert back[::-1] == pytest.approx(there, rel=1e-4, abs=1e-5)


def test_scoring_teaches_nothing(method, asked):
    first = score(method, asked)
    assert (score(method, asked) == first).all()


def test_the_same_seed_gives_the_same_scores(name, method, world, asked):
    assert (score(learned(name, world), asked) == score(method, asked)).all()


def test_learning_and_scoring_leave_the_baskets_as_they_were(method, world, asked):
    questions = copy.deepcopy(asked)
    score(method, asked)
    untouched = make_world().baskets
    for column in ("offsets", "items", "user_codes", "times", "prices"):
        assert (getattr(world.baskets, column) == getattr(untouched, column)).all()
    assert world.baskets.product_vocabulary.labels == untouched.product_vocabulary.labels
    assert world.baskets.user_vocabulary.labels == untouched.user_vocabulary.labels
    assert (questions.candidates == asked.candidates).all()
    assert (questions.items == asked.items).all()
