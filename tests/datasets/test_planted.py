"""The learner in a world whose truth is known by construction."""

import numpy as np
import pytest

import omba


@pytest.fixture(scope="module")
def world():
    return omba.datasets.synthetic(baskets=6_000, products=200, users=300, days=60, seed=0)


@pytest.fixture(scope="module")
def model(world):
    return omba.OMBA(dim=48).fit(world.baskets)


def cosine(model, a, b):
    x, y = model.vector(a), model.vector(b)
    return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))


def typical(model):
    rng = np.random.default_rng(0)
    pairs = rng.choice(model.products, (300, 2))
    return float(np.quantile([cosine(model, a, b) for a, b in pairs if a != b], 0.9))


@pytest.mark.parametrize("kind", ["complementary", "rare"])
def test_products_that_complement_each_other_end_up_nearest_however_rare(world, model, kind):
    pairs = getattr(world.truth, kind)
    assert sum(model.similar(a, 1)[0][0] == b for a, b in pairs) >= 0.8 * len(pairs)


def test_pairs_that_never_met_are_near_through_their_bridge(world, model):
    baskets = [set(basket.products) for basket in world.baskets]
    far = typical(model)
    for a, b in world.truth.bridged:
        assert not any({a, b} <= basket for basket in baskets)
        assert cosine(model, a, b) > far


def test_a_seasons_pair_draws_near_when_its_season_comes(world):
    growing, seen = omba.OMBA(dim=48), {}
    for day, window in enumerate(world.baskets.windows("1d")):
        growing.partial_fit(window)
        met = set(growing.products)
        seen[day] = {pair: cosine(growing, *pair) for pair in world.truth.seasonal if set(pair) <= met}
    moved = 0
    for pair, (start, stop) in zip(world.truth.seasonal, world.truth.seasons, strict=True):
        before, after = seen[max(start - 1, 0)].get(pair, 0.0), seen[min(stop, 59)][pair]
        moved += after > before + 0.1
    assert moved >= 0.8 * len(world.truth.seasonal)


def test_a_users_habits_are_recommended_to_that_user(model):
    hits, chance = 0, 0
    for user in model.users[:100]:
        rows = model.spaces[0].memory.rows[model.user_rows.vocabulary.codes[user]]
        habits = set(model.product_rows.vocabulary.take(rows[rows >= 0].tolist()))
        top = [product for product, _ in model.rank([], user, 10)]
        hits += len(habits & set(top))
        chance += 10 * len(habits) / len(model.products)
    assert hits > 2 * chance
