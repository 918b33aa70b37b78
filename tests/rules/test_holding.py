"""Holding: what speaks against a rule that is likely to hold lowers its chance to."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import omba
from omba.rules.holding import hold_chance, sets_hold
from omba.rules.lines import by_hundreds

PAIR = np.array([[0, 1]])
COLUMNS = np.array([20]), np.array([3.0]), np.array([15.0]), np.array([25.0])
"""Baskets together, by chance, the lift to expect and the high end of it."""


def catalogue(coincidence=1.0, buyers=1e9, going_on=1.0, fallen=1.0, known=False):
    """A shop of two products of which so much is known."""
    relations = SimpleNamespace(
        counts=np.full(2, 90),
        coincidence=lambda a, b: np.full(len(a), coincidence),
        knows_customers=buyers is not None,
        buyers=lambda a, b, together: np.full(len(a), buyers),
    )
    outlook = SimpleNamespace(
        known=known,
        going_on=lambda sets: np.full(len(sets), going_on),
        fallen=lambda sets: np.full(len(sets), fallen),
    )
    return SimpleNamespace(relations=relations, outlook=outlook)


def chance(**known):
    return float(sets_hold(catalogue(**known), PAIR, *COLUMNS)[0])


def test_without_doubts_it_is_the_chance_by_lift_and_sales():
    assert chance() == pytest.approx(float(hold_chance(*COLUMNS[1:])[0]))
    nothing = SimpleNamespace(relations=None, outlook=None)
    assert float(sets_hold(nothing, PAIR, *COLUMNS)[0]) == pytest.approx(chance())


@pytest.mark.parametrize("doubt", [{"coincidence": 9.0}, {"buyers": 0.0}, {"fallen": 0.1}, {"going_on": 0.2}])
def test_a_season_few_customers_and_sales_that_may_fall_speak_against_a_rule(doubt):
    assert chance(**doubt) < chance() - 0.03


def test_what_is_not_known_speaks_neither_for_nor_against():
    assert chance(buyers=None) == pytest.approx(chance())
    assert chance(coincidence=9.0, known=True) == pytest.approx(chance()), "the forecast has the season already"
    assert chance(coincidence=0.2) == pytest.approx(chance()), "what is sold at other times is no better for it"


def test_the_antecedent_that_says_the_worst_decides():
    shop = catalogue()
    shop.relations.counts = np.full(3, 90)
    shop.relations.buyers = lambda a, b, together: np.where(a == 0, 0.0, 500.0)
    both = sets_hold(shop, np.array([[0, 1, 2], [1, 1, 2]]), *(np.repeat(column, 2) for column in COLUMNS))
    assert both[0] < both[1] - 0.05


def test_a_product_that_is_not_known_takes_no_doubt_from_the_other_rules():
    lines = np.array([[0, 1], [0, 2]])
    first, unknown = sets_hold(catalogue(buyers=0.0), lines, *(np.repeat(column, 2) for column in COLUMNS))
    assert first == pytest.approx(chance(buyers=0.0))
    assert unknown == pytest.approx(chance())


def test_what_one_customer_bought_twenty_times_is_less_sure_than_what_twenty_bought_once():
    random, rows = np.random.default_rng(5), []
    for number in range(1_200):
        basket, user = [f"{chr(97 + k % 26)}{chr(97 + k // 26)}xy" for k in random.choice(60, 3, False)], number % 97
        if number % 60 == 0:
            basket += ["kettle", "teapot"]
        if number % 60 == 7:
            basket, user = [*basket, "drill", "screws"], 1
        rows += [(number, product, user) for product in basket]
    columns = dict(zip(("basket", "product", "user"), zip(*rows, strict=True), strict=True))
    model = omba.OMBA(dim=16, epochs=2, clues=False).fit(omba.read_baskets(pa.table(columns)), every=200)
    rules = omba.mine_rules(model, top=20)
    sets = [frozenset((*rule.antecedents, *rule.consequents)) for rule in rules]
    found = dict(zip(sets, rules["hold_chance"], strict=True))
    assert found[frozenset({"kettle", "teapot"})] > found[frozenset({"drill", "screws"})] + 0.01


def test_lines_are_shown_by_hundreds_whatever_is_asked_for():
    order = np.random.default_rng(0).permutation(250)
    shown = by_hundreds(order)
    assert sorted(shown[:100].tolist()) == list(range(100))
    assert sorted(shown[200:].tolist()) == list(range(200, 250))
    rank = np.argsort(order)
    assert (np.diff(rank[shown[:100]]) > 0).all()
