"""The clues: the table, the kernel's columns and the weights agree by name."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import omba
from omba.model import oracle
from omba.model.blend import Blend
from omba.model.clues import CLUES, SHARPNESS, field, fields, name_columns
from omba.model.memory import PRIOR


@pytest.fixture(scope="module")
def model():
    """A model with categories, and users who have habits."""
    baskets = omba.datasets.synthetic(baskets=600, products=60, users=30, days=6, pairs=2).baskets
    labels = list(baskets.products)
    kinds = pa.table({"product": labels, "category": [f"kind {i % 7}" for i in range(len(labels))]})
    return omba.OMBA(dim=12, epochs=2, pairs=10_000).fit(replace(baskets, attributes=kinds))


def expected(model, products, user, candidate, level):
    """The clues of one candidate, by the oracle."""
    space, rows = model.spaces[level], [model.row(product) for product in products]
    place, row = model.row(candidate), None if user is None else model.users.index(user)
    if level:
        place, rows = int(model.hierarchy.parents[place]), model.hierarchy.parents[rows].tolist()
    taste = memory = None
    if row is not None:
        taste = space.users.vectors[row].astype(float)
        memory = dict(zip(space.memory.rows[row].tolist(), space.memory.strength[row].tolist(), strict=True))
    mass = 0.0 if row is None else float(space.memory.mass[row])
    vectors = space.products.vectors.astype(float)
    return oracle.clues(place, rows, vectors, space.counts, taste, memory or {}, mass, SHARPNESS, PRIOR)


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
    assert set(oracle.clues(0, [], np.eye(2), np.ones(2), None, {}, 0.0, SHARPNESS, PRIOR)) == {c.name for c in CLUES}


def test_a_score_is_the_sum_of_the_features_times_their_weights_by_name(model):
    basket, user = model.products[:3], model.users[0]
    features = model.features(basket, user)
    weights = {field(name, level): w for level in range(2) for name, w in model.blend.weights_at(level).items()}
    total = sum(features[name].astype(float) * weights[name] for name in features.dtype.names)
    assert len(features) == len(model.products)
    assert np.allclose(model.score(basket, user), total, atol=1e-4)


def test_a_blend_begins_with_the_weights_of_the_table():
    fitted, paper = Blend(levels=2), Blend(fitted=False)
    assert fitted.weights_at(0) == {clue.name: clue.start for clue in CLUES}
    assert set(fitted.weights_at(1).values()) == {0.0}
    assert paper.weights_at(0) == {clue.name: clue.paper for clue in CLUES}
    assert sum(paper.weights_at(0).values()) == 2.0


def test_naming_the_columns_copies_nothing():
    features = np.zeros((2, 3, len(CLUES)), np.float32)
    name_columns(features)["habit"][1, 2] = 7.0
    assert features.sum() == 7.0


def test_what_the_model_does_not_know_has_the_clues_of_a_product_never_bought(model):
    unknown, rarest = model.features([], None, ["nothing"]), model.features([], None, model.products)
    assert unknown["popularity"][0] == rarest["popularity"].min()
    assert unknown["context"][0] == 0.0
