"""The learner: what it learns, that it is reproducible, and that nonsense is refused."""

import copy
import logging
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omba
from omba.baskets import Baskets, Clock, Vocabulary
from omba.errors import InputError, SettingError, UnknownError
from omba.model.variants import KINDS, Cons, Decay, Info, NoUser, NoValue
from omba.settings import SETTINGS

SMALL = {"dim": 12, "epochs": 2, "pairs": 10_000}


@pytest.fixture(autouse=True)
def come_of_age(monkeypatch):
    """Small models come of age in these tests, too: on the way targets begin to share their negatives."""
    monkeypatch.setattr("omba.model.omba.YOUNG", 150)


def world(n=400, users=20, seed=0, prices=True, first_day=0):
    """Baskets in which products 2k and 2k+1 go together, over some days."""
    rng = np.random.default_rng(seed)
    pair = rng.integers(0, 10, size=(n, 2))
    lists = [sorted({2 * a, 2 * a + 1, 2 * b, 2 * b + 1}) for a, b in pair]
    offsets = np.concatenate([[0], np.cumsum([len(x) for x in lists])])
    items = np.concatenate(lists).astype(np.int32)
    return Baskets(
        offsets,
        items,
        Vocabulary(f"p{i}" for i in range(20)),
        Vocabulary(f"u{i}" for i in range(users)),
        user_codes=rng.integers(0, users, n).astype(np.int32),
        times=np.sort(rng.integers(first_day, first_day + 8, n)),
        prices=rng.lognormal(1, 1, len(items)).astype(np.float32) if prices else None,
        clock=Clock.DAY,
    )


def same(a, b):
    return np.array_equal(a.product_vectors, b.product_vectors) and np.array_equal(a.user_vectors, b.user_vectors)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_products_bought_together_end_up_nearest(kind):
    rate = {"learning_rate": 0.5, "epochs": 10} if kind in (Cons, Decay, Info) else {}
    model = kind(dim=16, **rate).fit(world(1000))
    hits = sum(model.similar(f"p{i}", 1)[0][0] == f"p{i ^ 1}" for i in range(20))
    assert hits >= 18


def test_each_target_has_negatives_of_its_own_until_a_model_comes_of_age(monkeypatch):
    first, second, *_ = world().windows("1d")

    def learned(age, *windows):
        monkeypatch.setattr("omba.model.omba.YOUNG", age)
        model = omba.OMBA(**SMALL)
        for window in windows:
            model.partial_fit(window)
        return model

    assert same(learned(len(first), first), learned(10_000, first))
    assert not same(learned(0, first), learned(10_000, first))
    assert not same(learned(len(first), first, second), learned(10_000, first, second))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_one_thread_is_reproducible_bit_for_bit_across_save_and_load(kind, tmp_path):
    windows = list(world().windows("1d"))
    whole, halted = kind(**SMALL), kind(**SMALL)
    for i, window in enumerate(windows):
        whole.partial_fit(window)
        if i == 4:
            halted.save(tmp_path / "m")
            halted = omba.OMBA.load(tmp_path / "m")
            assert type(halted) is kind
        halted.partial_fit(window)
    assert same(whole, halted)
    assert np.array_equal(whole.score(["p0"], "u1"), halted.score(["p0"], "u1"))
    assert not same(whole, kind(**{**SMALL, "seed": 1}).fit(world()))


def test_a_stream_numbered_otherwise_gives_the_same_model():
    baskets = world()
    turn = np.random.default_rng(5).permutation(20).astype(np.int32)
    labels = [""] * 20
    for old, new in enumerate(turn):
        labels[new] = f"p{old}"
    other = replace(baskets, items=turn[baskets.items], product_vocabulary=Vocabulary(labels))
    assert same(omba.OMBA(**SMALL).fit(baskets), omba.OMBA(**SMALL).fit(other))


@given(seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_the_order_of_products_in_a_basket_does_not_matter(seed):
    baskets, rng = world(60), np.random.default_rng(seed)
    order = np.concatenate([rng.permutation(np.arange(a, b)) for a, b in pairwise(baskets.offsets)])
    shuffled = replace(baskets, items=baskets.items[order], prices=baskets.prices[order])
    pace = {**SMALL, "value": "fit"}
    assert same(omba.OMBA(**pace).fit(baskets), omba.OMBA(**pace).fit(shuffled))


def test_a_repeated_product_does_not_count_twice():
    once = Baskets.from_lists([["a", "b"], ["b", "c"]] * 30)
    twice = Baskets.from_lists([["a", "b", "a"], ["b", "b", "c"]] * 30)
    assert same(omba.OMBA(**SMALL).fit(once, 10), omba.OMBA(**SMALL).fit(twice, 10))


@pytest.mark.parametrize("factor", [2.0, 30.1])
def test_another_currency_changes_nothing(factor):
    baskets = world()
    scaled = replace(baskets, prices=(baskets.prices * np.float32(factor)))
    a, b = (omba.OMBA(**SMALL, value="fit").fit(x) for x in (baskets, scaled))
    assert np.allclose(a.product_vectors, b.product_vectors, atol=2e-3)


@given(
    prices=st.lists(st.sampled_from([0.0, -5.0, np.nan, np.inf, 1e-30, 1.0, 1e30]), min_size=6, max_size=6),
    size=st.integers(1, 400),
    value=st.sampled_from(["fit", (2.3, 10.0), None]),
)
@settings(max_examples=25, deadline=None)
def test_vectors_stay_finite_whatever_the_input(prices, size, value):
    lists = Baskets.from_lists([list(range(size)), [0, 1], [0], [1, 2, 3]] * 3)
    all_prices = np.resize(np.array(prices, np.float32), lists.n_items)
    users = np.array([0, 1, 2, 0] * 3, np.int32)
    window = replace(lists, prices=all_prices, user_codes=users, user_vocabulary=Vocabulary("abc"))
    model = omba.OMBA(**SMALL, value=value, user_targets=True)
    for _ in range(3):
        model.partial_fit(window)
    assert np.isfinite(model.product_vectors).all()
    assert np.isfinite(model.user_vectors).all()
    assert np.isfinite(model.score([0, 1], "a")).all()


def test_value_weights_favour_dear_products_and_no_price_weighs_all_alike(caplog):
    model = omba.OMBA(**SMALL, value="fit")
    with caplog.at_level(logging.WARNING, "omba"):
        model.fit(world(prices=False))
    assert caplog.text.count("weigh alike") == 1
    model.fit(world())
    exponent, clip = model.prices.fit()
    weights = model.prices.weigh(np.array([0, 0], np.int32), np.array([1.0, 5.0], np.float32), exponent, clip)
    assert exponent > 0.5
    assert weights[1] > weights[0]


def test_several_threads_learn_the_same_neighbours():
    model = omba.OMBA(dim=16, threads=4).fit(world(1000))
    assert sum(model.similar(f"p{i}", 1)[0][0] == f"p{i ^ 1}" for i in range(20)) >= 18


def with_categories(baskets):
    """The same baskets, with a category for every four products."""
    kinds = pa.table({"product": [f"p{i}" for i in range(20)], "category": [f"kind {i // 4}" for i in range(20)]})
    return replace(baskets, attributes=kinds)


@pytest.mark.parametrize("levels", [1, 2])
def test_two_threads_learn_the_bits_of_one(levels):
    baskets = world(2000) if levels == 1 else with_categories(world(2000))
    one, two = (omba.OMBA(threads=n, **SMALL).fit(baskets) for n in (1, 2))
    assert len(one.spaces) == levels
    assert one.forecast.n_fits > 0
    for mine, theirs in zip(one.spaces, two.spaces, strict=True):
        for name, array in mine.state().items():
            assert np.array_equal(array, theirs.state()[name]), name
    for part in ("evidence", "sets", "forecast", "questions"):
        for name, array in getattr(one, part).state().items():
            assert np.array_equal(array, getattr(two, part).state()[name]), (part, name)
    assert np.array_equal(one.blend.weights, two.blend.weights)


@pytest.mark.parametrize("ask", ["sets", "save", "copy"])
def test_who_asks_for_triples_gets_those_of_the_last_window(ask, tmp_path):
    one, two = (omba.OMBA(threads=n, **SMALL) for n in (1, 2))
    for window in world(600).windows("1d"):
        one.partial_fit(window)
        two.partial_fit(window)
    if ask == "save":
        two.save(tmp_path)
        two = omba.OMBA.load(tmp_path)
    elif ask == "copy":
        two = copy.deepcopy(two)
    assert two._sets.triples.n_baskets == 600 or ask == "sets"
    for name, array in one.sets.state().items():
        assert np.array_equal(array, two.sets.state()[name]), name


def test_a_new_product_late_in_the_stream_is_normal_and_an_old_one_keeps_its_vector():
    model = omba.OMBA(**SMALL).fit(world())
    before = model.vector("p3")
    model.partial_fit(Baskets.from_lists([["new", "newer"]] * 20))
    assert model.similar("new", 1)[0][0] == "newer"
    drift = model.vector("p3") @ before / np.linalg.norm(model.vector("p3")) / np.linalg.norm(before)
    assert drift > 0.9


def test_unknown_products_and_users_are_left_out_with_one_note(caplog):
    model = omba.OMBA(**SMALL).fit(world())
    with caplog.at_level(logging.WARNING, "omba"):
        known = model.score(["p0", "nothing"], "nobody", ["p1", "p5"])
        model.score(["p0", "nothing"], "nobody", ["p1", "p5"])
    assert np.array_equal(known, model.score(["p0"], None, ["p1", "p5"]))
    assert caplog.text.count("'nothing'") == 1
    assert caplog.text.count("'nobody'") == 1


def test_an_empty_context_still_ranks_and_the_basket_itself_is_left_out():
    model = omba.OMBA(**SMALL).fit(world())
    assert len(model.rank([], n=5)) == 5
    assert np.isfinite(model.score([], "u1")).all()
    assert {"p0", "p1"}.isdisjoint(p for p, _ in model.rank(["p0", "p1"], n=100))
    assert len(model.rank(["p0"], n=100)) == 19


def test_without_fitted_clues_rank_and_score_tell_the_same():
    model = omba.OMBA(**SMALL, clues=False).fit(world())
    products, scores = zip(*model.rank(["p0"], "u2", 5), strict=True)
    assert np.allclose(model.score(["p0"], "u2", products), scores, atol=1e-5)


def test_an_unknown_product_suggests_the_nearest_names():
    model = omba.OMBA(**SMALL).fit(world())
    with pytest.raises(UnknownError, match="'p17'"):
        model.similar("p177")
    with pytest.raises(UnknownError, match="not learned any"):
        omba.OMBA().similar("p1")


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        ("dim", 0, "dim is 0: it must lie from 2 to 4096"),
        ("dim", 2.5, "dim is 2.5: it takes a whole number"),
        ("learning_rate", -1.0, "learning_rate is -1.0"),
        ("value", "dear", "value is 'dear'"),
        ("clues", 3, "clues is 3"),
    ],
)
def test_a_setting_out_of_bounds_says_name_value_and_bounds(setting, value, words):
    with pytest.raises(SettingError, match=words):
        omba.OMBA(**{setting: value})
    with pytest.raises(SettingError, match="'dims' is not a setting; did you mean 'dim'"):
        omba.OMBA().set_params(dims=3)


def test_a_window_older_than_what_was_learned_is_refused_unless_allowed():
    model = omba.OMBA(**SMALL).fit(world(first_day=100))
    vectors = model.product_vectors.copy()
    with pytest.raises(InputError, match="before 107"):
        model.partial_fit(next(world(first_day=3).windows("1d")))
    assert np.array_equal(vectors, model.product_vectors)
    model.partial_fit(next(world(first_day=3).windows("1d")), allow_late=True)
    assert not np.array_equal(vectors, model.product_vectors)


def test_scikit_learn_can_clone_it_and_repr_shows_what_differs():
    from sklearn.base import clone

    model = omba.OMBA(dim=7, value=(2.3, 10.0))
    assert clone(model).get_params() == model.get_params()
    assert repr(model) == "OMBA(dim=7, value=(2.3, 10.0))"
    assert repr(omba.OMBA()) == "OMBA()"
    assert omba.OMBA().get_params() == {name: s.default for name, s in SETTINGS.items()}
    assert model.set_params(dim=9).dim == 9


def test_the_papers_setting_has_no_memory_no_categories_and_the_plain_sum_of_cosines():
    model = omba.OMBA.paper(dim=12).fit(world())
    v, u = model.product_vectors, model.user_vectors
    unit = v / np.linalg.norm(v, axis=1, keepdims=True)
    rows = [model.row("p0"), model.row("p4")]
    context, user = v[rows].mean(0), u[model.users.index("u3")]
    expected = unit @ context / np.linalg.norm(context) + unit @ user / np.linalg.norm(user)
    assert np.allclose(model.score(["p0", "p4"], "u3"), expected, atol=1e-5)


def test_memory_does_not_grow_with_the_stream_but_the_buffer_of_decay_settles_at_its_share():
    baskets = world(2000)
    model, decay = omba.OMBA(**SMALL), Decay(**SMALL)
    sizes = []
    for round_ in range(5):
        for window in baskets.windows("1d"):
            model.partial_fit(window, allow_late=True)
            decay.partial_fit(window, allow_late=True)
        sizes.append(sum(a.nbytes for a in model.spaces[0].state().values()))
        assert round_ < 2 or sizes[-1] == sizes[0]
    expected = 250 / (1 - np.exp(-Decay.forgetting))
    assert 0.8 * expected < len(decay.buffers[0].users) < 1.2 * expected


def test_info_keeps_the_baskets_the_model_explains_badly():
    model = Info(**SMALL, learning_rate=0.5).fit(world(1000))
    weights = model._weigh(model.spaces[0], model.buffers[0])
    assert weights.mean() == pytest.approx(1.0)
    assert weights.std() > 0.01


def test_without_users_there_are_no_user_rows_and_without_value_prices_do_not_matter():
    assert NoUser(**SMALL).fit(world()).users == []
    paid = NoValue(**SMALL, value="fit").fit(world())
    assert same(paid, NoValue(**SMALL, value="fit").fit(world(prices=False)))
    assert not same(paid, omba.OMBA(**SMALL, value="fit").fit(world()))
