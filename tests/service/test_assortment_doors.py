"""Families and relations over HTTP, on a shop with variants, dinners that replace each other, and customers."""

import numpy as np
import pyarrow as pa
import pytest

import omba
from omba.datasets.planted_shop import CHRISTMAS, planted_shop
from serving import served

DINNERS = (("hot dogs", "buns"), ("tacos", "sauce"))
TOWELS = ("red bath towel", "blue bath towel", "green bath towel")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    random = np.random.default_rng(4)
    rows = []
    for trip in range(2_000):
        basket = [*DINNERS[random.integers(2)]] if random.random() < 0.6 else []
        basket += [product for product in TOWELS if trip % 7 == 0 and random.random() < 0.5]
        basket += [f"w{number}" for number in random.choice(30, 2, replace=False)]
        rows += [(trip, f"u{trip % 60}", product, trip // 100) for product in basket]
    frame = dict(zip(("basket_id", "user_id", "product", "timestamp"), map(list, zip(*rows, strict=True)), strict=True))
    folder = tmp_path_factory.mktemp("shop")
    omba.OMBA(dim=8, epochs=1, pairs=20_000).fit(omba.read_baskets(pa.table(frame)), every="10d").save(folder)
    with served(folder) as client:
        yield client


def test_families_have_their_members_and_the_lifts_between_them(client):
    (family,) = client.get("/families", params={"q": "towel"}).json()["families"]

    assert {one["id"] for one in family["products"]} == {*TOWELS}
    assert family["size"] == 3
    assert 1 < family["lift_low"] <= family["lift_high"]


def test_rules_are_between_families_unless_others_are_asked_for(client):
    def products(**asked):
        rules = client.get("/rules", params={"limit": 200, **asked}).json()["rules"]
        return [{*rule["antecedents"], *rule["consequents"]} for rule in rules]

    assert not any(rule <= {*TOWELS} for rule in products())
    assert sum(not rule.isdisjoint(TOWELS) for rule in products()) == 1
    assert all(rule <= {*TOWELS} for rule in products(families="within"))
    assert any(rule <= {*TOWELS} for rule in products(families="all"))


def test_rules_have_a_relation_that_can_be_asked_for(client):
    found = client.get("/rules", params={"relation": "complement", "limit": 50}).json()["rules"]

    assert {"hot dogs", "buns"} in [{*rule["antecedents"], *rule["consequents"]} for rule in found]
    assert {rule["relation"] for rule in found} == {"complement"}
    assert all(rule["relation_probability"] > 0.5 for rule in found)
    assert client.get("/rules", params={"relation": "friends"}).status_code == 422


def test_the_page_of_a_product_tells_what_is_bought_with_it_and_instead_of_it(client):
    page = client.get("/products/hot dogs").json()

    assert {one["id"] for one in page["substitutes"]} == {"tacos", "sauce"}
    assert page["complements"][0]["id"] == "buns"
    assert "customers buy both; " in page["substitutes"][0]["sentence"]
    assert client.get("/products/red bath towel").json()["family"].startswith("bath towel")


def test_bundles_have_what_to_expect_and_the_discount_that_breaks_even(client):
    answer = client.get("/bundles", params={"floor": 5, "uptake": 0.25, "limit": 3}).json()

    assert {"hot dogs", "buns"} in [{*bundle["products"]} for bundle in answer["bundles"]]
    first = answer["bundles"][0]
    assert first["expected_baskets_low"] < first["expected_baskets"] < first["expected_baskets_high"]
    assert first["break_even"] == pytest.approx(0.2)
    assert client.get("/bundles", params={"by": "fame"}).status_code == 422


@pytest.fixture(scope="module")
def seasonal(tmp_path_factory):
    """A shop of two years at the beginning of November."""
    folder = tmp_path_factory.mktemp("seasons")
    baskets = planted_shop(baskets=6_000).baskets.between(None, "2021-11-05")
    omba.OMBA(dim=8, epochs=1, clues=False, pairs=20_000).fit(baskets, every="14d").save(folder)
    with served(folder) as client:
        yield client


def test_what_comes_up_is_told_by_the_same_weeks_a_year_ago(seasonal, client):
    answer = seasonal.get("/coming-up", params={"weeks": 6}).json()

    assert answer["known"]
    assert {*answer["rules"][0]["products"]} == {*CHRISTMAS}
    assert answer["rules"][0]["season"] == "Nov–Dec"
    unknown = client.get("/coming-up").json()
    assert (unknown["known"], unknown["rules"]) == (False, [])


def test_the_calendar_tells_when_families_and_rules_are_sold(seasonal, client):
    rules = seasonal.get("/calendar", params={"of": "rules"}).json()
    towels = seasonal.get("/calendar", params={"season": "all", "q": "towel"}).json()

    assert {*CHRISTMAS} in [{*row["products"]} for row in rules["rows"]]
    assert all(row["season"] and len(row["rates"]) == 26 for row in rules["rows"])
    assert rules["year_known"]
    assert (towels["total"], towels["seasonal"]) == (1, 0)
    family = seasonal.get("/families", params={"q": "towel"}).json()["families"][0]
    assert family["season"] == ""
    assert family["revenue"] == pytest.approx(family["sold"], rel=0.01), "each costs 1"
    assert client.get("/calendar").json()["rows"] == [], "days without a date have no time of year"


def test_rules_have_a_season_that_can_be_asked_for(seasonal):
    def seasons(**asked):
        return {rule["season"] for rule in seasonal.get("/rules", params={"limit": 300, **asked}).json()["rules"]}

    assert seasons(season="none") == {""}
    assert "Nov–Dec" in seasons(season="Dec")
    assert "" not in seasons(season="any")
    assert seasonal.get("/rules", params={"season": "monsoon"}).status_code == 422
