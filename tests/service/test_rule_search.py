"""Filters and orders look at every pair that was counted, not only at the rules that are kept."""

import math

import numpy as np
import pyarrow as pa
import pytest

import omba
from omba.model import OMBA
from omba.rules import Filter
from omba.rules.rules import join_tables
from omba.service.views import rule_search
from omba.service.views.view import View

KEPT = 40
SORTS = ("count", "lift", "confidence", "expected_lift_low", "similarity", "fishers_p", "price", "value", None)
FILTERS = {
    "none": {},
    "a best seller": {"product": "best"},
    "from a best seller": {"antecedent": "best"},
    "to a best seller": {"consequent": "best"},
    "a word": {"text": "thing 1"},
    "two words": {"text": "odd 1"},
    "often": {"status": "observed"},
    "rare": {"status": "rare"},
    "bounds": {"minimum": {"lift": 2.0, "count": 3.0}, "maximum": {"confidence": 0.5}},
    "a forecast": {"minimum": {"expected_lift": 2.0}},
    "a price": {"min_price": 3.0, "max_price": 7.0},
    "longer ones": {"minimum": {"length": 3}},
}


@pytest.fixture(scope="module")
def model() -> OMBA:
    """A shop of 80 numbered products with names."""
    rng = np.random.default_rng(5)
    chance = 1.0 / np.arange(3, 83)
    rows = []
    for basket in range(1_200):
        held = set(rng.choice(80, rng.integers(2, 7), p=chance / chance.sum()).tolist())
        if rng.random() < 0.4:
            held |= {(first := int(rng.integers(10))) + 20, first + 50}
        rows += [(basket, basket // 60, 100 + item, 1.0 + item % 9) for item in sorted(held)]
    names = ("basket_id", "timestamp", "product", "price")
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    model = OMBA(dim=12, epochs=2).fit(omba.read_baskets(table))
    called = [f"{'odd' if label % 2 else 'even'} thing {label - 100}" for label in model.products]
    model.attributes = pa.table({"product": list(model.products), "name": called})
    return model


@pytest.fixture(scope="module")
def view(model) -> View:
    return View.now(model, omba.mine_rules(model, top=KEPT))


def asked(view: View, given: dict) -> Filter:
    best = view.catalogue.labels[int(view.catalogue.best[0])]
    return Filter.of({name: best if value == "best" else value for name, value in given.items()})


def brute(view: View, where: Filter):
    """All counted pairs and the kept rules in one table; a product asked for stands on its side, as in mining."""
    search, table = view.rule_search, view.rule_index.rules
    left, right = search.left, search.right
    for side, name in ((0, where.antecedent), (1, where.consequent)):
        if name is not None:
            row = view.catalogue.row(name)
            turned = (right if side == 0 else left) == row
            left, right = np.where(turned, right, left), np.where(turned, left, right)
    pairs = view.pair_index.rules_from(left, right)
    return join_tables([table, pairs]).where(where)


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("given", list(FILTERS))
def test_a_page_is_the_first_of_all_rules_there_are(view, given, sort):
    where = asked(view, FILTERS[given])
    whole = brute(view, where).sort(sort or "expected_lift_low")
    total, page = view.rule_search.page(where, sort, None, 0, 30)
    assert total == len(whole)
    expected = whole.numbers(sort or "expected_lift_low")[:30]
    found = [record[sort or "expected_lift_low"] for record in page]
    for mine, theirs in zip(found, expected.tolist(), strict=True):
        assert (mine is None and not math.isfinite(theirs)) or mine == pytest.approx(theirs, rel=1e-4, abs=1e-9)
    assert len({record["key"] for record in page}) == len(page), "no rule comes twice"


def test_the_most_frequent_pair_of_all_comes_first_though_it_is_not_kept(view, model):
    _, _, count = model.evidence.observed()
    _, (first,) = view.rule_search.page(Filter(), "count", None, 0, 1)
    assert first["count"] == count.max()


def test_every_best_seller_has_rules(view):
    for row in view.catalogue.best[:20].tolist():
        total, _ = view.rule_search.page(Filter(product=view.catalogue.labels[row]), None, None, 0, 1)
        assert total >= 20


def test_pages_follow_one_another_without_a_gap(view):
    _, whole = view.rule_search.page(Filter(), "lift", None, 0, 200)
    parts = [view.rule_search.page(Filter(), "lift", None, at, 50)[1] for at in (0, 50, 100, 150)]
    assert [one["key"] for part in parts for one in part] == [one["key"] for one in whole]


def test_a_kept_rule_is_shown_as_it_was_mined(view):
    _, page = view.rule_search.page(Filter(), None, None, 0, KEPT)
    assert {one["key"] for one in page} == set(view.rule_index.keys)
    assert all(one["p_adjusted"] is not None for one in page)


def test_with_more_pairs_than_the_shortlist_the_best_are_still_the_best(view, monkeypatch):
    _, exact = view.rule_search.page(Filter(), "expected_lift_low", None, 0, 60)
    monkeypatch.setattr(rule_search, "SHORTLIST", 400)
    total, short = view.rule_search.page(Filter(), "expected_lift_low", None, 0, 60)
    assert total > 800
    best, found = (sum(one["expected_lift_low"] for one in page) for page in (exact, short))
    assert found > 0.9 * best


def test_the_command_line_counts_all_pairs_too(model):
    left, right, count = model.evidence.observed()
    best = omba.mine_rules(model, top=5, sort="count", antecedents=1)
    assert best["count"].tolist() == sorted(count.tolist(), reverse=True)[:5]
    seller = int(np.argmax(model.product_counts))
    mine = (left == seller) | (right == seller)
    found = omba.mine_rules(model, top=5, sort="count", antecedents=1, where=Filter(product=model.products[seller]))
    assert found["count"].tolist() == sorted(count[mine].tolist(), reverse=True)[:5]
