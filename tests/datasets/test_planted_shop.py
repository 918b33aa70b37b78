"""Two years of a planted shop: every relation, family, season, bundle and price that was planted is found again."""

import numpy as np
import pytest

import omba
from omba.datasets.planted_shop import CAMPING, CHRISTMAS, EASTER, TRUTH, planted_shop
from omba.rules.bundles import find_bundles
from omba.rules.calendar import family_calendar, rule_calendar
from omba.rules.filter import Filter
from omba.rules.from_model import mining_input

PAIRS = [(relation, pair) for relation, pairs in TRUTH.relations.items() for pair in pairs]


@pytest.fixture(scope="module")
def shop():
    return planted_shop()


def learn(baskets, until=None):
    return omba.OMBA(dim=8, epochs=1, clues=False).fit(baskets.between(None, until), every="14d")


@pytest.fixture(scope="module")
def model(shop):
    return learn(shop.baskets)


@pytest.fixture(scope="module")
def november(shop):
    """The shop at the beginning of its second November."""
    return learn(shop.baskets, "2021-11-05")


@pytest.fixture(scope="module")
def first_november(shop):
    return learn(shop.baskets, "2020-11-05")


def together(baskets, pair):
    return sum({*pair} <= {*basket.products} for basket in baskets)


@pytest.mark.parametrize(("relation", "pair"), PAIRS)
def test_every_planted_relation_is_found(model, relation, pair):
    a, b = (np.array([model.row(one)]) for one in pair)
    assert model.assortment.relations().judge(a, b).names == [relation]


def test_families_are_the_variants_and_nothing_else(model):
    assert [set(one) for one in model.families()["products"].to_pylist()] == [set(one) for one in TRUTH.families]


def test_products_have_the_seasons_that_were_planted_and_no_others(model):
    assert {product: model.season(product) for product in model.products if model.season(product)} == TRUTH.seasons


def test_what_is_sold_as_three_is_a_bundle(model):
    assert {*TRUTH.bundle} in [{*bundle.products} for bundle in find_bundles(mining_input(model), top=5)]


def test_a_cheap_week_does_to_partners_what_was_planted(model):
    effects = {effect.product: effect for effect in model.price_effects(TRUTH.cheap)}
    assert effects[TRUTH.cheap].low > 0
    assert effects[TRUTH.rises].low > 0
    assert effects[TRUTH.falls].high < 0


def test_what_comes_up_is_what_belonged_together_at_this_time_last_year(november, shop):
    found = omba.coming_up(november, weeks=6)
    first = found.rules[0]

    assert found.known
    assert (found.first, found.last) == ("2021-11-05", "2021-12-16")
    assert {*first.products} == {*CHRISTMAS}
    assert (first.season, first.relation) == ("Nov–Dec", "complement")
    assert first.times > 5
    came = together(shop.baskets.between(found.first, "2021-12-17"), CHRISTMAS)
    assert first.expected_baskets_low < came < first.expected_baskets_high
    assert not any({*EASTER} & {*rule.products} for rule in found.rules)


def test_where_less_than_a_year_is_known_nothing_is_said_of_what_comes_up(first_november):
    found = omba.coming_up(first_november)
    assert (found.known, found.rules) == (False, [])
    assert omba.coming_up(omba.OMBA(dim=4).fit([["a", "b"]] * 20)).rules == []


def expected(model, pair):
    rules = omba.mine_rules(model, top=100, where=Filter(product=pair[0]), within_families=True, antecedents=1)
    place = [{*a, *c} for a, c in rules.sides].index({*pair})
    return {name: float(rules[name][place]) for name in ("expected_baskets", "expected_baskets_high", "lift",
                                                          "expected_lift", "expected_lift_low")}  # fmt: skip


def test_the_next_period_is_forecast_by_the_same_weeks_a_year_ago(november, shop):
    period = shop.baskets.between("2021-11-05", None)
    christmas, easter = expected(november, CHRISTMAS), expected(november, EASTER)

    came = together(period, CHRISTMAS)
    assert came / 1.5 < christmas["expected_baskets"] < 1.5 * came
    # In its season everybody buys it, so that chance brings more of it together and the lift is lower.
    assert 1 < christmas["expected_lift"] < 0.8 * christmas["lift"]
    # The next period has a third as many baskets as so far: it reaches the end of May, with Easter inside.
    assert easter["expected_baskets"] > 60


def test_what_is_over_is_not_expected_where_a_year_is_known(shop):
    august = learn(shop.baskets, "2021-04-23")
    # The next ten fortnights end in September: neither Easter nor Christmas is in them.
    assert expected(august, EASTER)["expected_baskets_high"] < 10
    assert expected(august, CHRISTMAS)["expected_baskets_high"] < 10
    assert expected(august, CAMPING[:2])["expected_baskets"] > 80


def test_where_a_year_is_not_known_what_sold_less_of_late_goes_on_so(first_november):
    assert expected(first_november, EASTER)["expected_baskets"] < 10
    outlook = mining_input(first_november).catalogue.outlook
    assert not outlook.known


def test_an_explanation_warns_of_the_season_and_says_what_is_known(november, first_november):
    notes = mining_input(november).explainer.explain(*CHRISTMAS).notes
    assert any("mostly sold in Nov–Dec" in note for note in notes)
    assert any("By the same weeks a year ago" in note for note in notes)
    assert any("cannot be told" in note for note in mining_input(first_november).explainer.explain(*EASTER).notes)


def test_the_calendar_has_a_row_for_each_family_and_rule(model):
    given = mining_input(model)
    outlook = given.catalogue.outlook
    towels = family_calendar(given.catalogue, outlook)[1]
    rows = rule_calendar(omba.mine_rules(model, top=30, sort="lift", where=Filter(product=CHRISTMAS[0])), outlook)
    (christmas,) = [row for row in rows if {*row.products} == {*CHRISTMAS}]
    assert {*towels.products} == {*TRUTH.families[1]}
    assert towels.season == ""
    assert all(0.4 < rate < 2.2 for rate in towels.rates)
    assert christmas.season == "Nov–Dec"
    assert max(christmas.rates) == max(christmas.rates[22:26]) > 5
    assert max(christmas.rates[:20]) < 0.5
