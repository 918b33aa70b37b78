"""Hidden products: what they are told from, and that what is described in parts is what a score weighs."""

import copy

import numpy as np

import omba
from omba.model.clue_kernels import hide
from omba.model.hidden_products import ALONE, NEGATIVES, HiddenProducts


def learned_and_next():
    """A model that has learned all days but the last, and that day in its rows."""
    shop = omba.datasets.synthetic(baskets=600, products=100, users=30, days=6, seed=1).baskets
    *days, last = shop.windows("1d")
    model = omba.OMBA(dim=8, seed=1)
    for day in days:
        model.partial_fit(day)
    return model, model._read(last)


def test_a_hidden_product_is_not_in_its_basket_and_others_were_sold():
    _, window = learned_and_next()
    hidden = HiddenProducts(window, np.random.default_rng(0))
    queries, alone = hidden.asked
    assert queries.candidates.shape[1] == NEGATIVES + 1
    assert np.isin(queries.candidates, window.items).all()
    for q in range(len(queries.users)):
        assert queries.candidates[q, 0] not in queries.context[queries.offsets[q] : queries.offsets[q + 1]]
    assert len(alone.context) == 0
    assert len(alone.users) == len(queries.users) // ALONE


def test_a_hidden_product_is_not_in_its_context_nor_a_negative_in_its_basket():
    rng = np.random.default_rng(0)
    offsets = np.arange(0, 101, 5)
    items = np.concatenate([rng.choice(40, 5, replace=False) for _ in range(20)]).astype(np.int32)
    starts, context, candidates = hide(offsets, items, np.arange(20), 10, np.array([1, 2], np.uint64))
    for q in range(20):
        basket = set(items[offsets[q] : offsets[q + 1]].tolist())
        seen = set(context[starts[q] : starts[q + 1]].tolist())
        assert seen | {int(candidates[q, 0])} == basket
        assert candidates[q, 0] not in seen
        assert basket.isdisjoint(candidates[q, 1:].tolist())


def test_jobs_for_each_level_describe_what_a_score_weighs():
    model, window = learned_and_next()
    hidden = HiddenProducts(window, np.random.default_rng(0))
    for job in reversed(hidden.jobs(model)):
        job()
    for queries, described in zip(hidden.asked, hidden.described, strict=True):
        features = model.describe(queries.offsets, queries.context, queries.users, queries.candidates)
        assert np.array_equal(described[..., :-1], features[..., :-1])


def test_weights_learn_from_what_was_described_even_where_the_model_has_moved_on():
    model, window = learned_and_next()
    hidden = HiddenProducts(window, np.random.default_rng(0))
    for job in hidden.jobs(model):
        job()
    early, late = copy.deepcopy(model.blend), copy.deepcopy(model.blend)
    hidden.teach(early, np.random.default_rng(1))
    assert not np.array_equal(early.weights, model.blend.weights)
    model._learn(window, np.random.default_rng(2))
    hidden.teach(late, np.random.default_rng(1))
    assert np.array_equal(early.weights, late.weights)


def test_a_window_of_single_products_asks_nothing():
    model, window = learned_and_next()
    baskets = np.arange(4, dtype=np.int64)
    single = type(window)(baskets, window.items[:3], window.weights[:3], window.users[:3], window.days[:3])
    hidden = HiddenProducts(single, np.random.default_rng(0))
    assert hidden.jobs(model) == []
    before = model.blend.weights.copy()
    hidden.teach(model.blend, np.random.default_rng(1))
    assert np.array_equal(before, model.blend.weights)
