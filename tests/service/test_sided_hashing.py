"""Pages by what is made ready with a state against the plain way: hash tables with sides, columns of pairs by row."""

from dataclasses import replace

import numpy as np
import pytest

from omba.rules import Hashing
from omba.rules.rule_columns import RELATION, SEASON
from omba.rules.worth import WORTH
from omba.service.routes.products import page
from omba.service.views.published import Published
from omba.service.views.sided_hashing import SidedHashing
from serving import learn

ON_PRODUCTS = ("price", SEASON, *WORTH, *RELATION)


@pytest.mark.parametrize(("F", "H"), [(1, 3), (4, 64), (11, 70), (5, 200)])
@pytest.mark.parametrize("antecedents", [1, 2])
def test_rules_share_as_many_tables_with_the_sides_at_hand(F, H, antecedents):
    rng = np.random.default_rng(F)
    # Near enough to a few directions that many products share buckets.
    vectors = (rng.standard_normal((6, 20))[rng.integers(6, size=300)] + 0.4 * rng.standard_normal((300, 20))).astype(
        np.float32
    )
    plain = Hashing(F=F, H=H, seed=3)
    left, right = rng.integers(300, size=(90, antecedents)), rng.integers(300, size=90)
    counts = plain.collisions(vectors, left, right)

    assert counts.any()
    assert (SidedHashing.of(plain, vectors).collisions(vectors, left, right) == counts).all()
    some = np.arange(299, -1, -1)
    turned = SidedHashing.of(plain, vectors).take(some)
    assert (turned.collisions(vectors[some], 299 - left, 299 - right) == counts).all()
    assert SidedHashing.of(plain, vectors).probability(np.array([0.3])) == plain.probability(np.array([0.3]))


def test_a_page_is_the_same_before_and_after_its_state_is_made_ready(tmp_path):
    model = learn(tmp_path)
    published = Published(tmp_path)
    before = [page(published.view, published.past, str(label)) for label in model.products[:40]]
    published.complete()

    assert isinstance(published.view.pair_index.tables, SidedHashing)
    assert [page(published.view, published.past, str(label)) for label in model.products[:40]] == before


def test_the_columns_of_pairs_are_those_that_a_table_of_rules_works_out(tmp_path):
    learn(tmp_path)
    view = Published(tmp_path).view
    near = np.arange(60)
    for row in (1, 7, 30):
        made = view.pair_index.of_product(row, near[near != row], 20)
        plain = replace(made, given={name: made.given[name] for name in made.given if name not in ON_PRODUCTS})
        assert len(made) > 20
        for name in ON_PRODUCTS:
            assert made.column(name).tolist() == pytest.approx(plain.column(name).tolist(), nan_ok=True), name
            assert made.column(name).dtype == plain.column(name).dtype
