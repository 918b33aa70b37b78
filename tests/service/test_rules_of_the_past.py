"""Of a moment in the past all pairs that were kept of it are looked at, not only the best rules of then."""

from collections import Counter
from datetime import datetime, timedelta
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

import omba
from omba.live.keeper import Keeper
from omba.rules import Filter
from omba.service.routes.rules import rule_of
from omba.service.views.published import Published


def lists() -> list[list[str]]:
    rng = np.random.default_rng(3)
    chance = 1.0 / np.arange(2, 62)
    return [[f"p{k}" for k in sorted(set(rng.choice(60, 5, p=chance / chance.sum()).tolist()))] for _ in range(1_200)]


@pytest.fixture(scope="module")
def published(tmp_path_factory) -> Published:
    """Four weeks, each kept; of each only the twenty best rules."""
    rows = [
        (basket, datetime(2024, 1, 1) + timedelta(days=basket // 43), product)
        for basket, products in enumerate(lists())
        for product in products
    ]
    table = pa.table(dict(zip(("basket_id", "timestamp", "product"), map(list, zip(*rows, strict=True)), strict=True)))
    folder = tmp_path_factory.mktemp("past")
    keeper, model = Keeper(folder, "7d", fresh=True), omba.OMBA(dim=8, epochs=1)
    for window in omba.read_baskets(table).windows("1d"):
        keeper.learn(model, window)
    keeper.finish(model)
    return Published(folder)


def test_the_pairs_of_a_past_moment_are_those_a_recount_of_its_baskets_gives(published):
    first = published.past.entries[0]
    view = published.at(first.at)
    assert view.past
    held = lists()[: first.entry.n_baskets]
    truth = Counter(pair for basket in held for pair in combinations(sorted(basket), 2))
    total, page = view.rule_search.page(Filter(length=2), "count", None, 0, 1_000)
    found = {tuple(sorted((*one["antecedents"], *one["consequents"]))): one["count"] for one in page}
    assert total == len(found) > len(view.rule_index.sides) / 2
    assert all(truth[pair] == count for pair, count in found.items())
    assert max(found.values()) == max(truth.values())


def test_a_pair_of_the_past_that_was_no_kept_rule_can_be_opened(published):
    view = published.at(published.past.entries[0].at)
    _, page = view.rule_search.page(Filter(length=2), "count", None, 0, 1_000)
    other = next(one for one in page if one["key"] not in view.rule_index.places)
    assert rule_of(view, other["key"])["count"] == other["count"]
    assert other["expected_lift"] is None, "of the past there is no forecast but that of the kept rules"
