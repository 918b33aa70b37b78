"""Worth and bundles, in a world whose prices, quantities and bundles are planted."""

import json

import numpy as np
import pyarrow as pa
import pytest

import omba
from omba.cli import run
from omba.errors import SettingError
from omba.rules.bundles import break_even, candidate_rules, find_bundles
from omba.rules.from_model import mining_input

PRICES = {"tent": 100.0, "mat": 20.0, "lamp": 10.0, "tea": 2.0, "milk": 1.0, "red cup": 3.0, "blue cup": 3.0}
PIECES = {"mat": 2}


@pytest.fixture(scope="module")
def model():
    """Tents are sold with mats and lamps, tea with milk more often, and cups of two colours together."""
    random = np.random.default_rng(6)
    rows = []
    for trip in range(4_000):
        basket = [f"w{number}" for number in random.choice(40, 3, replace=False)]
        basket += ["tent", "mat", "lamp"] if random.random() < 0.03 else []
        basket += ["tea", "milk"] if random.random() < 0.10 else []
        basket += ["red cup", "blue cup"] if random.random() < 0.05 else []
        rows += [(trip, trip % 200, trip // 100, one, PRICES.get(one, 1.0), PIECES.get(one, 1)) for one in basket]
    names = ("basket_id", "user_id", "timestamp", "product", "price", "quantity")
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    return omba.OMBA(dim=16, epochs=2, clues=False).fit(omba.read_baskets(table), every="4d")


@pytest.fixture(scope="module")
def given(model):
    return mining_input(model)


def test_what_a_product_brings_is_its_price_times_its_quantity(given):
    assert given.catalogue.amount("mat") == pytest.approx(40.0)
    assert given.catalogue.amount("tent") == pytest.approx(100.0)
    assert np.isnan(given.catalogue.amount("no such thing"))


def test_a_rule_is_worth_what_its_baskets_brought_and_a_third_of_it_in_the_next_period(model):
    rules = omba.mine_rules(model, top=60)
    place = [{*a, *c} for a, c in rules.sides].index({"tea", "milk"})

    assert rules["revenue"][place] == pytest.approx(3.0 * rules.count[place])
    assert rules["expected_baskets"][place] == pytest.approx(rules.count[place] / 3, rel=0.1)
    assert rules["expected_revenue"][place] == pytest.approx(3.0 * rules["expected_baskets"][place])
    low, high = rules["expected_baskets_low"][place], rules["expected_baskets_high"][place]
    assert low < rules["expected_baskets"][place] < high


def test_rules_can_be_ranked_by_the_revenue_to_expect(model):
    (rule,) = omba.mine_rules(model, top=1, sort="expected_revenue")

    assert "tent" in {*rule.antecedents, *rule.consequents}


def test_bundles_are_of_complements_of_different_families_best_first_by_revenue(given):
    bundles = find_bundles(given, top=4)

    assert {"tent", "mat"} <= set(bundles[0].products) <= {"tent", "mat", "lamp"}
    assert {"tea", "milk"} in [set(bundle.products) for bundle in bundles]
    assert not any({"red cup", "blue cup"} <= set(bundle.products) for bundle in bundles)
    assert not any(product.startswith("w") for bundle in bundles for product in bundle.products)
    revenue = [bundle.expected_revenue for bundle in bundles]
    assert revenue == sorted(revenue, reverse=True)


def test_the_three_that_are_sold_together_may_be_a_bundle_and_no_product_is_in_more_than_two(given):
    bundles = find_bundles(given, top=20)

    assert {"tent", "mat", "lamp"} in [{*a, *c} for a, c in candidate_rules(given, "expected_revenue", 5.0).sides]
    for product in PRICES:
        assert sum(product in bundle.products for bundle in bundles) <= 2


def test_the_floor_keeps_out_what_is_too_rare(given):
    assert [set(bundle.products) for bundle in find_bundles(given, floor=80.0)] == [{"tea", "milk"}]


def test_by_lift_the_order_is_another(given):
    first = find_bundles(given, top=1, by="lift")[0]

    assert set(first.products) <= {"tent", "mat", "lamp"}
    with pytest.raises(SettingError, match="by='fame'"):
        find_bundles(given, by="fame")


def test_at_the_break_even_discount_the_extra_takers_pay_for_it():
    discount = break_even(0.25, margin=0.4)

    assert 1.25 * (0.4 - discount) == pytest.approx(0.4)
    with pytest.raises(SettingError, match="uptake=-1"):
        break_even(-1)


def test_a_snapshot_keeps_what_quantities_brought_and_one_of_before_counts_one_piece(model, tmp_path):
    model.save(tmp_path / "m")
    loaded = omba.OMBA.load(tmp_path / "m")
    assert loaded.prices.amounts == pytest.approx(model.prices.amounts, nan_ok=True)

    state = model.prices.state()
    del state["more"]
    loaded.prices.load(state)
    assert loaded.prices.amounts[loaded.row("mat")] == pytest.approx(20.0)


def test_with_the_baskets_at_hand_a_bundle_may_have_four_products(tmp_path, capsys):
    random, picnic = np.random.default_rng(7), ["rug", "basket", "flask", "plates"]
    rows = []
    for trip in range(1_500):
        bought = [f"w{number}" for number in random.choice(30, 2, replace=False)]
        bought += picnic if random.random() < 0.05 else []
        rows += [(trip, trip % 150, trip // 50, one, 5.0) for one in bought]
    names = ("basket_id", "user_id", "timestamp", "product", "price")
    baskets = omba.read_baskets(pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))))
    model = omba.OMBA(dim=16, epochs=2, clues=False).fit(baskets, every="4d")
    model.save(tmp_path / "m")
    baskets.write(tmp_path / "sales.parquet")

    assert (
        run(["bundles", "--model", str(tmp_path / "m"), "--evidence", str(tmp_path / "sales.parquet"), "--json", "-"])
        == 0
    )
    first = json.loads(capsys.readouterr().out)[0]
    assert {*first["products"]} == {*picnic}
    assert first["count"] == sum({*picnic} <= {*basket.products} for basket in baskets)
