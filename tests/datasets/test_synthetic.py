"""The synthetic world: what was planted is there to be found."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from importlib import import_module
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from omba.baskets import Baskets
from omba.datasets import World, synthetic
from omba.errors import SettingError
from omba.sources import read_baskets


@pytest.fixture(scope="module")
def world() -> World:
    return synthetic(seed=3)


Counts = tuple[Counter[object], Counter[frozenset[object]]]


def counts(baskets: Baskets) -> Counts:
    """How many baskets hold each product, and each pair."""
    one: Counter[object] = Counter()
    two: Counter[frozenset[object]] = Counter()
    for basket in baskets:
        one.update(basket.products)
        two.update(map(frozenset, combinations(basket.products, 2)))
    return one, two


@pytest.fixture(scope="module")
def counted(world: World) -> Counts:
    return counts(world.baskets)


def test_complementary_pairs_are_bought_together_far_more_than_by_chance(world: World, counted: Counts) -> None:
    one, two = counted
    for a, b in world.truth.complementary:
        assert two[frozenset((a, b))] * len(world.baskets) / (one[a] * one[b]) > 20


def test_rare_pairs_are_rare_and_dear(world: World, counted: Counts) -> None:
    _, two = counted
    found = [two[frozenset(pair)] for pair in world.truth.rare]
    assert min(found) >= 1
    assert np.mean(found) == pytest.approx(12, abs=4)
    rare = world.baskets.product_vocabulary.find([product for pair in world.truth.rare for product in pair])
    dear = np.isin(world.baskets.items, rare)
    assert np.median(world.baskets.prices[dear]) > 10 * np.median(world.baskets.prices[~dear])


def test_bridged_pairs_never_meet_but_share_a_bridge(world: World, counted: Counts) -> None:
    one, two = counted
    for (a, b), bridge in zip(world.truth.bridged, world.truth.bridges, strict=True):
        assert two[frozenset((a, b))] == 0
        for side in (a, b):
            assert two[frozenset((side, bridge))] > 0.9 * one[side] > 100


def test_seasonal_pairs_come_and_go(world: World) -> None:
    one_day = 86_400_000_000
    start = world.baskets.clock.read(datetime(2017, 1, 1))
    day = (world.baskets.times - start) // one_day
    inside = [(first <= day) & (day < after) for first, after in world.truth.seasons]
    together: list[Counter[bool]] = [Counter() for _ in inside]
    for number, basket in enumerate(world.baskets):
        for season, pair in enumerate(world.truth.seasonal):
            if set(pair) <= set(basket.products):
                together[season][bool(inside[season][number])] += 1
    for count in together:
        assert count[True] > 80
        assert count[False] < 5


def test_users_have_habits(world: World) -> None:
    bought: dict[object, Counter[object]] = {}
    for basket in world.baskets:
        bought.setdefault(basket.user, Counter()).update(basket.products)
    shares = [sum(mine[p] for p in set(world.truth.habits[user])) / mine.total() for user, mine in bought.items()]
    everyone = sum(bought.values(), Counter())
    chance = [sum(everyone[p] for p in set(world.truth.habits[u])) / everyone.total() for u in bought]
    assert np.mean(shares) > 5 * np.mean(chance)


def test_the_same_seed_gives_the_same_world_and_another_another() -> None:
    first, again, other = (next(synthetic(baskets=500, seed=seed).tables()) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


def test_a_world_written_in_chunks_is_the_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The function of the same name hides the module from a plain import.
    monkeypatch.setattr(import_module("omba.datasets.synthetic"), "CHUNK", 300)
    world = synthetic(baskets=1_000, seed=1)
    assert [len(set(table["basket_id"].to_pylist())) for table in world.tables()] == [300, 300, 300, 100]
    world.write(tmp_path / "world.parquet")
    assert list(read_baskets(tmp_path / "world.parquet")) == list(world.baskets)


def test_a_world_too_small_for_its_pairs_gets_a_sentence() -> None:
    with pytest.raises(SettingError, match="a world with 50 products is too small: give 100 or more"):
        synthetic(products=50)
    assert len(synthetic(baskets=10, products=10, pairs=0).baskets) == 10
