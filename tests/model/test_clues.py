"""The clues: the table, the kernel's columns and the weights agree by name."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy import special

import omba
from omba.model import clue_kernels, effort, oracle
from omba.model.blend import HALVINGS, RIDGE, Blend
from omba.model.clue_kernels import eighth_power_of_exp, find_among, find_cosines, gather
from omba.model.clues import AMONG, CLUES, COMPLETE, LIFT_PRIOR, NEXT, SHARPNESS, field, fields, name_columns
from omba.model.memory import FADING, PLACES, PRIOR, USERS, Memory
from omba.model.questions import EVERY, best_sellers, join


@pytest.fixture(scope="module")
def model():
    """A model with categories, and users who have habits."""
    baskets = omba.datasets.synthetic(baskets=600, products=60, users=30, days=6, pairs=2).baskets
    labels = list(baskets.products)
    kinds = pa.table({"product": labels, "category": [f"kind {i % 7}" for i in range(len(labels))]})
    return omba.OMBA(dim=12, epochs=2, pairs=10_000).fit(replace(baskets, attributes=kinds))


def expected(model, products, user, candidate, level):
    """The clues of one candidate, by the oracle, from the model's own tables."""
    space, rows = model.spaces[level], [model.row(product) for product in products]
    place, row = model.row(candidate), None if user is None else model.users.index(user)
    if level:
        place, rows = int(model.hierarchy.parents[place]), model.hierarchy.parents[rows].tolist()
    taste = None if row is None else space.users.vectors[row].astype(float)
    share = oracle.shares(space.counts)[place]
    found = dict.fromkeys((clue.name for clue in CLUES), 0.0)
    found |= oracle.clues(place, rows, space.products.vectors.astype(float), space.counts, taste, SHARPNESS)
    found["trend"] = oracle.trend(space.recent[place], space.recent.sum(), share, PRIOR)
    sizes = int(space.company[place]), int(space.counts[place]), int(space.company.sum()), int(space.counts.sum())
    found["company"] = oracle.company(*sizes, PRIOR)
    if row is not None:
        found |= plain_user(space.memory, row).clues(place, share, space.today + 1, PRIOR)
    return found


def plain_user(memory, row):
    """A user's memory as the oracle has it."""
    visits, bought, repeated = memory.totals[row].tolist()
    user = oracle.PlainUser(memory.places, FADING, {}, visits, bought, repeated, float(memory.mass[row]))
    for s in np.flatnonzero(memory.rows[row] >= 0):
        user.known[int(memory.rows[row, s])] = oracle.PlainPlace(
            float(memory.strength[row, s]), int(memory.counts[row, s]), int(memory.first_day[row, s]),
            int(memory.last_visit[row, s]), int(memory.last_day[row, s]),
        )  # fmt: skip
    return user


@pytest.mark.parametrize("with_user", [True, False])
@pytest.mark.parametrize("n_products", [0, 1, 4])
def test_every_column_holds_the_clue_of_its_name(model, n_products, with_user):
    products, candidates = model.products[:n_products], model.products[3:9]
    user = model.users[2] if with_user else None
    features = model.features(products, user, candidates)
    assert features.dtype.names == fields(len(model.spaces))
    assert len(model.spaces) == 2
    for level in range(2):
        for i, candidate in enumerate(candidates):
            for name, value in expected(model, products, user, candidate, level).items():
                assert features[field(name, level)][i] == pytest.approx(value, abs=1e-4), (name, level)


def test_the_clues_stand_in_the_order_of_their_columns_and_no_name_comes_twice():
    assert [clue.column for clue in CLUES] == list(range(len(CLUES)))
    assert len({clue.name for clue in CLUES}) == len(CLUES)


def test_the_clue_of_lift_is_the_highest_with_a_product_of_the_basket(model):
    basket, counts = model.products[:4], model.product_counts
    rows = [model.row(product) for product in basket]
    lifts = model.features(basket, None, model.products)["lift"]
    for row in range(len(model.products)):
        pairs = [int(model.evidence.pairs(row, other)) for other in rows]
        want = oracle.lift(pairs, counts[rows].tolist(), int(counts[row]), model.n_baskets, LIFT_PRIOR)
        assert lifts[row] == pytest.approx(want, abs=1e-4)
    assert not model.features([], None, model.products)["lift"].any()


def test_a_memory_keeps_what_the_oracle_keeps_of_a_thousand_visits():
    rng, memory, day = np.random.default_rng(0), Memory(300), 0
    memory.grow(3)
    users = [oracle.PlainUser(300, FADING) for _ in range(3)]
    for _ in range(1_000):
        user, day = int(rng.integers(3)), day + int(rng.integers(3))
        basket = np.unique(rng.zipf(1.4, 12) % 300).astype(np.int32)
        users[user].visit(basket.tolist(), day)
        memory.learn(np.array([0, len(basket)]), basket, np.array([user], np.int32), np.array([day], np.int32))
    for row, user in enumerate(users):
        held = plain_user(memory, row)
        assert (held.visits, held.bought, held.repeated) == (user.visits, user.bought, user.repeated)
        assert held.mass == pytest.approx(user.mass, rel=1e-5)
        assert set(held.known) == set(user.known)
        for product, other in user.known.items():
            one = held.known[product]
            assert one.strength == pytest.approx(other.strength, rel=1e-5)
            assert (one.count, one.first_day, one.last_visit, one.last_day) == (
                other.count, other.first_day, other.last_visit, other.last_day,
            )  # fmt: skip


def test_a_full_memory_lets_the_weakest_product_go():
    memory, user = Memory(3), oracle.PlainUser(3, FADING)
    memory.grow(1)
    for day, basket in enumerate([[1, 2], [2, 3], [3, 4], [2, 5]]):
        user.visit(basket, day)
        items = np.array(basket, np.int32)
        memory.learn(np.array([0, len(items)]), items, np.zeros(1, np.int32), np.array([day], np.int32))
        assert set(memory.rows[0][memory.rows[0] >= 0].tolist()) == set(user.known)
    assert set(user.known) == {2, 3, 5}


def test_the_taken_places_of_a_memory_come_first_so_that_a_snapshot_can_leave_the_others_out(model):
    for space in model.spaces:
        taken = space.memory.rows >= 0
        assert (np.diff(taken.astype(int), axis=1) <= 0).all()
        again = Memory(space.memory.places)
        again.load(space.memory.state(len(space.memory.mass)))
        for name in (*PLACES, *USERS):
            assert np.array_equal(getattr(again, name), getattr(space.memory, name)), name


def test_what_some_users_remember_travels_without_empty_places_and_replaces_what_was_there(model):
    memory = model.spaces[0].memory
    chosen, other = np.array([7, 2]), Memory(memory.places)
    known = memory.select(chosen)
    assert len(known["rows"]) == known["lengths"].sum() == (memory.rows[chosen] >= 0).sum() < memory.rows[chosen].size
    other.grow(3)
    other.put(np.arange(3), memory.select(np.array([0, 1, 3])))
    other.put(np.array([2, 0]), known)
    for name in (*PLACES, *USERS):
        assert np.array_equal(getattr(other, name)[[2, 0, 1]], getattr(memory, name)[[7, 2, 1]]), name


def test_the_candidates_of_a_query_are_the_oracles(model):
    rng, rows = np.random.default_rng(1), model.spaces[0].memory.rows
    n = len(model.products)
    chance = rng.dirichlet(np.ones(n))
    users, contexts = np.array([0, -1, 4], np.int32), [np.array(x, np.int32) for x in ([1, 2], [], [7])]
    targets, best = [np.array(x, np.int32) for x in ([5], [3, 9], [8])], np.arange(10, 25, dtype=np.int32)
    drawn, near = (rng.integers(0, n, (3, k)).astype(np.int32) for k in (12, 4))
    shape = (3, 2 + rows.shape[1] + 15 + 4 + 12)
    found, log_weights, shares = np.empty(shape, np.int32), np.empty(shape), np.empty(shape)
    gather(*join(contexts), users, *join(targets), rows, EVERY, best, near, drawn, chance, found, log_weights, shares)
    for q, user in enumerate(users.tolist()):
        own = [] if user < 0 else rows[user][rows[user] >= 0].tolist()
        certain = [*best.tolist(), *near[q].tolist()]
        want = oracle.candidates(targets[q].tolist(), own, certain, drawn[q].tolist(), chance, contexts[q].tolist())
        real = found[q] >= 0
        assert found[q][real].tolist() == [c for c, _ in want]
        assert np.allclose(log_weights[q][real], [w for _, w in want])
        assert np.isneginf(log_weights[q][~real]).all()
        assert dict(zip(found[q].tolist(), shares[q].tolist(), strict=True))[int(targets[q][0])] == 1 / len(targets[q])
        assert shares[q].sum() == pytest.approx(1.0)


def test_a_step_of_a_blend_is_the_oracles_newton_step():
    rng, blend = np.random.default_rng(2), Blend(COMPLETE)
    x = rng.normal(size=(7, 9, len(fields(1)))).astype(np.float32)
    log_weights = rng.normal(size=(7, 9))
    log_weights[:, -2:] = -np.inf
    targets = np.zeros((7, 9))
    targets[:, :2] = 0.5
    queries = [(x[q][:, blend.columns].astype(float), log_weights[q], targets[q]) for q in range(7)]
    want = oracle.newton(blend.weights, blend.hessian, blend.question.length, RIDGE, HALVINGS, queries)
    blend.learn(x, log_weights, targets)
    assert np.allclose(blend.weights, want)


def test_weights_are_taken_over_by_the_names_of_their_clues():
    old, new = Blend(NEXT), Blend(AMONG, levels=2)
    new.fill(old.names, np.arange(1.0, 1 + len(old.names)), np.diag(np.arange(2.0, 2 + len(old.names))))
    given = dict(zip(old.names, np.arange(1.0, 1 + len(old.names)).tolist(), strict=True))
    assert given.pop("match"), "a clue that the other does not have"
    assert {n: w for n, w in zip(new.names, new.weights.tolist(), strict=True) if w} == given
    assert new.hessian[new.names.index("category_user"), new.names.index("category_user")] == 1.0


def test_a_score_is_the_sum_of_the_features_times_their_weights_by_name_and_what_they_say_together(model):
    basket, user = model.products[:3], model.users[0]
    features = model.features(basket, user)
    weights = {field(name, level): w for level in range(2) for name, w in model.blend.weights_at(level).items()}
    weights["lift"] = model.blend.weights[-1]
    total = sum(features[name].astype(float) * weight for name, weight in weights.items())
    network = model.blend.network
    together = network.score(np.stack([features[name] for name in network.names], axis=-1))
    assert len(features) == len(model.products)
    assert together.any()
    assert np.allclose(model.score(basket, user), total + together, atol=1e-4)
    assert np.array_equal(model.score(basket, user), features["match"])


def test_a_clue_counts_by_way_of_the_match_too(model):
    complete, among = model.questions.blends["complete"], model.blend
    weights = dict(zip(complete.names, complete.weights.tolist(), strict=True))
    for level in range(2):
        through = among.weights_at(level)
        for name, weight in complete.weights_at(level).items():
            assert weight == pytest.approx(weights[field(name, level)] + weights["match"] * through[name])


def test_the_clues_of_a_query_are_the_same_for_all_its_candidates(model):
    features = model.features(model.products[:3], model.users[0])
    visits = model.customer(model.users[0]).visits
    assert np.allclose(features["size"], np.log(4))
    assert np.allclose(features["loyalty"], np.log(1 + visits))


def test_a_blend_begins_with_the_weights_of_its_question():
    fitted, paper = Blend(levels=2), Blend(fitted=False)
    assert fitted.weights_at(0) == {clue.name: AMONG.start.get(clue.name, 0.0) for clue in CLUES}
    assert set(fitted.weights_at(1).values()) == {0.0}
    assert paper.weights_at(0) == {clue.name: clue.paper for clue in CLUES}
    assert sum(paper.weights_at(0).values()) == 2.0


def test_naming_the_columns_copies_nothing():
    features = np.zeros((2, 3, len(fields(1))), np.float32)
    name_columns(features)["habit"][1, 2] = 7.0
    assert features.sum() == 7.0


def test_what_the_model_does_not_know_has_the_clues_of_a_product_never_bought(model):
    unknown, rarest = model.features([], None, ["nothing"]), model.features([], None, model.products)
    assert unknown["popularity"][0] == rarest["popularity"].min()
    assert unknown["context"][0] == 0.0


@pytest.mark.parametrize("seed", range(8))
def test_a_step_of_a_young_blend_whose_clues_go_to_extremes_makes_its_answers_no_worse(seed):
    rng, blend = np.random.default_rng(seed), Blend(COMPLETE, fitted=True)
    weights = np.zeros(len(fields(1)))
    weights[:4] = 1.0
    for _ in range(12):
        features = rng.normal(size=(4, 300, len(weights))).astype(np.float32) ** 5
        chosen = [rng.choice(300, p=p) for p in special.softmax(features @ weights, axis=1)]
        targets = np.zeros(features.shape[:2])
        targets[np.arange(4), chosen] = 1.0
        mine = features[..., blend.columns].astype(float)
        before = oracle.log_likelihood(mine @ blend.weights, targets)
        blend.learn(features, np.zeros(features.shape[:2]), targets)
        assert oracle.log_likelihood(mine @ blend.weights, targets) >= before - 1e-9


def test_the_best_sellers_are_those_of_a_stable_sort():
    counts = np.random.default_rng(0).integers(0, 9, 500)
    for n in (1, 128, 500, 600):
        assert best_sellers(counts, n).tolist() == np.argsort(-counts, kind="stable")[:n].tolist()


@pytest.mark.parametrize("asked", [effort.COMPLETE, effort.NEXT, effort.JUDGE])
def test_settled_weights_are_asked_as_many_queries_whatever_the_length_of_a_window(asked):
    settled, a_round = 100 * effort.ROUND, effort.ROUND / asked.settled
    for size in (1, 40, 430):
        queries = sum(asked.queries(size, effort.YOUNG + learned) for learned in range(0, settled, size))
        assert abs(queries - 100 * a_round) <= 2 * a_round
    assert asked.queries(10**6, 10**6) == asked.most
    assert asked.queries(1, 0) == 1


def test_the_polynomial_in_the_place_of_exp_is_right_to_three_parts_in_a_million():
    x = np.linspace(-1.0, 1.0, 501).astype(np.float32)
    found = np.array([eighth_power_of_exp(one) for one in x], np.float64)
    assert np.abs(found / np.exp(8.0 * x.astype(np.float64)) - 1.0).max() < 3e-6
    assert SHARPNESS <= 8.0


def test_every_clue_of_a_level_has_its_column():
    assert len(CLUES) == clue_kernels.CLUES


def test_few_and_many_candidates_are_looked_for_in_a_memory_with_the_same_outcome(model):
    many = model.features(model.products[:3], model.users[1], model.products)
    few = [model.features(model.products[:3], model.users[1], [product]) for product in model.products]
    assert many["bought"].any()
    for name in many.dtype.names:
        assert np.allclose(many[name], np.concatenate(few)[name], atol=1e-5), name


def test_what_is_among_a_few_and_what_is_not():
    rng = np.random.default_rng(3)
    rows = rng.integers(-1, 12, (5, 9)).astype(np.int32)
    lists = [rng.choice(12, size, replace=False).astype(np.int32) for size in (0, 3, 12, 1, 5)]
    found = find_among(rows, *join(lists), 12)
    assert found.tolist() == [np.isin(row, few).tolist() for row, few in zip(rows, lists, strict=True)]


def test_cosines_of_a_first_look_are_those_of_numpy():
    rng = np.random.default_rng(4)
    vectors, pull = (rng.normal(size=(n, 11)).astype(np.float32) for n in (20, 6))
    rows, scores = np.array([3, 17, 0, 9], np.int32), np.empty((6, 4), np.float32)
    find_cosines(rows, vectors, pull, scores)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.allclose(scores, pull @ units[rows].T, atol=1e-5)


def test_a_query_without_a_target_moves_no_weight_and_takes_no_memory():
    rng, alone, beside = np.random.default_rng(5), Blend(COMPLETE), Blend(COMPLETE)
    x, targets = rng.normal(size=(6, 9, len(fields(1)))).astype(np.float32), np.zeros((6, 9))
    targets[:4, 2] = 1.0
    alone.learn(x[:4], np.zeros((4, 9)), targets[:4])
    beside.learn(x, np.zeros((6, 9)), targets)
    assert np.array_equal(alone.weights, beside.weights)
    assert np.array_equal(alone.hessian, beside.hessian)


def test_the_sums_of_a_newton_step_are_those_of_more_rows_than_are_taken_at_a_time():
    rng, blend = np.random.default_rng(6), Blend(COMPLETE)
    x = rng.normal(size=(150, 6, len(fields(1)))).astype(np.float32)
    targets = np.zeros((150, 6))
    targets[:, 0] = 1.0
    queries = [(x[q][:, blend.columns].astype(float), np.zeros(6), targets[q]) for q in range(150)]
    want = oracle.newton(blend.weights, blend.hessian, blend.question.length, RIDGE, HALVINGS, queries)
    blend.learn(x)
    assert np.allclose(blend.weights, want)
