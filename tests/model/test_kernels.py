"""The kernels against the plain oracle, the oracle against finite differences."""

import numpy as np
import pytest

from omba.model import kernels, oracle
from omba.model.memory import remember
from omba.model.sampler import sampler

D, PRODUCTS, USERS = 10, 30, 6


@pytest.fixture
def tables():
    rng = np.random.default_rng(3)
    make = lambda n: (rng.normal(size=(n, D)) * 0.4).astype(np.float32)  # noqa: E731
    return make(PRODUCTS), make(PRODUCTS) ** 2, make(USERS), make(USERS) ** 2


def draws(state, counts, negatives, target):
    """The negatives a kernel will draw for one target, by the kernel's own generator."""
    drawn = [kernels.draw(*counts, state) for _ in range(negatives)]
    return [r for r in drawn if r != target]


BASKETS = [([2, 5, 7], 1, False), ([2, 5, 7], 1, True), ([4, 9], -1, False), ([3], 2, True), (list(range(12)), 0, True)]


@pytest.mark.parametrize(("products", "user", "user_targets"), BASKETS)
@pytest.mark.parametrize("negatives", [3, 5])
@pytest.mark.parametrize("places", [0, 1, 4])
def test_one_basket_is_learned_as_the_equations_say(tables, products, user, user_targets, negatives, places):
    vectors, squares, users, user_squares = (t.copy() for t in tables)
    g = np.linspace(0.5, 2.0, len(products)).astype(np.float32)
    # Negatives come from outside the basket: the oracle holds the basket still while its targets are worked through.
    outside = np.where(np.isin(np.arange(PRODUCTS), products), 0, 1 + np.arange(PRODUCTS))
    product_draw, user_draw = sampler(outside, 0.75), sampler(np.arange(USERS) + 1, 0.75)
    state = np.array([11, 12], np.uint64)
    replay = state.copy()
    drawn = [draws(replay, product_draw, negatives, -1) for _ in range(places or len(products))]
    if not places:
        # Each target has a place of its own, for which others are drawn at once.
        _ = [draws(replay, product_draw, negatives, -1) for _ in products]
    drawn_users = draws(replay, user_draw, negatives, user) if user_targets else None
    items = oracle.PlainTable(vectors.astype(np.float64), squares.astype(np.float64))
    people = oracle.PlainTable(users.astype(np.float64), user_squares.astype(np.float64))
    oracle.learn_basket(
        products, g.astype(np.float64), user, items, people, drawn, 0.1, 0.5, drawn_users, min(places, len(products))
    )
    kernels.learn_baskets(
        np.array([0]), np.array([0, len(products)]), np.array(products, np.int32), g, np.array([user], np.int32),
        vectors, squares, users, user_squares, *product_draw, *user_draw, negatives, 0.1, 0.0, 0.5, user_targets, True,
        99 if places else 1, places or len(products), state,
    )  # fmt: skip
    assert np.allclose(vectors, items.vectors, atol=1e-5)
    assert np.allclose(squares, items.squares, atol=1e-5)
    assert np.allclose(users, people.vectors, atol=1e-5)
    assert not np.allclose(vectors, tables[0], atol=1e-3)


def test_a_window_is_its_baskets_one_after_the_other(tables):
    offsets, items = np.array([0, 3, 5, 9]), np.array([1, 4, 6, 0, 2, 3, 5, 7, 8], np.int32)
    basket_users, ones = np.array([0, -1, 3], np.int32), np.ones(9, np.float32)
    outside, order = np.where(np.arange(PRODUCTS) < 9, 0, 1 + np.arange(PRODUCTS)), [2, 0, 1]
    draw = (*sampler(outside, 0.75), *sampler(np.arange(USERS) + 1, 0.75))
    state = np.array([1, 2], np.uint64)
    replay, whole = state.copy(), [t.copy() for t in tables]
    plain = [oracle.PlainTable(*(t.astype(np.float64) for t in tables[i : i + 2])) for i in (0, 2)]
    for b in order:
        products = items[offsets[b] : offsets[b + 1]].tolist()
        drawn = [draws(replay, draw[:2], 3, -1) for _ in products]
        oracle.learn_basket(products, np.ones(len(products)), int(basket_users[b]), *plain, drawn, 0.1, 0.5)
    tail = (3, 0.1, 0.0, 0.5, False, True, 1, 1)
    kernels.learn_baskets(np.array(order), offsets, items, ones, basket_users, *whole, *draw, *tail, state)
    assert np.allclose(whole[0], plain[0].vectors, atol=1e-5)
    assert np.allclose(whole[2], plain[1].vectors, atol=1e-5)


def test_negatives_of_a_place_serve_so_many_targets_of_different_baskets(tables):
    vectors, squares, users, user_squares = (t.copy() for t in tables)
    outside = np.where(np.arange(PRODUCTS) < 9, 0, 1)
    draw, state = (*sampler(outside, 0.75), *sampler(np.arange(USERS) + 1, 0.75)), np.array([1, 2], np.uint64)
    offsets, items = np.array([0, 2, 4, 6, 8]), np.arange(8, dtype=np.int32)
    # Eight targets over two places of one negative each: with four to a place, two rows step, and once each.
    kernels.learn_baskets(
        np.arange(4), offsets, items, np.ones(8, np.float32), np.full(4, -1, np.int32), vectors, squares, users,
        user_squares, *draw, 1, 0.1, 0.0, 0.5, False, True, 4, 2, state,
    )  # fmt: skip
    assert 1 <= (squares[9:] != tables[1][9:]).any(axis=1).sum() <= 2


def test_the_gradients_are_those_of_the_loss():
    rng = np.random.default_rng(0)
    v, u = rng.normal(size=(8, D)), rng.normal(size=(2, D))
    g, products, negatives = np.array([1.0, 2.0, 0.5]), [0, 1, 2], [5, 6, 7]

    def total(vectors, users):
        """The loss of target 0, as a function of every vector."""
        h = oracle.context(0, products, g, 1, vectors, users, 0.5)
        return oracle.loss(vectors[0], h, vectors[negatives])

    items, people = oracle.PlainTable(v.copy(), np.zeros_like(v)), oracle.PlainTable(u.copy(), np.zeros_like(u))
    # With a rate of zero the vectors stand still, and the AdaGrad sums hold the squared gradients.
    only_first = [negatives, [], []]
    oracle.learn_basket(products, g, 1, items, people, only_first, 0.0, 0.5)

    def numeric(table, row):
        out = np.zeros(D)
        for i in range(D):
            for sign in (1, -1):
                moved = [v.copy(), u.copy()]
                moved[table][row, i] += sign * 1e-6
                out[i] += sign * total(*moved) / 2e-6
        return out

    for row in negatives:
        assert np.allclose(items.squares[row], numeric(0, row) ** 2, rtol=1e-5)


@pytest.mark.parametrize("user", [-1, 2])
def test_agreement_is_exact_for_small_baskets_and_close_for_large_ones(tables, user):
    vectors, _, users, _ = tables
    for n in (2, 3):
        exact = oracle.agreement(list(range(n)), user, vectors.astype(float), users.astype(float))
        assert kernels.agreement(np.arange(n, dtype=np.int32), vectors, user, users) == pytest.approx(exact, abs=1e-6)
    exact = oracle.agreement(list(range(30)), user, vectors.astype(float), users.astype(float))
    assert kernels.agreement(np.arange(30, dtype=np.int32), vectors, user, users) == pytest.approx(exact, abs=0.05)


def test_the_sampler_draws_by_frequency_and_never_what_was_not_met():
    counts = np.array([0, 1, 10, 100])
    keep, other = sampler(counts, 0.75)
    state = np.array([7, 9], np.uint64)
    drawn = np.bincount([kernels.draw(keep, other, state) for _ in range(40_000)], minlength=4) / 40_000
    expected = np.where(counts > 0, counts**0.75, 0.0)
    assert drawn[0] == 0
    assert np.allclose(drawn, expected / expected.sum(), atol=0.01)


def test_a_memory_holds_the_most_frequent_and_recent_products():
    rows, strength = np.full((1, 2), -1, np.int32), np.zeros((1, 2), np.float32)
    mass = np.zeros(1, np.float32)
    items, offsets = np.array([4, 5, 4, 4, 6], np.int32), np.array([0, 2, 3, 4, 5])
    numbers, totals = [np.zeros((1, 2), np.int32) for _ in range(4)], np.zeros((1, 3), np.int32)
    remember(offsets, items, *np.zeros((2, 4), np.int32), rows, strength, *numbers, mass, totals, 0.5)
    assert sorted(rows[0].tolist()) == [4, 6]
    assert dict(zip(rows[0].tolist(), strength[0].tolist(), strict=True)) == {4: 0.875, 6: 1.0}
    assert mass[0] == pytest.approx(2 / 8 + 1 / 4 + 1 / 2 + 1)
