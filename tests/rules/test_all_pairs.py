"""Bounds and products look at every pair that was counted, not only at the best; products go by their names."""

from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest

from omba import OMBA, Baskets, mine_rules
from omba.errors import UnknownError
from omba.rules import Filter


@pytest.fixture(scope="module")
def shop() -> OMBA:
    """80 products in baskets of chance, among them 40 strong pairs; p0 and p1 are best sellers that meet by chance."""
    rng = np.random.default_rng(1)
    baskets = []
    for _ in range(3_000):
        one = int(rng.integers(2, 40))
        basket = {f"p{k}" for k in range(2) if rng.random() < 0.6} | {f"a{one}", f"b{one}"}
        baskets.append([*basket, f"a{rng.integers(40)}"])
    names = {"product": ["p0", "p1", "a2", "a3"], "name": ["CARRIER BAG", "RED TEA POT", "GREEN TEA", "GREEN TEAPOT"]}
    model = OMBA(dim=8, epochs=1, negatives=5).fit(Baskets.from_lists(baskets), every=500)
    model.attributes = pa.table(names)
    return model


def test_bounds_are_asked_of_all_counted_pairs_before_the_best_are_chosen(shop, monkeypatch):
    mining = import_module("omba.rules.mine")
    monkeypatch.setattr(mining, "POOL", 10)
    monkeypatch.setattr(mining, "ROUNDS", 0)
    everything = mine_rules(shop, top=5_000, antecedents=1)
    for column, most in (("lift", 1.05), ("count", 3), ("expected_lift", 1.2)):
        inside = np.flatnonzero(everything.numbers(column) <= most)
        found = mine_rules(shop, top=20, where=Filter(maximum={column: most}), antecedents=1)
        assert len(found) == min(20, len(inside)), column
        assert (found.numbers(column) <= most).all(), column
        kept = everything.take(inside)
        assert [*found.sides] == [*kept.head(20).sides], column


def test_the_pair_that_is_together_most_often_comes_first_by_count(shop):
    found = mine_rules(shop, top=1, sort="count", antecedents=1)
    assert {*found[0].antecedents, *found[0].consequents} == {"p0", "p1"}
    _left, _right, count = shop.evidence.observed()
    assert found[0].count == count.max()


def test_a_product_can_be_asked_for_by_its_name_or_a_part_of_it_at_every_door_of_python(shop):
    assert shop.similar("carrier", n=3) == shop.similar("p0", n=3)
    assert shop.rank(["Carrier Bag"], n=3) == shop.rank(["p0"], n=3)
    assert shop.rank(["red pot"], n=3) == shop.rank(["p1"], n=3)
    assert (shop.vector("carrier bag") == shop.vector("p0")).all()
    found = mine_rules(shop, top=3, where=Filter(product="carrier"), antecedents=1)
    assert all("p0" in (*a, *c) for a, c in found.sides)


def test_a_name_that_may_mean_several_products_is_an_error_that_lists_them(shop):
    for ask in (lambda: shop.similar("green"), lambda: shop.rank(["green"]), lambda: shop.row("tea")):
        with pytest.raises(UnknownError, match=r"may be any of .*GREEN TEA \(a2\).*: give one of these codes"):
            ask()


def test_a_code_that_is_not_known_is_no_part_of_a_name_in_a_basket(shop, caplog):
    assert shop.rank(["p0", "p99"], n=3) == shop.rank(["p0"], n=3)
    assert "not known to the model and left out: 'p99'" in caplog.text


def test_products_of_one_name_or_spelling_are_no_suggestion_as_a_pair_never_seen():
    rng = np.random.default_rng(2)
    baskets = []
    for _ in range(1_500):
        code = "85123A" if rng.random() < 0.7 else "85123a"
        baskets.append([code, "bowl", "spoon", f"x{rng.integers(30)}"] if rng.random() < 0.3 else
                       [f"x{k}" for k in rng.choice(30, 4, replace=False)])  # fmt: skip
    model = OMBA(dim=8, epochs=2).fit(Baskets.from_lists(baskets), every=300)
    unseen = mine_rules(model, top=50, where=Filter(status="unseen"), antecedents=1)
    assert not any({*a, *c} == {"85123A", "85123a"} for a, c in unseen.sides)
    explained = mine_rules(model, top=1).explain("85123A", "85123a")
    assert explained.status == "unseen", "whoever asks for the pair is shown what there is"
